import assert from "node:assert/strict";
import { test } from "node:test";

import { chipText } from "../shared/facts.js";
import { BoxStack, ViewerState } from "../viewer/state.js";
import { box, mistake } from "./building.js";

/** @import { BoxItem } from "../shared/payloads.d.ts" */

/** @returns {ViewerState} a match, a cut off table in two boxes, a missed caption */
function state() {
  const made = new ViewerState();
  const cut = /** @type {const} */ ({ side: "bottom", share: 0.5, points: 100 });
  made.take([
    box("p1", { status: "TP", partner: "g1" }), box("g1", { status: "truth", partner: "p1" }),
    box("p2", { label: "Table", mistake: 1 }), box("g2", { label: "Table", mistake: 1, xyxy: [0.1, 0.1, 0.3, 0.4] }),
    box("g3", { label: "Caption", mistake: 2 }),
  ], [mistake(1, ["p2", "g2"], { cut }), mistake(2, ["g3"]), mistake(3, [])], []);
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

test("the way through the places goes round, or on to other pages", () => {
  const made = state();
  const [first, second, third] = made.places;
  assert.equal(made.nextPlace(null, 1, false), first);
  assert.equal(made.nextPlace(null, -1, false), third);
  assert.equal(made.nextPlace("p2", 1, true), second);
  assert.equal(made.nextPlace("p2", -1, true), "beyond");
  assert.equal(made.nextPlace("p2", -1, false), third);
  made.take([], [], []);
  assert.equal(made.nextPlace(null, 1, false), null);
  assert.equal(made.nextPlace(null, 1, true), "beyond");
});

test("mistakes of one cause are one place, with one number on its boxes", () => {
  const made = state();
  const cause = { title: "Table read as 2 boxes", numbers: [1, 3], boxes: 2, alike: 0, family: /** @type {[string, string, string, string, string]} */ (["parts", "", "Table", "", ""]) };
  made.take([...made.content.boxes.values()], [...made.content.mistakes.values()], [cause]);
  assert.deepEqual(made.places.map(({ number, mistakes }) => [number, mistakes.map((each) => each.number)]), [[1, [1, 3]], [2, [2]]]);
  assert.equal(made.placeOf("g2"), made.places[0]);
  assert.equal(chipText(/** @type {BoxItem} */ (made.content.box("g3")), true), "2 FN");
  assert.equal(made.placeOf("p1"), undefined);
  made.layers.FP = made.layers.FN = false;
  assert.deepEqual(made.listedPlaces(), [made.places[0]], "a mistake without boxes stays");
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
