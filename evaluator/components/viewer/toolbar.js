/**
 * The bars of the page viewer: toolbar, label menu, key line.
 *
 * The legend is the toggle: the button that names a status also shows and hides it, and carries its count.
 */

import { button, html, icon, joined, setAttributes, svg } from "../shared/elements.js";
import { helpButton, keyGroups } from "../shared/key_help.js";
import { STATUS_WORDS, count } from "../shared/words.js";
import { KEY_LINE } from "./keys.js";

/** @import { CountedStatus } from "../shared/payloads.d.ts" */
/** @import { Viewer } from "./viewer.js" */

/** @param {string} status @returns {SVGElement} */
function swatch(status) {
  return svg("svg", { class: `swatch swatch-${status}`, viewBox: "0 0 18 14", "aria-hidden": "true" },
    svg("rect", { x: 2, y: 2, width: 14, height: 10 }));
}

/** @param {Viewer} view */
export function makeToolbar(view) {
  const previousPage = button("Previous page", { title: "Previous page (\u2190)" }, () => view.turner.turn(-1), icon("left"));
  const nextPage = button("Next page", { title: "Next page (\u2192)" }, () => view.turner.turn(1), icon("right"));
  const pageText = button("", { class: "joined-text", disabled: true }, () => undefined);
  const place = html("span", { class: "place" });
  const toggle = (/** @type {CountedStatus} */ status) => {
    const [code, words, number] = [html("b", {}, status), html("span", { class: "long" }, STATUS_WORDS[status]), html("b", {})];
    const node = button(status, { class: "toggle", "aria-pressed": "true" }, () => view.setLayer(status, !view.state.layers[status]),
      swatch(status), code, words, number);
    return { node, code, words, number };
  };
  const toggles = { TP: toggle("TP"), FP: toggle("FP"), FN: toggle("FN") };
  const lostNumber = html("b", {});
  const lost = button("Text lost", { class: "toggle", "aria-pressed": "true", hidden: true }, () => view.setLayer("lost", !view.state.layers.lost),
    html("span", { class: "swatch swatch-lost", "aria-hidden": "true" }), html("span", { class: "wide-words" }, "Text lost"), html("span", { class: "narrow-words" }, "Lost"), lostNumber);
  const labelNumber = html("b", {});
  const labels = button("Labels", { class: "toggle", "aria-haspopup": "dialog" }, () => drawMenu(view),
    html("span", {}, "Labels"), labelNumber, icon("down"));
  const menu = html("div", { class: "menu", popover: "auto", role: "dialog", "aria-label": "Labels and layers" });
  labels.popoverTargetElement = menu;
  const zoomOut = button("Zoom out", { title: "Zoom out (\u2212)" }, () => view.zoom(1 / 1.4, null), icon("minus"));
  const fit = button("Fit the whole page", { class: "fit", title: "Whole page (0)", "aria-pressed": "true" }, () => view.zoom(0, null), "Fit");
  const zoomIn = button("Zoom in", { title: "Zoom in (+)" }, () => view.zoom(1.4, null), icon("plus"));
  const root = html("div", { class: "toolbar" },
    joined("Page", previousPage, pageText, nextPage), place,
    // Lost text is known later than the boxes: at the beginning it moves none of the others.
    html("div", { class: "legend", role: "group", "aria-label": "Boxes shown" },
      lost, toggles.TP.node, toggles.FP.node, toggles.FN.node, labels, menu),
    view.order.legend,
    joined("Zoom", zoomOut, fit, zoomIn));
  return { root, previousPage, nextPage, pageText, place, toggles, lost, lostNumber, labels, labelNumber, menu, zoomOut, fit, zoomIn };
}

/** The labels of the page and the layers. @param {Viewer} view */
function drawMenu(view) {
  const { labels, boxes } = view.shown();
  const { hiddenLabels, layers, loose } = view.state;
  const showAll = (/** @type {boolean} */ shown) => {
    view.showLabels(labels, shown);
    drawMenu(view);
    view.tools.menu.querySelector("button")?.focus();
  };
  const row = (/** @type {string} */ text, /** @type {string} */ after, /** @type {boolean} */ checked, /** @type {(on: boolean) => void} */ act) => {
    const box = /** @type {HTMLInputElement} */ (html("input", { type: "checkbox" }));
    box.checked = checked;
    box.addEventListener("change", () => act(box.checked));
    return html("label", { class: "menu-row" }, box, html("span", { class: "menu-text", title: text }, text), html("span", { class: "menu-after" }, after));
  };
  view.tools.menu.replaceChildren(
    html("div", { class: "menu-head" }, html("b", {}, "Labels on this page"), html("span", { class: "grow" }),
      button("Show all labels", { class: "link-button" }, () => showAll(true), "All"),
      button("Hide all labels", { class: "link-button" }, () => showAll(false), "None")),
    html("div", { class: "menu-labels" }, ...labels.map((label) =>
      row(label, count(boxes.filter((box) => box.label === label).length), !hiddenLabels.has(label), (on) => view.showLabels([label], on)))),
    html("div", { class: "menu-head menu-line" }, html("b", {}, "Layers")),
    row("All ground truth, matched too", "G", layers.truth, (on) => view.setLayer("truth", on)),
    row("Predictions", "T", layers.predictions, (on) => view.setLayer("predictions", on)),
    row("Enlarged boxes, clear of the letters", "L", loose, (on) => view.setLoose(on)));
  setAttributes(view.tools.menu.querySelector("input") ?? view.tools.menu, { autofocus: true });
}

/** @param {{models: boolean, verdicts: boolean, order: boolean, print: boolean}} has @param {() => void} help @param {() => void} print @returns {HTMLElement[]} */
export function keyLine(has, help, print) {
  const groups = KEY_LINE.filter((each) => (has.models || !each.models) && (has.verdicts || !each.verdicts) && (each.order ?? has.order) === has.order);
  const printed = button("Print this page", { class: "key-group key-help", title: "Print this page with its boxes and list (Ctrl+P)" }, print, icon("print"), html("span", { class: "wide-words" }, "print"));
  return [...keyGroups(groups), helpButton(help), ...(has.print ? [printed] : [])];
}
