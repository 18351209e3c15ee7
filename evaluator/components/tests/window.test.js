import assert from "node:assert/strict";
import { test } from "node:test";
import { putPair } from "../compare/state.js";
import { PageWindow, SentTurns, placesAround } from "../shared/window.js";
import { putPage } from "../viewer/state.js";
import { mistake } from "./building.js";

/** @import { PagePayload, PairWindowPayload, WindowPayload } from "../shared/payloads.d.ts" */
/** @typedef {import("../shared/window.js").FetchedPage<PagePayload>} FetchedPage */

/** @param {number} index @param {string} [words] of its mistake @returns {PagePayload} */
function content(index, words = "Missed") {
  return /** @type {PagePayload} */ (/** @type {unknown} */ ({
    page: { document: "a.pdf", index, position: index + 1, total: 90, width: 1, height: 1, image: `/p${index}`, image_width: 7 },
    mistakes: [mistake(1, ["g4"], { title: words })], boxes: [], strip: [], reviewer: null,
  }));
}

/** @param {number} index @param {Partial<WindowPayload>} [more] @returns {WindowPayload} */
function sent(index, more = {}) {
  const items = [0, 1, 2].map((each) => ({ document: "a.pdf", index: each, mistakes: 1, blocks: [], current: false }));
  return {
    listing: "worst", pages: "/layoutscope/page/k", version: 1, position: index + 1, name: `c${index}`, image: `/p${index}`, image_width: 7,
    content: content(index), strip: "s", strip_first: 0, items, turn: "", selected: null, ...more,
  };
}

/** Pages whose answers come when the test says so. */
function asking() {
  /** @type {Map<string, (page: FetchedPage | null) => void>} */
  const asked = new Map();
  const pages = new PageWindow(putPage, (address) => new Promise((come) => void asked.set(address, come)));
  const come = async (/** @type {string} */ address, /** @type {FetchedPage | null} */ page) => {
    asked.get(address)?.(page);
    asked.delete(address);
    await new Promise((done) => setTimeout(done));
  };
  return { pages, asked, come };
}

test("a page is put together from itself and what all pages have in common", () => {
  const { pages } = asking();
  pages.take(sent(1, { reviewer: "Ngozi", address: "doc=a" }));
  const page = pages.shown();
  assert.deepEqual([page?.page?.image, page?.reviewer, page?.address, page?.mistakes[0].title], ["/p1", "Ngozi", "doc=a", "Missed"]);
  assert.deepEqual(page?.strip.map((each) => each.current), [false, true, false]);
  assert.deepEqual(pages.names(2), ["c1", "s"]);
});

test("what is here is not sent again, and a sharper picture comes without the page", () => {
  const { pages } = asking();
  pages.take(sent(1));
  pages.take(sent(1, { content: null, items: null, image: "/sharp", image_width: 99 }));
  assert.deepEqual([pages.shown()?.page?.image, pages.shown()?.page?.image_width], ["/sharp", 99]);
  pages.take(sent(1, { content: null, items: null, name: "another", version: 2 }));
  assert.equal(pages.shown(), null, "Python believes that the browser has what it has not");
});

test("the strip of another part of the list and back is there", () => {
  const { pages } = asking();
  pages.take(sent(0));
  pages.take(sent(1, { strip: "t", items: [] }));
  assert.deepEqual(pages.shown()?.strip, []);
  pages.take(sent(0, { items: null }));
  assert.equal(pages.shown()?.strip.length, 3);
});

test("of two contents of a page the later version counts, in whatever order they come", async () => {
  const { pages, come } = asking();
  pages.take(sent(0));
  const late = pages.fetched(2);
  pages.take(sent(1, { version: 2, name: "judged", content: content(1, "Judged") }));
  await come("/layoutscope/page/k/2.json", { version: 1, name: "c1", content: content(1) });
  await late;
  assert.equal(pages.shown()?.mistakes[0].title, "Judged");
  void pages.fetched(1);
  await come("/layoutscope/page/k/1.json", { version: 3, name: "c0", content: content(0, "Later") });
  assert.equal(pages.page(1)?.mistakes[0].title, "Later");
});

