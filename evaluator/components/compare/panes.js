/**
 * The two panes of the comparison: one place for both sheets, three ways to look at them.
 *
 * Side by side: two panes of one size. Flip: both in the same place, one of them shows. Slider: both in the same place,
 * B to the right of a divider. Zoom and place are one object, so the panes cannot drift apart.
 */

import { areaOf, clamp, fitScale } from "../shared/geometry.js";
import { button, html, setAttributes, letterBadge } from "../shared/elements.js";
import { PagePane } from "../shared/pane.js";
import { MARGIN, bringIntoView, fitSheet, panBy, zoomBy } from "../shared/placement.js";
import { makeDivider } from "./divider.js";

/** @import { PairBoxItem, Rect } from "../shared/payloads.d.ts" */
/** @import { Comparison } from "./compare.js" */
/** @import { BoxLook } from "../shared/layers.js" */

const MOST_START_ZOOM = 6;
/** Pixels from the pane's edge at which a difference begins that is larger than the pane. */
const START = 28;
/** CSS pixels in a point: a page at this scale is as large as on paper. */
const PAPER_SCALE = 96 / 72;

/** Which chips come first when there is room for some only. @param {PairBoxItem} box @returns {number} */
function chipRank(box) {
  return box.status === "FP" ? 1 : 0;
}

/**
 * Where there is no room for the label its status alone still says which line is which; the marked box shows all of it.
 * @param {PairBoxItem & {said?: string}} box @param {boolean} compact @returns {string | null}
 */
function chipOf(box, compact) {
  return box.chip && [compact && box.chip.startsWith(`${box.status} `) ? box.status : box.chip, box.said].filter(Boolean).join(" ");
}

/**
 * Boxes that a filter asks for are drawn in full, the others faded; chips are on the differences. The data say which.
 * @type {BoxLook<PairBoxItem>}
 */
const PAIR_LOOK = {
  bands: 2,
  band: (box) => (box.full ? 1 : 0),
  className: (box) => (box.full ? " differs" : " agrees"),
  hasChip: (box) => box.full && Boolean(box.chip),
  chip: chipOf,
  chipOrder: (a, b) => chipRank(a) - chipRank(b) || areaOf(b.xyxy) - areaOf(a.xyxy),
  weight: (box) => (box.full ? 1 : 0.4),
  onOwn: false,
  room: 0.12,
};

/** The page of one model. @extends {PagePane<PairBoxItem>} */
export class ModelPane extends PagePane {
  /** @param {Comparison} view @param {string} letter @param {number} order 0 for A, 1 for B */
  constructor(view, letter, order) {
    super(PAIR_LOOK, {
      move: (at, chip) => view.pointed(this, at, chip),
      click: () => view.clicked(),
      zoom: (factor, at) => view.zoom(factor, at),
      pan: (dx, dy) => view.pan(dx, dy),
      enlarged: () => view.place.zoom > 1,
    });
    const side = `pair-${letter.toLowerCase()}`;
    this.letter = letter;
    this.order = order;
    this.root.classList.add("pair-pane", side);
    this.tips = html("div", { class: `pair-tips ${side}` }, this.tooltip);
    this.name = html("b", { class: "pair-name" });
    this.words = html("span", { class: "muted pair-words" });
    this.opens = html("span", { class: "wide-words" });
    this.open = button("", { class: "link-button pair-open", hidden: true }, () => view.send("open", { letter, key: view.selected }), this.opens, html("span", { class: "narrow-words" }, "Open"));
    this.head = html("div", { class: `pair-head ${side}` },
      letterBadge(letter), this.name, this.words, html("span", { class: "grow" }), this.open);
  }
}

/** Both pages. */
export class PairOfPanes {
  /** @param {Comparison} view whose state and placement are those of both sheets */
  constructor(view) {
    this.state = view.state;
    this.place = view.place;
    this.a = new ModelPane(view, "A", 0);
    this.b = new ModelPane(view, "B", 1);
    this.both = [this.a, this.b];
    this.page = { width: 595, height: 842 };
    this.mode = "side";
    this.front = "B";
    this.hiddenChips = 0;
    this.divider = makeDivider(this.a.root, (share) => this.slide(share));
    this.hint = button("", { class: "note pair-flip", hidden: true }, () => view.flip());
    this.nodes = [this.a.head, this.b.head, this.a.root, this.b.root, this.a.tips, this.b.tips, this.divider.root, this.hint];
  }

