/**
 * The heatmap of a confusion matrix: a grid that the keyboard walks like a spreadsheet.
 *
 * One tab stop; the arrow keys, Home, End, Page up and Page down move it, Enter and space choose the cell, and so does a
 * click. Arrows and Enter work on arrival in the view too. The line above the grid describes the cell under the pointer or the focus. Only the chosen cell is sent. Many
 * classes scroll under names that stay, or shrink to coloured cells with numbered names.
 */

import { button, html, setAttributes, svg, textWidth } from "../shared/elements.js";
import { listenForKeys } from "../shared/focus.js";
import { mounting, streamlitComponent } from "../shared/mount.js";
import { cellAfter, cellFacts, nameLines } from "./facts.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { MatrixEvents, MatrixPayload } from "../shared/payloads.d.ts" */

const MANY = 16;
const CELL_WIDTH = 46;
/** Of a cell in a narrow window, where every second name of a column stands higher. */
const NARROW_CELL = 30;
const SMALL_NAMES = 152;
/** Pixels of the names of the rows, and the lines of a name above a column. */
const NAMES = [100, 150];
const NAME_LINES = 4;
const GAP = 2;
const CELL_FONT = "650 14px 'Source Sans', 'Source Sans 3', sans-serif";
const NAME_FONT = "12px 'Source Sans', 'Source Sans 3', sans-serif";

class Matrix {
  /** @param {ParentNode & Node} parent @param {Send<MatrixEvents>} send */
  constructor(parent, send) {
    this.send = send;
    /** @type {MatrixPayload | null} */
    this.data = null;
    /** @type {HTMLElement[][]} */
    this.cells = [];
    /** @type {[number, number]} */
    this.focus = [0, 0];
    /** @type {[number, number] | null} */
    this.chosen = null;
    /** the reader wants small cells */
    this.small = false;
    this.drawn = "";
    this.narrow = false;
    /** every second name of a column stands higher, for cells that are narrower than names */
    this.staggered = false;
    /** pixels of the grid when it was drawn, and of a cell */
    this.width = 0;
    this.cellWidth = CELL_WIDTH;
    this.sizes = new ResizeObserver(() => {
      if (this.data && Math.abs(this.scroller.clientWidth - this.width) > 8) this.draw(this.data);
    });
    this.words = html("div", { class: "mx-words", role: "status" });
    this.size = button("", { class: "mx-size" }, () => {
      this.small = !this.small;
      if (this.data) this.draw(this.data);
    });
    this.grid = html("table", { class: "mx-grid", role: "grid" });
    this.scroller = html("div", { class: "mx-scroll" }, this.grid);
    this.legend = html("div", { class: "mx-legend" });
    this.root = html("div", { class: "layoutscope-matrix" }, html("div", { class: "mx-head" }, this.words, this.size), this.scroller, this.legend);
    parent.append(this.root);
    this.sizes.observe(this.scroller);
    this.grid.addEventListener("click", (event) => {
      const at = this.placeOf(event.target);
      if (at) this.choose(at);
    });
    this.grid.addEventListener("pointerover", (event) => this.describe(this.placeOf(event.target) ?? this.chosen));
    this.grid.addEventListener("pointerleave", () => this.describe(this.chosen));
    this.grid.addEventListener("focusin", (event) => {
      const at = this.placeOf(event.target);
      if (at) this.describe(at);
    });
    this.ends = new AbortController();
    listenForKeys(this.root, (event) => this.press(event), this.ends.signal);
  }

