/**
 * Which key asks for which action. Pure: no document.
 *
 * R belongs to Streamlit and is not used. Keys with Ctrl, Alt or Meta belong to the browser.
 */

/** @typedef {Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey" | "isComposing">} Press */

/** @type {Record<string, string>} what every view of a page understands */
export const PAGE_ACTIONS = {
  ArrowLeft: "previous-page",
  ArrowRight: "next-page",
  n: "next",
  p: "previous",
  g: "truth",
  "+": "zoom-in",
  "=": "zoom-in",
  "-": "zoom-out",
  "\u2212": "zoom-out",
  0: "fit",
  "?": "help",
  Escape: "escape",
};

/** @type {Record<string, string>} what every view understands in which mistakes are judged */
export const VERDICT_ACTIONS = { 1: "verdict-1", 2: "verdict-2", 3: "verdict-3", 4: "verdict-4", v: "note", c: "whole", u: "undo" };

/** Actions that may repeat while their key is held down. */
export const REPEATING = new Set(["previous-page", "next-page", "next", "previous", "stack-up", "stack-down", "zoom-in", "zoom-out"]);

/** @param {Record<string, string>} actions @param {Press} event @returns {string | null} */
export function actionOf(actions, event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return null;
  return actions[event.key] ?? actions[event.key.toLowerCase()] ?? null;
}
