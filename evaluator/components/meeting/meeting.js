/**
 * A meeting: the agenda, both models on one page, the verdict with note, owner and due date, and what was decided.
 *
 * A verdict key chooses, "Decide" keeps; what is chosen or typed stays with its item until it is decided. No key is a
 * hotkey while a field has the focus. Text from data reaches the document through `textContent` and attributes only.
 */

import { button, html, icon, letterBadge, outlineOf, placeOf, svg } from "../shared/elements.js";
import { keyGroups } from "../shared/key_help.js";
import { mounting, streamlitComponent } from "../shared/mount.js";
import { LATE_WORDS, Outbox } from "../shared/outbox.js";
import { nameInput } from "../shared/reviewer_field.js";
import { keepReviewer, knownReviewer } from "../shared/reviewer_name.js";
import { TASK_STATUSES, VERDICTS } from "../shared/verdicts.js";
import { percentOf, plural, verdictWords } from "../shared/words.js";
import { eventId, pause } from "../shared/requests.js";
import { listenForKeys } from "../shared/focus.js";
import { actionOf } from "../shared/keys.js";
import { LAYER_ORDER } from "../shared/layers.js";
import { isLargerStacked } from "../shared/geometry.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { MeetingEvents, MeetingPageItem, MeetingPaneItem, MeetingPayload } from "../shared/payloads.d.ts" */
/** @import { DecideEvent, OpinionState } from "../shared/payloads.d.ts" */

const FIELDS = "input, textarea, select, [contenteditable]";
/** @type {Record<string, string>} */
const ACTIONS = {
  1: "verdict-0", 2: "verdict-1", 3: "verdict-2", 4: "verdict-3",
  ArrowLeft: "previous-example", ArrowRight: "next-example", ArrowUp: "previous-item", ArrowDown: "next-item",
  Enter: "decide", z: "zoom", b: "back", Escape: "end", n: "next-item", p: "previous-item", v: "note", c: "reach",
};
const KEYS = [
  { keys: ["1", "2", "3", "4"], words: "verdict", rank: 1 },
  { keys: ["V"], words: "note", rank: 1 },
  { keys: ["C"], words: "place or cause", rank: 1 },
  { keys: ["Enter"], words: "decide, next", rank: 1 },
  { keys: ["\u2190", "\u2192"], words: "place", rank: 1 },
  { keys: ["N", "P"], words: "agenda", rank: 1 },
  { keys: ["Z"], words: "zoom to the boxes", rank: 1 },
  { keys: ["Esc"], words: "end", rank: 1 },
];

/** Milliseconds between two questions whether the meeting has changed. */
const ASK_EVERY = 500;
const LOST = "The findings do not answer. The place is found again when they do.";

/** A decision that was meant for the place before is not kept, in milliseconds. */
const MOVED_LATELY = 700;

