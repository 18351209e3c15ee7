/**
 * The list of decisions: one row for each cause, whose verdict, note, owner, due date and status are edited in place.
 *
 * Pictures are asked for when a row comes near the screen. Keys are meant for the chosen row; Enter saves what is edited,
 * Escape drops it. Text from data reaches the document through `textContent` and attributes only.
 */

import { breakable, button, html, letterBadge } from "../shared/elements.js";
import { VERDICT_KEYS, keyGroups } from "../shared/key_help.js";
import { mounting, streamlitComponent } from "../shared/mount.js";
import { LATE_WORDS, Outbox } from "../shared/outbox.js";
import { nameField } from "../shared/reviewer_field.js";
import { keepReviewer, knownReviewer } from "../shared/reviewer_name.js";
import { MARKS, TASK_STATUSES, VERDICTS } from "../shared/verdicts.js";
import { verdictWords } from "../shared/words.js";
import { eventId } from "../shared/requests.js";
import { TAKES_INPUT, listenForKeys } from "../shared/focus.js";
import { actionOf } from "../shared/keys.js";
import { fillCrop } from "../gallery/crop_frame.js";
import { NearCrops } from "../gallery/queue.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { DecisionPictureItem, DecisionRowItem, DecisionsEvents, DecisionsPayload, EditEvent } from "../shared/payloads.d.ts" */

/** @type {Record<string, string>} */
const ACTIONS = {
  ArrowUp: "up", ArrowDown: "down", p: "up", n: "down", 1: "verdict-0", 2: "verdict-1", 3: "verdict-2", 4: "verdict-3",
  v: "note", o: "owner", d: "due", s: "status", u: "undo", Enter: "alike",
};
const KEYS = [
  { keys: ["\u2191", "\u2193"], words: "cause", rank: 1 },
  ...VERDICT_KEYS,
  ...Object.entries({ O: "owner", D: "due", S: "status", V: "note", U: "undo", Enter: "all its places" }).map(([key, words]) => ({ keys: [key], words, rank: 1 })),
];
/** @typedef {"note" | "owner" | "due" | "status"} Field */
/** @type {Record<Field, string>} */
const FIELD_WORDS = { note: "Note", owner: "Owner", due: "Due", status: "Status" };

class Decisions {
  /** @param {ParentNode & Node} parent @param {Send<DecisionsEvents>} send */
  constructor(parent, send) {
    this.send = send;
    /** @type {NearCrops<DecisionPictureItem>} */
    this.queue = new NearCrops((keys) => this.send("want", keys));
    /** @type {DecisionsPayload | null} */
    this.data = null;
    this.drawn = "";
    this.chosen = "";
    /** @type {{row: string, field: Field, input: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} | null} */
    this.edited = null;
    /** @type {{row: string, field: string, value: string} | null} what waits for the reviewer's name */
    this.waiting = null;
    /** @type {Outbox<EditEvent>} */
    this.outbox = new Outbox((acts) => this.send("edit", acts), () => this.showProblem());
    this.asked = "";
    this.head = html("div", { class: "dc-head", role: "row" });
    this.list = html("div", { class: "dc-list", role: "rowgroup" });
    this.rest = html("p", { class: "dc-rest" });
    this.name = nameField("dc-name", () => this.named(), () => this.unnamed());
    this.said = html("span", { class: "dc-said", role: "status" });
    this.problem = html("span", { class: "dc-problem", role: "alert" });
    this.owners = html("datalist", { id: "dc-owners" });
    const table = html("div", { class: "dc-table", role: "table", "aria-label": "Decisions" }, this.head, this.list);
    const foot = html("div", { class: "dc-foot" }, html("div", { class: "dc-keys" }, ...keyGroups(KEYS)), this.name, this.said, this.problem);
    this.root = html("div", { class: "layoutscope-decisions", tabindex: -1 }, table, this.rest, foot, this.owners);
    parent.append(this.root);
    this.ends = new AbortController();
    listenForKeys(this.root, (event) => this.pressed(event), this.ends.signal);
  }

  /** @returns {DecisionRowItem | undefined} the chosen row */
  get row() {
    return this.data?.rows.find(({ key }) => key === this.chosen);
  }

