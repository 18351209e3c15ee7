/**
 * Which key asks for which action. Pure: no document.
 *
 * C and R belong to Streamlit and are not used. Keys with Ctrl, Alt or Meta belong to the browser.
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

/** Actions that may repeat while their key is held down. */
export const REPEATING = new Set(["previous-page", "next-page", "next", "previous", "stack-up", "stack-down", "zoom-in", "zoom-out"]);

/** @param {Record<string, string>} actions @param {Press} event @returns {string | null} */
export function actionOf(actions, event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return null;
  return actions[event.key] ?? actions[event.key.toLowerCase()] ?? null;
}
