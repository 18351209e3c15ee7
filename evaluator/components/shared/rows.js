/** Rows of a list of which one is marked; the list has one stop for the Tab key. */

/**
 * @param {HTMLElement[]} rows @param {number} position among the rows, -1 for none
 * @param {string} className "current", which also gets the stop of the Tab key, or "asked"
 * @returns {HTMLElement | undefined} the marked row
 */
export function markRow(rows, position, className) {
  rows.forEach((row, order) => {
    const here = order === position;
    row.classList.toggle(className, here);
    if (className !== "current") return;
    if (here) row.setAttribute("aria-current", "page");
    else row.removeAttribute("aria-current");
    row.setAttribute("tabindex", here || (position < 0 && order === 0) ? "0" : "-1");
  });
  return rows[position];
}
