/**
 * How a page of the comparison is put together from what Python sends.
 */

import { withCurrent } from "../shared/window.js";

/** @typedef {import("../shared/payloads.d.ts").ComparePayload} ComparePayload */
/** @typedef {ComparePayload & {content?: string, strip_name?: string}} NamedPair */

/** @type {import("../shared/window.js").PutPage<import("../shared/payloads.d.ts").PairWindowPayload, NamedPair, import("../shared/payloads.d.ts").PairPageItem, import("../shared/payloads.d.ts").PairListItem>} */
export function putPair(content, items, last, name) {
  return {
    ...items,
    ...content,
    strip: withCurrent(items.strip, content.page),
    strip_name: last.strip,
    content: name,
    mode: last.mode,
    selected: null,
    summoned: last.summoned ?? false,
    visit: last.visit,
    empty: null,
    address: last.address,
  };
}
