import assert from "node:assert/strict";
import { test } from "node:test";

import { PageTurner, rowOf } from "../shared/turn.js";
import { Clock } from "./building.js";

/** @import { GoEvent } from "../shared/payloads.d.ts" */

/** @param {number} position 1-based place among ten pages, of which the strip holds the first six */
function at(position) {
  const strip = [0, 1, 2, 3, 4, 5].map((index) => ({ document: "a.pdf", index, current: index === position - 1 }));
  return { page: { document: "a.pdf", index: position - 1, position, total: 10 }, strip };
}

/** @param {number} position */
function turner(position) {
  const clock = new Clock();
  /** @type {GoEvent[]} */
  const sent = [];
  /** @type {(number | null)[]} */
  const asked = [];
  /** @type {boolean[]} */
  const slow = [];
  const turning = new PageTurner((go) => sent.push(go), (each) => asked.push(each), (each) => slow.push(each));
  turning.arrived(at(position), true);
  return { clock, turning, sent, asked, slow };
}

test("a turn asks for the page of the strip, beyond it for a step", () => {
  const { turning, sent } = turner(5);
  turning.turn(1);
  assert.deepEqual(sent, [{ document: "a.pdf", index: 5, step: 0 }]);
  turning.arrived(at(6), true);
  turning.turn(1);
  assert.deepEqual(sent[1], { document: "a.pdf", index: 5, step: 1 });
});

test("presses meanwhile move the aim, and only the last aim is asked for", () => {
  const { turning, sent, asked } = turner(1);
  for (let press = 0; press < 4; press += 1) turning.turn(1);
  assert.equal(sent.length, 1);
  assert.deepEqual(asked, [2, 3, 4, 5]);
  turning.arrived(at(2), true);
  assert.deepEqual(sent[1], { document: "a.pdf", index: 4, step: 0 });
});

test("nothing is asked for beyond the ends of the list", () => {
  const { turning, sent } = turner(1);
  turning.turn(-1);
  turning.turnTo(1);
  assert.deepEqual(sent, []);
});

test("data of the page that is left do not end the turn", () => {
  const { turning, sent } = turner(1);
  turning.turn(1);
  turning.arrived(at(1), false);
  turning.turn(1);
  assert.equal(sent.length, 1);
  turning.arrived(at(2), true);
  assert.deepEqual(sent[1], { document: "a.pdf", index: 2, step: 0 });
});

test("a late page is shown as late, a lost one is given up", () => {
  const { clock, turning, sent, asked, slow } = turner(1);
  turning.turn(1);
  clock.pass(199);
  assert.deepEqual(slow, []);
  clock.pass(1);
  assert.deepEqual(slow, [true]);
  clock.pass(15000);
  assert.deepEqual([slow[1], asked[asked.length - 1]], [false, null]);
  turning.turn(1);
  assert.equal(sent.length, 2);
});

/** A turner that has some pages, and for some only waits for their picture. @param {number} position @param {number[]} here @param {Map<number, Promise<void>>} [coming] */
function holder(position, here, coming = new Map()) {
  const clock = new Clock();
  /** @type {GoEvent[]} */
  const sent = [];
  /** @type {number[]} */
  const drawn = [];
  /** @type {(number | null)[]} */
  const asked = [];
  const turning = new PageTurner((go) => sent.push(go), (each) => asked.push(each), () => undefined, (at_) => {
    if (!here.includes(at_)) return coming.get(at_) ?? false;
    drawn.push(at_);
    turning.arrived(at(at_), true);
    return true;
  });
  turning.arrived(at(position), true);
  return { clock, turning, sent, drawn, asked };
}

test("a page that is here is drawn at once, also while another one is under way", () => {
  const { turning, sent, drawn, asked } = holder(1, [2, 4]);
  turning.turn(1);
  assert.deepEqual([drawn, sent], [[2], []]);
  turning.turn(1);
  assert.deepEqual(sent, [{ document: "a.pdf", index: 2, step: 0 }]);
  turning.turn(1);
  assert.deepEqual([drawn, sent.length, asked.at(-1)], [[2, 4], 1, null], "page 4 did not wait for page 3");
  turning.turn(1);
  assert.equal(sent.length, 2);
});

test("a page whose picture alone is missing is not asked for, and drawn when it has come", async () => {
  const here = [2];
  const { turning, sent, drawn, asked } = holder(1, here, new Map([[3, Promise.resolve()]]));
  turning.turn(1);
  turning.turn(1);
  assert.deepEqual([sent, asked.at(-1)], [[], 3]);
  here.push(3);
  await new Promise((done) => setTimeout(done));
  assert.deepEqual([drawn, sent, asked.at(-1)], [[2, 3], [], null]);
});

test("a picture that does not come is left to the answer", async () => {
  const { turning, sent } = holder(2, [], new Map([[3, Promise.resolve()]]));
  turning.turn(1);
  await new Promise((done) => setTimeout(done));
  assert.deepEqual(sent, [{ document: "a.pdf", index: 2, step: 0 }]);
});

test("one walk to the next mistake is under way at a time", () => {
  const { turning, sent } = turner(3);
  const go = { document: "a.pdf", index: 2, step: 0, mistake: 1 };
  turning.walk(go, () => false);
  turning.walk(go, () => false);
  turning.turn(1);
  assert.deepEqual(sent, [go]);
});

test("a walk draws a page that is here, waits for one that is fetched, and asks for one that does not come", async () => {
  for (const come of [true, false]) {
    const { turning, sent } = turner(3);
    const go = { document: "a.pdf", index: 2, step: 0, mistake: 1 };
    turning.walk(go, () => true);
    assert.deepEqual([turning.turning, sent], [null, []]);
    turning.walk(go, (waits) => (waits ? Promise.resolve() : come));
    await new Promise((done) => setTimeout(done));
    assert.deepEqual(sent, come ? [] : [go]);
  }
});

test("a page of the strip is opened at its place, any other by its name", () => {
  const { turning, sent } = turner(2);
  turning.open({ document: "a.pdf", index: 4 });
  assert.deepEqual(sent, [{ document: "a.pdf", index: 4, step: 0 }]);
  turning.arrived(at(5), true);
  turning.open({ document: "b.pdf", index: 0 });
  assert.deepEqual(sent[1], { document: "b.pdf", index: 0, step: 0 });
});

test("the row of a page that was asked for", () => {
  assert.equal(rowOf(at(2), 4), 3);
  assert.equal(rowOf(at(2), null), -1);
  assert.equal(rowOf(null, 4), -1);
});
