/**
 * The gallery: one card per item with a crop of its page and the boxes drawn over it.
 *
 * Crops are asked for when a card comes near the screen and kept by their key, so that hundreds of cards cost nothing
 * until they are looked at. One tab stop; the arrow keys walk the grid, Enter opens the page. Text from data reaches the
 * document through `textContent` and `setAttribute` only.
 */

import { html, setAttributes, svg } from "../shared/elements.js";

/**
 * @typedef {object} Card
 * @property {string} key
 * @property {string} title
 * @property {string} label
 * @property {string[]} facts
 * @property {string} place
 * @property {string[]} tags
 * @property {{key: string, side: string, status: "TP" | "FP" | "FN" | "truth", xyxy: [number, number, number, number]}[]} boxes
 */
/**
 * @typedef {object} Crop
 * @property {string | null} image data URL; null when the page cannot be drawn
 * @property {[number, number, number, number]} region share of the page that it shows
 * @property {number} aspect width over height
 * @property {string | null} problem why there is no picture
 */
/**
 * @typedef {object} GalleryData
 * @property {string} set what the cards are of; another set forgets the crops
 * @property {Card[]} cards
 * @property {Record<string, Crop>} crops those asked for last
 * @property {string | null} empty what is said without cards
 */
/** @typedef {(name: string, value: unknown) => void} Send */

const ASK_AFTER = 60;
const ASPECT = 1.7;
const ORDER = ["truth", "TP", "FN", "FP"];

/** @param {number} share @returns {string} */
function percentOf(share) {
  return `${(share * 100).toFixed(4)}%`;
}

class Gallery {
  /** @param {ParentNode & Node} parent @param {Send} send */
  constructor(parent, send) {
    this.send = send;
    /** @type {Map<string, Crop>} */
    this.crops = new Map();
    /** @type {Map<string, HTMLElement>} */
    this.places = new Map();
    /** @type {Set<string>} */
    this.wanted = new Set();
    /** @type {Set<string>} asked for and not come yet */
    this.asked = new Set();
    this.set = "";
    this.drawn = "";
    this.timer = 0;
    this.grid = html("div", { class: "gl-grid", role: "list", "aria-label": "Crops" });
    this.note = html("p", { class: "gl-empty" });
    this.root = html("div", { class: "layoutscope-gallery" }, this.grid, this.note);
    parent.append(this.root);
    this.seen = new IntersectionObserver((entries) => this.look(entries), { rootMargin: "300px" });
    this.grid.addEventListener("keydown", (event) => this.press(event));
  }

  /** @param {IntersectionObserverEntry[]} entries */
  look(entries) {
    for (const entry of entries) {
      const key = entry.target.getAttribute("data-key") ?? "";
      if (!entry.isIntersecting) this.wanted.delete(key);
      else if (!this.crops.has(key) && !this.asked.has(key)) this.wanted.add(key);
    }
    this.ask();
  }

  /** One question for all cards that came near the screen, and only when the last one is answered. */
  ask() {
    clearTimeout(this.timer);
    if (!this.wanted.size || this.asked.size) return;
    this.timer = window.setTimeout(() => {
      this.asked = new Set([...this.wanted].slice(0, 24));
      for (const key of this.asked) this.wanted.delete(key);
      this.send("want", [...this.asked]);
    }, ASK_AFTER);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const cards = /** @type {HTMLElement[]} */ ([...this.grid.children]);
    const at = cards.findIndex((card) => card.matches(":focus"));
    if (at < 0) return;
    const across = Math.max(1, cards.filter((card) => card.offsetTop === cards[0].offsetTop).length);
    /** @type {Record<string, number>} */
    const moves = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - across, ArrowDown: at + across, Home: 0, End: cards.length - 1 };
    if (moves[event.key] === undefined) return;
    const to = cards[Math.max(0, Math.min(cards.length - 1, moves[event.key]))];
    for (const card of cards) card.tabIndex = card === to ? 0 : -1;
    to.focus();
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {GalleryData} data */
  update(data) {
    if (data.set !== this.set) {
      this.crops.clear();
      this.wanted.clear();
      this.asked.clear();
      this.set = data.set;
    }
    const text = JSON.stringify([data.set, data.cards, data.empty]);
    if (text !== this.drawn) {
      this.draw(data);
      this.drawn = text;
    }
    for (const [key, crop] of Object.entries(data.crops)) {
      this.crops.set(key, crop);
      this.show(key, crop);
    }
    // What was asked for and did not come is not asked for again until its card comes back to the screen.
    this.asked.clear();
    this.ask();
  }