test("another list has other pages, also when an answer is on its way", async () => {
  const { pages, come } = asking();
  pages.take(sent(0));
  void pages.fetched(2);
  pages.take(sent(2, { listing: "in order", pages: "/layoutscope/page/l" }));
  await come("/layoutscope/page/k/2.json", { version: 1, name: "c1", content: content(1) });
  assert.deepEqual([...pages.pages.keys()], [3]);
});

test("two pages are fetched ahead at a time, what was not begun gives way, and one that does not come ends nothing", async () => {
  const { pages, asked, come } = asking();
  let heard = 0;
  pages.come = () => (heard += 1);
  pages.take(sent(0));
  pages.load([2, 3, 4, 5]);
  const ahead = (/** @type {number} */ at) => `/layoutscope/page/k/${at}.1.json`;
  assert.deepEqual([...asked.keys()], [2, 3].map(ahead));
  pages.load([6, 7, 1]);
  await come(ahead(2), null);
  assert.deepEqual([[...asked.keys()], heard], [[3, 6].map(ahead), 0]);
  await come(ahead(3), { version: 1, name: "c2", content: content(2) });
  assert.equal(heard, 1);
  assert.equal(pages.page(3)?.page?.index, 2);
});

test("without an address nothing is fetched", async () => {
  const { pages, asked } = asking();
  pages.take(sent(0, { pages: "" }));
  pages.load([2]);
  await pages.fetched(3);
  assert.equal(asked.size, 0);
});

test("pages that were not used for long go", () => {
  const { pages } = asking();
  for (let index = 0; index < 90; index += 1) pages.take(sent(index));
  assert.equal(pages.page(1), null);
  assert.equal(pages.page(90)?.page?.index, 89);
  assert.equal(pages.pages.size, 64);
});

test("a page of two models is put together", () => {
  const pages = new PageWindow(putPair);
  const pane = (/** @type {string} */ letter) => ({ letter, name: letter, words: "", boxes: [], mistakes: [mistake(1, ["g4"])], limit: null });
  pages.take(/** @type {PairWindowPayload} */ (/** @type {unknown} */ ({
    ...sent(0), mode: "flip", visit: "2", content: { page: content(0).page, differences: [{ key: "g4" }], panes: ["A", "B"].map(pane) },
    items: { strip: [{ document: "a.pdf", index: 0, current: false }], filters: [], show: "changed" },
  })));
  const page = pages.shown();
  assert.deepEqual(page?.panes.map(({ letter }) => letter), ["A", "B"]);
  assert.deepEqual([page?.strip[0].current, page?.show, page?.mode, page?.visit, page?.summoned, page?.page?.image], [true, "changed", "flip", "2", false, "/p0"]);
});

test("the pages on the way come first, and more of them while a key is held down", () => {
  /** Pages 3 and 8 have mistakes. @param {number} from @param {number} step */
  const nextWith = (from, step) => (step > 0 ? [3, 8] : [8, 3]).find((at) => (at - from) * step > 0) ?? 0;
  const around = (/** @type {number} */ here, /** @type {number} */ toward, running = false) => placesAround({ here, toward, running, total: 100 }, nextWith);
  assert.deepEqual(around(3, 1).slice(0, 7), [4, 5, 2, 8, 6, 7, 9]);
  assert.deepEqual(around(6, -1).slice(0, 7), [5, 4, 7, 3, 8, 2, 1]);
  assert.deepEqual(around(100, 1), [99, 8, 98]);
  assert.deepEqual(around(1, 1, true).slice(0, 4), [2, 3, 8, 4]);
  assert.deepEqual(around(20, 1, true), Array.from({ length: 24 }, (_, step) => 21 + step));
});

test("the app leads unless it has still to hear of a turn", () => {
  const turns = new SentTurns();
  assert.ok(turns.heard(""), "the first page");
  turns.unsent = true;
  assert.equal(turns.heard(""), false, "the reader has turned on");
  turns.sent("a");
  assert.equal(turns.heard(""), false, "a run that began before");
  turns.unsent = true;
  assert.equal(turns.heard("a"), false, "the answer, while the reader has turned on");
  turns.sent("b");
  assert.ok(turns.heard("b"));
  assert.ok(turns.heard("b"), "a link or a list beside the viewer leads elsewhere");
});
