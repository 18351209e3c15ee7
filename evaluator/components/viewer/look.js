/** How the page viewer draws its boxes and which of them have chips. */

import { chipText } from "../shared/facts.js";

/** @import { BoxLook } from "../shared/layers.js" */
/** @import { BoxItem } from "../shared/payloads.d.ts" */

/** Labels without text to hide: a chip may rather cover these. */
const PICTURES = /picture|figure|image|photo|chart/i;

/** @type {BoxLook<BoxItem>} */
export const VIEWER_LOOK = {
  bands: 1,
  band: () => 0,
  className: (box) => (box.faded ? " faded" : ""),
  hasChip: (box) => !box.faded && box.cause !== "" && (box.status === "FP" || box.status === "FN" || (box.status === "TP" && (box.mistake ?? null) !== null)),
  chip: chipText,
  chipOrder: (a, b) => (a.mistake ?? 1e9) - (b.mistake ?? 1e9) || (a.status === "FP" ? 0 : 1) - (b.status === "FP" ? 0 : 1),
  weight: (box) => (PICTURES.test(box.label) ? 0.2 : 1),
  onOwn: true,
  room: Infinity,
};
