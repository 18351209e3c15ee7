import assert from "node:assert/strict";
import { test } from "node:test";

import { MeetingDrafts, meetingAction } from "../meeting/decision.js";

const HELD = { verdict: null, note: "", owner: "", due: "", status: "" };

/** @param {string} key @param {Partial<KeyboardEvent>} [more] */
function press(key, more = {}) {
  return { key, ctrlKey: false, altKey: false, metaKey: false, isComposing: false, ...more };
}

test("no key is a hotkey while a field has the focus, and none with a key of the browser", () => {
  assert.equal(meetingAction(press("2"), false), "verdict-1");
  assert.equal(meetingAction(press("2"), true), null);
  assert.equal(meetingAction(press("2", { ctrlKey: true }), false), null);
  assert.equal(meetingAction(press("Z"), false), "zoom");
  assert.equal(meetingAction(press("x"), false), null);
});

test("what is chosen and typed stays with its item until it is stored", () => {
  const drafts = new MeetingDrafts();
  drafts.change("a", { verdict: "ignore" });
  drafts.change("a", { note: "why" });
  assert.deepEqual(drafts.shown("a", HELD), { ...HELD, verdict: "ignore", note: "why" });
  assert.deepEqual(drafts.shown("b", HELD), HELD);
  drafts.forget("a");
  assert.deepEqual(drafts.shown("a", HELD), HELD);
});
