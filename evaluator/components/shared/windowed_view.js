/**
 * A view of pages of a list: the browser turns to them by itself, and Python hears of it when the reader rests.
 *
 * What is drawn is what the browser has; a page that it lacks is fetched by its address, or asked for where it has none.
 */

import { PageView } from "./page_view.js";
import { AskAgain, Debounced, eventId, pause } from "./requests.js";
import { SentTurns, placesAround } from "./window.js";

/** @import { PicturesAhead } from "./ahead.js" */
/** @import { Mounted, Send } from "./mount.js" */
/** @import { SharedEvents, SharedPayload } from "./page_view.js" */
/** @import { GoEvent, PageItem, WindowLayer } from "./payloads.d.ts" */
/** @import { PageWindow } from "./window.js" */

/** Milliseconds of rest before a page turn is sent. */
const SEND_AFTER = 80;
/** Pauses before a turn is sent again that is not answered: a message that reaches the server during another run can get lost. */
const SEND_AGAIN = [3000, 9000, 20000, 40000, 80000];
/** A page whose picture is not here stands still so long for it, and is drawn without it then; while a key is held down, at once. */
const PICTURE_WAITS = 150;

/**
 * @template {WindowLayer & {content?: any, items?: any}} D a page of a list
 * @template {SharedPayload} P one page
 * @template E events by name
 * @extends {PageView<P, E>}
 */
export class WindowedView extends PageView {
  /**
   * @param {Record<string, string>} actions by key @param {Send<E>} send
   * @param {PageWindow<D, P, any, any>} pagesHere what this document has of pages; it outlives a view, because Python knows what was sent to it
   * @param {PicturesAhead} picturesAhead
   */
  constructor(actions, send, pagesHere, picturesAhead) {
    super(actions, send);
    this.pagesHere = pagesHere;
    this.picturesAhead = picturesAhead;
    /** Whether pages of a list are given, and not one page alone. */
    this.windowed = false;
    this.turns = new SentTurns();
    this.toward = 1;
    /** Whether the last key was held down. */
    this.running = false;
    /** @type {GoEvent | null} the last turn that was sent */
    this.go = null;
    this.unanswered = new AskAgain(SEND_AGAIN, () => this.sendAgain());
    /** The last page that was shown while the server was still drawing its picture. */
    this.lateId = "";
    this.requests.turn = new Debounced(SEND_AFTER);
    this.stops.push(() => this.unanswered.stop());
    pagesHere.come = () => this.loadAhead();
  }

  /** Sends an event as it is. @param {Parameters<Send<SharedEvents>>} _event name and value */
  sendShared(..._event) {}

  /** @returns {number} place in the list of the page on screen */
  get position() {
    return this.data?.page?.position ?? 0;
  }

  // ---- data -------------------------------------------------------------------------------------------------------

  /** Takes a page of the list, or one page alone. @param {P | D} data */
  receive(data) {
    this.windowed = "listing" in data;
    if ("listing" in data) {
      this.pagesHere.take(data);
      if (this.turns.heard(data.turn)) this.follow(data);
      else this.stay();
      this.unanswered.about(this.turns.waits);
      if (this.turns.unsent && !this.turns.waits && !this.isLeaving()) this.sendShown();
    } else {
      this.forgetTurn();
      this.update(data);
    }
    this.watchLate();
  }

  /** Shows the page that the app shows. @param {D} data */
  follow(data) {
    const page = this.pagesHere.shown();
    if (page) {
      this.update({ ...page, selected: data.selected });
      this.loadAhead(page.page);
      return;
    }
    // Python believed that it is here.
    void this.pagesHere.fetched(data.position).then(() => {
      const come = this.pagesHere.last?.name === data.name && this.turns.heard(data.turn) ? this.pagesHere.page(data.position) : null;
      if (come) this.update({ ...come, selected: data.selected });
    });
  }

  /** Draws the page of the reader anew; one of another list stays as it is until the app has heard of the turn. */
  stay() {
    const page = this.pagesHere.page(this.position);
    if (page) this.update({ ...page, selected: this.selected });
  }

  /** Fetches pages that the reader may turn to next, and their pictures. @param {PageItem | null} [page] that is shown */
  loadAhead(page = this.data?.page ?? null) {
    if (!this.windowed || !page?.position) return;
    const around = placesAround({ here: page.position, total: page.total, toward: this.toward, running: this.running }, (from, step) => this.nextWith(from, step));
    this.picturesAhead.load(around.flatMap((at) => this.pagesHere.pages.get(at)?.content.page?.image ?? []));
    this.pagesHere.load(around);
  }

