/**
 * What lies on a page: boxes, chips, the marked boxes with their links, cuts, lost words.
 *
 * Boxes are SVG rectangles whose position is a share of the sheet, so that a zoom changes one width and one height
 * and every line keeps its thickness. Large boxes are drawn first. Layers are hidden by classes, not drawn again.
 */

import { CHIP_PLACES, areaOf, chipRect, linkEnds, overlapOf, placeChips, toPixels } from "./geometry.js";
import { html, outlineOf, placeOf, svg, textWidth } from "./elements.js";
import { boxName } from "./facts.js";
import { percentOf } from "./words.js";

/** @import { ChipPlace, Size } from "./geometry.js" */
/** @import { BoxItem, CutItem, Rect } from "./payloads.d.ts" */

/**
 * How a view draws its boxes.
 * @template {BoxItem} B
 * @typedef {object} BoxLook
 * @property {number} bands how many stacks of layers there are
 * @property {(box: B) => number} band the stack of a box, from 0 at the bottom
 * @property {(box: B) => string} className beside those of its status
 * @property {(box: B) => boolean} hasChip
 * @property {(box: B, compact: boolean) => string | null} chip text of a chip; null for a box that never has one
 * @property {(a: B, b: B) => number} chipOrder which chips come first when there is room for some only
 * @property {(box: B) => number} weight how much it matters that no chip hides the box
 * @property {boolean} onOwn whether a chip may hide its own box
 * @property {number} room share of the sheet that chips may cover
 */

const CHIP_HEIGHT = 17;
const MOST_CHIP_WIDTH = 420;
/** Share of the room for chips that is kept for short ones. */
const SHORT_ROOM = 0.25;
export const LAYER_ORDER = /** @type {const} */ (["truth", "TP", "FN", "FP"]);

/** @param {string} text @param {string} font @returns {number} */
function chipWidth(text, font) {
  return Math.min(MOST_CHIP_WIDTH, Math.ceil(textWidth(text, font)) + 12);
}

/** @param {BoxItem} box @param {string} text @param {string} [more] classes of the box @returns {HTMLElement} */
function chipElement(box, text, more = "") {
  return html("div", { class: `chip chip-${box.status}${more}`, "data-key": box.key, "aria-hidden": "true" }, text);
}

/** Boxes in the order in which they are drawn. @template {BoxItem} B @param {B[]} boxes @returns {B[]} */
export function largeFirst(boxes) {
  return [...boxes].sort((a, b) => areaOf(b.xyxy) - areaOf(a.xyxy));
}

/**
 * Draws all boxes and chips of a page anew.
 * @template {BoxItem} B
 * @param {SVGElement} layer @param {HTMLElement} chips @param {B[]} boxes @param {BoxLook<B>} look
 * @returns {{rects: Map<string, SVGElement>, chips: Map<string, HTMLElement>}} by key of the box
 */
export function drawBoxes(layer, chips, boxes, look) {
  /** @type {Map<string, SVGElement>} */
  const rects = new Map();
  const groups = Array.from({ length: look.bands }, () => LAYER_ORDER.map((status) => svg("g", { class: `layer layer-${status}` })));
  for (const box of largeFirst(boxes)) {
    const rect = svg("rect", { ...placeOf(box.xyxy), class: `box box-${box.status}${look.className(box)}`, "data-key": box.key, role: "img", "aria-label": boxName(box) });
    rects.set(box.key, rect);
    const group = groups[look.band(box)][LAYER_ORDER.indexOf(box.status)];
    group.append(rect);
    if (box.outline) {
      rect.classList.add("has-outline");
      group.append(outlineOf(box.outline, `outline box-${box.status}${look.className(box)}`));
    }
  }
  const chipOf = new Map(boxes.filter((box) => look.hasChip(box)).map((box) => [box.key, chipElement(box, look.chip(box, false) ?? "", look.className(box))]));
  layer.replaceChildren(...groups.flat());
  chips.replaceChildren(...chipOf.values());
  return { rects, chips: chipOf };
}

/**
 * Ties a chip to a corner of its box; it then follows every zoom without being moved.
 * @param {HTMLElement} chip @param {Rect} r shares of the page @param {string} place
 */
