/**
 * What the server is told of a part of a view: that it is in sight, or close while the reader scrolls, and that it has been
 * out of sight for a while. Pure: no document.
 */

export class Nearness {
  /** @param {(near: boolean) => void} tell */
  constructor(tell) {
    this.tell = tell;
    this.inSight = false;
    this.close = false;
    /** Whether the part is wanted wherever it is. */
    this.pinned = false;
    /** @type {boolean | null} what the server believes; null before it has said anything */
    this.believed = null;
  }

  /** @param {boolean} drawn whether the server has drawn the part: a component that is built anew goes on from there */
  heard(drawn) {
    this.believed ??= drawn;
  }

  /** The window or the part has moved. @param {boolean} scrolls the reader does it: what is close comes into sight soon */
  moved(scrolls) {
    if (this.inSight || this.pinned || (scrolls && this.close)) this.say(true);
  }

  /** Nothing has moved for a while. */
  rested() {
    if (!this.inSight && !this.pinned) this.say(false);
  }

  /** The server has nothing to do: it hears again what it has not done. @param {boolean} drawn what it has done */
  repeat(drawn) {
    if (this.believed !== null && this.believed !== drawn) this.tell(this.believed);
  }

  /** @param {boolean} near */
  say(near) {
    if (near === this.believed || this.believed === null) return;
    this.believed = near;
    this.tell(near);
  }
}
