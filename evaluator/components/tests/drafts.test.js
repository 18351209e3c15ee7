import assert from "node:assert/strict";
import { test } from "node:test";

import { unsavedWords } from "../shared/words.js";
import { Drafts } from "../viewer/drafts.js";
import { Clock, mistake } from "./building.js";

/** @import { MistakeItem, VerdictEvent } from "../shared/payloads.d.ts" */

const PAGE = { document: "a.pdf", index: 3 };
const OPEN = mistake(2, ["p1", "g1"], { target: "t-2" });

/** @param {string | null} verdict @param {string} [note] @param {string} [answered] id of the message that was handled @returns {MistakeItem} the same mistake with a stored verdict */
function judged(verdict, note = "", answered = "id-1") {
  const opinions = [{ author: "Ada", verdict, note, time: "2026-11-20T10:00:00" }];
  return { ...OPEN, answered, verdict: { agreed: verdict, conflict: false, opinions } };
}

function drafts() {
  const clock = new Clock();
  /** @type {VerdictEvent[]} */
  const sent = [];
  const counts = { changed: 0, made: 0 };
  const made = new Drafts((event) => sent.push(event), () => (counts.changed += 1), () => `id-${(counts.made += 1)}`);
  return { clock, sent, counts, drafts: made };
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

test("a verdict is sent once, and goes when the data hold it", () => {
  const { clock, sent, drafts: made } = drafts();
  made.send(PAGE, OPEN, "model_wrong", "too short");
  assert.deepEqual(sent, [{
    id: "id-1", document: "a.pdf", index: 3, number: 2, keys: ["p1", "g1"], target: "t-2", verdict: "model_wrong", note: "too short",
  }]);
  assert.equal(made.shown(PAGE, OPEN, "Ada").waiting, true);
  made.resolve(PAGE, [OPEN]);
  assert.equal(made.shown(PAGE, OPEN, "Ada").waiting, true);
  const stored = judged("model_wrong", "too short");
  made.resolve(PAGE, [stored]);
  assert.equal(made.shown(PAGE, stored, "Ada").waiting, false);
  clock.pass(20000);
  assert.equal(sent.length, 1);
});

test("a note that is typed while the verdict is on its way stays when the answer comes", () => {
  const { clock, sent, counts, drafts: made } = drafts();
  made.send(PAGE, OPEN, "model_wrong", "");
  made.type(PAGE, OPEN, "a row is");
  const stored = judged("model_wrong");
  made.resolve(PAGE, [stored]);
  const shown = made.shown(PAGE, stored, "Ada");
  assert.deepEqual([shown.verdict, shown.note, shown.waiting, shown.saved?.note], ["model_wrong", "a row is", false, ""]);
  clock.pass(20000);
  assert.deepEqual([sent.length, counts.changed], [1, 0]);
  made.send(PAGE, stored, shown.verdict, "a row is short");
  const noted = judged("model_wrong", "a row is short", "id-2");
  made.resolve(PAGE, [noted]);
  assert.equal(made.shown(PAGE, judged("model_wrong", "by another tab"), "Ada").note, "by another tab");
});

test("the answer to the message before, or the verdict of somebody else, leaves what was sent since", () => {
  const { drafts: made } = drafts();
  made.send(PAGE, OPEN, "model_wrong", "");
  made.send(PAGE, OPEN, "model_wrong", "a row is short");
  for (const between of [judged("model_wrong"), judged("ignore", "", "")]) {
    made.resolve(PAGE, [between]);
    const shown = made.shown(PAGE, between, "Ada");
    assert.deepEqual([shown.verdict, shown.note, shown.waiting], ["model_wrong", "a row is short", true]);
  }
  const noted = judged("model_wrong", "a row is short", "id-2");
  made.resolve(PAGE, [noted]);
  assert.equal(made.shown(PAGE, noted, "Ada").waiting, false);
});

test("without an answer it is sent again under the same id, then reported as late, and its text stays", () => {
  const { clock, sent, counts, drafts: made } = drafts();
  made.send(PAGE, OPEN, "ambiguous", "hm");
  clock.pass(3000);
  assert.deepEqual(sent[1], { ...sent[0], again: true });
  clock.pass(5000);
  assert.equal(counts.changed, 1);
  const shown = made.shown(PAGE, OPEN, "Ada");
  assert.deepEqual([shown.waiting, shown.note], [false, "hm"]);
  assert.match(shown.problem, /has not answered/);
});

test("a verdict is sent again until it is answered, also after the report", () => {
  const { clock, sent, drafts: made } = drafts();
  made.send(PAGE, OPEN, "ambiguous", "");
  clock.pass(40_000);
  assert.equal(sent.length, 5);
  made.resolve(PAGE, [judged("ambiguous", "")]);
  clock.pass(60_000);
  assert.equal(sent.length, 5);
});

test("an answer that comes after all ends the report that none came", () => {
  const { clock, drafts: made } = drafts();
  made.send(PAGE, OPEN, "ambiguous", "hm");
  clock.pass(8000);
  const answered = judged("ambiguous", "hm");
  made.resolve(PAGE, [answered]);
  const shown = made.shown(PAGE, answered, "Ada");
  assert.deepEqual([shown.problem, shown.verdict, shown.note, shown.waiting], ["", "ambiguous", "hm", false]);
});

test("what is chosen again because no answer came keeps its id, and anything else gets another", () => {
  const { clock, sent, drafts: made } = drafts();
  made.send(PAGE, OPEN, "ambiguous", "hm");
  clock.pass(8000);
  made.send(PAGE, OPEN, "ambiguous", "hm");
  clock.pass(8000);
  made.send(PAGE, OPEN, "ambiguous", "hm, no");
  assert.deepEqual(sent.map(({ id }) => id), ["id-1", "id-1", "id-1", "id-1", "id-2"]);
});

test("a verdict that others keep out of the store waits where it is tried again, and is not sent again", () => {
  const { clock, sent, counts, drafts: made } = drafts();
  made.send(PAGE, OPEN, "ambiguous", "hm");
  const busy = { ...OPEN, answered: "id-1", unsaved: { verdict: "ambiguous", note: "hm", problem: "In use.", busy: true } };
  made.resolve(PAGE, [busy]);
  clock.pass(100000);
  const { saved, ...shown } = made.shown(PAGE, busy, "Ada");
  assert.deepEqual([shown, saved, sent.length, counts.changed], [{ verdict: "ambiguous", note: "hm", problem: "In use.", waiting: true }, null, 1, 0]);
  assert.equal(unsavedWords(shown), "Waiting to be saved");
  assert.equal(unsavedWords(made.shown(PAGE, { ...busy, unsaved: { ...busy.unsaved, busy: false } }, "Ada")), "NOT SAVED");
  const kept = judged("ambiguous", "hm");
  assert.deepEqual([made.shown(PAGE, kept, "Ada").problem, made.shown(PAGE, kept, "Ada").waiting], ["", false]);
});

test("two acts of the reviewer have two ids, and only the last one is waited for", () => {
  const { clock, sent, counts, drafts: made } = drafts();
  made.send(PAGE, OPEN, "ambiguous", "");
  clock.pass(2000);
  made.send(PAGE, OPEN, null, "");
  assert.deepEqual(sent.map(({ id }) => id), ["id-1", "id-2"]);
  clock.pass(6500);
  assert.deepEqual([sent.length, counts.changed], [3, 0]);
  clock.pass(1500);
  assert.equal(counts.changed, 1);
});

test("a mistake without an identity keeps its draft by page and boxes", () => {
  const { drafts: made } = drafts();
  const nameless = mistake(1, ["p1"], { target: null });
  made.type(PAGE, nameless, "kept");
  assert.equal(made.shown(PAGE, { ...nameless, number: 5 }, null).note, "kept");
  assert.equal(made.shown({ ...PAGE, index: 4 }, nameless, null).note, "");
});
