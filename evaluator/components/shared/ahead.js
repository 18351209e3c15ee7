/** Pictures that are fetched and decoded before their page is turned to. */

import { isPicture, pageImage } from "./elements.js";
import { AT_A_TIME, keepNewest } from "./window.js";

const MOST = 40;

export class PicturesAhead {
  /** @param {number} copies of each picture: one for each pane */
  constructor(copies) {
    this.copies = copies;
    /** @type {Map<string, HTMLImageElement[]>} decoded, the ones used last at the end */
    this.ready = new Map();
    /** @type {Map<string, Promise<void>>} */
    this.loading = new Map();
    /** @type {string[]} sources that are fetched when there is room */
    this.later = [];
    /** @type {{source: string, come: () => void} | null} the picture of the page that is shown */
    this.wanted = null;
  }

  /** @param {string} source @returns {HTMLImageElement[] | null} decoded, one for each pane */
  get(source) {
    const images = this.ready.get(source);
    if (!images) return null;
    keepNewest(this.ready, source, images, MOST);
    return images;
  }

  /** Fetches what is not here, two at a time; what was asked for so before and has not begun is not wanted any more. @param {string[]} sources the likely ones first */
  load(sources) {
    this.later = sources.filter(isPicture);
    this.goOn();
  }

  /**
   * Fetches the picture of the page that is shown, before all that waits. While pages pass by only the last one is
   * wanted, so none of them waits in a row.
   * @param {string} source @param {() => void} come called when it is decoded, unless another one is wanted meanwhile
   */
  want(source, come) {
    this.wanted = { source, come };
    this.goOn();
  }

  goOn() {
    const { wanted } = this;
    if (wanted && this.ready.has(wanted.source)) {
      this.wanted = null;
      wanted.come();
    }
    while (this.loading.size < AT_A_TIME) {
      const { wanted: first } = this;
      const next = first && !this.loading.has(first.source) ? first.source : this.later.shift();
      if (next === undefined) return;
      if (!this.ready.has(next)) void this.fetched(next);
    }
  }

  /** A picture has come, or cannot be shown: that is said when its page is shown. @param {string} source */
  ended(source) {
    this.loading.delete(source);
    if (this.wanted?.source === source && !this.ready.has(source)) this.wanted = null;
    this.goOn();
  }

  /** @param {string} source of a picture @returns {Promise<void>} when it is decoded, or cannot be */
  fetched(source) {
    if (this.ready.has(source)) return Promise.resolve();
    const under = this.loading.get(source);
    if (under) return under;
    const images = Array.from({ length: this.copies }, () => pageImage({ src: source }));
    const loading = Promise.all(images.map((image) => image.decode())).then(() => keepNewest(this.ready, source, images, MOST), () => undefined).finally(() => this.ended(source));
    this.loading.set(source, loading);
    return loading;
  }
}
