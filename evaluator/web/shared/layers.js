/**
 * What lies on the page: boxes, chips, the marked pair with its link, the tooltip.
 *
 * Boxes are SVG rectangles whose position is a share of the sheet, so that a zoom changes one width and one height
 * and every line keeps its thickness. Large boxes are drawn first. Layers are hidden by classes, not drawn again.
 */

import { CHIP_PLACES, areaOf, chipRect, cropRegion, linkEnds, overlapOf, placeBeside, placeChips, toPixels, unionOf } from "./geometry.js";
import { STATUS_WORDS, html, ratio, scoreText, setAttributes, svg, textWidth } from "./elements.js";

/** @typedef {import("./geometry.js").Rect} Rect */
/** @typedef {import("./geometry.js").Size} Size */
/**
 * @typedef {object} Box
 * @property {string} key
 * @property {"ground_truth" | "prediction"} side
 * @property {"TP" | "FP" | "FN" | "truth"} status
 * @property {string} label
 * @property {Rect} xyxy shares of the page
 * @property {number | null} score
 * @property {number | null} iou
 * @property {number | null} coverage
 * @property {number | null} purity
 * @property {string | null} partner
 * @property {{key: string, iou: number} | null} nearest
 * @property {number | null} mistake
 * @property {boolean} [faded] its mistake is hidden by a filter: drawn pale, without a chip
 * @property {string | null} source
 */
/**
 * @typedef {object} Mistake
 * @property {number} number
 * @property {string} status
 * @property {string} title
 * @property {string} label
 * @property {string[]} lines
 * @property {string[]} tags
 * @property {string[]} keys
 * @property {Cut | null} [cut] the side on which the prediction stops short
 * @property {Rect[]} [foreign] words in its predictions that belong to no ground truth of their label
 * @property {string | null} [target] what a verdict on it is filed under
 * @property {import("../viewer/verdict.js").Judged | null} [verdict]
 * @property {import("../viewer/verdict.js").Unsaved | null} [unsaved]
 */

const CHIP_HEIGHT = 17;
/** Labels without text to hide: a chip may rather cover these. */
const PICTURES = /picture|figure|image|photo|chart/i;
const LAYER_ORDER = /** @type {const} */ (["truth", "TP", "FN", "FP"]);

/** @param {number} share @returns {string} */
function percent(share) {
  return `${(share * 100).toFixed(4)}%`;
}

/** @param {Rect} r shares of the page @returns {Record<string, string>} */
export function placeOf(r) {
  return { x: percent(r[0]), y: percent(r[1]), width: percent(Math.max(0, r[2] - r[0])), height: percent(Math.max(0, r[3] - r[1])) };
}

/** @param {Box} box @returns {string} what a screen reader says about a box */
export function boxName(box) {
  const parts = [box.status === "TP" ? "True positive" : box.status === "FP" ? "False positive"
    : box.status === "FN" ? "Missed" : "Matched ground truth", box.label];
  if (box.score !== null && box.score !== undefined) parts.push(`score ${scoreText(box.score)}`);
  if (box.mistake !== null && box.mistake !== undefined) parts.push(`mistake ${box.mistake}`);
  return parts.join(", ");
}

/** @param {Box} box @param {boolean} compact @returns {string} "1 FP Table 0.83" */
export function chipText(box, compact) {
  const number = box.mistake === null || box.mistake === undefined ? "" : `${box.mistake} `;
  const status = box.status === "truth" ? "truth" : box.status;
  if (compact) return `${number}${status}`;
  return [`${number}${status}`, box.label, scoreText(box.score)].filter(Boolean).join(" ");
}

/** @param {Box} box @param {string} font @param {boolean} compact @returns {number} */
function chipWidth(box, font, compact) {
  return Math.min(230, Math.ceil(textWidth(chipText(box, compact), font)) + 12);
}

/** @param {Box} box @returns {HTMLElement} */
function chipElement(box) {
  return html("div", { class: `chip chip-${box.status}`, "data-key": box.key, "aria-hidden": "true" }, chipText(box, false));
}

/**
 * Boxes in the order in which they are drawn.
 * @param {Box[]} boxes @returns {Box[]}
 */
