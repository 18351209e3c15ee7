/** The comparison of two models as a widget of a notebook. */

import { notebookWidget } from "../shared/notebook.js";
import { mountComparison } from "./compare.js";

export default notebookWidget(mountComparison);
