/** The keys in words: the line below a view and the dialog with all of them. */

import { button, html, icon } from "./elements.js";
import { VERDICTS } from "./verdicts.js";

/** @typedef {{keys: string[], words: string, rank: number}} KeyGroup rank: which go first when it gets narrow */

/** The keys of the verdicts. @type {KeyGroup[]} */
export const VERDICT_KEYS = VERDICTS.map(([, words, sign], order) => ({ keys: [String(order + 1)], words: `${sign} ${words}`, rank: 1 }));

/** @param {KeyGroup[]} groups @returns {HTMLElement[]} */
export function keyGroups(groups) {
  return groups.map(({ keys, words, rank }) =>
    html("span", { class: `key-group rank-${rank}` }, ...keys.map((key) => html("kbd", {}, key)), html("span", {}, words)));
}

/** @param {() => void} help @returns {HTMLElement} */
export function helpButton(help) {
  return button("All keys", { class: "key-group key-help" }, help, html("kbd", {}, "?"), html("span", {}, "all keys"));
}

/** @param {string} name what a screen reader says @param {[string, string][]} rows keys and words @returns {HTMLDialogElement} */
export function makeHelp(name, rows) {
  const dialog = /** @type {HTMLDialogElement} */ (html("dialog", { class: "help", "aria-label": name }));
  const close = button("Close", { class: "plain close" }, () => dialog.close(), icon("close"));
  const lines = rows.map(([keys, words]) =>
    html("tr", {}, html("th", { scope: "row" }, ...keys.split(" ").map((key) => html("kbd", {}, key))), html("td", {}, words)));
  dialog.append(html("div", { class: "help-head" }, html("h2", {}, "Keys"), html("span", { class: "grow" }), close),
    html("table", {}, html("tbody", {}, ...lines)));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  return dialog;
}