function largeFirst(boxes) {
  return [...boxes].sort((a, b) => areaOf(b.xyxy) - areaOf(a.xyxy));
}

/**
 * Draws all boxes and chips of a page anew.
 * @param {SVGElement} layer @param {HTMLElement} chips @param {Box[]} boxes
 * @returns {{rects: Map<string, SVGElement>, chips: Map<string, HTMLElement>}}
 */
export function drawBoxes(layer, chips, boxes) {
  /** @type {Map<string, SVGElement>} */
  const rects = new Map();
  /** @type {Map<string, HTMLElement>} */
  const chipOf = new Map();
  const groups = LAYER_ORDER.map((status) => svg("g", { class: `layer layer-${status}` }));
  for (const box of largeFirst(boxes)) {
    const rect = svg("rect", { ...placeOf(box.xyxy), class: `box box-${box.status}${box.faded ? " faded" : ""}`, "data-key": box.key, role: "img", "aria-label": boxName(box) });
    rects.set(box.key, rect);
    groups[LAYER_ORDER.indexOf(box.status)].append(rect);
  }
  const marked = boxes.filter((box) => !box.faded && (box.status === "FP" || box.status === "FN" || (box.status === "TP" && (box.mistake ?? null) !== null)));
  for (const box of marked) chipOf.set(box.key, chipElement(box));
  layer.replaceChildren(...groups);
  chips.replaceChildren(...chipOf.values());
  return { rects, chips: chipOf };
}

/**
 * Ties a chip to a corner of its box; it then follows every zoom without being moved.
 * @param {HTMLElement} chip @param {Rect} r shares of the page @param {string} place
 */
export function tieChip(chip, r, place) {
  const right = place.endsWith("right");
  const below = place.startsWith("below");
  const inside = place.startsWith("inside");
  const style = chip.style;
  style.left = percent(right ? r[2] : r[0]);
  style.top = percent(below ? r[3] : r[1]);
  const x = right ? (inside ? "calc(-100% - 2px)" : "-100%") : "0px";
  const y = below || inside ? "2px" : "calc(-100% - 2px)";
  style.transform = `translate(${x}, ${y})`;
}

/**
 * Finds a free place for every chip at the present size of the sheet.
 * @param {Map<string, HTMLElement>} chips @param {Box[]} boxes only the visible ones @param {Size} sheet @param {string} font
 * @returns {{key: string, rect: Rect | null, compact: boolean}[]} pixels of the sheet
 */
export function arrangeChips(chips, boxes, sheet, font) {
  const inPixels = new Map(boxes.map((box) => [box.key, toPixels(box.xyxy, sheet)]));
  const wanted = boxes.filter((box) => chips.has(box.key));
  wanted.sort((a, b) => (a.mistake ?? 1e9) - (b.mistake ?? 1e9) || (a.status === "FP" ? 0 : 1) - (b.status === "FP" ? 0 : 1));
  const places = placeChips(
    wanted.map((box) => ({
      key: box.key,
      box: /** @type {Rect} */ (inPixels.get(box.key)),
      width: chipWidth(box, font, false),
      compactWidth: chipWidth(box, font, true),
    })),
    boxes.filter((box) => box.status !== "truth")
      .map((box) => ({ rect: /** @type {Rect} */ (inPixels.get(box.key)), weight: PICTURES.test(box.label) ? 0.2 : 1 })),
    [0, 0, sheet.width, sheet.height],
    CHIP_HEIGHT,
  );
  const byKey = new Map(wanted.map((box) => [box.key, box]));
  for (const { key, place, compact, rect } of places) {
    const chip = /** @type {HTMLElement} */ (chips.get(key));
    const box = /** @type {Box} */ (byKey.get(key));
    chip.classList.toggle("crowded", rect === null);
    const text = chipText(box, compact);
    if (chip.textContent !== text) chip.textContent = text;
    tieChip(chip, box.xyxy, place);
  }
  return places;
}

/**
 * Boxes that belong to one box: its match, or the nearest of the other side, and the rest of its mistake.
 * @param {Box} box @param {Map<string, Box>} boxes @param {Mistake | undefined} mistake @returns {Box[]}
 */
