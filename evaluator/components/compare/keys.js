/** Keys of the comparison: which key asks for which action, the line below the panes and the list of all keys. */

import { PAGE_ACTIONS, VERDICT_ACTIONS } from "../shared/keys.js";

/** @import { KeyGroup } from "../shared/key_help.js" */

/** @type {Record<string, string>} */
export const COMPARE_ACTIONS = { ...PAGE_ACTIONS, ...VERDICT_ACTIONS, f: "flip", s: "side", d: "slider", z: "fit" };

/** @type {KeyGroup[]} */
export const COMPARE_LINE = [
  { keys: ["N"], words: "next difference", rank: 1 },
  { keys: ["P"], words: "back", rank: 1 },
  { keys: ["\u2190", "\u2192"], words: "page", rank: 3 },
  { keys: ["F"], words: "flip A and B", rank: 1 },
  { keys: ["1", "2", "3", "4"], words: "verdict, then next", rank: 1 },
  { keys: ["Z"], words: "whole page", rank: 1 },
  { keys: ["S", "D"], words: "side by side, slider", rank: 2 },
  { keys: ["G"], words: "ground truth", rank: 2 },
  { keys: ["+", "\u2212"], words: "zoom", rank: 2 },
];

/** @type {[string, string][]} */
export const COMPARE_HELP = [
  ["\u2190 \u2192", "Previous and next page of the list; on the divider of the slider: move it"],
  ["P N", "Previous and next difference, on through the pages of the list, and from one cause to the next"],
  ["1 2 3 4", "Verdict on the chosen mistake, then the next difference; twice to replace your own"],
  ["C", "The verdict is for the whole cause, or for the mistake alone"],
  ["V", "Note on the chosen mistake; Enter saves it, Esc leads back"],
  ["U", "Take the last verdict back"],
  ["F", "Flip: one pane, A and B in the same place, each press changes the model"],
  ["S D", "Side by side, and one pane with a divider"],
  ["G", "Show all ground truth, matched boxes too"],
  ["+ \u2212", "Zoom both panes in and out; so does the mouse wheel, at the pointer"],
  ["Z 0", "Whole page; again: page width"],
  ["Drag", "Move the enlarged page in both panes; Shift and wheel move it sideways"],
  ["Click", "Choose a box in both panes; a click outside all boxes deselects it"],
  ["Esc", "Deselect the box"],
  ["?", "This list"],
];
