/** How a page of the page viewer is put together from what Python sends. */

import { withCurrent } from "../shared/window.js";

/** @import { PagePayload, StripItem, WindowPayload } from "../shared/payloads.d.ts" */
/** @import { PutPage } from "../shared/window.js" */
/** @typedef {PagePayload & {content?: string, strip_name?: string}} NamedPage */

/** @type {PutPage<WindowPayload, NamedPage, PagePayload, StripItem[]>} */
export function putPage(content, items, last, name) {
  return {
    ...content,
    strip: withCurrent(items, content.page),
    strip_first: last.strip_first,
    strip_name: last.strip,
    content: JSON.stringify([name, last.reviewer]),
    selected: null,
    reviewer: last.reviewer ?? "",
    address: last.address,
    visit: last.visit,
  };
}
