/**
 * The page of the chosen suspect: the ground truth now, the proposal, and what the models have. The page is as wide as the
 * pane, or wider, and is scrolled to the box.
 */

import { html, isPicture, placeOf, setAttributes, svg, textWidth } from "../shared/elements.js";
import { isolated, percentOf } from "../shared/words.js";
import { largestMove, withCorner } from "./queue.js";
import { unionOf } from "../shared/geometry.js";

/** @import { PictureItem, Rect, SuspectItem } from "../shared/payloads.d.ts" */

const BLANK = { width: 595, height: 842 };
/** Points from which on a moved side gets its measure. */
const MEASURED_FROM = 3;
/** Pixels above and below the boxes for their names. */
const ROOM = 64;
const SMALLEST = 0.3;
const CHIP_FONT = "650 12px sans-serif";

export class SuspectSheet {
  /** @param {(box: Rect) => void} edited called while a corner is dragged */
  constructor(edited) {
    this.edited = edited;
    /** 0 as it fits: as wide as the pane, unless the boxes are higher than it then */
    this.zoom = 0;
    this.image = /** @type {HTMLImageElement} */ (html("img", { class: "suspect-image", alt: "", draggable: "false" }));
    this.layer = svg("svg", { class: "suspect-layer", "aria-hidden": "true" });
    this.chips = html("div", { class: "suspect-chips" });
    this.sheet = html("div", { class: "suspect-sheet" }, this.image, this.layer, this.chips);
    this.problem = html("div", { class: "suspect-problem", role: "alert", hidden: true });
    this.root = html("div", { class: "suspect-pane", tabindex: "0", role: "img", "aria-label": "The page of the suspect" }, this.sheet, this.problem);
    /** @type {{width: number, height: number}} */
    this.page = BLANK;
    this.shown = "";
  }

  /**
   * @param {SuspectItem} item @param {PictureItem | undefined} picture undefined while it is on its way
   * @param {{labels: string[], hidden: Set<string>, edit: {box: Rect, label: number} | null}} look
   */
  draw(item, picture, look) {
    this.page = picture && picture.width > 0 && picture.height > 0 ? picture : BLANK;
    const source = picture?.image && isPicture(picture.image) ? picture.image : null;
    if (this.image.getAttribute("src") !== source) setAttributes(this.image, { src: source });
    this.image.hidden = source === null;
    const unknown = item.now === null && item.proposed === null;
    const text = picture?.problem ? `${picture.problem.title}. ${picture.problem.text}` : unknown ? "No file gives the size of this page, so boxes in pixels have no place on it." : "";
    this.problem.hidden = text === "";
    this.problem.textContent = text;
    const zoom = this.zoom || this.fitting(item);
    setAttributes(this.sheet, { style: `width:${100 * zoom}%;aspect-ratio:${this.page.width / this.page.height}` });
    this.drawBoxes(item, look);
    const key = `${item.target} ${zoom} ${this.page.width} ${this.root.clientWidth}`;
    if (key !== this.shown) this.reveal(item);
    this.shown = key;
  }

  /** @param {SuspectItem} item @param {{labels: string[], hidden: Set<string>, edit: {box: Rect, label: number} | null}} look */
  drawBoxes(item, { labels, hidden, edit }) {
    const now = hidden.has("now") ? null : item.now;
    const target = hidden.has("proposed") && !edit ? null : edit?.box ?? item.proposed;
    const parts = target && now && item.proposed ? hatched(now, target) : [];
    for (const { letter, xyxy } of item.models) if (!hidden.has(letter)) parts.push(svg("rect", { class: `suspect-box suspect-${letter}`, ...placeOf(xyxy) }));
    if (target) parts.push(svg("rect", { class: "suspect-box suspect-halo", ...placeOf(target) }), svg("rect", { class: "suspect-box suspect-proposed", ...placeOf(target) }));
    if (now) parts.push(svg("rect", { class: "suspect-box suspect-now", ...placeOf(now) }));
    this.layer.replaceChildren(...parts);
    this.drawChips(item, now, target, labels, edit, hidden);
  }

  /**
   * Names above the boxes, models with their scores to the left of them, and the measure of the side that moves most.
   * @param {SuspectItem} item @param {Rect | null} now @param {Rect | null} target @param {string[]} labels
   * @param {{box: Rect, label: number} | null} edit @param {Set<string>} hidden
   */
  drawChips(item, now, target, labels, edit, hidden) {
    const chips = [];
    const label = edit ? labels[edit.label] : item.new_label === null ? "" : labels[item.new_label];
    const boxes = [now, target].filter((box) => box !== null);
    const top = Math.min(...boxes.map((box) => box[1]), 1);
    const above = top * this.page.height > 24;
    const names = [`Ground truth ${isolated(item.label)}`, `${edit ? "Edited" : "Proposed"} ${isolated(label)}`];
    const low = Math.max(...boxes.map((box) => box[3]), 0);
    const inside = (1 - low) * this.page.height <= 24;
    const under = inside ? `bottom:${percentOf(1 - low)}` : `top:${percentOf(low)}`;
    const over = above ? `bottom:${percentOf(1 - top)}` : inside ? `top:${percentOf(top)}` : under;
    const width = this.sheet.offsetWidth || 600;
    // Beside each other where there is room for both, else one above and one below.
    const together = !now || !target || names.reduce((sum, name) => sum + textWidth(name, CHIP_FONT) + 24, 0) < (target[2] - now[0]) * width;
    if (now) chips.push(html("span", { class: "suspect-chip suspect-chip-now", style: `left:${percentOf(now[0])};${together ? over : under}`, title: item.label }, names[0]));
    if (target) {
      const side = textWidth(names[1], CHIP_FONT) + 18 > target[2] * width ? `left:${percentOf(target[0])}` : `right:${percentOf(1 - target[2])}`;
      chips.push(html("span", { class: "suspect-chip suspect-chip-proposed", style: `${side};${over}`, title: label }, names[1]));
      if (!edit) chips.push(...[0, 1, 2, 3].map((corner) => html("i", { class: "suspect-corner", style: cornerOf(target, corner) })));
    }
    const left = Math.min(...boxes.map((box) => box[0]), ...item.models.map(({ xyxy }) => xyxy[0]), 1);
    const first = boxes[0] ?? item.models[0]?.xyxy;
    const badges = item.models.filter(({ letter }) => !hidden.has(letter)).map(({ letter, label: said, score }) =>
      html("span", { class: "suspect-badge", title: said }, html("i", { class: `letter letter-${letter}` }, letter), score === null ? "" : score.toFixed(2)));
    const right = Math.max(...boxes.map((box) => box[2]), 0);
    const across = left * this.page.width > 60 ? `right:calc(${percentOf(1 - left)} + 6px)` : `left:calc(${percentOf(right)} + 6px)`;
    if (badges.length && first) chips.push(html("div", { class: "suspect-badges", style: `${across};top:${percentOf(first[1])}` }, ...badges));
    if (now && target) chips.push(...measure(now, target, this.page));
    if (edit) chips.push(...this.handles(edit.box));
    this.chips.replaceChildren(...chips);
  }

