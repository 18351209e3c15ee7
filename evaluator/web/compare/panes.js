/**
 * The two panes of the comparison: one place for both sheets, three ways to look at them.
 *
 * Side by side: two panes of one size. Flip: both in the same place, one of them shows. Slider: both in the same place,
 * B to the right of a divider. Zoom and place are one object, so the panes cannot drift apart.
 */

import { clamp, fitScale, placeBeside, unionOf } from "../shared/geometry.js";
import { button, html } from "../shared/elements.js";
import { inPane, listenToPane, makePane, settle, startPlacement, zoomBy } from "../shared/pane.js";
import { arrangePairChips, counterpart, drawPairBoxes, drawPairMarkChip, markPair } from "./layers.js";

/** @typedef {import("../shared/geometry.js").Rect} Rect */
/** @typedef {import("../shared/geometry.js").Size} Size */
/** @typedef {import("../shared/layers.js").Mistake} Mistake */
/** @typedef {import("./layers.js").PairBox} PairBox */
/**
 * @typedef {object} PaneData
 * @property {string} letter
 * @property {string} name
 * @property {string} words "misses 4 boxes that B finds"
 * @property {PairBox[]} boxes
 * @property {Mistake[]} mistakes
 * @property {{drawn: number, total: number} | null} limit
 */

const PAIR_MARGIN = 6;
const DIVIDER_STEP = 0.02;
const MOST_START_ZOOM = 6;

/** One of the two pages. */
export class Half {
  /** @param {string} letter @param {(letter: string) => void} open */
  constructor(letter, open) {
    this.letter = letter;
    this.pane = makePane();
    this.pane.root.classList.add("pair-pane", `pair-${letter.toLowerCase()}`);
    this.tips = html("div", { class: `pair-tips pair-${letter.toLowerCase()}` }, this.pane.tooltip);
    this.name = html("b", { class: "pair-name" });
    this.words = html("span", { class: "muted pair-words" });
    this.open = button(`Open this page of model ${letter} in the Page browser`, { class: "link-button pair-open" }, () => open(letter),
      html("span", { class: "wide-words" }, "Open in Page browser"), html("span", { class: "narrow-words" }, "Open"));
    this.head = html("div", { class: `pair-head pair-${letter.toLowerCase()}` },
      html("i", { class: `pair-letter pair-letter-${letter.toLowerCase()}` }, letter), this.name, this.words, html("span", { class: "grow" }), this.open);
    /** @type {Map<string, PairBox>} */
    this.boxes = new Map();
    /** @type {Map<number, Mistake>} */
    this.mistakes = new Map();
    /** @type {Map<string, HTMLElement>} */
    this.chips = new Map();
    /** @type {{key: string, rect: Rect | null}[]} */
    this.chipPlaces = [];
  }

  /** @param {PaneData} data */
  fill(data) {
    this.boxes = new Map(data.boxes.map((box) => [box.key, box]));
    this.mistakes = new Map(data.mistakes.map((mistake) => [mistake.number, mistake]));
    this.chips = drawPairBoxes(this.pane.boxes, this.pane.chips, data.boxes);
    this.pane.chips.classList.remove("ready");
    this.name.textContent = data.name;
    this.name.title = `Model ${data.letter}: ${data.name}`;
    this.words.textContent = data.words;
    this.words.title = data.words;
  }

  /** @param {boolean} truth whether matched ground truth shows @returns {PairBox[]} */
  visible(truth) {
    return [...this.boxes.values()].filter((box) => truth || box.status !== "truth");
  }
}

/**
 * @typedef {object} PairActions
 * @property {(half: Half, at: [number, number] | null, chip: string | null) => void} move
 * @property {() => void} click
 * @property {(factor: number, at: [number, number]) => void} zoom
 * @property {(dx: number, dy: number) => void} pan
 * @property {(letter: string) => void} open
 * @property {() => void} flip
 */

