/**
 * Suspected ground truth: the queue, the chosen suspect on its page, its evidence and the answers. Each key answers at
 * once; the server is told afterwards, and asked for the pictures of what comes next.
 */

import { html } from "../shared/elements.js";
import { TAKES_INPUT, listenForKeys } from "../shared/focus.js";
import { helpButton, keyGroups, makeHelp } from "../shared/key_help.js";
import { actionOf } from "../shared/keys.js";
import { mounting, streamlitComponent } from "../shared/mount.js";
import { Outbox } from "../shared/outbox.js";
import { nameField } from "../shared/reviewer_field.js";
import { knownReviewer } from "../shared/reviewer_name.js";
import { Drafts } from "../viewer/drafts.js";
import { SuspectQueue } from "./queue.js";
import { SuspectSheet } from "./sheet.js";
import { ZOOM, wordsOf, writeChosen, writeHead, writeRows, writeToolbar } from "./words.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { CropItem, MistakeItem, PictureItem, Rect, SuspectItem } from "../shared/payloads.d.ts" */
/** @import { SuspectVerdictEvent, SuspectsEvents, SuspectsPayload } from "../shared/payloads.d.ts" */
/** @import { Judgement } from "../viewer/drafts.js" */

/** @type {Record<string, string>} */
const ACTIONS = {
  1: "ground_truth_wrong", 2: "model_wrong", 3: "ambiguous", s: "next", n: "next", p: "previous", u: "undo", e: "edit",
  g: "now", a: "A", b: "B", "+": "zoom-in", "=": "zoom-in", "-": "zoom-out", "\u2212": "zoom-out", 0: "fit", "?": "help", Escape: "escape",
};
/** @type {[string, string][]} */
const HELP = [
  ["1", "Accept the proposed correction"], ["2", "Model wrong: the ground truth is right"], ["3", "Ambiguous"], ["S N", "Next suspect, without an answer"], ["P", "Previous suspect"],
  ["U", "Take the last answer back"], ["E", "Edit the proposed correction"], ["G", "Show or hide the ground truth now"], ["A B", "Show or hide the boxes of a model"],
  ["+ -", "Enlarge and reduce the page"], ["0", "As it fits"], ["Escape", "Leave editing"],
];
const REST = 120;
/** Milliseconds after which pictures that did not come are asked for again. */
const ASKED_AGAIN = 3000;
/** @type {string[]} targets that were answered here, the last one at the end; a list that is built anew goes on with them */
const ANSWERED = [];

export class SuspectsView {
  /** @param {ParentNode & Node} parent @param {Send<SuspectsEvents>} send */
  constructor(parent, send) {
    this.send = send;
    this.queue = new SuspectQueue(ANSWERED);
    /** @type {SuspectsPayload | null} */
    this.data = null;
    /** @type {SuspectsPayload["states"]} */
    this.states = {};
    /** @type {Map<string, PictureItem>} by index and document */
    this.pages = new Map();
    /** @type {Map<string, CropItem>} by target */
    this.crops = new Map();
    /** @type {SuspectsPayload["effects"]} */
    this.effects = {};
    /** @type {Set<string>} of layers */
    this.hidden = new Set();
    /** @type {{target: string, box: Rect, label: number} | null} */
    this.edit = null;
    /** @type {{label?: number, xyxy?: Rect}} the correction that goes with the answer, when it was edited */
    this.edited = {};
    /** @type {Outbox<SuspectVerdictEvent>} */
    this.outbox = new Outbox((acts) => this.send("verdict", acts.map((act) => ({ ...act, held: this.held ? [this.held] : [] }))), () => this.draw());
    this.asking = "";
    this.held = "";
    this.wanted = "";
    this.wantedAt = 0;
    this.wantTimer = 0;
    this.drafts = new Drafts(this.outbox, () => this.edited);
    this.sheet = new SuspectSheet((box) => this.moved(box));
    this.head = html("div", { class: "suspect-head" });
    this.rows = html("div", { class: "suspect-rows", role: "listbox", tabindex: "0", "aria-label": "Suspects, most likely first" });
    this.toolbar = html("div", { class: "toolbar suspect-toolbar" });
    this.detail = html("div", { class: "suspect-detail" });
    this.spoken = html("div", { class: "unseen", "aria-live": "polite" });
    this.name = nameField("verdict-name", () => this.named());
    this.help = makeHelp("Keys of the suspects", HELP);
    const keys = html("div", { class: "suspect-keys" }, ...keyGroups([{ keys: ["1", "2", "3"], words: "answer", rank: 1 }, { keys: ["S", "P"], words: "next, previous", rank: 1 }, { keys: ["U"], words: "undo", rank: 1 }, { keys: ["E"], words: "edit", rank: 2 }, { keys: ["G", "A", "B"], words: "layers", rank: 3 }, { keys: ["+", "-", "0"], words: "zoom", rank: 3 }]), helpButton(() => this.help.showModal()));
    this.root = html("div", { class: "layoutscope-viewer layoutscope-suspects" },
      html("section", { class: "suspect-list", "aria-label": "Queue" }, this.head, this.rows),
      html("section", { class: "suspect-main", "aria-label": "The chosen suspect" }, this.toolbar, this.sheet.root, this.detail), keys, this.spoken, this.help);
    this.ends = new AbortController();
    listenForKeys(this.root, (event) => this.pressed(event), this.ends.signal);
    this.rows.addEventListener("scroll", () => this.want());
    parent.append(html("div", { class: "layoutscope-frame" }, this.root));
  }

