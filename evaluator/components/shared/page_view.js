/**
 * A view of a page in its window: it fills the window and listens to the keys of the whole view.
 *
 * What differs is in the class that extends it: its panes, what it draws, what it sends.
 */

import { html } from "./elements.js";
import { TAKES_INPUT, hostOf, listenForKeys } from "./focus.js";
import { REPEATING, actionOf } from "./keys.js";
import { startPlacement } from "./placement.js";
import { cancelWhenLeaving } from "./requests.js";

/** @import { Send } from "./mount.js" */
/** @import { PagePane } from "./pane.js" */
/** @import { GoEvent, PageItem, SelectedEvent, SharperEvent, VerdictEvent } from "./payloads.d.ts" */
/** @import { Debounced } from "./requests.js" */
/** @typedef {{go: GoEvent, selected: SelectedEvent, sharper: SharperEvent, verdict: VerdictEvent[]}} SharedEvents */
/**
 * @typedef {object} SharedPayload
 * @property {PageItem | null} page
 * @property {{document: string, index: number, current: boolean}[]} strip
 * @property {string | null} selected
 * @property {string} [address]
 * @property {string} [answered]
 */

const BLANK_PAGE = { width: 595, height: 842 };
/** Milliseconds that the way to another view may take. */
const LEAVING = 3000;
/** Pixels between the view and the lower edge of the window. */
const BELOW = 10;

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
    /** @type {string | null} */
    this.hover = null;
    /** @type {string | null} */
    this.selected = null;
    /** @type {[number, number] | null} */
    this.pointer = null;
    this.place = startPlacement();
    this.font = "650 12px sans-serif";
    this.chipTimer = 0;
    /** Whether the last key was held down. */
    this.running = false;
    this.leftAt = -Infinity;
    /** @type {Record<string, Debounced>} */
    this.requests = {};
    this.root = html("div", { class: "layoutscope-viewer" });
    this.spoken = html("div", { class: "unseen", "aria-live": "polite" });
    /** @type {HTMLDialogElement | null} */
    this.help = null;
    /** @type {ParentNode | null} */
    this.parent = null;
    /** @type {(() => void)[]} */
    this.stops = [() => window.clearTimeout(this.chipTimer)];
  }

  // ---- what the extending class does ----------------------------------------------------------------------------

  /** Shows data. @param {P} _data @param {HTMLImageElement[]} _images decoded, one for each pane, or none */
  present(_data, _images) {}

  /** Shows which page was asked for. @param {number | null} _position 1-based place among the pages of the list */
  showAsked(_position) {}

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

  /** @param {string} _action @param {HTMLElement | null} _target @returns {boolean} whether the key was used */
  act(_action, _target) {
    return false;
  }

  // ---- the window around ------------------------------------------------------------------------------------------

  /** @param {ParentNode & Node} parent @param {number} leastHeight pixels */
  listen(parent, leastHeight) {
    this.leastHeight = leastHeight;
    parent.append(html("div", { class: "layoutscope-frame" }, this.root));
    this.parent = parent;
    const resize = () => this.resized();
    const sizes = new ResizeObserver(resize);
    const ends = new AbortController();
    listenForKeys(this.root, (event) => this.pressed(event), ends.signal);
    window.addEventListener("resize", resize, { signal: ends.signal });
    sizes.observe(this.panes[0].root);
    // Whatever is above has another height: then one of the blocks around has too.
    for (let around = hostOf(this.root).parentElement; around; around = around.parentElement) if (around.dataset.testid?.endsWith("Block")) sizes.observe(around);
    const left = () => void (this.leftAt = performance.now());
    this.stops.push(cancelWhenLeaving(this.root, this.requests, left), () => ends.abort(), () => sizes.disconnect());
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

  /** Fills the window down to its lower edge, as if nothing were scrolled, unless the height is fixed. */
  fillWindow() {
    const host = hostOf(this.root);
    let scroller = host.parentElement;
    while (scroller && !/auto|scroll/.test(getComputedStyle(scroller).overflowY)) scroller = scroller.parentElement;
    const scrolled = scroller ? scroller.scrollTop : window.scrollY;
    const height = this.fixedHeight() || window.innerHeight - host.getBoundingClientRect().top - scrolled - BELOW;
    this.root.style.setProperty("--viewer-height", `${Math.max(this.leastHeight ?? 0, Math.floor(height))}px`);
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
    this.running = event.repeat;
    if (!this.data || this.help?.open || event.defaultPrevented) return;
    const action = actionOf(this.actions, event);
    // The browser closes what lies open over the view.
    if (action === "escape" && this.root.querySelector(":popover-open")) return;
    if (!action || (event.repeat && !REPEATING.has(action))) return;
    const target = event.composedPath()[0];
    if (action !== "escape" && target instanceof Element && target.closest(TAKES_INPUT)) return;
    if (!this.act(action, target instanceof HTMLElement ? target : null)) return;
    event.preventDefault();
    event.stopPropagation();
  }
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
