/** Size and place of the comparison: where its pages lie when the pane or the page is another one. */

import { html, setAttributes } from "../shared/elements.js";

/** @import { Comparison } from "./compare.js" */

/**
 * Places both pages in panes that may have another size.
 * @param {Comparison} view @param {boolean} anew show the page as on its first look, if the reader has not moved it
 * @param {boolean} [measured] the panes are as large as they were: asking lays everything out, and their observer asks when they change
 */
export function placePages(view, anew, measured = false) {
  const { pair, data } = view;
  if (!measured) view.fillWindow();
  const before = view.place.pane;
  if (!data?.page || !(measured || pair.measure())) return;
  if (!measured) view.font = `650 12px ${getComputedStyle(view.root).fontFamily}`;
  const { width, height } = view.place.pane;
  const other = before.width !== width || before.height !== height;
  if (view.untouched && (anew || other)) {
    pair.start(pair.firstZoom());
    const wanted = view.selected ? view.state.box(view.selected)?.xyxy : data.differences[0]?.xyxy;
    if (wanted) pair.show(wanted);
  } else {
    pair.fit();
  }
  afterMove(view);
}

/** What follows each zoom and pan. @param {Comparison} view */
export function afterMove(view) {
  const { fit, zoomOut } = view.tools;
  const whole = view.place.zoom === 1;
  const percent = Math.round(view.pair.scale() * 100);
  fit.replaceChildren(`${percent} %`, html("span", { class: "wide-words" }, ", linked"));
  setAttributes(fit, { title: whole ? "Page width (0)" : "Whole page (0)", "aria-label": `Zoom ${percent} %, both panes` });
  zoomOut.disabled = whole;
  view.scheduleChips();
  if (view.hover !== null || view.selected !== null) view.showMark();
  view.scheduleSharper();
}