export function companions(box, boxes, mistake) {
  const keys = [box.partner, box.partner ? null : box.nearest?.key, ...(mistake?.keys ?? [])];
  const found = new Map();
  for (const key of keys) {
    const other = key && key !== box.key ? boxes.get(key) : undefined;
    if (other) found.set(other.key, other);
  }
  return [...found.values()];
}

/**
 * Draws the marked box, its companions and the links between truth and prediction.
 * @param {SVGElement} layer @param {Box | null} box @param {Box[]} others @param {Size} sheet
 */
export function drawMarked(layer, box, others, sheet) {
  if (!box) {
    layer.replaceChildren();
    return;
  }
  const all = [box, ...others].sort((a, b) => (a.side === b.side ? 0 : a.side === "prediction" ? -1 : 1));
  const outline = all.map((each) =>
    svg("rect", { ...placeOf(each.xyxy), class: `marked marked-${each.status}`, "data-marked": each.key }));
  const links = others.filter((other) => other.side !== box.side).flatMap((other) => {
    const [truth, prediction] = box.side === "ground_truth" ? [box, other] : [other, box];
    const ends = linkEnds(toPixels(truth.xyxy, sheet), toPixels(prediction.xyxy, sheet), 30);
    const line = { x1: ends.truth[0], y1: ends.truth[1], x2: ends.prediction[0], y2: ends.prediction[1] };
    return [
      svg("line", { ...line, class: "link-halo" }),
      svg("line", { ...line, class: "link" }),
      svg("circle", { cx: ends.truth[0], cy: ends.truth[1], r: 5, class: "dot dot-truth" }),
      svg("circle", { cx: ends.prediction[0], cy: ends.prediction[1], r: 6, class: `dot dot-${prediction.status}` }),
    ];
  });
  layer.replaceChildren(...outline, ...links);
}

/**
 * The full chip of the marked box, when none of its own shows: a matched box has none, a crowded page leaves them out.
 * @param {HTMLElement} layer @param {Box | null} box @param {Size} sheet @param {string} font
 * @param {{key: string, rect: Rect | null, compact: boolean}[]} chips as arranged
 */
export function drawMarkedChip(layer, box, sheet, font, chips) {
  const own = box ? chips.find((chip) => chip.key === box.key) : undefined;
  if (!box || (own?.rect && !own.compact)) {
    layer.replaceChildren();
    return;
  }
  const r = toPixels(box.xyxy, sheet);
  const width = chipWidth(box, font, false);
  const place = CHIP_PLACES.find((each) => {
    const rect = chipRect(r, each, width, CHIP_HEIGHT);
    const inside = overlapOf(rect, [0, 0, sheet.width, sheet.height]) > 0.98 * areaOf(rect);
    return inside && !chips.some((chip) => chip.rect && chip.key !== box.key && overlapOf(rect, chip.rect) > 1);
  });
  const chip = chipElement(box);
  tieChip(chip, box.xyxy, place ?? "above-right");
  layer.replaceChildren(chip);
}

/**
 * The facts of one box, five lines at most.
 * @param {Box} box @param {Mistake | undefined} mistake @param {Map<string, Box>} boxes
 * @returns {{head: string, label: string, wrong: string, numbers: [string, string][], more: string, source: string}}
 */
export function factsOf(box, mistake, boxes) {
  const near = box.nearest ? boxes.get(box.nearest.key) : undefined;
  const other = box.side === "prediction" ? "ground truth" : "prediction";
  const nearText = near && box.nearest ? `nearest ${other}: ${near.label}, IoU ${ratio(box.nearest.iou)}` : "";
  const head = mistake ? mistake.title : box.status === "TP" ? "Matched" : box.status === "truth" ? "Ground truth" : capital(STATUS_WORDS[box.status]);
  let wrong = mistake?.lines[0] ?? "";
  if (!wrong) {
    const partner = box.partner ? boxes.get(box.partner) : undefined;
    if (partner) wrong = partner.label === box.label ? `matches its ${other}` : `matches ${other} ${partner.label}`;
    else wrong = nearText || `no ${other} near it`;
  }
  const known = [box.iou, box.coverage, box.purity].some((value) => value !== null && value !== undefined);
  const more = mistake?.lines.slice(1).find((line) => !(known && line.startsWith("IoU")) && !/^(no )?score\b/.test(line)) ?? "";
  const score = box.score === null || box.score === undefined ? "" : `score ${scoreText(box.score)}`;
  return {
    head,
    label: box.label,
    wrong,
    numbers: known ? [["IoU", ratio(box.iou)], ["Coverage", ratio(box.coverage)], ["Purity", ratio(box.purity)]] : [],
    more: known && more && more !== wrong ? more : nearText !== wrong ? nearText : "",
    source: [score, box.source ?? ""].filter(Boolean).join(", "),
  };
}

