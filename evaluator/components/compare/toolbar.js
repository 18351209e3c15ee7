/** The toolbar of the comparison: filters, differences, ways to look, zoom. */

import { button, html, icon, joined } from "../shared/elements.js";
import { segments } from "./list.js";

/** @import { Comparison } from "./compare.js" */

export const MODES = [
  { name: "side", title: "Side by side", words: "Two linked panes (S)" },
  { name: "flip", title: "Flip", words: "One pane, F changes the model" },
  { name: "slider", title: "Slider", words: "One pane with a divider (D)" },
];

/** @param {Comparison} view */
export function makeCompareToolbar(view) {
  const filters = html("div", { class: "filters" });
  const modes = segments("Layout of the panes", "modes", MODES, (name) => view.setMode(name));
  const previous = button("Previous difference", { title: "Previous difference (P)" }, () => view.step(-1), icon("up"));
  const next = button("Next difference", { title: "Next difference (N)" }, () => view.step(1), icon("down"));
  const place = html("span", { class: "joined-text" });
  const zoomOut = button("Zoom out", { title: "Zoom both panes out (\u2212)" }, () => view.zoom(1 / 1.4, null), icon("minus"));
  const fit = button("", { class: "fit pair-fit" }, () => view.fitPage(), "Zoom");
  const zoomIn = button("Zoom in", { title: "Zoom both panes in (+)" }, () => view.zoom(1.4, null), icon("plus"));
  const opener = button("", { class: "toggle pair-fold", "aria-haspopup": "true" }, () => undefined, html("span", { class: "pair-folded" }, "Causes"), icon("down"));
  const root = html("div", { class: "toolbar pair-toolbar" }, filters, html("span", { class: "grow" }), opener,
    joined("Difference", previous, place, next), modes, joined("Zoom", zoomOut, fit, zoomIn));
  return { root, opener, filters, modes, previous, next, place, zoomOut, fit, zoomIn };
}
