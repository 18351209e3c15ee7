/**
 * What the page viewer knows beside its data: layers, labels, and which boxes, mistakes and cuts show. Pure: no document.
 */

import { PageContent } from "../shared/content.js";
import { withCurrent } from "../shared/window.js";

/** @import { BoxItem, BoxStatus, CauseItem, CutItem, MistakeItem, PagePayload, Rect, StripItem, WindowPayload } from "../shared/payloads.d.ts" */
/** @import { PutPage } from "../shared/window.js" */
/** @typedef {{cut: CutItem, truth: Rect, prediction: Rect}} CutPair */
/** @typedef {BoxItem & {place?: number}} PlacedBox a box with the number of its place */
/** @typedef {{number: number, cause: CauseItem | null, mistakes: MistakeItem[]}} Place where something went wrong once: a cause, or a mistake alone */
/** @typedef {"TP" | "FP" | "FN" | "truth" | "predictions" | "lost"} Layer */

/** Points by which loose boxes reach beyond their box, sideways and up and down. */
const LOOSE = [3, 1.5];

/** @param {MistakeItem[]} mistakes in the order of the list @param {CauseItem[]} causes @returns {Place[]} numbered in that order */
export function placesOf(mistakes, causes) {
  const causeOf = new Map(causes.flatMap((cause) => cause.numbers.map((number) => [number, cause])));
  /** @type {Map<CauseItem | MistakeItem, Place>} */
  const places = new Map();
  for (const mistake of mistakes) {
    const cause = causeOf.get(mistake.number) ?? null;
    const place = places.get(cause ?? mistake);
    if (place) place.mistakes.push(mistake);
    else places.set(cause ?? mistake, { number: places.size + 1, cause, mistakes: [mistake] });
  }
  return [...places.values()];
}

export class ViewerState {
  constructor() {
    this.content = /** @type {PageContent<PlacedBox>} */ (new PageContent());
    /** @type {Place[]} */
    this.places = [];
    /** @type {Record<Layer, boolean>} */
    this.layers = { TP: true, FP: true, FN: true, truth: false, predictions: true, lost: true };
    /** @type {Set<string>} */
    this.hiddenLabels = new Set();
    this.loose = false;
  }

  /** @param {BoxItem[]} boxes @param {MistakeItem[]} mistakes @param {CauseItem[]} causes */
  take(boxes, mistakes, causes) {
    this.places = placesOf(mistakes, causes);
    const numbers = new Map(this.places.flatMap(({ number, mistakes: own }) => own.map((mistake) => [mistake.number, number])));
    this.content = new PageContent(boxes.map((box) => ({ ...box, place: numbers.get(box.mistake ?? -1) })), mistakes);
  }

  /** @param {string | null} selected key of the chosen box @returns {Place | undefined} */
  placeOf(selected) {
    const number = this.content.box(selected)?.place;
    return number === undefined ? undefined : this.places[number - 1];
  }

  /** @param {Place} place @returns {PlacedBox[]} */
  boxesOf(place) {
    return place.mistakes.flatMap((mistake) => this.content.boxesOf(mistake));
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

  /** @returns {Place[]} those with a mistake that is listed */
  listedPlaces() {
    const listed = new Set(this.listedMistakes());
    return this.places.filter(({ mistakes }) => mistakes.some((mistake) => listed.has(mistake)));
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

  /**
   * @param {string | null} selected @param {number} step 1 or -1 @param {boolean} walks whether the list goes on on other pages
   * @returns {Place | "beyond" | null} the next place; "beyond" at the end of a list that goes on; null without any
   */
  nextPlace(selected, step, walks) {
    const listed = this.listedPlaces();
    const chosen = this.placeOf(selected);
    const at = chosen ? listed.indexOf(chosen) : -1;
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
    judged: last.judged,
    content: JSON.stringify([name, last.reviewer]),
    selected: null,
    reviewer: last.reviewer ?? "",
    address: last.address,
    visit: last.visit,
  };
}
