import assert from "node:assert/strict";
import { test } from "node:test";

import { PageContent } from "../shared/content.js";
import { BoxStack, ViewerState } from "../viewer/state.js";
import { box, mistake } from "./building.js";

/** @returns {ViewerState} a match, a cut off table in two boxes, a missed caption */
function state() {
  const made = new ViewerState();
  const cut = /** @type {const} */ ({ side: "bottom", share: 0.5, points: 100 });
  made.content = new PageContent([
    box("p1", { status: "TP", partner: "g1" }), box("g1", { status: "truth", partner: "p1" }),
    box("p2", { label: "Table", mistake: 1 }), box("g2", { label: "Table", mistake: 1, xyxy: [0.1, 0.1, 0.3, 0.4] }),
    box("g3", { label: "Caption", mistake: 2 }),
  ], [mistake(1, ["p2", "g2"], { cut }), mistake(2, ["g3"]), mistake(3, [])]);
  return made;
}

/** @param {ViewerState} made */
const visible = (made) => made.visibleBoxes().map(({ key }) => key).join(" ");
/** @param {ViewerState} made */
const listed = (made) => made.listedMistakes().map(({ number }) => number).join(" ");

test("matched ground truth is hidden until it is asked for", () => {
  const made = state();
  assert.equal(visible(made), "p1 p2 g2 g3");
  made.layers.truth = true;
  made.layers.FN = false;
  assert.equal(visible(made), "p1 g1 p2 g2 g3");
});

test("without predictions their toggles do nothing", () => {
  const made = state();
  made.layers.predictions = false;
  assert.equal(visible(made), "g2 g3");
  assert.deepEqual(made.hiddenStatuses(), { TP: true, FP: true, FN: false, truth: true });
});

test("a mistake is listed while one of its boxes shows, and always when it has none", () => {
  const made = state();
  assert.equal(listed(made), "1 2 3");
  made.layers.FN = false;
  assert.equal(listed(made), "1 3");
  made.showLabels(["Table"], false);
  assert.equal(listed(made), "3");
  made.showAll();
  assert.equal(listed(made), "1 2 3");
});

test("a cut is drawn while both of its boxes show", () => {
  const made = state();
  assert.deepEqual(made.cuts().map(({ truth }) => truth), [[0.1, 0.1, 0.3, 0.4]]);
  made.layers.FP = false;
  assert.deepEqual(made.cuts(), []);
});

test("loose boxes are a little larger, by points", () => {
  const made = state();
  const one = box("p1", { xyxy: [0.5, 0.5, 0.6, 0.6] });
  assert.equal(made.asDrawn(one, { width: 300, height: 150 }), one);
  made.loose = true;
  assert.deepEqual(made.asDrawn(one, { width: 300, height: 150 }).xyxy.map((side) => Math.round(side * 100) / 100), [0.49, 0.49, 0.61, 0.61]);
});

test("the way through the mistakes goes round, or on to other pages", () => {
  const made = state();
  assert.equal(made.nextMistake(null, 1, false), made.content.mistakes.get(1));
  assert.equal(made.nextMistake(null, -1, false), made.content.mistakes.get(3));
  assert.equal(made.nextMistake("p2", 1, true), made.content.mistakes.get(2));
  assert.equal(made.nextMistake("p2", -1, true), "beyond");
  assert.equal(made.nextMistake("p2", -1, false), made.content.mistakes.get(3));
  made.content = new PageContent();
  assert.equal(made.nextMistake(null, 1, false), null);
  assert.equal(made.nextMistake(null, 1, true), "beyond");
});

test("the mistake of the chosen box has its place among those listed", () => {
  const made = state();
  assert.equal(made.placeInList("g3"), 1);
  assert.equal(made.placeInList("p1"), -1);
  made.showLabels(["Table"], false);
  assert.equal(made.placeInList("g3"), 0);
});

test("boxes that lie on each other are looked at one by one", () => {
  const stack = new BoxStack();
  const boxes = [box("p1"), box("p2"), box("g3")];
  assert.equal(stack.under(boxes), "p1");
  assert.equal(stack.step(boxes, "p1", 1).key, "p2");
  assert.equal(stack.under(boxes), "p2");
  assert.equal(stack.step(boxes, "p1", -1).key, "g3");
  assert.equal(stack.step(boxes, null, 1).key, "p1");
  // Another pile begins with its smallest box again.
  assert.equal(stack.under(boxes.slice(1)), "p2");
  stack.clear();
  assert.equal(stack.under([]), null);
});
