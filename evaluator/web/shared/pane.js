/**
 * The pane in the middle: the sheet with the page image, its size and place, and the pointer over it.
 *
 * Zoom 1 is the whole page. The sheet gets whole pixels; all boxes are shares of it, so they cannot drift from the image.
 */

import { boxesAt, clamp, clampOffset, fitScale, toPixels } from "./geometry.js";
import { html, svg } from "./elements.js";

/** @typedef {import("./geometry.js").Rect} Rect */
/** @typedef {import("./geometry.js").Size} Size */

const MARGIN = 6;
const MOST_ZOOM = 12;
const EDGE = 3;

/** Builds the pane. */
export function makePane() {
  const image = /** @type {HTMLImageElement} */ (html("img", { class: "page-image", alt: "", draggable: "false" }));
  const boxes = svg("svg", { class: "overlay", role: "group" });
  const chips = html("div", { class: "chips" });
  const marked = svg("svg", { class: "overlay", "aria-hidden": "true" });
  const markedChips = html("div", { class: "chips" });
  const lost = svg("svg", { class: "overlay overlay-lost", "aria-hidden": "true" });
  const cuts = svg("svg", { class: "overlay", "aria-hidden": "true" });
  const foreign = svg("svg", { class: "overlay", "aria-hidden": "true" });
  const sheet = html("div", { class: "sheet" }, image, lost, boxes, foreign, marked, cuts, chips, markedChips);
  const tooltip = html("div", { class: "tooltip", role: "status" });
  const notes = html("div", { class: "notes" });
  const problem = html("div", { class: "problem", role: "alert", hidden: true });
  const warnings = html("div", { class: "warnings" });
  const root = html("div", { class: "pane", tabindex: "0", role: "application" }, sheet, notes, problem, tooltip, html("div", { class: "bar" }));
  const column = html("div", { class: "pane-column" }, warnings, root);
  return { column, root, sheet, image, lost, foreign, boxes, cuts, chips, marked, markedChips, tooltip, notes, warnings, problem };
}

/**
 * @typedef {object} Placement
 * @property {number} zoom 1 = whole page
 * @property {number} x left of the sheet in the pane, pixels
 * @property {number} y
 * @property {Size} sheet
 * @property {Size} pane
 */

/** @returns {Placement} */
export function startPlacement() {
  return { zoom: 1, x: 0, y: 0, sheet: { width: 0, height: 0 }, pane: { width: 0, height: 0 } };
}

/**
 * Sizes the sheet for its zoom and keeps it inside the pane.
 * @param {Placement} place @param {Size} page @param {HTMLElement} sheet
 */
export function settle(place, page, sheet) {
  const scale = fitScale(page, place.pane, MARGIN) * place.zoom;
  place.sheet = { width: Math.max(1, Math.round(page.width * scale)), height: Math.max(1, Math.round(page.height * scale)) };
  place.x = clampOffset(place.x, place.sheet.width, place.pane.width, MARGIN);
  place.y = clampOffset(place.y, place.sheet.height, place.pane.height, MARGIN);
  sheet.style.width = `${place.sheet.width}px`;
  sheet.style.height = `${place.sheet.height}px`;
  sheet.style.transform = `translate(${Math.round(place.x)}px, ${Math.round(place.y)}px)`;
}

/**
 * Zooms and keeps one point of the pane where it is.
 * @param {Placement} place @param {number} factor 0 for the whole page @param {Size} page @param {HTMLElement} sheet
 * @param {[number, number] | null} at pixels of the pane; null = its middle
 */
export function zoomBy(place, factor, page, sheet, at) {
  const [px, py] = at ?? [place.pane.width / 2, place.pane.height / 2];
  const shareX = (px - place.x) / place.sheet.width;
  const shareY = (py - place.y) / place.sheet.height;
  place.zoom = factor === 0 ? 1 : clamp(place.zoom * factor, 1, MOST_ZOOM);
  if (place.zoom < 1.02) place.zoom = 1;
  const scale = fitScale(page, place.pane, MARGIN) * place.zoom;
  place.x = px - shareX * page.width * scale;
  place.y = py - shareY * page.height * scale;
  settle(place, page, sheet);
}

