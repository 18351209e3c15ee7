/** The frame of a card: a crop of a page with the boxes of the card over it. */

import { html, outlineOf, placeOf, setAttributes, svg } from "../shared/elements.js";

/** @import { CardItem, CropItem, Rect } from "../shared/payloads.d.ts" */

/** Boxes above which the lines are thin, so that they leave the page to be seen. */
const MANY = 24;
const ORDER = ["truth", "TP", "FN", "FP"];

/** @param {HTMLElement} node @param {CardItem["boxes"]} boxes @param {CropItem} crop */
export function fillCrop(node, boxes, crop) {
  const [x1, y1, x2, y2] = crop.region;
  const frame = html("div", { class: "gl-sheet" });
  // The frame has a shape of its own; a crop of another shape is centred in it, whole.
  setAttributes(frame, { style: `width:min(100cqw, ${100 * crop.aspect}cqh);aspect-ratio:${crop.aspect}` });
  if (crop.image) frame.append(html("img", { src: crop.image, alt: "", draggable: "false" }));
  const layer = svg("svg", { width: "100%", height: "100%" });
  for (const box of [...boxes].sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))) {
    const inside = box.xyxy.map((value, side) => (side % 2 ? (value - y1) / (y2 - y1) : (value - x1) / (x2 - x1)));
    layer.append(svg("rect", { class: `gl-box gl-box-${box.status}`, ...placeOf(/** @type {Rect} */ (inside)) }));
    if (box.outline) layer.append(outlineOf(box.outline, `gl-box gl-outline gl-box-${box.status}`, crop.region));
  }
  frame.append(layer);
  if (crop.problem) frame.append(html("p", {}, crop.problem));
  node.replaceChildren(frame);
  node.classList.add("shown");
  node.classList.toggle("gl-many", boxes.length > MANY);
}
