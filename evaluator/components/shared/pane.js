/**
 * One pane with a page: the sheet with the page image, what lies on it, the pointer over it.
 *
 * Where the sheet lies is a placement (`placement.js`), which several panes may share.
 */

import { PageContent } from "./content.js";
import { button, html, pageImage, svg, viewLink } from "./elements.js";
import { factsOf } from "./facts.js";
import { arrangeChips, drawBoxes, drawMarked, drawMarkedChip } from "./layers.js";
import { inPane, seenOf, sheetInPane } from "./placement.js";
import { listenToPane, moveSheet } from "./sheet.js";
import { count, plural } from "./words.js";
import { placeBeside, unionOf } from "./geometry.js";

/** @import { ChipPlace } from "./geometry.js" */
/** @import { BoxLook } from "./layers.js" */
/** @import { BoxItem, LimitItem, ProblemItem, Rect } from "./payloads.d.ts" */
/** @import { Placement } from "./placement.js" */
/** @import { PaneActions } from "./sheet.js" */

/** A page in its pane. @template {BoxItem} B */
export class PagePane {
  /** @param {BoxLook<B>} look @param {PaneActions} actions */
  constructor(look, actions) {
    this.look = look;
    this.content = /** @type {PageContent<B>} */ (new PageContent());
    /** @type {Map<string, SVGElement>} */
    this.rects = new Map();
    /** @type {Map<string, HTMLElement>} */
    this.chipNodes = new Map();
    /** @type {ChipPlace[]} */
    this.chipPlaces = [];
    const overlay = (/** @type {string} */ more = "") => svg("svg", { class: `overlay${more}`, "aria-hidden": "true" });
    this.image = pageImage();
    this.boxes = svg("svg", { class: "overlay", role: "group" });
    this.chips = html("div", { class: "chips" });
    this.marked = overlay();
    this.markedChips = html("div", { class: "chips" });
    this.lost = overlay(" overlay-lost");
    this.cuts = overlay();
    this.foreign = overlay();
    this.sheet = html("div", { class: "sheet" }, this.image, this.lost, this.boxes, this.foreign, this.marked, this.cuts, this.chips, this.markedChips);
    this.tooltip = html("div", { class: "tooltip", role: "status" });
    this.notes = html("div", { class: "notes" });
    this.problem = html("div", { class: "problem", role: "alert", hidden: true });
    this.root = html("div", { class: "pane", tabindex: "0", role: "application" }, this.sheet, this.notes, this.problem, this.tooltip, html("div", { class: "bar" }));
    listenToPane(this.root, actions);
  }

  /** @param {PageContent<B>} content drawn anew @param {boolean} [byOutline] outlines are compared, not boxes */
  fill(content, byOutline = false) {
    this.content = content;
    this.boxes.classList.toggle("by-outline", byOutline);
    ({ rects: this.rects, chips: this.chipNodes } = drawBoxes(this.boxes, this.chips, [...content.boxes.values()], this.look));
    this.chips.classList.remove("ready");
  }

  /** @param {HTMLImageElement | null} image decoded @returns {boolean} whether it is another one */
  showImage(image) {
    const old = this.image;
    if (image === old) return false;
    if (!image && !old.hasAttribute("src")) {
      old.hidden = true;
      return false;
    }
    // The old one stays whole: its page may be turned to again.
    this.image = image ?? pageImage({ hidden: true });
    old.replaceWith(this.image);
    return true;
  }

  /** @param {ProblemItem | null} problem why the page has no picture */
  showProblem(problem) {
    this.problem.hidden = problem === null;
    const files = problem?.in_files ? viewLink("files") : null;
    this.problem.replaceChildren(...(problem ? [
      html("div", {}, html("b", {}, problem.title), html("p", {}, problem.text), html("p", { class: "muted" }, problem.fix)),
      files && button("Open Files", { class: "plain" }, () => files.click(), "Open Files"),
    ].filter((part) => part !== null) : []));
  }

  /** Puts the sheet at its placement. @param {Placement} place */
  move(place) {
    moveSheet(this.sheet, place);
    this.root.classList.toggle("enlarged", place.zoom !== 1);
  }

  /** @param {B[]} visible @param {Placement} place @param {string} font a place for every chip that has room */
  arrange(visible, place, font) {
    this.chipPlaces = arrangeChips(this.chipNodes, visible, place.sheet, font, this.look, seenOf(place));
    this.chips.classList.add("ready");
  }

  /**
   * Marks a box with what belongs to it.
   * @param {B | null} box @param {Placement} place @param {string} font @param {(box: B) => B} [drawn] the box as it is drawn
   * @returns {B[]} the marked boxes
   */
  mark(box, place, font, drawn = (each) => each) {
    const others = box ? this.content.companionsOf(box) : [];
    drawMarked(this.marked, box && drawn(box), others.map(drawn), place.sheet);
    this.markChip(box, place, font);
    return box ? [box, ...others] : [];
  }

  /** @param {B | null} box @param {Placement} place @param {string} font */
  markChip(box, place, font) {
    drawMarkedChip(this.markedChips, box, place.sheet, font, this.chipPlaces, this.look);
  }

  /** @param {B | null} box null hides the tooltip */
  writeFacts(box) {
    this.tooltip.classList.toggle("shown", box !== null);
    if (!box) return;
    const { head, label, wrong, numbers, more, source } = factsOf(box, this.content);
    const lines = [html("div", { class: "tip-head" }, html("b", {}, head), ` \u00b7 ${label}`)];
    if (wrong) lines.push(html("div", { class: "tip-line" }, wrong));
    if (numbers.length) {
      const parts = numbers.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value)));
      lines.push(html("dl", { class: "tip-numbers" }, ...parts));
    }
    if (more) lines.push(html("div", { class: "tip-line" }, more));
    if (source) lines.push(html("div", { class: "tip-source" }, source));
    this.tooltip.replaceChildren(...lines);
  }

  /**
   * Places the tooltip beside the marked boxes.
   * @param {B[]} marked @param {{box: B, weight: number}[]} around boxes that the tooltip should not hide
   * @param {Placement} place @param {[number, number] | null} pointer @param {{rect: Rect, weight: number}[]} more in pixels of the pane
   */
  placeFacts(marked, around, place, pointer, more = []) {
    const others = around.map(({ box, weight }) => ({ rect: inPane(place, box.xyxy), weight }));
    const [left, top, right, bottom] = unionOf(marked.map((each) => inPane(place, each.xyxy)));
    const { pane } = place;
    /** @type {Rect} */
    const visible = [Math.max(0, left), Math.max(0, top), Math.min(pane.width, right), Math.min(pane.height, bottom)];
    const size = { width: this.tooltip.offsetWidth, height: this.tooltip.offsetHeight };
    const [x, y] = placeBeside(visible, size, pane, pointer, [...others, ...more], sheetInPane(place));
    this.tooltip.style.transform = `translate(${x}px, ${y}px)`;
  }
}

/** @param {string[]} texts @param {{letter?: string, limit: LimitItem | null}[]} drawn @returns {HTMLElement[]} warnings above a page */
export function warningLines(texts, drawn) {
  const limits = drawn.flatMap(({ letter, limit }) => limit
    ? [html("div", { class: "warning warning-calm" }, `${letter ? `${letter}: ` : ""}${count(limit.drawn)} of ${plural(limit.total, "box", "boxes")} drawn`)] : []);
  return [...texts.map((text) => html("div", { class: "warning", title: text }, text)), ...limits];
}