class Meeting {
  /** @param {ParentNode & Node} parent @param {Send<MeetingEvents>} send */
  constructor(parent, send) {
    this.send = send;
    /** @type {Map<string, Partial<OpinionState>>} what was chosen and typed and not decided yet, by item */
    this.drafts = new Map();
    /** @type {MeetingPayload | null} */
    this.data = null;
    this.zoomed = false;
    this.whole = true;
    /** @type {Outbox<DecideEvent>} */
    this.outbox = new Outbox((acts) => this.send("decide", acts), () => this.showProblem());
    this.drawn = "";
    this.note = /** @type {HTMLTextAreaElement} */ (html("textarea", { rows: 1, maxlength: 2000, "aria-label": "Note", placeholder: "Why" }));
    this.owner = /** @type {HTMLInputElement} */ (html("input", { type: "text", maxlength: 200, "aria-label": "Owner", list: "mt-owners" }));
    this.owners = html("datalist", { id: "mt-owners" });
    this.due = /** @type {HTMLInputElement} */ (html("input", { type: "date", max: "9999-12-31", "aria-label": "Due" }));
    this.status = /** @type {HTMLSelectElement} */ (html("select", { "aria-label": "Status" }, ...[["", "No status"], ...TASK_STATUSES].map(([value, words]) => html("option", { value }, words))));
    this.name = nameInput("mt-name");
    this.verdicts = html("div", { class: "mt-verdicts", role: "toolbar", "aria-label": "Verdicts" });
    this.problem = html("div", { class: "mt-problem", role: "alert" });
    this.spoken = html("div", { class: "mt-spoken", role: "status" });
    this.reach = /** @type {HTMLInputElement} */ (html("input", { type: "checkbox" }));
    this.reachWords = html("span", {});
    this.decide = button("", { class: "mt-decide" }, () => this.keep());
    this.live = html("div", { class: "mt-live", role: "status" });
    this.movedAt = 0;
    this.aspect = 1;
    this.aside = html("nav", { class: "mt-agenda", "aria-label": "Agenda" });
    this.head = html("div", { class: "mt-head" });
    this.panes = html("div", { class: "mt-panes" });
    this.facts = html("aside", { class: "mt-facts" });
    const field = (/** @type {string} */ words, /** @type {Node} */ node) => html("label", {}, html("span", {}, words), node);
    this.form = html("div", { class: "mt-form" }, field("Note", this.note), field("Owner", this.owner), field("Due", this.due), field("Status", this.status), this.decide);
    const reach = html("label", { class: "mt-reach" }, this.reach, this.reachWords);
    this.foot = html("div", { class: "mt-foot" }, this.verdicts, html("div", { class: "mt-row" }, reach, this.name, this.spoken), this.form, this.problem, html("div", { class: "mt-keys" }, ...keyGroups(KEYS)));
    this.root = html("div", { class: "layoutscope-meeting", tabindex: -1 }, this.aside, html("main", {}, this.live, this.head, this.panes, this.foot), this.facts, this.owners);
    parent.append(this.root);
    this.sized = new ResizeObserver(() => this.arrange());
    this.sized.observe(this.panes);
    const { note, owner, due, status } = this;
    this.fields = Object.entries({ note, owner, due, status });
    for (const [name, input] of this.fields) input.addEventListener("input", () => this.type({ [name]: input.value }));
    this.reach.addEventListener("change", () => {
      this.whole = this.reach.checked;
      this.showReach();
    });
    this.ends = new AbortController();
    /** What was last told to be there: it is told once. */
    this.told = "";
    this.lost = html("b", { class: "mt-lost", hidden: true }, LOST);
    void this.ask();
    listenForKeys(this.root, (event) => this.pressed(event), this.ends.signal);
  }

  /** @returns {string} */
  get item() {
    return this.data?.item ?? "";
  }

  /** @returns {OpinionState} */
  get shown() {
    return { verdict: null, note: "", owner: "", due: "", status: "", ...this.data?.held, ...this.drafts.get(this.item) };
  }

  /** @param {Partial<OpinionState>} change */
  type(change) {
    this.drafts.set(this.item, { ...this.drafts.get(this.item), ...change });
    this.showVerdict();
  }

  /** @param {MeetingPayload} data */
  update(data) {
    const moved = this.item !== data.item;
    if (moved && data.live.role === "follows" && this.data?.live.role === "follows") {
      this.movedAt = performance.now();
      // What was typed stays with its item; the keys that follow are not meant for the next one.
      if (this.foot.matches(":focus-within")) this.root.focus({ preventScroll: true });
    } else if (moved) this.movedAt = 0;
    this.data = data;
    const waited = this.outbox.acts;
    this.outbox.heard(data.answered);
    for (const { item, verdict } of waited.slice(0, waited.length - this.outbox.acts.length)) {
      if (!data.problem) this.drafts.delete(item);
      const title = data.agenda.find(({ key }) => key === item)?.title;
      this.spoken.textContent = data.problem ? "" : `${verdictWords(verdict) || "Note"}: ${title}`;
    }
    const text = JSON.stringify(data);
    if (text === this.drawn) return;
    this.drawn = text;
    this.whole = data.mistakes > 0 && (moved ? true : this.whole);
    this.drawLive(data);
    this.drawAgenda(data);
    this.drawHead(data);
    this.drawPanes(data.page ?? null);
    this.drawFacts(data);
    this.fill();
  }

  /** The fields as the item has them. */
  fill() {
    const shown = /** @type {Record<string, any>} */ (this.shown);
    for (const [name, input] of this.fields) if (input.value !== shown[name]) input.value = shown[name];
    this.owners.replaceChildren(...(this.data?.owners ?? []).map((value) => html("option", { value })));
    if (this.data?.reviewer) this.name.hidden = true;
    this.showProblem();
    this.foot.hidden = !this.item;
    this.showVerdict();
    this.showReach();
  }

  showProblem() {
    this.problem.textContent = this.data?.problem || (this.outbox.late ? LATE_WORDS : "");
  }

