/**
 * Geometry: where boxes, chips, tooltip and crops go.
 *
 * Rectangles are [x1, y1, x2, y2], origin top left. Pure functions: no document, no state.
 * The unit is the caller's (share of the page, or CSS pixels); a function that mixes the two says so.
 */

/** @import { Rect } from "./payloads.d.ts" */
/** @typedef {{width: number, height: number}} Size */

/** @param {Rect} r @returns {number} */
export function areaOf(r) {
  return Math.max(0, r[2] - r[0]) * Math.max(0, r[3] - r[1]);
}

/** @param {Rect} a @param {Rect} b @returns {number} */
export function overlapOf(a, b) {
  const width = Math.min(a[2], b[2]) - Math.max(a[0], b[0]);
  if (width <= 0) return 0;
  const height = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
  return height > 0 ? width * height : 0;
}

/** @param {Rect[]} rects at least one @returns {Rect} */
export function unionOf(rects) {
  return [
    Math.min(...rects.map((r) => r[0])),
    Math.min(...rects.map((r) => r[1])),
    Math.max(...rects.map((r) => r[2])),
    Math.max(...rects.map((r) => r[3])),
  ];
}

/** @param {Rect} r in shares of the page @param {Size} sheet in pixels @returns {Rect} in pixels of the sheet */
export function toPixels(r, sheet) {
  return [r[0] * sheet.width, r[1] * sheet.height, r[2] * sheet.width, r[3] * sheet.height];
}

/** @param {number} value @param {number} low @param {number} high @returns {number} */
export function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

/**
 * Pixels of the pane per unit of the page, so that the whole page shows.
 * @param {Size} page @param {Size} pane @param {number} margin @returns {number}
 */
export function fitScale(page, pane, margin) {
  const width = Math.max(40, pane.width - 2 * margin) / page.width;
  const height = Math.max(40, pane.height - 2 * margin) / page.height;
  return Math.min(width, height);
}

/**
 * Whether two sheets of a shape are larger one above the other than side by side.
 * @param {Size} pane @param {number} aspect width over height @returns {boolean}
 */
export function isLargerStacked({ width, height }, aspect) {
  return Math.min(width, (height / 2) * aspect) > Math.min(width / 2, height * aspect);
}

/**
 * One offset of the sheet in its pane: centred when it fits, else never farther than the margin from an edge.
 * @param {number} offset @param {number} sheet @param {number} pane @param {number} margin @returns {number}
 */
export function clampOffset(offset, sheet, pane, margin) {
  if (sheet <= pane) return Math.round((pane - sheet) / 2);
  return clamp(offset, pane - sheet - margin, margin);
}

/**
 * Boxes under a point, the smallest first, so that a box inside a table can be reached.
 * @template {{xyxy: Rect}} B
 * @param {B[]} boxes @param {number} x @param {number} y @param {number} marginX @param {number} marginY
 * @returns {B[]}
 */
export function boxesAt(boxes, x, y, marginX, marginY) {
  const hits = boxes.filter(({ xyxy: r }) =>
    x >= r[0] - marginX && x <= r[2] + marginX && y >= r[1] - marginY && y <= r[3] + marginY);
  return hits.sort((a, b) => areaOf(a.xyxy) - areaOf(b.xyxy));
}

/**
 * The part of the page that a small picture of some boxes shows.
 * @param {Rect[]} rects shares of the page @param {Size} page @param {Size} frame only its aspect counts
 * @returns {Rect} shares of the page; may reach past the page when the boxes are tall and the frame is wide
 */
export function cropRegion(rects, page, frame) {
  const [x1, y1, x2, y2] = toPixels(unionOf(rects), page);
  const pad = 0.06 * page.width;
  let width = Math.max(x2 - x1 + 2 * pad, 0.36 * page.width);
  let height = Math.max(y2 - y1 + 2 * pad, 0.04 * page.height);
  const aspect = frame.width / frame.height;
  if (width / height < aspect) width = height * aspect;
  else height = width / aspect;
  const place = (/** @type {number} */ middle, /** @type {number} */ length, /** @type {number} */ whole) =>
    length >= whole ? (whole - length) / 2 : clamp(middle - length / 2, 0, whole - length);
  const left = place((x1 + x2) / 2, width, page.width) / page.width;
  const top = place((y1 + y2) / 2, height, page.height) / page.height;
  return [left, top, left + width / page.width, top + height / page.height];
}

