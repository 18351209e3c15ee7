/**
 * Everything in words around the page of the viewer: bars, strip, list, notes, label menu.
 *
 * Each function writes one part from the data and the state of a viewer, and changes neither.
 */

import { button, drawWhenOther, html } from "../shared/elements.js";
import { factsOf } from "../shared/facts.js";
import { isInNotebook } from "../shared/focus.js";
import { warningLines } from "../shared/pane.js";
import { rowOf } from "../shared/turn.js";
import { STATUS_WORDS, count, plainName, plural, saidOf, unsavedOf } from "../shared/words.js";
import { drawCrop } from "./crop.js";
import { drawCrops, drawList, placeTitle, writeEdges, writeListMessage } from "./list.js";
import { drawStrip, markStrip, writeJudged } from "./strip.js";
import { keyLine } from "./toolbar.js";

/** @import { BoxItem, CountedStatus, MistakeItem } from "../shared/payloads.d.ts" */
/** @import { NamedPage, Place } from "./state.js" */
/** @import { Viewer } from "./viewer.js" */

export const STATUSES = /** @type {CountedStatus[]} */ (["TP", "FP", "FN"]);

/** Counts on the toggles, key line, names for screen readers, problem and warnings. @param {Viewer} view @returns {boolean} whether other warnings are above the page, and its pane may have another size */
export function writeBars(view) {
  const data = view.shown();
  const { page, models } = data;
  writeToggles(view);
  writeLostToggle(view);
  const has = { models: models.length > 1, verdicts: data.verdicts === true, order: (data.paths ?? []).length > 0, print: !isInNotebook(view.root) };
  drawWhenOther(view.keys, has, () => view.keys.replaceChildren(...keyLine(has, () => view.openHelp(), () => window.print())));
  const { root, boxes, sheet } = view.pane;
  root.setAttribute("aria-label", page
    ? `Page ${page.index + 1} of ${plainName(page.document)}, ${plural(data.boxes.length, "box", "boxes")}. Press ? for the keys.` : "No page");
  boxes.setAttribute("aria-label", "Boxes");
  sheet.hidden = page === null;
  view.pane.showProblem(page?.problem ?? null);
  const { limit } = data;
  return drawWhenOther(view.warnings, [page?.notes ?? [], limit, page?.problem ?? null], () => view.warnings.replaceChildren(...warningLines(page?.notes ?? [], [{ limit }])));
}

/** The statuses with their counts. @param {Viewer} view */
function writeToggles(view) {
  const { counts, statuses, status_words: own } = view.shown();
  for (const [at, status] of STATUSES.entries()) {
    const { node, code, words, number } = view.tools.toggles[status];
    node.hidden = !(statuses ?? STATUSES).includes(status);
    number.textContent = count(counts[status]);
    words.textContent = own?.[at] ?? STATUS_WORDS[status];
    code.hidden = own !== undefined;
    node.title = `Show or hide ${words.textContent}`;
  }
}

/** How much text no prediction holds. @param {Viewer} view */
function writeLostToggle(view) {
  const { page } = view.shown();
  const lost = page?.lost_words ?? null;
  const ink = page?.lost_ink ?? null;
  view.tools.lost.hidden = lost === null && ink === null;
  const amount = ink === null ? count(lost ?? 0) : `${(100 * ink).toFixed(1)} %`;
  const unit = ink !== null ? " of the ink" : lost === 1 ? " word" : " words";
  drawWhenOther(view.tools.lostNumber, [amount, unit], () => view.tools.lostNumber.replaceChildren(amount, html("span", { class: "long" }, unit)));
  view.tools.lost.title = ink === null
    ? "Show or hide the words of the ground truth that no prediction holds"
    : "No text layer: share of the ink in the ground truth that no prediction holds. Show or hide it";
}

/** Which page this is, and its place in the list. @param {Viewer} view */
export function writePlace(view) {
  const page = view.shown().page;
  const { previousPage, nextPage, place } = view.tools;
  writePosition(view);
  place.replaceChildren(...(page ? [html("span", { class: "place-document" }, plainName(page.document)), html("span", {}, ", page ", html("b", {}, count(page.index + 1)))] : []));
  place.title = page ? `${plainName(page.document)}, page ${count(page.index + 1)}${page.count ? ` of ${count(page.count)}` : ""}` : "";
  previousPage.disabled = !page || page.position <= 1;
  nextPage.disabled = !page || page.position >= page.total;
}

/** Between the two buttons that walk the list, the place in it. @param {Viewer} view */
function writePosition(view) {
  const page = view.shown().page;
  view.tools.pageText.textContent = !page ? "-" : page.position ? `${count(page.position)} of ${count(page.total)}` : "not listed";
}

