/** Which suspects are listed and which one is chosen, while answers are on their way. Pure: no document. */

import { clamp } from "../shared/geometry.js";

/** @import { Rect, SuspectItem } from "../shared/payloads.d.ts" */

export class SuspectQueue {
  /** @param {string[]} answered targets that were answered, the last one at the end */
  constructor(answered = []) {
    /** @type {SuspectItem[]} all of the list, most likely first */
    this.items = [];
    this.set = "";
    this.onlyOpen = true;
    this.chosen = "";
    this.answered = answered;
  }

  /** @param {string} set @param {SuspectItem[]} items @param {boolean} onlyOpen whether those with a verdict are left out */
  fill(set, items, onlyOpen) {
    this.set = set;
    this.items = items;
    this.onlyOpen = onlyOpen;
  }

  /** @param {(item: SuspectItem) => boolean} isJudged @returns {SuspectItem[]} what the list shows */
  listed(isJudged) {
    return this.onlyOpen ? this.items.filter((item) => !isJudged(item)) : this.items;
  }

  /** @param {SuspectItem[]} listed @returns {SuspectItem | null} the chosen one; the first when it is not there */
  current(listed) {
    return listed.find(({ target }) => target === this.chosen) ?? listed[0] ?? null;
  }

  /** @param {SuspectItem[]} listed @param {number} step @returns {SuspectItem | null} some places on, at the ends the last or first one */
  beside(listed, step) {
    const at = listed.findIndex(({ target }) => target === this.chosen);
    return listed[Math.max(0, Math.min(listed.length - 1, Math.max(at, 0) + step))] ?? null;
  }

  /**
   * An answer: the one after it is chosen next, or the one before the end.
   * @param {SuspectItem[]} listed as it was @param {SuspectItem} item
   */
  answer(listed, item) {
    const at = listed.findIndex(({ target }) => target === item.target);
    this.forget(item.target);
    this.answered.push(item.target);
    this.chosen = (listed[at + 1] ?? listed[at - 1])?.target ?? "";
  }

  /** @returns {SuspectItem | null} what was answered last of this list, which is chosen again */
  takeBack() {
    const listed = new Map(this.items.map((item) => [item.target, item]));
    const last = [...this.answered].reverse().find((target) => listed.has(target));
    if (last === undefined) return null;
    this.forget(last);
    this.chosen = last;
    return listed.get(last) ?? null;
  }

  /** @param {string} target */
  forget(target) {
    const at = this.answered.indexOf(target);
    if (at >= 0) this.answered.splice(at, 1);
  }
}

/**
 * How far a correction moves the side that it moves most.
 * @param {Rect} now @param {Rect} proposed
 * @param {{width: number, height: number}} page in points
 * @returns {{side: number, points: number}} 0 left, 1 top, 2 right, 3 bottom
 */
export function largestMove(now, proposed, page) {
  const moves = now.map((value, side) => Math.abs(proposed[side] - value) * (side % 2 ? page.height : page.width));
  const side = moves.indexOf(Math.max(...moves));
  return { side, points: moves[side] };
}

/**
 * A box after one of its corners was dragged; it keeps an area and stays on the page.
 * @param {Rect} box @param {number} corner 0 left top, 1 right top, 2 left bottom, 3 right bottom
 * @param {number} x @param {number} y share of the page
 * @returns {Rect}
 */
export function withCorner([x1, y1, x2, y2], corner, x, y) {
  const least = 0.002;
  const [across, down] = [clamp(x, 0, 1), clamp(y, 0, 1)];
  const right = corner % 2 === 1, lower = corner >= 2;
  return [
    right ? x1 : Math.min(across, x2 - least), lower ? y1 : Math.min(down, y2 - least),
    right ? Math.max(across, x1 + least) : x2, lower ? Math.max(down, y1 + least) : y2,
  ];
}
