/**
 * The numbers of the comparison: a sentence, differences with their intervals, the ledger of found and missed boxes.
 *
 * Every number is a button that opens its pages; what a button opens is written in the data. Positions on the axis are
 * shares of its width, ready from the data, so that the bars of all rows stand under one scale.
 */

import { button, count, html, plural, setAttributes, svg } from "../shared/elements.js";

/** @typedef {{show: string, label: string}} Door */
/**
 * @typedef {object} DifferenceRow
 * @property {string} title "Caption recall"
 * @property {string} points "+5.7"
 * @property {number | null} value place on the axis, 0 to 1
 * @property {number | null} low
 * @property {number | null} high
 * @property {string} interval "+2.6 to +8.9"
 * @property {boolean} star the interval leaves out 0
 * @property {"loss" | "gain" | "unclear"} tone
 * @property {string} better documents
 * @property {string} worse
 * @property {string} words the sentence
 * @property {Door | null} door
 */
/** @typedef {{rows: DifferenceRow[], zero: number, ticks: {at: number, text: string}[]}} DifferenceTable */
/**
 * @typedef {object} BoardData
 * @property {{text: string, strong: boolean, door: Door | null}[]} sentence
 * @property {DifferenceTable[]} tables the few worth showing, and all
 * @property {string} reason why there are no intervals, or what they are made of
 * @property {{name: string, title: string, boxes: number, words: string, door: Door}[]} ledger both, a_only, b_only, neither
 * @property {{title: string, boxes: number, door: Door}[]} false_positives
 * @property {{label: string, name: string, cells: {boxes: number, words: string, door: Door}[], net: string}[]} labels
 * @property {Door} chosen
 */

const LEDGER_PLACES = { both: "1 / 1", a_only: "1 / 2", b_only: "2 / 1", neither: "2 / 2" };

/** @param {number} share @returns {string} */
function along(share) {
  return `${(share * 100).toFixed(3)}%`;
}

export class Board {
  /** @param {ParentNode & Node} parent @param {(name: string, value: unknown) => void} send */
  constructor(parent, send) {
    this.send = send;
    this.text = "";
    this.whole = false;
    this.sentence = html("p", { class: "board-sentence" });
    this.differences = html("div", { class: "board-differences" });
    this.ledger = html("div", { class: "board-ledger" });
    this.labels = html("div", { class: "board-labels" });
    this.root = html("div", { class: "layoutscope-viewer layoutscope-board" }, this.sentence,
      html("div", { class: "board-work" }, this.differences, this.ledger, this.labels));
    parent.append(html("div", { class: "layoutscope-frame" }, this.root));
  }

  /** @param {BoardData} data */
  update(data) {
    const text = JSON.stringify({ ...data, chosen: null });
    if (text !== this.text) {
      this.text = text;
      this.writeSentence(data);
      this.writeDifferences(data);
      this.writeLedger(data);
      this.writeLabels(data);
    }
    const chosen = doorText(data.chosen);
    for (const node of this.root.querySelectorAll("[data-door]")) {
      const here = node.getAttribute("data-door") === chosen;
      setAttributes(node, { "aria-current": here ? "true" : null });
    }
  }

  /**
   * A number that opens its pages.
   * @param {string} name @param {Door} door @param {string} className @param {...(Node | string)} children @returns {HTMLButtonElement}
   */
  door(name, door, className, ...children) {
    return button(name, { class: className, title: name, "data-door": doorText(door) }, () => this.send("door", { ...door, at: Date.now() }), ...children);
  }

  /** @param {BoardData} data */
  writeSentence(data) {
    this.sentence.replaceChildren(...data.sentence.flatMap(({ text, strong, door }) => {
      const words = html(strong ? "b" : "span", {}, text);
      return [door ? this.door(`${text} Open the pages`, door, "board-part", words) : words, " "];
    }));
  }