function tieChip(chip, r, place) {
  const right = place.endsWith("right");
  const below = place.startsWith("below");
  const inside = place.startsWith("inside");
  const style = chip.style;
  style.left = percentOf(right ? r[2] : r[0]);
  if (place.startsWith("beside")) {
    style.top = percentOf((r[1] + r[3]) / 2);
    style.transform = `translate(${right ? "2px" : "calc(-100% - 2px)"}, -50%)`;
    return;
  }
  style.top = percentOf(below ? r[3] : r[1]);
  const x = right ? (inside ? "calc(-100% - 2px)" : "-100%") : "0px";
  const y = below || inside ? "2px" : "calc(-100% - 2px)";
  style.transform = `translate(${x}, ${y})`;
}

/**
 * Finds a free place for as many chips as the sheet has room for, at its present size.
 * @template {BoxItem} B
 * @param {Map<string, HTMLElement>} chips @param {B[]} boxes only the visible ones @param {Size} sheet @param {string} font
 * @param {BoxLook<B>} look @param {Rect} [seen] the part of the sheet that shows, in its pixels
 * @returns {ChipPlace[]} pixels of the sheet; a chip without a rectangle is left out
 */
export function arrangeChips(chips, boxes, sheet, font, look, seen) {
  const wanted = boxes.filter((box) => chips.has(box.key)).sort(look.chipOrder);
  let room = look.room * sheet.width * sheet.height;
  const kept = SHORT_ROOM * room;
  /** @type {Set<string>} */
  const short = new Set();
  const fitting = wanted.flatMap((box) => {
    const [full, compactWidth] = [false, true].map((compact) => chipWidth(look.chip(box, compact) ?? "", font));
    const isShort = room - full * CHIP_HEIGHT <= kept && room < Infinity;
    const width = isShort ? compactWidth : full;
    if (isShort) short.add(box.key);
    room -= width * CHIP_HEIGHT;
    return room > 0 ? [{ key: box.key, box: toPixels(box.xyxy, sheet), width, compactWidth }] : [];
  });
  const taken = boxes.filter((box) => box.status !== "truth").map((box) => ({ key: look.onOwn ? box.key : "", rect: toPixels(box.xyxy, sheet), weight: look.weight(box) }));
  const free = new Map(placeChips(fitting, taken, [0, 0, sheet.width, sheet.height], CHIP_HEIGHT, seen).map((each) => [each.key, each]));
  return wanted.map((box) => {
    /** @type {ChipPlace} */
    const place = free.get(box.key) ?? { key: box.key, place: "inside-right", compact: true, rect: null };
    place.compact ||= short.has(box.key);
    const chip = /** @type {HTMLElement} */ (chips.get(box.key));
    chip.classList.toggle("crowded", place.rect === null);
    const text = look.chip(box, place.compact) ?? "";
    if (chip.textContent !== text) chip.textContent = text;
    tieChip(chip, box.xyxy, place.place);
    return place;
  });
}

/**
 * Draws the marked box, its companions and the links between truth and prediction.
 * @param {SVGElement} layer @param {BoxItem | null} box @param {BoxItem[]} others @param {Size} sheet
 */
export function drawMarked(layer, box, others, sheet) {
  if (!box) {
    layer.replaceChildren();
    return;
  }
  const all = [box, ...others].sort((a, b) => (a.side === b.side ? 0 : a.side === "prediction" ? -1 : 1));
  const outline = all.map((each) =>
    svg("rect", { ...placeOf(each.xyxy), class: `marked marked-${each.status}`, "data-marked": each.key }));
  const links = others.filter((other) => other.side !== box.side).flatMap((other) => {
    const [truth, prediction] = box.side === "ground_truth" ? [box, other] : [other, box];
    const ends = linkEnds(toPixels(truth.xyxy, sheet), toPixels(prediction.xyxy, sheet), 30);
    const line = { x1: ends.truth[0], y1: ends.truth[1], x2: ends.prediction[0], y2: ends.prediction[1] };
    return [
      svg("line", { ...line, class: "link-halo" }),
      svg("line", { ...line, class: "link" }),
      svg("circle", { cx: ends.truth[0], cy: ends.truth[1], r: 5, class: "dot dot-truth" }),
      svg("circle", { cx: ends.prediction[0], cy: ends.prediction[1], r: 6, class: `dot dot-${prediction.status}` }),
    ];
  });
  layer.replaceChildren(...outline, ...links);
}

/**
 * The full chip of the marked box, when none of its own shows: some boxes have none, a crowded page leaves them out.
 * @template {BoxItem} B
 * @param {HTMLElement} layer @param {B | null} box @param {Size} sheet @param {string} font
 * @param {ChipPlace[]} chips as arranged @param {BoxLook<B>} look
 */