  stop() {
    this.ends.abort();
    window.clearTimeout(this.wantTimer);
    this.outbox.stop();
    this.root.parentElement?.remove();
  }

  // ---- data -------------------------------------------------------------------------------------------------------

  /** @param {SuspectsPayload} data */
  update(data) {
    for (const [key, page] of Object.entries(data.pages)) this.pages.set(key, page);
    for (const [key, crop] of Object.entries(data.crops)) this.crops.set(key, crop);
    this.data = data;
    this.states = data.states;
    this.effects = data.effects;
    if (data.suspects !== null) this.held = data.set;
    // A list that is named and not here: the browser was built anew in the meantime.
    if (this.held !== data.set) {
      this.held = "";
      this.send("want", { pages: [], crops: [], near: [], held: "" });
      return;
    }
    this.queue.fill(data.set, data.suspects ?? this.queue.items, data.only_open);
    this.outbox.heard(data.answered ?? "");
    for (const item of this.queue.items) this.drafts.resolve(item, [this.mistakeOf(item)]);
    this.draw();
  }

  /** @param {SuspectItem} item @returns {MistakeItem} what the drafts know it as */
  mistakeOf({ rank, target, kind, label }) {
    return { number: rank, status: "", title: kind, label, lines: [], tags: [], keys: [], target, verdict: null, unsaved: null, ...this.states[target] };
  }

  /** @param {SuspectItem} item @returns {Judgement} */
  judgementOf(item) {
    return this.drafts.shown(item, this.mistakeOf(item), this.data?.reviewer ?? null);
  }

  /** @param {SuspectItem} item @returns {boolean} whether somebody has answered it, and it is stored or will be */
  isJudged(item) {
    const { verdict, problem, waiting, saved } = this.judgementOf(item);
    const others = this.states[item.target]?.verdict?.opinions.some((each) => each !== saved && each.author !== saved?.author) ?? false;
    return (problem === "" || waiting) && (verdict !== null || others);
  }

  get listed() {
    return this.queue.listed((item) => this.isJudged(item));
  }

  get current() {
    return this.queue.current(this.listed);
  }

  // ---- drawing ----------------------------------------------------------------------------------------------------

  draw() {
    if (!this.data) return;
    const listed = this.listed;
    const item = this.queue.current(listed);
    if (item && this.queue.chosen !== item.target) this.queue.chosen = item.target;
    writeHead(this, listed);
    writeRows(this, listed);
    writeToolbar(this, this.data);
    writeChosen(this, item, this.data);
    this.want();
  }

  /** @param {SuspectItem} item @param {SuspectsPayload} data */
  drawSheet(item, data) {
    this.sheet.draw(item, this.pages.get(pageKey(item)), { labels: data.labels, hidden: this.hidden, edit: this.edit });
  }

  /** A corner was dragged. @param {Rect} box */
  moved(box) {
    const item = this.current;
    if (!this.edit || !item || !this.data) return;
    this.edit.box = box;
    for (const input of this.detail.querySelectorAll("input[data-side]")) {
      const order = Number(input.getAttribute("data-side"));
      if (input instanceof HTMLInputElement) input.value = (box[order] * item.scale[order % 2]).toFixed(2);
    }
    this.detail.querySelector(".suspect-fields .verdict-problem")?.replaceChildren();
    this.drawSheet(item, this.data);
  }

  // ---- pictures ---------------------------------------------------------------------------------------------------

  /** Asks for the pages of the chosen suspect and of those beside it, and for the crops of the rows on screen. @param {number} [rest] milliseconds before it does */
  want(rest = REST) {
    window.clearTimeout(this.wantTimer);
    this.wantTimer = window.setTimeout(() => {
      // Of two messages on their way the server takes the later one: an answer goes alone, and a list that was built anew
      // in the meantime asks by itself.
      if ((this.outbox.acts.length && !this.outbox.late) || !this.root.isConnected) return;
      const listed = this.listed;
      const at = Math.max(0, listed.findIndex(({ target }) => target === this.queue.chosen));
      const beside = [at, at + 1, at + 2, at - 1].flatMap((place) => listed[place] ?? []);
      const pages = beside.filter((item) => !this.pages.has(pageKey(item))).map(({ rank }) => rank);
      const seen = [...this.rows.children].filter((node) => node instanceof HTMLElement && node.offsetTop - this.rows.offsetTop < this.rows.scrollTop + 1.5 * this.rows.clientHeight && node.offsetTop - this.rows.offsetTop + node.offsetHeight > this.rows.scrollTop - 200);
      const targets = new Set(seen.map((node) => node.getAttribute("data-target")));
      const crops = listed.filter(({ target }) => targets.has(target) && !this.crops.has(target)).slice(0, 12).map(({ rank }) => rank);
      const near = beside.map(({ rank }) => rank);
      const known = beside.every(({ target }) => target in this.effects);
      if (!pages.length && !crops.length && known) return;
      const text = JSON.stringify([pages, crops, near]);
      // A message that reaches the server during another run can get lost on the way.
      if (text !== this.wanted || performance.now() - this.wantedAt > ASKED_AGAIN) {
        this.wanted = text;
        this.wantedAt = performance.now();
        this.send("want", { pages, crops, near, held: this.held });
      }
      this.want(ASKED_AGAIN + REST);
    }, rest);
  }

