/** The way through the differences: on a page, over the pages of the list, from cause to cause. */

import { count } from "../shared/words.js";

/** @import { ComparePayload } from "../shared/payloads.d.ts" */
/** @import { Comparison } from "./compare.js" */

/** @param {Comparison} view @param {number} step 1 or -1 */
export function stepDifference(view, step) {
  const next = view.state.nextDifference(view.selected, step);
  if (next) view.choose(next);
  else if (!toPage(view, step)) toCause(view, step);
}

/** To the next page of the list, if there is one. @param {Comparison} view @param {number} step @returns {boolean} */
function toPage(view, step) {
  const page = view.data?.page;
  const position = (page?.position ?? 0) + step;
  if (!page || position < 1 || position > page.total) return false;
  const edge = (/** @type {ComparePayload} */ { differences }) => differences.at(step > 0 ? 0 : -1)?.key ?? null;
  view.turner.walk({ document: page.document, index: page.index, step }, (waits) => view.drawPlaced(position, edge, waits));
  return true;
}

/** From the last page of a cause to the next cause; from the last page of all it is said, and N begins again. @param {Comparison} view @param {number} step */
function toCause(view, step) {
  const next = causeBeside(view, step);
  if (next) view.sendChoice("cause", next.key);
  else if (step > 0 && view.ended === view.selected) view.sendChoice("show", "changed");
  else view.spoken.textContent = view.sentence.textContent = step > 0 ? "That was the last difference. N starts again." : "This was the first difference.";
  view.ended = !next && step > 0 ? view.selected : null;
}

/** @param {Comparison} view @param {number} step */
function causeBeside(view, step) {
  const { causes = [], cause = "" } = view.shown();
  return cause ? causes[causes.findIndex(({ key }) => key === cause) + step] : undefined;
}

/** Where N leads. @param {Comparison} view @returns {string} */
export function nextWords(view) {
  const { page, strip } = view.shown();
  if (!page || view.state.nextDifference(view.selected, 1)) return "next difference";
  const there = strip[strip.findIndex(({ current }) => current) + 1];
  if (there) return `next: ${there.name}, page ${count(there.index + 1)}`;
  return `next: ${causeBeside(view, 1)?.title ?? "the first difference"}`;
}
