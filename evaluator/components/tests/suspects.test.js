import assert from "node:assert/strict";
import { test } from "node:test";

import { SuspectQueue, largestMove, withCorner } from "../suspects/queue.js";

/** @import { SuspectItem } from "../shared/payloads.d.ts" */

/** @param {string} target @param {number} rank @returns {SuspectItem} */
function suspect(target, rank) {
  return {
    target, rank, document: "a.pdf", index: 0, place: "a.pdf, page 1", kind: "Border", label: "Text", score: 0.9, reason: "", now: [0.1, 0.1, 0.2, 0.2],
    proposed: [0.1, 0.1, 0.3, 0.2], new_label: 0, scale: [100, 100], models: [], fit: [],
  };
}

/** @param {boolean} [onlyOpen] */
function filled(onlyOpen = true) {
  const queue = new SuspectQueue();
  queue.fill("set", ["a", "b", "c"].map(suspect), onlyOpen);
  return queue;
}

test("an answer chooses the next one, the last one the one before it", () => {
  const queue = filled();
  const judged = new Set();
  const listed = () => queue.listed(({ target }) => judged.has(target));
  for (const [target, next] of [["a", "b"], ["c", "b"], ["b", undefined]]) {
    const item = queue.items.find((each) => each.target === target);
    assert.ok(item);
    queue.answer(listed(), item);
    judged.add(target);
    assert.equal(queue.current(listed())?.target, next);
  }
  assert.deepEqual(listed(), []);
});

test("what was answered last is chosen again", () => {
  const queue = filled(false);
  const [a, b] = queue.items;
  queue.answer(queue.items, a);
  queue.answer(queue.items, b);
  queue.answer(queue.items, a);
  assert.equal(queue.takeBack()?.target, "a");
  assert.equal(queue.chosen, "a");
  assert.equal(queue.takeBack()?.target, "b");
  assert.equal(queue.takeBack(), null);
});

test("a list that is built anew takes back what was answered before, of its own suspects", () => {
  /** @type {string[]} */
  const answered = ["elsewhere"];
  const items = ["a", "b"].map(suspect);
  const [before, anew] = [new SuspectQueue(answered), new SuspectQueue(answered)];
  for (const queue of [before, anew]) queue.fill("set", items, false);
  before.answer(items, items[1]);
  answered.push("of another list");
  assert.equal(anew.takeBack()?.target, "b");
  assert.deepEqual([anew.takeBack(), answered], [null, ["elsewhere", "of another list"]]);
});

test("steps stop at the ends, and those with a verdict stay where all are wanted", () => {
  const queue = filled(false);
  const listed = queue.listed(() => true);
  assert.equal(listed.length, 3);
  queue.chosen = "a";
  assert.equal(queue.beside(listed, -1)?.target, "a");
  assert.equal(queue.beside(listed, 5)?.target, "c");
  queue.chosen = "gone";
  assert.equal(queue.beside(listed, 1)?.target, "b");
});

test("the side that moves most is measured in points", () => {
  const page = { width: 600, height: 800 };
  assert.deepEqual(largestMove([0.1, 0.1, 0.5, 0.2], [0.1, 0.1, 0.5, 0.3], page), { side: 3, points: (0.3 - 0.2) * 800 });
  assert.equal(largestMove([0.1, 0.1, 0.5, 0.2], [0.3, 0.1, 0.5, 0.3], page).side, 0);
});

test("a dragged corner keeps an area and stays on the page", () => {
  assert.deepEqual(withCorner([0.1, 0.1, 0.5, 0.5], 3, 0.7, 1.4), [0.1, 0.1, 0.7, 1]);
  assert.deepEqual(withCorner([0.1, 0.1, 0.5, 0.5], 0, 0.9, 0.2), [0.498, 0.2, 0.5, 0.5]);
  assert.deepEqual(withCorner([0.25, 0.1, 0.5, 0.5], 1, -1, 0.2), [0.25, 0.2, 0.25 + 0.002, 0.5]);
});