/** @param {Viewer} view */
export function writeStrip(view) {
  const data = /** @type {NamedPage} */ (view.shown());
  const pages = data.strip;
  const first = data.strip_first;
  const more = first === undefined ? { before: 0, after: 0 } : { before: first, after: Math.max(0, (data.page?.total ?? 0) - first - pages.length) };
  const named = data.strip_name ?? pages.map(({ document: name, index, mistakes, blocks }) => [name, index, mistakes, blocks]);
  drawWhenOther(view.strip, [more, data.filtered === true, data.noun, named], () =>
    drawStrip(view.strip, pages, (page) => view.turner.open(page), more, (position) => view.turner.turnTo(position), data.filtered === true, data.noun ?? "mistake"));
  view.strip.hidden = pages.length === 0;
  markStrip(view.strip, pages.findIndex((page) => page.current), "current");
  const judged = data.judged ?? [];
  drawWhenOther(view.edges.before, [named, view.pageId, judged, data.noun], () => {
    writeJudged(view.strip, pages, judged);
    writeEdges(view, pages, judged);
  });
}

/** One small picture, after the page itself is on screen. @param {Viewer} view @param {HTMLElement} frame @param {Place} place */
async function paintCrop(view, frame, place) {
  const { content } = view.state;
  const own = view.state.boxesOf(place);
  // Before any of them is drawn: each drawing would have the next one lay out the list anew.
  const size = { width: frame.clientWidth || 84, height: frame.clientHeight || 60 };
  const picture = await view.picture();
  if (!own.length || !frame.isConnected) return;
  drawCrop(frame, [...content.boxes.values()], own, view.pageSize(), size, picture);
}

/** All rows of the list and their small pictures. @param {Viewer} view @param {boolean} imageChanged */
export function writeRows(view, imageChanged) {
  const { mistakes, boxes, causes } = view.shown();
  // A verdict shows elsewhere: it draws no row anew.
  const rows = mistakes.map(({ number, title, label, lines, tags, keys, pieces }) => [number, title, label, lines, tags, keys, pieces]);
  const drawn = drawWhenOther(view.list, [view.pageId, rows, causes], () => {
    view.rows = drawList(view);
  });
  const others = drawWhenOther(view.rowCrops, boxes.map(({ key, status, xyxy }) => [key, status, xyxy]), () => undefined);
  if (drawn || others || imageChanged) {
    view.rowCrops.stop();
    view.rowCrops.stop = drawCrops(view.list, view.rows, view.state.places, (frame, place) => void paintCrop(view, frame, place));
  }
  writeListState(view);
}

/** What reviewers say of each place, in its row; with the notes where nothing can be judged. @param {Viewer} view */
function writeSaid(view) {
  const { verdicts, mistakes } = view.shown();
  const known = verdicts === true || mistakes.some(({ verdict }) => verdict);
  view.list.classList.toggle("judging", verdicts === true);
  for (const place of view.state.places) {
    const node = view.rows.get(place.number)?.querySelector(".mistake-said");
    const notes = verdicts === true ? [] : place.mistakes.flatMap(({ verdict }) => notesOf(verdict));
    const [unsaved] = place.mistakes.flatMap((mistake) => mistake.unsaved ?? []);
    const stored = place.mistakes.map(({ verdict }) => verdict);
    const words = unsaved && !stored.some(Boolean) ? unsavedOf(unsaved) : saidOf(stored);
    const said = known ? [words, ...new Set(notes)].join("\n") : "";
    if (node && node.textContent !== said) node.textContent = said;
  }
}

/** @param {MistakeItem["verdict"]} verdict @returns {string[]} each note with who wrote it */
function notesOf(verdict) {
  return (verdict?.opinions ?? []).filter(({ note }) => note.trim()).map(({ author, note }) => `${author}: ${note.trim()}`);
}

/** In the key line, where N leads. @param {Viewer} view */
export function writeNext(view) {
  const node = /** @type {HTMLElement | null} */ (view.keys.querySelector(".key-group > span"));
  const next = view.state.nextPlace(view.selected, 1, (view.shown().walk ?? null) !== null);
  const words = next === "beyond" ? "next: on another page" : next ? `next: ${next.number} ${placeTitle(next).filter(Boolean).join(" ")}` : "next mistake";
  if (!node || node.textContent === words) return;
  node.textContent = words;
  node.title = words;
}

