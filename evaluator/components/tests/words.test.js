import assert from "node:assert/strict";
import { test } from "node:test";

import { capital, count, isolated, lineParts, percentOf, nameInList, plainName, plural, ratio, scoreText, unsavedOf } from "../shared/words.js";

test("numbers as people read them", () => {
  assert.equal(count(3692), "3,692");
  assert.equal(plural(1, "mistake"), "1 mistake");
  assert.equal(plural(1204, "box", "boxes"), "1,204 boxes");
  assert.equal(ratio(0.8641), "0.864");
  assert.equal(ratio(null), "-");
  assert.equal(scoreText(0), "0.00");
  assert.equal(scoreText(undefined), "");
  assert.equal(percentOf(0.125), "12.5000%");
  assert.equal(capital("missed"), "Missed");
});

test("a verdict that is not stored is said in its place", () => {
  const said = { verdict: "ambiguous", note: "", problem: "The disk is full." };
  assert.equal(unsavedOf(said), "Ambiguous: NOT SAVED");
  assert.equal(unsavedOf({ ...said, busy: true }), "Ambiguous: Waiting to be saved");
  assert.equal(unsavedOf({ ...said, verdict: null, busy: true }), "Waiting to be saved");
});

test("a name that runs from right to left keeps the number behind it there", () => {
  assert.equal(isolated("Table"), "Table");
  assert.equal(isolated("\u56f3\u8868"), "\u56f3\u8868");
  assert.equal(isolated("\u0646\u0635"), "\u2068\u0646\u0635\u2069");
  assert.equal(isolated("Text \u05d0"), "\u2068Text \u05d0\u2069");
});

test("a line ends behind a sign or where another word begins, never inside a word", () => {
  assert.deepEqual(lineParts("AER_2019-annualReport2024.v2 final.pdf"), ["AER_", "2019-", "annual", "Report", "2024.v2 final.pdf"]);
  assert.deepEqual(lineParts("groundwater"), ["groundwater"]);
  assert.deepEqual(lineParts("line_items[0].description"), ["line_", "items", "[0].", "description"]);
  assert.deepEqual(lineParts("\u00dcberBl\u00f6cke__x"), ["\u00dcber", "Bl\u00f6cke__", "x"]);
  assert.deepEqual(lineParts(""), [""]);
});

test("a name with marks that turn the direction of writing, or break a line, shows them as escapes", () => {
  assert.equal(plainName("scan 01.pdf"), "scan 01.pdf");
  assert.deepEqual(["scan 01.pdf", "scan 01.png", "a.pdf.b"].map(nameInList), ["scan 01", "scan 01.png", "a.pdf.b"]);
  assert.equal(plainName("\u56f3\u8868 \u0646\u0635.pdf"), "\u56f3\u8868 \u0646\u0635.pdf");
  assert.equal(plainName("a\u202efdp.exe"), "a\\u202efdp.exe");
  assert.equal(plainName("a\n\tb\r\u001b[31m\u2028\u{e0001}\ud800"), "a\\n\\tb\\r\\x1b[31m\\u2028\\U000e0001\\ud800");
});
