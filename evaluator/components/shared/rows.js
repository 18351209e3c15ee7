/** Rows of a list of which one is marked; the list has one stop for the Tab key. */

import { setAttributes } from "./elements.js";

/**
 * @param {HTMLElement[]} rows @param {number} position among the rows, -1 for none
 * @param {string} className "current", which also gets the stop of the Tab key, or "asked"
 * @returns {HTMLElement | null} the row, unless it was marked already: the reader may have scrolled on since
 */
export function markRow(rows, position, className) {
  const before = rows[position]?.classList.contains(className);
  rows.forEach((row, order) => {
    const here = order === position;
    row.classList.toggle(className, here);
    if (className !== "current") return;
    setAttributes(row, { "aria-current": here ? "page" : null, tabindex: here || (position < 0 && order === 0) ? 0 : -1 });
  });
  return before ? null : rows[position] ?? null;
}

/** Scrolls a list, and nothing around it, until a row shows. @param {HTMLElement} list @param {HTMLElement} row */
export function scrollToRow(list, row) {
  const top = row.offsetTop - list.offsetTop;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + row.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + row.offsetHeight - list.clientHeight;
}

/** Scrolls a list until a row is in its middle. @param {HTMLElement} list @param {HTMLElement} row */
export function centreRow(list, row) {
  list.scrollTop = row.offsetTop - (list.clientHeight - row.offsetHeight) / 2;
}

/** The buttons of a list are walked by the arrow keys. @param {HTMLElement} list @param {EventTarget | null} from @param {number} step @param {string} [rows] which of them @returns {HTMLButtonElement | undefined} the one that has the focus now */
export function walkRows(list, from, step, rows = "button") {
  const nodes = [.../** @type {NodeListOf<HTMLButtonElement>} */ (list.querySelectorAll(rows))].filter((node) => node.getClientRects().length > 0);
  const next = nodes[nodes.indexOf(/** @type {HTMLButtonElement} */ (from)) + step];
  next?.focus({ preventScroll: true });
  return next;
}
