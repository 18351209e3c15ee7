/**
 * The pages of a list that the browser has, by place, and whose word counts about the page that is shown. Pure: no document.
 *
 * The shown page comes with the message of the app, the others by their address. Of two contents of a page the one of the
 * later version counts, so answers may come in any order.
 */

/** @import { WindowLayer } from "./payloads.d.ts" */

/**
 * @template C a page as it is sent
 * @typedef {{version: number, name: string, content: C}} FetchedPage
 */
/**
 * How the pages of one kind of view are put together.
 * @template D what Python sends
 * @template P a page as the view draws it
 * @template C a page as it is sent
 * @template S what all pages of a list have in common
 * @typedef {(content: C, items: S, last: D, name: string) => P} PutPage
 */

const MOST_PAGES = 64;
const MOST_STRIPS = 4;
/** As many as the server draws at a time: what follows is asked for when it is still wanted. */
export const AT_A_TIME = 2;
const AHEAD = 8;
const RUNNING_AHEAD = 24;
const BEHIND = 2;
const MISTAKEN = 3;

/**
 * @template {{document: string, index: number, current: boolean}} I @param {I[]} strip @param {{document: string, index: number} | null} page
 * @returns {I[]} with this page as the current one
 */
export function withCurrent(strip, page) {
  return strip.map((each) => (each.document === page?.document && each.index === page.index ? { ...each, current: true } : each));
}

/** @param {string} address @returns {Promise<any>} what the server answers; null when it has no such page, or does not answer */
function askServer(address) {
  return fetch(address).then((answer) => (answer.ok ? answer.json() : null)).catch(() => null);
}

/**
 * Places that a reader may turn to next, from 1, the likely ones first: those on the way, and the nearest pages with
 * mistakes in both directions; while a key is held down more of them on the way, and none behind.
 * @param {{here: number, total: number, toward: number, running: boolean}} reader
 * @param {(from: number, step: number) => number} nextWith the place of the next page with mistakes, 0 for none that is known
 * @returns {number[]}
 */
export function placesAround({ here, total, toward, running }, nextWith) {
  const steps = (/** @type {number} */ most, /** @type {number} */ way) => Array.from({ length: most }, (_, step) => here + way * (step + 1));
  const ahead = steps(running ? RUNNING_AHEAD : AHEAD, toward);
  const behind = running ? [] : steps(BEHIND, -toward);
  const mistaken = [];
  for (let at = nextWith(here, toward); at > 0 && mistaken.length < (running ? AHEAD : MISTAKEN); at = nextWith(at, toward)) mistaken.push(at);
  if (!running) mistaken.splice(1, 0, nextWith(here, -toward));
  const wanted = [...ahead.slice(0, 2), ...behind.slice(0, 1), ...mistaken, ...ahead.slice(2), ...behind.slice(1)];
  return [...new Set(wanted)].filter((at) => at >= 1 && at <= total && at !== here);
}

/** @template K, V @param {Map<K, V>} values the ones used last at the end @param {K} key @param {V} value @param {number} most */
export function keepNewest(values, key, value, most) {
  values.delete(key);
  values.set(key, value);
  for (const oldest of values.keys()) {
    if (values.size <= most) break;
    values.delete(oldest);
  }
}

/**
 * @template {WindowLayer & {content?: C | null, items?: S | null}} D
 * @template P
 * @template {{page: {document: string, index: number, image: string | null, image_width: number} | null}} C
 * @template S
 */
export class PageWindow {
  /** @param {PutPage<D, P, C, S>} put @param {(address: string) => Promise<FetchedPage<C> | null>} [ask] */
  constructor(put, ask = askServer) {
    this.put = put;
    this.ask = ask;
    /** @type {Map<number, FetchedPage<C>>} by place, the ones used last at the end */
    this.pages = new Map();
    /** @type {Map<string, Promise<void>>} by address */
    this.under = new Map();
    /** @type {number[]} places that are fetched when there is room */
    this.later = [];
    this.loading = 0;
    /** Called when a page has come that was fetched ahead. */
    this.come = () => {};
    /** @type {Map<string, S>} what all pages have in common, by name */
    this.strips = new Map();
    /** @type {D | null} the last message */
    this.last = null;
  }

