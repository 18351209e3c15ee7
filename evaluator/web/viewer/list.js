/**
 * The two columns beside the page: the strip of pages and the list of mistakes.
 *
 * Both are lists with one stop for the Tab key; the arrow keys move inside. The list draws its small pictures only
 * when they come into view.
 */

import { count, html, icon, plural, svg, button } from "../shared/elements.js";

/** @typedef {import("../shared/layers.js").Mistake} Mistake */
/**
 * @typedef {object} StripPage
 * @property {string} document
 * @property {number} index 0-based
 * @property {number} mistakes
 * @property {[number, number, number, number, string][]} blocks shares of the page and a kind
 * @property {boolean} current
 */

const DARK_BLOCKS = /picture|figure|table|image|chart/i;
const HEAD_BLOCKS = /title|header|heading/i;

/** @param {StripPage} page @returns {SVGElement} */
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

/**
 * @param {HTMLElement} strip @param {StripPage[]} pages @param {(page: StripPage) => void} open
 * @param {{before: number, after: number}} more pages of the list beyond both ends of the strip
 * @param {(position: number) => void} openAt place in the list from 1
 * @param {boolean} filtered a page without a count may still have mistakes that a filter hides
 */
export function drawStrip(strip, pages, open, more, openAt, filtered) {
  const several = new Set(pages.map((page) => page.document)).size > 1;
  /** @type {HTMLElement[]} */
  const nodes = [];
  let last = "";
  for (const page of pages) {
    if (several && page.document !== last) nodes.push(html("div", { class: "strip-document", title: page.document }, page.document));
    last = page.document;
    const facts = page.mistakes ? plural(page.mistakes, "mistake") : filtered ? "no mistake passes the filter" : "no mistake";
    const badge = page.mistakes
      ? html("span", { class: "badge" }, page.mistakes > 99 ? "99+" : String(page.mistakes))
      : filtered ? null : html("span", { class: "badge badge-none" }, icon("check"));
    nodes.push(button(`${page.document}, page ${page.index + 1}, ${facts}`,
      { class: "strip-page", title: `${page.document}, page ${page.index + 1}: ${facts}`, tabindex: "-1" }, () => open(page),
      html("span", { class: "thumb-frame" }, thumbnail(page), badge),
      html("span", { class: "strip-number" }, count(page.index + 1))));
  }
  const beyond = (/** @type {number} */ pagesThere, /** @type {string} */ words, /** @type {number} */ position) =>
    pagesThere > 0 ? button(`${plural(pagesThere, "page")} ${words}`, { class: "strip-more", tabindex: "-1", title: `${plural(pagesThere, "page")} ${words}` },
      () => openAt(position), `${count(pagesThere)} ${words}`) : null;
  const ends = [beyond(more.before, "before", more.before), beyond(more.after, "after", more.before + pages.length + 1)];
  strip.replaceChildren(...ends.slice(0, 1).filter((node) => node !== null), ...nodes, ...ends.slice(1).filter((node) => node !== null));
}

/**
 * @param {HTMLElement} strip @param {number} position in the strip, -1 for none @param {string} className "current" or "asked"
 */
export function markStrip(strip, position, className) {
  const buttons = [.../** @type {NodeListOf<HTMLElement>} */ (strip.querySelectorAll(".strip-page"))];
  buttons.forEach((node, order) => {
    const here = order === position;
    node.classList.toggle(className, here);
    if (className !== "current") return;
    if (here) node.setAttribute("aria-current", "page");
    else node.removeAttribute("aria-current");
    node.setAttribute("tabindex", here || (position < 0 && order === 0) ? "0" : "-1");
  });
  const node = buttons[position];
  if (node) strip.scrollTop = node.offsetTop - (strip.clientHeight - node.offsetHeight) / 2;
}

/**
 * @typedef {object} ListActions
 * @property {(mistake: Mistake) => void} choose
 * @property {(mistake: Mistake | null) => void} hover
 * @property {(frame: HTMLElement, mistake: Mistake) => void} crop
 */

/**
 * @param {HTMLElement} list @param {Mistake[]} mistakes @param {ListActions} actions
 * @returns {Map<number, HTMLButtonElement>} the row of each mistake number
 */
export function drawList(list, mistakes, actions) {
  /** @type {Map<number, HTMLButtonElement>} */
  const rows = new Map();
  /** @type {Map<Element, Mistake>} */
  const frames = new Map();
  for (const mistake of mistakes) {
    const name = `Mistake ${mistake.number}: ${[mistake.title, mistake.label, ...mistake.lines].join(", ")}`;
    const frame = html("span", { class: "crop" });
    frames.set(frame, mistake);
    const row = button(name, { class: "mistake", "data-number": mistake.number, tabindex: "-1" }, () => actions.choose(mistake),
      frame,
      html("span", { class: "mistake-text" },
        html("span", { class: "mistake-head" },
          html("span", { class: "mistake-title", title: `${mistake.title} \u00b7 ${mistake.label}` }, html("b", {}, `${mistake.number} ${mistake.title}`), ` \u00b7 ${mistake.label}`),
          ...mistake.tags.map((tag) => html("span", { class: `tag tag-${tag}` }, tag))),
        ...mistake.lines.map((line, order) => html("span", { class: order ? "mistake-line muted" : "mistake-line", title: line }, line))));
    row.addEventListener("pointerenter", () => actions.hover(mistake));
    row.addEventListener("pointerleave", () => actions.hover(null));
    rows.set(mistake.number, row);
  }
  list.replaceChildren(...rows.values());
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const mistake = frames.get(entry.target);
      if (!entry.isIntersecting || !mistake) continue;
      watcher.unobserve(entry.target);
      actions.crop(/** @type {HTMLElement} */ (entry.target), mistake);
    }
  }, { root: list, rootMargin: "200px" });
  for (const frame of frames.keys()) watcher.observe(frame);
  return rows;
}

/**
 * Scrolls a list, and nothing around it, until a row shows.
 * @param {HTMLElement} list @param {HTMLElement} row
 */
export function scrollToRow(list, row) {
  const top = row.offsetTop - list.offsetTop;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + row.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + row.offsetHeight - list.clientHeight;
}

/**
 * A sentence in place of the list, with one way out.
 * @param {HTMLElement} list @param {string} text @param {string | null} action @param {() => void} run
 */
export function drawListMessage(list, text, action, run) {
  const line = html("p", { class: "message" }, text);
  list.replaceChildren(html("div", { class: "message-box" }, line, action ? button(action, { class: "plain" }, run, action) : null));
}