/**
 * The two dots of the link between a pair, pushed apart when the boxes nearly coincide.
 * @param {Rect} truth @param {Rect} prediction @param {number} apart least distance in the same unit
 * @returns {{truth: [number, number], prediction: [number, number]}}
 */
export function linkEnds(truth, prediction, apart) {
  const middle = (/** @type {Rect} */ r) => [(r[0] + r[2]) / 2, (r[1] + r[3]) / 2];
  const [tx, ty] = middle(truth);
  const [px, py] = middle(prediction);
  if (Math.hypot(tx - px, ty - py) >= apart) return { truth: [tx, ty], prediction: [px, py] };
  const x = (tx + px) / 2;
  const y = (ty + py) / 2;
  const both = unionOf([truth, prediction]);
  if (both[3] - both[1] > both[2] - both[0] || both[3] - both[1] > 3 * apart) {
    const sign = ty >= py ? 1 : -1;
    return { truth: [x, y + (sign * apart) / 2], prediction: [x, y - (sign * apart) / 2] };
  }
  const sign = tx >= px ? 1 : -1;
  return { truth: [x + (sign * apart) / 2, y], prediction: [x - (sign * apart) / 2, y] };
}

/**
 * @typedef {object} Chip
 * @property {string} key
 * @property {Rect} box
 * @property {number} width
 * @property {number} compactWidth width when only number and status are written
 */
/** @typedef {{key: string, place: string, compact: boolean, rect: Rect | null}} ChipPlace rect null = left out */

/** Share of the sheet that chips may cover before they are written short, and before they are left out. */
const MOST_FULL = 0.12;
const MOST_COMPACT = 0.15;
/** Share of a chip that may lie on other boxes; a chip that would hide more of the page is written short. */
const MOST_HIDING = 0.3;
/** Share of another box from which on a chip hides it: the value of a field, or one line. */
const HIDDEN = 0.25;

export const CHIP_PLACES = ["above-right", "above-left", "below-left", "below-right", "inside-right", "beside-left", "beside-right"];

/** @param {Rect} b @param {string} place @param {number} width @param {number} height @returns {Rect} */
export function chipRect(b, place, width, height) {
  const gap = 2;
  const middle = (b[1] + b[3]) / 2;
  if (place === "beside-left") return [b[0] - width - gap, middle - height / 2, b[0] - gap, middle + height / 2];
  if (place === "beside-right") return [b[2] + gap, middle - height / 2, b[2] + width + gap, middle + height / 2];
  if (place === "above-right") return [b[2] - width, b[1] - height - gap, b[2], b[1] - gap];
  if (place === "above-left") return [b[0], b[1] - height - gap, b[0] + width, b[1] - gap];
  if (place === "below-left") return [b[0], b[3] + gap, b[0] + width, b[3] + gap + height];
  if (place === "below-right") return [b[2] - width, b[3] + gap, b[2], b[3] + gap + height];
  return [b[2] - width - gap, b[1] + gap, b[2] - gap, b[1] + gap + height];
}

/**
 * A place for each chip: the first free one of seven, else the one that hides least; a chip that would cover
 * another chip, or hide another box, is written short, and left out when even that covers a chip. On a sheet too small for
 * so many, all are short, or all are left out until the reader zooms in.
 * @param {Chip[]} chips most important first
 * @param {{key: string, rect: Rect, weight: number}[]} taken boxes to keep clear, and how much it matters; a chip may hide its own
 * @param {Rect} bounds the sheet
 * @param {number} height
 * @param {Rect} [seen] the part of the sheet that shows: the chip of a box in it is in it too @returns {ChipPlace[]}
 */