  /** @param {number} _from 1-based place of a page @param {number} _step @returns {number} place of the next page with mistakes; 0 for none that is known */
  nextWith(_from, _step) {
    return 0;
  }

  /** Fetches a page once more whose picture the server is still drawing: by its version it comes when it is drawn. */
  watchLate() {
    const { pageId, position } = this;
    if (!this.windowed || !this.data?.page?.problem?.again || pageId === this.lateId) return;
    this.lateId = pageId;
    void this.pagesHere.fetched(position, true).then(() => {
      if (this.pageId === pageId) this.stay();
    });
  }

  /** @override @param {number} position @param {boolean} [waits] @returns {boolean | Promise<void>} */
  drawHere(position, waits = true) {
    return this.drawPlaced(position, () => null, waits);
  }

  /**
   * Draws a page that is here, and informs Python when the reader rests.
   * @param {number} position 1-based place in the list @param {(page: P) => string | null} choose the box that is chosen on it
   * @param {boolean} [waits] for a page that is missing, and a moment for a picture
   * @returns {boolean | Promise<void>} whether it was here; when to try again, if it waits for something
   */
  drawPlaced(position, choose, waits = true) {
    const page = this.windowed ? this.pagesHere.page(position) : null;
    if (!page) return this.windowed && this.pagesHere.routed && waits && this.fetchNow(position);
    const source = page.page?.image;
    const images = source ? this.picturesOf(source) : [];
    this.toward = position < this.position ? -1 : 1;
    if (source && !images && waits && !this.running) return Promise.race([this.picturesAhead.fetched(source), pause(PICTURE_WAITS)]);
    this.load += 1;
    this.turns.turned();
    this.present({ ...page, selected: choose(page) }, images ?? []);
    if (source && !images) this.picturesAhead.want(source, () => this.showCome(source));
    this.watchLate();
    this.sendAtRest();
    this.loadAhead();
    return true;
  }

  /** @param {number} position @returns {Promise<void>} when its page is here, and its picture unless that takes longer */
  async fetchNow(position) {
    await this.pagesHere.fetched(position);
    const source = this.pagesHere.page(position)?.page?.image;
    if (source && !this.running) await Promise.race([this.picturesAhead.fetched(source), pause(PICTURE_WAITS)]);
  }

  /** The picture of the page that was drawn without it has come. @param {string} source */
  showCome(source) {
    if (this.data?.page?.image === source) this.update(this.data);
  }

  // ---- what Python is told ----------------------------------------------------------------------------------------

  /** Informs Python when the reader rests; while it has not answered yet, what it answers does. */
  sendAtRest() {
    this.requests.turn.schedule(() => {
      if (!this.turns.waits) this.sendShown();
    });
  }

  /** What was not sent yet is not sent any more, and what the app shows counts. */
  forgetTurn() {
    this.turns.forget();
    this.requests.turn.cancel();
    this.unanswered.stop();
  }

  /** Sends which page the reader has turned to. */
  sendShown() {
    const page = this.data?.page;
    if (!page) return;
    this.running = false;
    this.sent.agree(this.selected);
    this.requests.selected.cancel();
    this.sendTurn({ document: page.document, index: page.index, step: 0, box: this.selected });
  }

  /** @param {GoEvent} go */
  sendTurn(go) {
    this.forgetTurn();
    this.go = { ...go, turn: eventId().slice(0, 8), ...this.heldHere() };
    this.turns.sent(this.go.turn ?? "");
    this.unanswered.about(this.turns.waits);
    this.sendShared("go", this.go);
  }

  sendAgain() {
    if (this.go && !this.isLeaving()) this.sendShared("go", this.go);
  }

  /** @override */
  heldHere() {
    return this.windowed ? { held: this.pagesHere.names(this.position) } : {};
  }

  /** @override @param {string} source @returns {HTMLImageElement[] | null} */
  picturesOf(source) {
    return this.picturesAhead.get(source);
  }

  /** @override @param {Parameters<Send<SharedEvents>>} event */
  request(...event) {
    if (event[0] === "go" && this.windowed) this.sendTurn(event[1]);
    else this.sendShared(...event);
  }

  /** What shows another model is about the page that the reader has turned to. @override @param {Parameters<Send<E>>} event */
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
 * @template {WindowLayer & {content?: any, items?: any}} D
 * @template {SharedPayload} P
 * @template E
 * @param {WindowedView<D, P, E>} view @returns {Mounted<P | D, E>}
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