  /** @param {Rect} box @returns {HTMLElement[]} corners to drag */
  handles(box) {
    return [0, 1, 2, 3].map((corner) => {
      const node = html("span", { class: `suspect-handle suspect-handle-${corner}`, style: cornerOf(box, corner) });
      node.addEventListener("pointerdown", (event) => this.drag(event, corner, box));
      return node;
    });
  }

  /** @param {PointerEvent} event @param {number} corner @param {Rect} box as it was */
  drag(event, corner, box) {
    event.preventDefault();
    const frame = this.sheet.getBoundingClientRect();
    const ends = new AbortController();
    const { signal } = ends;
    window.addEventListener("pointermove", ({ clientX, clientY }) => this.edited(withCorner(box, corner, (clientX - frame.left) / frame.width, (clientY - frame.top) / frame.height)), { signal });
    window.addEventListener("pointerup", () => ends.abort(), { signal });
  }

  /** @param {SuspectItem} item @returns {number} widths of the pane by which all its boxes and their names are in view */
  fitting(item) {
    const boxes = boxesOf(item);
    const { clientWidth, clientHeight } = this.root;
    if (!boxes.length || !clientWidth || !clientHeight) return 1;
    const [, top, , bottom] = unionOf(boxes);
    const high = (bottom - top) * clientWidth * (this.page.height / this.page.width);
    return Math.max(SMALLEST, Math.min(1, (clientHeight - ROOM) / high));
  }

  /** Scrolls the pane to the boxes. @param {SuspectItem} item */
  reveal(item) {
    const boxes = boxesOf(item);
    if (!boxes.length) return;
    const [left, top, right, bottom] = unionOf(boxes);
    this.root.scrollTop = ((top + bottom) * this.sheet.offsetHeight - this.root.clientHeight) / 2;
    this.root.scrollLeft = ((left + right) * this.sheet.offsetWidth - this.root.clientWidth) / 2;
  }

  /** @param {number} factor 0 for as it fits */
  zoomBy(factor) {
    const now = this.root.clientWidth ? this.sheet.offsetWidth / this.root.clientWidth : 1;
    this.zoom = factor === 0 ? 0 : Math.max(SMALLEST, Math.min(4, now * factor));
  }
}

/** @param {SuspectItem} item @returns {Rect[]} the ground truth now, and the proposal */
function boxesOf({ now, proposed }) {
  return [now, proposed].filter((box) => box !== null);
}

/** @param {Rect} box @param {number} corner 0 left top, 1 right top, 2 left bottom, 3 right bottom @returns {string} */
function cornerOf(box, corner) {
  return `left:${percentOf(box[corner % 2 ? 2 : 0])};top:${percentOf(box[corner >= 2 ? 3 : 1])}`;
}

/** What a correction adds, hatched. @param {Rect} now @param {Rect} target @returns {SVGElement[]} */
function hatched(now, target) {
  const line = svg("line", { x1: 0, y1: 0, x2: 0, y2: 7, class: "suspect-hatch" });
  const pattern = svg("pattern", { id: "suspect-hatching", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, line);
  const mask = svg("mask", { id: "suspect-added" }, svg("rect", { ...placeOf(target), fill: "#fff" }), svg("rect", { ...placeOf(now), fill: "#000" }));
  return [svg("defs", {}, pattern, mask), svg("rect", { ...placeOf(target), fill: "url(#suspect-hatching)", mask: "url(#suspect-added)" })];
}

/** The way of the side that moves most, with its points. @param {Rect} now @param {Rect} target @param {{width: number, height: number}} page @returns {HTMLElement[]} */
function measure(now, target, page) {
  const { side, points } = largestMove(now, target, page);
  if (points < MEASURED_FROM) return [];
  const [low, high] = [Math.min(now[side], target[side]), Math.max(now[side], target[side])];
  const words = html("b", {}, `${Math.round(points)} pt`);
  // In the middle of the boxes: names and scores are around them.
  const [x1, y1, x2, y2] = unionOf([now, target]);
  const place = side % 2
    ? `left:${percentOf((x1 + x2) / 2)};top:${percentOf(low)};height:${percentOf(high - low)}`
    : `top:${percentOf((y1 + y2) / 2)};left:${percentOf(low)};width:${percentOf(high - low)}`;
  return [html("span", { class: side % 2 ? "suspect-measure down" : "suspect-measure across", style: place }, words)];
}
