/**
 * What was chosen and typed in a meeting and not decided yet, by item of the agenda; and the keys. Pure: no document.
 */

/** @import { OpinionState } from "../shared/payloads.d.ts" */

/** @type {[string, string][]} name, words */
export const MEETING_VERDICTS = [
  ["model_wrong", "Model wrong"],
  ["ground_truth_wrong", "Ground truth wrong"],
  ["ambiguous", "Ambiguous"],
  ["ignore", "Ignore"],
];

/** @type {Record<string, string>} */
const MEETING_KEYS = {
  1: "verdict-0", 2: "verdict-1", 3: "verdict-2", 4: "verdict-3",
  ArrowLeft: "previous-example", ArrowRight: "next-example", ArrowUp: "previous-item", ArrowDown: "next-item",
  Enter: "decide", z: "zoom", Escape: "end", n: "note",
};

/**
 * @param {Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey" | "isComposing">} press
 * @param {boolean} typing whether anything that takes text or a choice has the focus: no key is a hotkey then
 * @returns {string | null}
 */
export function meetingAction(press, typing) {
  if (press.ctrlKey || press.altKey || press.metaKey || press.isComposing || typing) return null;
  return MEETING_KEYS[press.key] ?? MEETING_KEYS[press.key.toLowerCase()] ?? null;
}

export class MeetingDrafts {
  constructor() {
    /** @type {Map<string, Partial<OpinionState>>} */
    this.drafts = new Map();
  }

  /** @param {string} item @param {OpinionState} held by the data @returns {OpinionState} */
  shown(item, held) {
    return { ...held, ...this.drafts.get(item) };
  }

  /** @param {string} item @param {Partial<OpinionState>} change */
  change(item, change) {
    this.drafts.set(item, { ...this.drafts.get(item), ...change });
  }

  /** @param {string} item it is stored */
  forget(item) {
    this.drafts.delete(item);
  }
}
