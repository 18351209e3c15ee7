/**
 * What shows on the page and what is marked: layers, labels, chips, the box under the pointer.
 */

import { setAttributes } from "../shared/elements.js";
import { arrangeChips, companions, drawCuts, drawForeign, drawMarked, drawMarkedChip, factsOf, placeOf, placeTooltip, writeTooltip } from "../shared/layers.js";
import { inPane } from "../shared/pane.js";
import { scrollToRow } from "./list.js";
import { cutsOf, isVisible, visibleBoxes } from "./visible.js";
import { STATUSES, writeListState, writeMenuButton, writeMistakePlace, writeNotes } from "./words.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("../shared/layers.js").Box} Box */

/** @param {Viewer} view @param {"TP" | "FP" | "FN" | "truth" | "predictions" | "lost"} layer @param {boolean} shown */
export function setLayer(view, layer, shown) {
  view.layers[layer] = shown;
  applyLayers(view);
}

/** @param {Viewer} view @param {string[]} labels @param {boolean} shown */
export function showLabels(view, labels, shown) {
  for (const label of labels) {
    if (shown) view.hiddenLabels.delete(label);
    else view.hiddenLabels.add(label);
  }
  applyLayers(view);
}

/** @param {Viewer} view */
export function showAll(view) {
  Object.assign(view.layers, { TP: true, FP: true, FN: true, predictions: true });
  view.hiddenLabels.clear();
  applyLayers(view);
}

/** @param {Viewer} view */
export function applyLayers(view) {
  const { layers, pane, tools } = view;
  const hidden = {
    TP: !(layers.TP && layers.predictions),
    FP: !(layers.FP && layers.predictions),
    FN: !(layers.FN || layers.truth),
    truth: !layers.truth,
  };
  for (const [status, off] of Object.entries(hidden)) {
    pane.boxes.classList.toggle(`hide-${status}`, off);
    pane.chips.classList.toggle(`hide-${status}`, off);
  }
  for (const [key, rect] of view.rects) {
    const off = view.hiddenLabels.has(/** @type {Box} */ (view.boxes.get(key)).label);
    rect.classList.toggle("off", off);
    view.chips.get(key)?.classList.toggle("off", off);
  }
  for (const status of STATUSES) {
    const { node } = tools.toggles[status];
    setAttributes(node, { "aria-pressed": String(layers[status]) });
    node.classList.toggle("overruled", layers[status] && hidden[status]);
  }
  pane.lost.classList.toggle("off", !layers.lost);
  setAttributes(tools.lost, { "aria-pressed": String(layers.lost) });
  const marked = view.hover ? view.boxes.get(view.hover) : null;
  if (marked && !isVisible(view, marked)) view.hover = null;
  drawCuts(pane.cuts, cutsOf(view), view.place.sheet);
  writeMenuButton(view);
  writeNotes(view);
  writeListState(view);
  showMark(view, false);
  scheduleChips(view);
}

/** Points by which loose boxes reach beyond their box, sideways and up and down. */
const LOOSE = [3, 1.5];

/** A box as it is drawn: a little larger when the reader wants the letters free. @param {Viewer} view @param {Box} box @returns {Box} */
function asDrawn(view, box) {
  if (!view.loose) return box;
  const { width, height } = view.pageSize();
  const [x1, y1, x2, y2] = box.xyxy;
  return { ...box, xyxy: [x1 - LOOSE[0] / width, y1 - LOOSE[1] / height, x2 + LOOSE[0] / width, y2 + LOOSE[1] / height] };
}

/** Puts the drawn boxes where they belong. @param {Viewer} view */
export function placeBoxes(view) {
  for (const [key, rect] of view.rects) setAttributes(rect, placeOf(asDrawn(view, /** @type {Box} */ (view.boxes.get(key))).xyxy));
}

/** @param {Viewer} view @param {boolean} loose */
export function setLoose(view, loose) {
  view.loose = loose;
  placeBoxes(view);
  drawMark(view);
}

