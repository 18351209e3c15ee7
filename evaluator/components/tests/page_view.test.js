import assert from "node:assert/strict";
import { test } from "node:test";

import { writeAddress } from "../shared/page_view.js";

/** A browser at an address. @param {string} search @returns {{location: {pathname: string, search: string}, written: string[]}} */
function at(search) {
  const location = { pathname: "/compare", search };
  /** @type {string[]} */
  const written = [];
  const history = { state: null, replaceState: (/** @type {unknown} */ _, /** @type {string} */ __, /** @type {string} */ url) => void written.push(url) };
  Object.assign(globalThis, { window: { location, history } });
  return { location, written };
}

test("a view that was opened by its name alone is given its address, once", () => {
  const { written } = at("");
  const parent = {};
  writeAddress(parent, "page=3");
  writeAddress(parent, "page=4");
  assert.deepEqual(written, ["/compare?page=3"]);
});

test("an address that says something stays", () => {
  const { written } = at("?page=2");
  writeAddress({}, "page=3");
  assert.deepEqual(written, []);
});

test("the view that is left does not write the address of the one that comes", () => {
  const { location, written } = at("?page=2");
  const [left, comes] = [{}, {}];
  writeAddress(left, "page=2");
  location.search = "";
  writeAddress(left, "page=2");
  writeAddress(comes, "model=2&page=2");
  assert.deepEqual(written, ["/compare?model=2&page=2"]);
});

test("a view without an address is left alone", () => {
  const { written } = at("");
  writeAddress({}, undefined);
  assert.deepEqual(written, []);
});
