/**
 * Everything the comparison says around its pages: filters, list, heads of the panes, the difference at hand.
 *
 * Each function writes one part from the data and the state of a comparison, and changes neither.
 */

import { button, count, html, plural, svg } from "../shared/elements.js";
import { drawPageList, markPageList, pressSegment, segments } from "./list.js";

/** @typedef {import("./compare.js").Comparison} Comparison */

const LEGEND = /** @type {const} */ ([["TP", "matched"], ["FP", "false positive"], ["FN", "missed"]]);

/** Pages, boxes, problem and warnings of both panes. @param {Comparison} view */
export function writePanes(view) {
  const data = view.shown();
  const { page, panes } = data;
  view.message.hidden = data.empty === null;
  for (const node of [view.fit, view.zoomIn, view.zoomOut]) node.disabled = !page;
  if (!page) view.fit.textContent = "Zoom, linked";
  view.message.replaceChildren(...(data.empty ? [html("p", { class: "message" }, data.empty.text),
    button(data.empty.action, { class: "plain" }, () => view.send("clear_filter", true), data.empty.action)] : []));
  for (const [order, half] of view.panes.halves().entries()) {
    const pane = panes[order];
    const { root, sheet, problem } = half.pane;
    sheet.hidden = !page;
    half.open.hidden = !pane;
    if (pane) half.fill(pane);
    root.setAttribute("aria-label", page && pane
      ? `Model ${pane.letter}, page ${page.index + 1} of ${page.document}, ${plural(pane.boxes.length, "box", "boxes")}. Press ? for the keys.` : "No page");
    const trouble = page?.problem ?? null;
    problem.hidden = trouble === null;
    problem.replaceChildren(...(trouble ? [html("b", {}, trouble.title), html("p", {}, trouble.text), html("p", { class: "muted" }, trouble.fix)] : []));
  }
  const notes = (page?.notes ?? []).map((text) => html("div", { class: "warning", title: text }, text));
  for (const pane of panes) {
    if (pane.limit) notes.push(html("div", { class: "warning warning-calm" }, `${pane.letter}: ${count(pane.limit.drawn)} of ${plural(pane.limit.total, "box", "boxes")} drawn`));
  }
  view.warnings.replaceChildren(...notes);
}

/** The filters with their numbers of pages. @param {Comparison} view */
export function writeFilters(view) {
  const { filters, show } = view.shown();
  const text = JSON.stringify(filters);
  if (text !== view.filterText) {
    view.filterText = text;
    const parts = filters.map(({ name, title, pages, words }) => ({ name, title, after: count(pages), words }));
    view.filters.replaceChildren(segments("Pages of the list", "kinds", parts, (name) => {
      pressSegment(view.filters, name);
      view.send("show", name);
    }));
  }
  pressSegment(view.filters, show);
}

/** @param {Comparison} view */
export function writeList(view) {
  const { strip, look, page } = view.shown();
  const text = JSON.stringify([strip.map((each) => ({ ...each, current: false })), look]);
  if (text !== view.listText) {
    view.listText = text;
    drawPageList(view.list, strip, look, (target) => view.turner.open(/** @type {any} */ (target)));
  }
  markPageList(view.list, strip.findIndex((each) => each.current), "current");
  view.listHead.replaceChildren(html("h2", {}, "Pages"), html("span", { class: "muted net-order", title: look.words }, look.title), html("span", { class: "grow" }),
    html("span", { class: "muted" }, page ? `${count(page.position)} of ${count(page.total)}` : ""));
}

/** @param {Comparison} view @param {number | null} position 1-based place among the pages of the list */
export function showAskedPage(view, position) {
  const here = view.data?.strip.findIndex((page) => page.current) ?? -1;
  const page = view.data?.page;
  markPageList(view.list, position !== null && here >= 0 && page ? here + position - page.position : -1, "asked");
}

/** "2 of 6 here" between its two buttons, and the sentence of the difference at hand. @param {Comparison} view */
export function writeDifference(view) {
  const all = view.data?.differences ?? [];
  const at = all.findIndex((each) => view.sameBox(each.key, view.selected));
  const text = all.length === 0 ? "None here" : at < 0 ? `${count(all.length)} on this page` : `${count(at + 1)} of ${count(all.length)} here`;
  if (view.place.textContent !== text) view.place.textContent = text;
  view.previous.disabled = all.length === 0;
  view.next.disabled = all.length === 0;
  const active = all.find((each) => view.sameBox(each.key, view.hover ?? view.selected));
  view.said.classList.toggle("muted", !active);
  if (active) view.said.textContent = active.words;
  else if (view.said.childElementCount === 0) view.said.replaceChildren(...legend());
}

/** What the lines on the page mean. @returns {HTMLElement[]} */
function legend() {
  const parts = LEGEND.map(([status, words]) => html("span", { class: "legend-part" },
    svg("svg", { class: `swatch swatch-${status}`, viewBox: "0 0 18 14", "aria-hidden": "true" }, svg("rect", { x: 2, y: 2, width: 14, height: 10 })), words));
  return [...parts, html("span", {}, "Faded: A and B agree")];
}
