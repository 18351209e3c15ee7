/**
 * A view of pages of a list: the browser turns to them by itself, and Python hears of it when the reader rests.
 *
 * What is drawn is what the browser has; a page that it lacks is fetched by its address, or asked for where it has none.
 */

import { Outbox } from "./outbox.js";
import { PageView, writeAddress } from "./page_view.js";
import { AskAgain, Debounced, SEND_AGAIN, SentChoice, eventId, pause } from "./requests.js";
import { SentTurns, placesAround } from "./window.js";
import { isPicture, pageImage } from "./elements.js";
import { PageTurner } from "./turn.js";

/** @import { PicturesAhead } from "./ahead.js" */
/** @import { Send } from "./mount.js" */
/** @import { SharedEvents, SharedPayload } from "./page_view.js" */
/** @import { GoEvent, PageItem, VerdictEvent, WindowLayer } from "./payloads.d.ts" */
/** @import { PageWindow } from "./window.js" */

const SHARPER_FROM = 1.3;
/** Milliseconds of rest before a choice is sent, and before a page turn is. */
const REST = 250;
const SEND_AFTER = 80;
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
    /** @type {GoEvent | null} the last turn that was sent */
    this.go = null;
    this.unanswered = new AskAgain(SEND_AGAIN, () => {
      if (this.go && !this.isLeaving()) this.sendShared("go", this.go);
    });
    /** @type {Outbox<VerdictEvent>} */
    this.outbox = new Outbox((acts) => this.sendVerdicts(acts), () => this.writeLate());
    /** The last page that was shown while the server was still drawing its picture. */
    this.lateId = "";
    this.sent = new SentChoice();
    Object.assign(this.requests, { selected: new Debounced(REST), sharper: new Debounced(REST), turn: new Debounced(SEND_AFTER) });
    this.contentText = "";
    this.load = 0;
    this.askedWidth = 0;
    this.turner = new PageTurner(
      (go) => this.request("go", go),
      (asked) => this.showAsked(asked),
      (slow) => this.root.classList.toggle("waiting", slow),
      (position, waits) => this.drawPlaced(position, () => null, waits),
    );
    this.stops.push(() => this.turner.stop(), () => this.unanswered.stop());
    pagesHere.come = () => this.loadAhead();
  }

  /** Sends an event as it is. @param {Parameters<Send<SharedEvents>>} event name and value */
  sendShared(...event) {
    /** @type {(...event: any) => void} */ (this.send)(...event);
  }

  /** @returns {number} place in the list of the page on screen */
  get position() {
    return this.data?.page?.position ?? 0;
  }

  // ---- data -------------------------------------------------------------------------------------------------------

  /** Takes a page of the list, or one page alone. @param {P | D} data */
  update(data) {
    writeAddress(this.parent ?? this, data.address);
    this.outbox.heard(data.answered ?? "");
    this.windowed = "listing" in data;
    if ("listing" in data) {
      this.pagesHere.take(data);
      if (this.turns.heard(data.turn)) this.follow(data);
      else this.stay();
      this.unanswered.about(this.turns.waits);
      if (this.turns.unsent && !this.turns.waits && !this.isLeaving()) this.sendShown();
    } else {
      this.forgetTurn();
      this.show(data);
    }
    this.watchLate();
  }

  /** Shows data once their picture is decoded. @param {P} data */
  show(data) {
    this.load += 1;
    const { load, panes } = this;
    const source = data.page?.image ?? null;
    const same = source === panes[0].image.getAttribute("src");
    const ready = source === null ? [] : same ? panes.map((pane) => pane.image) : this.picturesAhead.get(source);
    if (source === null || ready) {
      this.present(data, ready ?? []);
    } else if (!isPicture(source)) {
      this.present(withoutImage(data), []);
    } else {
      const images = panes.map(() => pageImage({ src: source }));
      Promise.all(images.map((image) => image.decode())).then(
        () => load === this.load && this.present(data, images),
        () => load === this.load && this.present(withoutImage(data), []),
      );
    }
  }

  /**
   * Takes the data over, and the box that they choose unless it only repeats what the reader chose meanwhile, or the reader
   * has chosen another one on this page that is still to be sent: the data did not know of it.
   * @param {P} data @param {boolean} [anew] the choice of the data counts in any case @returns {boolean} whether it is another page
   */
  accept(data, anew = false) {
    const pageId = data.page ? JSON.stringify([data.page.document, data.page.index]) : "";
    const turned = pageId !== this.pageId || this.data === null;
    const before = this.data?.selected ?? null;
    this.data = data;
    this.pageId = pageId;
    if (turned || anew || (data.selected !== before && this.sent.isNew(data.selected))) {
      if (turned || anew || !this.requests.selected.waits) {
        this.selected = data.selected;
        this.requests.selected.cancel();
      }
      this.sent.agree(data.selected);
    }
    if (turned) {
      this.hover = null;
      this.askedWidth = 0;
    }
    return turned;
  }

  /** Shows the page that the app shows. @param {D} data */
  follow(data) {
    const page = this.pagesHere.shown();
    if (page) {
      this.show({ ...page, selected: data.selected });
      this.loadAhead(page.page);
      return;
    }
    // Python believed that it is here.
    void this.pagesHere.fetched(data.position).then(() => {
      const come = this.pagesHere.last?.name === data.name && this.turns.heard(data.turn) ? this.pagesHere.page(data.position) : null;
      if (come) this.show({ ...come, selected: data.selected });
    });
  }

  /** Draws the page of the reader anew; one of another list stays as it is until the app has heard of the turn. */
  stay() {
    const page = this.pagesHere.page(this.position);
    if (page) this.show({ ...page, selected: this.selected });
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

  /**
   * Draws a page that is here without asking for it, and informs Python when the reader rests.
   * @param {number} position 1-based place in the list @param {(page: P) => string | null} choose the box that is chosen on it
   * @param {boolean} [waits] for a page that is missing, and a moment for a picture
   * @returns {boolean | Promise<void>} whether it was here; when to try again, if it waits for something
   */
  drawPlaced(position, choose, waits = true) {
    const page = this.windowed ? this.pagesHere.page(position) : null;
    if (!page) return this.windowed && this.pagesHere.routed && waits && this.fetchNow(position);
    const source = page.page?.image;
    const images = source ? this.picturesAhead.get(source) : [];
    this.toward = position < this.position ? -1 : 1;
    if (source && !images && waits && !this.running) return Promise.race([this.picturesAhead.fetched(source), pause(PICTURE_WAITS)]);
    this.load += 1;
    this.turns.unsent = true;
    this.present({ ...page, selected: choose(page) }, images ?? []);
    if (source && !images) {
      this.picturesAhead.want(source, () => void (this.data?.page?.image === source && this.show(this.data)));
    }
    this.watchLate();
    // While Python has not answered yet, what it answers sends the rest.
    this.requests.turn.schedule(() => {
      if (!this.turns.waits) this.sendShown();
    });
    this.loadAhead();
    return true;
  }

  /** @param {number} position @returns {Promise<void>} when its page is here, and its picture unless that takes longer */
  async fetchNow(position) {
    await this.pagesHere.fetched(position);
    const source = this.pagesHere.page(position)?.page?.image;
    if (source && !this.running) await Promise.race([this.picturesAhead.fetched(source), pause(PICTURE_WAITS)]);
  }

  // ---- choices ----------------------------------------------------------------------------------------------------

  /** @param {string | null} key of a box */
  select(key) {
    if (key === this.selected) return;
    this.selected = key;
    this.showMark();
    this.spoken.textContent = this.nameOf(key);
    this.requests.selected.schedule(() => {
      const page = this.data?.page;
      if (!page || this.sent.isLatest(this.selected)) return;
      this.sent.add(this.selected);
      this.request("selected", { document: page.document, index: page.index, key: this.selected, ...this.heldHere() });
    });
  }

  /** @returns {boolean} whether there was a box to let go */
  letGo() {
    if (this.selected === null && this.hover === null) return false;
    this.hover = null;
    this.select(null);
    this.showMark();
    return true;
  }

  /** Asks for a sharper image when the page is drawn larger than its picture, once the reader rests. */
  scheduleSharper() {
    this.requests.sharper.schedule(() => {
      const page = this.data?.page;
      if (!page?.image) return;
      const width = Math.ceil(this.place.sheet.width * (window.devicePixelRatio || 1));
      if (width <= SHARPER_FROM * Math.max(page.image_width, this.askedWidth)) return;
      this.askedWidth = width;
      this.request("sharper", { document: page.document, index: page.index, width });
    });
  }

  // ---- what Python is told ----------------------------------------------------------------------------------------

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

  /** @returns {{held?: string[]}} what Python need not send again, as a part of an event */
  heldHere() {
    return this.windowed ? { held: this.pagesHere.names(this.position) } : {};
  }

  /** @param {Parameters<Send<SharedEvents>>} event name and value */
  request(...event) {
    if (event[0] === "go" && this.windowed) this.sendTurn(event[1]);
    else this.sendShared(...event);
  }

  /**
   * Sends verdicts, and the chosen box before them: a message right behind them can have Streamlit build the view anew,
   * and the keys are lost.
   * @param {VerdictEvent[]} acts
   */
  sendVerdicts(acts) {
    this.requests.selected.flush();
    this.request("verdict", acts.map((act) => ({ ...act, ...this.heldHere() })));
  }

  /** The verdicts are late. */
  writeLate() {}

  /**
   * Sends what shows another model or lists other pages: it is about the page that the reader has turned to. A chosen
   * box that waits to be sent is of what was shown before.
   * @param {Parameters<Send<E>>} event
   */
  sendChoice(...event) {
    this.requests.turn.flush();
    this.requests.selected.cancel();
    this.send(...event);
  }

  /**
   * While a page is asked for, a held key goes no further: each of its pages is drawn, as fast as they come.
   * @override @param {string} action @param {HTMLElement | null} target @returns {boolean} whether the key was used
   */
  act(action, target) {
    if (this.running && this.windowed && this.turner.turning && /-page$/.test(action)) return true;
    switch (action) {
      case "previous-page": this.turner.turn(-1); return true;
      case "next-page": this.turner.turn(1); return true;
      case "help": this.openHelp(); return true;
      default: return super.act(action, target);
    }
  }
}

/** @template {SharedPayload} P @param {P} data @returns {P} the same page as an empty sheet, and why */
function withoutImage(data) {
  const problem = {
    title: "The page image cannot be shown",
    text: "The browser could not decode it. The boxes are drawn on an empty sheet.",
    fix: "Reload the view; if this persists, check the PDF in another viewer.",
  };
  return { ...data, page: data.page && { ...data.page, image: null, problem: data.page.problem ?? problem } };
}
