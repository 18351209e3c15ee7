/** How a page of the comparison is put together from what Python sends. */

import { withCurrent } from "../shared/window.js";

/** @import { ComparePayload, PairListItem, PairPageItem, PairWindowPayload } from "../shared/payloads.d.ts" */
/** @import { PutPage } from "../shared/window.js" */
/** @typedef {ComparePayload & {content?: string, strip_name?: string}} NamedPair */

/** @type {PutPage<PairWindowPayload, NamedPair, PairPageItem, PairListItem>} */
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
