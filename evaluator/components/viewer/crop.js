/** The small pictures of the list: a cut of the page image with some boxes on it. */

import { cropRegion, overlapOf } from "../shared/geometry.js";
import { html, placeOf, setAttributes, svg } from "../shared/elements.js";
import { largeFirst } from "../shared/layers.js";
import { percentOf } from "../shared/words.js";

/** @import { Size } from "../shared/geometry.js" */
/** @import { BoxItem, Rect } from "../shared/payloads.d.ts" */

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
 * @param {HTMLElement} frame @param {BoxItem[]} shown all visible boxes @param {BoxItem[]} own @param {Size} page @param {Size} size of the frame
 * @param {ImageBitmap | null} [image] the page; null for an empty sheet; undefined: the style sheet's picture shows
 */
export function drawCrop(frame, shown, own, page, size, image) {
  const region = cropRegion(own.map((box) => box.xyxy), page, size);
  const width = region[2] - region[0];
  const height = region[3] - region[1];
  const sheet = html("div", { class: "crop-sheet" });
  Object.assign(sheet.style, {
    left: percentOf(-region[0] / width),
    top: percentOf(-region[1] / height),
    width: percentOf(1 / width),
    height: percentOf(1 / height),
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

/** Decodes beside the main thread, which it would hold up otherwise. @param {string} source @returns {Promise<ImageBitmap>} */
export async function decoded(source) {
  const image = new Image();
  image.src = source;
  await image.decode();
  return createImageBitmap(image);
}
