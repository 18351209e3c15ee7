/** A list beside a page that a narrow view folds into a popover of the button that opens it. */

import { setAttributes } from "./elements.js";

/** Pixels of a view that has no room for it. */
const NARROW = 1100;

/** A page or a cause that was chosen is wanted next. @param {HTMLElement} node @param {HTMLButtonElement} opener */
export function foldInto(node, opener) {
  opener.popoverTargetElement = node;
  node.addEventListener("toggle", () => {
    const row = /** @type {HTMLElement | null} */ (node.querySelector(".current"));
    if (!row || !node.matches(":popover-open")) return;
    row.scrollIntoView({ block: "center" });
    row.focus({ preventScroll: true });
  });
  node.addEventListener("click", (event) => {
    if (node.matches(":popover-open") && event.target instanceof Element && event.target.closest("nav button")) node.hidePopover();
  });
}

/** @param {HTMLElement} node @param {HTMLButtonElement} opener @param {number} width pixels of the view */
export function fold(node, opener, width) {
  const folded = width > 0 && width <= NARROW;
  opener.disabled = !folded;
  setAttributes(node, { popover: folded ? "auto" : null });
}
