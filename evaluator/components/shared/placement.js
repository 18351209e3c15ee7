/**
 * Where a sheet lies in its pane and how large it is. Pure: it changes a placement and draws nothing.
 *
 * Zoom 1 is the whole page. The sheet has whole pixels; all boxes are shares of it, so they cannot drift from the image.
 */

import { boxesAt, clamp, clampOffset, fitScale, toPixels, unionOf } from "./geometry.js";

/** @import { Size } from "./geometry.js" */
/** @import { Rect } from "./payloads.d.ts" */
/**
 * @typedef {object} Placement
 * @property {number} zoom 1 = whole page
 * @property {number} x left of the sheet in the pane, pixels
 * @property {number} y
 * @property {Size} sheet
 * @property {Size} pane
 */

/** Pixels between the pane's edge and a sheet. */
export const MARGIN = 6;
const MOST_ZOOM = 16;
/** A page opens no larger than this, so that one small box does not hide where on the page it is. */
const MOST_OPENING = 2.5;
/** How much of the pane a mistake takes that is zoomed to, and how far the page is enlarged for it. */
const CLOSE_SHARE = 0.85;
const MOST_CLOSE = 4;
/** Pixels on both sides of the boxes that a page opens at: room for a chip. */
const BESIDE = 46;
/** Pixels around a box that still belong to it. */
const EDGE = 3;
/** Pixels between a box that was brought into view and the pane's edge. */
const CLEAR = 24;

/** @returns {Placement} */
export function startPlacement() {
  return { zoom: 1, x: 0, y: 0, sheet: { width: 0, height: 0 }, pane: { width: 0, height: 0 } };
}

/**
 * Sizes the sheet for its zoom and keeps it inside the pane; one that is lower than the pane begins at its top, level with
 * what stands beside it.
 * @param {Placement} place @param {Size} page
 */
export function fitSheet(place, page) {
  const scale = fitScale(page, place.pane, MARGIN) * place.zoom;
  place.sheet = { width: Math.max(1, Math.round(page.width * scale)), height: Math.max(1, Math.round(page.height * scale)) };
  place.x = clampOffset(place.x, place.sheet.width, place.pane.width, MARGIN);
  place.y = Math.min(MARGIN, clampOffset(place.y, place.sheet.height, place.pane.height, MARGIN));
}

/**
 * Zooms and keeps one point of the pane where it is.
 * @param {Placement} place @param {number} factor 0 for the whole page @param {Size} page
 * @param {[number, number] | null} at pixels of the pane; null = its middle
 */
export function zoomBy(place, factor, page, at) {
  const [px, py] = at ?? [place.pane.width / 2, place.pane.height / 2];
  const shareX = (px - place.x) / place.sheet.width;
  const shareY = (py - place.y) / place.sheet.height;
  place.zoom = factor === 0 ? 1 : clamp(place.zoom * factor, 1, MOST_ZOOM);
  if (place.zoom < 1.02) place.zoom = 1;
  const scale = fitScale(page, place.pane, MARGIN) * place.zoom;
  place.x = px - shareX * page.width * scale;
  place.y = py - shareY * page.height * scale;
  fitSheet(place, page);
}

/**
 * Enlarges a page that is shown whole until its boxes have the width of the pane; it begins at its top when all of them show
 * then, else at the first of them.
 * @param {Placement} place @param {Rect[]} rects shares of the page; none leaves the page as it is @param {Size} page
 */
export function openAtBoxes(place, rects, page) {
  if (rects.length === 0) return;
  const [left, top, right, bottom] = unionOf(rects);
  const middle = (left + right) / 2;
  const wide = (place.pane.width - 2 * BESIDE) / Math.max(1, (right - left) * place.sheet.width);
  zoomBy(place, clamp(wide, 1, MOST_OPENING), page, null);
  place.x = place.pane.width / 2 - middle * place.sheet.width;
  place.y = Math.max(CLEAR - top * place.sheet.height, place.pane.height - CLEAR - bottom * place.sheet.height);
  fitSheet(place, page);
}

/**
 * Zooms to a rectangle, which then has most of the pane and lies in its middle.
 * @param {Placement} place @param {Rect} rect shares of the page @param {Size} page
 */
export function zoomTo(place, rect, page) {
  const r = toPixels(rect, place.sheet);
  const factor = Math.min(place.pane.width / Math.max(1, r[2] - r[0]), place.pane.height / Math.max(1, r[3] - r[1])) * CLOSE_SHARE;
  zoomBy(place, clamp(place.zoom * factor, 1, MOST_CLOSE) / place.zoom, page, null);
  const [left, top, right, bottom] = toPixels(rect, place.sheet);
  place.x = place.pane.width / 2 - (left + right) / 2;
  place.y = place.pane.height / 2 - (top + bottom) / 2;
  fitSheet(place, page);
}

/** @param {Placement} place @param {number} dx @param {number} dy pixels @param {Size} page */
export function panBy(place, dx, dy, page) {
  place.x += dx;
  place.y += dy;
  fitSheet(place, page);
}

/**
 * Moves an enlarged sheet until a rectangle shows; a sheet that fits stays.
 * @param {Placement} place @param {Rect} rect shares of the page @param {Size} page
 * @param {number} [start] pixels from the pane's edge at which a rectangle begins that is too large for it
 */
export function bringIntoView(place, rect, page, start = CLEAR) {
  const r = toPixels(rect, place.sheet);
  const shift = (/** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ offset, /** @type {number} */ length) => {
    if (low + offset >= CLEAR && high + offset <= length - CLEAR) return offset;
    return high - low > length - 2 * CLEAR ? start - low : length / 2 - (low + high) / 2;
  };
  place.x = shift(r[0], r[2], place.x, place.pane.width);
  place.y = shift(r[1], r[3], place.y, place.pane.height);
  fitSheet(place, page);
}

/**
 * Boxes under a point of the pane, the smallest first.
 * @template {{xyxy: Rect}} B
 * @param {Placement} place @param {B[]} boxes @param {[number, number]} at @returns {B[]}
 */
export function stackAt(place, boxes, at) {
  return boxesAt(boxes, (at[0] - place.x) / place.sheet.width, (at[1] - place.y) / place.sheet.height, EDGE / place.sheet.width, EDGE / place.sheet.height);
}

/** @param {Placement} place @param {Rect} rect shares of the page @returns {Rect} pixels of the pane */
export function inPane(place, rect) {
  const r = toPixels(rect, place.sheet);
  return [r[0] + place.x, r[1] + place.y, r[2] + place.x, r[3] + place.y];
}

/** @param {Placement} place @returns {Rect} pixels of the pane */
export function sheetInPane({ x, y, sheet }) {
  return [x, y, x + sheet.width, y + sheet.height];
}

/** @param {Placement} place @returns {Rect} the part of the sheet that shows, in its pixels */
export function seenOf({ x, y, sheet, pane }) {
  return [Math.max(0, -x), Math.max(0, -y), Math.min(sheet.width, pane.width - x), Math.min(sheet.height, pane.height - y)];
}
