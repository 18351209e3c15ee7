/**
 * What the app is told of the reader's doings, when, and what of it comes back.
 */

/**
 * Something that is told when the reader rests: who walks through many boxes tells one.
 */
export class Wish {
  /** @param {number} rest milliseconds */
  constructor(rest) {
    this.rest = rest;
    this.timer = 0;
    /** @type {(() => void) | null} */
    this.work = null;
  }

  /** @param {() => void} work */
  soon(work) {
    window.clearTimeout(this.timer);
    this.work = work;
    this.timer = window.setTimeout(() => this.now(), this.rest);
  }

  now() {
    const work = this.work;
    this.drop();
    work?.();
  }

  drop() {
    window.clearTimeout(this.timer);
    this.work = null;
  }
}

/**
 * Drops what waits when a link elsewhere is pressed: told while the reader is on the way to another view, it would call
 * the reader back.
 * @param {HTMLElement} root @param {Record<string, Wish>} wishes
 * @returns {() => void} ends it, and drops what waits
 */
export function dropWhenLeaving(root, wishes) {
  const drop = () => Object.values(wishes).forEach((wish) => wish.drop());
  const pressed = (/** @type {PointerEvent} */ event) => {
    const path = event.composedPath();
    if (!path.includes(root) && path.some((node) => node instanceof HTMLAnchorElement)) drop();
  };
  window.addEventListener("pointerdown", pressed, true);
  return () => {
    window.removeEventListener("pointerdown", pressed, true);
    drop();
  };
}

export class ToldChoice {
  constructor() {
    /** @type {(string | null)[]} what was told and may still come back, the newest last */
    this.keys = [null];
  }

  /** @param {string | null} key @returns {boolean} whether the app knows it, or will soon */
  knows(key) {
    return this.keys[this.keys.length - 1] === key;
  }

  /** @param {string | null} key */
  tell(key) {
    this.keys.push(key);
  }

  /**
   * A choice that comes with data. Answers are late while the reader goes on: one that only repeats what was told
   * must not lead back.
   * @param {string | null} key @returns {boolean} whether it is the app's own
   */
  isNews(key) {
    const at = this.keys.indexOf(key);
    if (at < 0) return true;
    this.keys.splice(0, at);
    return false;
  }

  /** @param {string | null} key the choice that app and screen have in common from now on */
  agree(key) {
    this.keys = [key];
  }
}
