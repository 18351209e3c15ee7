/**
 * Page turns: from a press to the new page.
 *
 * One request is under way at a time; presses meanwhile move its aim, and the last aim is asked for when the answer is
 * here. So a held key goes as fast as pages come, and no page is asked for twice. A page that is here already is drawn
 * at once and not asked for, also while another one is under way; one of which only the picture is missing waits a moment
 * for that.
 */

/** @import { GoEvent } from "./payloads.d.ts" */
/** @typedef {{document: string, index: number}} PagePlace */
/** @typedef {{page: (PagePlace & {position: number, total: number}) | null, strip: (PagePlace & {current: boolean})[]}} Turnable */

const SLOW = 200;
const LOST = 15000;

export class PageTurner {
  /**
   * @param {(go: GoEvent) => void} send
   * @param {(asked: number | null) => void} show the place asked for, 1-based, null for none
   * @param {(slow: boolean) => void} wait shows that the page is late
   * @param {(position: number, waits: boolean) => boolean | Promise<void>} draw draws the page of a place that is here already, and says whether it was, or when to try again because its picture is missing; not when it is not to wait
   */
  constructor(send, show, wait, draw = () => false) {
    this.send = send;
    this.draw = draw;
    this.show = show;
    this.wait = wait;
    /** @type {Turnable | null} */
    this.data = null;
    /** @type {{position: number, sent: number} | null} */
    this.turning = null;
    this.slowTimer = 0;
    this.lostTimer = 0;
  }

  /** @param {number} step pages of the list */
  turn(step) {
    const page = this.data?.page;
    if (!page) return;
    if (this.turning && this.turning.sent < 0) return;
    const from = this.turning?.position ?? page.position;
    const to = Math.max(1, Math.min(page.total, from + step));
    if (to !== from) this.turnTo(to);
  }

  /** @param {number} position 1-based place among the pages of the list @param {boolean} [waits] for a picture alone */
  turnTo(position, waits = true) {
    const page = this.data?.page;
    const under = this.turning;
    if (!page || (!under && position === page.position) || (under && under.sent < 0)) return;
    this.turning = null;
    const drawn = this.draw(position, waits);
    if (drawn === true) {
      this.stop();
      return;
    }
    if (under) {
      this.turning = under;
      under.position = position;
      this.show(position);
      return;
    }
    const turning = { position, sent: position };
    this.turning = turning;
    if (drawn && waits) drawn.then(() => this.tryAgain(turning));
    else this.ask(page, position);
    this.show(position);
    this.watch();
  }

  /** A picture has come, or will not come: the aim is drawn, else asked for. @param {{position: number}} turning */
  tryAgain(turning) {
    if (this.turning !== turning) return;
    this.stop();
    this.turnTo(turning.position, false);
  }

  /** @param {PagePlace & {position: number}} page that is shown @param {number} position */
  ask(page, position) {
    const target = this.data?.strip[rowOf(this.data, position)];
    if (target) this.send({ document: target.document, index: target.index, step: 0 });
    else this.send({ document: page.document, index: page.index, step: position - page.position });
  }

  /** To another page with a mistake, wherever it is. @param {GoEvent} go @param {(waits: boolean) => boolean | Promise<void>} draw as that of the turner */
  walk(go, draw) {
    if (this.turning) return;
    const drawn = draw(true);
    if (drawn === true) return;
    const turning = { position: -1, sent: -1 };
    this.turning = turning;
    this.watch();
    if (!drawn) {
      this.send(go);
      return;
    }
    void drawn.then(() => {
      if (this.turning !== turning) return;
      this.stop();
      if (draw(false) !== true) this.walk(go, () => false);
    });
  }

  watch() {
    this.slowTimer = window.setTimeout(() => this.wait(true), SLOW);
    this.lostTimer = window.setTimeout(() => this.stop(), LOST);
  }

  /** @param {PagePlace} target */
  open(target) {
    const { page, strip } = this.data ?? { page: null, strip: [] };
    const here = strip.findIndex((each) => each.current);
    const there = strip.findIndex((each) => each.document === target.document && each.index === target.index);
    if (page && here >= 0 && there >= 0) this.turnTo(page.position + there - here);
    else this.send({ document: target.document, index: target.index, step: 0 });
  }

  /** New data are shown. @param {Turnable} data @param {boolean} turned whether they are another page */
  arrived(data, turned) {
    this.data = data;
    if (!this.turning) return;
    const { position, sent } = this.turning;
    if (!turned && data.page && data.page.position !== sent) return;
    this.stop();
    if (position !== sent) this.turnTo(Math.max(1, Math.min(data.page?.total ?? 1, position)));
  }

  stop() {
    window.clearTimeout(this.slowTimer);
    window.clearTimeout(this.lostTimer);
    this.turning = null;
    this.wait(false);
    this.show(null);
  }
}

/**
 * @param {Turnable | null} data @param {number | null} position 1-based place among the pages of the list
 * @returns {number} its row in the strip, which may be beyond its ends; -1 when there is none
 */
export function rowOf(data, position) {
  const here = data?.strip.findIndex((page) => page.current) ?? -1;
  return position === null || here < 0 || !data?.page ? -1 : here + position - data.page.position;
}