/**
 * Moves an enlarged sheet until a rectangle shows; a sheet that fits stays.
 * @param {Placement} place @param {Rect} rect shares of the page @param {Size} page @param {HTMLElement} sheet
 */
export function bringIntoView(place, rect, page, sheet) {
  const r = toPixels(rect, place.sheet);
  const shift = (/** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ offset, /** @type {number} */ length) => {
    if (low + offset >= 24 && high + offset <= length - 24) return offset;
    return high - low > length - 48 ? 24 - low : length / 2 - (low + high) / 2;
  };
  place.x = shift(r[0], r[2], place.x, place.pane.width);
  place.y = shift(r[1], r[3], place.y, place.pane.height);
  settle(place, page, sheet);
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

/**
 * @typedef {object} PaneActions
 * @property {(at: [number, number] | null, key: string | null) => void} move pointer over the page, and the chip under it
 * @property {() => void} click
 * @property {(factor: number, at: [number, number]) => void} zoom
 * @property {(dx: number, dy: number) => void} pan
 * @property {() => boolean} enlarged
 */

/**
 * Pointer and wheel of the pane: move, click, drag, zoom.
 * @param {HTMLElement} pane @param {PaneActions} actions
 */
export function listenToPane(pane, actions) {
  /** @type {{x: number, y: number, moved: boolean} | null} */
  let drag = null;
  /** @type {PointerEvent | null} */
  let latest = null;
  const here = (/** @type {MouseEvent} */ event) => {
    const frame = pane.getBoundingClientRect();
    return /** @type {[number, number]} */ ([event.clientX - frame.left, event.clientY - frame.top]);
  };
  const chipKey = (/** @type {Event} */ event) => {
    const chip = event.target instanceof Element ? event.target.closest(".chip") : null;
    return chip ? chip.getAttribute("data-key") : null;
  };
  pane.addEventListener("pointermove", (event) => {
    if (drag && (event.buttons & 1) === 0) drag = null;
    if (drag) {
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      if (!drag.moved && Math.hypot(dx, dy) < 4) return;
      if (!drag.moved) pane.setPointerCapture(event.pointerId);
      drag = { x: event.clientX, y: event.clientY, moved: true };
      pane.classList.add("dragging");
      actions.pan(dx, dy);
      return;
    }
    if (!latest) {
      requestAnimationFrame(() => {
        if (latest) actions.move(here(latest), chipKey(latest));
        latest = null;
      });
    }
    latest = event;
  });
  pane.addEventListener("pointerleave", () => {
    latest = null;
    actions.move(null, null);
  });
  pane.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || (event.target instanceof Element && event.target.closest("button"))) return;
    drag = { x: event.clientX, y: event.clientY, moved: false };
  });
  pane.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) {
      latest = null;
      actions.move(here(event), chipKey(event));
      actions.click();
    }
    drag = null;
    pane.classList.remove("dragging");
  });
  pane.addEventListener("pointercancel", () => {
    drag = null;
    pane.classList.remove("dragging");
  });
  pane.addEventListener("wheel", (event) => {
    const step = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 300 : 1;
    if (event.shiftKey) {
      if (!actions.enlarged()) return;
      event.preventDefault();
      actions.pan(-(event.deltaX || event.deltaY) * step, 0);
      return;
    }
    if (event.deltaY > 0 && !actions.enlarged() && !event.ctrlKey) return;
    event.preventDefault();
    const speed = event.ctrlKey ? 0.01 : 0.0022;
    actions.zoom(Math.exp(-clamp(event.deltaY * step, -240, 240) * speed), here(event));
  }, { passive: false });
}