  /** @param {GalleryData} data */
  draw(data) {
    this.seen.disconnect();
    this.wanted.clear();
    this.places.clear();
    this.grid.replaceChildren(...data.cards.map((card, at) => this.card(card, at)));
    this.grid.hidden = !data.cards.length;
    this.note.hidden = Boolean(data.cards.length);
    this.note.textContent = data.empty ?? "";
    for (const card of data.cards) {
      const crop = this.crops.get(card.key);
      const place = this.places.get(card.key);
      if (crop) this.show(card.key, crop);
      if (place) this.seen.observe(place);
    }
  }

  /** @param {Card} card @param {number} at @returns {HTMLElement} */
  card(card, at) {
    const picture = html("div", { class: "gl-crop", "data-key": card.key, "aria-hidden": "true" });
    /** @type {any} */ (picture).boxes = card.boxes;
    this.places.set(card.key, picture);
    const tags = card.tags.slice(0, 4).map((tag) => html("i", { class: `gl-tag gl-${tag}` }, tag));
    if (card.tags.length > 4) tags.push(html("i", { class: "gl-tag" }, `+${card.tags.length - 4}`));
    const words = [card.title, card.label, ...card.facts, card.place].join(", ");
    const node = html("div", { class: "gl-card", role: "listitem", tabindex: at ? -1 : 0, "aria-label": `${words}. Enter opens the page.` },
      picture,
      html("div", { class: "gl-head" }, html("span", { class: "gl-title" }, html("b", {}, card.title), ` \u00b7 ${card.label}`), ...tags),
      html("div", { class: "gl-facts" }, ...card.facts.map((fact) => html("span", {}, fact))),
      html("div", { class: "gl-place" }, card.place));
    const open = () => this.send("open", card.key);
    node.addEventListener("click", open);
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      open();
    });
    return node;
  }

  /** @param {string} key @param {Crop} crop */
  show(key, crop) {
    const place = this.places.get(key);
    if (!place) return;
    const [x1, y1, x2, y2] = crop.region;
    const frame = html("div", { class: "gl-sheet" });
    // The frame has a fixed shape; a crop of another shape is centred in it, whole.
    if (crop.aspect >= ASPECT) setAttributes(frame, { style: `width:100%;aspect-ratio:${crop.aspect}` });
    else setAttributes(frame, { style: `height:100%;aspect-ratio:${crop.aspect}` });
    if (crop.image) frame.append(html("img", { src: crop.image, alt: "", draggable: "false" }));
    const boxes = /** @type {Card["boxes"]} */ (/** @type {any} */ (place).boxes);
    const layer = svg("svg", { width: "100%", height: "100%" });
    for (const box of [...boxes].sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))) {
      layer.append(svg("rect", {
        class: `gl-box gl-box-${box.status}`,
        x: percentOf((box.xyxy[0] - x1) / (x2 - x1)), y: percentOf((box.xyxy[1] - y1) / (y2 - y1)),
        width: percentOf((box.xyxy[2] - box.xyxy[0]) / (x2 - x1)), height: percentOf((box.xyxy[3] - box.xyxy[1]) / (y2 - y1)),
      }));
    }
    frame.append(layer);
    if (crop.problem) frame.append(html("p", {}, crop.problem));
    place.replaceChildren(frame);
    place.classList.add("shown");
  }
}

/** @type {WeakMap<object, Gallery>} */
const galleries = new WeakMap();

/**
 * @param {ParentNode & Node} parent @param {GalleryData} data @param {Send} send @returns {() => void} takes it away
 */
export function mountGallery(parent, data, send) {
  const gallery = galleries.get(parent) ?? new Gallery(parent, send);
  galleries.set(parent, gallery);
  gallery.send = send;
  gallery.update(data);
  return () => {
    gallery.seen.disconnect();
    gallery.root.remove();
    galleries.delete(parent);
  };
}

/**
 * Called by Streamlit on mount and on each change of the data.
 * @param {{parentElement: ParentNode & Node, data: GalleryData, setTriggerValue: Send}} component
 */
export default function streamlitGallery(component) {
  return mountGallery(component.parentElement, component.data, component.setTriggerValue);
}
