import assert from "node:assert/strict";
import { test } from "node:test";

import { amountText, cellAfter, cellFacts, shareText, nameLines } from "../matrix/facts.js";

/** @import { MatrixPayload } from "../shared/payloads.d.ts" */

/** @type {MatrixPayload} */
const MATRIX = {
  key: "A", classes: ["Background"], kind: "matrix", shows: "pixels", text: [["1"]], level: [[0]], ramp: [], rows: "Ground truth",
  columns: "Predicted", letters: ["A", "B"], chosen: null, scale: { name: "Pixels", swatches: [] },
  facts: { pixels: [[50400]], row: [[0.1124]], column: [[0.99999]], f1: [[null]] },
};

test("shares never round to all or nothing", () => {
  assert.deepEqual([0, 0.0004, 0.5, 0.99999, 1, null].map(shareText), ["0 %", "under 0.1 %", "50.0 %", "99.9 %", "100 %", "n/a"]);
  assert.deepEqual([50400, 0.25, null].map(amountText), ["50,400", "0.3", "n/a"]);
});

test("the four numbers of a cell, in their unit", () => {
  assert.deepEqual(cellFacts(MATRIX, 0, 0), ["50,400 pixels", "11.2 % of the row", "99.9 % of the column", "F1 n/a"]);
  assert.equal(cellFacts({ ...MATRIX, unit: "boxes" }, 0, 0)[0], "50,400 boxes");
});

test("a difference in points, and who is better", () => {
  /** @type {MatrixPayload} */
  const difference = { ...MATRIX, kind: "difference", shows: "row", facts: { first: [[0.5]], second: [[0.75]], gain: [[-1]] } };
  assert.deepEqual(cellFacts(difference, 0, 0), ["A 50.0 %", "B 75.0 %", "difference \u221225.0 points", "B is better here"]);
  const undefinedOne = { ...difference, facts: { first: [[null]], second: [[0.75]], gain: [[0]] } };
  assert.deepEqual(cellFacts(undefinedOne, 0, 0), ["A n/a", "B 75.0 %"]);
});

test("keys walk the matrix like a spreadsheet and never leave it", () => {
  const key = (/** @type {string} */ name, ctrlKey = false) => cellAfter({ key: name, ctrlKey }, [3, 4], 20);
  assert.deepEqual([key("ArrowUp"), key("ArrowDown", true), key("Home"), key("End", true)], [[2, 4], [20, 4], [3, 0], [20, 20]]);
  assert.deepEqual([key("PageUp"), key("PageDown")], [[0, 4], [13, 4]]);
  assert.equal(key("a"), null);
});

test("a name is parted where people would part it", () => {
  const fits = (/** @type {string} */ text) => text.length <= 8;
  assert.deepEqual(nameLines("Text", fits, 2), ["Text"]);
  assert.deepEqual(nameLines("Section-header", fits, 2), ["Section-", "header"]);
  assert.deepEqual(nameLines("Background", fits, 2), ["Back-", "ground"]);
  assert.deepEqual(nameLines("Page-footers-of-reports", fits, 2), ["Page-", "footers\u2026"]);
  assert.deepEqual(nameLines("Page-footers-of-reports", fits, 4), ["Page-", "footers-", "of-", "reports"]);
  assert.deepEqual(nameLines("\u56f3\u8868\u30ad\u30e3\u30d7\u30b7\u30e7\u30f3\u4ed8\u304d", fits, 2),
    ["\u56f3\u8868\u30ad\u30e3\u30d7\u30b7\u30e7\u30f3", "\u4ed8\u304d"], "no hyphen inside a word of Chinese or Japanese");
  assert.deepEqual(nameLines("\u0627\u0644\u0641\u0642\u0631\u0629\u0627\u0644\u0631\u0626", fits, 2), ["\u0627\u0644\u0641\u0642\u0631\u0629\u0627\u0644", "\u0631\u0626"]);
  const short = (/** @type {string} */ text) => text.length <= 3;
  assert.deepEqual(nameLines("\u{20bb7}\u{20bb7}\u{20bb7}", short, 2)[0], "\u{20bb7}", "a character is not parted");
});
