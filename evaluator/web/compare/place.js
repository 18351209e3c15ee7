/**
 * Size and place of the comparison: how tall it is, where its pages stand, when a sharper image is wanted.
 */

import { setAttributes } from "../shared/elements.js";

/** @typedef {import("./compare.js").Comparison} Comparison */

const LEAST_PAIR_HEIGHT = 470;
const SHARPER_WHEN = 1.3;
/** What Streamlit's own bar covers at the top of the window. */
export const TOP_BAR = 38;

/** Down to the lower edge of the window, or over all of it. @param {Comparison} view */
export function fillWindow(view) {
  const host = view.host();
  let scroller = host.parentElement;
  while (scroller && !/auto|scroll/.test(getComputedStyle(scroller).overflowY)) scroller = scroller.parentElement;
  const scrolled = scroller ? scroller.scrollTop : window.scrollY;
  const rest = window.innerHeight - host.getBoundingClientRect().top - scrolled - 14;
  const height = view.tall ? window.innerHeight - TOP_BAR - 10 : rest;
  view.root.style.setProperty("--viewer-height", `${Math.max(LEAST_PAIR_HEIGHT, Math.floor(height))}px`);
}

/**
 * Places both pages in panes that may have another size.
 * @param {Comparison} view @param {boolean} anew show the page as on its first look, if the reader has not moved it
 */
export function placePages(view, anew) {
  const { panes, data } = view;
  fillWindow(view);
  const before = panes.place.pane;
  if (!data?.page || !panes.measure()) return;
  view.font = `650 12px ${getComputedStyle(view.root).fontFamily}`;
  const { width, height } = panes.place.pane;
  const other = before.width !== width || before.height !== height;
  if (view.untouched && (anew || other)) {
    panes.start(panes.firstZoom());
    const wanted = view.selected ? view.known(view.selected)?.xyxy : data.differences[0]?.xyxy;
    if (wanted) panes.show(wanted);
  } else {
    panes.settle();
  }
  afterMove(view);
}

/** What follows each zoom and pan. @param {Comparison} view */
export function afterMove(view) {
  const whole = view.panes.place.zoom === 1;
  const percent = Math.round(view.panes.scale() * 100);
  view.fit.textContent = `${percent} %, linked`;
  setAttributes(view.fit, { title: whole ? "Page width (0)" : "Whole page (0)", "aria-label": `Zoom ${percent} %, both panes` });
  view.zoomOut.disabled = whole;
  for (const half of view.panes.halves()) half.pane.root.classList.toggle("enlarged", !whole);
  view.scheduleChips();
  if (view.hover !== null || view.selected !== null) view.showMark();
  view.wishes.sharper.soon(() => askSharper(view));
}

/** @param {Comparison} view */
function askSharper(view) {
  const page = view.data?.page;
  if (!page?.image) return;
  const needed = Math.ceil(view.panes.place.sheet.width * (window.devicePixelRatio || 1));
  if (needed <= SHARPER_WHEN * Math.max(page.image_width, view.askedWidth)) return;
  view.askedWidth = needed;
  view.send("sharper", { document: page.document, index: page.index, width: needed });
}
