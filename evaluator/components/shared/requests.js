/** When a request is sent, and which answers repeat what was sent. */

/** Sends when the reader rests: who walks through many boxes sends one. */
export class Debounced {
  /** @param {number} rest milliseconds */
  constructor(rest) {
    this.rest = rest;
    this.timer = 0;
    /** @type {(() => void) | null} */
    this.work = null;
  }

  /** @param {() => void} work takes the place of what waits */
  schedule(work) {
    window.clearTimeout(this.timer);
    this.work = work;
    this.timer = window.setTimeout(() => this.flush(), this.rest);
  }

  /** @returns {boolean} whether something is still to be sent */
  get waits() {
    return this.work !== null;
  }

  flush() {
    const work = this.work;
    this.cancel();
    work?.();
  }

  cancel() {
    window.clearTimeout(this.timer);
    this.work = null;
  }
}

/**
 * Cancels what waits when a link elsewhere is pressed, or the reader goes back: sent while the reader is on the way to
 * another view, it would call the reader back. What waits when anything else is pressed outside is sent at once: after
 * what was pressed it would be about another page, or other models.
 * @param {HTMLElement} root @param {Record<string, Debounced>} requests @param {() => void} [left] called then
 * @returns {() => void} ends it, and cancels what waits
 */
export function cancelWhenLeaving(root, requests, left = () => undefined) {
  const waiting = Object.values(requests);
  const ends = new AbortController();
  const options = { capture: true, signal: ends.signal };
  const leave = () => {
    left();
    waiting.forEach((request) => request.cancel());
  };
  const pressed = (/** @type {MouseEvent} */ event) => {
    const path = event.composedPath();
    if (path.includes(root)) return;
    if (path.some((node) => node instanceof HTMLAnchorElement)) leave();
    else waiting.forEach((request) => request.flush());
  };
  window.addEventListener("pointerdown", pressed, options);
  // A link or a button that is pressed by a key has a click and no pointer.
  window.addEventListener("click", (event) => event.detail === 0 && pressed(event), options);
  window.addEventListener("popstate", leave, options);
  return () => {
    ends.abort();
    waiting.forEach((request) => request.cancel());
  };
}

/** Milliseconds before each time that what is not answered is sent again: a message that meets another one can get lost. */
export const SEND_AGAIN = [3000, 5000, 12000, 20000, 40000];

/** Asks again for what is not ready: a few times, ever later. */
export class AskAgain {
  /** @param {number[]} pauses milliseconds before each time @param {() => void} ask */
  constructor(pauses, ask) {
    this.pauses = pauses;
    this.ask = ask;
    this.what = "";
    this.times = 0;
    this.timer = 0;
  }

  /** @param {string} what is not ready, empty for nothing; another thing is asked for from the start */
  about(what) {
    if (what !== this.what) {
      this.stop();
      this.what = what;
    }
    if (!what || this.timer || this.times >= this.pauses.length) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      this.ask();
      this.about(what);
    }, this.pauses[this.times]);
    this.times += 1;
  }

  stop() {
    window.clearTimeout(this.timer);
    this.timer = this.times = 0;
    this.what = "";
  }
}

/** @param {number} ms @returns {Promise<void>} that so much time has passed */
export function pause(ms) {
  return new Promise((done) => void window.setTimeout(done, ms));
}

/** @returns {string} a name that no other event has */
export function eventId() {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(16).padStart(8, "0")).join("");
}

/** The choices that were sent and whose answers may still come. */
export class SentChoice {
  constructor() {
    /** @type {(string | null)[]} what was sent and may still come back, the newest last */
    this.keys = [null];
  }

  /** @param {string | null} key @returns {boolean} whether the server has it, or will soon */
  isLatest(key) {
    return this.keys[this.keys.length - 1] === key;
  }

  /** @param {string | null} key */
  add(key) {
    this.keys.push(key);
  }

  /**
   * A choice that comes with data. Answers are late while the reader goes on: one that only repeats what was sent
   * must not lead back.
   * @param {string | null} key @returns {boolean} whether it is the server's own
   */
  isNew(key) {
    const at = this.keys.indexOf(key);
    if (at < 0) return true;
    this.keys.splice(0, at);
    return false;
  }

  /** @param {string | null} key the choice that server and screen have in common from now on */
  agree(key) {
    this.keys = [key];
  }
}