export function placeChips(chips, taken, bounds, height, seen = bounds) {
  const rowHeight = 48;
  /** @typedef {{key: string, rect: Rect, weight: number}} Taken */
  /** @type {Map<number, Taken[]>} */
  const boxRows = new Map();
  /** @type {Map<number, Taken[]>} */
  const chipRows = new Map();
  const rowsOf = (/** @type {Rect} */ r) => [Math.floor(r[1] / rowHeight), Math.floor(r[3] / rowHeight)];
  const add = (/** @type {Map<number, Taken[]>} */ rows, /** @type {Taken} */ one) => {
    const [first, last] = rowsOf(one.rect);
    for (let row = first; row <= last; row += 1) {
      const list = rows.get(row);
      if (list) list.push(one);
      else rows.set(row, [one]);
    }
  };
  const covered = (/** @type {Map<number, Taken[]>} */ rows, /** @type {Rect} */ r, /** @type {string | null} */ own) => {
    const [first, last] = rowsOf(r);
    let sum = 0;
    for (let row = first; row <= last; row += 1) {
      for (const { key, rect, weight } of rows.get(row) ?? []) if (key !== own) sum += weight * overlapOf(r, rect);
    }
    return sum;
  };
  // How many other boxes a chip hides; one that is less important than a chip, such as a picture, may be hidden.
  const hides = (/** @type {Rect} */ r, /** @type {string} */ own) => {
    const [first, last] = rowsOf(r);
    /** @type {Set<Taken>} */
    const hidden = new Set();
    for (let row = first; row <= last; row += 1) {
      for (const one of boxRows.get(row) ?? []) {
        if (one.key !== own && one.weight >= 1 && overlapOf(r, one.rect) > HIDDEN * areaOf(one.rect)) hidden.add(one);
      }
    }
    return hidden.size;
  };
  for (const one of taken) add(boxRows, one);
  const share = (/** @type {"width" | "compactWidth"} */ side) =>
    (chips.reduce((sum, chip) => sum + chip[side], 0) * height) / Math.max(1, areaOf(bounds));
  const sizes = share("width") <= MOST_FULL ? [false, true] : share("compactWidth") <= MOST_COMPACT ? [true] : [];

  return chips.map(({ key, box, width, compactWidth }) => {
    const inside = overlapOf(box, seen) > 0 ? seen : bounds;
    for (const compact of sizes) {
      /** @type {{place: string, rect: Rect, cost: number} | null} */
      let best = null;
      for (const place of CHIP_PLACES) {
        const rect = chipRect(box, place, compact ? compactWidth : width, height);
        if (overlapOf(rect, inside) < areaOf(rect) - height) continue;
        if (covered(chipRows, rect, null) > 1) continue;
        const own = place === "inside-right" ? overlapOf(rect, box) : 0;
        const hidden = hides(rect, key) + (own > HIDDEN * areaOf(box) ? 1 : 0);
        const cost = covered(boxRows, rect, key) + 0.5 * own + hidden * (MOST_HIDING * areaOf(rect) + 1);
        if (!best || cost < best.cost - 1) best = { place, rect, cost };
        if (cost < 1) break;
      }
      if (best && !compact && best.cost > MOST_HIDING * areaOf(best.rect)) continue;
      if (best) {
        add(chipRows, { key, rect: best.rect, weight: 1 });
        return { key, place: best.place, compact, rect: best.rect };
      }
    }
    return { key, place: "inside-right", compact: true, rect: null };
  });
}

/**
 * Where the tooltip goes: beside its boxes, inside the pane, off the pointer, over paper or pane rather than over boxes.
 * @param {Rect} target @param {Size} size @param {Size} pane @param {[number, number] | null} pointer
 * @param {{rect: Rect, weight: number}[]} others boxes that it should not hide @param {Rect} sheet
 * @returns {[number, number]} left and top, all in pixels of the pane
 */
export function placeBeside(target, size, pane, pointer, others, sheet) {
  const gap = 14;
  const edge = 8;
  const right = pane.width - size.width - edge;
  const bottom = pane.height - size.height - edge;
  const middle = (target[1] + target[3]) / 2 - size.height / 2;
  /** @type {[number, number][]} */
  const candidates = [
    [target[2] + gap, middle],
    [target[0], target[3] + gap],
    [target[0], target[1] - gap - size.height],
    [target[0] - gap - size.width, middle],
    [sheet[2] + gap, middle],
    [sheet[0] - gap - size.width, middle],
    [right, bottom],
    [edge, bottom],
    [right, edge],
    [edge, edge],
  ];
  let best = candidates[0];
  let least = Infinity;
  for (const [left, top] of candidates) {
    const x = clamp(left, edge, Math.max(edge, right));
    const y = clamp(top, edge, Math.max(edge, bottom));
    /** @type {Rect} */
    const rect = [x, y, x + size.width, y + size.height];
    const hit = pointer && pointer[0] > x - 12 && pointer[0] < rect[2] + 12 && pointer[1] > y - 12 && pointer[1] < rect[3] + 12;
    const away = Math.hypot(Math.max(0, x - target[2], target[0] - rect[2]), Math.max(0, y - target[3], target[1] - rect[3]));
    const hidden = others.reduce((sum, other) => sum + other.weight * overlapOf(rect, other.rect), 0);
    const cost = 4 * overlapOf(rect, target) + hidden + 20 * away + (hit ? 1e7 : 0);
    if (cost < least) {
      least = cost;
      best = [x, y];
    }
  }
  return [Math.round(best[0]), Math.round(best[1])];
}
