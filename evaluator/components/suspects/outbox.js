/**
 * Answers on their way to the server, one at a time: of two messages that reach it at once it takes the later one. It
 * draws nothing.
 */

/** @import { SuspectVerdictEvent } from "../shared/payloads.d.ts" */

/** Milliseconds after which a message that is not answered makes way for the next one. */
const LOST_AFTER = 8000;

export class Outbox {
  /** @param {(event: SuspectVerdictEvent) => void} send @param {() => void} emptied called when nothing is on its way any more */
  constructor(send, emptied) {
    this.send = send;
    this.emptied = emptied;
    /** @type {SuspectVerdictEvent[]} the first one is on its way */
    this.waiting = [];
    /** @type {SuspectVerdictEvent[]} sent in vain, as they were said */
    this.lost = [];
    this.timer = 0;
  }

  /** @returns {boolean} whether a message is on its way */
  get busy() {
    return this.waiting.length > 0;
  }

  /** Takes a message; one that is sent again says what it said, and goes when its turn has come. @param {SuspectVerdictEvent} event */
  take(event) {
    const at = this.waiting.findIndex(({ id }) => id === event.id);
    if (at < 0) {
      this.waiting.push(this.lost.find(({ id }) => id === event.id) ?? event);
      this.lost = this.lost.filter(({ id }) => id !== event.id);
    }
    if (this.waiting[0].id === event.id) this.post(event.again);
  }

  /** New data. @param {(event: SuspectVerdictEvent) => boolean} isAnswered */
  answered(isAnswered) {
    this.lost = this.lost.filter((event) => !isAnswered(event));
    if (this.busy && isAnswered(this.waiting[0])) this.next();
  }

  stop() {
    window.clearTimeout(this.timer);
  }

  /** @param {boolean} [again] */
  post(again) {
    window.clearTimeout(this.timer);
    const [first] = this.waiting;
    this.send(again ? { ...first, again } : first);
    this.timer = window.setTimeout(() => {
      this.lost.push(first);
      this.next();
    }, LOST_AFTER);
  }

  next() {
    window.clearTimeout(this.timer);
    this.waiting.shift();
    if (this.busy) this.post();
    else this.emptied();
  }
}
