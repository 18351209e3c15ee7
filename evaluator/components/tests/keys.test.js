import assert from "node:assert/strict";
import { test } from "node:test";

import { COMPARE_ACTIONS, COMPARE_HELP } from "../compare/keys.js";
import { REPEATING, actionOf } from "../shared/keys.js";
import { KEY_HELP, VIEWER_ACTIONS } from "../viewer/keys.js";

/** @import { Press } from "../shared/keys.js" */

/** @param {string} key @param {Partial<Press>} [more] */
function press(key, more = {}) {
  return { key, ctrlKey: false, altKey: false, metaKey: false, isComposing: false, ...more };
}

test("letters work with and without Shift", () => {
  assert.equal(actionOf(VIEWER_ACTIONS, press("n")), "next");
  assert.equal(actionOf(VIEWER_ACTIONS, press("N")), "next");
  assert.equal(actionOf(VIEWER_ACTIONS, press("ArrowLeft")), "previous-page");
  assert.equal(actionOf(VIEWER_ACTIONS, press("x")), null);
});

test("keys with Ctrl, Alt or Meta belong to the browser, those of an input method to it", () => {
  for (const more of [{ ctrlKey: true }, { altKey: true }, { metaKey: true }, { isComposing: true }]) {
    assert.equal(actionOf(VIEWER_ACTIONS, press("p", more)), null);
  }
});

test("the same key may ask for another action in another view", () => {
  assert.equal(actionOf(VIEWER_ACTIONS, press("f")), "model");
  assert.equal(actionOf(COMPARE_ACTIONS, press("f")), "flip");
  assert.equal(actionOf(COMPARE_ACTIONS, press("ArrowUp")), null);
});

for (const [view, actions, help] of /** @type {const} */ ([["viewer", VIEWER_ACTIONS, KEY_HELP], ["comparison", COMPARE_ACTIONS, COMPARE_HELP]])) {
  test(`the ${view} leaves R to Streamlit and names every key of its own`, () => {
    assert.equal(actions.r, undefined);
    const named = new Set(help.flatMap(([keys]) => keys.split(" ")));
    const shown = { ArrowLeft: "\u2190", ArrowRight: "\u2192", ArrowUp: "\u2191", ArrowDown: "\u2193", Escape: "Esc", "=": "+", "-": "\u2212" };
    for (const key of Object.keys(actions)) {
      const name = shown[/** @type {keyof typeof shown} */ (key)] ?? key.toUpperCase();
      assert.ok(named.has(name), `${key} is not in the help`);
    }
  });
}

test("a held key goes through pages and mistakes, and switches nothing on and off", () => {
  assert.ok(REPEATING.has("next") && REPEATING.has("next-page") && REPEATING.has("zoom-in"));
  assert.ok(!REPEATING.has("truth") && !REPEATING.has("model") && !REPEATING.has("verdict-1"));
});
