import assert from "node:assert/strict";
import { test } from "node:test";

import { overlapOf } from "../shared/geometry.js";
import { areaPath, linePath, placeTags, tagsOf } from "../tint/tags.js";

/** @import { Rect } from "../shared/payloads.d.ts" */

test("rectangles and lines as paths", () => {
  assert.equal(areaPath([[0, 0, 2, 3], [4, 4, 5, 5]]), "M0 0H2V3H0ZM4 4H5V5H4Z");
  assert.equal(linePath([[0, 0, 2, 0]]), "M0 0L2 0");
});

test("chips do not cover each other, and leave the tinted pixels free where they can", () => {
  /** @type {Rect} */
  const box = [100, 100, 200, 200];
  const [first, second] = placeTags([{ xyxy: box, width: 60 }, { xyxy: box, width: 60 }], [0, 0, 400, 400], [[0, 0, 400, 99]]);
  assert.ok(first && second);
  assert.ok(overlapOf(first, second) <= 1);
  assert.equal(overlapOf(first, [0, 0, 400, 99]), 0);
  assert.deepEqual(placeTags([{ xyxy: box, width: 60 }], [0, 0, 50, 50], []), [null]);
});

test("many boxes of a kind have one chip, on the first from the top", () => {
  const boxes = [5, 3, 1, 4].map((y) => ({ xyxy: /** @type {Rect} */ ([0, y, 1, y + 1]), side: "prediction", text: "Predicted Text" }));
  assert.deepEqual(tagsOf(boxes), [{ ...boxes[2], text: "Predicted Text, 4 boxes" }]);
  assert.equal(tagsOf(boxes.slice(1)).length, 3);
});
