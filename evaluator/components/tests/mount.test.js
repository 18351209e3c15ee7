import assert from "node:assert/strict";
import { test } from "node:test";

import { mounting } from "../shared/mount.js";

function mounted() {
  /** @type {string[]} */
  const did = [];
  class Component {
    /** @param {ParentNode & Node} _ @param {(name: "go", value: number) => void} send */
    constructor(_, send) {
      this.send = send;
      did.push("made");
    }

    /** @param {string} data */
    update(data) {
      did.push(data);
    }

    stop() {
      did.push("stopped");
    }
  }
  const show = mounting(Component);
  const place = { isConnected: true };
  const parent = /** @type {ParentNode & Node} */ (/** @type {unknown} */ (place));
  return { did, place, put: (/** @type {string} */ data) => show(parent, data, () => undefined) };
}

test("a component stays when the end of an earlier call comes after the data have changed again", () => {
  const { did, place, put } = mounted();
  const first = put("a");
  first();
  const second = put("b");
  first();
  assert.deepEqual(did, ["made", "a", "b"]);
  place.isConnected = false;
  second();
  assert.deepEqual(did, ["made", "a", "b", "stopped"]);
});

test("a component that was taken away is made anew when it is shown again", () => {
  const { did, place, put } = mounted();
  const end = put("a");
  place.isConnected = false;
  end();
  place.isConnected = true;
  put("b");
  assert.deepEqual(did, ["made", "a", "stopped", "made", "b"]);
});
