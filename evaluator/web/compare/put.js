/**
 * How a page of the comparison is put together from what Python sends (`evaluator/drawing/page_window.py` takes it apart).
 */

import { unpackBoxes, withCurrent, withSaid } from "../shared/window.js";

/** @typedef {import("../shared/payloads.d.ts").ComparePayload} ComparePayload */
/** @typedef {import("../shared/payloads.d.ts").PackedPairItem} PackedPairItem */
/** @typedef {import("../shared/payloads.d.ts").PackedPaneItem} PackedPaneItem */
/** @typedef {import("../shared/payloads.d.ts").PaneItem} PaneItem */
/** @typedef {import("../shared/payloads.d.ts").PairListItem} PairListItem */
/** @typedef {import("../shared/payloads.d.ts").PageItem} PageItem */
/** @typedef {import("../shared/payloads.d.ts").DifferenceItem} DifferenceItem */
/** @typedef {ComparePayload & {content?: string, strip_name?: string}} NamedPair */

/** @param {PackedPaneItem} packed @returns {PaneItem} with its boxes */
function unpackPane({ pane, boxes, labels, sources, outlines }) {
  const plain = unpackBoxes(boxes.map(([row]) => row), labels, sources, outlines);
  return { ...pane, boxes: plain.map((box, at) => ({ ...box, kind: boxes[at][1], full: boxes[at][2], chip: boxes[at][3], mate: boxes[at][4] })) };
}

/** @type {import("../shared/window.js").WindowForm<import("../shared/payloads.d.ts").PairWindowPayload, NamedPair, PackedPairItem, {page: PageItem, panes: PaneItem[], differences: DifferenceItem[]}, PairListItem>} */
export const COMPARED_PAGE = {
  unpack: ({ page, panes, differences }) => ({ page, panes: panes.map(unpackPane), differences }),
  put: (content, list, placed, last) => ({
    ...list,
    page: { ...content.page, image: placed.image ?? null, image_width: placed.image_width ?? 0 },
    panes: content.panes.map((pane) => ({ ...pane, mistakes: withSaid(pane.mistakes, placed.said, pane.letter) })),
    differences: content.differences,
    strip: withCurrent(list.strip, placed),
    strip_name: last.strip,
    content: placed.content + JSON.stringify(placed.said ?? {}),
    mode: last.mode,
    selected: null,
    summoned: last.summoned ?? false,
    visit: last.visit,
    empty: null,
    address: last.address,
  }),
};
