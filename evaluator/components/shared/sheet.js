/** The sheet in its pane: where it is drawn, and pointer and wheel over it. */

import { clamp } from "./geometry.js";

/** @import { Placement } from "./placement.js" */

/** @param {HTMLElement} sheet @param {Placement} place */
export function moveSheet(sheet, place) {
  sheet.style.width = `${place.sheet.width}px`;
  sheet.style.height = `${place.sheet.height}px`;
  sheet.style.transform = `translate(${Math.round(place.x)}px, ${Math.round(place.y)}px)`;
}

/**
 * @typedef {object} PaneActions
 * @property {(at: [number, number] | null, key: string | null) => void} move pointer over the page, and the chip under it
 * @property {() => void} click
 * @property {(factor: number, at: [number, number]) => void} zoom
 * @property {(dx: number, dy: number) => void} pan
 * @property {() => boolean} enlarged
 */

/** @param {HTMLElement} pane @param {MouseEvent} event @returns {[number, number]} pixels of the pane */
function pointIn(pane, event) {
  const frame = pane.getBoundingClientRect();
  return [event.clientX - frame.left, event.clientY - frame.top];
}

/** Pointer and wheel of the pane: move, click, drag, zoom. @param {HTMLElement} pane @param {PaneActions} actions */
export function listenToPane(pane, actions) {
  /** @type {{x: number, y: number, moved: boolean} | null} */
  let drag = null;
  /** @type {PointerEvent | null} */
  let latest = null;
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
        if (latest) actions.move(pointIn(pane, latest), chipKey(latest));
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
      actions.move(pointIn(pane, event), chipKey(event));
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
    actions.zoom(Math.exp(-clamp(event.deltaY * step, -240, 240) * speed), pointIn(pane, event));
  }, { passive: false });
}
