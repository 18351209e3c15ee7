/**
 * Pictures that are fetched and decoded before their page is turned to.
 */

import { html, isPicture } from "./elements.js";

const MOST = 40;

export class PicturesAhead {
  /** @param {number} copies of each picture: one for each pane */
  constructor(copies) {
    this.copies = copies;
    /** @type {Map<string, HTMLImageElement[]>} decoded, the ones used last at the end */
    this.ready = new Map();
    /** @type {Map<string, Promise<void>>} */
    this.loading = new Map();
  }

  /** @param {string} source @returns {HTMLImageElement[] | null} decoded, one for each pane */
  get(source) {
    const images = this.ready.get(source);
    // A view that shows no picture takes the source of the last one away.
    if (!images || !isWhole(source, images)) return null;
    for (const image of images) image.hidden = false;
    this.keep(source, images);
    return images;
  }

  /** @param {string} source @param {HTMLImageElement[]} images decoded */
  keep(source, images) {
    this.ready.delete(source);
    this.ready.set(source, images);
    for (const oldest of this.ready.keys()) {
      if (this.ready.size <= MOST) break;
      this.ready.delete(oldest);
    }
  }

  /** @param {string[]} sources the likely ones first */
  load(sources) {
    for (const source of sources) if (isPicture(source)) void this.fetched(source);
  }

  /**
   * @param {string} source of a picture @returns {Promise<void>} when it is decoded, or cannot be: that is said when its page is
   *   shown
   */
  fetched(source) {
    const ready = this.ready.get(source);
    if (ready && isWhole(source, ready)) return Promise.resolve();
    const under = this.loading.get(source);
    if (under) return under;
    const images = Array.from({ length: this.copies }, () =>
      /** @type {HTMLImageElement} */ (html("img", { class: "page-image", alt: "", draggable: "false", src: source })));
    const loading = Promise.all(images.map((image) => image.decode())).then(() => this.keep(source, images), () => undefined).finally(() => this.loading.delete(source));
    this.loading.set(source, loading);
    return loading;
  }
}

/** @param {string} source @param {HTMLImageElement[]} images @returns {boolean} whether they still show it */
function isWhole(source, images) {
  return images.every((image) => image.getAttribute("src") === source);
}
