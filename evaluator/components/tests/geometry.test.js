import assert from "node:assert/strict";
import { test } from "node:test";

import { areaOf, boxesAt, chipRect, clampOffset, cropRegion, fitScale, isLargerStacked, linkEnds, overlapOf, placeBeside, placeChips, unionOf } from "../shared/geometry.js";

/** @import { Rect } from "../shared/payloads.d.ts" */

test("areas and overlaps are never negative", () => {
  assert.equal(areaOf([2, 2, 1, 5]), 0);
  assert.equal(overlapOf([0, 0, 4, 4], [2, 3, 9, 9]), 2);
  assert.equal(overlapOf([0, 0, 1, 1], [1, 0, 2, 1]), 0);
  assert.deepEqual(unionOf([[0, 2, 3, 4], [1, 1, 2, 9]]), [0, 1, 3, 9]);
});

test("the whole page fits, and a sheet never leaves its pane", () => {
  assert.equal(fitScale({ width: 100, height: 200 }, { width: 300, height: 212 }, 6), 1);
  assert.equal(clampOffset(-50, 80, 100, 6), 10);
  assert.equal(clampOffset(40, 300, 100, 6), 6);
  assert.equal(clampOffset(-999, 300, 100, 6), -206);
});

test("two pages stand as they are larger", () => {
  const pane = { width: 860, height: 560 };
  assert.deepEqual([0.7, 1.3, 1.8].map((aspect) => isLargerStacked(pane, aspect)), [false, false, true]);
  assert.ok(isLargerStacked({ width: 560, height: 860 }, 1.3));
});

test("of the boxes under a point the smallest comes first", () => {
  /** @type {{name: string, xyxy: Rect}[]} */
  const boxes = [{ name: "table", xyxy: [0, 0, 9, 9] }, { name: "cell", xyxy: [1, 1, 3, 3] }, { name: "far", xyxy: [5, 5, 8, 8] }];
  assert.deepEqual(boxesAt(boxes, 2, 2, 0, 0).map(({ name }) => name), ["cell", "table"]);
  assert.deepEqual(boxesAt(boxes, 4.5, 4.5, 0.6, 0.6).map(({ name }) => name), ["far", "table"]);
});

test("a crop has the shape of its frame and holds its boxes", () => {
  const [x1, y1, x2, y2] = cropRegion([[0.4, 0.4, 0.5, 0.45]], { width: 600, height: 800 }, { width: 150, height: 100 });
  assert.ok(x1 <= 0.4 && y1 <= 0.4 && x2 >= 0.5 && y2 >= 0.45);
  assert.ok(Math.abs(((x2 - x1) * 600) / ((y2 - y1) * 800) - 1.5) < 1e-9);
});

test("the ends of a link are apart even when the boxes coincide", () => {
  const { truth, prediction } = linkEnds([0, 0, 50, 10], [0, 0, 50, 10], 30);
  assert.equal(Math.hypot(truth[0] - prediction[0], truth[1] - prediction[1]), 30);
});

test("chips do not cover each other, and a sheet that is too full has none", () => {
  const chips = [0, 1, 2].map((order) => ({ key: `p${order}`, box: /** @type {Rect} */ ([100, 100, 200, 150]), width: 60, compactWidth: 30 }));
  const placed = placeChips(chips, chips.map(({ key, box }) => ({ key, rect: box, weight: 1 })), [0, 0, 800, 800], 17);
  const rects = placed.map(({ rect }) => rect).filter((rect) => rect !== null);
  assert.equal(rects.length, 3);
  rects.forEach((one, order) => rects.slice(order + 1).forEach((other) => assert.ok(overlapOf(one, other) <= 1)));
  assert.ok(placeChips(chips, [], [0, 0, 60, 60], 17).every(({ rect }) => rect === null));
  assert.deepEqual(chipRect([10, 50, 40, 60], "above-right", 20, 17), [20, 31, 40, 48]);
});

