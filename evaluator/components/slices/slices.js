/**
 * Slices: the list, most costly first, with a bar for each model, and the chosen slice looked at closely. Choosing one
 * asks nobody: everything is in the data.
 */

import { fillCrop } from "../gallery/crop_frame.js";
import { button, html, icon, svg } from "../shared/elements.js";
import { mounting, streamlitComponent } from "../shared/mount.js";
import { count, percentOf } from "../shared/words.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { CardItem, CropItem, SliceBarItem, SliceItem, SlicePanelItem } from "../shared/payloads.d.ts" */
/** @import { SlicesEvents, SlicesPayload } from "../shared/payloads.d.ts" */

const PANEL_HEIGHT = 132;
const INTERVAL = "95 % interval";
const HEAD = ["", "Slice", INTERVAL, "Elsewhere", "Points", INTERVAL];

export class SlicesView {
  /** @param {ParentNode & Node} parent @param {Send<SlicesEvents>} send */
  constructor(parent, send) {
    this.send = send;
    this.text = "";
    this.at = 0;
    this.name = "worst";
    /** @type {Map<string, CropItem>} crops of examples by key of their card */
    this.crops = new Map();
    /** @type {Map<string, {node: HTMLElement, boxes: CardItem["boxes"]}>} */
    this.frames = new Map();
    this.list = html("div", { class: "slices-list", role: "listbox", tabindex: "0", "aria-label": "Slices, most costly first" });
    this.detail = html("section", { class: "slices-detail", "aria-label": "The chosen slice" });
    this.root = html("div", { class: "layoutscope-viewer layoutscope-slices" }, this.list, this.detail);
    this.list.addEventListener("keydown", (event) => this.press(event));
    parent.append(html("div", { class: "layoutscope-frame" }, this.root));
  }

  /** @param {SlicesPayload} data */
  update(data) {
    for (const [key, crop] of Object.entries(data.crops)) {
      this.crops.set(key, crop);
      this.fill(key);
    }
    const text = JSON.stringify({ ...data, crops: null });
    if (text === this.text) return;
    this.text = text;
    // The chosen slice stays chosen where it is listed again, as at another threshold.
    const before = this.data?.slices[this.at];
    const again = data.slices.findIndex((one) => one.conditions === before?.conditions && one.title === before.title);
    this.data = data;
    this.drawList(data);
    this.choose(Math.max(0, again));
  }

  stop() {
    this.root.parentElement?.remove();
  }