  /** @param {DecisionsPayload} data */
  update(data) {
    this.data = data;
    this.queue.open(data.set);
    const waited = this.outbox.acts.length > 0;
    this.outbox.heard(data.answered);
    if (waited && !this.outbox.acts.length) this.said.textContent = data.problem ? "" : "Saved";
    this.showProblem();
    if (data.reviewer) this.name.hidden = true;
    const text = JSON.stringify([data.set, data.models, data.rows, data.rest, data.empty]);
    if (text !== this.drawn) this.draw(data);
    this.drawn = text;
    this.owners.replaceChildren(...data.owners.map((value) => html("option", { value })));
    this.queue.answer(data.pictures);
    for (const [key, picture] of Object.entries(data.pictures)) this.show(key, picture);
    this.queue.ask();
  }

  showProblem() {
    this.problem.textContent = this.data?.problem || (this.outbox.late ? LATE_WORDS : "");
  }

  /** @param {DecisionsPayload} data */
  draw(data) {
    if (!data.rows.some(({ key }) => key === this.chosen)) this.chosen = data.rows[0]?.key ?? "";
    const held = this.edited;
    this.queue.begin();
    const models = data.models.map(({ letter, name }) => html("span", { role: "columnheader", class: "dc-model", title: name }, letterBadge(letter), name));
    const heads = ["Verdict and note", "Owner, due, status", "Effect on the numbers"].map((words) => html("span", { role: "columnheader" }, words));
    this.head.replaceChildren(html("span", { role: "columnheader" }, "Cause"), ...models, ...heads);
    this.root.style.setProperty("--models", String(data.models.length));
    this.list.replaceChildren(...data.rows.map((row) => this.rowOf(row, data)));
    this.list.hidden = this.head.hidden = !data.rows.length;
    this.rest.textContent = data.rows.length ? data.rest : data.empty;
    for (const row of data.rows.filter(({ pictured }) => pictured)) {
      const picture = this.queue.crops.get(row.key);
      if (picture) this.show(row.key, picture);
      const node = this.nodeOf(row.key);
      if (node) this.queue.near.observe(node);
    }
    this.mark();
    if (held && data.rows.some(({ key }) => key === held.row)) this.edit(held.field, held.row, held.input.value);
    else this.edited = null;
  }

  /** @param {string} key @returns {HTMLElement | null} */
  nodeOf(key) {
    return this.list.querySelector(`[data-key="${CSS.escape(key)}"]`);
  }

  /** @param {DecisionRowItem} row @param {DecisionsPayload} data @returns {HTMLElement} */
  rowOf(row, data) {
    const tags = (row.tags ?? []).map((words) => html("i", { class: "dc-tag" }, words));
    const sides = (row.sides ?? []).map((words, place) => html("div", { class: "dc-side" }, letterBadge(data.models[place].letter), emphasised(words)));
    const open = button("Show in Pages", { class: "dc-link" }, () => this.send("open", row.key), ...breakable(row.place ?? ""));
    const cause = html("div", { role: "cell", class: "dc-cause" }, html("b", {}, row.title), ...tags, ...sides, row.place ? open : null);
    const frames = data.models.map(({ letter }) => html("div", { role: "cell", class: row.pictured ? "dc-crop" : "dc-none", "aria-label": `Model ${letter}`, "data-letter": letter }));
    const node = html("div", { class: "dc-row", role: "row", "data-key": row.key }, cause, ...frames, this.verdictOf(row), this.taskOf(row), worthOf(row));
    node.addEventListener("pointerdown", () => this.choose(row.key));
    return node;
  }

  /** @param {DecisionRowItem} row @returns {HTMLElement} */
  verdictOf(row) {
    const verdict = row.verdict
      ? html("div", { class: "dc-verdict" }, html("span", { "aria-hidden": "true" }, row.mark ?? ""), html("b", {}, row.verdict))
      : html("div", { class: "dc-verdict dc-muted" }, html("span", { "aria-hidden": "true" }, MARKS.none), "Not decided");
    const votes = html("ul", { class: "dc-votes", hidden: true }, ...(row.votes ?? []).map((vote) => html("li", {}, html("span", {}, vote.name), html("span", {}, vote.words))));
    const split = row.split ? button("Show who said what", { class: "dc-tag dc-split", "aria-expanded": "false" }, () => {
      votes.hidden = !votes.hidden;
      split?.setAttribute("aria-expanded", String(!votes.hidden));
    }, row.split) : null;
    const notes = html("div", { class: "dc-notes", "data-field": "note" }, ...(row.notes ?? []).map((note) => html("p", {}, note)));
    notes.addEventListener("dblclick", () => this.edit("note", row.key));
    const add = button(`Note on ${row.title}`, { class: "dc-add" }, () => this.edit("note", row.key), row.own_note ? "Edit note" : "Add note");
    return html("div", { role: "cell", class: "dc-said-of" }, verdict, split, votes, notes, html("div", { class: "dc-people" }, row.people ?? "", " ", add));
  }

