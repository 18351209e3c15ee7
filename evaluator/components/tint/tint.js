/**
 * One page with the pixels of one cell of a confusion matrix tinted, and the boxes that explain them.
 *
 * The tint is drawn from the rectangles that the count took, in pixels of its raster, so that it is right at any zoom.
 * The page opens at the width of the pane with the pixels in view; plus, minus, 0 and the wheel zoom, dragging and the
 * arrow keys move it. Only a request for a sharper image is sent.
 */

import { toPixels, unionOf } from "../shared/geometry.js";
import { button, html, icon, isPicture, placeOf, setAttributes, svg, textWidth } from "../shared/elements.js";
import { mounting, streamlitComponent } from "../shared/mount.js";
import { MARGIN, fitSheet, inPane, panBy, seenOf, startPlacement, zoomBy } from "../shared/placement.js";
import { listenToPane, moveSheet } from "../shared/sheet.js";
import { areaPath, linePath, placeTags, tagsOf } from "./tags.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { TintEvents, TintPayload } from "../shared/payloads.d.ts" */

const SHARPER_FROM = 1.3;
const CHIP_FONT = "650 12px 'Source Sans', 'Source Sans 3', sans-serif";
/** Distance of the hatching's lines on screen. */
const HATCH = 7;
/** Rectangles that chips try not to hide; more would take longer than the eye sees. */
const MOST_KEPT_CLEAR = 400;
let hatches = 0;

