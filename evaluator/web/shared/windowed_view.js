/**
 * A view of pages of which the browser has some: it turns to them by itself, and Python hears of it afterwards.
 *
 * What is drawn is what the browser has; a page that it lacks is asked for. While a key is held down, Python hears of it
 * before the pages ahead run out, and sends more of them.
 */

import { PageView } from "./page_view.js";
import { AskAgain, Debounced, eventId, pause } from "./requests.js";
import { SentTurns } from "./window.js";

/** @typedef {import("./payloads.d.ts").GoEvent} GoEvent */
/** @typedef {import("./payloads.d.ts").WindowLayer} WindowLayer */
/** @typedef {import("./page_view.js").SharedEvents & {more: import("./payloads.d.ts").MoreEvent}} WindowEvents */

/** Milliseconds of rest before a page turn is sent, and before what is missing is asked for. */
const SEND_AFTER = 80;
const MORE_AFTER = 120;
/** A message that reaches the server during another run can get lost: it is sent once more, and then given up. */
const TELL_AGAIN = 3000;
const ANSWER_LOST = 8000;
/** A page whose picture is not here stands still so long for it, and is drawn without it then; while a key is held down, at once. */
const PICTURE_WAITS = 150;
/** Pauses before a picture that the server is still drawing is asked for again. */
const ASK_AGAIN = [2000, 4000, 8000, 16000, 32000];
/** Pages that are still ahead when more of them are asked for, while a key is held down. */
const LEAST_AHEAD = 12;

/**
 * @template {WindowLayer & {contents: Record<string, any>, strips: Record<string, any>}} D pages of a list
 * @template {import("./page_view.js").SharedPayload} P one page
 * @template E events by name
 * @extends {PageView<P, E>}
 */
export class WindowedView extends PageView {
  /**
   * @param {Record<string, string>} actions by key @param {import("./mount.js").Send<E>} send
   * @param {import("./window.js").PageWindow<D, P, any, any, any>} pagesHere what this document has of pages; it outlives a view, because Python knows what was sent to it
   * @param {import("./ahead.js").PicturesAhead} picturesAhead
   */
  constructor(actions, send, pagesHere, picturesAhead) {
    super(actions, send);
    this.pagesHere = pagesHere;
    this.picturesAhead = picturesAhead;
    /** Whether pages of a list are given, and not one page alone. */
    this.windowed = false;
    this.turns = new SentTurns();
    /** Whether the reader turned to a page that was not sent. */
    this.ahead = false;
    this.toward = 1;
    /** Whether the last key was held down. */
    this.running = false;
    /** Whether Python was last told of a page that passed by: it has not made all of the page that is shown then. */
    this.passing = false;
    this.againTimer = 0;
    this.late = new AskAgain(ASK_AGAIN, () => this.askMore());
    this.lostTimer = 0;
    Object.assign(this.requests, { turn: new Debounced(SEND_AFTER), more: new Debounced(MORE_AFTER) });
    this.stops.push(() => window.clearTimeout(this.againTimer), () => window.clearTimeout(this.lostTimer), () => this.late.stop());
  }

  /** Sends an event as it is. @param {Parameters<import("./mount.js").Send<WindowEvents>>} _event name and value */
  sendShared(..._event) {}

  // ---- data -------------------------------------------------------------------------------------------------------

  /** Takes pages of the list, or one page alone. @param {P | D} data */
  receive(data) {
    this.windowed = "shown" in data;
    if (!("shown" in data)) {
      this.forgetTurn();
      this.stopWaiting();
      this.turns.giveUp();
      this.update(data);
      this.watchLate();
      return;
    }
    const { pagesHere } = this;
    pagesHere.take(data);
    const counts = this.turns.counts(data.turn, JSON.stringify([data.listing, data.shown.document, data.shown.index]), this.ahead);
    if (!this.turns.waiting) this.stopWaiting();
    const { placed, stays } = pagesHere.next(data.shown, counts ? null : this.data?.page ?? null, this.turns.waiting);
    const page = pagesHere.page(placed);
    if (!page) {
      this.requests.more.schedule(() => this.askMore());
    } else {
      if (!stays) this.forgetTurn();
      this.update({ ...page, selected: stays ? this.selected : data.selected });
    }
    if (stays && this.ahead && !this.turns.waiting && !this.isLeaving()) this.sendShown();
    else if (this.passing && !this.turns.waiting && !this.isLeaving()) this.sendAtRest();
    this.picturesAhead.load((data.around ?? []).flatMap(({ image }) => image ?? []));
    this.watchLate();
  }

  /** Asks for a picture again that the server is still drawing. */
  watchLate() {
    this.late.about(this.windowed && this.data?.page?.problem?.again ? this.pageId : "");
  }

  /** @override @param {number} position @param {boolean} [waits] @returns {boolean | Promise<void>} */
  drawHere(position, waits = true) {
    return this.drawPlaced(position, () => null, waits);
  }

