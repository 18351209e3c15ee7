/** Made-up payloads and a clock that the tests turn themselves. */

/** @import { BoxItem, MistakeItem, PairBoxItem } from "../shared/payloads.d.ts" */

/** @param {string} key "g…" is a ground truth @param {Partial<BoxItem>} [more] @returns {BoxItem} */
export function box(key, more = {}) {
  const truth = key.startsWith("g");
  return {
    key, side: truth ? "ground_truth" : "prediction", status: truth ? "FN" : "FP", label: "Text", xyxy: [0.1, 0.1, 0.3, 0.2],
    name: null, score: null, iou: null, coverage: null, purity: null, partner: null, nearest: null, mistake: null, faded: false, other: false, cause: null, source: null,
    outline: null, ...more,
  };
}

/** @param {string} key @param {Partial<PairBoxItem>} [more] @returns {PairBoxItem} */
export function pairBox(key, more = {}) {
  return { ...box(key), kind: "both", full: true, chip: null, mate: null, ...more };
}

/** @param {number} number @param {string[]} keys @param {Partial<MistakeItem>} [more] @returns {MistakeItem} */
export function mistake(number, keys, more = {}) {
  return { number, status: "FP", title: "Cut off", label: "Text", lines: [], tags: [], keys, ...more };
}

/** A window with timers that only `pass` lets run. */
export class Clock {
  constructor() {
    this.now = 0;
    this.last = 0;
    /** @type {Map<number, {at: number, work: () => void}>} */
    this.timers = new Map();
    Object.assign(globalThis, { window: this });
  }

  /** @param {() => void} work @param {number} rest milliseconds @returns {number} */
  setTimeout(work, rest) {
    this.last += 1;
    this.timers.set(this.last, { at: this.now + rest, work });
    return this.last;
  }

  /** @param {number} timer */
  clearTimeout(timer) {
    this.timers.delete(timer);
  }

  /** @param {number} milliseconds */
  pass(milliseconds) {
    const until = this.now + milliseconds;
    for (;;) {
      const [next] = [...this.timers].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at);
      if (!next) break;
      const [timer, { at, work }] = next;
      this.timers.delete(timer);
      this.now = at;
      work();
    }
    this.now = until;
  }
}
