/**
 * The pages that the browser has: contents and strips by name, and where in the list each page is. Pure: no document.
 *
 * What Python sends of a page is put together here (`evaluator/drawing/page_window.py` takes it apart).
 */

/** @typedef {import("./payloads.d.ts").WindowLayer} WindowLayer */
/** @typedef {import("./payloads.d.ts").PlacedItem} PlacedItem */
/** @typedef {import("./payloads.d.ts").MistakeItem} MistakeItem */
/** @typedef {import("./payloads.d.ts").BoxItem} BoxItem */
/**
 * How the pages of one kind of view are put together.
 * @template D what Python sends
 * @template P a page as the view draws it
 * @template K a content as it is sent
 * @template C a content as it is kept
 * @template S what all pages of a list have in common
 * @typedef {object} WindowForm
 * @property {(packed: K) => C} unpack
 * @property {(content: C, strip: S, placed: PlacedItem, last: D) => P} put
 */

const MOST_CONTENTS = 64;
const MOST_STRIPS = 4;

/**
 * @param {import("./payloads.d.ts").BoxRow[]} rows @param {string[]} labels @param {[string, string]} sources how the sources of each side begin
 * @param {Record<string, string>} [outlines] by key @returns {BoxItem[]}
 */
export function unpackBoxes(rows, labels, sources, outlines) {
  return rows.map(([key, side, status, label, x1, y1, x2, y2, score, iou, coverage, purity, partner, near, nearIou, mistake, faded, cause, source]) => ({
    key, side, status, label: labels[label], xyxy: [x1, y1, x2, y2], score, iou, coverage, purity, partner,
    nearest: near === null ? null : { key: near, iou: nearIou ?? 0 }, mistake, faded, cause,
    source: source === null ? null : sources[side === "ground_truth" ? 0 : 1] + source,
    outline: outlines?.[key] ?? null,
  }));
}

/**
 * @param {MistakeItem[]} mistakes @param {Record<string, import("./payloads.d.ts").SaidItem>} [said] verdicts by name
 * @param {string} [letter] of the model, before each number @returns {MistakeItem[]} with their verdicts
 */
export function withSaid(mistakes, said = {}, letter = "") {
  return mistakes.map((each) => ({ ...each, ...said[letter + each.number] }));
}

/**
 * @template {{document: string, index: number, current: boolean}} I @param {I[]} strip @param {PlacedItem} placed @returns {I[]} with this page as the current one
 */
export function withCurrent(strip, { document: name, index }) {
  return strip.map((each) => (each.document === name && each.index === index ? { ...each, current: true } : each));
}

/**
 * Values by name, the ones used last.
 * @template T
 */
class Newest {
  /** @param {number} most */
  constructor(most) {
    this.most = most;
    /** @type {Map<string, T>} */
    this.values = new Map();
  }

  /** @param {string} name @returns {T | undefined} */
  get(name) {
    const value = this.values.get(name);
    if (value !== undefined) this.add(name, value);
    return value;
  }

  /** @param {string} name @param {T} value */
  add(name, value) {
    this.values.delete(name);
    this.values.set(name, value);
    for (const oldest of this.values.keys()) {
      if (this.values.size <= this.most) break;
      this.values.delete(oldest);
    }
  }
}

/**
 * @template {WindowLayer & {contents: Record<string, K>, strips: Record<string, S>}} D
 * @template P
 * @template K
 * @template C
 * @template S
 */
export class PageWindow {
  /** @param {WindowForm<D, P, K, C, S>} form */
  constructor(form) {
    this.form = form;
    this.contents = /** @type {Newest<C>} */ (new Newest(MOST_CONTENTS));
    this.strips = /** @type {Newest<S>} */ (new Newest(MOST_STRIPS));
    /** @type {Map<number, PlacedItem>} by 1-based place in the list */
    this.places = new Map();
    this.listing = "";
    /** @type {D | null} the last message, without contents */
    this.last = null;
  }

  /** @param {D} data */
  take(data) {
    for (const [name, packed] of Object.entries(data.contents)) this.contents.add(name, this.form.unpack(packed));
    for (const [name, strip] of Object.entries(data.strips)) this.strips.add(name, strip);
    if (data.listing !== this.listing) this.places.clear();
    this.listing = data.listing;
    this.last = { ...data, contents: {}, strips: {} };
    for (const placed of [...(data.around ?? []), data.shown]) if (placed.position > 0) this.places.set(placed.position, placed);
  }

  /** @returns {string[]} names of what is here, for Python */
  names() {
    return [...this.contents.values.keys(), ...this.strips.values.keys()];
  }

  /** @param {number} position 1-based place in the list @returns {PlacedItem | null} a page that can be drawn without asking */
  placed(position) {
    const placed = this.places.get(position);
    return placed && this.contents.values.has(placed.content) ? placed : null;
  }

  /**
   * @param {number} position 1-based place in the list @param {(from: number) => number} next the place that follows one, 0 at the end
   * @param {number} least @returns {boolean} whether fewer pages follow that are here, and the list goes on
   */
  runsOut(position, next, least) {
    let at = position;
    for (let pages = 0; pages < least; pages += 1) {
      at = next(at);
      if (at < 1) return false;
      if (!this.placed(at)) return true;
    }
    return false;
  }

  /**
   * @param {PlacedItem} shown what the app shows @param {{position: number} | null} own where the reader is, if that counts
   * @param {boolean} waiting whether the app has still to answer the reader's last turn
   * @returns {{placed: PlacedItem, stays: boolean}} the page to draw, and whether the reader stays there, of which the app
   * has still to hear: also where an old answer is about the page that the reader has come back to
   */
  next(shown, own, waiting) {
    const kept = own && this.placed(own.position);
    return { placed: kept ?? shown, stays: kept !== null && (kept !== shown || waiting) };
  }

  /** @param {PlacedItem} placed @returns {P | null} the page as the view draws it; null when something of it is not here */
  page(placed) {
    const content = this.contents.get(placed.content);
    const strip = this.last && this.strips.get(this.last.strip);
    return content && strip && this.last ? this.form.put(content, strip, placed, this.last) : null;
  }
}

/**
 * Whose word counts: the browser turns pages itself and says so afterwards, so an answer may be about a page that the
 * reader has left. It must not lead back; a move that the app made by itself must lead there.
 */
export class SentTurns {
  constructor() {
    this.turn = "";
    this.waiting = false;
    this.word = "";
  }

  /** @param {string} turn name of the turn that is sent now */
  sent(turn) {
    this.turn = turn;
    this.waiting = true;
  }

  /** No answer comes. */
  giveUp() {
    this.turn = "";
    this.waiting = false;
  }

  /**
   * @param {string} turn the last turn that the app had received @param {string} page what it shows
   * @param {boolean} ahead whether the reader has turned on since the last turn was sent
   * @returns {boolean} whether the page of the app is to be shown
   */
  counts(turn, page, ahead) {
    const before = this.word;
    this.word = JSON.stringify([turn, page]);
    if (this.turn !== "" && turn !== this.turn) return false;
    const answer = this.waiting;
    this.waiting = false;
    return !ahead || (!answer && before !== "" && before !== this.word);
  }
}
