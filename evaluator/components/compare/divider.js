/** The divider of the slider: a line over both pages that the pointer drags and the arrow keys move. */

import { clamp } from "../shared/geometry.js";
import { html } from "../shared/elements.js";
import { percentOf } from "../shared/words.js";

const STEP = 0.02;
/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -STEP, ArrowRight: STEP, Home: -1, End: 1 };

/**
 * @param {HTMLElement} frame the pane that it divides @param {(share: number) => void} slide asked for by the reader
 */
export function makeDivider(frame, slide) {
  const root = html("div", { class: "divider", role: "slider", tabindex: "0", hidden: true, "aria-label": "Divider: A on the left, B on the right",
    "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": "50", "aria-orientation": "horizontal" }, html("span", { class: "divider-grip", "aria-hidden": "true" }, "\u2194"));
  const divider = {
    root,
    /** of the pane's width that shows A */
    share: 0.5,
    /** @param {number} share @returns {string} its place from the left, for a style */
    move(share) {
      divider.share = clamp(share, 0, 1);
      const left = percentOf(divider.share);
      const rounded = Math.round(divider.share * 100);
      root.style.left = left;
      root.setAttribute("aria-valuenow", String(rounded));
      root.setAttribute("aria-valuetext", `${rounded} % of the pane shows A`);
      return left;
    },
  };
  root.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    root.focus();
    root.setPointerCapture(event.pointerId);
  });
  root.addEventListener("pointermove", (event) => {
    const { left, width } = frame.getBoundingClientRect();
    if (root.hasPointerCapture(event.pointerId)) slide((event.clientX - left) / Math.max(1, width));
  });
  root.addEventListener("keydown", (event) => {
    if (!(event.key in STEPS) || event.ctrlKey || event.altKey || event.metaKey) return;
    slide(divider.share + STEPS[event.key] * (event.shiftKey ? 5 : 1));
    event.preventDefault();
    event.stopPropagation();
  });
  return divider;
}
