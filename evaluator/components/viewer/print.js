/**
 * The print view: one page with its boxes, the legend, the list of mistakes and the signature, on A4 without the app.
 *
 * It is built when the browser is about to print and taken away afterwards, so Ctrl+P and the button do the same.
 */

import { html, svg } from "../shared/elements.js";
import { arrangeChips, drawBoxes, drawCuts, drawLost } from "../shared/layers.js";
import { fitScale } from "../shared/geometry.js";
import { STATUS_WORDS, count, plainName, plural } from "../shared/words.js";
import { STATUSES } from "./words.js";
import { VIEWER_LOOK } from "./marks.js";

/** @import { Viewer } from "./viewer.js" */

/** The paper between the margins at 96 dpi, and what the sheet may take of it. */
const ROOM = { width: 700, height: 690 };
const HIDE_THE_REST = "@media print { body > :not(.layoutscope-print) { display: none !important; } body, html { height: auto !important; overflow: visible !important; background: #FFFFFF !important; } @page { size: A4; margin: 12mm; } } @media screen { .layoutscope-print { display: none; } }";

/** @param {Viewer} view */
function printedSheet(view) {
  const page = view.pageSize();
  const scale = fitScale(page, ROOM, 0);
  const size = { width: Math.round(page.width * scale), height: Math.round(page.height * scale) };
  const boxes = svg("svg", { class: `overlay ${view.pane.boxes.getAttribute("class") ?? ""}` });
  const lost = svg("svg", { class: `overlay overlay-lost${view.state.layers.lost ? "" : " off"}` });
  const cuts = svg("svg", { class: "overlay" });
  const chips = html("div", { class: "chips" });
  const shown = view.state.visibleBoxes();
  const drawn = drawBoxes(boxes, chips, shown, VIEWER_LOOK);
  arrangeChips(drawn.chips, shown, size, view.font, VIEWER_LOOK);
  drawLost(lost, view.data?.page?.lost ?? []);
  drawCuts(cuts, view.state.cuts(), size);
  const sheet = html("div", { class: "sheet", style: `width:${size.width}px;height:${size.height}px` });
  const source = view.pane.image.getAttribute("src");
  if (source) sheet.append(html("img", { class: "page-image", alt: "", src: source }));
  sheet.append(lost, boxes, cuts, view.order.lines.cloneNode(true), view.order.numbers.cloneNode(true), chips);
  return sheet;
}

/** @param {Viewer} view @returns {HTMLElement} */
function printedPage(view) {
  const data = view.shown();
  const page = data.page;
  const own = data.status_words;
  const legend = STATUSES.map((status, at) =>
    html("span", { class: "print-key" }, svg("svg", { class: `swatch swatch-${status}`, viewBox: "0 0 18 14" }, svg("rect", { x: 2, y: 2, width: 14, height: 10 })),
      own ? null : html("b", {}, status), ` ${own?.[at] ?? STATUS_WORDS[status]} ${count(data.counts[status])}`));
  const lost = page?.lost_words ?? null;
  if (lost !== null) legend.push(html("span", { class: "print-key" }, html("span", { class: "swatch swatch-lost" }), `text lost ${plural(lost, "word")}`));
  const listed = view.state.listedMistakes();
  const rows = listed.map((mistake) => html("li", {},
    html("b", {}, `${view.state.placeOf(mistake.keys[0] ?? null)?.number ?? mistake.number} ${mistake.title}`), ` \u00b7 ${mistake.label} (${mistake.tags.join(", ")})`,
    ...mistake.lines.map((line) => html("div", {}, line))));
  return html("div", { class: "layoutscope-viewer print-page" },
    html("header", {}, html("h1", {}, page ? `${plainName(page.document)}, page ${count(page.index + 1)}` : "No page"),
      html("div", {}, html("b", {}, `Model ${data.model.letter}`), ` ${data.model.name}`),
      html("div", { class: "print-signature" }, data.signature ?? "")),
    html("div", { class: "print-legend" }, ...legend),
    page ? printedSheet(view) : null,
    html("h2", {}, plural(listed.length, "mistake")),
    html("ol", { class: "print-list" }, ...rows));
}

/** Prepares the paper when the browser prints, and clears it afterwards. @param {Viewer} view @returns {() => void} stops it */
export function listenToPrint(view) {
  /** @type {HTMLElement[]} */
  let added = [];
  const clear = () => {
    added.forEach((node) => node.remove());
    added = [];
  };
  const prepare = () => {
    clear();
    if (!view.data || !view.root.isConnected || view.root.offsetParent === null) return;
    const host = html("div", { class: "layoutscope-print" });
    const top = view.root.getRootNode();
    const styles = top instanceof ShadowRoot ? [...top.querySelectorAll("style")].map((node) => node.textContent ?? "") : [];
    host.attachShadow({ mode: "open" }).append(html("style", {}, styles.join("\n")), printedPage(view));
    const rule = html("style", {}, HIDE_THE_REST);
    document.head.append(rule);
    document.body.append(host);
    added = [rule, host];
  };
  const ends = new AbortController();
  window.addEventListener("beforeprint", prepare, { signal: ends.signal });
  window.addEventListener("afterprint", clear, { signal: ends.signal });
  return () => {
    clear();
    ends.abort();
  };
}
