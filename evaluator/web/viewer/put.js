/**
 * How a page of the page viewer is put together from what Python sends (`evaluator/drawing/page_window.py` takes it apart).
 */

import { unpackBoxes, withCurrent, withSaid } from "../shared/window.js";

/** @typedef {import("../shared/payloads.d.ts").PagePayload} PagePayload */
/** @typedef {import("../shared/payloads.d.ts").PackedItem} PackedItem */
/** @typedef {import("../shared/payloads.d.ts").StripItem} StripItem */
/** @typedef {PagePayload & {content?: string, strip_name?: string}} NamedPage */

/** @type {import("../shared/window.js").WindowForm<import("../shared/payloads.d.ts").WindowPayload, NamedPage, PackedItem, PagePayload, StripItem[]>} */
export const VIEWED_PAGE = {
  unpack: ({ payload, boxes, labels, sources, outlines }) => ({ ...payload, boxes: unpackBoxes(boxes, labels, sources, outlines) }),
  put: (content, strip, placed, last) => ({
    ...content,
    page: content.page && { ...content.page, image: placed.image ?? null, image_width: placed.image_width ?? 0 },
    mistakes: withSaid(content.mistakes, placed.said),
    strip: withCurrent(strip, placed),
    strip_first: last.strip_first,
    strip_name: last.strip,
    content: placed.content + JSON.stringify(placed.said ?? {}),
    selected: null,
    address: last.address,
    visit: last.visit,
  }),
};
