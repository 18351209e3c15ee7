import assert from "node:assert/strict";
import { test } from "node:test";

import { capital, count, isolated, percentOf, plural, ratio, scoreText } from "../shared/words.js";

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

test("a name that runs from right to left keeps the number behind it there", () => {
  assert.equal(isolated("Table"), "Table");
  assert.equal(isolated("\u56f3\u8868"), "\u56f3\u8868");
  assert.equal(isolated("\u0646\u0635"), "\u2068\u0646\u0635\u2069");
  assert.equal(isolated("Text \u05d0"), "\u2068Text \u05d0\u2069");
});
