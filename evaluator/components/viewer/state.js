/**
 * What the page viewer knows beside its data: layers, labels, and which boxes, mistakes and cuts show. Pure: no document.
 */

import { PageContent } from "../shared/content.js";
import { withCurrent } from "../shared/window.js";

/** @import { BoxItem, BoxStatus, CutItem, MistakeItem, PagePayload, Rect, StripItem, WindowPayload } from "../shared/payloads.d.ts" */
/** @import { PutPage } from "../shared/window.js" */
/** @typedef {{cut: CutItem, truth: Rect, prediction: Rect}} CutPair */
/** @typedef {"TP" | "FP" | "FN" | "truth" | "predictions" | "lost"} Layer */

/** Points by which loose boxes reach beyond their box, sideways and up and down. */
const LOOSE = [3, 1.5];

export class ViewerState {
  constructor() {
    this.content = /** @type {PageContent<BoxItem>} */ (new PageContent());
    /** @type {Record<Layer, boolean>} */
    this.layers = { TP: true, FP: true, FN: true, truth: false, predictions: true, lost: true };
    /** @type {Set<string>} */
    this.hiddenLabels = new Set();
    this.loose = false;
  }

  /** @returns {Record<BoxStatus, boolean>} which statuses no box shows */
  hiddenStatuses() {
    const { layers } = this;
    return { TP: !(layers.TP && layers.predictions), FP: !(layers.FP && layers.predictions), FN: !(layers.FN || layers.truth), truth: !layers.truth };
  }

  /** @param {string[]} labels @param {boolean} shown */
  showLabels(labels, shown) {
    for (const label of labels) {
      if (shown) this.hiddenLabels.delete(label);
      else this.hiddenLabels.add(label);
    }
  }

  /** Every box but matched ground truth. */
  showAll() {
    Object.assign(this.layers, { TP: true, FP: true, FN: true, predictions: true });
    this.hiddenLabels.clear();
  }

  /** @param {BoxItem} box @returns {boolean} */
  isVisible(box) {
    return !this.hiddenLabels.has(box.label) && !this.hiddenStatuses()[box.status];
  }

  /** @returns {BoxItem[]} */
  visibleBoxes() {
    return [...this.content.boxes.values()].filter((box) => this.isVisible(box));
  }

  /** @returns {MistakeItem[]} those with a box that shows, and those without any box */
  listedMistakes() {
    return [...this.content.mistakes.values()].filter((mistake) => {
      const own = this.content.boxesOf(mistake);
      return own.length === 0 || own.some((box) => this.isVisible(box));
    });
  }

  /** @returns {CutPair[]} of the mistakes whose pair shows */
  cuts() {
    return [...this.content.mistakes.values()].flatMap((mistake) => {
      const own = this.content.boxesOf(mistake).filter((box) => this.isVisible(box));
      const truth = own.find((box) => box.side === "ground_truth");
      const prediction = own.find((box) => box.side === "prediction");
      return mistake.cut && truth && prediction ? [{ cut: mistake.cut, truth: truth.xyxy, prediction: prediction.xyxy }] : [];
    });
  }

  /** A box as it is drawn: a little larger when the reader wants the letters free. @param {BoxItem} box @param {{width: number, height: number}} page points @returns {BoxItem} */
  asDrawn(box, { width, height }) {
    if (!this.loose) return box;
    const [x1, y1, x2, y2] = box.xyxy;
    return { ...box, xyxy: [x1 - LOOSE[0] / width, y1 - LOOSE[1] / height, x2 + LOOSE[0] / width, y2 + LOOSE[1] / height] };
  }

  /** @param {string | null} selected key of the chosen box @returns {number} place of its mistake among those listed, -1 for none */
  placeInList(selected) {
    const number = this.content.box(selected)?.mistake;
    return this.listedMistakes().findIndex((mistake) => mistake.number === number);
  }

  /**
   * @param {string | null} selected @param {number} step 1 or -1 @param {boolean} walks whether the list goes on on other pages
   * @returns {MistakeItem | "beyond" | null} the next mistake; "beyond" at the end of a list that goes on; null without any
   */
  nextMistake(selected, step, walks) {
    const listed = this.listedMistakes();
    const at = this.placeInList(selected);
    const last = listed.length - 1;
    if (walks && (last < 0 || (at >= 0 && at === (step > 0 ? last : 0)))) return "beyond";
    if (last < 0) return null;
    return listed[at < 0 ? (step > 0 ? 0 : last) : (at + step + listed.length) % listed.length];
  }
}

/** The boxes that lie on each other under a point, of which one is looked at. */
export class BoxStack {
  constructor() {
    this.keys = "";
    this.order = 0;
  }

  clear() {
    this.keys = "";
  }

  /** @param {BoxItem[]} boxes under the pointer @returns {string | null} key of the one that is looked at */
  under(boxes) {
    const keys = boxes.map((box) => box.key).join(" ");
    if (keys !== this.keys) {
      this.keys = keys;
      this.order = 0;
    }
    return boxes[this.order]?.key ?? null;
  }

  /** @param {BoxItem[]} boxes at least one @param {string | null} current key @param {number} step @returns {BoxItem} */
  step(boxes, current, step) {
    const at = boxes.findIndex((box) => box.key === current);
    this.keys = boxes.map((box) => box.key).join(" ");
    this.order = ((at < 0 ? -step : at) + step + boxes.length) % boxes.length;
    return boxes[this.order];
  }
}

/** @typedef {PagePayload & {content?: string, strip_name?: string}} NamedPage */

/** A page as it is put together from what Python sends. @type {PutPage<WindowPayload, NamedPage, PagePayload, StripItem[]>} */
export function putPage(content, items, last, name) {
  return {
    ...content,
    strip: withCurrent(items, content.page),
    strip_first: last.strip_first,
    strip_name: last.strip,
    content: JSON.stringify([name, last.reviewer]),
    selected: null,
    reviewer: last.reviewer ?? "",
    address: last.address,
    visit: last.visit,
  };
}
