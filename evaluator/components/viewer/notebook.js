/** The page viewer as a widget of a notebook. */

import { notebookWidget } from "../shared/notebook.js";
import { mountViewer } from "./viewer.js";

export default notebookWidget(mountViewer);