test("a chip may lie on its own box rather than on another", () => {
  const chip = { key: "p1", box: /** @type {Rect} */ ([0, 0, 200, 100]), width: 60, compactWidth: 30 };
  const below = { key: "p2", rect: /** @type {Rect} */ ([0, 101, 200, 200]), weight: 1 };
  const own = { key: "p1", rect: chip.box, weight: 9 };
  assert.deepEqual(placeChips([chip], [own, below], [0, 0, 200, 200], 17).map(({ place, compact }) => [place, compact]), [["inside-right", true]]);
});

test("a chip between rows of small boxes lies beside its own", () => {
  const chip = { key: "p1", box: /** @type {Rect} */ ([100, 50, 140, 60]), width: 40, compactWidth: 30 };
  const rows = [35, 65].map((top, at) => ({ key: `r${at}`, rect: /** @type {Rect} */ ([90, top, 200, top + 10]), weight: 1 }));
  const own = { key: "p1", rect: chip.box, weight: 1 };
  assert.deepEqual(placeChips([chip], [own, ...rows], [0, 0, 300, 200], 12), [{ key: "p1", place: "beside-left", compact: false, rect: [58, 49, 98, 61] }]);
});

test("a chip that would hide a small box is written short", () => {
  const chip = { key: "p1", box: /** @type {Rect} */ ([100, 50, 110, 62]), width: 160, compactWidth: 24 };
  // A table with narrow columns: above and below are values, and the long chip reaches over them.
  // Of each value it would cover all but a line, or more than a third.
  for (const tops of [[30, 70], [24, 76]]) {
    const values = tops.flatMap((top) => [0, 60, 100, 140].map((left) => ({ key: `r${top}-${left}`, rect: /** @type {Rect} */ ([left, top, left + 10, top + 12]), weight: 1 })));
    const row = [20, 180].map((left) => ({ key: `c${left}`, rect: /** @type {Rect} */ ([left, 50, left + 10, 62]), weight: 1 }));
    const place = (/** @type {number} */ weight) => placeChips([chip], [...values, ...row].map((each) => ({ ...each, weight })), [0, 0, 300, 200], 17).map(({ place: at, compact }) => [at, compact]);
    assert.deepEqual(place(1), [["beside-left", true]]);
    assert.equal(place(0.2)[0][1], false);
  }
});

test("a chip that would hide its own value is written short", () => {
  const chip = { key: "p1", box: /** @type {Rect} */ ([300, 50, 340, 62]), width: 160, compactWidth: 30 };
  const values = [30, 70].map((top) => ({ key: `r${top}`, rect: /** @type {Rect} */ ([300, top, 340, top + 12]), weight: 1 }));
  const beside = { key: "r", rect: /** @type {Rect} */ ([200, 50, 260, 62]), weight: 1 };
  assert.deepEqual(placeChips([chip], [...values, beside], [0, 0, 350, 200], 17).map(({ place, compact }) => [place, compact]), [["beside-left", true]]);
});

test("the chip of a box that shows is not beyond the part of the sheet that shows", () => {
  const [seen, hidden] = [[20, 50, 60, 60], [320, 50, 360, 60]].map((box, at) => ({ key: `p${at}`, box: /** @type {Rect} */ (box), width: 50, compactWidth: 50 }));
  const places = (/** @type {Rect | undefined} */ part) => placeChips([seen, hidden], [], [0, 0, 400, 200], 12, part).map(({ place }) => place);
  assert.deepEqual(places(undefined), ["above-right", "above-right"]);
  assert.deepEqual(places([15, 0, 300, 200]), ["above-left", "above-right"]);
});

test("the tooltip stays in the pane and off the pointer", () => {
  const [left, top] = placeBeside([10, 10, 60, 40], { width: 100, height: 50 }, { width: 400, height: 300 }, [150, 25], [], [0, 0, 400, 300]);
  assert.ok(left >= 8 && top >= 8 && left + 100 <= 392 && top + 50 <= 292);
  assert.ok(!(left - 12 < 150 && left + 112 > 150 && top - 12 < 25 && top + 62 > 25));
});