  /** @returns {ModelPane[]} the pages that can be seen */
  shown() {
    return this.mode === "flip" ? this.both.filter((pane) => pane.letter === this.front) : this.both;
  }

  // ---- ways to look -----------------------------------------------------------------------------------------------

  /** @param {string} mode side, flip or slider */
  look(mode) {
    this.mode = mode;
    for (const pane of this.both) {
      const behind = mode === "flip" && pane.letter !== this.front;
      for (const node of [pane.root, pane.tips]) node.classList.toggle("behind", behind);
      pane.head.classList.toggle("dimmed", behind);
      setAttributes(pane.root, { "aria-hidden": behind ? "true" : null });
    }
    this.divider.root.hidden = mode !== "slider";
    this.hint.hidden = mode !== "flip";
    this.hint.textContent = `${this.front} shows. Flip to ${this.front === "A" ? "B" : "A"} (F)`;
    this.slide(this.divider.share);
  }

  flip() {
    this.front = this.front === "A" ? "B" : "A";
    this.look(this.mode);
  }

  /** @param {number} share of the pane's width that shows A */
  slide(share) {
    const left = this.divider.move(share);
    this.b.root.style.clipPath = this.mode === "slider" ? `inset(0 0 0 ${left})` : "";
  }

  // ---- size and place ---------------------------------------------------------------------------------------------

  /** The pages are sized again after the window was. @returns {boolean} whether there is any room */
  measure() {
    const { clientWidth: width, clientHeight: height } = this.a.root;
    if (width === 0) return false;
    this.place.pane = { width, height };
    return true;
  }

  /** @returns {number} the zoom at which the page is as wide as the pane */
  widthZoom() {
    const wide = (this.place.pane.width - 2 * MARGIN) / this.page.width;
    return clamp(wide / fitScale(this.page, this.place.pane, MARGIN), 1, MOST_START_ZOOM);
  }

  /** @param {number} [zoom] 1 = whole page, without it the page's width, but not larger than on paper; the top of the page comes first */
  start(zoom = clamp(this.widthZoom(), 1, Math.max(1, PAPER_SCALE / fitScale(this.page, this.place.pane, MARGIN)))) {
    Object.assign(this.place, { zoom, x: MARGIN, y: MARGIN });
    this.fit();
  }

  fit() {
    fitSheet(this.place, this.page);
    this.move();
  }

  move() {
    for (const pane of this.both) pane.move(this.place);
  }

  /** @param {number} factor @param {[number, number] | null} at pixels of the pane */
  zoom(factor, at) {
    zoomBy(this.place, factor, this.page, at);
    this.move();
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    panBy(this.place, dx, dy, this.page);
    this.move();
  }

  /** Moves both pages until a rectangle shows. @param {Rect} rect shares of the page */
  show(rect) {
    bringIntoView(this.place, rect, this.page, START);
    this.move();
  }

  /** @returns {number} CSS pixels per printer's pixel of 1/96 inch */
  scale() {
    return this.place.sheet.width / (this.page.width * PAPER_SCALE);
  }

  // ---- boxes ------------------------------------------------------------------------------------------------------

  /** @param {boolean} truth whether matched ground truth shows */
  showTruth(truth) {
    this.state.truth = truth;
    for (const pane of this.both) pane.boxes.classList.toggle("hide-truth", !truth);
  }

  /** @param {string} font of the chips */
  arrange(font) {
    for (const pane of this.both) pane.arrange(this.state.visible(pane.order), this.place, font);
    this.hiddenChips = this.both.flatMap((pane) => pane.chipPlaces).filter((chip) => chip.rect === null).length;
  }

  /**
   * Marks one box in both pages; while the pointer is on it, tooltips show the facts.
   * @param {string | null} key @param {string} font @param {ModelPane | null} under the page under the pointer
   * @param {[number, number] | null} pointer @param {boolean} hovered
   */
  mark(key, font, under, pointer, hovered) {
    for (const pane of this.both) {
      const box = this.state.counterpart(pane.order, key);
      const marked = pane.mark(box, this.place, font);
      pane.writeFacts(box);
      // Where the pages lie on each other, one tooltip is enough.
      const silent = !hovered || (this.mode === "slider" && under !== pane);
      pane.tooltip.classList.toggle("silent", silent);
      if (!box || silent) continue;
      const around = this.state.visible(pane.order).filter((each) => each.full && !marked.includes(each)).map((each) => ({ box: each, weight: 0.7 }));
      pane.placeFacts(marked, around, this.place, under === pane ? pointer : null);
    }
  }
}