  showVerdict() {
    const chosen = this.shown.verdict;
    const held = this.verdicts.matches(":focus-within");
    const buttons = VERDICTS.map(([name, words], order) => button(words, { class: "mt-verdict", "aria-pressed": String(chosen === name), "data-verdict": name }, () => this.choose(name),
      html("kbd", {}, String(order + 1)), html("span", {}, words), html("b", {}, String(this.data?.counts[name] ?? 0))));
    this.verdicts.replaceChildren(...buttons);
    if (held) buttons.find((node) => node.dataset.verdict === chosen)?.focus();
  }

  showReach() {
    const { mistakes = 0, examples = 0, here = 1 } = this.data ?? {};
    this.reach.disabled = !mistakes || examples < 2;
    this.reach.checked = this.whole && !this.reach.disabled;
    this.reachWords.textContent = this.reach.checked
      ? `The verdict is for all ${plural(examples, "place")}, ${plural(mistakes, "mistake")}`
      : `The verdict is for this place, ${plural(here, "mistake")}${examples > 1 && !mistakes ? "; there are too many for one verdict" : ""}`;
  }

  /** @param {string} name */
  choose(name) {
    this.type({ verdict: this.shown.verdict === name ? null : name });
    this.spoken.textContent = this.shown.verdict ? "Chosen, not decided yet" : "";
  }

