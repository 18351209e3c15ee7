/** What shows on the page and what is marked: layers, labels, chips, the box under the pointer. */

import { placeOf, setAttributes } from "../shared/elements.js";
import { drawCuts, drawForeign } from "../shared/layers.js";
import { scrollToRow } from "./list.js";
import { STATUSES, writeCauses, writeListState, writeMenuButton, writeMistakePlace, writeNotes } from "./words.js";

/** @import { BoxItem, Rect } from "../shared/payloads.d.ts" */
/** @import { Layer } from "./state.js" */
/** @import { Viewer } from "./viewer.js" */

/** @param {Viewer} view @param {Layer} layer @param {boolean} shown */
export function setLayer(view, layer, shown) {
  view.state.layers[layer] = shown;
  applyLayers(view);
}

/** @param {Viewer} view */
export function applyLayers(view) {
  const { state, pane, tools } = view;
  const hidden = state.hiddenStatuses();
  for (const [status, off] of Object.entries(hidden)) {
    pane.boxes.classList.toggle(`hide-${status}`, off);
    pane.chips.classList.toggle(`hide-${status}`, off);
  }
  for (const [key, rect] of pane.rects) {
    const off = state.hiddenLabels.has(state.content.box(key)?.label ?? "");
    rect.classList.toggle("off", off);
    pane.chipNodes.get(key)?.classList.toggle("off", off);
  }
  for (const status of STATUSES) {
    const { node } = tools.toggles[status];
    setAttributes(node, { "aria-pressed": String(state.layers[status]) });
    node.classList.toggle("overruled", state.layers[status] && hidden[status]);
  }
  pane.lost.classList.toggle("off", !state.layers.lost);
  setAttributes(tools.lost, { "aria-pressed": String(state.layers.lost) });
  const marked = state.content.box(view.hover);
  if (marked && !state.isVisible(marked)) view.hover = null;
  drawCuts(pane.cuts, state.cuts(), view.place.sheet);
  writeMenuButton(view);
  writeNotes(view);
  writeListState(view);
  view.showMark();
  view.scheduleChips();
}

/** Puts the drawn boxes where they belong. @param {Viewer} view */
export function placeBoxes(view) {
  for (const [key, rect] of view.pane.rects) {
    const box = /** @type {BoxItem} */ (view.state.content.box(key));
    setAttributes(rect, placeOf(view.state.asDrawn(box, view.pageSize()).xyxy));
  }
}

/** @param {Viewer} view @param {boolean} loose */
export function setLoose(view, loose) {
  view.state.loose = loose;
  placeBoxes(view);
  drawMark(view);
}

/** @param {Viewer} view */
export function arrange(view) {
  if (!view.place.sheet.width || !view.data) return;
  view.pane.arrange(view.state.visibleBoxes(), view.place, view.font);
  const places = view.pane.chipPlaces;
  const crowded = places.length > 0 && places.every((chip) => chip.rect === null);
  if (crowded !== view.crowded) {
    view.crowded = crowded;
    writeNotes(view);
  }
  view.pane.markChip(activeBox(view), view.place, view.font);
}

/** @param {Viewer} view @returns {BoxItem | null} the box under the pointer, else the chosen one */
export function activeBox(view) {
  return view.state.content.box(view.hover ?? view.selected) ?? null;
}

/** @param {Viewer} view @param {string | null} key */
export function setHover(view, key) {
  if (key === view.hover) return;
  view.hover = key;
  view.showMark();
}

/**
 * Shows the box under the pointer, or the chosen one, everywhere.
 * @param {Viewer} view @param {boolean} quiet leave the list where it is scrolled
 */
export function showMark(view, quiet) {
  const { state, pane } = view;
  const box = activeBox(view);
  const row = markRows(view, box);
  pane.writeFacts(box);
  pane.root.classList.toggle("over-box", view.hover !== null);
  drawForeign(pane.foreign, state.layers.lost ? state.content.mistakeOf(box)?.foreign ?? [] : []);
  drawMark(view);
  // Scrolling and the place of the facts lay out what was changed: once for both, before the words that follow.
  if (row && !row.hidden && !quiet && !view.list.matches(":hover")) scrollToRow(view.list, row);
  writeMistakePlace(view);
}

/** The rows of the marked and of the chosen mistake. @param {Viewer} view @param {BoxItem | null} box @returns {HTMLElement | undefined} that of the marked one */
function markRows(view, box) {
  const { content } = view.state;
  for (const row of view.list.querySelectorAll(".hovered, .chosen")) {
    row.classList.remove("hovered", "chosen");
    row.removeAttribute("aria-current");
  }
  writeCauses(view);
  const chosenRow = view.rows.get(content.box(view.selected)?.mistake ?? -1);
  const row = view.rows.get(box?.mistake ?? -1);
  chosenRow?.classList.add("chosen");
  chosenRow?.setAttribute("aria-current", "true");
  row?.classList.add("hovered");
  const first = chosenRow && !chosenRow.hidden ? chosenRow : [...view.rows.values()].find((each) => !each.hidden);
  if (first && first.tabIndex !== 0) {
    view.list.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
    first.tabIndex = 0;
  }
  return row;
}

/** @param {Viewer} view */
export function drawMark(view) {
  const { pane, place, state } = view;
  const marked = pane.mark(activeBox(view), place, view.font, (box) => state.asDrawn(box, view.pageSize()));
  if (!marked.length) return;
  const around = state.visibleBoxes().filter((box) => !marked.includes(box)).map((box) => ({ box, weight: box.mistake === null ? 0.7 : 1.5 }));
  const chips = pane.chipPlaces.flatMap(({ rect }) => rect
    ? [{ rect: /** @type {Rect} */ ([rect[0] + place.x, rect[1] + place.y, rect[2] + place.x, rect[3] + place.y]), weight: 3 }] : []);
  pane.placeFacts(marked, around, place, view.pointer, chips);
}
