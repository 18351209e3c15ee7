/**
 * The list beside the page: a row for each place where something went wrong, in the order of the page, between the rows of
 * the pages before and after. The chosen one is open: facts, words and the verdict. Small pictures are drawn only when they
 * come into view.
 */

import { bothTables, differingText } from "./details.js";
import { breakable, button, html } from "../shared/elements.js";
import { count, nameInList, plural, ratio, scoreText } from "../shared/words.js";

/** @import { StripItem } from "../shared/payloads.d.ts" */
/** @import { Place } from "./state.js" */
/** @import { Viewer } from "./viewer.js" */

/** Facts of the mistakes of a cause that differ; the others are the same in each. */
const OWN_LINES = /^(lost|takes in|other half)/;
const MOST_LINES = 6;

/** @param {Place} place @returns {[string, string]} what happened, and the label where that does not say it */
export function placeTitle({ cause, mistakes: [first] }) {
  return cause ? [cause.title, ""] : [first.title, first.label];
}

/** @param {Place} place @returns {string[]} */
function placeLines({ cause, mistakes }) {
  if (!cause) return [...mistakes[0].lines];
  const own = [...new Set(mistakes.flatMap(({ lines }) => lines.filter((line) => OWN_LINES.test(line))))];
  const more = own.length > MOST_LINES ? [`and ${plural(own.length - MOST_LINES, "more like these", "more like these")}`] : [];
  return [`${plural(cause.boxes, "wrong box", "wrong boxes")} in ${plural(mistakes.length, "mistake")}`, ...own.slice(0, MOST_LINES), ...more];
}

/** @param {Viewer} view @param {Place} place @returns {HTMLElement} counts, scores and fit of the boxes of a place */
function placeFacts(view, place) {
  const boxes = view.state.boxesOf(place).filter((box) => !box.other && box.status !== "truth");
  const of = (/** @type {string} */ status) => boxes.filter((box) => box.status === status).length;
  const counts = ["FP", "FN", "TP"].flatMap((status) => (of(status) ? [`${count(of(status))} ${status}`] : [])).join(", ");
  const scores = boxes.flatMap((box) => box.score ?? []);
  const [low, high] = [Math.min(...scores), Math.max(...scores)].map(scoreText);
  const fits = boxes.flatMap((box) => box.iou ?? []);
  /** @type {[string, string][]} */
  const facts = [["Boxes", counts]];
  if (scores.length) facts.push(["Score", low === high ? low : `${low} to ${high}`]);
  if (fits.length) facts.push(["Best IoU", ratio(Math.max(...fits))]);
  return html("dl", { class: "mistake-facts" }, ...facts.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value))));
}

/** @param {Viewer} view @param {Place} place @returns {HTMLElement} */
function placeRow(view, place) {
  const [title, label] = placeTitle(place);
  const name = html("span", { class: "mistake-title", title: label ? `${title} \u00b7 ${label}` : title },
    html("b", {}, `${place.number} ${title}`), ...(label ? [" \u00b7 ", ...breakable(label)] : []));
  const open = button("", { class: "mistake-open", "data-number": place.number, tabindex: "-1" }, () => view.choosePlace(place),
    html("span", { class: "crop" }),
    html("span", { class: "mistake-text" }, name,
      ...placeLines(place).map((line, order) => html("span", { class: order ? "mistake-line muted" : "mistake-line", title: line }, line)),
      html("span", { class: "mistake-said" })));
  const [{ pieces = [] }] = place.mistakes;
  const own = pieces.length ? differingText(pieces) : view.shown().status_words ? null : placeFacts(view, place);
  // What lies nowhere cannot be chosen on the page, so that all of it shows at once.
  const boxless = view.state.boxesOf(place).length === 0;
  const row = html("div", { class: `mistake${pieces.length ? " with-text" : ""}${boxless ? " boxless" : ""}`, "data-number": place.number }, open, own);
  if (boxless) openTable(view, row, place);
  if (pieces.length) own?.addEventListener("click", () => view.choosePlace(place));
  row.addEventListener("pointerenter", () => view.setHover(view.state.boxesOf(place)[0]?.key ?? null));
  row.addEventListener("pointerleave", () => view.setHover(null));
  return row;
}

/** The table of a place that is chosen, drawn when it first is. @param {Viewer} view @param {HTMLElement} row @param {Place} place */
export function openTable(view, row, { mistakes: [{ table, number }] }) {
  const item = view.shown().tables?.[table ?? -1];
  if (item && !row.querySelector(".grids")) row.append(bothTables(item, number));
}

/** @param {Viewer} view @returns {Map<number, HTMLElement>} the row of each place by its number */
export function drawList(view) {
  const rows = new Map(view.state.places.map((place) => [place.number, placeRow(view, place)]));
  view.list.replaceChildren(view.edges.before, ...rows.values(), view.edges.after);
  return rows;
}

/** @param {Viewer} view @returns {{before: HTMLButtonElement, after: HTMLButtonElement}} the ways to the pages beside this one */
export function makeEdges(view) {
  const edge = (/** @type {number} */ step, /** @type {string} */ name) => button(name, { class: "edge", tabindex: "-1", hidden: true }, () => view.turner.turn(step));
  return { before: edge(-1, "Page before"), after: edge(1, "Page after") };
}

/** @param {Viewer} view @param {StripItem[]} pages @param {readonly number[]} judged */
export function writeEdges(view, pages, judged) {
  const here = pages.findIndex((page) => page.current);
  for (const [edge, at, words] of /** @type {const} */ ([[view.edges.before, here - 1, "after "], [view.edges.after, here + 1, "then "]])) {
    const page = here < 0 ? undefined : pages[at];
    edge.hidden = !page;
    if (!page) continue;
    const name = `${words}${nameInList(page.document)}, page ${count(page.index + 1)}`;
    const said = judged[at] ? `${count(judged[at])} of ${count(page.mistakes)} judged` : plural(page.mistakes, view.shown().noun ?? "mistake");
    edge.removeAttribute("aria-label");
    edge.replaceChildren(html("span", { class: "edge-name", title: name }, name), html("span", { class: "unseen" }, ", "), html("span", {}, said));
  }
}

/**
 * Has the small pictures drawn, each when it comes into view.
 * @param {HTMLElement} list @param {Map<number, HTMLElement>} rows @param {Place[]} places @param {(frame: HTMLElement, place: Place) => void} crop
 * @returns {() => void} ends it
 */
export function drawCrops(list, rows, places, crop) {
  /** @type {Map<Element | null | undefined, Place>} */
  const frames = new Map(places.map((place) => [rows.get(place.number)?.querySelector(".crop"), place]));
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const place = frames.get(entry.target);
      if (!entry.isIntersecting || !place) continue;
      watcher.unobserve(entry.target);
      crop(/** @type {HTMLElement} */ (entry.target), place);
    }
  }, { root: list, rootMargin: "200px" });
  for (const frame of frames.keys()) if (frame) watcher.observe(frame);
  return () => watcher.disconnect();
}

/**
 * A sentence above the rows, with one way out; the one that is there stays when it says the same.
 * @param {HTMLElement} list @param {{text: string, action: string | null, run: () => void} | null} message
 */
export function writeListMessage(list, message) {
  const old = list.querySelector(".message-box");
  if (old && message && old.textContent === message.text + (message.action ?? "")) return;
  old?.remove();
  if (!message) return;
  const { text, action, run } = message;
  list.prepend(html("div", { class: "message-box" }, html("p", { class: "message" }, text), action ? button(action, { class: "plain" }, run, action) : null));
}
