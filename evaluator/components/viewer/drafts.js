/**
 * Verdicts that a reviewer has begun or sent and that the data do not hold yet, by mistake. It draws nothing.
 *
 * A verdict that no answer comes for is reported as late, and its text stays. It is sent again a few times, under the
 * same id. The reviewer who chooses it again sends it under that id too, so that it is stored once whichever message
 * arrives.
 */

import { eventId } from "../shared/requests.js";

/** @import { MistakeItem, OpinionItem, VerdictEvent } from "../shared/payloads.d.ts" */
/** @typedef {{document: string, index: number}} PagePlace */
/**
 * @typedef {object} Draft
 * @property {string | null} [verdict] undefined: not chosen anew
 * @property {string} [note]
 * @property {boolean} [waiting] sent, and not answered
 * @property {number} [timer]
 * @property {string} [id] of the message
 * @property {{verdict: string | null, note: string}} [sent] what the message says
 * @property {string} [late] why it is not stored
 */
/**
 * @typedef {object} Judgement what the reviewer sees of a verdict
 * @property {string | null} verdict
 * @property {string} note
 * @property {string} problem why it is not stored; empty when it is, or will be
 * @property {boolean} waiting for the answer, or with a problem for the store, where it is tried again
 * @property {OpinionItem | null} saved one's own stored word
 */

/** Milliseconds after which a verdict without an answer is sent again: another message may have taken its place. */
const AGAIN = [3000, 9000, 20000, 40000, 80000];
const LATE = 8000;
const LATE_WORDS = "The dashboard has not answered. The text stays here; choose the verdict again to retry.";

export class Drafts {
  /** @param {(event: VerdictEvent) => void} deliver @param {() => void} changed called when a draft is late @param {() => string} [makeId] */
  constructor(deliver, changed, makeId = eventId) {
    this.deliver = deliver;
    this.changed = changed;
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
    return {
      verdict: draft?.verdict === undefined ? base?.verdict ?? null : draft.verdict,
      note: draft?.note ?? base?.note ?? "",
      problem: mistake.unsaved?.problem ?? draft?.late ?? "",
      waiting: draft?.waiting ?? mistake.unsaved?.busy ?? false,
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
    const last = this.drafts.get(key);
    const same = last?.late !== undefined && last.sent?.verdict === verdict && last.sent.note === note;
    const event = {
      id: same && last.id ? last.id : this.makeId(), document: page.document, index: page.index, number: mistake.number, keys: mistake.keys,
      target: mistake.target ?? null, verdict, note, ...(targets.length ? { targets } : {}), ...(name ? { name } : {}), ...(everywhere ? { everywhere } : {}),
    };
    const timer = window.setTimeout(() => {
      const draft = this.drafts.get(key);
      if (!draft?.waiting || draft.timer !== timer) return;
      this.drafts.set(key, { ...draft, waiting: false, late: LATE_WORDS });
      this.changed();
    }, LATE);
    this.drafts.set(key, { verdict, note, waiting: true, timer, id: event.id, sent: { verdict, note } });
    this.deliver(event);
    for (const after of AGAIN) {
      window.setTimeout(() => {
        // Only the last message of a mistake, so that an older one does not come after it.
        if (this.drafts.get(key)?.timer === timer) this.deliver({ ...event, again: true });
      }, after);
    }
  }

  /** New data: a message that was answered, even after it was reported as late, loses its draft; what was typed since stays. The answer to an earlier message changes nothing. @param {PagePlace} page @param {MistakeItem[]} mistakes */
  resolve(page, mistakes) {
    for (const mistake of mistakes) {
      const key = this.keyOf(page, mistake);
      const draft = this.drafts.get(key);
      if (!draft?.sent || mistake.answered !== draft.id) continue;
      window.clearTimeout(draft.timer);
      if (draft.note === draft.sent?.note) this.drafts.delete(key);
      else this.drafts.set(key, { note: draft.note });
    }
  }
}