  /**
   * Draws a page that is here, and informs Python when the reader rests.
   * @param {number} position 1-based place in the list @param {(page: P) => string | null} choose the box that is chosen on it
   * @param {boolean} [waits] a moment for a picture that is missing @param {(from: number) => number} [next] the place that a held key comes to next, 0 for none
   * @returns {boolean | Promise<void>} whether it was here; when to try again, if it waits for its picture
   */
  drawPlaced(position, choose, waits = true, next) {
    const placed = this.windowed ? this.pagesHere.placed(position) : null;
    const page = placed && this.pagesHere.page(placed);
    const source = page?.page?.image;
    const images = source ? this.picturesOf(source) : [];
    if (!placed || !page) return false;
    this.toward = position < (this.data?.page?.position ?? 0) ? -1 : 1;
    if (source && !images && waits && !this.running) return Promise.race([this.picturesAhead.fetched(source), pause(PICTURE_WAITS)]);
    this.load += 1;
    this.ahead = true;
    this.present({ ...page, selected: choose(page) }, images ?? []);
    if (source && !images) this.picturesAhead.want(source, () => this.showCome(source));
    this.watchLate();
    const beside = (/** @type {number} */ from) => (from + this.toward > (page.page?.total ?? 0) ? 0 : from + this.toward);
    const soon = this.running && !this.turns.waiting && !this.isLeaving() && this.pagesHere.runsOut(position, next ?? beside, LEAST_AHEAD);
    if (soon) {
      this.sendShown(true);
    } else {
      this.sendAtRest();
    }
    return true;
  }

  /** Informs Python when the reader rests; while it has not answered yet, what it answers does. */
  sendAtRest() {
    this.requests.turn.schedule(() => {
      if (!this.turns.waiting) this.sendShown();
    });
  }

  /** The picture of the page that was drawn without it has come. @param {string} source */
  showCome(source) {
    if (this.data?.page?.image === source) this.update(this.data);
  }

  // ---- what Python is told ----------------------------------------------------------------------------------------

  /** What was not sent yet is not sent any more. */
  forgetTurn() {
    this.ahead = false;
    this.requests.turn.cancel();
  }

  /** Sends which page the reader has turned to. @param {boolean} [running] a key is held down */
  sendShown(running = false) {
    const page = this.data?.page;
    if (!page) return;
    this.forgetTurn();
    this.passing = running;
    this.sent.agree(this.selected);
    this.requests.selected.cancel();
    this.sendTurn({ document: page.document, index: page.index, step: 0, box: this.selected, ...(running ? { running } : {}) });
  }

  /** @param {GoEvent} go */
  sendTurn(go) {
    const event = { ...go, turn: eventId().slice(0, 8), toward: this.toward, ...this.heldHere() };
    this.turns.sent(event.turn);
    this.stopWaiting();
    this.sendShared("go", event);
    this.againTimer = window.setTimeout(() => {
      if (!this.isLeaving()) this.sendShared("go", event);
    }, TELL_AGAIN);
    this.lostTimer = window.setTimeout(() => this.turns.giveUp(), ANSWER_LOST);
  }

  stopWaiting() {
    window.clearTimeout(this.againTimer);
    window.clearTimeout(this.lostTimer);
  }

  /** Asks for what is shown and is not here: Python believed that it is. */
  askMore() {
    if (this.isLeaving()) this.requests.more.schedule(() => this.askMore());
    else if (!this.turns.waiting) this.sendShared("more", { held: this.pagesHere.names(), toward: this.toward });
  }

  /** @override */
  heldHere() {
    return this.windowed ? { held: this.pagesHere.names() } : {};
  }

  /** @override @param {string} source @returns {HTMLImageElement[] | null} */
  picturesOf(source) {
    return this.picturesAhead.get(source);
  }

  /** @override @param {Parameters<import("./mount.js").Send<import("./page_view.js").SharedEvents>>} event */
  request(...event) {
    if (event[0] !== "go" || !this.windowed) {
      this.sendShared(...event);
      return;
    }
    // What is asked for takes the place of what was not sent yet.
    this.forgetTurn();
    this.passing = this.running;
    this.sendTurn(this.running ? { ...event[1], running: true } : event[1]);
  }

  /** What shows another model is about the page that the reader has turned to. @override @param {Parameters<import("./mount.js").Send<E>>} event */
  sendChoice(...event) {
    this.requests.turn.flush();
    super.sendChoice(...event);
  }

  /** @override @param {KeyboardEvent} event */
  pressed(event) {
    this.running = event.repeat;
    super.pressed(event);
  }

  /**
   * While a page is asked for, a held key goes no further: each of its pages is drawn, as fast as they come.
   * @override @param {string} action @param {HTMLElement | null} target @returns {boolean} whether the key was used
   */
  act(action, target) {
    if (this.running && this.windowed && this.turner.turning && /-page$/.test(action)) return true;
    return super.act(action, target);
  }
}

/**
 * What `mounting` wants of a view.
 * @template {WindowLayer & {contents: Record<string, any>, strips: Record<string, any>}} D
 * @template {import("./page_view.js").SharedPayload} P
 * @template E
 * @param {WindowedView<D, P, E>} view @returns {import("./mount.js").Mounted<P | D, E>}
 */
export function windowed(view) {
  return {
    get send() {
      return view.send;
    },
    set send(value) {
      view.send = value;
    },
    update: (data) => view.receive(data),
    stop: () => view.stop(),
  };
}
