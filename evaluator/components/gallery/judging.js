/**
 * Verdicts on the cards of Grid: on the card with the frame, on several, or on the rest of a cause; then the next card.
 */

import { button, html } from "../shared/elements.js";
import { LATE_WORDS, Outbox } from "../shared/outbox.js";
import { eventId } from "../shared/requests.js";
import { nameField } from "../shared/reviewer_field.js";
import { knownReviewer } from "../shared/reviewer_name.js";
import { VERDICTS } from "../shared/verdicts.js";

/** @import { JudgeItem } from "../shared/payloads.d.ts" */
/** @import { Gallery } from "./gallery.js" */

export class GridJudging {
  /** @param {Gallery} view */
  constructor(view) {
    this.view = view;
    /** @type {Outbox<JudgeItem>} */
    this.outbox = new Outbox((acts) => view.send("judge", acts), () => view.data && view.write(view.data));
    /** @type {Set<string>} cards that are judged together */
    this.selected = new Set();
    /** Whether the verdict is for the rest of the cause too. */
    this.everywhere = false;
    this.waiting = -1;
    this.name = nameField("gl-name", () => this.judge(this.waiting));
    this.buttons = html("div", { class: "gl-keys", role: "toolbar", "aria-label": "Verdicts" }, ...VERDICTS.map(([, words, sign], order) =>
      button(words, { class: "gl-verdict", title: `${words} (${order + 1})`, tabindex: "-1" }, () => this.judge(order), html("kbd", { "aria-hidden": "true" }, String(order + 1)), html("span", { "aria-hidden": "true" }, sign))), this.name);
  }

  /** The keys stand in the card with the frame. @param {HTMLElement} card */
  stand(card) {
    const foot = card.querySelector(".gl-foot");
    if (foot && this.buttons.parentElement !== foot) foot.append(this.buttons);
  }

  /** @param {string} action @returns {boolean} whether it was one of verdicts */
  act(action) {
    if (action.startsWith("verdict-")) this.judge(Number(action.at(-1)));
    else if (action === "undo") this.outbox.send({ id: eventId(), keys: [], verdict: null, undo: true });
    else if (action === "cause") this.turnCause();
    else if (action === "escape") this.extend([]);
    else return false;
    return true;
  }

  /** @param {string[]} keys cards that join the selection; none lets go of it */
  extend(keys) {
    if (!keys.length) this.selected.clear();
    this.everywhere = false;
    for (const key of keys) this.selected.add(key);
    this.mark();
  }

  /** The places of the cause that are not judged, on other sheets too, or the card alone again. */
  turnCause() {
    const on = !this.everywhere;
    this.extend([]);
    this.everywhere = on;
    if (on) for (const key of this.restOfCause()) this.selected.add(key);
    this.mark();
  }

  /** @returns {string[]} the card with the frame, and those of its cause without a verdict */
  restOfCause() {
    const { data, cursor } = this.view;
    const cards = data?.cards ?? [];
    const family = cards.find(({ key }) => key === cursor)?.family;
    return cards.flatMap(({ key, family: own }, at) => (key === cursor || (own === family && !(data?.verdicts?.[at] ?? []).length) ? key : []));
  }

  mark() {
    for (const [key, { card }] of this.view.frames) card.classList.toggle("selected", this.selected.has(key));
  }

  /** @param {number} order of the verdict */
  judge(order) {
    const { data, cursor } = this.view;
    if (!cursor || !data) return;
    if (!data.reviewer && !knownReviewer()) {
      this.waiting = order;
      this.name.hidden = false;
      this.name.focus();
      return;
    }
    const keys = this.view.order.filter((key) => this.selected.has(key) || key === cursor);
    this.outbox.send({ id: eventId(), keys: this.everywhere ? [cursor, ...keys.filter((key) => key !== cursor)] : keys, verdict: VERDICTS[order][0], everywhere: this.everywhere, name: data.reviewer ? "" : knownReviewer() });
    this.extend([]);
    const cards = this.view.order;
    const next = cards[cards.indexOf(keys[keys.length - 1]) + 1];
    if (next) this.view.point(next, true);
    this.view.write(data);
  }

  /** @returns {string} why nothing of it is stored yet */
  get problem() {
    return this.outbox.late ? LATE_WORDS : "";
  }

  /** @param {string} key @returns {string | null} what a card says while its verdict is on the way */
  saidOf(key) {
    const act = [...this.outbox.acts].reverse().find(({ keys }) => keys.includes(key));
    const verdict = VERDICTS.find(([name]) => name === act?.verdict);
    return verdict ? `${verdict[2]} ${verdict[1]}` : null;
  }

  /** Other cards are shown. */
  drawn() {
    for (const key of this.selected) if (!this.view.frames.has(key)) this.selected.delete(key);
    this.mark();
  }
}
