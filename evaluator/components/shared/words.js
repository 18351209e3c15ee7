/** Numbers and names as people read them. Pure functions: no document. */

import { MARKS, VERDICTS } from "./verdicts.js";

/** @import { JudgedItem, UnsavedItem } from "./payloads.d.ts" */

/** Names of the statuses in words. */
export const STATUS_WORDS = { TP: "matched", FP: "extra", FN: "missed", truth: "matched ground truth" };

/** @param {{waiting: boolean}} judgement that has a problem @returns {string} */
export function unsavedWords({ waiting }) {
  return waiting ? "Waiting to be saved" : "NOT SAVED";
}

const grouped = new Intl.NumberFormat("en-US");

/** @param {number} value @returns {string} "3,692" */
export function count(value) {
  return grouped.format(value);
}

/** @param {number | null | undefined} value @returns {string} "0.864", "-" when missing */
export function ratio(value) {
  return value === null || value === undefined ? "-" : value.toFixed(3);
}

/** @param {number | null | undefined} value @returns {string} "0.83", empty when missing */
export function scoreText(value) {
  return value === null || value === undefined ? "" : value.toFixed(2);
}

/** @param {number} value @param {string} one @param {string} [many] @returns {string} "1 mistake", "6 mistakes" */
export function plural(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** @param {number} share @returns {string} "12.5000%", for a style or an attribute */
export function percentOf(share) {
  return `${(share * 100).toFixed(4)}%`;
}

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * A name from a file for the middle of a line: in one that runs from right to left, the number behind it stays behind it.
 * @param {string} name @returns {string}
 */
export function isolated(name) {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

// Before a bracket, not behind it; behind a dot only where more follows than the ending of a file.
const LINE_ENDS = /(?<=[^\p{L}\p{M}\p{N}\s.\p{Ps}])(?=[\p{L}\p{N}])|(?<=.)(?=\p{Ps})|(?<=\.)(?=[\p{L}\p{N}]{5})|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\p{N}{3})/u;

/**
 * A name of a file in the parts between which a line may end: behind a sign and where another word begins, so that no
 * word is cut in two.
 * @param {string} name @returns {string[]}
 */
export function lineParts(name) {
  return name.split(LINE_ENDS);
}

/** @param {string} text @returns {string} with a capital first letter */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * A name of a file as one line that is read as it stands: what breaks a line or turns the direction of writing is
 * written as an escape, as `plain` of Python does.
 *
 * @param {string} name @returns {string}
 */
export function plainName(name) {
  return name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    const known = { 9: "\\t", 10: "\\n", 13: "\\r" }[code];
    if (known) return known;
    const [mark, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
    return `\\${mark}${code.toString(16).padStart(digits, "0")}`;
  });
}

/** @param {string} name of a document @returns {string} as lists show it, without the ending that nearly all have */
export function nameInList(name) {
  return plainName(name).replace(/\.pdf$/, "");
}

/** @param {string | null} verdict @returns {string} */
export function verdictWords(verdict) {
  return VERDICTS.find(([name]) => name === verdict)?.[1] ?? "";
}

/** @param {readonly (JudgedItem | null | undefined)[]} verdicts on the mistakes of a place @returns {string} a sign, the verdict and who says it */
export function saidOf(verdicts) {
  const authors = [...new Set(verdicts.flatMap((verdict) => (verdict?.opinions ?? []).filter((each) => each.verdict).map(({ author }) => author)))];
  return [...opinionOf(verdicts), authors.join(", ")].join(" ").trim();
}

/** @param {UnsavedItem} unsaved @returns {string} the verdict, and that it waits or is not saved */
export function unsavedOf({ verdict, busy }) {
  return [verdictWords(verdict), unsavedWords({ waiting: busy ?? false })].filter(Boolean).join(": ");
}

/** @param {JudgedItem | null | undefined} verdict on a mistake @returns {string} its sign; empty for none */
export function signOf(verdict) {
  const [sign] = opinionOf([verdict]);
  return sign === MARKS.none ? "" : sign;
}

/** @param {readonly (JudgedItem | null | undefined)[]} verdicts @returns {[string, string]} a sign, and the words before who says it */
function opinionOf(verdicts) {
  if (!verdicts.some((verdict) => verdict?.opinions.some((each) => each.verdict))) return [MARKS.none, "Not decided"];
  const [agreed, ...others] = new Set(verdicts.map((verdict) => verdict?.agreed ?? null));
  const known = others.length ? undefined : VERDICTS.find(([name]) => name === agreed);
  if (known) return [known[2], `${known[1]} by`];
  return verdicts.some((verdict) => verdict?.conflict) ? [MARKS.conflict, "Reviewers differ:"] : [MARKS.several, "Several verdicts by"];
}