/** Both pages. */
export class PairOfPanes {
  /** @param {PairActions} actions */
  constructor(actions) {
    this.actions = actions;
    this.a = new Half("A", actions.open);
    this.b = new Half("B", actions.open);
    this.place = startPlacement();
    /** @type {Size} */
    this.page = { width: 595, height: 842 };
    this.mode = "side";
    this.front = "B";
    this.truth = false;
    this.share = 0.5;
    this.hiddenChips = 0;
    this.divider = html("div", { class: "divider", role: "slider", tabindex: "0", "aria-label": "Divider: A on the left, B on the right",
      "aria-valuemin": "0", "aria-valuemax": "100", "aria-orientation": "horizontal" }, html("span", { class: "divider-grip", "aria-hidden": "true" }, "\u2194"));
    this.hint = button("Show the other model", { class: "note pair-flip" }, actions.flip);
    this.nodes = [this.a.head, this.b.head, this.a.pane.root, this.b.pane.root, this.a.tips, this.b.tips, this.divider, this.hint];
    for (const half of this.halves()) {
      listenToPane(half.pane.root, {
        move: (at, chip) => actions.move(half, at, chip),
        click: actions.click,
        zoom: actions.zoom,
        pan: actions.pan,
        enlarged: () => this.place.zoom > 1,
      });
    }
    this.listenToDivider();
  }

  /** @returns {Half[]} */
  halves() {
    return [this.a, this.b];
  }

  /** @param {Half} half @returns {Half} */
  other(half) {
    return half === this.a ? this.b : this.a;
  }

  /** @returns {Half[]} the pages that can be seen */
  shown() {
    return this.mode === "flip" ? [this.front === "A" ? this.a : this.b] : this.halves();
  }

  // ---- ways to look ----------------------------------------------------------------------------------------------

  /** @param {string} mode side, flip or slider */
  look(mode) {
    this.mode = mode;
    for (const half of this.halves()) {
      const behind = mode === "flip" && half.letter !== this.front;
      half.pane.root.classList.toggle("behind", behind);
      half.tips.classList.toggle("behind", behind);
      half.head.classList.toggle("dimmed", behind);
      if (behind) half.pane.root.setAttribute("aria-hidden", "true");
      else half.pane.root.removeAttribute("aria-hidden");
    }
    this.divider.hidden = mode !== "slider";
    this.hint.hidden = mode !== "flip";
    this.hint.textContent = `${this.front} shows. Flip to ${this.front === "A" ? "B" : "A"} (F)`;
    this.slide(this.share);
  }

  flip() {
    this.front = this.front === "A" ? "B" : "A";
    this.look(this.mode);
  }

  /** @param {number} share of the pane's width that shows A */
  slide(share) {
    this.share = clamp(share, 0, 1);
    const percent = `${(this.share * 100).toFixed(2)}%`;
    this.b.pane.root.style.clipPath = this.mode === "slider" ? `inset(0 0 0 ${percent})` : "";
    this.divider.style.left = percent;
    this.divider.setAttribute("aria-valuenow", String(Math.round(this.share * 100)));
    this.divider.setAttribute("aria-valuetext", `${Math.round(this.share * 100)} % of the pane shows A`);
  }