export function drawMarkedChip(layer, box, sheet, font, chips, look) {
  const own = box ? chips.find((chip) => chip.key === box.key) : undefined;
  const text = box && look.chip(box, false);
  if (!box || !text || (own?.rect && look.chip(box, own.compact) === text)) {
    layer.replaceChildren();
    return;
  }
  const r = toPixels(box.xyxy, sheet);
  const width = chipWidth(text, font);
  const place = CHIP_PLACES.find((each) => {
    const rect = chipRect(r, each, width, CHIP_HEIGHT);
    const inside = overlapOf(rect, [0, 0, sheet.width, sheet.height]) > 0.98 * areaOf(rect);
    return inside && !chips.some((chip) => chip.rect && chip.key !== box.key && overlapOf(rect, chip.rect) > 1);
  });
  const chip = chipElement(box, text);
  tieChip(chip, box.xyxy, place ?? "above-right");
  layer.replaceChildren(chip);
}

/**
 * Double arrows for predictions that stop short of a side of their ground truth, with what is missing.
 * @param {SVGElement} layer @param {{cut: CutItem, truth: Rect, prediction: Rect}[]} cuts shares of the page @param {Size} sheet
 */
export function drawCuts(layer, cuts, sheet) {
  layer.replaceChildren(...cuts.map(({ cut, truth, prediction }) => cutArrow(cut, toPixels(truth, sheet), toPixels(prediction, sheet), sheet)));
}

/** @param {CutItem} cut @param {Rect} t truth and @param {Rect} p prediction in pixels of the sheet @param {Size} sheet @returns {SVGElement} */
function cutArrow(cut, t, p, sheet) {
  const upright = cut.side === "top" || cut.side === "bottom";
  const at = { top: 1, right: 2, bottom: 3, left: 0 }[cut.side];
  const [low, high] = [Math.min(t[at], p[at]), Math.max(t[at], p[at])];
  const room = upright ? sheet.width - t[2] > 37 : true;
  const across = upright ? (room ? t[2] + 5 : t[2] - 8) : t[3] + 6;
  const line = upright ? `M${across} ${low}V${high}` : `M${low} ${across}H${high}`;
  const ends = upright
    ? `M${across - 4} ${low}h8M${across - 4} ${high}h8`
    : `M${low} ${across - 4}v8M${high} ${across - 4}v8`;
  const tips = high - low < 12 ? "" : upright
    ? `M${across - 3} ${low + 4}l3 -4l3 4M${across - 3} ${high - 4}l3 4l3 -4`
    : `M${low + 4} ${across - 3}l-4 3l4 3M${high - 4} ${across - 3}l4 3l-4 3`;
  const middle = (low + high) / 2;
  const words = upright
    ? { x: room ? across + 6 : across - 6, y: middle - 2, "text-anchor": room ? "start" : "end" }
    : { x: middle, y: across + 15, "text-anchor": "middle" };
  const missing = svg("text", { ...words, class: "cut-share" });
  missing.textContent = `\u2212${Math.round(cut.share * 100)} %`;
  const points = svg("text", { ...words, y: words.y + 13, class: "cut-points" });
  points.textContent = cut.points === null ? "" : `${Math.round(cut.points)} pt`;
  return svg("g", {}, svg("path", { d: line + ends + tips, class: "cut-halo" }), svg("path", { d: line + ends + tips, class: "cut-line" }), missing, points);
}

/** @param {Rect} r shares of the page @param {string} className @returns {SVGElement} a line under a word */
function underline(r, className) {
  return svg("line", { x1: percentOf(r[0]), x2: percentOf(r[2]), y1: percentOf(r[3]), y2: percentOf(r[3]), class: className });
}

/**
 * Words of the ground truth that no prediction holds.
 * @param {SVGElement} layer @param {Rect[]} words shares of the page
 */
export function drawLost(layer, words) {
  layer.replaceChildren(...words.flatMap((r) => [svg("rect", { ...placeOf(r), class: "lost" }), underline(r, "lost-line")]));
}

/**
 * Words that the predictions of the marked mistake take in, underlined in their colour.
 * @param {SVGElement} layer @param {Rect[]} words shares of the page
 */
export function drawForeign(layer, words) {
  layer.replaceChildren(...words.map((r) => underline(r, "foreign-line")));
}