/** New content gets its chips at once, a zoom or a toggle when it has come to rest. @param {Viewer} view */
export function scheduleChips(view) {
  window.clearTimeout(view.timers.chips);
  if (view.pane.chips.classList.contains("ready")) view.timers.chips = window.setTimeout(() => arrange(view), 60);
  else arrange(view);
}

/** @param {Viewer} view */
export function arrange(view) {
  if (!view.place.sheet.width || !view.data) return;
  view.chipPlaces = arrangeChips(view.chips, visibleBoxes(view), view.place.sheet, view.chipFont);
  view.pane.chips.classList.add("ready");
  const crowded = view.chipPlaces.length > 0 && view.chipPlaces.every((chip) => chip.rect === null);
  if (crowded !== view.crowded) {
    view.crowded = crowded;
    writeNotes(view);
  }
  drawMarkedChip(view.pane.markedChips, activeBox(view), view.place.sheet, view.chipFont, view.chipPlaces);
}

/** @param {Viewer} view @returns {Box | null} the box under the pointer, else the chosen one */
export function activeBox(view) {
  return view.boxes.get(view.hover ?? view.selected ?? "") ?? null;
}

/** @param {Viewer} view @param {string | null} key */
export function setHover(view, key) {
  if (key === view.hover) return;
  view.hover = key;
  showMark(view, false);
}

/**
 * Shows the box under the pointer, or the chosen one, everywhere.
 * @param {Viewer} view @param {boolean} quiet leave the list where it is scrolled
 */
export function showMark(view, quiet) {
  const box = activeBox(view);
  const chosen = view.selected ? view.boxes.get(view.selected) : undefined;
  for (const row of view.list.querySelectorAll(".hovered, .chosen")) {
    row.classList.remove("hovered", "chosen");
    row.removeAttribute("aria-current");
  }
  const chosenRow = view.rows.get(chosen?.mistake ?? -1);
  const row = view.rows.get(box?.mistake ?? -1);
  chosenRow?.classList.add("chosen");
  chosenRow?.setAttribute("aria-current", "true");
  row?.classList.add("hovered");
  if (row && !quiet && !view.list.matches(":hover")) scrollToRow(view.list, row);
  const first = chosenRow ?? [...view.rows.values()].find((each) => !each.hidden);
  if (first && first.tabIndex !== 0) {
    view.list.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
    first.tabIndex = 0;
  }
  writeTooltip(view.pane.tooltip, box ? factsOf(box, view.mistakes.get(box.mistake ?? -1), view.boxes) : null);
  view.pane.root.classList.toggle("over-box", view.hover !== null);
  drawForeign(view.pane.foreign, view.layers.lost ? view.mistakes.get(box?.mistake ?? -1)?.foreign ?? [] : []);
  drawMark(view);
  writeMistakePlace(view);
}

/** @param {Viewer} view */
export function drawMark(view) {
  const box = activeBox(view);
  const others = box ? companions(box, view.boxes, view.mistakes.get(box.mistake ?? -1)) : [];
  const { sheet, pane, x, y } = view.place;
  drawMarked(view.pane.marked, box && asDrawn(view, box), others.map((each) => asDrawn(view, each)), sheet);
  drawMarkedChip(view.pane.markedChips, box, sheet, view.chipFont, view.chipPlaces);
  if (!box) return;
  const own = new Set([box, ...others]);
  const around = visibleBoxes(view).filter((each) => !own.has(each))
    .map((each) => ({ rect: inPane(view.place, each.xyxy), weight: each.mistake === null ? 0.7 : 1.5 }));
  for (const { key, rect } of view.chipPlaces) {
    if (rect) around.push({ rect: [rect[0] + x, rect[1] + y, rect[2] + x, rect[3] + y], weight: 3 });
  }
  placeTooltip(view.pane.tooltip, [...own].map((each) => inPane(view.place, each.xyxy)), around, [x, y, x + sheet.width, y + sheet.height], pane, view.pointer);
}
