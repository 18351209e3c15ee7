/**
 * How the reader goes through boxes: pointer, click, next mistake, stacked boxes, lists.
 */

import { unionOf } from "../shared/geometry.js";
import { boxName } from "../shared/layers.js";
import { bringIntoView, inPane, stackAt } from "../shared/pane.js";
import { boxesOf, isVisible, listedMistakes, visibleBoxes } from "./visible.js";
import { setHover, showMark } from "./marks.js";
import { judgedMistake } from "./verdict.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("../shared/layers.js").Mistake} Mistake */

/** @param {Viewer} view @param {[number, number] | null} at pixels of the pane @param {string | null} chip the box whose chip is there */
export function movePointer(view, at, chip) {
  view.pointer = at;
  if (!at) {
    view.stackKeys = "";
    setHover(view, null);
    return;
  }
  if (chip) {
    setHover(view, chip);
    return;
  }
  const stack = stackAt(view.place, visibleBoxes(view), at);
  const keys = stack.map((box) => box.key).join(" ");
  if (keys !== view.stackKeys) {
    view.stackKeys = keys;
    view.stackOrder = 0;
  }
  setHover(view, stack[view.stackOrder]?.key ?? null);
}

/** @param {Viewer} view @param {string | null} key */
export function selectBox(view, key) {
  if (key === view.selected) return;
  view.selected = key;
  showMark(view, false);
  const box = key ? view.boxes.get(key) : undefined;
  const mistake = view.mistakes.get(box?.mistake ?? -1);
  view.spoken.textContent = mistake ? [`Mistake ${mistake.number}`, mistake.title, mistake.label, ...mistake.lines].join(", ") : box ? boxName(box) : "";
  view.wishes.selected.soon(() => {
    const page = view.data?.page;
    if (!page || view.told.knows(view.selected)) return;
    view.told.tell(view.selected);
    view.send("selected", { document: page.document, index: page.index, key: view.selected });
  });
}

/** @param {Viewer} view @param {Mistake} mistake */
export function chooseMistake(view, mistake) {
  const own = boxesOf(view, mistake);
  if (own.length === 0) return;
  selectBox(view, (own.find((box) => isVisible(view, box)) ?? own[0]).key);
  if (view.place.zoom === 1) return;
  bringIntoView(view.place, unionOf(own.map((box) => box.xyxy)), view.pageSize(), view.pane.sheet);
  view.afterMove();
}

/** @param {Viewer} view @param {number} step */
export function stepMistake(view, step) {
  const listed = listedMistakes(view);
  if (listed.length === 0 && !view.shown().walk) return;
  const number = view.selected ? view.boxes.get(view.selected)?.mistake : null;
  const at = listed.findIndex((mistake) => mistake.number === number);
  const walk = view.shown().walk ?? null;
  if (walk && (listed.length === 0 || (at >= 0 && at === (step > 0 ? listed.length - 1 : 0)))) {
    walkOn(view, step, walk);
    return;
  }
  const next = at < 0 ? (step > 0 ? 0 : listed.length - 1) : (at + step + listed.length) % listed.length;
  view.hover = null;
  chooseMistake(view, listed[next]);
  showMark(view, false);
}

/** From the last mistake of a page to the first one of the next page that has any. @param {Viewer} view @param {number} step @param {{before: boolean, after: boolean}} walk */
function walkOn(view, step, walk) {
  const page = view.data?.page;
  const more = step > 0 ? walk.after : walk.before;
  if (!page || !more) {
    view.spoken.textContent = step > 0 ? "This was the last mistake of the list" : "This was the first mistake of the list";
    return;
  }
  view.turner.walk({ document: page.document, index: page.index, step: 0, mistake: step > 0 ? 1 : -1 });
}

/** Brings the keys to the verdict row; without a chosen mistake, on the next one. @param {Viewer} view @returns {boolean} */
export function focusVerdict(view) {
  if (view.verdict.root.hidden) return false;
  if (!judgedMistake(view)) stepMistake(view, 1);
  const { buttons } = view.verdict;
  const nodes = [...buttons.values()].filter((node) => !node.disabled);
  (nodes.find((node) => node.getAttribute("aria-pressed") === "true") ?? nodes[0])?.focus();
  return true;
}

/** @param {Viewer} view @param {number} step through boxes that lie on each other */
export function stepStack(view, step) {
  const chosen = view.selected ? view.boxes.get(view.selected) : undefined;
  const r = chosen ? inPane(view.place, chosen.xyxy) : null;
  const at = view.pointer ?? (r ? /** @type {[number, number]} */ ([(r[0] + r[2]) / 2, (r[1] + r[3]) / 2]) : null);
  const stack = at ? stackAt(view.place, visibleBoxes(view), at) : [];
  if (stack.length === 0) return;
  const current = stack.findIndex((box) => box.key === (view.hover ?? view.selected));
  const next = ((current < 0 ? -step : current) + step + stack.length) % stack.length;
  view.stackKeys = stack.map((box) => box.key).join(" ");
  view.stackOrder = next;
  if (view.pointer) setHover(view, stack[next].key);
  else selectBox(view, stack[next].key);
  view.spoken.textContent = boxName(stack[next]);
}

/** @param {Viewer} view */
export function flipModel(view) {
  const { models, model } = view.shown();
  const here = models.findIndex((each) => each.letter === model.letter);
  if (models.length > 1) view.send("model", models[(here + 1) % models.length].letter);
}

/** @param {Viewer} view @param {number} step @param {HTMLElement | null} target @returns {boolean} */
export function upOrDown(view, step, target) {
  const column = !view.pointer && target ? [view.strip, view.list].find((each) => each.contains(target)) : undefined;
  if (!column) {
    stepStack(view, step);
    return view.pointer !== null || view.selected !== null;
  }
  const nodes = [...column.querySelectorAll("button")].filter((node) => !node.hidden);
  const next = nodes[nodes.indexOf(/** @type {HTMLButtonElement} */ (target)) + step];
  if (!next) return true;
  next.focus({ preventScroll: true });
  if (column === view.list) {
    const mistake = view.mistakes.get(Number(next.getAttribute("data-number")));
    if (mistake) chooseMistake(view, mistake);
  } else {
    column.scrollTop = next.offsetTop - (column.clientHeight - next.offsetHeight) / 2;
  }
  return true;
}

/** @param {Viewer} view @returns {boolean} */
export function letGo(view) {
  if (!view.tools.menu.hidden) {
    view.openMenu(false);
    view.tools.labels.focus();
    return true;
  }
  if (view.selected === null && view.hover === null) return false;
  view.hover = null;
  selectBox(view, null);
  showMark(view, true);
  return true;
}
