/**
 * The heatmap of a confusion matrix: a grid that the keyboard walks like a spreadsheet.
 *
 * One tab stop; the arrow keys, Home, End, Page up and Page down move it, Enter and space choose the cell, and so does a
 * click. The line above the grid says in words what stands in the cell under the pointer or the focus. Only the chosen
 * cell is sent on. Many classes scroll under names that stay, or shrink to coloured cells with numbered names.
 */

import { button, html, setAttributes, svg, textWidth } from "../shared/elements.js";

/**
 * @typedef {object} MatrixData
 * @property {string} key what the matrix is of; another key takes the reader back to the chosen cell
 * @property {string[]} classes the background first
 * @property {"matrix" | "difference"} kind
 * @property {"pixels" | "row" | "column" | "f1"} shows
 * @property {string[][]} text
 * @property {number[][]} level place in `ramp`; -1 has no colour
 * @property {[string, string, string, string][]} ramp fill and text, light and dark
 * @property {Record<string, (number | null)[][]>} facts
 * @property {{name: string, swatches: [number, string][]}} scale
 * @property {string} rows what the rows are, for instance "Ground truth"
 * @property {string} columns
 * @property {[string, string]} letters of the two models of a difference
 * @property {[number, number] | null} chosen row and column
 * @property {string} [unit] what the cells count; "pixels" when absent
 */
/** @typedef {(name: string, value: unknown) => void} Send */

const MANY = 16;
const CELL_WIDTH = 46;
const SMALL_NAMES = 152;
const NAME_FONT = "12px 'Source Sans', 'Source Sans 3', sans-serif";
const inGroups = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/** @param {string} text @param {number} width pixels @returns {boolean} */
function fits(text, width) {
  return textWidth(text, NAME_FONT) <= width;
}

/**
 * A name on at most two lines of a width: parted at a space, hyphen, slash or underscore, else with a hyphen.
 * @param {string} name @param {number} width pixels @returns {string[]}
 */
export function twoLines(name, width) {
  if (fits(name, width)) return [name];
  const parts = name.split(/(?<=[-_/:]|\s)/);
  let first = "";
  while (parts.length > 1 && fits((first + parts[0]).trim(), width)) first += parts.shift();
  let rest = parts.join("");
  if (!first) {
    const usual = rest === "Background" ? 4 : rest.length - 1;
    let length = Math.min(usual, rest.length - 1);
    while (length > 1 && !fits(`${rest.slice(0, length)}-`, width)) length -= 1;
    first = `${rest.slice(0, length)}-`;
    rest = rest.slice(length);
  }
  rest = rest.trim();
  if (!fits(rest, width)) {
    while (rest.length > 1 && !fits(`${rest}\u2026`, width)) rest = rest.slice(0, -1);
    rest += "\u2026";
  }
  return [first.trim(), rest];
}

/** @param {number | null | undefined} value @returns {string} "11.2 %" */
function percent(value) {
  if (value === null || value === undefined) return "n/a";
  if (value === 0) return "0 %";
  if (value < 0.0005) return "under 0.1 %";
  return `${value < 1 ? Math.min(99.9, value * 100).toFixed(1) : "100"} %`;
}

/** @param {number | null | undefined} value @returns {string} */
function pixels(value) {
  return value === null || value === undefined ? "n/a" : inGroups.format(value);
}

/** @param {number} value @param {(v: number) => string} write @returns {string} */
function signed(value, write) {
  return `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${write(Math.abs(value))}`;
}

class Matrix {
  /** @param {ParentNode & Node} parent @param {Send} send */
  constructor(parent, send) {
    this.send = send;
    /** @type {MatrixData | null} */
    this.data = null;
    /** @type {HTMLElement[][]} */
    this.cells = [];
    /** @type {[number, number]} */
    this.focus = [0, 0];
    /** @type {[number, number] | null} */
    this.chosen = null;
    /** @type {boolean | null} the reader's own wish for small cells */
    this.wish = null;
    this.drawn = "";
    this.narrow = false;
    this.words = html("div", { class: "mx-words", role: "status" });
    this.size = button("Small cells", { class: "mx-size" }, () => this.resize());
    this.grid = html("table", { class: "mx-grid", role: "grid" });
    this.scroller = html("div", { class: "mx-scroll" }, this.grid);
    this.legend = html("div", { class: "mx-legend" });
    this.root = html("div", { class: "layoutscope-matrix" }, html("div", { class: "mx-head" }, this.words, this.size), this.scroller, this.legend);
    parent.append(this.root);
    this.listen();
  }

