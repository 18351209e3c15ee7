/** The facts of the marked box, beside it. */

import { placeBeside, unionOf } from "./geometry.js";
import { html } from "./elements.js";

/** @import { BoxFacts } from "./facts.js" */
/** @import { Size } from "./geometry.js" */
/** @import { Rect } from "./payloads.d.ts" */

/** @param {HTMLElement} tooltip @param {BoxFacts | null} facts null hides it */
export function writeTooltip(tooltip, facts) {
  tooltip.classList.toggle("shown", facts !== null);
  if (!facts) return;
  const lines = [html("div", { class: "tip-head" }, html("b", {}, facts.head), ` \u00b7 ${facts.label}`)];
  if (facts.wrong) lines.push(html("div", { class: "tip-line" }, facts.wrong));
  if (facts.numbers.length) {
    lines.push(html("dl", { class: "tip-numbers" },
      ...facts.numbers.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value)))));
  }
  if (facts.more) lines.push(html("div", { class: "tip-line" }, facts.more));
  if (facts.source) lines.push(html("div", { class: "tip-source" }, facts.source));
  tooltip.replaceChildren(...lines);
}

/**
 * @param {HTMLElement} tooltip @param {Rect[]} rects of the marked boxes @param {{rect: Rect, weight: number}[]} others
 * @param {Rect} sheet all in pixels of the pane @param {Size} pane @param {[number, number] | null} pointer
 */
export function placeTooltip(tooltip, rects, others, sheet, pane, pointer) {
  const target = unionOf(rects);
  /** @type {Rect} */
  const visible = [Math.max(0, target[0]), Math.max(0, target[1]), Math.min(pane.width, target[2]), Math.min(pane.height, target[3])];
  const size = { width: tooltip.offsetWidth, height: tooltip.offsetHeight };
  const [left, top] = placeBeside(visible, size, pane, pointer, others, sheet);
  tooltip.style.transform = `translate(${left}px, ${top}px)`;
}
