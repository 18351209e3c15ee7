import assert from "node:assert/strict";
import { test } from "node:test";

import { CropQueue } from "../gallery/queue.js";

/** @import { CropItem } from "../shared/payloads.d.ts" */

/** @type {CropItem} */
const CROP = { image: null, region: [0, 0, 1, 1], aspect: 1.7, problem: null };

test("cards near the screen are asked for once, two dozen at a time", () => {
  const queue = new CropQueue();
  for (let card = 0; card < 30; card += 1) queue.see(`c${card}`, true);
  queue.see("c0", false);
  assert.equal(queue.isReady(), true);
  assert.equal(queue.take().length, 24);
  assert.equal(queue.isReady(), false);
  queue.answer({ c1: CROP });
  assert.deepEqual(queue.take(), ["c25", "c26", "c27", "c28", "c29"]);
});

test("a crop that is there, or under way, is not asked for again", () => {
  const queue = new CropQueue();
  queue.see("c1", true);
  queue.see("c2", true);
  queue.take();
  queue.see("c1", true);
  queue.answer({ c1: CROP });
  queue.see("c1", true);
  assert.equal(queue.isReady(), false);
  // c2 did not come: it is asked for when its card comes back.
  queue.see("c2", true);
  assert.deepEqual(queue.take(), ["c2"]);
});

test("another set forgets the crops, the same one keeps them", () => {
  const queue = new CropQueue();
  queue.open("one");
  queue.answer({ c1: CROP });
  queue.open("one");
  assert.equal(queue.crops.size, 1);
  queue.open("other");
  assert.equal(queue.crops.size, 0);
});

test("nothing is asked for on the way to another view, and again of another set", () => {
  const queue = new CropQueue();
  queue.open("one");
  queue.see("c1", true);
  queue.left = true;
  queue.open("one");
  assert.equal(queue.isReady(), false);
  queue.open("other");
  queue.see("c1", true);
  assert.equal(queue.isReady(), true);
});