/** The facts of the box under the pointer, else of the chosen one, below the list. @param {Viewer} view @param {BoxItem | null} box */
export function writeFacts(view, box) {
  view.facts.hidden = view.state.content.boxes.size === 0;
  let words = "";
  if (box) {
    const { head, label, wrong, numbers, source } = factsOf(box, view.state.content);
    words = [`${head} \u00b7 ${label}`, wrong, ...numbers.map((pair) => pair.join(" ")), source].filter(Boolean).join(", ");
  }
  if (view.facts.textContent !== words) view.facts.textContent = words;
  view.facts.title = words;
}

/** Which rows show, the head of the list, and the sentence when no row shows. @param {Viewer} view */
export function writeListState(view) {
  const data = view.shown();
  const listed = view.state.listedMistakes();
  const places = new Set(view.state.listedPlaces().map(({ number }) => number));
  for (const [number, row] of view.rows) row.hidden = !places.has(number);
  writeSaid(view);
  const clear = () => view.sendChoice("clear_filter", true);
  writeListMessage(view.list, data.empty ? { ...data.empty, run: clear }
    : data.mistakes.length === 0 ? { text: data.hidden_mistakes ? "No mistake of this page passes the filter." : "No mistake on this page.", action: data.hidden_mistakes ? "Clear filter" : null, run: clear }
    : listed.length === 0 ? { text: "The toggles hide every mistake of this page.", action: "Show all boxes", run: () => view.showAll() } : null);
  const { model, models } = data;
  const total = data.mistakes.length;
  const noun = data.noun ?? "mistake";
  const filtered = data.hidden_mistakes ?? 0;
  const judged = data.mistakes.filter(({ verdict }) => verdict?.opinions.some((each) => each.verdict)).length;
  const around = data.head ?? (places.size && places.size < listed.length ? `in ${plural(places.size, "place")}` : "");
  const parts = [
    html("h2", {}, total === 0 ? `No ${noun}` : listed.length === total ? plural(total, noun) : `${count(listed.length)} of ${plural(total, noun)}`),
    html("span", { class: "muted list-counts", title: around }, around), html("span", { class: "grow" }),
  ];
  if (data.verdicts === true && total) parts.push(html("span", { class: "muted list-judged" }, `${count(judged)} judged`));
  else if (models.length > 1) parts.push(html("span", { class: "model", title: `Model ${model.letter}: ${model.name}` }, html("b", {}, model.letter), ` ${model.name}`));
  view.listHead.replaceChildren(html("div", { class: "list-head-line" }, ...parts),
    ...(filtered ? [html("div", { class: "muted list-filtered" }, `The filter hides ${plural(filtered, "more mistake", "more mistakes")} of this page`)] : []));
}

/** What the reader switched away from, each with the way back. @param {Viewer} view */
export function writeNotes(view) {
  /** @type {HTMLElement[]} */
  const notes = [];
  if (!view.state.layers.predictions) notes.push(button("Show predictions", { class: "note" }, () => view.setLayer("predictions", true), "Predictions are hidden. Show (T)"));
  if (view.state.layers.truth) notes.push(button("Show only missed ground truth", { class: "note" }, () => view.setLayer("truth", false), "All ground truth is shown. Only missed (G)"));
  if (view.crowded) notes.push(button("Zoom in for the mistake numbers", { class: "note" }, () => view.zoom(2, null), "Too full for mistake numbers. Zoom in (+)"));
  if (view.data?.page?.position === 0) notes.unshift(button("Clear the filter", { class: "note" }, () => view.sendChoice("clear_filter", true), "The filter hides this page. Clear filter"));
  drawWhenOther(view.pane.notes, notes.map((note) => note.textContent), () => view.pane.notes.replaceChildren(...notes));
}

/** Where the reader is going while that page is not here: pages that a held key skips are at least counted. @param {Viewer} view @param {number | null} position 1-based place among the pages of the list */
export function showAsked(view, position) {
  const row = rowOf(view.data, position);
  markStrip(view.strip, row, "asked");
  if (!view.data) return;
  if (position === null) {
    writePosition(view);
    return;
  }
  const there = view.data.strip[row];
  view.tools.pageText.textContent = there ? `To page ${count(there.index + 1)}` : `To ${count(position)} of ${count(view.data.page?.total ?? 0)}`;
}

/** @param {Viewer} view */
export function writeMenuButton(view) {
  const labels = view.shown().labels;
  const hidden = labels.filter((label) => view.state.hiddenLabels.has(label)).length;
  const { labels: node, labelNumber } = view.tools;
  node.hidden = view.shown().statuses !== undefined;
  labelNumber.textContent = hidden ? `${labels.length - hidden} of ${labels.length}` : count(labels.length);
  node.classList.toggle("partial", hidden > 0);
}