  /** @param {DecisionRowItem} row @returns {HTMLElement} */
  taskOf(row) {
    const open = !row.verdict;
    const line = (/** @type {Field} */ field, /** @type {string} */ shown, /** @type {string} */ missing) => html("div", { class: "dc-line", "data-field": field }, html("span", {}, FIELD_WORDS[field]),
      button(`${FIELD_WORDS[field]} of ${row.title}`, { class: "dc-value" }, () => this.edit(field, row.key), shown ? shown : open ? "-" : html("i", { class: "dc-tag" }, missing)));
    const status = `${row.status_mark} ${row.status_words}`;
    return html("div", { role: "cell", class: "dc-task" }, line("owner", row.owner ?? "", "no owner"), line("due", row.due_words ?? "", "no date"), line("status", status, ""));
  }

  /** @param {string} key @param {DecisionPictureItem} picture */
  show(key, picture) {
    const frames = /** @type {HTMLElement[]} */ ([...(this.nodeOf(key)?.querySelectorAll(".dc-crop") ?? [])]);
    frames.forEach((frame, place) => fillCrop(frame, picture.boxes[place] ?? [], picture.crop));
  }

  /** @param {string} key */
  choose(key) {
    if (key === this.chosen) return;
    this.chosen = key;
    this.asked = "";
    this.mark();
  }

  /** Tab stops are those of the chosen row: the arrows lead to the others. */
  mark() {
    for (const node of this.list.children) {
      const chosen = node.getAttribute("data-key") === this.chosen;
      if (chosen) node.setAttribute("aria-current", "true");
      else node.removeAttribute("aria-current");
      for (const each of node.querySelectorAll("button")) each.tabIndex = chosen ? 0 : -1;
    }
  }

  /** @param {number} by */
  step(by) {
    const keys = this.data?.rows.map(({ key }) => key) ?? [];
    const to = keys[Math.max(0, Math.min(keys.length - 1, keys.indexOf(this.chosen) + by))];
    if (!to) return;
    this.choose(to);
    this.nodeOf(to)?.scrollIntoView({ block: "nearest" });
  }

  /** @param {Field} field @param {string} [key] @param {string} [value] what was typed already */
  edit(field, key = this.chosen, value) {
    const row = this.data?.rows.find((each) => each.key === key);
    const place = this.nodeOf(key)?.querySelector(`[data-field="${field}"]`);
    if (!row || !place) return;
    if (row.refused) {
      this.said.textContent = row.refused;
      return;
    }
    if (this.edited) this.drop();
    this.choose(key);
    const input = inputOf(field, value ?? { note: row.own_note, owner: row.owner, due: row.due, status: row.status || "open" }[field] ?? "");
    this.edited = { row: key, field, input };
    const held = [...place.childNodes];
    place.replaceChildren(...(field === "note" ? [input] : [held[0], input]));
    input.addEventListener("keydown", (event) => this.typed(/** @type {KeyboardEvent} */ (event)));
    if (field === "status") input.addEventListener("change", () => this.keep());
    input.focus({ preventScroll: true });
    if (input instanceof HTMLInputElement && field === "owner") input.select();
    this.said.textContent = "Enter saves, Esc drops";
  }

