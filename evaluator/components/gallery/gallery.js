/**
 * The gallery: one card per item with a crop of its page and the boxes drawn over it.
 *
 * Crops are asked for when a card comes near the screen and kept by their key, so that hundreds of cards cost nothing
 * until they are looked at. One tab stop; the arrow keys walk the grid, Enter opens the page. Text from data reaches the
 * document through `textContent` and `setAttribute` only.
 */

import { breakable, html } from "../shared/elements.js";
import { mounting, streamlitComponent } from "../shared/mount.js";
import { fillCrop } from "./crop_frame.js";
import { CropQueue } from "./queue.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { CardItem, CropItem, GalleryEvents, GalleryPayload } from "../shared/payloads.d.ts" */

const ASK_AFTER = 60;

class Gallery {
  /** @param {ParentNode & Node} parent @param {Send<GalleryEvents>} send */
  constructor(parent, send) {
    this.send = send;
    /** @type {CropQueue<CropItem>} */
    this.queue = new CropQueue();
    /** @type {Map<string, {node: HTMLElement, boxes: CardItem["boxes"]}>} frames of the crops by key of their card */
    this.frames = new Map();
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
    for (const entry of entries) this.queue.see(entry.target.getAttribute("data-key") ?? "", entry.isIntersecting);
    this.ask();
  }

  /** One question for all cards that came near the screen, and only when the last one is answered. */
  ask() {
    window.clearTimeout(this.timer);
    if (this.queue.isReady()) this.timer = window.setTimeout(() => this.send("want", this.queue.take()), ASK_AFTER);
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

  /** @param {GalleryPayload} data */
  update(data) {
    this.queue.open(data.set);
    const text = JSON.stringify([data.set, data.cards, data.empty]);
    if (text !== this.drawn) {
      this.draw(data);
      this.drawn = text;
    }
    this.queue.answer(data.crops);
    for (const [key, crop] of Object.entries(data.crops)) this.show(key, crop);
    this.ask();
  }

  /** @param {GalleryPayload} data */
  draw(data) {
    this.seen.disconnect();
    this.queue.wanted.clear();
    this.frames.clear();
    this.grid.replaceChildren(...data.cards.map((card, at) => this.card(card, at)));
    this.grid.hidden = !data.cards.length;
    this.note.hidden = Boolean(data.cards.length);
    this.note.textContent = data.empty ?? "";
    for (const card of data.cards) {
      const crop = this.queue.crops.get(card.key);
      const frame = this.frames.get(card.key);
      if (crop) this.show(card.key, crop);
      if (frame) this.seen.observe(frame.node);
    }
  }

  /** @param {CardItem} card @param {number} at @returns {HTMLElement} */
  card(card, at) {
    const picture = html("div", { class: "gl-crop", "data-key": card.key, "aria-hidden": "true" });
    this.frames.set(card.key, { node: picture, boxes: card.boxes });
    const tags = card.tags.slice(0, 4).map((tag) => html("i", { class: `gl-tag gl-${tag}` }, tag));
    if (card.tags.length > 4) tags.push(html("i", { class: "gl-tag" }, `+${card.tags.length - 4}`));
    const words = [card.title, card.label, ...card.facts, card.place].filter(Boolean).join(", ");
    const node = html("div", { class: "gl-card", role: "listitem", tabindex: at ? -1 : 0, "aria-label": `${words}. Enter opens the page.` },
      picture,
      html("div", { class: "gl-head" }, html("span", { class: "gl-title" }, html("b", {}, card.title), card.label && ` \u00b7 ${card.label}`), ...tags),
      html("div", { class: "gl-facts" }, ...card.facts.map((fact) => html("span", {}, fact))),
      html("div", { class: "gl-place" }, ...breakable(card.place)));
    const open = () => {
      window.clearTimeout(this.timer);
      this.queue.left = true;
      this.send("open", card.key);
    };
    node.addEventListener("click", open);
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      open();
    });
    return node;
  }

  /** @param {string} key @param {CropItem} crop */
  show(key, crop) {
    const { node, boxes } = this.frames.get(key) ?? {};
    if (node && boxes) fillCrop(node, boxes, crop);
  }

  stop() {
    window.clearTimeout(this.timer);
    this.seen.disconnect();
    this.root.remove();
  }
}

export default streamlitComponent(mounting(Gallery));
