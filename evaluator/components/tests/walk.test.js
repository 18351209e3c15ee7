import assert from "node:assert/strict";
import { test } from "node:test";

import { nextWords, stepDifference } from "../compare/walk.js";

/** A comparison on a page of a list, at its only difference or beyond it. */
function view({ position = 1, total = 2, cause = "", more = false } = {}) {
  /** @type {unknown[]} */
  const done = [];
  const strip = [1, 2].slice(0, total).map((at) => ({ name: "report", index: at, current: at === position }));
  const data = { page: { document: "report.pdf", index: position, position, total }, strip, causes: [{ key: "x", title: "Extra Text" }, { key: "y", title: "Missed Table" }], cause };
  const made = /** @type {any} */ ({
    data, done, selected: "g1", ended: null, spoken: {}, sentence: {}, shown: () => data,
    state: { nextDifference: () => (more ? { key: "g2" } : undefined) },
    choose: (/** @type {{key: string}} */ { key }) => done.push(key),
    turner: { walk: (/** @type {{step: number}} */ { step }, /** @type {(waits: boolean) => boolean} */ draw) => void done.push(step, draw(true)) },
    drawPlaced: (/** @type {number} */ at, /** @type {(page: object) => string | null} */ edge) => (done.push(at, edge({ differences: [{ key: "first" }, { key: "last" }] })), true),
    sendChoice: (/** @type {string[]} */ ...event) => done.push(event),
  });
  return made;
}

test("N leads through a page, the pages of the list, and from cause to cause", () => {
  for (const [given, step, done, words] of /** @type {[object, number, unknown[], string][]} */ ([
    [{ more: true }, 1, ["g2"], "next difference"],
    [{}, 1, [2, "first", 1, true], "next: report, page 3"],
    [{ position: 2 }, -1, [1, "last", -1, true], "next: the first difference"],
    [{ position: 2, cause: "x" }, 1, [["cause", "y"]], "next: Missed Table"],
  ])) {
    const made = view(given);
    assert.equal(nextWords(made), words);
    stepDifference(made, step);
    assert.deepEqual(made.done, done);
  }
});

test("the end of all differences is said, and N begins again", () => {
  const made = view({ position: 2, cause: "y" });
  stepDifference(made, 1);
  assert.deepEqual([made.done, made.sentence.textContent], [[], "That was the last difference. N starts again."]);
  stepDifference(made, 1);
  assert.deepEqual(made.done, [["show", "changed"]]);
});
