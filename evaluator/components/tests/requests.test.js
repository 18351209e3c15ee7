import assert from "node:assert/strict";
import { test } from "node:test";

import { WindowedView } from "../shared/windowed_view.js";
import { AskAgain, Debounced, SentChoice, cancelWhenLeaving } from "../shared/requests.js";
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

test("what is not ready is asked for again a few times, ever later, and another thing from the start", () => {
  const clock = new Clock();
  let asked = 0;
  const late = new AskAgain([100, 200], () => (asked += 1));
  late.about("");
  clock.pass(1000);
  assert.equal(asked, 0);
  late.about("page 1");
  late.about("page 1");
  clock.pass(100);
  assert.equal(asked, 1);
  clock.pass(199);
  assert.equal(asked, 1);
  clock.pass(1);
  clock.pass(1000);
  assert.equal(asked, 2);
  late.about("page 1");
  clock.pass(1000);
  assert.equal(asked, 2);
  late.about("page 2");
  clock.pass(100);
  assert.equal(asked, 3);
  late.about("");
  clock.pass(1000);
  assert.equal(asked, 3);
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

test("what waits is sent before what is pressed outside, and dropped before a link", () => {
  const clock = new Clock();
  class Link {}
  /** @type {Record<string, (event: object) => void>} */
  const heard = {};
  Object.assign(globalThis, { HTMLAnchorElement: Link });
  Object.assign(clock, {
    addEventListener: (/** @type {string} */ name, /** @type {(event: object) => void} */ listener) => (heard[name] = listener),
    removeEventListener: () => undefined,
  });
  const root = /** @type {HTMLElement} */ (/** @type {unknown} */ ({}));
  const requests = { selected: new Debounced(250) };
  /** @type {string[]} */
  const sent = [];
  // A key that presses a link or a button is a click without a pointer; the click of a pointer was heard when it pressed.
  const press = (/** @type {object[]} */ ...path) => heard.pointerdown({ composedPath: () => path });
  const click = (/** @type {number} */ detail, /** @type {object[]} */ ...path) => heard.click({ detail, composedPath: () => path });
  const stop = cancelWhenLeaving(root, requests, () => sent.push("left"));
  for (const act of [press, (/** @type {object[]} */ ...path) => click(0, ...path)]) {
    sent.length = 0;
    requests.selected.schedule(() => sent.push("p1"));
    act({}, root);
    click(1, {});
    assert.equal(sent.length, 0);
    act({});
    assert.deepEqual(sent, ["p1"]);
    requests.selected.schedule(() => sent.push("p2"));
    act(new Link());
    clock.pass(1000);
    assert.deepEqual(sent, ["p1", "left"]);
  }
  stop();
});

test("an answer that knows nothing of a choice on its way does not take it away", () => {
  const clock = new Clock();
  const page = { document: "a", index: 0 };
  /** @type {any} */
  const view = { data: { page, selected: "p3" }, pageId: '["a",0]', selected: "g7", hover: null, sent: new SentChoice(), requests: { selected: new Debounced(250) } };
  view.sent.agree("p3");
  view.requests.selected.schedule(() => view.sent.add("g7"));
  const accept = (/** @type {any} */ data) => WindowedView.prototype.accept.call(view, data);
  accept({ page, selected: null });
  assert.equal(view.selected, "g7");
  clock.pass(250);
  accept({ page, selected: "g7" });
  assert.equal(view.selected, "g7");
  // The server's own choice counts when nothing waits, and on another page in any case.
  accept({ page, selected: "g9" });
  assert.equal(view.selected, "g9");
  view.requests.selected.schedule(() => view.sent.add("g7"));
  accept({ page: { document: "a", index: 1 }, selected: null });
  assert.equal(view.selected, null);
  assert.equal(view.requests.selected.waits, false);
});