/** @param {string} text @returns {string} */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * @param {HTMLElement} tooltip @param {ReturnType<typeof factsOf> | null} facts null hides it
 */
export function writeTooltip(tooltip, facts) {
  tooltip.classList.toggle("shown", facts !== null);
  if (!facts) return;
  const lines = [html("div", { class: "tip-head" }, html("b", {}, facts.head), ` \u00b7 ${facts.label}`)];
  if (facts.wrong) lines.push(html("div", { class: "tip-line" }, facts.wrong));
  if (facts.numbers.length) {
    lines.push(html("dl", { class: "tip-numbers" },
      ...facts.numbers.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value)))));
  }
  if (facts.more) lines.push(html("div", { class: "tip-line" }, facts.more));
  if (facts.source) lines.push(html("div", { class: "tip-source" }, facts.source));
  tooltip.replaceChildren(...lines);
}

/**
 * @param {HTMLElement} tooltip @param {Rect[]} rects of the marked boxes @param {{rect: Rect, weight: number}[]} others
 * @param {Rect} sheet all in pixels of the pane @param {Size} pane @param {[number, number] | null} pointer
 */
export function placeTooltip(tooltip, rects, others, sheet, pane, pointer) {
  const target = unionOf(rects);
  /** @type {Rect} */
  const visible = [Math.max(0, target[0]), Math.max(0, target[1]), Math.min(pane.width, target[2]), Math.min(pane.height, target[3])];
  const size = { width: tooltip.offsetWidth, height: tooltip.offsetHeight };
  const [left, top] = placeBeside(visible, size, pane, pointer, others, sheet);
  tooltip.style.transform = `translate(${left}px, ${top}px)`;
}

/** @typedef {{side: "top" | "right" | "bottom" | "left", share: number, points: number | null}} Cut */

/**
 * Double arrows for predictions that stop short of a side of their ground truth, with what is missing.
 * @param {SVGElement} layer @param {{cut: Cut, truth: Rect, prediction: Rect}[]} cuts shares of the page @param {Size} sheet
 */
export function drawCuts(layer, cuts, sheet) {
  layer.replaceChildren(...cuts.map(({ cut, truth, prediction }) => {
    const t = toPixels(truth, sheet);
    const p = toPixels(prediction, sheet);
    const upright = cut.side === "top" || cut.side === "bottom";
    const at = { top: 1, right: 2, bottom: 3, left: 0 }[cut.side];
    const [low, high] = [Math.min(t[at], p[at]), Math.max(t[at], p[at])];
    const room = upright ? sheet.width - t[2] > 37 : true;
    const across = upright ? (room ? t[2] + 5 : t[2] - 8) : t[3] + 6;
    const line = upright ? `M${across} ${low}V${high}` : `M${low} ${across}H${high}`;
    const ends = upright
      ? `M${across - 4} ${low}h8M${across - 4} ${high}h8`
      : `M${low} ${across - 4}v8M${high} ${across - 4}v8`;
    const tips = high - low < 12 ? "" : upright
      ? `M${across - 3} ${low + 4}l3 -4l3 4M${across - 3} ${high - 4}l3 4l3 -4`
      : `M${low + 4} ${across - 3}l-4 3l4 3M${high - 4} ${across - 3}l4 3l-4 3`;
    const middle = (low + high) / 2;
    const words = upright
      ? { x: room ? across + 6 : across - 6, y: middle - 2, "text-anchor": room ? "start" : "end" }
      : { x: middle, y: across + 15, "text-anchor": "middle" };
    const missing = svg("text", { ...words, class: "cut-share" });
    missing.textContent = `\u2212${Math.round(cut.share * 100)} %`;
    const points = svg("text", { ...words, y: words.y + 13, class: "cut-points" });
    points.textContent = cut.points === null ? "" : `${Math.round(cut.points)} pt`;
    return svg("g", {}, svg("path", { d: line + ends + tips, class: "cut-halo" }), svg("path", { d: line + ends + tips, class: "cut-line" }), missing, points);
  }));
}

