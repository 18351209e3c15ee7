/**
 * Keys of the page viewer: which key asks for which action, and the two lists that tell the reader.
 *
 * C and R belong to Streamlit and are not used. Keys with Ctrl, Alt or Meta belong to the browser.
 */

/** @type {Record<string, string>} */
const ACTIONS = {
  ArrowLeft: "previous-page",
  ArrowRight: "next-page",
  ArrowUp: "stack-up",
  ArrowDown: "stack-down",
  n: "next-mistake",
  p: "previous-mistake",
  "+": "zoom-in",
  "=": "zoom-in",
  "-": "zoom-out",
  "\u2212": "zoom-out",
  0: "fit",
  g: "truth",
  t: "predictions",
  f: "model",
  l: "loose",
  v: "verdict",
  "?": "help",
  Escape: "escape",
};

/** @param {KeyboardEvent} event @returns {string | null} */
export function actionOf(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return null;
  return ACTIONS[event.key] ?? ACTIONS[event.key.toLowerCase()] ?? null;
}

/** Keys that may repeat while held down. */
export const REPEATING = new Set([
  "previous-page", "next-page", "next-mistake", "previous-mistake", "stack-up", "stack-down", "zoom-in", "zoom-out",
]);

/** @type {{keys: string[], words: string, rank: number, models?: boolean, verdicts?: boolean}[]} rank: which go first when it gets narrow */
export const KEY_LINE = [
  { keys: ["\u2190", "\u2192"], words: "page", rank: 1 },
  { keys: ["P", "N"], words: "mistake", rank: 1 },
  { keys: ["\u2191", "\u2193"], words: "stacked boxes", rank: 2 },
  { keys: ["G", "T"], words: "truth, predictions", rank: 2 },
  { keys: ["F"], words: "model", rank: 2, models: true },
  { keys: ["+", "\u2212", "0"], words: "zoom", rank: 1 },
  { keys: ["V"], words: "verdict", rank: 2, verdicts: true },
];

/** @type {[string, string][]} */
export const KEY_HELP = [
  ["\u2190 \u2192", "Previous and next page of the list"],
  ["P N", "Previous and next mistake; at the end of a page, on the next page of the list"],
  ["\u2191 \u2193", "Go through the boxes that lie on each other, under the pointer or at the chosen box; in a list: up and down"],
  ["G", "Show all ground truth, matched boxes too"],
  ["T", "Show or hide the predictions"],
  ["F", "Change to the other model"],
  ["L", "Draw the boxes a little larger, off the letters"],
  ["V", "Verdict on the chosen mistake; there 1 to 4 choose one, Tab leads to the note, Esc back to the page"],
  ["+ \u2212", "Zoom in and out; so does the mouse wheel, at the pointer"],
  ["0", "Whole page"],
  ["Drag", "Move the enlarged page; Shift and wheel move it sideways"],
  ["Ctrl P", "Print the page with its boxes and list"],
  ["Click", "Choose a box; a click beside all boxes lets it go"],
  ["Esc", "Let the chosen box go, close a menu"],
  ["?", "This list"],
];
