/**
 * Page turns: from a press to the new page; also a page whose picture fails, and the first address of a view.
 *
 * One request is under way at a time; presses meanwhile move its aim, and the last aim is asked for when the answer is
 * here. So a held key goes as fast as pages come, and no page is asked for twice.
 */

/** @typedef {import("../viewer/viewer.js").Data} Data */

const SLOW = 200;
const LOST = 15000;

export class PageTurner {
  /**
   * @param {(name: string, value: unknown) => void} send
   * @param {(asked: number | null) => void} show the place asked for, 1-based, null for none
   * @param {(slow: boolean) => void} wait tells the reader that the page is late
   */
  constructor(send, show, wait) {
    this.send = send;
    this.show = show;
    this.wait = wait;
    /** @type {Data | null} */
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

  /** @param {number} position 1-based place among the pages of the list */
  turnTo(position) {
    const page = this.data?.page;
    if (!page || (!this.turning && position === page.position)) return;
    if (this.turning) {
      this.turning.position = position;
      this.show(position);
      return;
    }
    this.turning = { position, sent: position };
    const strip = this.data?.strip ?? [];
    const here = strip.findIndex((each) => each.current);
    const target = here < 0 ? undefined : strip[here + position - page.position];
    if (target) this.send("go", { document: target.document, index: target.index, step: 0 });
    else this.send("go", { document: page.document, index: page.index, step: position - page.position });
    this.show(position);
    this.slowTimer = window.setTimeout(() => this.wait(true), SLOW);
    this.lostTimer = window.setTimeout(() => this.stop(), LOST);
  }

  /** To another page with a mistake, wherever it is. @param {{document: string, index: number, step: number, mistake: number}} wish */
  walk(wish) {
    if (this.turning) return;
    this.turning = { position: -1, sent: -1 };
    this.send("go", wish);
    this.slowTimer = window.setTimeout(() => this.wait(true), SLOW);
    this.lostTimer = window.setTimeout(() => this.stop(), LOST);
  }

  /** @param {import("../viewer/list.js").StripPage} target */
  open(target) {
    const strip = this.data?.strip ?? [];
    const page = this.data?.page;
    const here = strip.findIndex((each) => each.current);
    const there = strip.findIndex((each) => each.document === target.document && each.index === target.index);
    if (page && here >= 0 && there >= 0) this.turnTo(page.position + there - here);
    else this.send("go", { document: target.document, index: target.index, step: 0 });
  }

  /** New data are shown. @param {Data} data @param {boolean} turned whether they are another page */
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
 * @template {{page: object | null}} Shown @param {Shown} data @returns {Shown} the same page as an empty sheet, and why
 */
export function withoutImage(data) {
  const problem = {
    title: "The page image cannot be shown",
    text: "The browser could not decode it. The boxes are drawn on an empty sheet.",
    fix: "Reload the view; if it stays, open the PDF elsewhere to check it.",
  };
  return { ...data, page: data.page && { ...data.page, image: null, problem: data.page.problem ?? problem } };
}

/**
 * Gives a view that was opened by its name alone its full address. In place, because Streamlit makes a step of the
 * history of each change, and then the way back would take two presses.
 * @param {string | undefined} address
 */
export function writeAddress(address) {
  if (address && !window.location.search) window.history.replaceState(window.history.state, "", `${window.location.pathname}?${address}`);
}
