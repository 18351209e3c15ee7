/**
 * The list of mistakes beside the page. Its small pictures are drawn only when they come into view.
 */

import { button, html } from "../shared/elements.js";
import { mistakeName } from "../shared/facts.js";

/** @typedef {import("../shared/payloads.d.ts").MistakeItem} MistakeItem */
/**
 * @typedef {object} ListActions
 * @property {(mistake: MistakeItem) => void} choose
 * @property {(mistake: MistakeItem | null) => void} hover
 * @property {(frame: HTMLElement, mistake: MistakeItem) => void} crop
 */

/**
 * @param {HTMLElement} list @param {MistakeItem[]} mistakes @param {ListActions} actions
 * @returns {Map<number, HTMLButtonElement>} the row of each mistake number
 */
export function drawList(list, mistakes, actions) {
  /** @type {Map<number, HTMLButtonElement>} */
  const rows = new Map();
  /** @type {Map<Element, MistakeItem>} */
  const frames = new Map();
  for (const mistake of mistakes) {
    const name = `Mistake ${mistake.number}: ${mistakeName(mistake)}`;
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