  listenToDivider() {
    const at = (/** @type {PointerEvent} */ event) => {
      const frame = this.a.pane.root.getBoundingClientRect();
      return (event.clientX - frame.left) / Math.max(1, frame.width);
    };
    this.divider.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      this.divider.focus();
      this.divider.setPointerCapture(event.pointerId);
    });
    this.divider.addEventListener("pointermove", (event) => {
      if (this.divider.hasPointerCapture(event.pointerId)) this.slide(at(event));
    });
    this.divider.addEventListener("keydown", (event) => {
      const steps = /** @type {Record<string, number>} */ ({ ArrowLeft: -DIVIDER_STEP, ArrowRight: DIVIDER_STEP, Home: -1, End: 1 });
      if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
      this.slide(this.share + steps[event.key] * (event.shiftKey ? 5 : 1));
      event.preventDefault();
      event.stopPropagation();
    });
  }

  // ---- size and place ----------------------------------------------------------------------------------------------

  /** The pages are sized again after the window was. @returns {boolean} whether there is any room */
  measure() {
    const { clientWidth: width, clientHeight: height } = this.a.pane.root;
    if (width === 0) return false;
    this.place.pane = { width, height };
    return true;
  }

  /** @returns {number} the zoom at which the page is as wide as the pane */
  widthZoom() {
    const wide = (this.place.pane.width - 2 * PAIR_MARGIN) / this.page.width;
    return clamp(wide / fitScale(this.page, this.place.pane, PAIR_MARGIN), 1, MOST_START_ZOOM);
  }

  /** @returns {number} the zoom of the first look: the page's width, but not larger than on paper */
  firstZoom() {
    const onPaper = 96 / 72 / fitScale(this.page, this.place.pane, PAIR_MARGIN);
    return clamp(this.widthZoom(), 1, Math.max(1, onPaper));
  }

  /** @param {number} zoom 1 = whole page; the top of the page comes first */
  start(zoom) {
    Object.assign(this.place, { zoom, x: PAIR_MARGIN, y: PAIR_MARGIN });
    this.settle();
  }

  settle() {
    for (const half of this.halves()) settle(this.place, this.page, half.pane.sheet);
  }

  /** @param {number} factor @param {[number, number] | null} at pixels of the pane */
  zoom(factor, at) {
    zoomBy(this.place, factor, this.page, this.a.pane.sheet, at);
    settle(this.place, this.page, this.b.pane.sheet);
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    this.place.x += dx;
    this.place.y += dy;
    this.settle();
  }

  /** Moves both pages until a rectangle shows. @param {Rect} rect shares of the page */
  show(rect) {
    const { width, height } = this.place.pane;
    const [x1, y1, x2, y2] = inPane(this.place, rect);
    const shift = (/** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ length) => {
      if (low >= 24 && high <= length - 24) return 0;
      return high - low > length - 48 ? 28 - low : length / 2 - (low + high) / 2;
    };
    this.pan(shift(x1, x2, width), shift(y1, y2, height));
  }

  /** @returns {number} CSS pixels per printer's pixel of 1/96 inch */
  scale() {
    return this.place.sheet.width / ((this.page.width * 96) / 72);
  }

  // ---- boxes ------------------------------------------------------------------------------------------------------

  /** @param {boolean} truth */
  showTruth(truth) {
    this.truth = truth;
    for (const half of this.halves()) half.pane.boxes.classList.toggle("hide-truth", !truth);
  }

  /** @param {string} font of the chips */
  arrange(font) {
    for (const half of this.halves()) {
      half.chipPlaces = arrangePairChips(half.chips, half.visible(this.truth), this.place.sheet, font);
      half.pane.chips.classList.add("ready");
    }
    this.hiddenChips = this.halves().flatMap((half) => half.chipPlaces).filter((place) => place.rect === null).length;
  }

  /**
   * Marks one box in both pages; while the pointer is on it, tooltips tell the facts.
   * @param {string | null} key @param {string} font @param {Half | null} under the page under the pointer @param {[number, number] | null} pointer
   * @param {boolean} hovered
   */
  mark(key, font, under, pointer, hovered) {
    const { x, y, sheet, pane } = this.place;
    for (const half of this.halves()) {
      const box = counterpart(half.boxes, this.other(half).boxes, key);
      const marked = markPair(half.pane, half.boxes, half.mistakes, box, sheet);
      drawPairMarkChip(half.pane.markedChips, box, sheet, font, half.chipPlaces);
      // Where the pages lie on each other, one tooltip says it.
      const silent = !hovered || (this.mode === "slider" && under !== half);
      half.pane.tooltip.classList.toggle("silent", silent);
      if (!box || silent) continue;
      const rects = marked.map((each) => inPane(this.place, each.xyxy));
      const around = half.visible(this.truth).filter((each) => each.full && !marked.includes(each))
        .map((each) => ({ rect: inPane(this.place, each.xyxy), weight: 0.7 }));
      const size = { width: half.pane.tooltip.offsetWidth, height: half.pane.tooltip.offsetHeight };
      /** @type {Rect} */
      const page = [x, y, x + sheet.width, y + sheet.height];
      const [left, top] = placeBeside(visiblePart(unionOf(rects), pane), size, pane, under === half ? pointer : null, around, page);
      half.pane.tooltip.style.transform = `translate(${left}px, ${top}px)`;
    }
  }
}

/** @param {Rect} r @param {Size} pane @returns {Rect} */
function visiblePart(r, pane) {
  return [Math.max(0, r[0]), Math.max(0, r[1]), Math.min(pane.width, r[2]), Math.min(pane.height, r[3])];
}