  /** Keeps what is chosen and typed, and goes on. */
  keep() {
    const { data, shown } = this;
    if (!data || !data.item || (!this.outbox.late && this.outbox.acts.some(({ item }) => item === data.item))) return;
    if (performance.now() - this.movedAt < MOVED_LATELY) {
      this.spoken.textContent = "The presenter has just moved on: press again";
      return;
    }
    if (!shown.verdict && !shown.note.trim() && !shown.owner.trim() && !shown.due && !shown.status) {
      this.spoken.textContent = "Choose a verdict, or write a note";
      return;
    }
    const known = data.reviewer || knownReviewer() || this.name.value.trim();
    if (!known) {
      this.name.hidden = false;
      this.name.focus();
      this.spoken.textContent = "Type your name and press Enter";
      return;
    }
    if (!data.verified) keepReviewer(known);
    this.outbox.send({
      id: eventId(), item: data.item, example: data.example, whole: this.whole && data.mistakes > 0, verdict: shown.verdict, note: shown.note,
      owner: shown.owner, due: shown.due, status: shown.status || (shown.owner || shown.due ? "open" : ""), name: data.reviewer ? "" : known, onward: true,
    });
    this.root.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const target = /** @type {HTMLElement | undefined} */ (event.composedPath()[0]);
    const typing = target instanceof Element && target.matches(FIELDS) && target !== this.reach;
    if (typing) {
      const decides = event.key === "Enter" && !event.shiftKey && !event.isComposing && [this.note, this.name, this.owner, this.due].some((field) => field === target);
      if (decides && target === this.name && !this.name.value.trim()) return;
      if (decides) this.keep();
      else if (event.key === "Escape") this.root.focus({ preventScroll: true });
      else return;
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const action = actionOf(ACTIONS, event);
    if (!action || !this.data || event.repeat && action === "decide") return;
    if (action === "decide" && target instanceof Element && target.matches("button, a")) return;
    event.preventDefault();
    event.stopPropagation();
    this.act(action);
  }

  /** @param {string} action */
  act(action) {
    const { data } = this;
    if (!data) return;
    const keys = data.agenda.map(({ key }) => key);
    const at = keys.indexOf(data.item);
    if (action.startsWith("verdict-")) this.choose(VERDICTS[Number(action.slice(8))][0]);
    else if (action === "decide") this.keep();
    else if (action === "note") this.note.focus();
    else if (action === "zoom") this.zoom();
    else if (action === "reach") this.reach.click();
    else if (action === "end") this.send("end", true);
    else if (action === "back") this.send("back", true);
    else if (action === "previous-example" && data.example > 0) this.goTo(data.item, data.example - 1);
    else if (action === "next-example" && data.example + 1 < data.examples) this.goTo(data.item, data.example + 1);
    else if (action === "previous-item" && at > 0) this.goTo(keys[at - 1]);
    else if (action === "next-item" && at + 1 < keys.length) this.goTo(keys[at + 1]);
  }

  /** @param {string} item @param {number} [example] */
  goTo(item, example = 0) {
    this.spoken.textContent = "";
    this.send("show", { item, example });
  }

  zoom() {
    this.zoomed = !this.zoomed;
    this.drawPanes(this.data?.page ?? null);
  }

  /** @param {MeetingPayload} data */
  drawAgenda(data) {
    const done = data.agenda.filter((row) => row.done).length;
    const rows = data.agenda.map((row, place) => html("li", {},
      button(`${place + 1}. ${row.title}, ${row.wrong ? `${row.wrong} ${row.noun}, ` : ""}${row.state}`, { class: "mt-row-item", "aria-current": row.key === data.item ? "true" : null },
        () => this.goTo(row.key), html("i", {}, String(place + 1)), html("span", {}, row.title), html("b", { title: row.noun }, row.wrong), html("small", {}, row.state))));
    this.aside.replaceChildren(
      button("", { class: "mt-end" }, () => this.send("end", true), icon("left"), data.live.role === "presents" ? "End the meeting" : "Leave the meeting"),
      html("div", { class: "mt-agenda-head" }, html("h2", {}, "Agenda"), html("span", {}, `${done} of ${data.agenda.length} done`)),
      html("div", { class: "mt-bar" }, html("i", { style: `width:${percentOf(data.agenda.length ? done / data.agenda.length : 0)}` })),
      html("div", { class: "mt-agenda-head mt-muted" }, html("span", {}, "Cause"), html("span", { class: "mt-letters" }, "wrong", ...data.letters.map(letterBadge))),
      html("ol", {}, ...rows), html("p", { class: "mt-muted" }, data.rest));
    this.aside.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
  }

  /** @param {MeetingPayload} data */
  drawLive({ live }) {
    const follows = live.role === "follows" || live.role === "looks";
    const back = button("Back to the presenter", { class: "mt-back" }, () => this.send("back", true), html("kbd", {}, "B"), "Back to the presenter");
    const present = button("Present instead", { class: "mt-link" }, () => this.send("present", true), live.role === "alone" ? "Present" : "Present instead");
    this.live.replaceChildren(html("span", {}, live.words), this.lost, ...(live.role === "looks" ? [back] : []), ...(live.role === "presents" ? [] : [present]));
    this.live.dataset.role = live.role;
    this.decide.replaceChildren(follows ? "Vote" : "Decide, next", icon("right"));
  }

  /** @param {MeetingPayload} data */
  drawHead(data) {
    const place = data.agenda.findIndex(({ key }) => key === data.item) + 1;
    const step = (/** @type {string} */ words, /** @type {number} */ by, /** @type {"left" | "right"} */ which) =>
      button(words, { disabled: data.example + by < 0 || data.example + by >= data.examples }, () => this.goTo(data.item, data.example + by), icon(which));
    const examples = html("div", { class: "mt-examples" }, step("Previous place", -1, "left"), html("span", {}, "Place ", html("b", {}, `${data.example + 1} of ${data.examples}`)), step("Next place", 1, "right"));
    examples.hidden = data.examples < 2;
    const open = button("Show in Pages", { class: "mt-link" }, () => this.send("open", true), data.page?.place ?? "");
    const where = html("div", { class: "mt-where" }, examples, data.page ? open : null);
    this.head.replaceChildren(html("p", { class: "mt-signature" }, html("b", {}, "Meeting"), ` ${data.signature}`),
      html("div", { class: "mt-title" }, html("div", {}, html("h1", {}, data.title ? `${place} \u00b7 ${data.title}` : "Nothing to discuss: no mistake at these thresholds"), html("p", {}, data.sentence)), where));
  }

  /** @param {MeetingPageItem | null} page */
  drawPanes(page) {
    if (!page) {
      this.panes.replaceChildren(html("p", { class: "mt-nothing" }, this.item ? "This has no page in the open files." : ""));
      return;
    }
    const [x1, y1, x2, y2] = this.zoomed ? page.zoom : [0, 0, 1, 1];
    this.aspect = (page.aspect * (x2 - x1)) / (y2 - y1);
    this.arrange();
    this.panes.replaceChildren(...page.panes.map((pane) => this.pane(page, pane)));
  }

  /** Both pages beside each other or one above the other, as they are larger. */
  arrange() {
    this.panes.classList.toggle("mt-stacked", isLargerStacked({ width: this.panes.clientWidth, height: this.panes.clientHeight }, this.aspect));
  }

  /** @param {MeetingPageItem} page @param {MeetingPaneItem} pane @returns {HTMLElement} */
  pane(page, pane) {
    const [x1, y1, x2, y2] = this.zoomed ? page.zoom : [0, 0, 1, 1];
    const across = x2 - x1, down = y2 - y1;
    const sheet = html("div", { class: "mt-sheet", style: `--aspect:${this.aspect}` });
    const layer = html("div", { class: "mt-layer", style: `left:${percentOf(-x1 / across)};top:${percentOf(-y1 / down)};width:${percentOf(1 / across)};height:${percentOf(1 / down)}` });
    if (page.image) layer.append(html("img", { src: page.image, alt: "", draggable: "false" }));
    const drawing = svg("svg", { width: "100%", height: "100%", role: "img", "aria-label": `${pane.letter}: ${pane.words}` });
    const chosen = new Set(pane.chosen);
    const pale = page.panes.some((each) => each.chosen.length) ? " mt-pale" : "";
    const rank = (/** @type {typeof pane.boxes[number]} */ box) => (chosen.has(box.key) ? 10 : 0) + LAYER_ORDER.indexOf(box.status);
    for (const box of [...pane.boxes].sort((a, b) => rank(a) - rank(b))) {
      const look = `mt-${box.status}${chosen.has(box.key) ? " mt-chosen" : pale}`;
      drawing.append(svg("rect", { class: `mt-box ${look}`, ...placeOf(box.xyxy) }));
      if (box.outline) drawing.append(outlineOf(box.outline, `mt-box mt-outline ${look}`));
    }
    layer.append(drawing);
    sheet.append(layer);
    if (page.problem) sheet.append(html("p", { class: "mt-nothing" }, page.problem));
    return html("section", { class: "mt-pane", "aria-label": `Model ${pane.letter}` },
      html("div", { class: "mt-pane-head" }, letterBadge(pane.letter), html("b", {}, pane.name), html("span", {}, pane.words)), html("div", { class: "mt-stage" }, sheet));
  }

  /** @param {MeetingPayload} data */
  drawFacts(data) {
    const numbers = html("table", {}, html("thead", {}, html("tr", {}, html("th", {}, ""), html("th", {}, "Official"), html("th", {}, "Corrected"))),
      html("tbody", {}, ...data.numbers.map((row) => html("tr", {}, html("th", { scope: "row" }, row.name), html("td", {}, row.official), html("td", {}, row.corrected)))));
    const people = data.votes.map((vote) => html("li", {}, html("span", {}, vote.name, vote.role ? html("small", {}, vote.role) : ""), html("span", {}, vote.words)));
    const decided = data.decided.map((item) => html("li", {}, html("b", {}, item.title), html("span", {}, item.words), html("small", {}, item.task)));
    const minutes = html("a", { class: "mt-minutes", download: "minutes.md", href: `data:text/markdown;charset=utf-8,${encodeURIComponent(data.minutes)}` }, "Minutes so far, Markdown");
    this.facts.replaceChildren(
      card("Numbers", numbers),
      card(data.live.people ? "People" : "Reviewers of this item", ...(data.live.people ? [html("p", { class: "mt-muted mt-count" }, data.live.people)] : []), people.length ? html("ul", { class: "mt-people" }, ...people) : html("p", { class: "mt-muted" }, "No verdict yet.")),
      card("Decided so far", decided.length ? html("ol", { class: "mt-decided" }, ...decided) : html("p", { class: "mt-muted" }, "Nothing yet."), minutes));
  }

  /** Asks whether the meeting is still as it is shown, and has it drawn again when not. */
  async ask() {
    for (; !this.ends.signal.aborted; await pause(ASK_EVERY)) {
      const answer = this.data?.live.asks ? await fetch(this.data.live.asks).catch(() => null) : null;
      // 204: the address of a part that the reader no longer has in the meeting.
      if (answer?.status !== 200) continue;
      const now = await answer.text();
      this.lost.hidden = now !== "";
      if (!now || now === this.told || now === this.data?.live.seen) continue;
      this.told = now;
      this.send("changed", true);
    }
  }

  stop() {
    this.outbox.stop();
    this.sized.disconnect();
    this.ends.abort();
    this.root.remove();
  }
}

/** @param {string} title @param {...Node} parts @returns {HTMLElement} */
function card(title, ...parts) {
  return html("section", { class: "mt-card" }, html("h3", {}, title), ...parts);
}

export default streamlitComponent(mounting(Meeting));