  /** @param {SlicesPayload} data */
  drawList(data) {
    const head = html("div", { class: "slices-head", "aria-hidden": "true" },
      html("span", { class: "slices-rank" }), html("span", {}, data.order),
      html("span", { class: "slices-scale" }, html("span", {}, data.measure, html("i", { class: "dot here" }), "slice", html("i", { class: "dot" }), "elsewhere"),
        html("span", { class: "slices-ticks" }, ...["0", "0.5", "1"].map((tick) => html("span", {}, tick)))),
      html("span", { class: "right" }, data.lost));
    const rows = data.slices.map((one, order) => {
      const row = html("div", { class: "slices-row", role: "option", id: `slice-${order}`, "aria-selected": "false" },
        html("span", { class: "slices-rank" }, String(order + 1)),
        html("div", { class: "slices-words" }, html("b", { title: one.title }, one.title), html("span", {}, one.line),
          html("span", { class: "slices-chips" }, ...one.chips.map((chip) => html("span", { class: "slices-chip" }, chip)))),
        html("div", { class: "slices-bars" }, ...one.bars.map(bar)),
        html("div", { class: "slices-lost" }, ...one.bars.map((each) => html("span", {}, count(Math.max(0, each.lost))))),
        one.confirmed === null ? null : html("span", { class: one.confirmed ? "slices-state" : "slices-state muted" }, one.confirmed ? icon("check") : html("i", { class: "ring" }),
          `${one.confirmed ? "" : "not "}repeated in the held-out half`));
      row.addEventListener("click", () => this.choose(order));
      return row;
    });
    this.list.replaceChildren(head, ...rows);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const last = (this.data?.slices.length ?? 0) - 1;
    const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, Home: 0, End: last }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(Math.max(0, Math.min(last, to)));
  }

  /** @param {number} order */
  choose(order) {
    const one = this.data?.slices[order];
    if (!one || !this.data) {
      this.detail.replaceChildren();
      return;
    }
    this.at = order;
    [...this.list.querySelectorAll(".slices-row")].forEach((row, at) => row.setAttribute("aria-selected", String(at === order)));
    this.list.setAttribute("aria-activedescendant", `slice-${order}`);
    const chosen = this.list.querySelector(`#slice-${order}`);
    if (chosen instanceof HTMLElement && this.list.matches(":focus")) chosen.scrollIntoView({ block: "nearest" });
    this.drawDetail(one, this.data);
  }

  /** The crop of an example into its frame, when both are there. @param {string} key */
  fill(key) {
    const frame = this.frames.get(key);
    const crop = this.crops.get(key);
    if (frame && crop) fillCrop(frame.node, frame.boxes, crop);
  }

  /** Crops of some wrong boxes; those that are not there yet are asked for. @param {SliceItem} one @returns {HTMLElement} */
  examples(one) {
    this.frames.clear();
    const cards = one.examples.map((card) => {
      const picture = html("div", { class: "gl-crop", "aria-hidden": "true" });
      this.frames.set(card.key, { node: picture, boxes: card.boxes });
      return html("li", {}, button(`${card.title}, ${card.label}, ${card.place}. Open the page`, { class: "slices-example", title: card.place },
        () => this.send("open", { document: card.document, index: card.index }), picture, html("span", { class: "slices-name" }, card.title), html("span", { class: "slices-name muted" }, card.place)));
    });
    for (const card of one.examples) this.fill(card.key);
    const missing = one.examples.map((card) => card.key).filter((key) => !this.crops.has(key));
    if (missing.length) this.send("want", missing);
    return html("ul", { class: "slices-examples", "aria-label": `Some ${one.wrong} boxes` }, ...cards);
  }

  /** @param {SliceItem} one @param {SlicesPayload} data */
  drawDetail(one, data) {
    const at = this.at;
    // Of few documents there are none.
    const spans = one.rows.some(({ cells }) => cells.some((cell, order) => cell && HEAD[order + 1] === INTERVAL));
    const isShown = (/** @type {number} */ order) => spans || HEAD[order] !== INTERVAL;
    const head = html("tr", {}, ...HEAD.flatMap((text, order) => isShown(order) ? html("th", { scope: "col", class: order ? "right" : "", "aria-label": text || "Model" }, text) : []));
    const rows = one.rows.map(({ letter, name, cells }) => html("tr", {},
      html("th", { scope: "row", title: name }, letter ? html("span", { class: `letter letter-${letter}` }, letter) : null, html("span", { class: "slices-name" }, name)),
      ...cells.flatMap((cell, order) => isShown(order + 1) ? html("td", { class: "right" }, order === 0 || order === 3 ? html("b", {}, cell) : cell) : [])));
    this.detail.replaceChildren(
      html("h3", {}, one.title), html("p", {}, one.lead),
      html("div", { class: "slices-table", tabindex: "0", role: "region", "aria-label": "Numbers of the slice" }, html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows))),
      ...(one.panels.length
        ? [html("h4", {}, "How it splits", html("span", { class: "muted" }, ` ${one.split}${spans ? ` with ${INTERVAL}` : ""}`)), html("div", { class: "slices-panels" }, ...one.panels.map(panel))]
        : []),
      one.alone ? html("p", { class: "muted" }, one.alone) : "",
      html("div", { class: "slices-boxes" }, one.examples.length ? html("h4", {}, "Examples", html("span", { class: "muted" }, ` ${one.examples_order}`)) : null,
        button(one.examples_order ? `Show all ${one.boxes} as crops` : `List all ${one.boxes}`, { class: "plain" }, () => this.send("boxes", at), `${one.examples_order ? "Show" : "List"} all ${one.boxes}`)),
      this.examples(one),
      one.places ? html("h4", {}, one.places, html("span", { class: "muted" }, ` most ${one.wrong} first`)) : "",
      html("ul", { class: "slices-pages" }, ...one.pages.map((page) => html("li", {},
        button(`${page.name}${one.paged ? `, page ${page.index + 1}` : ""}: ${count(page.wrong)} of ${count(page.boxes)} ${one.noun} ${one.wrong}. Open ${one.paged ? "the page" : "it"}`, { class: "link-button", title: page.name },
          () => this.send("open", { document: page.document, index: page.index }), html("span", { class: "slices-name" }, page.name), one.paged ? ` p.\u00a0${page.index + 1}` : ""),
        html("span", { class: "muted" }, `${count(page.wrong)} of ${count(page.boxes)} ${one.wrong}`)))),
      ...this.naming(one, data));
  }

  /** The name of the slice, and what to do with it. @param {SliceItem} one @param {SlicesPayload} data @returns {HTMLElement[]} */
  naming(one, data) {
    const gate = html("code", {});
    const field = /** @type {HTMLInputElement} */ (html("input", { class: "slices-field", type: "text", maxlength: "60", "aria-label": "Name of the slice", spellcheck: "false" }));
    const write = () => {
      this.name = field.value.trim() || "worst";
      gate.textContent = one.gate.replace("{name}", this.name);
    };
    field.value = this.name;
    field.addEventListener("input", write);
    field.addEventListener("keydown", (event) => event.stopPropagation());
    write();
    const save = button("Save as named slice", { class: "plain", title: `Put ${data.file} beside the ground truth` }, () => {
      const text = `${JSON.stringify({ [this.name]: JSON.parse(one.conditions) }, null, 2)}\n`;
      const link = /** @type {HTMLAnchorElement} */ (html("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: data.file }));
      link.click();
      URL.revokeObjectURL(link.href);
    }, "Save as named slice");
    const copied = html("span", { class: "muted", role: "status" });
    const copy = button("Copy the condition for the gate", { class: "plain" }, async () => {
      try {
        await navigator.clipboard.writeText(gate.textContent ?? "");
        copied.textContent = "Copied";
      } catch {
        copied.textContent = "The browser does not allow copying";
      }
    }, "Copy");
    const line = html("div", { class: "slices-naming" }, field, save);
    return one.gate ? [line, html("div", { class: "slices-naming" }, html("span", {}, "Use in the gate"), gate, copy, copied)] : [line];
  }
}

/** Slice and elsewhere of one model on the scale from 0 to 1. @param {SliceBarItem} item @returns {HTMLElement} */
function bar({ letter, here, rest }) {
  const lines = [0, 0.5, 1].map((at) => svg("line", { x1: percentOf(at), x2: percentOf(at), y1: 0, y2: "100%", class: "axis-line" }));
  if (here !== null && rest !== null) lines.push(svg("line", { x1: percentOf(here), x2: percentOf(rest), y1: "50%", y2: "50%", class: "slices-span" }));
  if (rest !== null) lines.push(svg("circle", { cx: percentOf(rest), cy: "50%", r: 4.2, class: "slices-dot" }));
  if (here !== null) lines.push(svg("circle", { cx: percentOf(here), cy: "50%", r: 4.8, class: "slices-dot here" }));
  return html("div", { class: `slices-bar model-${letter}` }, html("span", { class: "slices-letter" }, letter), svg("svg", { class: "slices-svg", "aria-hidden": "true" }, ...lines));
}

/** The boxes of some combinations: a dot and its interval for each model. @param {SlicePanelItem} data @returns {HTMLElement} */
function panel({ title, cells }) {
  const y = (/** @type {number} */ value) => 8 + (1 - value) * (PANEL_HEIGHT - 16);
  const parts = [0, 0.5, 1].map((at) => svg("line", { x1: 0, x2: "100%", y1: y(at), y2: y(at), class: "axis-line" }));
  /** @type {HTMLElement[]} */
  const words = [];
  cells.forEach(({ name, boxes, points, chosen }, order) => {
    const left = order / cells.length;
    if (chosen) parts.unshift(svg("rect", { x: percentOf(left), width: percentOf(1 / cells.length), y: 0, height: PANEL_HEIGHT, class: "slices-tint" }));
    points.forEach(({ letter, value, low, high }, place) => {
      if (value === null) return;
      // To the left of the middle of its part, because the number is on its right.
      const x = percentOf(left + (place + 0.3) / points.length / cells.length);
      const group = svg("g", { class: `model-${letter}` });
      if (low !== null && high !== null) group.append(svg("line", { x1: x, x2: x, y1: y(low), y2: y(high), class: "slices-whisker" }));
      const label = svg("text", { x, y: y(value), transform: "translate(8 4)", class: "slices-value" });
      label.textContent = value.toFixed(3);
      group.append(svg("circle", { cx: x, cy: y(value), r: 4.6, class: "slices-dot here" }), label);
      parts.push(group);
    });
    words.push(html("div", { class: chosen ? "slices-cell chosen" : "slices-cell", title: name }, html("span", {}, name),
      html("span", { class: "muted" }, boxes)));
  });
  return html("figure", { class: "slices-panel" }, title ? html("figcaption", { title }, title) : null,
    svg("svg", { class: "slices-chart", height: PANEL_HEIGHT, role: "img", "aria-label": title }, ...parts), html("div", { class: "slices-cells" }, ...words));
}

export default streamlitComponent(mounting(SlicesView));
