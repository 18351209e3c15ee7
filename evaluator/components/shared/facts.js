/** One box in words: its name for a screen reader, its chip, the facts of its tooltip. Pure: no document. */

import { STATUS_WORDS, capital, isolated, ratio, scoreText } from "./words.js";

/** @import { PageContent } from "./content.js" */
/** @import { BoxItem, MistakeItem } from "./payloads.d.ts" */
/**
 * @typedef {object} BoxFacts
 * @property {string} head
 * @property {string} label
 * @property {string} wrong
 * @property {[string, string][]} numbers names and values
 * @property {string} more
 * @property {string} source
 */

const STATUS_NAMES = { TP: "True positive", FP: "False positive", FN: "Missed", truth: "Matched ground truth" };

/** @param {BoxItem} box @returns {string} what a screen reader says about a box */
export function boxName(box) {
  const parts = [box.name ?? STATUS_NAMES[box.status], box.label];
  if (box.score !== null && box.score !== undefined) parts.push(`score ${scoreText(box.score)}`);
  const number = numberOf(box);
  if (number !== null) parts.push(`mistake ${number}`);
  return parts.join(", ");
}

/** @param {MistakeItem} mistake @returns {string} what a screen reader says about a mistake */
export function mistakeName(mistake) {
  return [mistake.title, mistake.label, ...mistake.lines].join(", ");
}

/** @param {BoxItem & {place?: number}} box @returns {number | null} that of its place in the list, else of its mistake */
function numberOf(box) {
  return box.place ?? box.mistake ?? null;
}

/** @param {BoxItem & {place?: number, said?: string}} box @param {boolean} compact @returns {string} "1 FP Table 0.83", "9 \u00b7 15 boxes read as one Figure \u25cf" */
export function chipText(box, compact) {
  const own = numberOf(box);
  const number = own === null ? "" : `${own} `;
  // A cause may begin with a number of its own.
  const words = compact ? [box.name ? String(own ?? "") : `${number}${box.status}`] : box.cause ? [`${number && `${own} \u00b7 `}${box.cause}`] : [box.name ? number.trim() : `${number}${box.status}`, isolated(box.label), scoreText(box.score)];
  return [...words, box.said].filter(Boolean).join(" ");
}

/**
 * The facts of one box, five lines at most.
 * @param {BoxItem} box @param {PageContent<any>} content @returns {BoxFacts}
 */
export function factsOf(box, content) {
  const mistake = content.mistakeOf(box);
  const other = box.side === "prediction" ? "ground truth" : "prediction";
  const near = content.box(box.nearest?.key);
  const nearText = near && box.nearest ? `nearest ${other}: ${isolated(near.label)}, IoU ${ratio(box.nearest.iou)}` : "";
  const wrong = wrongText(box, mistake) || matchText(box, content.box(box.partner), other) || nearText || `no ${other} near it`;
  const known = [box.iou, box.coverage, box.purity].some((value) => value !== null && value !== undefined);
  const more = mistake?.lines.slice(1).find((line) => !/^(IoU|(no )?score)\b/.test(line)) ?? "";
  const score = box.score === null || box.score === undefined ? "" : `score ${scoreText(box.score)}`;
  return {
    head: mistake?.title ?? plainHead(box),
    label: box.label,
    wrong,
    numbers: known ? [["IoU", ratio(box.iou)], ["Coverage", ratio(box.coverage)], ["Purity", ratio(box.purity)]] : [],
    more: more && more !== wrong ? more : nearText !== wrong ? nearText : "",
    source: [score, box.source ?? ""].filter(Boolean).join(", "),
  };
}

/** @param {BoxItem} box @returns {string} the head of a box that is no mistake */
function plainHead(box) {
  if (box.name) return capital(box.name);
  return box.status === "TP" ? "Matched" : box.status === "truth" ? "Ground truth" : capital(STATUS_WORDS[box.status]);
}

/** What the mistake of a box states of this box; the list states it of the ground truth. @param {BoxItem} box @param {MistakeItem | undefined} mistake @returns {string} */
function wrongText(box, mistake) {
  if (mistake?.name === "wrong_class" && box.side === "prediction") return `the ground truth is ${isolated(mistake.label)}`;
  return mistake?.lines[0] ?? "";
}

/** @param {BoxItem} box @param {BoxItem | undefined} partner @param {string} other its side in words @returns {string} */
function matchText(box, partner, other) {
  if (!partner) return "";
  return partner.label === box.label ? `matches its ${other}` : `matches ${other} ${partner.label}`;
}
