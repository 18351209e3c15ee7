/**
 * The numbers of the comparison: a sentence and differences with their intervals, or the ledger of found and missed
 * boxes with the labels, whichever part the data name.
 *
 * Every number is a button that opens its pages; which pages is written in the data. Positions on the axis are
 * shares of its width, ready from the data, so that the bars of all rows have one scale.
 */

import { button, html, setAttributes, svg } from "../shared/elements.js";
import { mounting, streamlitComponent } from "../shared/mount.js";
import { count, percentOf, plural } from "../shared/words.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { BoardEvents, BoardPayload, DifferenceRowItem, DifferenceTableItem } from "../shared/payloads.d.ts" */
/** @import { LinkItem } from "../shared/payloads.d.ts" */

const LEDGER_PLACES = { both: "1 / 1", a_only: "1 / 2", b_only: "2 / 1", neither: "2 / 2" };

/** Half of the width of a digit or a sign, in em. */
const HALF_CHARACTER = 0.27;

export class Board {
  /** @param {ParentNode & Node} parent @param {Send<BoardEvents>} send */
  constructor(parent, send) {
    this.send = send;
    this.text = "";
    this.whole = true;
    this.sentence = html("p", { class: "board-sentence" });
    this.differences = html("div", { class: "board-differences" });
    this.ledger = html("div", { class: "board-ledger" });
    this.labels = html("div", { class: "board-labels" });
    this.root = html("div", { class: "layoutscope-viewer layoutscope-board" }, this.sentence,
      html("div", { class: "board-work" }, this.differences, this.ledger, this.labels));
    parent.append(html("div", { class: "layoutscope-frame" }, this.root));
  }

  /** @param {BoardPayload} data */
  update(data) {
    const text = JSON.stringify({ ...data, chosen: null });
    if (text !== this.text) {
      this.text = text;
      const ledger = data.part === "ledger";
      for (const node of [this.sentence, this.differences]) node.hidden = ledger;
      for (const node of [this.ledger, this.labels]) node.hidden = !ledger;
      if (ledger) {
        this.writeLedger(data);
        this.writeLabels(data);
      } else {
        this.writeSentence(data);
        this.writeDifferences(data);
      }
    }
    const chosen = linkText(data.chosen);
    for (const node of this.root.querySelectorAll("[data-link]")) {
      const here = node.getAttribute("data-link") === chosen;
      setAttributes(node, { "aria-current": here ? "true" : null });
    }
  }

  /**
   * A number that opens its pages.
   * @param {string} name @param {LinkItem} target @param {string} className @param {...(Node | string)} children @returns {HTMLButtonElement}
   */
  link(name, target, className, ...children) {
    return button(name, { class: className, title: name, "data-link": linkText(target) }, () => this.send("link", { ...target, at: Date.now() }), ...children);
  }

  stop() {
    this.root.parentElement?.remove();
  }

  /** @param {BoardPayload} data */
  writeSentence(data) {
    this.sentence.replaceChildren(...data.sentence.flatMap(({ text, strong, link }) => {
      const words = html(strong ? "b" : "span", {}, text);
      return [link ? this.link(`${text} Open the pages`, link, "board-part", words) : words, " "];
    }));
  }

