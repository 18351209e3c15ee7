import assert from "node:assert/strict";
import { test } from "node:test";

import { Nearness } from "../sight/nearness.js";

/** @param {boolean} drawn what the server says at the start @returns {[Nearness, boolean[]]} and what it is told */
function watched(drawn = false) {
  /** @type {boolean[]} */
  const told = [];
  const nearness = new Nearness((near) => told.push(near));
  nearness.heard(drawn);
  return [nearness, told];
}

test("nothing is told before the server has said what it drew", () => {
  /** @type {boolean[]} */
  const told = [];
  const nearness = new Nearness((near) => told.push(near));
  nearness.inSight = true;
  nearness.moved(false);
  assert.deepEqual(told, []);
  nearness.heard(false);
  nearness.moved(false);
  assert.deepEqual(told, [true]);
});

test("a part is wanted once when it comes into sight, and not any more when it rests out of sight", () => {
  const [nearness, told] = watched();
  nearness.moved(false);
  nearness.rested();
  assert.deepEqual(told, []);
  nearness.inSight = true;
  nearness.moved(false);
  nearness.heard(true);
  nearness.moved(true);
  nearness.rested();
  assert.deepEqual(told, [true]);
  nearness.inSight = false;
  nearness.moved(true);
  assert.deepEqual(told, [true]);
  nearness.rested();
  nearness.rested();
  assert.deepEqual(told, [true, false]);
});

test("a part that is close is wanted while the reader scrolls", () => {
  const [nearness, told] = watched();
  nearness.close = true;
  nearness.moved(false);
  assert.deepEqual(told, []);
  nearness.moved(true);
  assert.deepEqual(told, [true]);
  nearness.rested();
  assert.deepEqual(told, [true, false]);
});

test("a part that is printed is wanted wherever it is", () => {
  const [nearness, told] = watched();
  nearness.pinned = true;
  nearness.moved(false);
  nearness.rested();
  assert.deepEqual(told, [true]);
  nearness.pinned = false;
  nearness.rested();
  assert.deepEqual(told, [true, false]);
});

test("a message that got lost is sent again, and a component that is built anew goes on", () => {
  const [nearness, told] = watched();
  nearness.repeat(false);
  assert.deepEqual(told, []);
  nearness.inSight = true;
  nearness.moved(false);
  nearness.repeat(false);
  assert.deepEqual(told, [true, true]);
  nearness.repeat(true);
  nearness.inSight = false;
  nearness.rested();
  nearness.repeat(true);
  assert.deepEqual(told, [true, true, false, false]);
  nearness.repeat(false);
  assert.deepEqual(told, [true, true, false, false]);
  const [again, more] = watched(true);
  again.inSight = true;
  again.moved(false);
  assert.deepEqual(more, []);
  again.inSight = false;
  again.rested();
  assert.deepEqual(more, [false]);
});
