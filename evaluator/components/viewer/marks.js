/** What shows on the page and what is marked: layers, labels, chips, the box under the pointer. */

import { placeOf, setAttributes } from "../shared/elements.js";
import { drawCuts, drawForeign } from "../shared/layers.js";
import { openTable } from "./list.js";
import { STATUSES, writeFacts, writeNext, writeListState, writeMenuButton, writeNotes } from "./words.js";
import { writeVerdict } from "./verdict.js";
import { chipText } from "../shared/facts.js";
import { scrollToRow } from "../shared/rows.js";

/** @import { BoxItem } from "../shared/payloads.d.ts" */
/** @import { PlacedBox } from "./state.js" */
/** @import { Viewer } from "./viewer.js" */
/** @import { BoxLook } from "../shared/layers.js" */

/** Labels without text to hide: a chip may rather cover these. */
const PICTURES = /picture|figure|image|photo|chart/i;

/** How boxes are drawn, and which of them have chips. @type {BoxLook<BoxItem>} */
export const VIEWER_LOOK = {
  bands: 1,
  band: () => 0,
  className: (box) => (box.other ? " other" : box.faded ? " faded" : ""),
  hasChip: (box) => !box.faded && box.cause !== "" && (box.status === "FP" || box.status === "FN" || (box.status === "TP" && (box.mistake ?? null) !== null)),
  chip: chipText,
  chipOrder: (a, b) => (a.mistake ?? 1e9) - (b.mistake ?? 1e9) || (a.status === "FP" ? 0 : 1) - (b.status === "FP" ? 0 : 1),
  weight: (box) => (PICTURES.test(box.label) ? 0.2 : 1),
  onOwn: true,
  room: Infinity,
};

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

/** @param {Viewer} view @returns {PlacedBox | null} the box under the pointer, else the chosen one */
export function activeBox(view) {
  return view.state.content.box(view.hover ?? view.selected) ?? null;
}

/**
 * Shows the box under the pointer, or the chosen one, everywhere.
 * @param {Viewer} view @param {boolean} quiet leave the list where it is scrolled
 */
export function showMark(view, quiet) {
  const { state, pane } = view;
  const box = activeBox(view);
  const row = markRows(view, box);
  writeFacts(view, box);
  pane.root.classList.toggle("over-box", view.hover !== null);
  drawForeign(pane.foreign, state.layers.lost ? state.content.mistakeOf(box)?.foreign ?? [] : []);
  drawMark(view);
  writeVerdict(view);
  writeNext(view);
  // Scrolling lays out what was changed.
  if (row && !row.hidden && !quiet && !view.list.matches(":hover")) scrollToRow(view.list, row);
}

/** The rows of the marked and of the chosen mistake. @param {Viewer} view @param {PlacedBox | null} box @returns {HTMLElement | undefined} that of the marked one */
function markRows(view, box) {
  for (const row of view.list.querySelectorAll(".hovered, .chosen")) {
    row.classList.remove("hovered", "chosen");
    row.removeAttribute("aria-current");
  }
  const chosen = view.state.placeOf(view.selected);
  const chosenRow = view.rows.get(chosen?.number ?? -1);
  if (chosen && chosenRow) openTable(view, chosenRow, chosen);
  const row = view.rows.get(box?.place ?? -1);
  chosenRow?.classList.add("chosen");
  chosenRow?.setAttribute("aria-current", "true");
  row?.classList.add("hovered");
  openRow(view, chosenRow);
  const first = chosenRow && !chosenRow.hidden ? chosenRow : [...view.rows.values()].find((each) => !each.hidden);
  const open = first?.querySelector(".mistake-open");
  if (open instanceof HTMLElement && open.tabIndex !== 0) {
    view.list.querySelector(".mistake-open[tabindex='0']")?.setAttribute("tabindex", "-1");
    open.tabIndex = 0;
  }
  return row;
}

/** The verdict stands in the row of the chosen place, and is away without one. @param {Viewer} view @param {HTMLElement | undefined} row */
function openRow(view, row) {
  const { root } = view.verdict;
  const holder = row ?? view.list.parentElement;
  root.classList.toggle("away", !row);
  if (root.parentElement === holder) return;
  const top = /** @type {ShadowRoot | Document} */ (view.root.getRootNode()).activeElement;
  const held = top instanceof HTMLElement && root.contains(top) ? top : null;
  holder?.append(root);
  held?.focus({ preventScroll: true });
}

/** @param {Viewer} view */
export function drawMark(view) {
  const { pane, place, state } = view;
  pane.mark(activeBox(view), place, view.font, (box) => state.asDrawn(box, view.pageSize()));
}
