/**
 * Pictures that are fetched and decoded before their page is turned to.
 */

import { html, isPicture } from "./elements.js";

const MOST = 24;

export class PicturesAhead {
  constructor() {
    /** @type {Map<string, HTMLImageElement>} decoded, the ones used last at the end */
    this.ready = new Map();
    /** @type {Set<string>} */
    this.loading = new Set();
  }

  /** @param {string} source @returns {HTMLImageElement | null} decoded */
  get(source) {
    const image = this.ready.get(source);
    // A view that shows no picture takes the source of the last one away.
    if (!image || image.getAttribute("src") !== source) return null;
    image.hidden = false;
    this.keep(source, image);
    return image;
  }

  /** @param {string} source @param {HTMLImageElement} image decoded */
  keep(source, image) {
    this.ready.delete(source);
    this.ready.set(source, image);
    for (const oldest of this.ready.keys()) {
      if (this.ready.size <= MOST) break;
      this.ready.delete(oldest);
    }
  }

  /** @param {string[]} sources the likely ones first */
  load(sources) {
    for (const source of sources) {
      if (!isPicture(source) || this.loading.has(source) || this.ready.get(source)?.getAttribute("src") === source) continue;
      this.loading.add(source);
      const image = /** @type {HTMLImageElement} */ (html("img", { class: "page-image", alt: "", draggable: "false", src: source }));
      // One that cannot be decoded says so when its page is shown.
      image.decode().then(() => this.keep(source, image), () => undefined).finally(() => this.loading.delete(source));
    }
  }
}
