/**
 * The bars of the page viewer: toolbar, label menu, key line.
 *
 * The legend is the toggle: the button that names a status also shows and hides it, and carries its count.
 */

import { button, html, icon, joined, svg } from "../shared/elements.js";
import { helpButton, keyGroups } from "../shared/key_help.js";
import { STATUS_WORDS, count } from "../shared/words.js";
import { KEY_LINE } from "./keys.js";

/** @import { CountedStatus } from "../shared/payloads.d.ts" */
/**
 * @typedef {object} ToolbarActions
 * @property {(step: number) => void} turn
 * @property {(step: number) => void} step to another mistake
 * @property {(status: CountedStatus) => void} toggle
 * @property {(factor: number) => void} zoom 0 for the whole page
 * @property {() => void} lost
 * @property {() => void} menu
 */

/** @param {string} status @returns {SVGElement} */
function swatch(status) {
  return svg("svg", { class: `swatch swatch-${status}`, viewBox: "0 0 18 14", "aria-hidden": "true" },
    svg("rect", { x: 2, y: 2, width: 14, height: 10 }));
}

/** @param {ToolbarActions} actions */
export function makeToolbar(actions) {
  const previousPage = button("Previous page", { title: "Previous page (\u2190)" }, () => actions.turn(-1), icon("left"));
  const nextPage = button("Next page", { title: "Next page (\u2192)" }, () => actions.turn(1), icon("right"));
  const pageText = html("span", { class: "joined-text" });
  const previousMistake = button("Previous mistake", { title: "Previous mistake (P)" }, () => actions.step(-1), icon("up"));
  const nextMistake = button("Next mistake", { title: "Next mistake (N)" }, () => actions.step(1), icon("down"));
  const mistakeText = html("span", { class: "joined-text" });
  const toggle = (/** @type {CountedStatus} */ status) => {
    const number = html("b", {});
    const node = button(status, { class: "toggle", "aria-pressed": "true" }, () => actions.toggle(status),
      swatch(status), html("b", {}, status), html("span", { class: "long" }, STATUS_WORDS[status]), number);
    return { node, number };
  };
  const toggles = { TP: toggle("TP"), FP: toggle("FP"), FN: toggle("FN") };
  const lostNumber = html("b", {});
  const lost = button("Text lost", { class: "toggle", "aria-pressed": "true", hidden: true }, actions.lost,
    html("span", { class: "swatch swatch-lost", "aria-hidden": "true" }), html("span", { class: "wide-words" }, "Text lost"), html("span", { class: "narrow-words" }, "Lost"), lostNumber);
  const labelNumber = html("b", {});
  const labels = button("Labels", { class: "toggle", "aria-haspopup": "true", "aria-expanded": "false" }, actions.menu,
    html("span", {}, "Labels"), labelNumber, icon("down"));
  const menu = html("div", { class: "menu", role: "group", "aria-label": "Labels and layers", hidden: true });
  const zoomOut = button("Zoom out", { title: "Zoom out (\u2212)" }, () => actions.zoom(1 / 1.4), icon("minus"));
  const fit = button("Fit the whole page", { class: "fit", title: "Whole page (0)", "aria-pressed": "true" }, () => actions.zoom(0), "Fit");
  const zoomIn = button("Zoom in", { title: "Zoom in (+)" }, () => actions.zoom(1.4), icon("plus"));
  const root = html("div", { class: "toolbar" },
    joined("Page", previousPage, pageText, nextPage),
    joined("Mistake", previousMistake, mistakeText, nextMistake),
    html("div", { class: "legend", role: "group", "aria-label": "Boxes shown" },
      toggles.TP.node, toggles.FP.node, toggles.FN.node, lost, html("div", { class: "menu-holder" }, labels, menu)),
    joined("Zoom", zoomOut, fit, zoomIn));
  return { root, previousPage, nextPage, pageText, previousMistake, nextMistake, mistakeText, toggles, lost, lostNumber, labels, labelNumber, menu, zoomOut, fit, zoomIn };
}

/**
 * @typedef {object} MenuActions
 * @property {(label: string, shown: boolean) => void} label
 * @property {(shown: boolean) => void} all
 * @property {(layer: "truth" | "predictions", shown: boolean) => void} layer
 * @property {(loose: boolean) => void} loose
 */

/**
 * @param {HTMLElement} menu @param {{label: string, boxes: number, shown: boolean}[]} labels
 * @param {{truth: boolean, predictions: boolean, loose: boolean}} layers @param {MenuActions} actions
 */
export function drawMenu(menu, labels, layers, actions) {
  const row = (/** @type {string} */ text, /** @type {string} */ after, /** @type {boolean} */ checked, /** @type {(on: boolean) => void} */ act) => {
    const box = /** @type {HTMLInputElement} */ (html("input", { type: "checkbox" }));
    box.checked = checked;
    box.addEventListener("change", () => act(box.checked));
    return html("label", { class: "menu-row" }, box, html("span", { class: "menu-text", title: text }, text), html("span", { class: "menu-after" }, after));
  };
  menu.replaceChildren(
    html("div", { class: "menu-head" }, html("b", {}, "Labels on this page"), html("span", { class: "grow" }),
      button("Show all labels", { class: "link-button" }, () => actions.all(true), "All"),
      button("Hide all labels", { class: "link-button" }, () => actions.all(false), "None")),
    html("div", { class: "menu-labels" }, ...labels.map(({ label, boxes, shown }) =>
      row(label, count(boxes), shown, (on) => actions.label(label, on)))),
    html("div", { class: "menu-head menu-line" }, html("b", {}, "Layers")),
    row("All ground truth, matched too", "G", layers.truth, (on) => actions.layer("truth", on)),
    row("Predictions", "T", layers.predictions, (on) => actions.layer("predictions", on)),
    row("Enlarged boxes, clear of the letters", "L", layers.loose, (on) => actions.loose(on)));
}

/** @param {boolean} models @param {boolean} verdicts @param {() => void} help @param {() => void} print @returns {HTMLElement[]} */
export function keyLine(models, verdicts, help, print) {
  const groups = KEY_LINE.filter((each) => (models || !each.models) && (verdicts || !each.verdicts));
  return [...keyGroups(groups), helpButton(help),
    button("Print this page", { class: "key-group key-help", title: "Print this page with its boxes and list (Ctrl+P)" }, print, icon("print"), html("span", { class: "wide-words" }, "print"))];
}
