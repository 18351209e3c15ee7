/**
 * How the comparison draws its boxes: those that a filter asks for in full, the others faded, chips on the differences.
 *
 * Which boxes are in full is written in the data, so that a filter for "both missed" can bring those forward.
 */

import { areaOf } from "../shared/geometry.js";

/** @import { BoxLook } from "../shared/layers.js" */
/** @import { PairBoxItem } from "../shared/payloads.d.ts" */

/** Which chips come first when there is room for some only. @param {PairBoxItem} box @returns {number} */
function chipRank(box) {
  return box.status === "FP" ? 1 : 0;
}

/** @type {BoxLook<PairBoxItem>} */
export const PAIR_LOOK = {
  bands: 2,
  band: (box) => (box.full ? 1 : 0),
  className: (box) => (box.full ? " differs" : " agrees"),
  hasChip: (box) => box.full && Boolean(box.chip),
  // Where there is no room for the label its status alone still says which line is which; the marked box shows all of it.
  chip: (box, compact) => (compact && box.chip?.startsWith(`${box.status} `) ? box.status : box.chip),
  chipOrder: (a, b) => chipRank(a) - chipRank(b) || areaOf(b.xyxy) - areaOf(a.xyxy),
  weight: (box) => (box.full ? 1 : 0.4),
  onOwn: false,
  room: 0.12,
};
