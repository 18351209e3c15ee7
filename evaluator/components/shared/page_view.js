/**
 * What every view of a page does: it takes data and decodes the page image, fills the window, listens to the keys of the
 * whole view, and sends the chosen box, page turns and requests for a sharper image.
 *
 * What differs is in the class that extends it: its panes, what it draws, what else it sends.
 */

import { html, isPicture } from "./elements.js";
import { TAKES_INPUT, focusIsAround, hostOf } from "./focus.js";
import { REPEATING, actionOf } from "./keys.js";
import { startPlacement } from "./placement.js";
import { Debounced, SentChoice, cancelWhenLeaving } from "./requests.js";
import { PageTurner } from "./turn.js";

/** @import { Send } from "./mount.js" */
/** @import { PagePane } from "./pane.js" */
/** @import { GoEvent, PageItem, SelectedEvent, SharperEvent, VerdictEvent } from "./payloads.d.ts" */
/** @typedef {{go: GoEvent, selected: SelectedEvent, sharper: SharperEvent, verdict: VerdictEvent}} SharedEvents */
/**
 * @typedef {object} SharedPayload
 * @property {PageItem | null} page
 * @property {{document: string, index: number, current: boolean}[]} strip
 * @property {string | null} selected
 */

const BLANK_PAGE = { width: 595, height: 842 };
const SHARPER_FROM = 1.3;
const REST = 250;
/** Milliseconds that the way to another view may take. */
const LEAVING = 3000;
/** Pixels between the view and the lower edge of the window. */
const BELOW = 14;

/** @template {SharedPayload} P @template E events by name */
export class PageView {
  /** @param {Record<string, string>} actions by key @param {Send<E>} send */
  constructor(actions, send) {
    this.actions = actions;
    this.send = send;
    /** @type {PagePane<any>[]} the extending class makes them */
    this.panes = [];
    /** @type {P | null} */
    this.data = null;
    this.pageId = "";
    this.contentText = "";
    this.load = 0;
    this.askedWidth = 0;
    /** @type {string | null} */
    this.hover = null;
    /** @type {string | null} */
    this.selected = null;
    this.sent = new SentChoice();
    /** @type {[number, number] | null} */
    this.pointer = null;
    this.place = startPlacement();
    this.font = "650 12px sans-serif";
    this.chipTimer = 0;
    this.leftAt = -Infinity;
    /** @type {Record<string, Debounced>} */
    this.requests = { selected: new Debounced(REST), sharper: new Debounced(REST) };
    this.root = html("div", { class: "layoutscope-viewer" });
    this.spoken = html("div", { class: "unseen", "aria-live": "polite" });
    /** @type {HTMLDialogElement | null} */
    this.help = null;
    this.turner = new PageTurner(
      (go) => this.request("go", go),
      (asked) => this.showAsked(asked),
      (slow) => this.root.classList.toggle("waiting", slow),
      (position, waits) => this.drawHere(position, waits),
    );
    /** @type {(() => void)[]} */
    this.stops = [() => this.turner.stop(), () => window.clearTimeout(this.chipTimer)];
  }

  // ---- what the extending class does ----------------------------------------------------------------------------

  /** Sends an event. @param {Parameters<Send<SharedEvents>>} _event name and value */
  request(..._event) {}

  /**
   * Sends a verdict, and the chosen box before it: a message right behind it can have Streamlit build the view anew, and
   * the keys are lost.
   * @param {VerdictEvent} event
   */
  sendVerdict(event) {
    this.requests.selected.flush();
    this.request("verdict", { ...event, ...this.heldHere() });
  }

  /**
   * Sends what shows another model or lists other pages. A chosen box that waits to be sent is of what was shown before.
   * @param {Parameters<Send<E>>} event
   */
  sendChoice(...event) {
    this.requests.selected.cancel();
    this.send(...event);
  }

  /** Shows data. @param {P} _data @param {HTMLImageElement[]} _images decoded, one for each pane, or none */
  present(_data, _images) {}

  /** Shows which page was asked for. @param {number | null} _position 1-based place among the pages of the list */
  showAsked(_position) {}

  /** Draws the page of a place without asking for it. @param {number} _position 1-based place among the pages of the list @param {boolean} _waits for a picture that is missing @returns {boolean | Promise<void>} whether it was here; when to try again, if it waits for its picture */
  drawHere(_position, _waits) {
    return false;
  }

  /** @returns {{held?: string[]}} what Python need not send again, as a part of an event */
  heldHere() {
    return {};
  }

  /** @param {string} _source of a picture @returns {HTMLImageElement[] | null} it for each pane, decoded ahead */
  picturesOf(_source) {
    return null;
  }

  /** Shows the box under the pointer, or the chosen one, everywhere. */
  showMark() {}

  /** Places the chips. */
  arrange() {}

  /** The pane or the window has another size. */
  resized() {}

  /** @returns {number} pixels, 0 to fill the window */
  fixedHeight() {
    return 0;
  }

  /** @param {string | null} key of the chosen box @returns {string} what a screen reader says about it */
  nameOf(key) {
    return key ?? "";
  }

  /** @param {string} action @param {HTMLElement | null} _target @returns {boolean} whether the key was used */
  act(action, _target) {
    switch (action) {
      case "previous-page": this.turner.turn(-1); return true;
      case "next-page": this.turner.turn(1); return true;
      case "help": this.openHelp(); return true;
      default: return false;
    }
  }