  /** @param {EventTarget | null} target @returns {[number, number] | null} */
  placeOf(target) {
    const cell = target instanceof Element ? target.closest("td[data-row]") : null;
    return cell ? [Number(cell.getAttribute("data-row")), Number(cell.getAttribute("data-column"))] : null;
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.altKey || event.metaKey || !this.wants(event)) return;
    const to = cellAfter(event, this.focus, this.cells.length - 1);
    if (event.key === "Enter" || event.key === " ") this.choose(this.focus);
    else if (to) this.move(to, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {KeyboardEvent} event @returns {boolean} whether it is in the grid, or an arrow or Enter while no component has the focus */
  wants(event) {
    const path = event.composedPath();
    if (path.includes(this.grid)) return true;
    return /^(Arrow|Enter$)/.test(event.key) && !path.some((node) => node instanceof ShadowRoot);
  }

  /** @param {[number, number]} to @param {boolean} focus */
  move(to, focus) {
    const cell = this.cells[to[0]]?.[to[1]];
    if (!cell) return;
    this.cells[this.focus[0]]?.[this.focus[1]]?.setAttribute("tabindex", "-1");
    this.focus = to;
    cell.setAttribute("tabindex", "0");
    if (!focus) return;
    cell.focus({ preventScroll: true });
    this.reveal(cell);
  }

  /** Scrolls only the grid, past the names that stay. @param {HTMLElement} cell */
  reveal(cell) {
    const frame = this.scroller.getBoundingClientRect();
    const box = cell.getBoundingClientRect();
    const corner = this.grid.querySelector(".mx-corner")?.getBoundingClientRect();
    const left = corner ? corner.right : frame.left;
    const top = corner ? corner.bottom : frame.top;
    if (box.left < left) this.scroller.scrollLeft -= left - box.left + 2;
    else if (box.right > frame.right) this.scroller.scrollLeft += box.right - frame.right + 12;
    if (box.top < top) this.scroller.scrollTop -= top - box.top + 2;
    else if (box.bottom > frame.bottom) this.scroller.scrollTop += box.bottom - frame.bottom + 12;
  }

  /** @param {[number, number]} at */
  choose(at) {
    this.mark(at);
    this.move(at, true);
    this.describe(at);
    this.send("cell", { row: at[0], column: at[1], classes: this.cells.length });
  }

  /** @param {[number, number] | null} at */
  mark(at) {
    if (this.chosen) {
      const old = this.cells[this.chosen[0]]?.[this.chosen[1]];
      old?.classList.remove("chosen");
      old?.setAttribute("aria-selected", "false");
    }
    for (const each of this.grid.querySelectorAll(".mx-name.chosen")) each.classList.remove("chosen");
    this.chosen = at;
    const cell = at && this.cells[at[0]]?.[at[1]];
    if (!at || !cell) return;
    cell.classList.add("chosen");
    cell.setAttribute("aria-selected", "true");
    this.grid.querySelector(`[data-name-row="${at[0]}"]`)?.classList.add("chosen");
    this.grid.querySelector(`[data-name-column="${at[1]}"]`)?.classList.add("chosen");
  }

  /** @param {[number, number] | null} at the line above the grid */
  describe(at) {
    if (!this.data || !at) {
      this.words.textContent = "Point at a cell, or move to it with the arrow keys, to read its numbers.";
      return;
    }
    const [row, column] = at;
    const { classes } = this.data;
    const pair = html("b", {}, `${classes[row]} \u2192 ${classes[column]}`);
    this.words.replaceChildren(pair, html("span", {}, cellFacts(this.data, row, column).join(" \u00b7 ")));
  }

  /** Small cells as large as all of them fit. @param {number} classes @returns {boolean} whether two digits are too wide */
  fitSmall(classes) {
    const side = Math.max(10, Math.min(16, Math.floor((this.scroller.clientWidth - SMALL_NAMES - 6) / classes) - 1));
    this.grid.style.setProperty("--side", `${side}px`);
    return side < 14;
  }

  /** @param {MatrixPayload} data */
  update(data) {
    const text = JSON.stringify({ ...data, chosen: null });
    const before = this.data?.key;
    this.data = data;
    if (text !== this.drawn) {
      this.draw(data);
      this.drawn = text;
    }
    this.mark(data.chosen);
    const held = this.grid.matches(":focus-within") && before === data.key;
    if (data.chosen && !held) {
      this.move(data.chosen, false);
      this.reveal(this.cells[this.focus[0]][this.focus[1]]);
    }
    this.describe(this.chosen);
  }

  /** @param {MatrixPayload} data */
  draw(data) {
    const { small } = this;
    const held = this.grid.matches(":focus-within");
    this.root.classList.toggle("small", small);
    this.root.classList.toggle("whole", small || data.classes.length <= MANY);
    this.narrow = small ? this.fitSmall(data.classes.length) : false;
    this.measure(data);
    this.size.hidden = data.classes.length <= MANY && !small;
    this.size.textContent = small ? "Cells with numbers" : "Small cells";
    setAttributes(this.grid, {
      "aria-label": `Confusion matrix, rows ${data.rows}, columns ${data.columns}. Arrow keys move, Enter chooses.`,
      "aria-rowcount": data.classes.length + 1,
      "aria-colcount": data.classes.length + 1,
    });
    this.cells = data.classes.map((_, row) => data.classes.map((__, column) => this.cell(data, row, column, small)));
    const corner = html("th", { class: "mx-corner", scope: "col" },
      html("span", { class: "mx-columns" }, `${data.columns} \u2192`), html("span", { class: "mx-rows" }, `${data.rows} \u2193`));
    const head = html("tr", { role: "row" }, corner,
      ...data.classes.map((name, column) => this.nameOfColumn(name, column, small)));
    const rows = data.classes.map((name, row) => html("tr", { role: "row" },
      html("th", { class: "mx-name", scope: "row", role: "rowheader", "data-name-row": row, title: name, "aria-label": name },
        html("span", { dir: "auto" }, small ? `${row} ${name}` : name)), ...this.cells[row]));
    this.grid.replaceChildren(html("thead", {}, head), html("tbody", {}, ...rows));
    this.focus = /** @type {[number, number]} */ (this.focus.map((each) => Math.min(each, this.cells.length - 1)));
    this.mark(this.chosen && Math.max(...this.chosen) < this.cells.length ? this.chosen : null);
    this.move(this.focus, held);
    this.writeLegend(data);
  }

  /** Room for the names: of the rows about half of the longest one, so that it takes two lines. @param {MatrixPayload} data */
  measure({ classes, text }) {
    this.width = this.scroller.clientWidth;
    const longest = Math.max(0, ...classes.map((name) => textWidth(name.slice(0, 200), NAME_FONT)));
    const names = Math.round(Math.min(NAMES[1], Math.max(NAMES[0], longest <= 90 ? 0 : 0.6 * longest + 16)));
    const room = this.width - GAP * (classes.length + 2) - 3;
    const number = text.flat().reduce((long, each) => (each.length > long.length ? each : long), "");
    const least = Math.max(NARROW_CELL, Math.ceil(textWidth(number, CELL_FONT)) + 3);
    this.staggered = !this.small && room < names + CELL_WIDTH * classes.length && room >= names + least * classes.length;
    this.root.classList.toggle("staggered", this.staggered);
    this.root.style.setProperty("--names", `${names}px`);
    this.root.style.setProperty("--rows", String(classes.length));
    // A wide table stretches all of its columns alike.
    const stretch = room / (names + CELL_WIDTH * classes.length);
    this.cellWidth = this.staggered ? Math.floor((room - names) / classes.length) : Math.floor(CELL_WIDTH * Math.max(1, stretch)) - 1;
    this.root.style.setProperty("--cell", `${this.cellWidth}px`);
    const low = this.staggered ? classes.map((name, column) => (column % 2 ? 0 : this.linesOf(name, column, classes.length).length)) : [0];
    this.root.style.setProperty("--low-lines", String(Math.max(...low)));
  }

  /** The name of a column in lines. @param {string} name @param {number} column @param {number} classes @returns {string[]} */
  linesOf(name, column, classes) {
    // A staggered name reaches over half of both neighbours, the first and the last one over half of the only one.
    const cells = !this.staggered ? 1 : column === 0 || column === classes - 1 ? 1.5 : 2;
    const most = cells === 1 ? this.cellWidth : cells * this.cellWidth - 4;
    return nameLines(name, (text) => textWidth(text, NAME_FONT) <= most, NAME_LINES);
  }

  /** @param {string} name @param {number} column @param {boolean} small @returns {HTMLElement} */
  nameOfColumn(name, column, small) {
    const number = this.narrow && column % 2 && column > 9 ? "" : String(column);
    const lines = small ? [number] : this.linesOf(name, column, this.data?.classes.length ?? 0);
    return html("th", { class: "mx-name", scope: "col", role: "columnheader", "data-name-column": column, title: name, "aria-label": name },
      ...lines.map((line) => html("span", { dir: "auto" }, line)));
  }

  /** @param {MatrixPayload} data @param {number} row @param {number} column @param {boolean} small @returns {HTMLElement} */
  cell(data, row, column, small) {
    const level = data.level[row][column];
    const classes = [row === column ? "mx-same" : "", row + column === 0 ? "mx-out" : "", level < 0 ? "mx-none" : ""];
    const text = data.text[row][column];
    const cell = html("td", {
      role: "gridcell", tabindex: "-1", class: classes.filter(Boolean).join(" ") || null, "aria-selected": "false",
      "data-row": row, "data-column": column, "aria-label": `${data.classes[row]} to ${data.classes[column]}: ${text}`,
    }, small ? null : text);
    if (level >= 0) {
      const [fill, ink, darkFill, darkInk] = data.ramp[level];
      cell.style.background = `light-dark(${fill}, ${darkFill})`;
      cell.style.color = `light-dark(${ink}, ${darkInk})`;
      if (text === "0") cell.classList.add("mx-zero");
    }
    if (row + column === 0) {
      cell.append(svg("svg", { class: "mx-cross", preserveAspectRatio: "none", viewBox: "0 0 10 10", "aria-hidden": "true" },
        svg("path", { d: "M0 0L10 10", "vector-effect": "non-scaling-stroke" })));
    }
    return cell;
  }

  stop() {
    this.ends.abort();
    this.sizes.disconnect();
    this.root.remove();
  }

  /** @param {MatrixPayload} data */
  writeLegend(data) {
    const swatches = data.scale.swatches.map(([level, mark]) => {
      const swatch = html("i", {});
      const [fill, , darkFill] = data.ramp[level];
      swatch.style.background = `light-dark(${fill}, ${darkFill})`;
      return html("span", { class: "mx-swatch" }, swatch, mark);
    });
    const sides = data.kind === "difference"
      ? html("span", {}, `blue: ${data.letters[0]} is better; orange: ${data.letters[1]} is better`) : null;
    this.legend.replaceChildren(html("span", {}, data.scale.name), ...swatches, ...(sides ? [sides] : []),
      html("span", {}, "crossed out: outside the scale"));
  }
}

export default streamlitComponent(mounting(Matrix));
