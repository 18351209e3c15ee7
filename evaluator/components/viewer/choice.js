/** How the reader goes through boxes: pointer, next mistake, stacked boxes, lists. */

import { unionOf } from "../shared/geometry.js";
import { boxName } from "../shared/facts.js";
import { bringIntoView, inPane, stackAt, zoomTo } from "../shared/placement.js";
import { centreRow, walkRows } from "../shared/rows.js";
import { plural } from "../shared/words.js";

/** @import { PagePayload } from "../shared/payloads.d.ts" */
/** @import { Place } from "./state.js" */
/** @import { Viewer } from "./viewer.js" */

/** @param {Viewer} view @param {[number, number] | null} at pixels of the pane @param {string | null} chip the box whose chip is there */
export function movePointer(view, at, chip) {
  view.pointer = at;
  if (!at) view.stack.clear();
  const under = at && !chip ? view.stack.under(stackAt(view.place, view.state.visibleBoxes(), at)) : null;
  view.setHover(at ? chip ?? under : null);
}

/** Shows a place enlarged where the reader is close, else at least in sight. @param {Viewer} view @param {Place | undefined} place */
export function showPlace(view, place) {
  const own = place ? view.state.boxesOf(place).map((box) => box.xyxy) : [];
  if (!own.length || (!view.close && view.place.zoom === 1)) return;
  (view.close ? zoomTo : bringIntoView)(view.place, unionOf(own), view.pageSize());
  view.moved();
}

/** @param {Viewer} view @param {Place} place */
export function choosePlace(view, place) {
  const own = view.state.boxesOf(place);
  const key = own.length ? (own.find((box) => view.state.isVisible(box)) ?? own[0]).key : view.selected;
  showPlace(view, place);
  if (key === view.selected) view.showMark();
  else view.select(key);
}

/** @param {Viewer} view @param {number} step */
export function stepMistake(view, step) {
  const walk = view.shown().walk ?? null;
  const next = view.state.nextPlace(view.selected, step, walk !== null);
  if (next === "beyond") {
    walkOn(view, step);
  } else if (next) {
    view.hover = null;
    choosePlace(view, next);
  }
}

/** From the last mistake of a page to the first one of the next page that has any. @param {Viewer} view @param {number} step */
function walkOn(view, step) {
  const { page, walk } = view.shown();
  if (!page || !(step > 0 ? walk?.after : walk?.before)) {
    endOfList(view, step, walk?.total ?? 0);
    return;
  }
  const position = (step > 0 ? walk?.next : walk?.previous) ?? 0;
  const edge = (/** @type {PagePayload} */ { mistakes }) => mistakes.at(step > 0 ? 0 : -1)?.keys[0] ?? null;
  view.turner.walk({ document: page.document, index: page.index, step: 0, mistake: step > 0 ? 1 : -1 }, (waits) => view.drawPlaced(position, edge, waits));
}

/** At the last mistake of the list it is said so, and the next N leads to the first one. @param {Viewer} view @param {number} step @param {number} total */
function endOfList(view, step, total) {
  const { page, walk } = view.shown();
  if (step < 0 || view.ended !== view.selected) {
    view.ended = step > 0 ? view.selected : null;
    view.spoken.textContent = step > 0 ? `That was the last of ${plural(total, "mistake")}. N starts again.` : "This was the first mistake of the list";
    if (step > 0) view.facts.textContent = view.spoken.textContent;
    return;
  }
  view.ended = null;
  const [first] = view.state.listedPlaces();
  if (page && walk?.before) view.turner.walk({ document: page.document, index: page.index, step: 0, mistake: 1 }, () => false);
  else if (first) choosePlace(view, first);
}

/** @param {Viewer} view @param {number} step through boxes that lie on each other */
function stepStack(view, step) {
  const chosen = view.state.content.box(view.selected);
  const r = chosen ? inPane(view.place, chosen.xyxy) : null;
  const at = view.pointer ?? (r ? /** @type {[number, number]} */ ([(r[0] + r[2]) / 2, (r[1] + r[3]) / 2]) : null);
  const boxes = at ? stackAt(view.place, view.state.visibleBoxes(), at) : [];
  if (boxes.length === 0) return;
  const next = view.stack.step(boxes, view.hover ?? view.selected, step);
  if (view.pointer) view.setHover(next.key);
  else view.select(next.key);
  view.spoken.textContent = boxName(next);
}

/** @param {Viewer} view */
export function flipModel(view) {
  const { models, model } = view.shown();
  const here = models.findIndex((each) => each.letter === model.letter);
  if (models.length > 1) view.sendChoice("model", models[(here + 1) % models.length].letter);
}

/** @param {Viewer} view @param {number} step @param {HTMLElement | null} target @returns {boolean} */
export function upOrDown(view, step, target) {
  const column = !view.pointer && target ? [view.strip, view.list].find((each) => each.contains(target)) : undefined;
  if (!column) {
    stepStack(view, step);
    return view.pointer !== null || view.selected !== null;
  }
  const next = walkRows(column, target, step, column === view.list ? ".mistake-open, .edge" : "button");
  const place = next && column === view.list ? view.state.places[Number(next.getAttribute("data-number")) - 1] : undefined;
  if (place) choosePlace(view, place);
  if (next && column === view.strip) centreRow(column, next);
  return true;
}
