/**
 * What lies on one of the two pages: boxes in full or faded, chips on the differences, the marked pair.
 *
 * A box is faded when both models agree on it. Which boxes are in full is written in the data, so that a filter for
 * "both missed" can bring those forward.
 */

import { areaOf, chipRect, overlapOf, placeChips, toPixels } from "../shared/geometry.js";
import { html, svg, textWidth } from "../shared/elements.js";
import { boxName, companions, drawMarked, factsOf, placeOf, tieChip, writeTooltip } from "../shared/layers.js";

/** @typedef {import("../shared/geometry.js").Rect} Rect */
/** @typedef {import("../shared/geometry.js").Size} Size */
/** @typedef {import("../shared/layers.js").Box} Box */
/** @typedef {import("../shared/layers.js").Mistake} Mistake */
/**
 * @typedef {object} PairFields
 * @property {string} kind both, a_only, b_only, neither, shared, only
 * @property {boolean} full drawn in full, not faded
 * @property {string | null} chip "TP Table 0.91"
 * @property {string | null} mate the same box of the other model: a shared false positive
 */
/** @typedef {Box & PairFields} PairBox */

const PAIR_CHIP_HEIGHT = 17;
const PAIR_CHIP_WIDTH = 230;
/** Share of the sheet that chips may cover. */
const CHIP_ROOM = 0.12;
const PAIR_LAYERS = /** @type {const} */ (["truth", "TP", "FN", "FP"]);

/** @param {PairBox[]} boxes @returns {PairBox[]} the faded ones first, and large before small */
function drawingOrder(boxes) {
  return [...boxes].sort((a, b) => Number(a.full) - Number(b.full) || areaOf(b.xyxy) - areaOf(a.xyxy));
}

/**
 * @param {SVGElement} layer @param {HTMLElement} chips @param {PairBox[]} boxes
 * @returns {Map<string, HTMLElement>} the chip of each box that has one
 */
export function drawPairBoxes(layer, chips, boxes) {
  /** @type {Map<string, HTMLElement>} */
  const chipOf = new Map();
  const groups = [false, true].flatMap((full) => PAIR_LAYERS.map((status) => ({ full, status, node: svg("g", { class: `layer layer-${status}` }) })));
  for (const box of drawingOrder(boxes)) {
    const rect = svg("rect", { ...placeOf(box.xyxy), class: `box box-${box.status} ${box.full ? "differs" : "agrees"}`,
      "data-key": box.key, role: "img", "aria-label": boxName(box) });
    groups.find((group) => group.full === box.full && group.status === box.status)?.node.append(rect);
    if (box.chip && box.full) {
      chipOf.set(box.key, html("div", { class: `chip chip-${box.status}`, "data-key": box.key, "aria-hidden": "true" }, box.chip));
    }
  }
  layer.replaceChildren(...groups.map((group) => group.node));
  chips.replaceChildren(...chipOf.values());
  return chipOf;
}

/** @param {string} text @param {string} font @returns {number} */
function pairChipWidth(text, font) {
  return Math.min(PAIR_CHIP_WIDTH, Math.ceil(textWidth(text, font)) + 12);
}

/** Which chips come first when there is room for some only. @param {PairBox} box @returns {number} */
function chipRank(box) {
  return box.status === "FP" ? 1 : 0;
}

/**
 * Finds a free place for as many chips as the sheet has room for: who finds what first, then what is invented.
 * @param {Map<string, HTMLElement>} chips @param {PairBox[]} boxes those that show @param {Size} sheet @param {string} font
 * @returns {{key: string, rect: Rect | null}[]} pixels of the sheet
 */
export function arrangePairChips(chips, boxes, sheet, font) {
  const wanted = boxes.filter((box) => chips.has(box.key) && box.chip);
  wanted.sort((a, b) => chipRank(a) - chipRank(b) || areaOf(b.xyxy) - areaOf(a.xyxy));
  let room = CHIP_ROOM * sheet.width * sheet.height;
  const fitting = wanted.flatMap((box) => {
    const width = pairChipWidth(box.chip ?? "", font);
    room -= width * PAIR_CHIP_HEIGHT;
    return room > 0 ? [{ key: box.key, box: toPixels(box.xyxy, sheet), width, compactWidth: width }] : [];
  });
  const places = placeChips(
    fitting,
    boxes.filter((box) => box.status !== "truth").map((box) => ({ rect: toPixels(box.xyxy, sheet), weight: box.full ? 1 : 0.4 })),
    [0, 0, sheet.width, sheet.height],
    PAIR_CHIP_HEIGHT,
  );
  const placed = new Map(places.map((place) => [place.key, place]));
  return wanted.map((box) => {
    const place = placed.get(box.key);
    const chip = /** @type {HTMLElement} */ (chips.get(box.key));
    chip.classList.toggle("crowded", !place?.rect);
    if (place?.rect) tieChip(chip, box.xyxy, place.place);
    return { key: box.key, rect: place?.rect ?? null };
  });
}

/**
 * The box of this page that stands for a box of either page.
 * @param {Map<string, PairBox>} boxes of this page @param {Map<string, PairBox>} others of the other page @param {string | null} key
 * @returns {PairBox | null} the box itself, its ground truth, or the shared false positive
 */
export function counterpart(boxes, others, key) {
  if (key === null) return null;
  const own = boxes.get(key);
  if (own) return own;
  const other = others.get(key);
  return boxes.get(other?.partner ?? "") ?? boxes.get(other?.mate ?? "") ?? null;
}

/**
 * Draws the marked box of one page with what belongs to it, and says its facts.
 * @param {{marked: SVGElement, tooltip: HTMLElement}} pane @param {Map<string, PairBox>} boxes @param {Map<number, Mistake>} mistakes
 * @param {PairBox | null} box @param {Size} sheet
 * @returns {PairBox[]} the marked boxes
 */
export function markPair(pane, boxes, mistakes, box, sheet) {
  const mistake = box ? mistakes.get(box.mistake ?? -1) : undefined;
  const others = /** @type {PairBox[]} */ (box ? companions(box, boxes, mistake) : []);
  drawMarked(pane.marked, box, others, sheet);
  writeTooltip(pane.tooltip, box ? factsOf(box, mistake, boxes) : null);
  return box ? [box, ...others] : [];
}

/**
 * The chip of a marked box that has none on the page: a faded box has none.
 * @param {HTMLElement} layer @param {PairBox | null} box @param {Size} sheet @param {string} font @param {{key: string, rect: Rect | null}[]} chips as arranged
 */
export function drawPairMarkChip(layer, box, sheet, font, chips) {
  if (!box || !box.chip || chips.some((chip) => chip.key === box.key && chip.rect)) {
    layer.replaceChildren();
    return;
  }
  const r = toPixels(box.xyxy, sheet);
  const width = pairChipWidth(box.chip, font);
  const place = ["above-right", "above-left", "below-left", "below-right"].find((each) => {
    const rect = chipRect(r, each, width, PAIR_CHIP_HEIGHT);
    return !chips.some((chip) => chip.rect && overlapOf(rect, chip.rect) > 1) && rect[1] >= 0 && rect[0] >= 0 && rect[2] <= sheet.width;
  });
  const chip = html("div", { class: `chip chip-${box.status}`, "aria-hidden": "true" }, box.chip);
  tieChip(chip, box.xyxy, place ?? "inside-right");
  layer.replaceChildren(chip);
}