/**
 * Words of the ground truth that no prediction holds.
 * @param {SVGElement} layer @param {Rect[]} words shares of the page
 */
export function drawLost(layer, words) {
  layer.replaceChildren(...words.flatMap((r) => [
    svg("rect", { ...placeOf(r), class: "lost" }),
    svg("line", { x1: percent(r[0]), x2: percent(r[2]), y1: percent(r[3]), y2: percent(r[3]), class: "lost-line" }),
  ]));
}

/**
 * Words that the predictions of the marked mistake swallow, underlined in their colour.
 * @param {SVGElement} layer @param {Rect[]} words shares of the page
 */
export function drawForeign(layer, words) {
  layer.replaceChildren(...words.map((r) => svg("line", { x1: percent(r[0]), x2: percent(r[2]), y1: percent(r[3]), y2: percent(r[3]), class: "foreign-line" })));
}

/**
 * The part of the page image that a crop shows, in its own few pixels.
 * @param {ImageBitmap} image @param {Rect} region shares of the page, may reach beyond it @param {Size} size
 * @returns {HTMLCanvasElement}
 */
function cropPicture(image, region, size) {
  const scale = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(size.width * scale), Math.round(size.height * scale)];
  const canvas = /** @type {HTMLCanvasElement} */ (html("canvas", { class: "crop-canvas", width, height }));
  const pen = canvas.getContext("2d");
  const [x1, y1, x2, y2] = [Math.max(0, region[0]), Math.max(0, region[1]), Math.min(1, region[2]), Math.min(1, region[3])];
  if (!pen || x2 <= x1 || y2 <= y1) return canvas;
  const across = width / (region[2] - region[0]);
  const down = height / (region[3] - region[1]);
  pen.imageSmoothingQuality = "medium";
  pen.drawImage(image, x1 * image.width, y1 * image.height, (x2 - x1) * image.width, (y2 - y1) * image.height,
    (x1 - region[0]) * across, (y1 - region[1]) * down, (x2 - x1) * across, (y2 - y1) * down);
  return canvas;
}

/**
 * A small picture of some boxes: a cut of the page image with the boxes on it.
 * @param {HTMLElement} frame @param {Box[]} shown all visible boxes @param {Box[]} own @param {Size} page @param {Size} size of the frame
 * @param {ImageBitmap | null} [image] the page; null for an empty sheet; undefined: the style sheet's picture shows
 */
export function drawCrop(frame, shown, own, page, size, image) {
  const region = cropRegion(own.map((box) => box.xyxy), page, size);
  const width = region[2] - region[0];
  const height = region[3] - region[1];
  const sheet = html("div", { class: "crop-sheet" });
  Object.assign(sheet.style, {
    left: percent(-region[0] / width),
    top: percent(-region[1] / height),
    width: percent(1 / width),
    height: percent(1 / height),
  });
  const around = shown.filter((box) => !own.includes(box) && box.status !== "TP" && box.status !== "truth" && overlapOf(box.xyxy, region) > 0);
  const picture = svg("svg", { class: "crop-boxes" },
    ...largeFirst(around).map((box) => svg("rect", { ...placeOf(box.xyxy), class: `crop-box crop-other crop-${box.status}` })),
    ...largeFirst(own).map((box) => svg("rect", { ...placeOf(box.xyxy), class: `crop-box crop-${box.status}` })));
  setAttributes(frame, { "data-drawn": true });
  if (image === undefined) {
    sheet.append(html("div", { class: "crop-image" }), picture);
    frame.replaceChildren(sheet);
    return;
  }
  sheet.append(picture);
  frame.replaceChildren(...(image ? [cropPicture(image, region, size)] : []), sheet);
  sheet.classList.add("crop-clear");
}
