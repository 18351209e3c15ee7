/**
 * The gallery: one card per item with a crop of its page and the boxes drawn over it; in Grid also the causes, and keys
 * that judge.
 *
 * Crops are asked for when a card comes near the screen and kept by their key, so that hundreds of cards cost nothing
 * until they are looked at. One tab stop; the arrow keys walk the cards, Enter opens the page. Text from data reaches the
 * document through `textContent` and `setAttribute` only.
 */

import { breakable, button, html } from "../shared/elements.js";
import { listenForKeys } from "../shared/focus.js";
import { VERDICT_KEYS, keyGroups } from "../shared/key_help.js";
import { actionOf } from "../shared/keys.js";
import { mounting, streamlitComponent } from "../shared/mount.js";
import { count, plural, saidOf } from "../shared/words.js";
import { fillCrop } from "./crop_frame.js";
import { GridJudging } from "./judging.js";
import { NearCrops } from "./queue.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { CardItem, CropItem, GalleryEvents, GalleryPayload } from "../shared/payloads.d.ts" */

/** @type {Record<string, string>} */
const CARD_MOVES = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", Home: "first", End: "last", Enter: "open", " ": "open" };
/** @type {Record<string, string>} */
const CARD_VERDICTS = { 1: "verdict-0", 2: "verdict-1", 3: "verdict-2", 4: "verdict-3", c: "cause", u: "undo", f: "model", Escape: "escape" };
const GRID_KEYS = [
  ...VERDICT_KEYS,
  { keys: ["\u2190", "\u2192", "\u2191", "\u2193"], words: "move, Shift: several", rank: 1 },
  { keys: ["C"], words: "whole cause", rank: 1 },
  { keys: ["F"], words: "model", rank: 2 },
  { keys: ["Enter"], words: "open the page", rank: 1 },
  { keys: ["U"], words: "undo", rank: 1 },
];

export class Gallery {
  /** @param {ParentNode & Node} parent @param {Send<GalleryEvents>} send */
  constructor(parent, send) {
    this.send = send;
    /** @type {NearCrops<CropItem>} */
    this.queue = new NearCrops((keys) => this.send("want", keys));
    /** @type {GalleryPayload | null} */
    this.data = null;
    /** @type {Map<string, {card: HTMLElement, pictures: {node: HTMLElement, boxes: CardItem["boxes"]}[]}>} cards by key, in order */
    this.frames = new Map();
    this.drawn = "";
    this.cursor = "";
    this.rail = html("nav", { class: "gl-rail", "aria-label": "Causes" });
    this.choice = /** @type {HTMLSelectElement} */ (html("select", { class: "gl-choice", "aria-label": "Cause" }));
    this.grid = html("div", { class: "gl-groups" });
    this.note = html("p", { class: "gl-empty" });
    this.problem = html("p", { class: "gl-problem", role: "alert" });
    this.keys = html("div", { class: "gl-key-line" }, ...keyGroups(GRID_KEYS));
    this.root = html("div", { class: "layoutscope-gallery" }, this.rail, html("div", { class: "gl-main" }, this.choice, this.grid, this.note, this.problem), this.keys);
    this.judging = new GridJudging(this);
    parent.append(this.root);
    this.ends = new AbortController();
    this.choice.addEventListener("change", () => this.send("cause", Number(this.choice.value)));
    this.grid.addEventListener("focusin", (event) => {
      const card = event.target instanceof Element ? event.target.closest(".gl-card") : null;
      if (card) this.point(card.getAttribute("data-card") ?? "", false);
    });
    this.grid.addEventListener("keydown", (event) => {
      if (!this.judges) this.press(event);
    });
    this.listens = false;
  }

  /** @returns {boolean} whether cards are judged here */
  get judges() {
    return Array.isArray(this.data?.verdicts);
  }

  /** @returns {string[]} the cards in order, those that are shown */
  get order() {
    return [...this.frames].filter(([, { card }]) => card.getClientRects().length).map(([key]) => key);
  }

  // ---- keys -------------------------------------------------------------------------------------------------------

