import assert from "node:assert/strict";
import { test } from "node:test";

import { bringIntoView, fitSheet, inPane, openAtBoxes, panBy, seenOf, sheetInPane, stackAt, startPlacement, zoomBy } from "../shared/placement.js";
import { box } from "./building.js";

const PAGE = { width: 100, height: 200 };

/** @param {number} [zoom] */
function placed(zoom = 1) {
  const place = { ...startPlacement(), zoom, pane: { width: 512, height: 412 } };
  fitSheet(place, PAGE);
  return place;
}

test("a whole page is centred", () => {
  const place = placed();
  assert.deepEqual(place.sheet, { width: 200, height: 400 });
  assert.deepEqual(sheetInPane(place), [156, 6, 356, 406]);
});

test("of an enlarged sheet a part shows, of a whole one all", () => {
  assert.deepEqual(seenOf(placed()), [0, 0, 200, 400]);
  const place = placed(3);
  panBy(place, -9999, -9999, PAGE);
  assert.deepEqual(seenOf(place), [600 - 512 + 6, 1200 - 412 + 6, 600, 1200]);
});

test("a zoom keeps its point where it is", () => {
  const place = placed(2);
  const before = inPane(place, [0.25, 0.5, 0.25, 0.5]);
  zoomBy(place, 1.5, PAGE, [before[0], before[1]]);
  const after = inPane(place, [0.25, 0.5, 0.25, 0.5]);
  assert.ok(Math.abs(after[1] - before[1]) < 1);
  assert.equal(place.zoom, 3);
});

test("a zoom ends at the whole page and at sixteen times it", () => {
  const place = placed();
  zoomBy(place, 1 / 1.4, PAGE, null);
  assert.equal(place.zoom, 1);
  for (let step = 0; step < 20; step += 1) zoomBy(place, 1.4, PAGE, null);
  assert.equal(place.zoom, 16);
  zoomBy(place, 0, PAGE, null);
  assert.equal(place.zoom, 1);
});

test("an enlarged sheet is moved no farther than its edge", () => {
  const place = placed(3);
  panBy(place, 9999, -9999, PAGE);
  assert.deepEqual([place.x, place.y], [6, 412 - 1200 - 6]);
});

test("a box is brought into view, one that shows is left where it is", () => {
  const place = placed(4);
  bringIntoView(place, [0.5, 0.9, 0.6, 0.95], PAGE);
  const [, top, , bottom] = inPane(place, [0.5, 0.9, 0.6, 0.95]);
  assert.ok(top >= 24 && bottom <= 412 - 24);
  const { x, y } = place;
  bringIntoView(place, [0.5, 0.91, 0.6, 0.94], PAGE);
  assert.deepEqual([place.x, place.y], [x, y]);
});

test("a box that is larger than the pane begins near its edge", () => {
  const place = placed(8);
  bringIntoView(place, [0, 0.2, 1, 0.9], PAGE, 28);
  assert.equal(Math.round(inPane(place, [0, 0.2, 1, 0.9])[1]), 28);
});

test("the boxes under a point of the pane", () => {
  const place = placed();
  const boxes = [box("p1", { xyxy: [0, 0, 0.5, 0.5] }), box("p2", { xyxy: [0.1, 0.1, 0.2, 0.2] })];
  assert.deepEqual(stackAt(place, boxes, [156 + 30, 6 + 60]).map(({ key }) => key), ["p2", "p1"]);
  assert.deepEqual(stackAt(place, boxes, [156 + 102, 6 + 60]).map(({ key }) => key), ["p1"]);
});

test("a page opens at the width of its boxes, from its top when all of them show then", () => {
  const place = placed();
  openAtBoxes(place, [[0.1, 0.05, 0.2, 0.1], [0.5, 0.1, 0.9, 0.2]], PAGE);
  assert.equal(place.zoom, 2.5, "the boxes would have the width at 2.6");
  assert.deepEqual(inPane(place, [0.1, 0, 0.9, 0]).map(Math.round), [56, 6, 456, 6]);
});

test("a page with boxes from top to bottom opens at the first of them", () => {
  const place = placed();
  openAtBoxes(place, [[0.2, 0.3, 0.8, 0.95]], PAGE);
  assert.equal(place.zoom, 2.5);
  assert.equal(Math.round(inPane(place, [0.2, 0.3, 0.8, 0.95])[1]), 24);
});

test("a page without boxes opens whole", () => {
  const place = placed();
  openAtBoxes(place, [], PAGE);
  assert.deepEqual(sheetInPane(place), [156, 6, 356, 406]);
});
