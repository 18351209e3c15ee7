/** The boxes (each with the sign of its verdict) and mistakes of one page, by key and number, and how they belong together. Pure: no document. */

import { signOf } from "./words.js";

/** @import { BoxItem, MistakeItem } from "./payloads.d.ts" */

/** @template {BoxItem} B */
export class PageContent {
  /** @param {B[]} [boxes] @param {MistakeItem[]} [mistakes] */
  constructor(boxes = [], mistakes = []) {
    this.mistakes = new Map(mistakes.map((mistake) => [mistake.number, mistake]));
    this.boxes = new Map(boxes.map((box) => [box.key, { ...box, said: signOf(this.mistakes.get(box.mistake ?? -1)?.verdict) }]));
  }

  /** @param {string | null | undefined} key @returns {B | undefined} */
  box(key) {
    return this.boxes.get(key ?? "");
  }

  /** @param {B | null | undefined} box @returns {MistakeItem | undefined} */
  mistakeOf(box) {
    return this.mistakes.get(box?.mistake ?? -1);
  }

  /** @param {MistakeItem} mistake @returns {B[]} */
  boxesOf(mistake) {
    return mistake.keys.flatMap((key) => this.boxes.get(key) ?? []);
  }

  /**
   * Boxes that belong to one box: its match, or the nearest of the other side, and the rest of its mistake.
   * @param {B} box @returns {B[]}
   */
  companionsOf(box) {
    const keys = [box.partner, box.partner ? null : box.nearest?.key, ...(this.mistakeOf(box)?.keys ?? [])];
    const others = new Map();
    for (const key of keys) {
      const other = key === box.key ? undefined : this.box(key);
      if (other) others.set(other.key, other);
    }
    return [...others.values()];
  }
}
