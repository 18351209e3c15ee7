import assert from "node:assert/strict";
import { test } from "node:test";

test("a key is heard once, by the newer of two builds of one component, and by none in a notebook that lacks the focus", async () => {
  class None {}
  const page = new EventTarget();
  const given = { window: page, document: { querySelector: () => null, activeElement: null }, Element: None, HTMLElement: None, ShadowRoot: None };
  const before = Object.fromEntries(Object.keys(given).map((name) => [name, Reflect.get(globalThis, name)]));
  Object.assign(globalThis, given);
  const { listenForKeys } = await import("../shared/focus.js");
  /** @type {string[]} */
  const heard = [];
  const ends = new AbortController();
  /** @param {string} name @param {string} build @param {boolean} [inNotebook] */
  const built = (name, build, inNotebook = false) => {
    const parts = { getClientRects: () => [1], classList: [name], getRootNode: () => page, hasAttribute: () => inNotebook };
    const root = /** @type {any} */ (Object.assign(new EventTarget(), parts));
    listenForKeys(root, () => heard.push(`${name} ${build}`), ends.signal);
  };
  built("suspects", "old");
  built("decisions", "only");
  built("suspects", "new");
  built("viewer", "of a notebook", true);
  page.dispatchEvent(Object.assign(new Event("keydown"), { key: "3" }));
  assert.deepEqual(heard, ["decisions only", "suspects new"]);
  ends.abort();
  page.dispatchEvent(Object.assign(new Event("keydown"), { key: "3" }));
  assert.equal(heard.length, 2);
  Object.assign(globalThis, before);
});
