/**
 * Watches whether a part of a view is near the window: the server draws it then. While it is not drawn its place is as
 * high as it was, so that nothing jumps, and has its name.
 */

import { html } from "../shared/elements.js";
import { hostOf } from "../shared/focus.js";
import { mounting, streamlitSend } from "../shared/mount.js";
import { cancelWhenLeaving, pause } from "../shared/requests.js";
import { Nearness } from "./nearness.js";

/** @typedef {import("../shared/payloads.d.ts").SightPayload} SightPayload */
/** @typedef {import("../shared/payloads.d.ts").SightEvents} SightEvents */

/** How far from the window a part is close, as a share of its height. */
const CLOSE = "50%";
/** Milliseconds without a move after which a part out of sight is not drawn any more. */
const FAR_AFTER = 1500;
/** Milliseconds between what two parts say: Streamlit takes what is said at once for one part's. */
const APART = 60;
/** Milliseconds in which all of a part comes once its first element is there, its charts drawn. */
const SETTLED = 1500;
/** Milliseconds that the way to another view may take. */
const LEAVING = 3000;
/** Milliseconds between two looks whether a message got lost. */
const LOOK_AGAIN = 2000;
/** Milliseconds that a print waits for the parts out of sight. */
const PRINT_WAITS = 15000;

/** @type {Map<string, number>} pixels of a part as it was drawn last, by name */
const heights = new Map();
/** @type {Set<WatchedPart>} */
const parts = new Set();

class WatchedPart {
  /** @param {ParentNode & Node} parent @param {import("../shared/mount.js").Send<SightEvents>} send */
  constructor(parent, send) {
    this.send = send;
    /** @type {SightPayload | null} */
    this.data = null;
    this.nearness = new Nearness((near) => sayApart(() => this.say(near)));
    this.leftAt = -Infinity;
    this.farTimer = this.freeTimer = 0;
    this.root = html("div", { class: "layoutscope-sight" });
    parent.append(this.root);
    this.place = /** @type {HTMLElement | null} */ (hostOf(this.root).closest('[class*="st-key-part-"]'));
    const scroller = scrollerOf(this.root);
    const watch = (/** @type {"inSight" | "close"} */ what, /** @type {string} */ margin) => new IntersectionObserver((seen) => {
      this.nearness[what] = seen[seen.length - 1].isIntersecting;
      this.moved(false);
    }, { root: scroller, rootMargin: `${margin} 0px` });
    this.watchers = [watch("inSight", "0px"), watch("close", CLOSE)];
    for (const each of this.watchers) if (this.place) each.observe(this.place);
    const scrolled = () => this.moved(true);
    scroller?.addEventListener("scroll", scrolled, { passive: true });
    this.unlisten = () => scroller?.removeEventListener("scroll", scrolled);
    this.again = window.setInterval(() => this.lookAgain(), LOOK_AGAIN);
    this.stay = cancelWhenLeaving(this.root, {}, () => {
      this.leftAt = performance.now();
    });
    if (!parts.size) window.addEventListener("keydown", printKey, true);
    parts.add(this);
  }

  /** Said while the reader is on the way to another view, it would call the reader back. @param {boolean} near */
  say(near) {
    // Another number each time: what is said again is a change as well.
    if (parts.has(this) && performance.now() - this.leftAt > LEAVING) this.send("near", near ? Date.now() : -Date.now());
  }

  /** @param {SightPayload} data */
  update(data) {
    const drawn = this.data?.drawn ?? false;
    this.data = data;
    this.nearness.heard(data.drawn);
    this.moved(false);
    window.clearTimeout(this.freeTimer);
    if (!data.drawn) this.hold();
    else if (drawn) this.free();
    else this.freeTimer = window.setTimeout(() => this.free(), SETTLED);
    this.root.textContent = data.drawn ? "" : data.title;
  }

  /** Keeps the height of what was drawn. */
  hold() {
    const { name = "", height = 0 } = this.data ?? {};
    if (this.place) this.place.style.minHeight = `${heights.get(name) ?? height}px`;
  }

  free() {
    if (this.place) this.place.style.minHeight = "";
  }

  /** @param {boolean} scrolls the reader */
  moved(scrolls) {
    window.clearTimeout(this.farTimer);
    this.nearness.moved(scrolls);
    this.farTimer = window.setTimeout(() => this.rested(), FAR_AFTER);
  }

  rested() {
    if (this.place && this.data?.drawn && !this.nearness.inSight) heights.set(this.data.name, this.place.offsetHeight);
    this.nearness.rested();
  }

  /** @param {boolean} wanted wherever it is */
  pin(wanted) {
    this.nearness.pinned = wanted;
    this.moved(false);
  }

  lookAgain() {
    const busy = document.querySelector('[data-testid="stApp"]')?.getAttribute("data-test-script-state") !== "notRunning";
    if (this.data && !busy) this.nearness.repeat(this.data.drawn);
  }

  stop() {
    window.clearTimeout(this.farTimer);
    window.clearTimeout(this.freeTimer);
    window.clearInterval(this.again);
    this.watchers.forEach((each) => each.disconnect());
    this.unlisten();
    this.stay();
    this.free();
    this.root.remove();
    parts.delete(this);
    if (!parts.size) window.removeEventListener("keydown", printKey, true);
  }
}

/** @type {Promise<unknown>} */
let said = Promise.resolve();

/** @param {() => void} say */
function sayApart(say) {
  said = said.then(() => {
    say();
    return pause(APART);
  });
}

/** What scrolls a component; a margin counts for that alone. @param {HTMLElement} root @returns {Element | null} */
function scrollerOf(root) {
  let scroller = hostOf(root).parentElement;
  while (scroller && !/auto|scroll/.test(getComputedStyle(scroller).overflowY)) scroller = scroller.parentElement;
  return scroller;
}

/** Prints when all parts are drawn. @param {KeyboardEvent} event */
function printKey(event) {
  const { ctrlKey, metaKey, shiftKey, altKey, key } = event;
  if (!(ctrlKey || metaKey) || shiftKey || altKey || key.toLowerCase() !== "p") return;
  const missing = [...parts].filter((part) => !part.data?.drawn);
  if (!missing.length) return;
  event.preventDefault();
  if (!event.repeat) void printAll(missing);
}

/** @param {WatchedPart[]} missing @returns {Promise<void>} */
async function printAll(missing) {
  missing.forEach((part) => part.pin(true));
  const until = performance.now() + PRINT_WAITS;
  while (performance.now() < until && missing.some((part) => parts.has(part) && !part.data?.drawn)) await pause(50);
  await pause(SETTLED);
  window.print();
  missing.forEach((part) => part.pin(false));
}

const mountSight = mounting((parent, /** @type {import("../shared/mount.js").Send<SightEvents>} */ send) => new WatchedPart(parent, send));

/**
 * Called by Streamlit on mount and on each change of the data.
 * @param {import("../shared/mount.js").StreamlitComponent<SightPayload>} component
 */
export default function streamlitSight(component) {
  return mountSight(component.parentElement, component.data, streamlitSend(component, ["near"]));
}
