import assert from "node:assert/strict";
import { test } from "node:test";

import { LATE_WORDS, Outbox } from "../shared/outbox.js";
import { unsavedWords } from "../shared/words.js";
import { Drafts } from "../viewer/drafts.js";
import { Clock, mistake } from "./building.js";

/** @import { MistakeItem, VerdictEvent } from "../shared/payloads.d.ts" */

const PAGE = { document: "a.pdf", index: 3 };
const OPEN = mistake(2, ["p1", "g1"], { target: "t-2" });

/** @param {string | null} verdict @param {string} [note] @returns {MistakeItem} the same mistake with a stored verdict */
function judged(verdict, note = "") {
  const opinions = [{ author: "Ada", verdict, note, time: "2026-11-20T10:00:00" }];
  return { ...OPEN, verdict: { agreed: verdict, conflict: false, opinions } };
}

function drafts() {
  const clock = new Clock();
  /** @type {VerdictEvent[]} the last of each message */
  const sent = [];
  const counts = { made: 0 };
  const outbox = new Outbox((/** @type {VerdictEvent[]} */ acts) => sent.push(acts[acts.length - 1]), () => {});
  return { clock, sent, outbox, drafts: new Drafts(outbox, () => ({ letter: "A" }), () => `id-${(counts.made += 1)}`) };
}

test("what shows: the draft, else what could not be stored, else one's own last word", () => {
  const { drafts: made } = drafts();
  assert.deepEqual(made.shown(PAGE, OPEN, "Ada"), { verdict: null, note: "", problem: "", waiting: false, saved: null });
  assert.equal(made.shown(PAGE, judged("ignore", "a stamp"), "Ada").note, "a stamp");
  assert.equal(made.shown(PAGE, judged("ignore"), "Bea").saved, null);
  const unsaved = { ...judged("ignore"), unsaved: { verdict: "ambiguous", note: "x", problem: "The disk is full." } };
  assert.deepEqual([made.shown(PAGE, unsaved, "Ada").verdict, made.shown(PAGE, unsaved, "Ada").problem], ["ambiguous", "The disk is full."]);
  made.type(PAGE, unsaved, "typed");
  assert.deepEqual([made.shown(PAGE, unsaved, "Ada").verdict, made.shown(PAGE, unsaved, "Ada").note], ["ambiguous", "typed"]);
});

test("a verdict is sent once, and its draft goes when it is answered", () => {
  const { clock, sent, outbox, drafts: made } = drafts();
  made.send(PAGE, OPEN, "model_wrong", "too short");
  assert.deepEqual(sent, [{
    id: "id-1", document: "a.pdf", index: 3, number: 2, keys: ["p1", "g1"], target: "t-2", verdict: "model_wrong", note: "too short", letter: "A",
  }]);
  made.resolve(PAGE, [OPEN]);
  assert.equal(made.shown(PAGE, OPEN, "Ada").waiting, true);
  outbox.heard("id-1");
  made.resolve(PAGE, [judged("model_wrong", "too short")]);
  const shown = made.shown(PAGE, judged("ignore", "by another tab"), "Ada");
  assert.deepEqual([shown.waiting, shown.verdict, shown.note], [false, "ignore", "by another tab"]);
  clock.pass(20000);
  assert.equal(sent.length, 1);
});

test("a note that is typed while the verdict is on its way stays when the answer comes", () => {
  const { outbox, drafts: made } = drafts();
  made.send(PAGE, OPEN, "model_wrong", "");
  made.type(PAGE, OPEN, "a row is");
  const stored = judged("model_wrong");
  outbox.heard("id-1");
  made.resolve(PAGE, [stored]);
  const shown = made.shown(PAGE, stored, "Ada");
  assert.deepEqual([shown.verdict, shown.note, shown.waiting, shown.saved?.note], ["model_wrong", "a row is", false, ""]);
  made.send(PAGE, stored, shown.verdict, "a row is short");
  outbox.heard("id-2");
  made.resolve(PAGE, [judged("model_wrong", "a row is short")]);
  assert.equal(made.shown(PAGE, judged("model_wrong", "by another tab"), "Ada").note, "by another tab");
});

test("the answer to the message before, or the verdict of somebody else, leaves what was sent since", () => {
  const { outbox, drafts: made } = drafts();
  made.send(PAGE, OPEN, "model_wrong", "");
  made.send(PAGE, OPEN, "model_wrong", "a row is short");
  for (const [answered, between] of /** @type {[string, MistakeItem][]} */ ([["id-1", judged("model_wrong")], ["", judged("ignore")]])) {
    outbox.heard(answered);
    made.resolve(PAGE, [between]);
    const shown = made.shown(PAGE, between, "Ada");
    assert.deepEqual([shown.verdict, shown.note, shown.waiting], ["model_wrong", "a row is short", true]);
  }
});

test("without an answer it is reported as late and its text stays, until the answer comes after all", () => {
  const { clock, outbox, drafts: made } = drafts();
  made.send(PAGE, OPEN, "ambiguous", "hm");
  clock.pass(8000);
  const { saved, ...late } = made.shown(PAGE, OPEN, "Ada");
  assert.deepEqual([late, saved], [{ verdict: "ambiguous", note: "hm", waiting: false, problem: LATE_WORDS }, null]);
  outbox.heard("id-1");
  made.resolve(PAGE, [judged("ambiguous", "hm")]);
  assert.deepEqual([made.shown(PAGE, judged("ambiguous", "hm"), "Ada").problem, made.drafts.size], ["", 0]);
});

test("what is chosen again because no answer came keeps its id, and anything else gets another", () => {
  const { clock, outbox, drafts: made } = drafts();
  made.send(PAGE, OPEN, "ambiguous", "hm");
  clock.pass(8000);
  made.send(PAGE, OPEN, "ambiguous", "hm");
  assert.deepEqual(outbox.acts.map(({ id }) => id), ["id-1"]);
  made.send(PAGE, OPEN, null, "");
  made.send(PAGE, OPEN, "ambiguous", "hm");
  assert.deepEqual(outbox.acts.map(({ id }) => id), ["id-1", "id-2", "id-3"]);
});

test("a verdict that others keep out of the store waits where it is tried again, and is not sent again", () => {
  const { clock, sent, outbox, drafts: made } = drafts();
  made.send(PAGE, OPEN, "ambiguous", "hm");
  const busy = { ...OPEN, unsaved: { verdict: "ambiguous", note: "hm", problem: "In use.", busy: true } };
  outbox.heard("id-1");
  made.resolve(PAGE, [busy]);
  clock.pass(100000);
  const { saved, ...shown } = made.shown(PAGE, busy, "Ada");
  assert.deepEqual([shown, saved, sent.length], [{ verdict: "ambiguous", note: "hm", problem: "In use.", waiting: true }, null, 1]);
  assert.equal(unsavedWords(shown), "Waiting to be saved");
  assert.equal(unsavedWords(made.shown(PAGE, { ...busy, unsaved: { ...busy.unsaved, busy: false } }, "Ada")), "NOT SAVED");
  const kept = judged("ambiguous", "hm");
  assert.deepEqual([made.shown(PAGE, kept, "Ada").problem, made.shown(PAGE, kept, "Ada").waiting], ["", false]);
});

test("a mistake without an identity keeps its draft by page and boxes", () => {
  const { drafts: made } = drafts();
  const nameless = mistake(1, ["p1"], { target: null });
  made.type(PAGE, nameless, "kept");
  assert.equal(made.shown(PAGE, { ...nameless, number: 5 }, null).note, "kept");
  assert.equal(made.shown({ ...PAGE, index: 4 }, nameless, null).note, "");
});
