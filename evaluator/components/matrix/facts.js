/** The facts of a cell of the matrix in words, and where the keys lead from it. Pure: no document. */

/** @import { MatrixPayload } from "../shared/payloads.d.ts" */

const inGroups = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/** @param {number | null | undefined} value @returns {string} "11.2 %" */
export function shareText(value) {
  if (value === null || value === undefined) return "n/a";
  if (value === 0) return "0 %";
  if (value < 0.0005) return "under 0.1 %";
  return `${value < 1 ? Math.min(99.9, value * 100).toFixed(1) : "100"} %`;
}

/** @param {number | null | undefined} value @returns {string} "50,400" */
export function amountText(value) {
  return value === null || value === undefined ? "n/a" : inGroups.format(value);
}

/** @param {number} value @param {(v: number) => string} write @returns {string} */
function signed(value, write) {
  return `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${write(Math.abs(value))}`;
}

/** @param {MatrixPayload} data @param {number} row @param {number} column @returns {string[]} */
export function cellFacts(data, row, column) {
  const { facts, unit = "pixels" } = data;
  if (data.kind === "difference") return differenceFacts(data, row, column);
  const f1 = facts.f1[row][column];
  return [
    `${amountText(facts.pixels[row][column])} ${unit}`,
    `${shareText(facts.row[row][column])} of the row`,
    `${shareText(facts.column[row][column])} of the column`,
    `F1 ${f1 === null ? "n/a" : f1.toFixed(3)}`,
  ];
}

/** @param {MatrixPayload} data @param {number} row @param {number} column @returns {string[]} */
function differenceFacts({ facts, shows, letters }, row, column) {
  const write = shows === "pixels" ? amountText : shows === "f1" ? (/** @type {number} */ v) => v.toFixed(3) : shareText;
  const [a, b] = [facts.first[row][column], facts.second[row][column]];
  const parts = [`${letters[0]} ${a === null ? "n/a" : write(a)}`, `${letters[1]} ${b === null ? "n/a" : write(b)}`];
  if (a === null || b === null) return parts;
  const points = shows === "row" || shows === "column";
  parts.push(`difference ${points ? `${signed(a - b, (v) => (100 * v).toFixed(1))} points` : signed(a - b, write)}`);
  const gain = facts.gain[row][column];
  if (gain) parts.push(`${gain > 0 ? letters[0] : letters[1]} is better here`);
  return parts;
}

/**
 * @param {Pick<KeyboardEvent, "key" | "ctrlKey">} event @param {[number, number]} at row and column @param {number} last row or column
 * @returns {[number, number] | null} where a key leads, inside of the matrix; null for a key that leads nowhere
 */
export function cellAfter({ key, ctrlKey: far }, [row, column], last) {
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
  const to = moves[key];
  return to ? [Math.max(0, Math.min(last, to[0])), Math.max(0, Math.min(last, to[1]))] : null;
}

/** Scripts in which a word is parted by a hyphen. */
const HYPHENATED = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}]$/u;

/**
 * A name on at most some lines of a width: parted at a space, hyphen, slash or underscore, else between two letters: with
 * a hyphen in scripts that have one. The last line ends in an ellipsis when the name is longer.
 * @param {string} name @param {(text: string) => boolean} fits whether a text fits on a line @param {number} most @returns {string[]}
 */
export function nameLines(name, fits, most) {
  const lines = [];
  let rest = name;
  while (lines.length < most - 1 && !fits(rest)) {
    const [line, after] = partedLine(rest, fits);
    lines.push(line.trim());
    rest = after.trim();
  }
  if (!fits(rest)) {
    while (rest.length > 1 && !fits(`${rest}\u2026`)) rest = rest.slice(0, -1);
    rest += "\u2026";
  }
  return [...lines, rest];
}

/** The first line of a text that does not fit on one, and what is left. @param {string} text @param {(text: string) => boolean} fits @returns {[string, string]} */
function partedLine(text, fits) {
  const parts = text.split(/(?<=[-_/:]|\s)/);
  let first = "";
  while (parts.length > 1 && fits((first + parts[0]).trim())) first += parts.shift();
  const rest = parts.join("");
  if (first) return [first, rest];
  let length = rest === "Background" ? 4 : rest.length - 1;
  const begun = () => rest.slice(0, length) + (HYPHENATED.test(rest.slice(0, length)) ? "-" : "");
  while (length > 1 && !fits(begun())) length -= 1;
  // Both halves of a character stay on one line.
  if (length > 1 && /[\uD800-\uDBFF]/.test(rest[length - 1])) length -= 1;
  return [begun(), rest.slice(length)];
}
