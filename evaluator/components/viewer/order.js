/**
 * The reading orders of a page: arrows from item to item, numbers at the items, and the play that goes through them.
 *
 * Lines have their ends as shares of the sheet, so that no zoom draws them anew.
 */

import { button, html, setAttributes, svg } from "../shared/elements.js";
import { bringIntoView } from "../shared/placement.js";
import { percentOf, plural } from "../shared/words.js";

/** @import { OrderPathItem, Side } from "../shared/payloads.d.ts" */
/** @import { Viewer } from "./viewer.js" */

/** Milliseconds from item to item. */
const STEP = 700;
/** The orders from the bottom up. @type {[Side, string, string][]} */
const ORDERS = [["ground_truth", "true order", "Show or hide the order of the ground truth"], ["prediction", "predicted order", "Show or hide the order of the prediction"]];

/** @param {string} kind @returns {SVGElement} the head of its arrows */
function arrowHead(kind) {
  return svg("marker", { id: `order-head-${kind}`, class: `order-head order-${kind}`, viewBox: "0 0 10 10", refX: 8, refY: 5, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" },
    svg("path", { d: "M0 0 10 5 0 10z" }));
}

/** @param {string} kind @returns {SVGElement} */
function sample(kind) {
  return svg("svg", { class: "swatch", viewBox: "0 0 18 14", "aria-hidden": "true" }, svg("line", { x1: 1, y1: 7, x2: 17, y2: 7, class: `order-step order-${kind}` }));
}

export class OrderLayer {
  /** @param {Viewer} view */
  constructor(view) {
    this.view = view;
    this.lines = svg("svg", { class: "overlay", "aria-hidden": "true" });
    this.numbers = html("div", { class: "chips", "aria-hidden": "true" });
    /** @type {OrderPathItem[]} */
    this.paths = [];
    /** @type {number | null} place in the order that is played, while it is */
    this.at = null;
    this.timer = 0;
    /** @type {Record<Side, boolean>} */
    this.shown = { ground_truth: true, prediction: true };
    this.toggles = ORDERS.map(([side, words, title]) => button(words, { class: "toggle", "aria-pressed": "true", title }, () => this.show(side, !this.shown[side]),
      sample(side), html("span", { class: "long" }, words)));
    this.jumps = html("span", { class: "order-jumps" });
    this.legend = html("div", { class: "legend", role: "group", "aria-label": "Orders shown", hidden: true }, ...this.toggles, this.jumps);
  }

  /** @param {OrderPathItem[]} paths */
  fill(paths) {
    this.stop();
    this.paths = paths;
    this.legend.hidden = paths.length === 0;
    const wrong = paths.reduce((sum, path) => sum + (path.wrong?.length ?? 0), 0);
    this.jumps.replaceChildren(sample("wrong"), html("b", {}, String(wrong)), html("span", { class: "long" }, plural(wrong, "wrong jump").replace(/^\S+ /, "")));
    this.jumps.title = `${plural(wrong, "wrong jump")}: what is read next does not follow in the ground truth`;
    this.lines.replaceChildren(...(paths.length ? [svg("defs", {}, ...["ground_truth", "prediction", "wrong"].map(arrowHead))] : []), ...paths.map((path) => this.linesOf(path)));
    this.numbers.replaceChildren(...paths.flatMap((path) => this.numbersOf(path)));
    for (const [side] of ORDERS) this.show(side, this.shown[side]);
  }

  /** @param {string} key @returns {[number, number]} the middle of a box, shares of the page */
  middle(key) {
    const [x1, y1, x2, y2] = this.view.state.content.box(key)?.xyxy ?? [0, 0, 0, 0];
    return [(x1 + x2) / 2, (y1 + y2) / 2];
  }

  /** @param {OrderPathItem} path @returns {SVGElement} */
  linesOf({ side, keys, wrong = [] }) {
    const steps = keys.slice(1).flatMap((key, at) => {
      const [from, to] = [this.middle(keys[at]), this.middle(key)];
      const ends = { x1: percentOf(from[0]), y1: percentOf(from[1]), x2: percentOf(to[0]), y2: percentOf(to[1]), "data-at": at + 1, "data-ends": `${keys[at]} ${key}` };
      const kind = wrong.includes(at + 1) ? "wrong" : side;
      return [svg("line", { ...ends, class: "order-halo" }), svg("line", { ...ends, class: `order-step order-${kind}`, "marker-end": `url(#order-head-${kind})` })];
    });
    return svg("g", { class: `order-path path-${side}` }, ...steps);
  }

  /** @param {OrderPathItem} path @returns {HTMLElement[]} the place of each item, at its corner */
  numbersOf({ side, keys, numbers, wrong = [] }) {
    return keys.map((key, at) => {
      const [x1, y1] = this.view.state.content.box(key)?.xyxy ?? [0, 0, 0, 0];
      const node = html("span", { class: `order-number path-${side}${wrong.includes(at) ? " order-wrong" : ""}`, "data-at": at }, String(numbers[at]));
      Object.assign(node.style, { left: percentOf(x1), top: percentOf(y1) });
      return node;
    });
  }

  /** @param {Side} side @param {boolean} shown */
  show(side, shown) {
    this.shown[side] = shown;
    setAttributes(this.toggles[ORDERS.findIndex(([name]) => name === side)], { "aria-pressed": String(shown) });
    for (const layer of [this.lines, this.numbers]) layer.classList.toggle(`hide-${side}`, !shown);
  }

  // ---- play -------------------------------------------------------------------------------------------------------

  /** @returns {OrderPathItem | undefined} what is played: the predicted order where it shows */
  played() {
    return this.paths.find(({ side, keys }) => keys.length && this.shown[side] && side === "prediction") ?? this.paths.find(({ side, keys }) => keys.length && this.shown[side]);
  }

  /** Plays the order from where it stands, or stops. @returns {boolean} whether there is one */
  play() {
    const path = this.played();
    if (!path) return false;
    if (this.timer) {
      this.pause();
      return true;
    }
    this.go(this.at === null || this.at >= path.keys.length - 1 ? 0 : this.at + 1);
    this.timer = window.setInterval(() => {
      if (this.at === null || this.at >= path.keys.length - 1) this.pause();
      else this.go(this.at + 1);
    }, STEP);
    return true;
  }

  /** @param {number} by 1 or -1 @returns {boolean} whether there is an order */
  step(by) {
    const path = this.played();
    if (!path) return false;
    this.pause();
    this.go(Math.min(Math.max((this.at ?? -1) + by, 0), path.keys.length - 1));
    return true;
  }

  pause() {
    window.clearInterval(this.timer);
    this.timer = 0;
  }

  /** Shows the whole order again. @returns {boolean} whether it was played */
  stop() {
    this.pause();
    const was = this.at !== null;
    this.at = null;
    this.mark(null);
    if (was) this.view.setHover(null);
    return was;
  }

  /** @param {number} at */
  go(at) {
    const path = this.played();
    if (!path) return;
    this.at = at;
    this.mark(path);
    const { view } = this;
    const box = view.state.content.box(path.keys[at]);
    if (box && view.place.zoom > 1) {
      bringIntoView(view.place, box.xyxy, view.pageSize());
      view.moved();
    }
    view.setHover(path.keys[at]);
    view.spoken.textContent = `${box?.name ?? ""}, ${box?.label ?? ""}`;
  }

  /** Steps that neither come to these boxes nor leave them are pale. @param {readonly string[]} keys none for all */
  near(keys) {
    for (const line of this.lines.querySelectorAll("line")) {
      const ends = (line.getAttribute("data-ends") ?? "").split(" ");
      line.classList.toggle("order-far", keys.length > 0 && !ends.some((key) => keys.includes(key)));
    }
  }

  /** What is ahead is pale. @param {OrderPathItem | null} path */
  mark(path) {
    for (const node of [...this.lines.querySelectorAll("line"), ...this.numbers.children]) {
      const at = Number(node.getAttribute("data-at"));
      node.classList.toggle("order-ahead", path !== null && this.at !== null && at > this.at);
    }
  }
}
