import assert from "node:assert/strict";
import { test } from "node:test";

import { drawWhenOther } from "../shared/elements.js";

test("a part is drawn anew only when it shows something else", () => {
  const [list, strip] = [{}, {}];
  let times = 0;
  const draw = (/** @type {object} */ part, /** @type {unknown} */ facts) => drawWhenOther(part, facts, () => (times += 1));
  assert.equal(draw(list, [1, "Cut off", ["FP"]]), true);
  assert.equal(draw(list, [1, "Cut off", ["FP"]]), false, "equal, not the same object");
  assert.equal(draw(strip, [1, "Cut off", ["FP"]]), true, "another part");
  assert.equal(draw(list, [1, "Cut off", ["FP", "FN"]]), true);
  assert.equal(draw(list, [1, "Cut off", ["FP"]]), true, "what it showed before the last time");
  assert.equal(draw(list, null), true);
  assert.equal(draw(list, null), false);
  assert.equal(times, 5);
});
