/**
 * The pages that the browser has: contents and strips by name, and where in the list each page is. Pure: no document.
 *
 * What Python sends of a page is put together here (`evaluator/drawing/page_window.py` takes it apart).
 */

/** @typedef {import("./payloads.d.ts").PagePayload} PagePayload */
/** @typedef {import("./payloads.d.ts").WindowPayload} WindowPayload */
/** @typedef {import("./payloads.d.ts").PlacedItem} PlacedItem */
/** @typedef {import("./payloads.d.ts").PackedItem} PackedItem */
/** @typedef {import("./payloads.d.ts").StripItem} StripItem */
/** @typedef {PagePayload & {content?: string, strip_name?: string}} NamedPage */

const MOST_CONTENTS = 64;
const MOST_STRIPS = 4;

/** @param {PackedItem} packed @returns {PagePayload} with its boxes */
export function unpack({ payload, boxes, labels, sources, outlines }) {
  return {
    ...payload,
    boxes: boxes.map(([key, side, status, label, x1, y1, x2, y2, score, iou, coverage, purity, partner, near, nearIou, mistake, faded, cause, source]) => ({
      key, side, status, label: labels[label], xyxy: [x1, y1, x2, y2], score, iou, coverage, purity, partner,
      nearest: near === null ? null : { key: near, iou: nearIou ?? 0 }, mistake, faded, cause,
      source: source === null ? null : sources[side === "ground_truth" ? 0 : 1] + source,
      outline: outlines?.[key] ?? null,
    })),
  };
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

export class PageWindow {
  constructor() {
    this.contents = /** @type {Newest<PagePayload>} */ (new Newest(MOST_CONTENTS));
    this.strips = /** @type {Newest<StripItem[]>} */ (new Newest(MOST_STRIPS));
    /** @type {Map<number, PlacedItem>} by 1-based place in the list */
    this.places = new Map();
    this.listing = "";
    this.strip = "";
    this.stripFirst = 0;
  }

  /** @param {WindowPayload} data */
  take(data) {
    for (const [name, packed] of Object.entries(data.contents)) this.contents.add(name, unpack(packed));
    for (const [name, strip] of Object.entries(data.strips)) this.strips.add(name, strip);
    if (data.listing !== this.listing) this.places.clear();
    this.listing = data.listing;
    [this.strip, this.stripFirst] = [data.strip, data.strip_first];
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
   * @param {PlacedItem} placed @param {string | null} selected key of the chosen box @param {string} [address]
   * @returns {NamedPage | null} the page as the viewer draws it; null when something of it is not here
   */
  page(placed, selected, address = "") {
    const content = this.contents.get(placed.content);
    const strip = this.strips.get(this.strip);
    if (!content?.page || !strip) return null;
    const said = placed.said ?? {};
    const isHere = (/** @type {StripItem} */ each) => each.document === placed.document && each.index === placed.index;
    return {
      ...content,
      page: { ...content.page, image: placed.image ?? null, image_width: placed.image_width ?? 0 },
      mistakes: content.mistakes.map((each) => ({ ...each, ...said[String(each.number)] })),
      strip: strip.map((each) => (isHere(each) ? { ...each, current: true } : each)),
      strip_first: this.stripFirst,
      strip_name: this.strip,
      content: placed.content + JSON.stringify(said),
      selected,
      address,
    };
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
