/**
 * The boxes of both models on one page: which box of one is the counterpart of which, and the way through the
 * differences. Pure: no document.
 */

import { PageContent } from "../shared/content.js";
import { withCurrent } from "../shared/window.js";

/** @import { ComparePayload, DifferenceItem, PairBoxItem, PairListItem, PairPageItem, PairWindowPayload, PaneItem } from "../shared/payloads.d.ts" */
/** @import { PutPage } from "../shared/window.js" */

export class PairState {
  constructor() {
    /** @type {PageContent<PairBoxItem>[]} of model A and model B */
    this.contents = [new PageContent(), new PageContent()];
    /** whether outlines are compared, not boxes, of model A and model B */
    this.byOutline = [false, false];
    /** @type {DifferenceItem[]} */
    this.differences = [];
    /** whether matched ground truth shows */
    this.truth = false;
  }

  /** @param {PaneItem[]} panes two, or none @param {DifferenceItem[]} differences */
  fill(panes, differences) {
    this.contents = this.contents.map((_, order) => new PageContent(panes[order]?.boxes, panes[order]?.mistakes));
    this.byOutline = this.contents.map((_, order) => panes[order]?.by_outline ?? false);
    this.differences = differences;
  }

  /** @param {string | null} key @returns {PairBoxItem | undefined} a box of either model */
  box(key) {
    return this.contents[0].box(key) ?? this.contents[1].box(key);
  }

  /** @param {number} order 0 for A, 1 for B @returns {PairBoxItem[]} */
  visible(order) {
    return [...this.contents[order].boxes.values()].filter((box) => this.truth || box.status !== "truth");
  }

  /** @param {string | null} one @param {string | null} other @returns {boolean} the same box, seen in either page */
  sameBox(one, other) {
    if (one === null || other === null) return false;
    if (one === other) return true;
    const box = this.box(one);
    return box?.mate === other || this.box(other)?.partner === one || box?.partner === other;
  }

  /**
   * The counterpart of a box of either page in one of them.
   * @param {number} order of the page @param {string | null} key
   * @returns {PairBoxItem | null} the box itself, its ground truth, or the shared false positive
   */
  counterpart(order, key) {
    const own = this.contents[order];
    const other = this.contents[1 - order].box(key);
    return own.box(key) ?? own.box(other?.partner) ?? own.box(other?.mate) ?? null;
  }

  /** @param {string | null} key @returns {number} place of its difference, -1 for none */
  placeOf(key) {
    return this.differences.findIndex((each) => this.sameBox(each.key, key));
  }

  /** @param {string | null} key @returns {DifferenceItem | undefined} */
  differenceOf(key) {
    return this.differences[this.placeOf(key)];
  }

  /** @param {string | null} selected @param {number} step 1 or -1 @returns {DifferenceItem | undefined} the next one of the page */
  nextDifference(selected, step) {
    const at = this.placeOf(selected);
    return this.differences[at < 0 && step < 0 ? this.differences.length - 1 : at + step];
  }
}

/** @typedef {ComparePayload & {content?: string, strip_name?: string}} NamedPair */

/** A page as it is put together from what Python sends. @type {PutPage<PairWindowPayload, NamedPair, PairPageItem, PairListItem>} */
export function putPair(content, items, last, name) {
  return {
    ...items,
    ...content,
    strip: withCurrent(items.strip, content.page),
    strip_name: last.strip,
    content: name,
    mode: last.mode,
    selected: null,
    summoned: last.summoned ?? false,
    visit: last.visit,
    empty: null,
    address: last.address,
    said: last.said,
  };
}