  /** @param {KeyboardEvent} event */
  press(event) {
    const action = actionOf({ ...CARD_MOVES, ...(this.judges ? CARD_VERDICTS : {}) }, event);
    if (!action || !this.frames.size || event.defaultPrevented) return;
    if (!this.judges && !this.grid.querySelector(".gl-card:focus")) return;
    const target = event.composedPath()[0];
    if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return;
    if (target instanceof HTMLButtonElement && action === "open") return;
    if (!this.act(action, event.shiftKey)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {string} action @param {boolean} [extends_] the selection too @returns {boolean} whether it was one */
  act(action, extends_ = false) {
    if (action === "open") this.open(this.cursor);
    else if (action === "model") this.send("model", true);
    else if (!this.judging.act(action)) {
      const to = this.beside(action);
      if (!to) return false;
      this.judging.extend(extends_ ? [this.cursor, to] : []);
      this.point(to, true);
    }
    return true;
  }

  /** @param {string} move @returns {string | undefined} the card there */
  beside(move) {
    const cards = this.order;
    const at = cards.indexOf(this.cursor);
    if (move === "first" || move === "last") return cards.at(move === "first" ? 0 : -1);
    if (move === "left" || move === "right") return cards[Math.max(0, Math.min(cards.length - 1, at + (move === "left" ? -1 : 1)))];
    if (move !== "up" && move !== "down") return undefined;
    const place = (/** @type {string} */ key) => {
      const { left, top } = this.frames.get(key)?.card.getBoundingClientRect() ?? { left: 0, top: 0 };
      return { left, top };
    };
    const here = place(this.cursor);
    const step = move === "up" ? -1 : 1;
    let row = NaN, best = cards[at], gap = Infinity;
    for (let next = at + step; next >= 0 && next < cards.length; next += step) {
      const { left, top } = place(cards[next]);
      if (Math.abs(top - here.top) < 2) continue;
      if (Number.isNaN(row)) row = top;
      if (Math.abs(top - row) > 2) break;
      if (Math.abs(left - here.left) < gap) [best, gap] = [cards[next], Math.abs(left - here.left)];
    }
    return best;
  }

  /** Moves the frame to a card. @param {string} key @param {boolean} focused */
  point(key, focused) {
    const before = this.frames.get(this.cursor)?.card;
    const card = this.frames.get(key)?.card;
    if (!card) return;
    if (before && before !== card) {
      before.classList.remove("current");
      before.tabIndex = -1;
    }
    this.cursor = key;
    card.classList.toggle("current", this.judges);
    card.tabIndex = 0;
    this.judging.stand(card);
    if (!focused) return;
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }

  /** @param {string} key */
  open(key) {
    window.clearTimeout(this.queue.timer);
    this.queue.left = true;
    this.send("open", key);
  }

  // ---- data -------------------------------------------------------------------------------------------------------

  /** @param {GalleryPayload} data */
  update(data) {
    this.data = data;
    this.queue.open(data.set);
    if (this.judges && !this.listens) {
      this.listens = true;
      listenForKeys(this.root, (event) => this.press(event), this.ends.signal);
    }
    const text = JSON.stringify([data.set, data.cards, data.empty, (data.groups ?? []).map(({ title, words, first }) => [title, words, first])]);
    if (text !== this.drawn) {
      this.draw(data);
      this.drawn = text;
    }
    this.judging.outbox.heard(data.answered ?? "");
    this.write(data);
    this.queue.answer(data.crops);
    for (const [key, crop] of Object.entries(data.crops)) this.show(key, crop);
    this.queue.ask();
  }

  /** @param {GalleryPayload} data */
  draw(data) {
    this.queue.begin();
    this.frames.clear();
    const nodes = data.cards.map((card) => this.card(card));
    const groups = data.groups?.length ? data.groups : [{ title: "", words: "", first: 0, places: 0, judged: 0 }];
    this.grid.replaceChildren(...groups.flatMap((group, at) => {
      const own = nodes.slice(group.first, groups[at + 1]?.first);
      const cards = html("div", { class: "gl-grid", role: "list", "aria-label": group.title || "Crops" }, ...own);
      return group.title ? [this.head(group, data.cards[group.first]?.key ?? ""), cards] : [cards];
    }));
    this.grid.hidden = !data.cards.length;
    this.note.hidden = Boolean(data.cards.length);
    this.note.textContent = data.empty ?? "";
    for (const card of data.cards) {
      const crop = this.queue.crops.get(card.key);
      const frame = this.frames.get(card.key);
      if (crop) this.show(card.key, crop);
      if (frame) this.queue.near.observe(frame.pictures[0].node);
    }
    this.judging.drawn();
    const [first] = this.order;
    if (first) this.point(this.frames.has(this.cursor) ? this.cursor : first, false);
  }

  /** @param {NonNullable<GalleryPayload["groups"]>[number]} group @param {string} first key of its first card @returns {HTMLElement} */
  head(group, first) {
    const rest = button("", { class: "gl-rest" }, () => {
      this.point(first, true);
      this.judging.act("cause");
    });
    return html("div", { class: "gl-group" }, html("h2", { title: group.title }, group.title), html("span", { class: "gl-muted" }, group.words),
      html("span", { class: "gl-grow" }), html("span", { class: "gl-muted gl-judged" }), this.data?.by_cause ? rest : "");
  }

  /** What changes with a verdict: nothing is drawn anew. @param {GalleryPayload} data */
  write(data) {
    const judges = this.judges;
    this.keys.hidden = !judges;
    this.problem.textContent = data.problem || this.judging.problem;
    data.cards.forEach((card, at) => {
      const node = this.frames.get(card.key)?.card.querySelector(".gl-said");
      const said = judges ? this.judging.saidOf(card.key) ?? saidOf(data.verdicts?.[at] ?? []) : "";
      if (node && node.textContent !== said) node.textContent = said;
    });
    this.grid.querySelectorAll(".gl-group").forEach((node, at) => {
      const { places, judged } = data.groups?.[at] ?? { places: 0, judged: 0 };
      const left = places - judged;
      /** @type {HTMLElement} */ (node.querySelector(".gl-judged")).textContent = judges ? `${count(judged)} of ${count(places)} judged` : "";
      const rest = /** @type {HTMLButtonElement | null} */ (node.querySelector(".gl-rest"));
      if (!rest) return;
      rest.hidden = places < 2 || left === 0;
      rest.textContent = judged ? `One verdict for the other ${count(left)}` : `One verdict for all ${count(left)}`;
    });
    this.writeCauses(data);
  }

  /** @param {GalleryPayload} data */
  writeCauses(data) {
    const causes = data.causes ?? [];
    this.rail.hidden = this.choice.hidden = causes.length === 0;
    this.root.classList.toggle("with-rail", causes.length > 0);
    if (!causes.length) return;
    const boxes = causes.reduce((sum, cause) => sum + cause.boxes, 0);
    const none = !causes.some(({ chosen }) => chosen);
    const row = (/** @type {string} */ title, /** @type {number} */ number, /** @type {number | null} */ share, /** @type {boolean} */ chosen, /** @type {number} */ at) =>
      button(`${title}: ${plural(number, "wrong box", "wrong boxes")}`, { class: "gl-cause", "aria-pressed": String(chosen), title }, () => this.send("cause", at),
        html("span", { class: "gl-cause-title" }, title), html("b", {}, count(number)),
        share === null ? null : html("progress", { max: 1, value: share, "aria-hidden": "true" }));
    this.rail.replaceChildren(
      row("All mistakes", boxes, null, none, -1),
      html("div", { class: "gl-rail-head" }, html("span", {}, plural(causes.length, "cause")), html("span", {}, "wrong boxes")),
      ...causes.map(({ title, boxes: own, judged, chosen }, at) => row(title, own, judged, chosen, at)));
    const option = (/** @type {string} */ words, /** @type {number} */ at, /** @type {boolean} */ selected) => html("option", { value: at, selected }, words);
    this.choice.replaceChildren(option(`All mistakes, ${count(boxes)}`, -1, none), ...causes.map(({ title, boxes: own, chosen }, at) => option(`${title}, ${count(own)}`, at, chosen)));
  }

  /** @param {CardItem} card @returns {HTMLElement} */
  card(card) {
    const sides = card.sides ?? [];
    const shown = sides.length ? sides : [card];
    const pictures = shown.map(({ boxes }) => ({ node: html("div", { class: "gl-crop", "data-key": card.key, "aria-hidden": "true" }), boxes }));
    const tags = card.tags.map((tag) => html("i", { class: `gl-tag gl-${tag.split(" ").at(-1)}` }, tag));
    const words = [card.title, card.label, ...card.tags, ...card.facts, ...sides.map((side) => `${side.letter}: ${side.words}`), card.place].filter(Boolean).join(", ");
    const node = html("div", { class: "gl-card", role: "listitem", tabindex: -1, "data-card": card.key, "aria-label": `${words}. Enter opens ${sides.length ? "all its places" : "the page"}.` },
      html("div", { class: "gl-pictures" }, ...pictures.map((picture) => picture.node)),
      html("div", { class: "gl-head" }, html("span", { class: "gl-title", title: card.title }, html("b", {}, card.title), card.label && ` \u00b7 ${card.label}`), ...tags),
      ...(sides.length ? [html("div", { class: "gl-sides" }, ...sides.map((side) => this.side(side)))] : [
        html("div", { class: "gl-facts" }, ...card.facts.map((fact) => html("span", {}, fact))),
        html("div", { class: "gl-place" }, ...breakable(card.place)),
      ]),
      this.judges ? html("div", { class: "gl-foot" }, html("span", { class: "gl-said" })) : null);
    this.frames.set(card.key, { card: node, pictures });
    node.addEventListener("click", (event) => {
      if (event.target instanceof Element && event.target.closest(".gl-foot")) this.point(card.key, false);
      else this.open(shown[pictures.findIndex((picture) => event.composedPath().includes(picture.node))]?.key ?? card.key);
    });
    return node;
  }

  /** @param {NonNullable<CardItem["sides"]>[number]} side @returns {HTMLElement} what opens its places */
  side({ key, letter, words, empty }) {
    const badge = html("i", { class: `gl-letter gl-letter-${letter}` }, letter);
    if (empty) return html("span", { class: "gl-side" }, badge, words);
    return button("", { class: "gl-side" }, (event) => {
      event.stopPropagation();
      this.open(key);
    }, badge, words);
  }

  /** @param {string} key @param {CropItem} crop */
  show(key, crop) {
    for (const { node, boxes } of this.frames.get(key)?.pictures ?? []) fillCrop(node, boxes, crop);
  }

  stop() {
    this.queue.stop();
    this.ends.abort();
    this.judging.outbox.stop();
    this.root.remove();
  }
}

export default streamlitComponent(mounting(Gallery));