  /** @param {D} data */
  take(data) {
    if (data.listing !== this.last?.listing) {
      this.pages.clear();
      this.later = [];
    }
    if (data.items) keepNewest(this.strips, data.strip, data.items, MOST_STRIPS);
    this.last = { ...data, content: null, items: null };
    const { position, version, name } = data;
    const held = this.pages.get(position);
    const content = data.content ?? (held?.name === name ? held.content : null);
    if (!content?.page) return;
    // The picture of the shown page may be sharper than the one of its address.
    const page = { ...content.page, image: data.image ?? null, image_width: data.image_width ?? 0 };
    this.keep(position, { version, name, content: { ...content, page } });
  }

  /** @param {number} position @param {FetchedPage<C>} page takes the place of an earlier version */
  keep(position, page) {
    const held = this.pages.get(position);
    keepNewest(this.pages, position, held && held.version > page.version ? held : page, MOST_PAGES);
  }

  /** @param {number} position 1-based place in the list, 0 for the page that is shown and not listed @returns {P | null} the page as the view draws it; null when it is not here */
  page(position) {
    const { last } = this;
    const held = this.pages.get(position);
    const items = last && this.strips.get(last.strip);
    if (!held || !items || !last) return null;
    this.keep(position, held);
    return this.put(held.content, items, last, held.name);
  }

  /** @returns {P | null} the page that the app shows, if it is here */
  shown() {
    const { last } = this;
    return last && this.pages.get(last.position)?.name === last.name ? this.page(last.position) : null;
  }

  /** @param {number} position of the page on screen @returns {string[]} names that Python need not send again */
  names(position) {
    const held = this.pages.get(position);
    return [...(held ? [held.name] : []), ...this.strips.keys()];
  }

  /** @returns {boolean} whether pages have an address */
  get routed() {
    return Boolean(this.last?.pages);
  }

  /**
   * @param {number} position of a page @param {boolean} [ahead] before it is wanted: it comes when it is drawn and read
   * @returns {Promise<void>} when it has come, or does not come
   */
  fetched(position, ahead = false) {
    const { last } = this;
    if (!last?.pages) return Promise.resolve();
    const address = `${last.pages}/${position}${ahead ? `.${last.version}` : ""}.json`;
    const under = this.under.get(address) ?? this.ask(address).then((page) => {
      if (page && this.last?.listing === last.listing) this.keep(position, page);
    }).finally(() => this.under.delete(address));
    this.under.set(address, under);
    return under;
  }

  /** Fetches what is not here, two at a time; what was asked for so before and has not begun is not wanted any more. @param {number[]} positions the likely ones first */
  load(positions) {
    this.later = this.routed ? positions : [];
    while (this.loading < AT_A_TIME) {
      const next = this.later.shift();
      if (next === undefined) return;
      if (this.pages.has(next)) continue;
      this.loading += 1;
      void this.fetched(next, true).then(() => {
        this.loading -= 1;
        if (this.pages.has(next)) this.come();
        else this.load(this.later);
      });
    }
  }
}

/**
 * Whose word counts: the browser turns pages itself and says so afterwards, so an answer may be about a page that the
 * reader has left. It counts when the app has heard of the last turn.
 */
export class SentTurns {
  constructor() {
    /** the last turn that was sent, while it has no answer */
    this.waits = "";
    /** Whether the reader has turned on since. */
    this.unsent = false;
  }

  /** @param {string} turn name of the turn that is sent now */
  sent(turn) {
    this.waits = turn;
    this.unsent = false;
  }

  /** What the reader did does not count any more. */
  forget() {
    this.waits = "";
    this.unsent = false;
  }

  /** @param {string} turn the last turn that the app had received @returns {boolean} whether the page that it shows counts */
  heard(turn) {
    if (turn === this.waits) this.waits = "";
    return this.waits === "" && !this.unsent;
  }
}
