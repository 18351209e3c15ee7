import assert from "node:assert/strict";
import { test } from "node:test";

import { capital, count, percentOf, plural, ratio, scoreText } from "../shared/words.js";

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
