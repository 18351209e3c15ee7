/**
 * Keys of the comparison: which key asks for which action, the line below the panes and the list of all keys.
 *
 * C and R belong to Streamlit and are not used. Keys with Ctrl, Alt or Meta belong to the browser.
 */

import { button, html, icon } from "../shared/elements.js";

/** @type {Record<string, string>} */
const COMPARE_ACTIONS = {
  ArrowLeft: "previous-page",
  ArrowRight: "next-page",
  n: "next",
  p: "previous",
  f: "flip",
  s: "side",
  d: "slider",
  g: "truth",
  z: "enlarge",
  "+": "zoom-in",
  "=": "zoom-in",
  "-": "zoom-out",
  "\u2212": "zoom-out",
  0: "fit",
  "?": "help",
  Escape: "escape",
};

/** @param {KeyboardEvent} event @returns {string | null} */
export function compareAction(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return null;
  return COMPARE_ACTIONS[event.key] ?? COMPARE_ACTIONS[event.key.toLowerCase()] ?? null;
}

/** Keys that may repeat while held down. */
export const COMPARE_REPEATING = new Set(["previous-page", "next-page", "next", "previous", "zoom-in", "zoom-out"]);

/** @type {{keys: string[], words: string, rank: number}[]} rank: which go first when it gets narrow */
const COMPARE_LINE = [
  { keys: ["\u2190", "\u2192"], words: "page", rank: 1 },
  { keys: ["P", "N"], words: "difference", rank: 1 },
  { keys: ["F"], words: "flip A and B", rank: 1 },
  { keys: ["S", "D"], words: "side by side, slider", rank: 2 },
  { keys: ["G"], words: "ground truth", rank: 2 },
  { keys: ["+", "\u2212", "0"], words: "zoom", rank: 1 },
  { keys: ["Z"], words: "tall panes", rank: 2 },
];

/** @type {[string, string][]} */
const COMPARE_HELP = [
  ["\u2190 \u2192", "Previous and next page of the list; on the divider of the slider: move it"],
  ["P N", "Previous and next difference on the page, of the kind that the filter asks for"],
  ["F", "Flip: one pane, A and B in the same place, each press changes the model"],
  ["S D", "Side by side, and one pane with a divider"],
  ["G", "Show all ground truth, matched boxes too"],
  ["+ \u2212", "Zoom both panes in and out; so does the mouse wheel, at the pointer"],
  ["0", "Whole page; again: page width"],
  ["Z", "Tall panes, over the whole window"],
  ["Drag", "Move the enlarged page in both panes; Shift and wheel move it sideways"],
  ["Click", "Choose a box in both panes; a click beside all boxes lets it go"],
  ["Esc", "Let the chosen box go"],
  ["?", "This list"],
];

/** @param {() => void} help @returns {HTMLElement[]} */
export function compareKeyLine(help) {
  const keys = COMPARE_LINE.map(({ keys: names, words, rank }) =>
    html("span", { class: `key-group rank-${rank}` }, ...names.map((name) => html("kbd", {}, name)), html("span", {}, words)));
  return [...keys, button("All keys", { class: "key-group key-help" }, help, html("kbd", {}, "?"), html("span", {}, "all keys"))];
}

/** @returns {HTMLDialogElement} */
export function makeCompareHelp() {
  const dialog = /** @type {HTMLDialogElement} */ (html("dialog", { class: "help", "aria-label": "Keys of the comparison" }));
  const close = button("Close", { class: "plain close" }, () => dialog.close(), icon("close"));
  const rows = COMPARE_HELP.map(([keys, words]) =>
    html("tr", {}, html("th", { scope: "row" }, ...keys.split(" ").map((key) => html("kbd", {}, key))), html("td", {}, words)));
  dialog.append(html("div", { class: "help-head" }, html("h2", {}, "Keys"), html("span", { class: "grow" }), close),
    html("table", {}, html("tbody", {}, ...rows)));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  return dialog;
}
