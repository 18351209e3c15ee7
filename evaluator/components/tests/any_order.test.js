/** Turns, verdicts, runs and fetched pages in any order end alike: browser and app show one page, as it is. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { PageWindow } from "../shared/window.js";
import { WindowedView } from "../shared/windowed_view.js";
import { Clock } from "./building.js";

const PAGES = 20;

/** @param {number} seed @returns {(most: number) => number} whole numbers from 0, below `most` */
function chance(seed) {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

/** The app: what a session shows, and every page with the verdicts on it. */
class App {
  constructor() {
    this.order = Array.from({ length: PAGES }, (_, index) => index);
    this.index = 0;
    this.turn = "";
    this.answered = "";
    this.version = 1;
    /** @type {string[]} */
    this.held = [];
    /** @type {Record<number, number[]>} by page */
    this.verdicts = {};
    /** Whether another reader holds a verdict on every page. */
    this.others = false;
  }

  get listing() {
    return this.order.join();
  }

  /** @param {[string, any]} event */
  hear([name, event]) {
    this.held = (event[0] ?? event).held;
    if (name === "verdict") {
      const done = event.findIndex((/** @type {any} */ { id }) => id === this.answered) + 1;
      for (const { id, index, number } of event.slice(done)) {
        this.verdicts[index] = [...(this.verdicts[index] ?? []), number];
        this.answered = id;
        this.version += 1;
      }
    } else if (event.turn !== this.turn) {
      this.turn = event.turn;
      this.index = this.order[Math.max(0, Math.min(PAGES - 1, this.order.indexOf(event.index) + event.step))];
    }
  }

  /** @param {number} position */
  page(position) {
    const index = this.order[position - 1];
    const content = { page: { document: "a", index, position, total: PAGES, image: null, image_width: 0 }, verdicts: this.verdicts[index] ?? [], others: this.others };
    return { version: this.version, name: JSON.stringify(content), content };
  }

  message() {
    const { listing, turn, answered, held } = this;
    const position = this.order.indexOf(this.index) + 1;
    const shown = this.page(position);
    return {
      ...shown, listing, turn, answered, position, pages: `/page/${listing}`, strip: listing, selected: null,
      content: held.includes(shown.name) ? null : shown.content,
      items: held.includes(listing) ? null : this.order.map((index) => ({ document: "a", index, current: false })),
    };
  }
}

/** @extends {WindowedView<any, any, any>} */
class Reader extends WindowedView {
  /** @param {PageWindow<any, any, any, any>} pages @param {(event: [string, any]) => void} tell */
  constructor(pages, tell) {
    super({}, () => {}, pages, /** @type {any} */ ({ load: () => {} }));
    this.tell = tell;
    this.panes = /** @type {any} */ ([{ image: { getAttribute: () => null } }]);
  }

  /** @override @param {any} data */
  present(data) {
    const turned = this.accept(data);
    this.turner.arrived(data, turned);
  }

  /** @override @param {[any, any]} event */
  sendShared(...event) {
    this.tell(event);
  }
}

/** @param {number} seed @param {boolean} moves whether the app also moves and lists other pages by itself */
async function round(seed, moves) {
  const clock = new Clock();
  const node = { append: () => {}, setAttribute: () => {}, classList: { toggle: () => {}, contains: () => true } };
  Object.assign(globalThis, { document: { createElement: () => node } });
  const draw = chance(seed);
  const app = new App();
  /** @type {[string, any][]} */
  const events = [];
  const lost = new Set();
  let run = 0;
  const put = (/** @type {any} */ content, /** @type {any} */ items, /** @type {any} */ last) => ({
    ...content, selected: null, listing: last.listing,
    strip: items.map((/** @type {any} */ each) => ({ ...each, current: each.index === content.page.index })),
  });
  /** A run hears all that came before it; one that begins meanwhile breaks it off, before or after it has said what it shows. */
  const begin = () => {
    run += 1;
    const own = run;
    clock.setTimeout(() => {
      events.splice(0).forEach((event) => app.hear(event));
      if (own !== run && draw(2)) return;
      const said = app.message();
      clock.setTimeout(() => reader.update(said), 0);
    }, draw(400));
  };
  const pages = new PageWindow(put, (address) => new Promise((come) => void clock.setTimeout(() => {
    const [, listing, position] = /** @type {RegExpExecArray} */ (/^.page.([\d,]+).(\d+)/.exec(address));
    const page = listing === app.listing && draw(10) ? app.page(Number(position)) : null;
    clock.setTimeout(() => come(page), draw(400));
  }, draw(200))));
  /** @type {Map<string, number>} the latest version that came of a page, by list and place */
  const latest = new Map();
  const keep = pages.keep.bind(pages);
  pages.keep = (position, page) => {
    const name = `${pages.last.listing} ${position}`;
    latest.set(name, Math.max(page.version, latest.get(name) ?? 0));
    keep(position, page);
    assert.equal(pages.pages.get(position)?.version, latest.get(name), `seed ${seed}: a page of an earlier version`);
    assert.equal(String(page.content.page.index), pages.last.listing.split(",")[position - 1], `seed ${seed}: a page of another list`);
  };
  const reader = new Reader(pages, (event) => {
    // One message in ten is lost on its way, once.
    const id = event[1].turn ?? event[1].at(-1).id;
    if (!lost.has(id) && draw(10) === 0) {
      lost.add(id);
      return;
    }
    events.push(event);
    begin();
  });
  const pass = async (/** @type {number} */ milliseconds) => {
    for (let each = 0; each < milliseconds; each += 20) {
      clock.pass(20);
      await new Promise((done) => setImmediate(done));
    }
  };
  begin();
  await pass(1000);
  let wanted = 0;
  let number = 0;
  /** @type {Record<number, number[]>} */
  const judged = {};
  for (let act = 0; act < 30; act += 1) {
    const kind = draw(moves ? 14 : 10);
    if (kind < 6) {
      const step = draw(3) ? 1 : -1;
      reader.turner.turn(step);
      wanted = Math.max(0, Math.min(PAGES - 1, wanted + step));
    } else if (kind < 8) {
      const { document: name, index } = reader.data.page;
      number += 1;
      judged[index] = [...(judged[index] ?? []), number];
      reader.outbox.send({ id: String(number), document: name, index, number, keys: [], target: null, verdict: null, note: "" });
    } else if (kind < 10) {
      begin();
    } else if (kind === 10) {
      app.index = draw(PAGES);
      begin();
    } else if (kind === 11) {
      app.order.reverse();
      begin();
    } else {
      app.others = !app.others;
      app.version += 1;
      begin();
    }
    await pass([20, 20, 100, 300, 900][draw(5)]);
  }
  await pass(25000);
  return { app, reader, wanted, judged };
}

for (const moves of [false, true]) {
  test(moves ? "and so they do when the app moves and lists by itself" : "turns, verdicts, runs and fetched pages in any order end alike", async () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const { app, reader, wanted, judged } = await round(seed, moves);
      const { page, verdicts, others, listing } = reader.data;
      assert.deepEqual(app.verdicts, judged, `seed ${seed}: what the app has`);
      assert.deepEqual([page.index, verdicts, others, listing], [app.index, judged[app.index] ?? [], app.others, app.listing], `seed ${seed}: what the browser shows`);
      if (!moves) assert.equal(page.index, wanted, `seed ${seed}: where the reader went`);
      assert.deepEqual([reader.turns.waits, reader.turns.unsent, reader.outbox.acts], ["", false, []], `seed ${seed}: nothing is left to say`);
    }
  });
}

test("a page whose picture is late is fetched once by its version, and drawn when it comes", async () => {
  new Clock();
  const app = new App();
  /** @type {string[]} */
  const asked = [];
  let come = () => {};
  const pages = new PageWindow((content) => ({ ...content, strip: [], selected: null }), (address) => {
    asked.push(address);
    return new Promise((done) => {
      come = () => done(app.page(1));
    });
  });
  const reader = new Reader(pages, () => {});
  reader.loadAhead = () => {};
  const { content, name, ...said } = app.message();
  const late = { ...content, page: { ...app.page(1).content.page, problem: { again: true } } };
  reader.update({ ...said, name: "late", content: late });
  reader.update({ ...said, name: "late", content: late });
  assert.deepEqual(asked, [`/page/${app.listing}/1.1.json`]);
  assert.ok(reader.data.page.problem);
  come();
  await new Promise((done) => setImmediate(done));
  assert.deepEqual([reader.data.page.problem, asked.length], [undefined, 1]);
  assert.equal(pages.pages.get(1)?.name, name);
});
