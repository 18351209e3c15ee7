/**
 * Verdicts that a reviewer has begun or sent and that the data do not hold yet, by mistake. It draws nothing.
 *
 * One that no answer comes for is reported as late, and its text stays. The reviewer who chooses it again sends it under
 * the same id, so that it is stored once whichever message arrives.
 */

import { LATE_WORDS } from "../shared/outbox.js";
import { eventId } from "../shared/requests.js";

/** @import { Outbox } from "../shared/outbox.js" */
/** @import { MistakeItem, OpinionItem, VerdictEvent } from "../shared/payloads.d.ts" */
/** @typedef {{document: string, index: number}} PagePlace */
/**
 * @typedef {object} Draft
 * @property {string | null} [verdict] undefined: not chosen anew
 * @property {string} [note]
 * @property {VerdictEvent} [sent]
 */
/**
 * @typedef {object} Judgement what the reviewer sees of a verdict
 * @property {string | null} verdict
 * @property {string} note
 * @property {string} problem why it is not stored; empty when it is, or will be
 * @property {boolean} waiting for the answer, or with a problem for the store, where it is tried again
 * @property {OpinionItem | null} saved one's own stored word
 */

export class Drafts {
  /** @param {Outbox<VerdictEvent>} outbox @param {() => object} [more] what every message has besides @param {() => string} [makeId] */
  constructor(outbox, more = () => ({}), makeId = eventId) {
    this.outbox = outbox;
    this.more = more;
    this.makeId = makeId;
    /** @type {Map<string, Draft>} */
    this.drafts = new Map();
  }

  /** @param {PagePlace} page @param {MistakeItem} mistake @returns {string} what a draft is kept under */
  keyOf(page, mistake) {
    return mistake.target ?? JSON.stringify([page.document, page.index, mistake.keys]);
  }

  /**
   * What the reviewer sees: the draft, else what could not be stored, else one's own last word.
   * @param {PagePlace} page @param {MistakeItem} mistake @param {string | null} reviewer @returns {Judgement}
   */
  shown(page, mistake, reviewer) {
    const draft = this.drafts.get(this.keyOf(page, mistake));
    const saved = mistake.verdict?.opinions.find((each) => each.author === reviewer) ?? null;
    const base = mistake.unsaved ?? saved;
    const held = this.outbox.holds(draft?.sent?.id);
    const { late } = this.outbox;
    return {
      verdict: draft?.verdict === undefined ? base?.verdict ?? null : draft.verdict,
      note: draft?.note ?? base?.note ?? "",
      problem: mistake.unsaved?.problem ?? (held && late ? LATE_WORDS : ""),
      waiting: held ? !late : mistake.unsaved?.busy ?? false,
      saved,
    };
  }

  /** @param {PagePlace} page @param {MistakeItem} mistake @param {string} note as typed, not sent */
  type(page, mistake, note) {
    const key = this.keyOf(page, mistake);
    this.drafts.set(key, { ...this.drafts.get(key), note });
  }

  /** @param {PagePlace} page @param {MistakeItem} mistake @param {string | null} verdict null takes it back @param {string} note @param {string[]} [targets] of a cause that is judged as a whole @param {string} [name] of the reviewer, when the data have none @param {boolean} [everywhere] for all places like it */
  send(page, mistake, verdict, note, targets = [], name = "", everywhere = false) {
    const key = this.keyOf(page, mistake);
    const last = this.drafts.get(key)?.sent;
    const same = last && last.verdict === verdict && last.note === note && this.outbox.holds(last.id);
    const sent = same ? last : {
      id: this.makeId(), document: page.document, index: page.index, number: mistake.number, keys: mistake.keys,
      target: mistake.target ?? null, verdict, note, ...(targets.length ? { targets } : {}), ...(name ? { name } : {}), ...(everywhere ? { everywhere } : {}), ...this.more(),
    };
    this.drafts.set(key, { verdict, note, sent });
    this.outbox.send(sent);
  }

  /** New data: a message that was answered, even after it was reported as late, loses its draft; what was typed since stays. @param {PagePlace} page @param {MistakeItem[]} mistakes */
  resolve(page, mistakes) {
    for (const mistake of mistakes) {
      const key = this.keyOf(page, mistake);
      const draft = this.drafts.get(key);
      if (!draft?.sent || this.outbox.holds(draft.sent.id)) continue;
      if (draft.note === draft.sent.note) this.drafts.delete(key);
      else this.drafts.set(key, { note: draft.note });
    }
  }
}
