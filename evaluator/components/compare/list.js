/**
 * The lists of the comparison: causes, and pages with what the change from A to B gained and lost, and the filters above.
 *
 * Each list has one stop for the Tab key; the arrow keys move inside.
 */

import { breakable, button, html, setAttributes, svg } from "../shared/elements.js";
import { centreRow, markRow } from "../shared/rows.js";
import { count } from "../shared/words.js";

/** @import { ChangedCauseItem, ListedPageItem } from "../shared/payloads.d.ts" */

/** @param {ListedPageItem} page @param {number} scale the longest bar @param {boolean} diverging @returns {SVGElement} */
function bars(page, scale, diverging) {
  const half = diverging ? 23 : 0;
  const unit = (diverging ? 23 : 46) / Math.max(1, scale);
  const left = Math.max(page.lost ? 2 : 0, page.lost * unit);
  const right = Math.max(page.gained ? 2 : 0, page.gained * unit);
  return svg("svg", { viewBox: "0 0 46 14", class: "net-bars", "aria-hidden": "true" },
    svg("rect", { x: half - left, y: 2, width: left, height: 10, class: "net-lost" }),
    svg("rect", { x: half, y: 2, width: right, height: 10, class: diverging ? "net-gained" : "net-plain" }),
    svg("line", { x1: half, x2: half, y1: 0, y2: 14, class: "net-axis" }));
}

/**
 * @param {HTMLElement} list @param {ListedPageItem[]} pages @param {{scale: number, diverging: boolean}} look
 * @param {(page: ListedPageItem) => void} open
 */
export function drawPageList(list, pages, look, open) {
  list.replaceChildren(...pages.flatMap((page) => {
    const place = `p. ${count(page.index + 1)}`;
    const row = button(`${page.name}, page ${page.index + 1}: ${page.words}`,
      { class: "net-page", tabindex: "-1", title: `${page.name}, page ${page.index + 1}: ${page.words}` }, () => open(page),
      html("span", { class: "net-place muted" }, place),
      html("span", { class: "net-name" }, ...breakable(page.name)),
      html("span", { class: "list-said" }),
      bars(page, look.scale, look.diverging),
      html("b", { class: "net-number" }, page.number));
    return page.above ? [html("div", { class: "net-gap" }, page.above), row] : [row];
  }));
}

/** @param {HTMLElement} list @param {number} position among the pages, -1 for none @param {string} className "current" or "asked" */
export function markPageList(list, position, className) {
  const rows = [...list.querySelectorAll("button")];
  const node = markRow(rows, position, className);
  if (!node) return;
  const { offsetTop: top, offsetHeight: height } = node;
  // In a cause the causes scroll, and the list has the height of its pages.
  const scroller = /** @type {HTMLElement} */ (list.closest(".cause-list") ?? list);
  if (top < scroller.scrollTop || top + height > scroller.scrollTop + scroller.clientHeight) centreRow(scroller, node);
}

/**
 * Kinds of causes, each a button that lists its pages; the chosen one lets go of them.
 * @param {HTMLElement} list @param {ChangedCauseItem[]} causes @param {(key: string) => void} choose
 */
export function drawCauses(list, causes, choose) {
  list.replaceChildren(...causes.map(({ key, title, change, boxes, words, tone, fails }) => {
    const row = button(words, { class: `cause-row cause-${tone}`, "data-name": key, "aria-pressed": "false", tabindex: "-1", title: words },
      () => choose(row.getAttribute("aria-pressed") === "true" ? "" : key),
      html("span", { class: "list-said" }),
      html("b", { class: "cause-title" }, title),
      html("span", { class: "cause-facts" }, html("i", { class: "cause-mark", "aria-hidden": "true" }), html("span", {}, ...(fails ? [html("b", { class: "cause-fails" }, "fails the rule"), " \u00b7 "] : []), `${change} \u00b7 ${boxes}`)));
    return row;
  }));
}

/** One row stops the Tab key: the chosen one, else the first. @param {HTMLElement} list @param {string} chosen @returns {HTMLElement | null} the chosen one */
export function markCauses(list, chosen) {
  const rows = /** @type {HTMLButtonElement[]} */ ([...list.querySelectorAll(".cause-row")]);
  const row = rows.find((each) => each.getAttribute("data-name") === chosen);
  for (const each of rows) {
    setAttributes(each, { "aria-pressed": String(each === row) });
    each.tabIndex = each === (row ?? rows[0]) ? 0 : -1;
  }
  return row ?? null;
}

/**
 * Writes what reviewers said of the rows of a list: its sign, and its words for a screen reader and on hover.
 * @param {HTMLElement} list @param {string} rows @param {(row: Element, at: number) => string | undefined} saidOf
 */
export function writeSaid(list, rows, saidOf) {
  list.querySelectorAll(rows).forEach((row, at) => {
    const mark = /** @type {HTMLElement} */ (row.querySelector(".list-said"));
    const said = saidOf(row, at) ?? "";
    if (mark.title === said) return;
    mark.title = said;
    const [sign = "", ...words] = said;
    mark.replaceChildren(sign, html("span", { class: "unseen" }, words.join("")));
  });
}

/** The pages of a cause stand in its row, those of a filter below the causes. @param {HTMLElement} list @param {HTMLElement} above */
export function placeList(list, above) {
  if (above.nextElementSibling !== list) above.after(list);
}

/**
 * A row of buttons of which one is on.
 * @param {string} name what a screen reader says @param {string} className
 * @param {{name: string, title: string, after?: string, words?: string}[]} parts @param {(name: string) => void} choose
 * @returns {HTMLElement}
 */
export function segments(name, className, parts, choose) {
  return html("div", { class: `joined segments ${className}`, role: "group", "aria-label": name },
    ...parts.map((part) => button([part.title, part.words ?? part.after].filter(Boolean).join(", "),
      { "data-name": part.name, "aria-pressed": "false", title: part.words ?? null }, () => choose(part.name),
      html("span", {}, part.title), part.after ? html("b", {}, part.after) : null)));
}

/** @param {HTMLElement} group @param {string} chosen */
export function pressSegment(group, chosen) {
  for (const node of group.querySelectorAll("button")) node.setAttribute("aria-pressed", String(node.getAttribute("data-name") === chosen));
}
