/**
 * The strip of pages beside the page: small pictures of them, with their numbers of mistakes.
 *
 * Until the picture of a page has come, and where there is none, the page is drawn as its first boxes.
 */

import { breakable, button, html, icon, isPicture, svg } from "../shared/elements.js";
import { seenOf } from "../shared/placement.js";
import { centreRow, markRow } from "../shared/rows.js";
import { count, nameInList, plainName, plural } from "../shared/words.js";

/** @import { StripItem } from "../shared/payloads.d.ts" */
/** @import { Placement } from "../shared/placement.js" */

const DARK_BLOCKS = /picture|figure|table|image|chart/i;
const HEAD_BLOCKS = /title|header|heading/i;

/** @param {StripItem} page @returns {SVGElement} */
function thumbnail(page) {
  /** @type {Record<string, string>} */
  const paths = { "thumb-text": "", "thumb-dark": "", "thumb-head": "" };
  for (const [x1, y1, x2, y2, kind] of page.blocks) {
    const shade = DARK_BLOCKS.test(kind) ? "thumb-dark" : HEAD_BLOCKS.test(kind) ? "thumb-head" : "thumb-text";
    const [left, top, right, bottom] = [x1 * 46, y1 * 60, x2 * 46, y2 * 60].map((value) => Math.round(value * 2) / 2);
    paths[shade] += `M${left} ${top}H${Math.max(right, left + 1)}V${Math.max(bottom, top + 1)}H${left}Z`;
  }
  return svg("svg", { viewBox: "0 0 46 60", class: "thumb", "aria-hidden": "true" },
    ...Object.entries(paths).filter(([, d]) => d).map(([shade, d]) => svg("path", { d, class: shade })));
}

/** @param {StripItem} page @param {HTMLElement | null} badge @returns {HTMLElement} */
function framed(page, badge) {
  const frame = html("span", { class: "thumb-frame" }, thumbnail(page), badge);
  if (!page.image || !isPicture(page.image)) return frame;
  // Fetched when it comes into the strip, after everything that the page itself needs.
  const picture = html("img", { class: "thumb-picture", alt: "", loading: "lazy", decoding: "async", fetchpriority: "low" });
  picture.addEventListener("load", () => frame.classList.add("drawn"));
  picture.addEventListener("error", () => picture.remove());
  frame.insertBefore(picture, badge);
  picture.setAttribute("src", page.image);
  return frame;
}

/**
 * @param {HTMLElement} strip @param {StripItem[]} pages @param {(page: StripItem) => void} open
 * @param {{before: number, after: number}} more pages of the list beyond both ends of the strip
 * @param {(position: number) => void} openAt place in the list from 1
 * @param {boolean} filtered a page without a count may still have mistakes that a filter hides
 * @param {string} noun what is counted
 */
export function drawStrip(strip, pages, open, more, openAt, filtered, noun) {
  const several = new Set(pages.map((page) => page.document)).size > 1;
  /** @type {HTMLElement[]} */
  const nodes = [];
  let last = "";
  for (const page of pages) {
    const name = plainName(page.document);
    if (several && page.document !== last) nodes.push(html("div", { class: "strip-document", title: name }, ...breakable(nameInList(page.document))));
    last = page.document;
    const facts = page.mistakes ? plural(page.mistakes, noun) : filtered ? "no mistake passes the filter" : "no mistake";
    const badge = page.mistakes || filtered ? null : html("span", { class: "badge" }, icon("check"));
    nodes.push(button("",
      { class: "strip-page", title: `${name}, page ${page.index + 1}: ${facts}`, tabindex: "-1" }, () => open(page),
      framed(page, badge),
      html("span", { class: "strip-words" }, html("span", { class: "unseen" }, `${name}, `), html("b", { class: "strip-number" }, "page ", count(page.index + 1)),
        html("span", {}, page.mistakes ? plural(page.mistakes, noun) : ""),
        html("progress", { class: "strip-bar", max: Math.max(1, page.mistakes), value: 0, hidden: true, "aria-hidden": "true" }), html("span", { class: "strip-judged" }))));
  }
  const beyond = (/** @type {number} */ pagesThere, /** @type {string} */ words, /** @type {number} */ position) =>
    pagesThere > 0 ? button(`${plural(pagesThere, "page")} ${words}`, { class: "strip-more", tabindex: "-1", title: `${plural(pagesThere, "page")} ${words}` },
      () => openAt(position), `${count(pagesThere)} ${words}`) : null;
  const ends = [beyond(more.before, "before", more.before), beyond(more.after, "after", more.before + pages.length + 1)];
  strip.replaceChildren(...ends.slice(0, 1).filter((node) => node !== null), ...nodes, ...ends.slice(1).filter((node) => node !== null));
}

/** How many of the mistakes of each page are judged. @param {HTMLElement} strip @param {StripItem[]} pages @param {readonly number[]} judged */
export function writeJudged(strip, pages, judged) {
  strip.querySelectorAll(".strip-page").forEach((node, at) => {
    const done = judged[at] ?? 0, total = pages[at]?.mistakes ?? 0;
    const bar = /** @type {HTMLProgressElement} */ (node.querySelector(".strip-bar"));
    bar.hidden = done === 0;
    bar.value = done;
    const words = /** @type {HTMLElement} */ (node.querySelector(".strip-judged"));
    words.replaceChildren(...(done ? [...(done >= total ? [icon("check")] : []), `${count(done)} judged`] : []));
  });
}

/**
 * @param {HTMLElement} strip @param {number} position in the strip, -1 for none @param {string} className "current" or "asked"
 */
export function markStrip(strip, position, className) {
  const pages = [.../** @type {NodeListOf<HTMLElement>} */ (strip.querySelectorAll(".strip-page"))];
  const node = markRow(pages, position, className);
  if (!node) return;
  centreRow(strip, node);
}

/** Draws on the picture of the page which part of it an enlarged page shows. @param {HTMLElement} strip @param {Placement} place */
export function markSeen(strip, place) {
  strip.querySelector(".thumb-seen")?.remove();
  const frame = strip.querySelector(".current > .thumb-frame");
  if (!frame || place.zoom === 1) return;
  const [x, y, right, bottom] = seenOf(place);
  // The page lies in its picture as the browser fits it.
  frame.append(svg("svg", { class: "thumb-seen", viewBox: `0 0 ${place.sheet.width} ${place.sheet.height}`, "aria-hidden": "true" },
    svg("rect", { x, y, width: right - x, height: bottom - y })));
}