  // ---- the window around ------------------------------------------------------------------------------------------

  /** @param {ParentNode & Node} parent @param {number} leastHeight pixels */
  listen(parent, leastHeight) {
    this.leastHeight = leastHeight;
    parent.append(html("div", { class: "layoutscope-frame" }, this.root));
    const pageKeys = (/** @type {KeyboardEvent} */ event) => {
      if (this.focusIsAround()) this.pressed(event);
    };
    const resize = () => this.resized();
    const sizes = new ResizeObserver(resize);
    this.root.addEventListener("keydown", (event) => this.pressed(event));
    window.addEventListener("keydown", pageKeys);
    window.addEventListener("resize", resize);
    sizes.observe(this.panes[0].root);
    const block = this.host().closest("[data-testid='stMainBlockContainer']");
    if (block) sizes.observe(block);
    const left = () => {
      this.leftAt = performance.now();
    };
    this.stops.push(cancelWhenLeaving(this.root, this.requests, left), () => {
      window.removeEventListener("keydown", pageKeys);
      window.removeEventListener("resize", resize);
      sizes.disconnect();
    });
    document.fonts?.ready.then(() => this.scheduleChips());
  }

  stop() {
    this.stops.forEach((stop) => stop());
    this.root.parentElement?.remove();
  }

  /** @returns {boolean} whether the reader is on the way to another view: what is not asked for by the reader waits then */
  isLeaving() {
    return performance.now() - this.leftAt < LEAVING;
  }

  /** @returns {Element} the element of the outer document that holds the view */
  host() {
    return hostOf(this.root);
  }

  /** @returns {boolean} nothing else wants the keys: the focus is on the view as a whole */
  focusIsAround() {
    return focusIsAround(this.root);
  }

  fillWindow() {
    const height = this.fixedHeight() || this.heightBelow();
    this.root.style.setProperty("--viewer-height", `${Math.max(this.leastHeight ?? 0, Math.floor(height))}px`);
  }

  /** @returns {number} pixels from the top of the view to the lower edge of the window, as if nothing were scrolled */
  heightBelow() {
    const host = this.host();
    let scroller = host.parentElement;
    while (scroller && !/auto|scroll/.test(getComputedStyle(scroller).overflowY)) scroller = scroller.parentElement;
    const scrolled = scroller ? scroller.scrollTop : window.scrollY;
    return window.innerHeight - host.getBoundingClientRect().top - scrolled - BELOW;
  }

  // ---- data -------------------------------------------------------------------------------------------------------

  /** @returns {P} what is on screen */
  shown() {
    return /** @type {P} */ (this.data);
  }

  /** @returns {{width: number, height: number}} points */
  pageSize() {
    const page = this.data?.page;
    return page && page.width > 0 && page.height > 0 ? page : BLANK_PAGE;
  }

  /** @param {P} data */
  update(data) {
    this.load += 1;
    const load = this.load;
    const source = data.page?.image ?? null;
    if (source === null || source === this.panes[0].image.getAttribute("src")) {
      this.present(data, source === null ? [] : this.panes.map((pane) => pane.image));
      return;
    }
    const ready = this.picturesOf(source);
    if (ready) {
      this.present(data, ready);
      return;
    }
    if (!isPicture(source)) {
      this.present(withoutImage(data), []);
      return;
    }
    const images = this.panes.map(() => /** @type {HTMLImageElement} */ (html("img", { class: "page-image", alt: "", draggable: "false", src: source })));
    Promise.all(images.map((image) => image.decode())).then(
      () => load === this.load && this.present(data, images),
      () => load === this.load && this.present(withoutImage(data), []),
    );
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

  /** New content gets its chips at once, a zoom or a toggle when it has come to rest. */
  scheduleChips() {
    window.clearTimeout(this.chipTimer);
    const ready = this.panes.every((pane) => pane.chips.classList.contains("ready"));
    if (ready) this.chipTimer = window.setTimeout(() => this.arrange(), 60);
    else this.arrange();
  }

  // ---- keys -------------------------------------------------------------------------------------------------------

  openHelp() {
    if (this.help && !this.help.open) this.help.showModal();
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (!this.data || this.help?.open || event.defaultPrevented) return;
    const action = actionOf(this.actions, event);
    if (!action || (event.repeat && !REPEATING.has(action))) return;
    const target = event.composedPath()[0];
    if (action !== "escape" && target instanceof Element && target.closest(TAKES_INPUT)) return;
    if (!this.act(action, target instanceof HTMLElement ? target : null)) return;
    event.preventDefault();
    event.stopPropagation();
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

/** @type {WeakSet<object>} parents of views whose address was looked at */
const entered = new WeakSet();

/**
 * Gives a view that was opened by its name alone its full address. In place, because Streamlit makes a step of the
 * history of each change, and then the way back would take two presses. Once, when the view is entered: on the way to
 * another view the address is bare for a moment too, and must not be that of the view that is left.
 * @param {object} parent of the view @param {string | undefined} address
 */
export function writeAddress(parent, address) {
  if (entered.has(parent)) return;
  entered.add(parent);
  if (address && !window.location.search) window.history.replaceState(window.history.state, "", `${window.location.pathname}?${address}`);
}
