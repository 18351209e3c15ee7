import assert from "node:assert/strict";
import { test } from "node:test";
import { COMPARED_PAGE } from "../compare/put.js";
import { PageWindow, SentTurns } from "../shared/window.js";
import { VIEWED_PAGE } from "../viewer/put.js";
import { mistake } from "./building.js";

/** @typedef {import("../shared/payloads.d.ts").PackedItem} PackedItem */
/** @typedef {import("../shared/payloads.d.ts").WindowPayload} WindowPayload */
/** @typedef {import("../shared/payloads.d.ts").PairWindowPayload} PairWindowPayload */

/** @type {PackedItem["boxes"][number]} */
const MISSED = ["g4", "ground_truth", "FN", 1, 0.1, 0.2, 0.3, 0.4, null, 0.25, 0.5, 0.75, null, "p7", 0.25, 1, false, null, "2].objects[4]"];

/** @param {number} index @returns {PackedItem} */
function packed(index) {
  const payload = /** @type {PackedItem["payload"]} */ (/** @type {unknown} */ ({
    page: { document: "a.pdf", index, position: index + 1, total: 9, width: 1, height: 1 },
    mistakes: [{ number: 1, keys: ["g4"] }], boxes: [], strip: [],
  }));
  return { payload, boxes: [MISSED], labels: ["Text", "Table"], sources: ["t.json, $.predictions[", "p.json"] };
}

/** @param {number} index @param {Partial<WindowPayload>} [more] @returns {WindowPayload} */
function sent(index, more = {}) {
  const strip = [0, 1, 2].map((each) => ({ document: "a.pdf", index: each, mistakes: 1, blocks: [], current: false }));
  return {
    shown: { document: "a.pdf", index, position: index + 1, content: `c${index}`, image: "/layoutscope/x.picture", image_width: 7 },
    listing: "worst", contents: { [`c${index}`]: packed(index) }, strip: "s", strip_first: 0, strips: { s: strip }, turn: "", selected: null, ...more,
  };
}

test("a box comes back as it was", () => {
  assert.deepEqual(VIEWED_PAGE.unpack(packed(0)).boxes, [{
    key: "g4", side: "ground_truth", status: "FN", label: "Table", xyxy: [0.1, 0.2, 0.3, 0.4], score: null, iou: 0.25, coverage: 0.5, purity: 0.75,
    partner: null, nearest: { key: "p7", iou: 0.25 }, mistake: 1, faded: false, cause: null, source: "t.json, $.predictions[2].objects[4]",
    outline: null,
  }]);
  assert.equal(VIEWED_PAGE.unpack({ ...packed(0), outlines: { g4: "M0 0L10 0L0 10Z" } }).boxes[0].outline, "M0 0L10 0L0 10Z");
});

test("a page is put together from its parts", () => {
  const pages = new PageWindow(VIEWED_PAGE);
  const data = sent(1, { shown: { ...sent(1).shown, said: { 1: { verdict: { agreed: "ignore", conflict: false, opinions: [] } } } } });
  pages.take(data);
  const page = pages.page(data.shown);
  assert.equal(page?.page?.image, "/layoutscope/x.picture");
  assert.equal(page?.mistakes[0].verdict?.agreed, "ignore");
  assert.deepEqual(page?.strip.map((each) => each.current), [false, true, false]);
});

test("what was sent is not sent again, and is here for its place", () => {
  const pages = new PageWindow(VIEWED_PAGE);
  pages.take(sent(0, { around: [sent(1).shown], contents: { c0: packed(0), c1: packed(1) } }));
  assert.deepEqual(pages.names(), ["c0", "c1", "s"]);
  assert.equal(pages.placed(2)?.index, 1);
  assert.equal(pages.placed(3), null);
  pages.take(sent(1, { contents: {}, strips: {} }));
  assert.equal(pages.page(sent(1).shown)?.page?.index, 1);
});

test("another list has other places, and keeps contents", () => {
  const pages = new PageWindow(VIEWED_PAGE);
  pages.take(sent(0));
  pages.take(sent(1, { listing: "by page" }));
  assert.equal(pages.placed(1), null);
  assert.deepEqual(pages.names().slice(0, 2), ["c0", "c1"]);
});

