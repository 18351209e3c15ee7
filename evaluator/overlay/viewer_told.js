/**
 * What the app was told about the chosen box, and what it says itself.
 */

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
