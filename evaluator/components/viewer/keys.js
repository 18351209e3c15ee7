/** Keys of the page viewer: which key asks for which action, and the two lists that name them. */

import { PAGE_ACTIONS, VERDICT_ACTIONS } from "../shared/keys.js";

/** @import { KeyGroup } from "../shared/key_help.js" */

/** @type {Record<string, string>} */
export const VIEWER_ACTIONS = {
  ...PAGE_ACTIONS,
  ...VERDICT_ACTIONS,
  ArrowUp: "stack-up",
  ArrowDown: "stack-down",
  t: "predictions",
  f: "model",
  l: "loose",
  z: "close",
  o: "play",
  ".": "step-on",
  ",": "step-back",
};

/** @type {(KeyGroup & {models?: boolean, verdicts?: boolean, order?: boolean})[]} */
export const KEY_LINE = [
  { keys: ["N"], words: "next mistake", rank: 1 },
  { keys: ["P"], words: "back", rank: 1 },
  { keys: ["1", "2", "3", "4"], words: "verdict, then next", rank: 1, verdicts: true },
  { keys: ["O"], words: "play the order", rank: 1, order: true },
  { keys: ["Z"], words: "mistake or whole page", rank: 1 },
  { keys: ["\u2190", "\u2192"], words: "page", rank: 1 },
  { keys: ["G", "T"], words: "truth, predictions", rank: 2, order: false },
  { keys: ["F"], words: "model", rank: 2, models: true },
  { keys: ["+", "\u2212", "0"], words: "zoom", rank: 2 },
];

/** @type {[string, string][]} */
export const KEY_HELP = [
  ["\u2190 \u2192", "Previous and next page of the list"],
  ["P N", "Previous and next place of a mistake; at the end of a page, on the next page of the list"],
  ["Z", "Zoom to the chosen mistake, and to each one that follows; again: the whole page"],
  ["\u2191 \u2193", "Go through the boxes that lie on each other, under the pointer or at the chosen box; in a list: up and down"],
  ["G", "Show all ground truth, matched boxes too"],
  ["T", "Show or hide the predictions"],
  ["F", "Change to the other model"],
  ["L", "Draw the boxes slightly larger, clear of the letters"],
  ["O", "Play the reading order item by item, where one is shown; again: stop; Esc: the whole order"],
  [", .", "One item back and on in the reading order"],
  ["1 2 3 4", "Verdict on the chosen place, then the next one; twice to replace your own"],
  ["C", "The verdict is for all places like this one, or for this place alone"],
  ["V", "Note on the chosen mistake; Enter saves it, Esc leads back"],
  ["U", "Take the last verdict back"],
  ["+ \u2212", "Zoom in and out; so does the mouse wheel, at the pointer"],
  ["0", "Whole page"],
  ["Drag", "Move the enlarged page; Shift and wheel move it sideways"],
  ["Ctrl P", "Print the page with its boxes and list"],
  ["Click", "Choose a box; a click outside all boxes deselects it"],
  ["Esc", "Deselect the box, close a menu"],
  ["?", "This list"],
];
