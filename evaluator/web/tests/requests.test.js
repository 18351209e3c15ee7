import assert from "node:assert/strict";
import { test } from "node:test";

import { Debounced, SentChoice } from "../shared/requests.js";
import { Clock } from "./building.js";

test("who walks through many boxes sends one", () => {
  const clock = new Clock();
  /** @type {string[]} */
  const sent = [];
  const request = new Debounced(250);
  for (const key of ["p1", "p2", "p3"]) {
    request.schedule(() => sent.push(key));
    clock.pass(100);
  }
  clock.pass(250);
  assert.deepEqual(sent, ["p3"]);
});

test("what was cancelled is not sent, what was flushed is sent once", () => {
  const clock = new Clock();
  let sent = 0;
  const request = new Debounced(250);
  request.schedule(() => (sent += 1));
  request.cancel();
  clock.pass(1000);
  assert.equal(sent, 0);
  request.schedule(() => (sent += 1));
  request.flush();
  request.flush();
  clock.pass(1000);
  assert.equal(sent, 1);
});

test("an answer that only repeats what was sent does not lead back", () => {
  const choice = new SentChoice();
  for (const key of ["p1", "p2", "p3"]) choice.add(key);
  assert.equal(choice.isNew("p1"), false);
  assert.equal(choice.isNew("p2"), false);
  assert.equal(choice.isLatest("p3"), true);
  // It went on to p2: an older answer is the server's own now.
  assert.equal(choice.isNew("p1"), true);
});

test("a choice of the server is the one that both have", () => {
  const choice = new SentChoice();
  choice.add("p1");
  assert.equal(choice.isNew("g7"), true);
  choice.agree("g7");
  assert.equal(choice.isLatest("g7"), true);
  assert.equal(choice.isNew("p1"), true);
  assert.equal(choice.isNew("g7"), false);
});
