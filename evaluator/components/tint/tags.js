/** The tinted area as a path, and where the chips of its boxes go. Pure: no document. */

import { areaOf, overlapOf } from "../shared/geometry.js";

/** @import { Rect } from "../shared/payloads.d.ts" */

const TAG_HEIGHT = 18;
const MOST_OF_A_KIND = 3;

/** @param {Rect[]} rectangles @returns {string} one closed path */
export function areaPath(rectangles) {
  return rectangles.map(([x1, y1, x2, y2]) => `M${x1} ${y1}H${x2}V${y2}H${x1}Z`).join("");
}

/** @param {Rect[]} lines @returns {string} */
export function linePath(lines) {
  return lines.map(([x1, y1, x2, y2]) => `M${x1} ${y1}L${x2} ${y2}`).join("");
}

/**
 * A place for each chip at a corner of its box, above, below or inside: one that shows and hides no other chip, and among
 * these the one that hides least of the tinted pixels.
 * @param {{xyxy: Rect, width: number}[]} chips boxes in pixels of the sheet @param {Rect} bounds what of the sheet shows
 * @param {Rect[]} tinted @returns {(Rect | null)[]} null where there is none
 */
export function placeTags(chips, bounds, tinted) {
  /** @type {Rect[]} */
  const used = [];
  return chips.map(({ xyxy: [x1, y1, x2, y2], width }) => {
    /** @type {Rect | null} */
    let best = null;
    let least = Infinity;
    for (const top of [y1 - TAG_HEIGHT - 1, y2 + 1, y1 + 1, y2 - TAG_HEIGHT - 1]) {
      for (const left of [x2 - width, x1]) {
        /** @type {Rect} */
        const rect = [left, top, left + width, top + TAG_HEIGHT];
        if (overlapOf(rect, bounds) < 0.98 * areaOf(rect) || used.some((each) => overlapOf(rect, each) > 1)) continue;
        const hidden = tinted.reduce((sum, each) => sum + overlapOf(rect, each), 0);
        if (hidden < least - 1) [best, least] = [rect, hidden];
      }
    }
    if (best) used.push(best);
    return best;
  });
}

/**
 * One chip for each box, or one for all boxes of a kind when they are many: on the first of these from the top.
 * @template {{xyxy: Rect, side: string, text: string}} B
 * @param {B[]} boxes @returns {B[]}
 */
export function tagsOf(boxes) {
  /** @type {Map<string, B[]>} */
  const kinds = new Map();
  for (const box of boxes) {
    const key = `${box.side} ${box.text}`;
    kinds.set(key, [...(kinds.get(key) ?? []), box]);
  }
  return [...kinds.values()].flatMap((kind) => {
    if (kind.length <= MOST_OF_A_KIND) return kind;
    const first = kind.reduce((top, box) => (box.xyxy[1] < top.xyxy[1] ? box : top));
    return [{ ...first, text: `${first.text}, ${kind.length} boxes` }];
  });
}