class Tint {
  /** @param {ParentNode & Node} parent @param {Send<TintEvents>} send */
  constructor(parent, send) {
    this.send = send;
    /** @type {TintPayload | null} */
    this.data = null;
    this.place = startPlacement();
    this.asked = 0;
    this.timer = 0;
    this.hatch = `layoutscope-hatch-${(hatches += 1)}`;
    this.image = /** @type {HTMLImageElement} */ (html("img", { class: "tint-image", alt: "", draggable: "false" }));
    this.lines = svg("path", { d: "M0 0V10", class: "tint-hatch" });
    this.pattern = svg("pattern", { id: this.hatch, width: HATCH, height: 10, patternUnits: "userSpaceOnUse" }, this.lines);
    this.fill = svg("path", { class: "tint-fill" });
    this.hatched = svg("path", { fill: `url(#${this.hatch})` });
    this.outline = svg("path", { class: "tint-outline", "vector-effect": "non-scaling-stroke" });
    this.area = svg("svg", { class: "tint-layer tint-area", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("defs", {}, this.pattern), this.fill, this.hatched, this.outline);
    this.boxes = svg("svg", { class: "tint-layer", "aria-hidden": "true" });
    this.chips = html("div", { class: "tint-chips" });
    this.sheet = html("div", { class: "tint-sheet" }, this.image, this.area, this.boxes, this.chips);
    this.problem = html("div", { class: "tint-problem", role: "alert", hidden: true });
    this.caption = html("div", { class: "tint-caption" });
    this.notes = html("div", { class: "tint-notes" });
    this.pane = html("div", { class: "tint-pane", tabindex: "0", role: "application" }, this.sheet, this.problem);
    const tools = html("div", { class: "tint-tools" },
      button("Zoom out", {}, () => this.zoom(1 / 1.4, null), icon("minus")),
      button("Whole page", { class: "tint-fit" }, () => this.zoom(0, null), "Whole page"),
      button("Zoom in", {}, () => this.zoom(1.4, null), icon("plus")));
    this.root = html("div", { class: "layoutscope-tint" }, html("div", { class: "tint-head" }, this.caption, tools), this.pane, this.notes);
    parent.append(this.root);
    listenToPane(this.pane, {
      move: () => {},
      click: () => this.pane.focus({ preventScroll: true }),
      zoom: (factor, at) => this.zoom(factor, at),
      pan: (dx, dy) => this.pan(dx, dy),
      enlarged: () => this.place.zoom > 1,
    });
    this.pane.addEventListener("keydown", (event) => this.press(event));
    this.image.addEventListener("load", () => this.pane.classList.remove("waiting"));
    this.image.addEventListener("error", () => this.withoutImage());
    this.watch = new ResizeObserver(() => this.measure());
    this.watch.observe(this.pane);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const step = 60;
    /** @type {Record<string, () => void>} */
    const actions = {
      "+": () => this.zoom(1.4, null), "=": () => this.zoom(1.4, null), "-": () => this.zoom(1 / 1.4, null), 0: () => this.zoom(0, null),
      ArrowUp: () => this.pan(0, step), ArrowDown: () => this.pan(0, -step), ArrowLeft: () => this.pan(step, 0), ArrowRight: () => this.pan(-step, 0),
    };
    const action = actions[event.key];
    if (!action) return;
    action();
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {number} factor 0 for the whole page @param {[number, number] | null} at */
  zoom(factor, at) {
    if (!this.data) return;
    zoomBy(this.place, factor, this.data.page, at);
    this.moved();
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    if (!this.data) return;
    panBy(this.place, dx, dy, this.data.page);
    this.moved();
  }

  measure() {
    const first = this.place.pane.width === 0;
    this.place.pane = { width: this.pane.clientWidth, height: this.pane.clientHeight };
    if (!this.data || !this.place.pane.width) return;
    if (first) this.bring();
    else {
      fitSheet(this.place, this.data.page);
      this.moved();
    }
  }

  /** The page at the width of the pane, with the tinted pixels in its middle. */
  bring() {
    if (!this.data || !this.place.pane.width) return;
    const { page, tint } = this.data;
    this.place.zoom = 1;
    fitSheet(this.place, page);
    const wide = (this.place.pane.width - 2 * MARGIN) / this.place.sheet.width;
    this.place.zoom = Math.max(1, Math.min(wide, 12));
    this.place.x = MARGIN;
    fitSheet(this.place, page);
    if (tint.rectangles.length) {
      const [width, height] = tint.raster;
      const [x1, y1, x2, y2] = unionOf(tint.rectangles);
      const [, top, , bottom] = inPane(this.place, [x1 / width, y1 / height, x2 / width, y2 / height]);
      this.place.y += this.place.pane.height / 2 - (bottom - top > this.place.pane.height - 40 ? top + this.place.pane.height / 2 - 30 : (top + bottom) / 2);
      fitSheet(this.place, page);
    }
    this.placeProblem();
    this.moved();
  }

  /** What went wrong is shown where the tinted pixels are not. */
  placeProblem() {
    const { rectangles, raster } = /** @type {TintPayload} */ (this.data).tint;
    const middle = rectangles.length ? rectangles.reduce((sum, [, y1, , y2]) => sum + y1 + y2, 0) / 2 / rectangles.length / raster[1] : 1;
    const [, y] = inPane(this.place, [0, middle, 0, middle]);
    this.problem.classList.toggle("low", y < this.place.pane.height / 2);
  }

  /** After every change of size or place. */
  moved() {
    if (!this.data) return;
    const { page, tint } = this.data;
    moveSheet(this.sheet, this.place);
    const scale = tint.raster[0] / this.place.sheet.width;
    setAttributes(this.pattern, { patternTransform: `rotate(45) scale(${scale})` });
    this.arrange();
    const wanted = this.place.sheet.width * (window.devicePixelRatio || 1);
    if (page.image && wanted > SHARPER_FROM * page.image_width && wanted > SHARPER_FROM * this.asked) {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => {
        this.asked = wanted;
        this.send("sharper", { width: Math.ceil(wanted) });
      }, 250);
    }
  }

  arrange() {
    if (!this.data) return;
    const { sheet } = this.place;
    const { boxes, rectangles, raster } = this.data.tint;
    const tags = tagsOf(boxes);
    const scaled = tags.map(({ xyxy, text }) => ({
      xyxy: toPixels(xyxy, sheet),
      width: Math.min(220, Math.ceil(textWidth(text, CHIP_FONT)) + 14),
    }));
    const cell = { width: sheet.width / raster[0], height: sheet.height / raster[1] };
    const tinted = rectangles.slice(0, MOST_KEPT_CLEAR).map((each) => toPixels(each, cell));
    this.chips.replaceChildren(...placeTags(scaled, seenOf(this.place), tinted).flatMap((rect, at) => {
      if (!rect) return [];
      const { side, text } = tags[at];
      const chip = html("div", { class: `tint-chip tint-chip-${side}` }, text);
      chip.style.transform = `translate(${Math.round(rect[0])}px, ${Math.round(rect[1])}px)`;
      chip.style.width = `${Math.round(rect[2] - rect[0])}px`;
      return [chip];
    }));
  }

  withoutImage() {
    if (!this.data?.page.image) return;
    this.data.page.image = null;
    this.data.page.problem ??= { title: "The page image cannot be shown", text: "The browser could not decode it.", fix: "Reload the view." };
    this.draw();
  }

  /** @param {TintPayload} data */
  update(data) {
    const before = this.data?.key;
    this.data = data;
    if (before !== data.key) this.asked = 0;
    this.draw();
    if (before !== data.key) this.bring();
    else if (this.place.pane.width) this.moved();
  }

  draw() {
    const { page, tint, name, caption, height } = /** @type {TintPayload} */ (this.data);
    const image = page.image && isPicture(page.image) ? page.image : null;
    this.image.hidden = !image;
    if (image && this.image.getAttribute("src") !== image) {
      this.pane.classList.add("waiting");
      this.image.src = image;
    }
    this.caption.textContent = caption;
    this.pane.style.setProperty("--tint-height", `${height ?? 470}px`);
    setAttributes(this.pane, { "aria-label": `${name}. ${caption}. Plus and minus zoom, arrow keys move.` });
    setAttributes(this.area, { viewBox: `0 0 ${tint.raster[0]} ${tint.raster[1]}` });
    const area = areaPath(tint.rectangles);
    setAttributes(this.fill, { d: area });
    setAttributes(this.hatched, { d: area });
    setAttributes(this.outline, { d: linePath(tint.outline) });
    this.boxes.replaceChildren(...tint.boxes.map(({ xyxy: r, side }) => svg("rect", { ...placeOf(r), class: `tint-box tint-box-${side}` })));
    const { problem } = page;
    this.problem.hidden = !problem;
    if (problem) {
      this.problem.replaceChildren(html("b", {}, problem.title), html("p", {}, problem.text), html("p", {}, problem.fix));
    }
    const left = tint.left_out ? [`${tint.left_out} more boxes are not drawn.`] : [];
    this.notes.replaceChildren(...[...left, ...page.notes].map((note) => html("div", {}, note)));
  }

  stop() {
    window.clearTimeout(this.timer);
    this.watch.disconnect();
    this.root.remove();
  }
}

export default streamlitComponent(mounting(Tint));