  /** @param {BoardData} data */
  writeDifferences(data) {
    const [few, every] = data.tables;
    const shown = this.whole ? every : few;
    const ticks = shown.ticks.map(({ at, text }) => {
      const tick = html("span", { class: "axis-tick" }, text);
      tick.style.left = along(at);
      return tick;
    });
    const head = html("tr", {}, html("th", { scope: "col", class: "what" }, "B minus A"), html("th", { scope: "col", class: "right points" }, "Points"),
      html("th", { scope: "col", class: "axis-cell", "aria-label": "Difference in points" }, html("div", { class: "axis" }, ...ticks)),
      html("th", { scope: "col", class: "interval" }, "95 % interval"), html("th", { scope: "col", class: "star", "aria-label": "Star: the interval leaves out 0" }),
      ...["Better", "Worse"].map((text) => html("th", { scope: "col", class: "right documents", title: `Documents in which B is ${text.toLowerCase()}` }, text)));
    const rows = shown.rows.map((row) => {
      const name = html("span", { class: "board-name" }, row.title);
      const first = row.door ? this.door(`${row.title}: ${row.words} Open the pages`, row.door, "board-row", name) : name;
      const line = html("tr", { class: `tone-${row.tone}${row.star ? " starred" : ""}`, title: row.words },
        html("th", { scope: "row" }, first), html("td", { class: "right points" }, row.points),
        html("td", { class: "axis-cell" }, intervalBar(row, shown)), html("td", { class: "interval" }, row.interval),
        html("td", { class: "star" }, row.star ? "\u2605" : ""), html("td", { class: "right" }, row.better), html("td", { class: "right" }, row.worse));
      if (row.door) {
        const open = /** @type {HTMLButtonElement} */ (first);
        line.classList.add("opens");
        // The whole row is the door; the button in it is for keys and screen readers.
        line.addEventListener("click", (event) => {
          if (event.target instanceof Node && !open.contains(event.target)) open.click();
        });
      }
      return line;
    });
    const table = html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows));
    const more = every.rows.length > few.rows.length ? button("Rows of the table", { class: "link-button" }, () => {
      this.whole = !this.whole;
      this.writeDifferences(data);
      /** @type {HTMLElement | null} */ (this.differences.querySelector("button.link-button"))?.focus();
    }, this.whole ? `The ${few.rows.length} that matter most` : `All ${every.rows.length} differences`) : "";
    const caption = html("p", { class: "board-caption muted" }, html("span", { title: data.reason }, data.reason), more);
    this.differences.replaceChildren(html("div", { class: "board-scroll", tabindex: "0", role: "region", "aria-label": "Differences, B minus A" }, table), caption);
  }

  /** @param {BoardData} data */
  writeLedger(data) {
    const cells = data.ledger.map(({ name, title, boxes, words, door }) => {
      const cell = this.door(words, door, `ledger-cell ledger-${name}`, html("b", {}, count(boxes)), html("span", {}, title));
      cell.style.gridArea = LEDGER_PLACES[/** @type {keyof typeof LEDGER_PLACES} */ (name)];
      return cell;
    });
    const parts = data.false_positives.flatMap(({ title, boxes, door }, order) => [order ? " \u00b7 " : "",
      this.door(`${plural(boxes, "false positive")}, ${title}. Open the pages`, door, "ledger-invented", html("b", {}, count(boxes)), ` ${title}`)]);
    this.ledger.replaceChildren(
      html("div", { class: "ledger-top" }, html("span", {}, "B found"), html("span", {}, "B missed")),
      html("div", { class: "ledger-left" }, html("span", {}, "A found"), html("span", {}, "A missed")),
      html("div", { class: "ledger-cells", role: "group", "aria-label": "Ground truth found and missed" }, ...cells),
      html("div", { class: "ledger-below" }, html("span", { class: "muted" }, "False positives"), html("span", {}, ...parts)));
  }

  /** @param {BoardData} data */
  writeLabels(data) {
    const head = html("tr", {}, html("th", { scope: "col" }, "Label"), ...["A only", "B only", "Neither", "Net"].map((text) => html("th", { scope: "col", class: "right" }, text)));
    const rows = data.labels.map(({ label, name, cells, net }) => html("tr", {},
      html("th", { scope: "row" }, this.door(`${name}: every change. Open the pages`, { show: "changed", label }, "board-row", html("span", { class: "board-name" }, name))),
      ...cells.map(({ boxes, words, door }) => html("td", { class: "right" }, boxes ? this.door(words, door, "label-cell", count(boxes)) : html("span", { class: "muted" }, "0"))),
      html("td", { class: "right" }, html("b", {}, net))));
    this.labels.replaceChildren(html("div", { class: "board-scroll", tabindex: "0", role: "region", "aria-label": "Ledger by label" },
      html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows))));
  }
}

/** @param {Door} door @returns {string} */
function doorText(door) {
  return JSON.stringify([door.show, door.label]);
}

/** @param {DifferenceRow} row @param {DifferenceTable} axis @returns {SVGElement} */
function intervalBar(row, axis) {
  const lines = axis.ticks.map(({ at }) => svg("line", { x1: along(at), x2: along(at), y1: 0, y2: "100%", class: "axis-line" }));
  lines.push(svg("line", { x1: along(axis.zero), x2: along(axis.zero), y1: 0, y2: "100%", class: "axis-zero" }));
  if (row.low !== null && row.high !== null) {
    const [low, high] = [along(row.low), along(row.high)];
    lines.push(svg("line", { x1: low, x2: high, y1: "50%", y2: "50%", class: "interval-line" }),
      ...[low, high].map((end) => svg("line", { x1: end, x2: end, y1: 7.5, y2: 17.5, class: "interval-line" })));
  }
  if (row.value !== null) lines.push(svg("circle", { cx: along(row.value), cy: "50%", r: 5, class: "interval-dot" }));
  return svg("svg", { class: "interval-bar", "aria-hidden": "true" }, ...lines);
}

/** @type {WeakMap<object, Board>} */
const boards = new WeakMap();

/**
 * Shows the numbers in a parent; the first call builds the board.
 * @param {ParentNode & Node} parent @param {BoardData} data @param {(name: string, value: unknown) => void} send
 * @returns {() => void} takes it away again
 */
export function mountBoard(parent, data, send) {
  const board = boards.get(parent) ?? new Board(parent, send);
  boards.set(parent, board);
  board.send = send;
  board.update(data);
  return () => {
    board.root.parentElement?.remove();
    boards.delete(parent);
  };
}

/**
 * Called by Streamlit on mount and on each change of the data.
 * @param {{parentElement: ParentNode & Node, data: BoardData, setTriggerValue: (name: string, value: unknown) => void}} component
 */
export default function streamlitBoard(component) {
  return mountBoard(component.parentElement, component.data, component.setTriggerValue);
}
