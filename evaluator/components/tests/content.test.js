import assert from "node:assert/strict";
import { test } from "node:test";

import { PageContent } from "../shared/content.js";
import { boxName, chipText, factsOf, mistakeName } from "../shared/facts.js";
import { box, mistake } from "./building.js";

const NEAR = box("p1", { label: "Table", score: 0.834, iou: 0.41, coverage: 0.41, purity: 1, mistake: 1, nearest: { key: "g1", iou: 0.412 }, source: "a.json, object 1" });
const CUT = mistake(1, ["p1", "g1", "gone"], { lines: ["bottom -59 %", "IoU 0.412", "lost: two words"] });
const MATCH = box("p2", { status: "TP", partner: "g2", score: 0.9, iou: 0.97, coverage: 1, purity: 0.97 });
const CONTENT = new PageContent([NEAR, box("g1", { mistake: 1 }), MATCH, box("g2", { status: "truth", partner: "p2", label: "Caption" }), box("p9")], [CUT]);

test("boxes and mistakes find each other; a key that is not drawn is left out", () => {
  assert.equal(CONTENT.mistakeOf(NEAR), CUT);
  assert.equal(CONTENT.mistakeOf(MATCH), undefined);
  assert.deepEqual(CONTENT.boxesOf(CUT).map(({ key }) => key), ["p1", "g1"]);
  assert.equal(CONTENT.box(null), undefined);
});

test("a box belongs to its match, or to the nearest and to the rest of its mistake", () => {
  assert.deepEqual(CONTENT.companionsOf(MATCH).map(({ key }) => key), ["g2"]);
  assert.deepEqual(CONTENT.companionsOf(NEAR).map(({ key }) => key), ["g1"]);
  assert.deepEqual(CONTENT.companionsOf(box("p9")), []);
});

test("names for screen readers and texts of chips", () => {
  assert.equal(boxName(NEAR), "False positive, Table, score 0.83, mistake 1");
  assert.equal(boxName(box("g2", { status: "truth" })), "Matched ground truth, Text");
  assert.equal(mistakeName(CUT), "Cut off, Text, bottom -59 %, IoU 0.412, lost: two words");
  assert.equal(chipText(NEAR, false), "1 FP Table 0.83");
  assert.equal(chipText(NEAR, true), "1 FP");
  assert.equal(chipText({ ...NEAR, said: "\u25cf" }, true), "1 FP \u25cf");
  assert.equal(chipText({ ...NEAR, cause: "15 boxes read as one Figure" }, false), "1 \u00b7 15 boxes read as one Figure");
});

test("a box has the sign of what is said of its mistake", () => {
  const said = (/** @type {string | null} */ agreed, /** @type {string[]} */ ...verdicts) => {
    const opinions = verdicts.map((verdict) => ({ author: "Ada", verified: false, verdict, note: "", tags: [], time: "" }));
    const content = new PageContent([NEAR], [{ ...CUT, verdict: { agreed, conflict: !agreed && verdicts.length > 1, opinions } }]);
    return /** @type {{said?: string} | undefined} */ (content.box("p1"))?.said;
  };
  assert.deepEqual([said("model_wrong", "model_wrong"), said(null, "ignore", "ambiguous"), said(null)], ["\u25cf", "\u2260", ""]);
});

test("the facts of a mistake do not say its IoU twice", () => {
  const facts = factsOf(NEAR, CONTENT);
  assert.deepEqual([facts.head, facts.wrong, facts.more], ["Cut off", "bottom -59 %", "lost: two words"]);
  assert.deepEqual(facts.numbers, [["IoU", "0.410"], ["Coverage", "0.410"], ["Purity", "1.000"]]);
  assert.equal(facts.source, "score 0.83, a.json, object 1");
});

test("the facts of a match name the other label, those of a lone box that nothing is near", () => {
  assert.equal(factsOf(MATCH, CONTENT).wrong, "matches ground truth Caption");
  assert.deepEqual([factsOf(box("p9"), CONTENT).head, factsOf(box("p9"), CONTENT).wrong], ["Extra", "no ground truth near it"]);
  assert.deepEqual(factsOf(box("g9"), CONTENT).numbers, []);
});

test("a prediction of the wrong label names the label of the ground truth, and the ground truth that of the prediction", () => {
  const pair = [box("p3", { label: "Title", mistake: 2 }), box("g3", { label: "Text", mistake: 2, status: "FN" })];
  const wrong = mistake(2, ["p3", "g3"], { name: "wrong_class", title: "Wrong class", label: "Text", lines: ["predicted as Title", "IoU 0.91 \u00b7 score 0.80"] });
  const content = new PageContent(pair, [wrong]);
  assert.deepEqual(pair.map((each) => [factsOf(each, content).label, factsOf(each, content).wrong]), [
    ["Title", "the ground truth is Text"],
    ["Text", "predicted as Title"],
  ]);
});

test("the second fact of a mistake shows without an IoU too", () => {
  const content = new PageContent([box("a1", { mistake: 1 })], [mistake(1, ["a1"], { lines: ["1,210 pixels", "made by: missed, Table"] })]);
  assert.equal(factsOf(box("a1", { mistake: 1 }), content).more, "made by: missed, Table");
});