  listen() {
    this.grid.addEventListener("click", (event) => {
      const at = this.placeOf(event.target);
      if (at) this.choose(at);
    });
    this.grid.addEventListener("pointerover", (event) => this.say(this.placeOf(event.target) ?? this.chosen));
    this.grid.addEventListener("pointerleave", () => this.say(this.chosen));
    this.grid.addEventListener("focusin", (event) => {
      const at = this.placeOf(event.target);
      if (at) this.say(at);
    });
    this.grid.addEventListener("keydown", (event) => this.press(event));
  }

  /** @param {EventTarget | null} target @returns {[number, number] | null} */
  placeOf(target) {
    const cell = target instanceof Element ? target.closest("td[data-row]") : null;
    return cell ? [Number(cell.getAttribute("data-row")), Number(cell.getAttribute("data-column"))] : null;
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.altKey || event.metaKey) return;
    const last = this.cells.length - 1;
    const [row, column] = this.focus;
    const far = event.ctrlKey;
    /** @type {Record<string, [number, number]>} */
    const moves = {
      ArrowUp: [far ? 0 : row - 1, column],
      ArrowDown: [far ? last : row + 1, column],
      ArrowLeft: [row, far ? 0 : column - 1],
      ArrowRight: [row, far ? last : column + 1],
      Home: [far ? 0 : row, 0],
      End: [far ? last : row, last],
      PageUp: [row - 10, column],
      PageDown: [row + 10, column],
    };
    if (event.key === "Enter" || event.key === " ") this.choose(this.focus);
    else if (moves[event.key]) this.move(moves[event.key], true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {[number, number]} to @param {boolean} focus */
  move(to, focus) {
    const last = this.cells.length - 1;
    if (last < 0) return;
    const at = /** @type {[number, number]} */ (to.map((each) => Math.max(0, Math.min(last, each))));
    this.cells[this.focus[0]]?.[this.focus[1]]?.setAttribute("tabindex", "-1");
    this.focus = at;
    const cell = this.cells[at[0]][at[1]];
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
    this.say(at);
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
  say(at) {
    if (!this.data || !at) {
      this.words.textContent = "";
      return;
    }
    const [row, column] = at;
    const { classes } = this.data;
    const pair = html("b", {}, `${classes[row]} \u2192 ${classes[column]}`);
    this.words.replaceChildren(pair, html("span", {}, this.factsOf(row, column).join(" \u00b7 ")));
  }

  /** @param {number} row @param {number} column @returns {string[]} */
  factsOf(row, column) {
    const { facts, kind, shows, letters } = /** @type {MatrixData} */ (this.data);
    if (kind === "matrix") {
      const f1 = facts.f1[row][column];
      return [
        `${pixels(facts.pixels[row][column])} ${this.data?.unit ?? "pixels"}`,
        `${percent(facts.row[row][column])} of the row`,
        `${percent(facts.column[row][column])} of the column`,
        `F1 ${f1 === null ? "n/a" : f1.toFixed(3)}`,
      ];
    }
    const write = shows === "pixels" ? pixels : shows === "f1" ? (/** @type {number} */ v) => v.toFixed(3) : percent;
    const [a, b] = [facts.first[row][column], facts.second[row][column]];
    const parts = [`${letters[0]} ${a === null ? "n/a" : write(a)}`, `${letters[1]} ${b === null ? "n/a" : write(b)}`];
    if (a === null || b === null) return parts;
    const points = shows === "row" || shows === "column";
    parts.push(`difference ${points ? `${signed(a - b, (v) => (100 * v).toFixed(1))} points` : signed(a - b, write)}`);
    const gain = facts.gain[row][column];
    if (gain) parts.push(`${/** @type {number} */ (gain) > 0 ? letters[0] : letters[1]} is better here`);
    return parts;
  }

  /** @returns {boolean} */
  isSmall() {
    return this.wish ?? false;
  }

  /** Small cells as large as all of them fit. @param {number} count @returns {boolean} whether two digits are too wide */
  fitSmall(count) {
    const side = Math.max(10, Math.min(16, Math.floor((this.scroller.clientWidth - SMALL_NAMES - 6) / count) - 1));
    this.grid.style.setProperty("--side", `${side}px`);
    return side < 14;
  }

  resize() {
    this.wish = !this.isSmall();
    if (this.data) this.draw(this.data);
  }

  /** @param {MatrixData} data */
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
    this.say(this.chosen);
  }

  /** @param {MatrixData} data */
  draw(data) {
    const small = this.isSmall();
    const held = this.grid.matches(":focus-within");
    this.root.classList.toggle("small", small);
    this.narrow = small ? this.fitSmall(data.classes.length) : false;
    this.size.hidden = data.classes.length <= MANY && !small;
    this.size.textContent = small ? "Cells with numbers" : "Small cells";
    this.size.setAttribute("aria-label", this.size.textContent);
    setAttributes(this.grid, {
      "aria-label": `Confusion matrix, rows ${data.rows}, columns ${data.columns}. Arrow keys move, Enter chooses.`,
      "aria-rowcount": data.classes.length + 1,
      "aria-colcount": data.classes.length + 1,
    });
    this.cells = data.classes.map((_, row) => data.classes.map((__, column) => this.cell(data, row, column, small)));
    const head = html("tr", { role: "row" }, this.corner(data),
      ...data.classes.map((name, column) => this.nameOfColumn(name, column, small)));
    const rows = this.cells.map((cells, row) => html("tr", { role: "row" }, this.nameOfRow(data.classes[row], row, small), ...cells));
    this.grid.replaceChildren(html("thead", {}, head), html("tbody", {}, ...rows));
    this.focus = /** @type {[number, number]} */ (this.focus.map((each) => Math.min(each, this.cells.length - 1)));
    this.mark(this.chosen && Math.max(...this.chosen) < this.cells.length ? this.chosen : null);
    this.move(this.focus, held);
    this.writeLegend(data);
  }

  /** @param {MatrixData} data @returns {HTMLElement} */
  corner(data) {
    return html("th", { class: "mx-corner", scope: "col" },
      html("span", { class: "mx-columns" }, `${data.columns} \u2192`), html("span", { class: "mx-rows" }, `${data.rows} \u2193`));
  }

  /** @param {string} name @param {number} column @param {boolean} small @returns {HTMLElement} */
  nameOfColumn(name, column, small) {
    const number = this.narrow && column % 2 && column > 9 ? "" : String(column);
    const lines = small ? [number] : twoLines(name, CELL_WIDTH);
    return html("th", { class: "mx-name", scope: "col", role: "columnheader", "data-name-column": column, title: name, "aria-label": name },
      ...lines.map((line) => html("span", {}, line)));
  }

  /** @param {string} name @param {number} row @param {boolean} small @returns {HTMLElement} */
  nameOfRow(name, row, small) {
    return html("th", { class: "mx-name", scope: "row", role: "rowheader", "data-name-row": row, title: name, "aria-label": name },
      html("span", {}, small ? `${row} ${name}` : name));
  }

  /** @param {MatrixData} data @param {number} row @param {number} column @param {boolean} small @returns {HTMLElement} */
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

  /** @param {MatrixData} data */
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

/** @type {WeakMap<object, Matrix>} */
const matrices = new WeakMap();

/**
 * Called by Streamlit on mount and on each change of the data.
 * @param {{parentElement: ParentNode & Node, data: MatrixData, setTriggerValue: Send}} component
 */
export default function streamlitMatrix(component) {
  const parent = component.parentElement;
  const matrix = matrices.get(parent) ?? new Matrix(parent, component.setTriggerValue);
  matrices.set(parent, matrix);
  matrix.send = component.setTriggerValue;
  matrix.update(component.data);
  return () => {
    matrix.root.remove();
    matrices.delete(parent);
  };
}