test("pages run out before the list does", () => {
  const pages = new PageWindow(VIEWED_PAGE);
  const contents = { c0: packed(0), c1: packed(1), c2: packed(2) };
  pages.take(sent(0, { around: [sent(1).shown, sent(2).shown], contents }));
  const next = (/** @type {number} */ from) => (from < 9 ? from + 1 : 0);
  assert.deepEqual([1, 2, 3].map((least) => pages.runsOut(1, next, least)), [false, false, true]);
  assert.equal(pages.runsOut(1, (from) => (from < 3 ? from + 1 : 0), 12), false, "the list ends with what is here");
});

test("a page of two models is put together, each pane with its own verdicts", () => {
  const pages = new PageWindow(COMPARED_PAGE);
  const pane = (/** @type {string} */ letter) => ({ letter, name: letter, words: "", boxes: [], mistakes: [mistake(1, ["g4"])], limit: null });
  const data = /** @type {PairWindowPayload} */ (/** @type {unknown} */ ({
    ...sent(0), mode: "flip", visit: "2",
    shown: { ...sent(0).shown, said: { B1: { answered: "x" } } },
    contents: { c0: {
      page: { document: "a.pdf", index: 0, position: 1, total: 9, width: 1, height: 1 }, differences: [{ key: "g4" }],
      panes: ["A", "B"].map((letter) => ({ pane: pane(letter), boxes: [[MISSED, "a_only", true, "FN Table", "b3"]], labels: ["Text", "Table"], sources: ["t", "p"] })),
    } },
    strips: { s: { strip: [{ document: "a.pdf", index: 0, current: false }], filters: [], show: "changed" } },
  }));
  pages.take(data);
  const page = pages.page(data.shown);
  assert.deepEqual(page?.panes.map(({ mistakes }) => mistakes[0].answered), [undefined, "x"]);
  const [box] = page?.panes[1].boxes ?? [];
  assert.deepEqual([box.label, box.kind, box.full, box.chip, box.mate, box.source], ["Table", "a_only", true, "FN Table", "b3", "t2].objects[4]"]);
  assert.deepEqual([page?.strip[0].current, page?.show, page?.mode, page?.visit, page?.summoned, page?.page?.image], [true, "changed", "flip", "2", false, "/layoutscope/x.picture"]);
});

test("contents that were not used for long go", () => {
  const pages = new PageWindow(VIEWED_PAGE);
  for (let index = 0; index < 100; index += 1) pages.take(sent(index));
  assert.equal(pages.placed(1), null);
  assert.equal(pages.placed(100)?.index, 99);
  assert.ok(pages.names().length <= 65);
});

test("a late answer does not lead back, the answer to the last turn counts", () => {
  const turns = new SentTurns();
  assert.ok(turns.counts("", "page 1", false), "the first page");
  turns.sent("a");
  assert.equal(turns.counts("", "page 1", false), false, "a run that began before the turn was heard of");
  turns.sent("b");
  assert.equal(turns.counts("a", "page 2", false), false);
  assert.ok(turns.counts("b", "page 3", false));
  assert.equal(turns.waiting, false);
});

test("a reader who has turned on stays there, but for a move of the app itself", () => {
  const turns = new SentTurns();
  turns.sent("a");
  assert.equal(turns.counts("a", "page 2", true), false, "the answer, while the reader is on page 3");
  assert.equal(turns.counts("a", "page 2", true), false, "the same word once more");
  assert.ok(turns.counts("a", "page 9", true), "a link or a list beside the viewer leads to page 9");
});

test("an old answer about the page that a reader has come back to does not end the turn", () => {
  const pages = new PageWindow(VIEWED_PAGE);
  const [here, there] = [sent(1), sent(2)];
  for (const data of [there, here]) pages.take(data);
  const own = { position: here.shown.position };
  assert.deepEqual(pages.next(here.shown, own, true), { placed: here.shown, stays: true });
  assert.deepEqual(pages.next(here.shown, own, false), { placed: here.shown, stays: false }, "both are there");
  assert.deepEqual(pages.next(there.shown, own, false), { placed: here.shown, stays: true });
  assert.deepEqual(pages.next(there.shown, null, false), { placed: there.shown, stays: false }, "the app leads");
  assert.deepEqual(pages.next(there.shown, { position: 9 }, true), { placed: there.shown, stays: false }, "it is not here");
});

test("after an answer that never came the app leads again", () => {
  const turns = new SentTurns();
  turns.sent("a");
  turns.giveUp();
  assert.ok(turns.counts("", "page 1", false));
});
