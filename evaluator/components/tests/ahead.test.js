import assert from "node:assert/strict";
import { test } from "node:test";

import { PicturesAhead } from "../shared/ahead.js";

/** Pictures that come when the test says so. */
class Held extends PicturesAhead {
  constructor() {
    super(1);
    /** @type {string[]} */
    this.asked = [];
  }

  /** @override @param {string} source */
  fetched(source) {
    this.asked.push(source);
    const under = new Promise(() => {});
    this.loading.set(source, /** @type {Promise<void>} */ (under));
    return /** @type {Promise<void>} */ (under);
  }

  /** @param {string} source @param {boolean} [whole] */
  come(source, whole = true) {
    if (whole) this.ready.set(source, []);
    this.ended(source);
  }
}

/** @param {number} page @returns {string} */
const at = (page) => `/layoutscope/${String(page).padStart(32, "0")}.picture`;

test("two pictures are fetched at a time, and what was not begun gives way to what is wanted later", () => {
  const pictures = new Held();
  pictures.load([1, 2, 3, 4].map(at));
  assert.deepEqual(pictures.asked, [1, 2].map(at));
  pictures.load([5, 1, 6].map(at));
  pictures.come(at(1));
  assert.deepEqual(pictures.asked, [1, 2, 5].map(at));
  pictures.come(at(2));
  assert.deepEqual(pictures.asked, [1, 2, 5, 6].map(at));
});

test("while pages pass by, the picture of the last one comes first, and those between are not asked for", () => {
  const pictures = new Held();
  /** @type {number[]} */
  const came = [];
  pictures.load([1, 2, 3].map(at));
  for (const page of [4, 5, 6]) pictures.want(at(page), () => came.push(page));
  assert.deepEqual(pictures.asked, [1, 2].map(at));
  pictures.come(at(1));
  assert.deepEqual(pictures.asked, [1, 2, 6].map(at));
  pictures.come(at(6));
  assert.deepEqual(came, [6]);
  pictures.come(at(2));
  assert.deepEqual(pictures.asked, [1, 2, 6, 3].map(at));
});

test("a picture that is here is said at once, and one that cannot come holds nothing up", () => {
  const pictures = new Held();
  /** @type {number[]} */
  const came = [];
  pictures.ready.set(at(1), []);
  pictures.want(at(1), () => came.push(1));
  assert.deepEqual(came, [1]);
  pictures.want(at(2), () => came.push(2));
  pictures.load([3, 4].map(at));
  pictures.come(at(2), false);
  assert.deepEqual([came, pictures.asked], [[1], [2, 3, 4].map(at)]);
});
