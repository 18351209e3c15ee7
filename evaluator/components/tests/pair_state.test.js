import assert from "node:assert/strict";
import { test } from "node:test";

import { PairState } from "../compare/state.js";
import { pairBox } from "./building.js";

/** @import { PairBoxItem, PaneItem } from "../shared/payloads.d.ts" */

/** @param {string} letter @param {PairBoxItem[]} boxes @returns {PaneItem} */
function pane(letter, boxes) {
  return { letter, name: letter, words: "", boxes, mistakes: [], limit: null };
}

/** Both find g1; A alone finds g2; both have one false positive in the same place. */
function state() {
  const made = new PairState();
  made.fill([
    pane("A", [pairBox("g1", { status: "truth", partner: "a1" }), pairBox("a1", { status: "TP", partner: "g1" }),
      pairBox("g2", { status: "truth", partner: "a2" }), pairBox("a2", { status: "TP", partner: "g2" }), pairBox("a3", { mate: "b3", kind: "shared" })]),
    pane("B", [pairBox("g1", { status: "truth", partner: "b1" }), pairBox("b1", { status: "TP", partner: "g1" }),
      pairBox("g2", { status: "FN" }), pairBox("b3", { mate: "a3", kind: "shared" })]),
  ], [
    { key: "g2", kind: "a_only", xyxy: [0, 0, 1, 1], words: "Text: A finds it, B misses it." },
    { key: "a3", kind: "shared", xyxy: [0, 0, 1, 1], words: "Text: both have this false positive." },
  ]);
  return made;
}

test("matched ground truth is hidden until it is asked for", () => {
  const made = state();
  assert.deepEqual(made.visible(1).map(({ key }) => key), ["b1", "g2", "b3"]);
  made.truth = true;
  assert.equal(made.visible(1).length, 4);
});

test("each page has a box that stands for a box of the other", () => {
  const made = state();
  assert.equal(made.counterpart(1, "a1")?.key, "g1");
  assert.equal(made.counterpart(1, "a2")?.key, "g2");
  assert.equal(made.counterpart(1, "a3")?.key, "b3");
  assert.equal(made.counterpart(0, "b3")?.key, "a3");
  assert.equal(made.counterpart(0, "g2")?.key, "g2");
  assert.equal(made.counterpart(0, null), null);
  assert.equal(made.counterpart(0, "b99"), null);
});

test("the same box in either page", () => {
  const made = state();
  assert.ok(made.sameBox("g2", "a2") && made.sameBox("a2", "g2"));
  assert.ok(made.sameBox("a3", "b3"));
  assert.ok(!made.sameBox("g1", "g2") && !made.sameBox(null, null));
});

test("the way through the differences ends with the page", () => {
  const made = state();
  assert.equal(made.nextDifference(null, 1)?.key, "g2");
  assert.equal(made.nextDifference(null, -1)?.key, "a3");
  assert.equal(made.nextDifference("a2", 1)?.key, "a3");
  assert.equal(made.nextDifference("b3", 1), undefined);
  assert.equal(made.nextDifference("g2", -1), undefined);
  assert.equal(made.differenceOf("b3")?.words, "Text: both have this false positive.");
  assert.equal(made.placeOf("g1"), -1);
});

test("without panes there is nothing, and nothing of the page before stays", () => {
  const made = state();
  made.fill([{ ...pane("A", []), by_outline: true }, pane("B", [])], []);
  assert.deepEqual(made.byOutline, [true, false]);
  made.fill([], []);
  assert.deepEqual(made.byOutline, [false, false]);
  assert.deepEqual([made.visible(0), made.box("g1"), made.nextDifference(null, 1)], [[], undefined, undefined]);
});
