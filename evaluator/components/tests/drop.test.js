/** Files on their way to the uploader: given when every one of them is there. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { hand } from "../drop/drop.js";
import { Clock } from "./building.js";

test("files are given when none is on its way any more", async () => {
  const clock = new Clock();
  const shown = new Set(["stFileUploaderDropzoneInput"]);
  const input = { files: null, dispatchEvent: () => shown.add("stFileChip").add("stFileChipIconSpinner") };
  Object.assign(globalThis, {
    DataTransfer: class { files = ["a.json"]; items = { add: () => undefined }; },
    document: { querySelector: (/** @type {string} */ selector) => [...shown].some((id) => selector === `.st-key-drop [data-testid="${id}"]`) ? input : null },
    setTimeout: clock.setTimeout.bind(clock),
  });
  let given = false;
  const all = hand([new File([""], "a.json")], "drop").then(() => { given = true; });
  const aMinute = async () => {
    for (let seconds = 0; seconds < 60; seconds += 1) {
      clock.pass(1000);
      await new Promise((done) => { setImmediate(done); });
    }
  };
  await aMinute();
  assert.deepEqual(input.files, ["a.json"]);
  assert.equal(given, false);
  shown.delete("stFileChipIconSpinner");
  await aMinute();
  assert.equal(given, true);
  await all;
});
