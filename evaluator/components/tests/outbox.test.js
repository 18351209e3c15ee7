import assert from "node:assert/strict";
import { test } from "node:test";

import { Outbox } from "../suspects/outbox.js";
import { Clock } from "./building.js";

/** @import { SuspectVerdictEvent } from "../shared/payloads.d.ts" */

/** @param {string} id @param {Partial<SuspectVerdictEvent>} [more] @returns {SuspectVerdictEvent} */
function said(id, more = {}) {
  return { id, document: "a.pdf", index: 0, number: 1, keys: [], target: `t-${id}`, verdict: "model_wrong", note: "", ...more };
}

function outbox() {
  const clock = new Clock();
  /** @type {SuspectVerdictEvent[]} */
  const sent = [];
  const counts = { emptied: 0 };
  const made = new Outbox((event) => sent.push(event), () => (counts.emptied += 1));
  return { clock, sent, counts, outbox: made };
}

test("one message at a time: the next one goes when the first is answered", () => {
  const { sent, counts, outbox: made } = outbox();
  for (const id of ["1", "2", "3"]) made.take(said(id));
  assert.deepEqual(sent.map(({ id }) => id), ["1"]);
  made.answered(({ id }) => id === "2");
  assert.deepEqual(sent.map(({ id }) => id), ["1"]);
  made.answered(({ id }) => id === "1");
  made.answered(({ id }) => id === "2");
  assert.deepEqual(sent.map(({ id }) => id), ["1", "2", "3"]);
  assert.equal(made.busy, true);
  made.answered(() => true);
  assert.deepEqual([made.busy, counts.emptied], [false, 1]);
});

test("a message that is sent again says what it said, and waits for its turn", () => {
  const { sent, outbox: made } = outbox();
  made.take(said("1", { label: 2 }));
  made.take(said("2"));
  made.take(said("2", { again: true }));
  assert.equal(sent.length, 1);
  made.take(said("1", { again: true, label: 5 }));
  assert.deepEqual(sent[1], said("1", { again: true, label: 2 }));
});

test("a message without an answer makes way, and goes once more when it is sent again", () => {
  const { clock, sent, counts, outbox: made } = outbox();
  made.take(said("1", { label: 2 }));
  made.take(said("2"));
  clock.pass(8000);
  assert.deepEqual(sent.map(({ id }) => id), ["1", "2"]);
  made.take(said("1", { again: true }));
  made.answered(({ id }) => id === "2");
  assert.deepEqual(sent[2], said("1", { label: 2 }));
  clock.pass(8000);
  assert.deepEqual([made.busy, counts.emptied], [false, 1]);
  made.take(said("1", { again: true }));
  assert.deepEqual(sent[3], said("1", { label: 2, again: true }));
  made.stop();
  clock.pass(8000);
  assert.equal(made.busy, true);
});
