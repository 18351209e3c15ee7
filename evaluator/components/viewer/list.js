/**
 * The list of mistakes beside the page: causes that open into their mistakes, and mistakes that are alone. Its small
 * pictures are drawn only when they come into view.
 */

import { breakable, button, html } from "../shared/elements.js";
import { count, plural } from "../shared/words.js";

/** @import { CauseItem, MistakeItem } from "../shared/payloads.d.ts" */
/** @import { Viewer } from "./viewer.js" */

/** @param {Viewer} view @param {MistakeItem[]} mistakes @param {CauseItem[]} causes @returns {Map<number, HTMLButtonElement>} the row of each mistake number */
export function drawList(view, mistakes, causes) {
  /** @type {Map<number, HTMLButtonElement>} */
  const rows = new Map();
  for (const mistake of mistakes) {
    const row = button("", { class: "mistake", "data-number": mistake.number, tabindex: "-1" }, () => view.chooseMistake(mistake),
      html("span", { class: "crop" }),
      html("span", { class: "mistake-text" },
        html("span", { class: "mistake-head" },
          html("span", { class: "mistake-title", title: `${mistake.title} \u00b7 ${mistake.label}` }, html("b", {}, `${mistake.number} ${mistake.title}`), " \u00b7 ", ...breakable(mistake.label)),
          ...mistake.tags.map((tag) => html("span", { class: `tag tag-${tag}` }, tag))),
        ...mistake.lines.map((line, order) => html("span", { class: order ? "mistake-line muted" : "mistake-line", title: line }, line))));
    row.addEventListener("pointerenter", () => view.setHover(view.state.content.boxesOf(mistake)[0]?.key ?? null));
    row.addEventListener("pointerleave", () => view.setHover(null));
    rows.set(mistake.number, row);
  }
  const heads = new Map(causes.map((cause) => [cause.numbers[0], cause]));
  view.list.replaceChildren(...[...rows].flatMap(([number, row]) => {
    const cause = heads.get(number);
    return cause ? [causeHead(view, cause), row] : [row];
  }));
  return rows;
}

/**
 * Has the small pictures drawn, each when it comes into view.
 * @param {HTMLElement} list @param {Map<number, HTMLButtonElement>} rows @param {MistakeItem[]} mistakes @param {(frame: HTMLElement, mistake: MistakeItem) => void} crop
 * @returns {() => void} ends it
 */
export function drawCrops(list, rows, mistakes, crop) {
  /** @type {Map<Element | null | undefined, MistakeItem>} */
  const frames = new Map(mistakes.map((mistake) => [rows.get(mistake.number)?.querySelector(".crop"), mistake]));
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const mistake = frames.get(entry.target);
      if (!entry.isIntersecting || !mistake) continue;
      watcher.unobserve(entry.target);
      crop(/** @type {HTMLElement} */ (entry.target), mistake);
    }
  }, { root: list, rootMargin: "200px" });
  for (const frame of frames.keys()) if (frame) watcher.observe(frame);
  return () => watcher.disconnect();
}

/** The head of a cause: what happened, what it costs, and the way to more like it. @param {Viewer} view @param {CauseItem} cause @returns {HTMLElement} */
function causeHead(view, cause) {
  const words = `${cause.title}: ${plural(cause.numbers.length, "mistake")}, ${plural(cause.boxes, "wrong box", "wrong boxes")}`;
  const open = button(words, { class: "cause-open", "aria-expanded": "false", title: words }, () => view.chooseCause(cause),
    html("b", {}, cause.title), html("span", { class: "muted" }, `${plural(cause.numbers.length, "mistake")} \u00b7 ${plural(cause.boxes, "wrong box", "wrong boxes")}`));
  const alike = cause.alike ? button("Show them in Grid", { class: "cause-alike" }, () => view.sendChoice("alike", cause.family), `${count(cause.alike)} more like this`) : null;
  return html("div", { class: "cause", "data-first": cause.numbers[0] }, open, alike);
}

/**
 * Opens the causes that the reader opened, or whose mistake is chosen, and folds the others.
 * @param {HTMLElement} list @param {Map<number, HTMLButtonElement>} rows @param {CauseItem[]} causes
 * @param {(number: number) => boolean} listed whether a mistake shows at all @param {(cause: CauseItem) => boolean} isOpen @param {CauseItem | null} whole the cause that is chosen as a whole
 */
export function foldCauses(list, rows, causes, listed, isOpen, whole) {
  for (const cause of causes) {
    const head = list.querySelector(`.cause[data-first="${cause.numbers[0]}"]`);
    const some = cause.numbers.some(listed);
    const open = isOpen(cause);
    for (const number of cause.numbers) {
      const row = rows.get(number);
      if (!row) continue;
      row.hidden = !listed(number) || !open;
      row.classList.add("of-cause");
    }
    if (!(head instanceof HTMLElement)) continue;
    head.hidden = !some;
    head.classList.toggle("chosen", cause.numbers[0] === whole?.numbers[0]);
    head.querySelector(".cause-open")?.setAttribute("aria-expanded", String(open));
  }
}

/**
 * A sentence above the rows, with one way out; the one that is there stays when it says the same.
 * @param {HTMLElement} list @param {{text: string, action: string | null, run: () => void} | null} message
 */
export function writeListMessage(list, message) {
  const old = list.querySelector(".message-box");
  if (old && message && old.textContent === message.text + (message.action ?? "")) return;
  old?.remove();
  if (!message) return;
  const { text, action, run } = message;
  list.prepend(html("div", { class: "message-box" }, html("p", { class: "message" }, text), action ? button(action, { class: "plain" }, run, action) : null));
}
