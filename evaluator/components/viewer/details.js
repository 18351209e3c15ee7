/** What a row of the list has below its words: where two texts differ, and a table as both sides have it. */

import { html } from "../shared/elements.js";
import { count } from "../shared/words.js";

/** @import { GridItem, PieceItem, TableItem } from "../shared/payloads.d.ts" */

const PIECES = { out: "in the ground truth alone", in: "in the prediction alone", was: "in the ground truth", now: "in the prediction instead" };

/** Two texts in one: what is lacking is struck out, what came in underlined. @param {readonly PieceItem[]} pieces @returns {HTMLElement} */
export function differingText(pieces) {
  return html("p", { class: "pieces" }, ...pieces.map(({ text, mark = "" }) => {
    if (mark === "" || mark === "gap") return mark ? html("span", { class: "muted", title: "the same on both sides" }, ` ${text} `) : text;
    // A blank alone would be no more than a stripe.
    const shown = text.trim() ? text : text.replaceAll(" ", "\u2423");
    return html(mark === "out" || mark === "was" ? "del" : "ins", { class: `piece-${mark}`, title: PIECES[mark] }, shown);
  }));
}

/** @param {TableItem} table @param {number} number of the mistake whose cells are marked @returns {HTMLElement} */
export function bothTables({ ground_truth: truth, prediction, facts }, number) {
  const sides = /** @type {const} */ ([["Ground truth", "FN", truth], ["Prediction", "FP", prediction]]);
  return html("div", { class: "grids" }, html("p", { class: "muted" }, facts),
    ...sides.map(([words, status, grid]) => html("figure", { class: `grid-of grid-${status}` },
      html("figcaption", {}, html("b", {}, words), grid ? ` ${count(grid.rows)} \u00d7 ${count(grid.columns)}` : " has no such table"),
      grid ? html("div", { class: "grid-scroll", tabindex: "0", role: "group", "aria-label": words }, gridTable(grid, number)) : null)));
}

/** @param {GridItem} grid @param {number} number @returns {HTMLElement} */
function gridTable({ rows, columns, cells }, number) {
  /** @type {Set<string>} */
  const covered = new Set();
  const starts = new Map(cells.map((cell) => [`${cell.row} ${cell.col}`, cell]));
  const height = Math.max(...cells.map(({ row, row_span: span = 1 }) => row + span));
  const width = Math.max(...cells.map(({ col, col_span: span = 1 }) => col + span));
  const lines = Array.from({ length: height }, (_row, row) => html("tr", {}, ...Array.from({ length: width }, (_col, col) => {
    const cell = starts.get(`${row} ${col}`);
    if (!cell) return covered.has(`${row} ${col}`) ? null : html("td", { class: "no-cell" });
    const { row_span: down = 1, col_span: across = 1, mistakes = [] } = cell;
    for (let r = row; r < row + down; r += 1) for (let c = col; c < col + across; c += 1) covered.add(`${r} ${c}`);
    const marked = mistakes.includes(number) ? "own" : mistakes.length ? "wrong" : null;
    return html(cell.header ? "th" : "td", { rowspan: down > 1 ? down : null, colspan: across > 1 ? across : null, class: marked }, cell.text ?? "");
  })));
  const cut = rows > height || columns > width ? html("caption", {}, `the first ${count(height)} \u00d7 ${count(width)}`) : null;
  return html("table", {}, cut, html("tbody", {}, ...lines));
}