  /** @param {KeyboardEvent} event */
  typed(event) {
    if (event.key === "Escape") this.drop();
    else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.keep();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Leaves what is edited as it was. */
  drop() {
    this.edited = null;
    this.said.textContent = "";
    if (this.data) this.draw(this.data);
    this.root.focus({ preventScroll: true });
  }

  keep() {
    const { edited, data } = this;
    if (!edited || !data) return;
    const { row, field, input } = edited;
    if (field === "due" && input instanceof HTMLInputElement && input.validity.badInput) {
      this.said.textContent = "This is no day";
      return;
    }
    this.edited = null;
    this.say(row, field, input.value.trim());
    this.draw(data);
    this.root.focus({ preventScroll: true });
  }

  /** @param {string} row @param {string} field @param {string} value */
  say(row, field, value) {
    const known = this.data?.reviewer || knownReviewer();
    if (!known) {
      this.waiting = { row, field, value };
      this.name.hidden = false;
      this.name.focus();
      this.said.textContent = "Type your name and press Enter";
      return;
    }
    if (!this.data?.verified) keepReviewer(known);
    this.said.textContent = "Saving";
    this.outbox.send({ id: eventId(), row, field, value, name: this.data?.reviewer ? "" : known });
    this.showProblem();
  }

  /** The name was typed: what waits for it is sent. */
  named() {
    if (!this.waiting) return;
    const { row, field, value } = this.waiting;
    this.waiting = null;
    this.say(row, field, value);
    this.root.focus({ preventScroll: true });
  }

  /** The name is not given: what waits for it is dropped. */
  unnamed() {
    this.waiting = null;
    this.said.textContent = "Not saved";
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const target = event.composedPath()[0];
    if (target instanceof Element && target.matches(TAKES_INPUT)) return;
    const action = actionOf(ACTIONS, event);
    if (!action || !this.row) return;
    if (action === "alike" && target instanceof Element && target.matches("button, a")) return;
    event.preventDefault();
    event.stopPropagation();
    if (action === "up" || action === "down") this.step(action === "up" ? -1 : 1);
    else if (event.repeat) return;
    else if (action.startsWith("verdict-")) this.judge(this.row, VERDICTS[Number(action.slice(8))][0]);
    else if (action === "undo") this.say(this.row.key, "undo", "");
    else if (action === "alike") this.send("alike", this.row.key);
    else this.edit(/** @type {Field} */ (action));
  }

  /** A verdict on all of a row; one that replaces another one is asked for twice. @param {DecisionRowItem} row @param {string} verdict */
  judge(row, verdict) {
    if (row.refused) {
      this.said.textContent = row.refused;
      return;
    }
    const asked = `${row.key} ${verdict}`;
    if (row.own && row.own !== verdict && this.asked !== asked) {
      this.asked = asked;
      this.said.textContent = `Press again: it replaces your ${row.own === "several" ? "several verdicts" : `"${verdictWords(row.own)}"`}`;
      return;
    }
    this.asked = "";
    this.say(row.key, "verdict", verdict);
  }

  stop() {
    this.queue.stop();
    this.outbox.stop();
    this.ends.abort();
    this.root.remove();
  }
}

/** @param {Field} field @param {string} value @returns {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} */
function inputOf(field, value) {
  const name = { "aria-label": FIELD_WORDS[field], class: "dc-input" };
  const input = field === "note" ? html("textarea", { ...name, rows: 3, maxlength: 2000 })
    : field === "status" ? html("select", name, ...TASK_STATUSES.map(([key, words]) => html("option", { value: key }, words)))
      : html("input", field === "due" ? { ...name, type: "date", max: "9999-12-31" } : { ...name, type: "text", maxlength: 200, list: "dc-owners" });
  const made = /** @type {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} */ (input);
  made.value = value;
  return made;
}

/** @param {string} words @returns {HTMLElement} with its numbers emphasised */
function emphasised(words) {
  return html("span", {}, ...words.split(/([\d,]*\d)/).map((part, place) => place % 2 ? html("b", {}, part) : part));
}

/** @param {DecisionRowItem} row @returns {HTMLElement} */
function worthOf(row) {
  const lines = (row.lines ?? []).map(({ letter, words, after }) => html("div", { class: "dc-side" }, letterBadge(letter), html("span", {}, `${words} \u2192 `, html("b", {}, after))));
  return html("div", { role: "cell", class: "dc-worth" }, row.worth ? html("span", { class: "dc-muted" }, row.worth) : null, ...lines, row.worth_note ? html("span", { class: "dc-muted" }, row.worth_note) : null);
}

export default streamlitComponent(mounting(Decisions));