  // ---- what the reader does ---------------------------------------------------------------------------------------

  /** @param {SuspectItem} item */
  choose(item) {
    this.queue.chosen = item.target;
    this.asking = "";
    this.draw();
    this.spoken.textContent = `${item.kind}, ${item.label}: ${item.reason}`;
  }

  /** @param {number} by */
  step(by) {
    const item = this.queue.beside(this.listed, by);
    if (item) this.choose(item);
  }

  /** @param {string} layer */
  toggle(layer) {
    if (!this.hidden.delete(layer)) this.hidden.add(layer);
    this.draw();
  }

  /** @param {number} factor */
  zoom(factor) {
    this.sheet.zoomBy(factor);
    this.draw();
  }

  turnEdit() {
    const item = this.current;
    if (!item) return;
    const box = item.proposed ?? item.now;
    const own = this.data?.labels.indexOf(item.label) ?? 0;
    this.edit = this.edit || !box ? null : { target: item.target, box: [...box], label: item.new_label ?? Math.max(0, own) };
    this.draw();
    if (this.edit) /** @type {HTMLElement | null} */ (this.detail.querySelector("select"))?.focus();
  }

  /** @param {string} verdict @param {boolean} typed by a key: one's own answer is replaced at the second press */
  answer(verdict, typed) {
    const item = this.current;
    if (!item || !this.data) return;
    const now = this.judgementOf(item);
    if (typed && now.verdict && now.saved?.verdict && now.saved.verdict !== verdict && this.asking !== verdict) {
      this.asking = verdict;
      this.draw();
      return;
    }
    this.asking = "";
    if (this.data.reviewer === "" && !knownReviewer()) {
      this.waitingFor = verdict;
      this.name.hidden = false;
      this.name.focus();
      this.spoken.textContent = `${wordsOf(verdict)}: type your name and press Enter`;
      return;
    }
    this.sendAnswer(item, verdict);
  }

  /** The name was typed: the answer that waits for it is sent. */
  named() {
    const item = this.current;
    if (!item || !this.waitingFor) return;
    this.sheet.root.focus();
    this.sendAnswer(item, this.waitingFor);
  }

  /** @param {SuspectItem} item @param {string | null} verdict */
  sendAnswer(item, verdict) {
    const listed = this.listed;
    const note = this.judgementOf(item).note;
    const name = this.data?.reviewer === "" ? knownReviewer() || this.name.value.trim() : "";
    this.edited = verdict === "ground_truth_wrong" && this.edit?.target === item.target ? { label: this.edit.label, xyxy: this.edit.box } : {};
    this.drafts.send(item, this.mistakeOf(item), verdict, note, [], name);
    this.edit = null;
    if (verdict !== null) this.queue.answer(listed, item);
    this.draw();
    const next = this.current;
    this.spoken.textContent = `${verdict === null ? "Taken back" : wordsOf(verdict)}${next ? `. ${next.kind}, ${next.label}` : ""}`;
  }

  undo() {
    const item = this.queue.takeBack();
    if (item) this.sendAnswer(item, null);
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (!this.data || this.help.open || event.defaultPrevented) return;
    const target = event.composedPath()[0];
    const inList = target === this.rows;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (inList && step !== undefined && !event.ctrlKey && !event.altKey && !event.metaKey) this.step(step);
    else {
      const action = actionOf(ACTIONS, event);
      if (!action || (event.repeat && !["next", "previous", "zoom-in", "zoom-out"].includes(action))) return;
      if (action !== "escape" && !inList && target instanceof Element && target.closest(TAKES_INPUT)) return;
      this.act(action);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {string} action */
  act(action) {
    switch (action) {
      case "next": this.step(1); break;
      case "previous": this.step(-1); break;
      case "undo": this.undo(); break;
      case "edit": this.turnEdit(); break;
      case "zoom-in": this.zoom(ZOOM); break;
      case "zoom-out": this.zoom(1 / ZOOM); break;
      case "fit": this.zoom(0); break;
      case "help": this.help.showModal(); break;
      case "escape": if (this.edit) this.turnEdit(); break;
      case "now": case "A": case "B": this.toggle(action); break;
      default: this.answer(action, true);
    }
  }
}

/** @param {SuspectItem} item @returns {string} under which the picture of its page is sent */
function pageKey({ index, document }) {
  return [index, document].join(" ");
}

export default streamlitComponent(mounting(SuspectsView));
