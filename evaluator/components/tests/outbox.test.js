import assert from "node:assert/strict";
import { test } from "node:test";

import { Outbox } from "../shared/outbox.js";
import { Clock } from "./building.js";

function outbox() {
  const clock = new Clock();
  /** @type {string[]} ids of each message */
  const sent = [];
  const counts = { late: 0 };
  /** @type {Outbox<{id: string, label?: number}>} */
  const made = new Outbox((acts) => sent.push(acts.map(({ id, label = "" }) => id + label).join(" ")), () => (counts.late += 1));
  return { clock, sent, counts, outbox: made };
}

test("several in a row go at once, each message with those before it that are not answered", () => {
  const { clock, sent, outbox: made } = outbox();
  for (const id of ["a", "b", "c"]) made.send({ id });
  assert.deepEqual(sent, ["a", "a b", "a b c"]);
  made.heard("b");
  made.heard("of another view");
  made.send({ id: "d" });
  made.heard("d");
  clock.pass(200_000);
  assert.deepEqual(sent.slice(3), ["c d"]);
});

test("what is not answered goes again a few times, ever later, until it is", () => {
  const { clock, sent, outbox: made } = outbox();
  made.send({ id: "a" });
  made.send({ id: "b" });
  for (const [milliseconds, messages] of [[2999, 2], [1, 3], [5000, 4], [12_000, 5]]) {
    clock.pass(milliseconds);
    assert.equal(sent.length, messages);
  }
  made.heard("a");
  clock.pass(200_000);
  assert.deepEqual([sent.length, new Set(sent.slice(5)), made.holds("b")], [10, new Set(["b"]), true]);
});

test("it is late after eight seconds, and not any more with an answer or when it is said anew", () => {
  const { clock, sent, counts, outbox: made } = outbox();
  made.send({ id: "a", label: 2 });
  clock.pass(7999);
  assert.deepEqual([made.late, counts.late], [false, 0]);
  clock.pass(1);
  assert.deepEqual([made.late, counts.late], [true, 1]);
  made.send({ id: "a", label: 5 });
  assert.deepEqual([made.late, sent.at(-1)], [false, "a2"]);
  clock.pass(8000);
  assert.equal(made.late, true);
  made.heard("a");
  assert.deepEqual([made.late, made.acts], [false, []]);
});

test("a view that is left sends nothing more", () => {
  const { clock, sent, outbox: made } = outbox();
  made.send({ id: "a" });
  made.stop();
  clock.pass(200_000);
  assert.deepEqual(sent, ["a"]);
});
