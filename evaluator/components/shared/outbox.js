/**
 * What a reviewer said and the server has not answered, in order. It draws nothing.
 *
 * Every message has all of it: of two that reach the server together the later one may count alone. What is not answered is
 * sent again a few times, and said to be late from the second time on; each act has an id, under which it is stored once.
 */

import { AskAgain, SEND_AGAIN } from "./requests.js";

export const LATE_WORDS = "The dashboard has not answered. What you said stays here; choose it again to retry.";

/** @template {{id: string}} A */
export class Outbox {
  /** @param {(acts: A[]) => void} deliver @param {() => void} changed called when it is late */
  constructor(deliver, changed) {
    this.deliver = deliver;
    /** @type {A[]} */
    this.acts = [];
    this.late = false;
    this.again = new AskAgain(SEND_AGAIN, () => {
      this.late = this.again.times > 1;
      this.deliver(this.acts);
      if (this.late) changed();
    });
  }

  /** @param {string | undefined} id @returns {boolean} whether it is not answered */
  holds(id) {
    return this.acts.some((act) => act.id === id);
  }

  /** @param {A} act one that is held already goes once more, as it was */
  send(act) {
    if (!this.holds(act.id)) this.acts = [...this.acts, act];
    if (this.late) this.stop();
    this.late = false;
    this.deliver(this.acts);
    this.again.about(this.acts[0].id);
  }

  /** @param {string} answered id of the last act that was; so are those before it */
  heard(answered) {
    const at = this.acts.findIndex(({ id }) => id === answered);
    if (at < 0) return;
    this.acts = this.acts.slice(at + 1);
    this.late = false;
    this.again.about(this.acts[0]?.id ?? "");
  }

  stop() {
    this.again.stop();
  }
}
