/**
 * Everything in words around the pages of the comparison: filters, list, heads of the panes, the difference at hand.
 *
 * Each function writes one part from the data and the state of a comparison, and changes neither.
 */

import { button, drawWhenOther, html, svg } from "../shared/elements.js";
import { warningLines } from "../shared/pane.js";
import { rowOf } from "../shared/turn.js";
import { count, plainName, plural } from "../shared/words.js";
import { drawCauses, drawPageList, markCauses, markPageList, placeList, pressSegment, segments, writeSaid } from "./list.js";
import { nextWords } from "./walk.js";

/** @import { PageItem, PaneItem } from "../shared/payloads.d.ts" */
/** @import { Comparison } from "./compare.js" */
/** @import { ModelPane } from "./panes.js" */
/** @import { NamedPair } from "./state.js" */

const LEGEND = /** @type {const} */ ([["TP", "matched"], ["FP", "extra"], ["FN", "missed"]]);

/** Pages, boxes, problem and warnings of both panes. @param {Comparison} view */
export function writePanes(view) {
  const data = view.shown();
  const { page, panes } = data;
  view.message.hidden = data.empty === null;
  const { fit, zoomIn, zoomOut } = view.tools;
  for (const node of [fit, zoomIn, zoomOut]) node.disabled = !page;
  if (!page) fit.textContent = "Zoom";
  drawWhenOther(view.message, data.empty, () => view.message.replaceChildren(...(data.empty ? [html("p", { class: "message" }, data.empty.text),
    button(data.empty.action, { class: "plain" }, () => view.sendChoice("clear_filter", true), data.empty.action)] : [])));
  for (const pane of view.pair.both) writePane(pane, page, panes[pane.order], data.opens ?? "Pages");
  view.warnings.replaceChildren(...warningLines(page?.notes ?? [], panes));
}

/** @param {ModelPane} pane @param {PageItem | null} page @param {PaneItem | undefined} data @param {string} opens */
function writePane(pane, page, data, opens) {
  pane.sheet.hidden = !page;
  pane.open.hidden = !data || !opens;
  if (data) {
    pane.opens.textContent = `Open in ${opens}`;
    pane.open.title = `Open this page of model ${data.letter} in ${opens}`;
    pane.name.textContent = data.name;
    pane.name.title = `Model ${data.letter}: ${data.name}`;
    pane.words.textContent = pane.words.title = data.words;
  }
  pane.root.setAttribute("aria-label", page && data
    ? `Model ${data.letter}, page ${page.index + 1} of ${plainName(page.document)}, ${plural(data.boxes.length, "box", "boxes")}. Press ? for the keys.` : "No page");
  pane.showProblem(page?.problem ?? null);
}

/** The filters with their numbers of pages. @param {Comparison} view */
export function writeFilters(view) {
  const { filters, show } = view.shown();
  drawWhenOther(view.tools.filters, filters, () => {
    const parts = filters.map(({ name, title, words }) => ({ name, title, after: words }));
    view.tools.filters.replaceChildren(segments("Pages of the list", "kinds", parts, (name) => {
      pressSegment(view.tools.filters, name);
      view.sendChoice("show", name);
    }));
  });
  pressSegment(view.tools.filters, show);
}

/** The causes with what became of them. @param {Comparison} view */
export function writeCauses(view) {
  const { causes = [], cause = "", scope = "", said } = view.shown();
  view.causesHead.hidden = view.causes.hidden = causes.length === 0;
  drawWhenOther(view.causes, [causes, scope], () => {
    drawCauses(view.causes, causes, (key) => {
      markCauses(view.causes, key);
      view.sendChoice("cause", key);
    });
    view.causesHead.replaceChildren(html("h2", {}, plural(causes.length, "cause"), " changed"), html("span", { class: "muted net-order" }, `${scope && `${scope}, `}${causes[0]?.fails ? "the rule first" : "most boxes first"}`));
  });
  writeSaid(view.causes, ".cause-row", (row) => said?.causes?.[row.getAttribute("data-name") ?? ""]);
  const chosen = markCauses(view.causes, cause);
  const words = causes.find(({ key }) => key === cause)?.title ?? "Causes";
  view.tools.opener.title = words;
  /** @type {HTMLElement} */ (view.tools.opener.firstChild).textContent = words;
  view.listHead.hidden = chosen !== null;
  placeList(view.list, chosen ?? view.listHead);
}

/** @param {Comparison} view */
export function writeList(view) {
  const data = /** @type {NamedPair} */ (view.shown());
  const { strip, look, said } = data;
  drawWhenOther(view.list, data.strip_name ?? [strip.map((each) => ({ ...each, current: false })), look], () =>
    drawPageList(view.list, strip, look, (target) => view.turner.open(target)));
  writeSaid(view.list, ".net-page", (_, at) => said?.pages?.[at]);
  markPageList(view.list, strip.findIndex((each) => each.current), "current");
  view.listHead.replaceChildren(html("h2", {}, "Pages"), html("span", { class: "muted net-order", title: look.words }, look.title), html("span", { class: "grow" }),
    view.listPlace);
  writePlaceInList(view, null);
}

/** "3 of 24", or where the reader is going while that page is not here. @param {Comparison} view @param {number | null} asked 1-based place */
function writePlaceInList(view, asked) {
  const page = view.data?.page;
  view.listPlace.textContent = page ? `${asked === null ? count(page.position) : `to ${count(asked)}`} of ${count(page.total)}` : "";
}

/** @param {Comparison} view @param {number | null} position 1-based place among the pages of the list */
export function showAskedPage(view, position) {
  markPageList(view.list, rowOf(view.data, position), "asked");
  writePlaceInList(view, position);
}

/** "2 of 6 differences here" between its two buttons, and the sentence of the difference at hand. @param {Comparison} view */
export function writeDifference(view) {
  const { place, previous, next } = view.tools;
  const all = view.state.differences;
  const at = view.state.placeOf(view.selected);
  const text = all.length === 0 ? "No difference here" : `${at < 0 ? "" : `${count(at + 1)} of `}${plural(all.length, "difference")} here`;
  if (place.textContent !== text) place.textContent = text;
  previous.disabled = next.disabled = !view.data?.page;
  const words = nextWords(view);
  const told = /** @type {HTMLElement} */ (view.keys.querySelector(".key-group > span"));
  if (told.textContent !== words) told.textContent = told.title = words;
  const active = view.state.differenceOf(view.hover ?? view.selected);
  view.sentence.classList.toggle("muted", !active);
  if (active) view.sentence.textContent = active.words;
  else if (view.sentence.childElementCount === 0) view.sentence.replaceChildren(...legend());
}

/** How many chips have no room, and the way to them. @param {Comparison} view */
export function writeHidden(view) {
  const hidden = view.pair.hiddenChips;
  const words = `${plural(hidden, "label")} hidden at this zoom. Zoom in (+)`;
  drawWhenOther(view.notes, hidden, () =>
    view.notes.replaceChildren(...(hidden ? [button("Zoom in for the labels", { class: "note" }, () => view.zoom(1.6, null), words)] : [])));
}

/** What the lines on the page mean. @returns {HTMLElement[]} */
function legend() {
  const parts = LEGEND.map(([status, words]) => html("span", { class: "legend-part" },
    svg("svg", { class: `swatch swatch-${status}`, viewBox: "0 0 18 14", "aria-hidden": "true" }, svg("rect", { x: 2, y: 2, width: 14, height: 10 })), words));
  return [...parts, html("span", {}, "Faded: A and B agree")];
}
