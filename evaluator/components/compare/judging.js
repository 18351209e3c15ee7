/**
 * The verdict row of the comparison: the row of the page viewer, for the model whose mistake is chosen.
 *
 * A ground truth that both models miss is a mistake of each: the pane that was clicked decides, else the candidate.
 */

import { Drafts } from "../viewer/drafts.js";
import { makeVerdictRow, writeVerdict } from "../viewer/verdict.js";
import { count, plural } from "../shared/words.js";

/** @import { CauseItem, MistakeItem } from "../shared/payloads.d.ts" */
/** @import { Comparison } from "./compare.js" */

export class PairJudging {
  /** @param {Comparison} view */
  constructor(view) {
    this.view = view;
    /** 0 for A, 1 for B: whose mistake it is when both have one */
    this.preferred = 1;
    /** which cause is judged as a whole: page, model and its first mistake */
    this.group = "";
    this.drafts = new Drafts(view.outbox, () => ({ letter: this.pane.letter }));
    this.verdict = makeVerdictRow(this);
  }

  /** @param {MistakeItem} mistake @returns {CauseItem | undefined} */
  causeOf({ number }) {
    return this.data?.panes[this.order].causes?.find(({ numbers }) => numbers.includes(number));
  }

  /** @returns {CauseItem | null} */
  get whole() {
    const mistake = this.mistakeIn(this.order);
    const cause = mistake && this.causeOf(mistake);
    return cause && this.group === this.groupOf(cause) ? cause : null;
  }

  /** @param {CauseItem} cause @returns {string} */
  groupOf({ numbers }) {
    const page = this.data?.page;
    return [page?.document, page?.index, this.pane.letter, numbers[0]].join("/");
  }

  /** @param {MistakeItem} mistake @returns {MistakeItem[]} */
  judgedWith(mistake) {
    return this.whole?.numbers.flatMap((number) => this.state.content.mistakes.get(number) ?? []) ?? [mistake];
  }

  /** @param {MistakeItem} mistake */
  scopeOf(mistake) {
    const cause = this.causeOf(mistake);
    return cause ? {
      words: `One verdict for all ${plural(cause.numbers.length, "mistake")}`,
      title: `${cause.title}: ${plural(cause.boxes, "wrong box", "wrong boxes")}. One verdict for all of it (C)`,
      on: this.whole !== null,
    } : null;
  }

  turnScope() {
    const mistake = this.mistakeIn(this.order);
    const cause = mistake && this.causeOf(mistake);
    this.group = cause && !this.whole ? this.groupOf(cause) : "";
  }

  /** @param {MistakeItem} mistake */
  alikeOf(mistake) {
    const { alike = 0, family = null } = this.causeOf(mistake) ?? {};
    const go = () => family && this.view.sendChoice("alike", { letter: this.pane.letter, family });
    return alike ? { words: `${count(alike)} more like this`, go } : null;
  }

  /** @returns {number} 0 for A, 1 for B */
  get order() {
    const erring = [0, 1].filter((order) => this.mistakeIn(order));
    return erring.includes(this.preferred) || erring.length === 0 ? this.preferred : erring[0];
  }

  get pane() {
    return this.view.panes[this.order];
  }

  get state() {
    return { content: this.view.state.contents[this.order] };
  }

  get data() {
    return this.view.data;
  }

  get root() {
    return this.view.root;
  }

  get spoken() {
    return this.view.spoken;
  }

  get selected() {
    return this.view.state.counterpart(this.order, this.view.selected)?.key ?? null;
  }

  shown() {
    return this.view.shown();
  }

  /** @param {number} order @returns {MistakeItem | undefined} the chosen box as a mistake of one model */
  mistakeIn(order) {
    return this.view.state.contents[order].mistakeOf(this.view.state.counterpart(order, this.view.selected));
  }

  /** @param {MistakeItem} mistake @returns {string} */
  titleOf(mistake) {
    const { whole, pane: { letter } } = this;
    return `Verdict on ${letter}: ${whole ? `${plural(whole.numbers.length, "mistake")}: ${whole.title}` : `${mistake.title} \u00b7 ${mistake.label}`}`;
  }

  /** The row shows while a mistake is chosen: the lists have its room otherwise. */
  write() {
    writeVerdict(this);
    this.verdict.root.hidden ||= !this.mistakeIn(this.order);
  }

  /** On to the next difference. */
  onward() {
    this.view.step(1);
    this.write();
  }
}
