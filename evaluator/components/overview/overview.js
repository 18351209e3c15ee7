/**
 * The Overview: one row of bars for each model, at one scale, with F1 on an axis; or the labels with most wrong boxes.
 *
 * Each part of a bar opens its boxes, each label its mistakes. Text from data reaches the document through `textContent`
 * and attributes only.
 */

import { button, drawWhenOther, html, textWidth } from "../shared/elements.js";
import { hostOf } from "../shared/focus.js";
import { mounting, streamlitComponent } from "../shared/mount.js";
import { count, plural } from "../shared/words.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { BarsPayload, BoxesEvent, LabelDotsItem, LabelsPayload, ModelBarItem, OverviewEvents } from "../shared/payloads.d.ts" */

/** The bar of the extra boxes is cut at this share of the one of the ground truth. */
const LONGEST = 260 / 458;
/** Pixels of the names of the models. */
const NAMES = [96, 190];
const NAME_FONT = "650 13.5px 'Source Sans', 'Source Sans 3', sans-serif";

class Overview {
  /** @param {ParentNode & Node} parent @param {Send<OverviewEvents>} send */
  constructor(parent, send) {
    this.send = send;
    this.root = html("div", { class: "layoutscope-overview" });
    /** The reader has asked for the table of all labels. */
    this.opens = false;
    parent.append(this.root);
  }

  /** @param {BarsPayload | LabelsPayload} data */
  update(data) {
    drawWhenOther(this.root, data, () => this.root.replaceChildren(...("bars" in data ? this.rows(data) : this.labels(data))));
    if (!this.opens || "bars" in data || !data.opened) return;
    this.opens = false;
    hostOf(this.root).scrollIntoView({ block: "start" });
  }

  // ---- models -----------------------------------------------------------------------------------------------------

  /** @param {BarsPayload} data @returns {HTMLElement[]} */
  rows({ bars, boxes, ticks, note }) {
    const axis = html("div", { class: "ov-axis" }, ...ticks.map(({ at, text }) => html("span", { style: `left:${100 * at}%` }, text)));
    const title = note ? "F1" : "F1, 95 % interval";
    const longest = Math.max(0, ...bars.map(({ name }) => textWidth(name, NAME_FONT)));
    this.root.style.setProperty("--names", `${Math.round(Math.max(NAMES[0], Math.min(NAMES[1], longest + 30)))}px`);
    const head = html("div", { class: "ov-row ov-head" }, html("span", { class: "ov-name" }), html("span", { class: "ov-truth" }, `The ${plural(boxes, "ground-truth box", "ground-truth boxes")}`),
      html("span", { class: "ov-extra" }, "Boxes that are not in it"), html("span", { class: "ov-f1" }, title), html("div", { class: "ov-scale" }, axis));
    return [head, ...bars.map((bar) => this.row(bar, boxes, ticks))];
  }

  /** @param {ModelBarItem} bar @param {number} boxes @param {BarsPayload["ticks"]} ticks @returns {HTMLElement} */
  row(bar, boxes, ticks) {
    const share = (/** @type {number} */ part) => boxes ? part / boxes : 0;
    const marks = bar.place === null ? [] : [html("i", { class: "ov-dot", style: `left:${100 * bar.place}%` })];
    if (bar.ends) marks.unshift(html("i", { class: "ov-whisker", style: `left:${100 * bar.ends[0]}%;width:${100 * (bar.ends[1] - bar.ends[0])}%` }));
    const lines = ticks.map(({ at }) => html("i", { class: "ov-tick", style: `left:${100 * at}%` }));
    const corrected = bar.corrected ? html("small", { title: bar.why }, bar.corrected) : null;
    return html("div", { class: `ov-row ov-of-${bar.letter}`, role: "group", "aria-label": `Model ${bar.letter}` },
      html("span", { class: "ov-name", title: bar.name }, badge(bar.letter), html("span", {}, bar.name)),
      html("span", { class: "ov-truth" }, this.part(bar, "TP", "found", bar.matched, share(bar.matched), bar.recall), this.part(bar, "FN", "missed", bar.missed, share(bar.missed), bar.recall)),
      html("span", { class: "ov-extra" }, this.part(bar, "FP", "extra", bar.extra, boxes ? share(bar.extra) : LONGEST, bar.precision)),
      html("span", { class: "ov-f1" }, html("b", {}, bar.f1), corrected),
      html("div", { class: "ov-scale", title: bar.interval }, html("div", { class: "ov-axis" }, ...lines, ...marks)));
  }

  /**
   * @param {ModelBarItem} bar @param {BoxesEvent["status"]} status @param {string} word @param {number} boxes @param {number} share of the ground truth
   * @param {string} title @returns {HTMLElement}
   */
  part({ letter }, status, word, boxes, share, title) {
    const cut = share > LONGEST && status === "FP";
    const width = `calc(var(--full) * ${boxes && cut ? LONGEST : boxes ? share : 0})`;
    return button("", { class: `ov-part ov-${status}`, style: `width:${width}`, title, disabled: !boxes }, () => this.send("boxes", { letter, status }),
      html("span", {}, `${count(boxes)} ${word}${cut ? " \u00bb" : ""}`));
  }

  // ---- labels -----------------------------------------------------------------------------------------------------

  /** @param {LabelsPayload} data @returns {HTMLElement[]} */
  labels({ cells, letters, facts, every, star, opened }) {
    const keys = letters.length > 1 ? letters.map((letter) => html("span", {}, html("i", { class: `ov-key ov-of-${letter}` }), letter)) : [];
    const head = html("div", { class: "ov-labels-head" }, html("h2", {}, "Labels"), html("span", {}, facts), html("span", { class: "ov-keys" }, ...keys, star ? html("span", {}, star) : null));
    const all = button("", { class: "ov-cell ov-every", "aria-expanded": String(opened) }, () => this.turn(!opened), html("span", {}, opened ? "Hide the table" : every));
    return [head, html("div", { class: "ov-cells" }, ...cells.map((cell) => this.cell(cell, letters)), all)];
  }

  /** @param {boolean} opens whether the table is opened, and not hidden */
  turn(opens) {
    this.opens = opens;
    this.send("every", true);
  }

  /** @param {LabelDotsItem} cell @param {LabelsPayload["letters"]} letters @returns {HTMLElement} */
  cell({ label, title, values, words, fails, hint }, letters) {
    const known = values.filter((value) => value !== null);
    const low = Math.min(...known), high = Math.max(...known);
    const between = known.length > 1 ? [html("i", { class: "ov-between", style: `left:${100 * low}%;width:${100 * (high - low)}%` })] : [];
    const dots = values.flatMap((value, at) => value === null ? [] : [html("i", { class: `ov-key ov-of-${letters.length > 1 ? letters[at] : "B"}`, style: `left:${100 * value}%` })]);
    return button("", { class: "ov-cell", title: hint }, () => this.send("label", label),
      html("b", {}, title), html("span", { class: "ov-line", "aria-hidden": "true" }, ...between, ...dots), html("span", { class: fails ? "ov-fails" : "ov-number" }, words));
  }

  stop() {
    this.root.remove();
  }
}

/** @param {string} letter @returns {HTMLElement} */
function badge(letter) {
  return html("i", { class: `ov-badge ov-badge-${letter}` }, letter);
}

export default streamlitComponent(mounting(Overview));