  /** @param {BoardPayload} data */
  writeDifferences(data) {
    const [few, every] = data.tables;
    const shown = this.whole ? every : few;
    const ticks = shown.ticks.map(({ at, text }) => {
      const tick = html("span", { class: "axis-tick" }, text);
      // A label that is centred at an end of the axis reaches into the next column.
      const half = `${HALF_CHARACTER * text.length}em`;
      tick.style.left = `clamp(${half}, ${percentOf(at)}, calc(100% - ${half}))`;
      return tick;
    });
    // Of few documents there are none.
    const spans = shown.rows.some(({ low }) => low !== null);
    const head = html("tr", {}, html("th", { scope: "col", class: "what" }, "B minus A"), html("th", { scope: "col", class: "right points" }, "Points"),
      html("th", { scope: "col", class: "axis-cell", "aria-label": "Difference in points" }, html("div", { class: "axis" }, ...ticks)),
      ...(spans ? [html("th", { scope: "col", class: "interval" }, "95 % interval"), html("th", { scope: "col", class: "star", "aria-label": "Star: clear difference, the interval excludes 0" })] : []),
      ...["Better", "Worse"].map((text) => html("th", { scope: "col", class: "right documents", title: `Documents in which B is ${text.toLowerCase()}` }, text)));
    const rows = shown.rows.map((row) => {
      const name = html("span", { class: "board-name" }, row.title);
      const first = row.link ? this.link(`${row.title}: ${row.words} Open the pages`, row.link, "board-row", name) : name;
      const line = html("tr", { class: `tone-${row.tone}${row.star ? " starred" : ""}`, title: row.words },
        html("th", { scope: "row" }, first), html("td", { class: "right points" }, row.points),
        html("td", { class: "axis-cell" }, intervalBar(row, shown)),
        ...(spans ? [html("td", { class: "interval" }, row.interval), html("td", { class: "star" }, row.star ? "\u2605" : "")] : []), html("td", { class: "right documents-cell" }, row.better), html("td", { class: "right documents-cell" }, row.worse));
      if (row.link) {
        const open = /** @type {HTMLButtonElement} */ (first);
        line.classList.add("opens");
        // The whole row links to its pages; the button in it is for keys and screen readers.
        line.addEventListener("click", (event) => {
          if (event.target instanceof Node && !open.contains(event.target)) open.click();
        });
      }
      return line;
    });
    const table = html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows));
    const folds = every.rows.length > few.rows.length;
    // Where there is little room the table is folded; beside the answer its first rows always show.
    const words = this.whole ? [`The ${few.rows.length} that matter most`, "Fold the differences"] : [`All ${every.rows.length} differences`, `All ${every.rows.length} differences`];
    const more = button("Rows of the table", { class: `link-button${folds ? "" : " fold-only"}`, "aria-expanded": String(this.whole) }, () => {
      this.whole = !this.whole;
      this.writeDifferences(data);
      /** @type {HTMLElement | null} */ (this.differences.querySelector("button.link-button"))?.focus();
    }, html("span", { class: "unfolded-words" }, words[0]), html("span", { class: "folded-words" }, words[1]));
    this.differences.classList.toggle("whole", this.whole);
    const caption = html("p", { class: "board-caption muted" }, html("span", { title: data.reason }, data.reason), more);
    this.differences.replaceChildren(html("div", { class: "board-scroll", tabindex: "0", role: "region", "aria-label": "Differences, B minus A" }, table), caption);
  }

  /** @param {BoardPayload} data */
  writeLedger(data) {
    const cells = data.ledger.map(({ name, title, boxes, words, link }) => {
      const cell = this.link(words, link, `ledger-cell ledger-${name}`, html("b", {}, count(boxes)), html("span", {}, title));
      cell.style.gridArea = LEDGER_PLACES[/** @type {keyof typeof LEDGER_PLACES} */ (name)];
      return cell;
    });
    const parts = data.false_positives.flatMap(({ title, boxes, link }, order) => [order ? " \u00b7 " : "",
      this.link(`${plural(boxes, "extra box", "extra boxes")}, ${title}. Open the pages`, link, "ledger-invented", html("b", {}, count(boxes)), ` ${title}`)]);
    this.ledger.replaceChildren(
      html("div", { class: "ledger-top" }, html("span", {}, "B found"), html("span", {}, "B missed")),
      html("div", { class: "ledger-left" }, html("span", {}, "A found"), html("span", {}, "A missed")),
      html("div", { class: "ledger-cells", role: "group", "aria-label": "Ground truth found and missed" }, ...cells),
      html("div", { class: "ledger-below" }, html("span", { class: "muted" }, "False positives"), html("span", {}, ...parts)));
  }

  /** @param {BoardPayload} data */
  writeLabels(data) {
    const head = html("tr", {}, html("th", { scope: "col" }, "Label"), ...["A only", "B only", "Neither", "Net"].map((text) => html("th", { scope: "col", class: "right" }, text)));
    const rows = data.labels.map(({ label, name, cells, net }) => html("tr", {},
      html("th", { scope: "row" }, this.link(`${name}: every change. Open the pages`, { show: "changed", label }, "board-row", html("span", { class: "board-name" }, name))),
      ...cells.map(({ boxes, words, link }) => html("td", { class: "right" }, boxes ? this.link(words, link, "label-cell", count(boxes)) : html("span", { class: "muted" }, "0"))),
      html("td", { class: "right" }, html("b", {}, net))));
    this.labels.replaceChildren(html("div", { class: "board-scroll", tabindex: "0", role: "region", "aria-label": "Ledger by label" },
      html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows))));
  }
}

/** @param {LinkItem} target @returns {string} */
function linkText(target) {
  return JSON.stringify([target.show, target.label]);
}

/** @param {DifferenceRowItem} row @param {DifferenceTableItem} axis @returns {SVGElement} */
function intervalBar(row, axis) {
  const lines = axis.ticks.map(({ at }) => svg("line", { x1: percentOf(at), x2: percentOf(at), y1: 0, y2: "100%", class: "axis-line" }));
  lines.push(svg("line", { x1: percentOf(axis.zero), x2: percentOf(axis.zero), y1: 0, y2: "100%", class: "axis-zero" }));
  if (row.low !== null && row.high !== null) {
    const [low, high] = [percentOf(row.low), percentOf(row.high)];
    lines.push(svg("line", { x1: low, x2: high, y1: "50%", y2: "50%", class: "interval-line" }),
      ...[low, high].map((end) => svg("line", { x1: end, x2: end, y1: 7.5, y2: 17.5, class: "interval-line" })));
  }
  if (row.value !== null) lines.push(svg("circle", { cx: percentOf(row.value), cy: "50%", r: 5, class: "interval-dot" }));
  return svg("svg", { class: "interval-bar", "aria-hidden": "true" }, ...lines);
}

export default streamlitComponent(mounting(Board));
