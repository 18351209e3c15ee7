/**
 * The comparison of two models on the page: filters, list of pages, two linked panes, key line.
 *
 * Zoom, pan, hover and the next difference stay here; a page turn, a filter, the chosen box, the way to look, a request
 * for a sharper image and the way to Pages are sent.
 */

import { html } from "../shared/elements.js";
import { boxName } from "../shared/facts.js";
import { PicturesAhead } from "../shared/ahead.js";
import { hostOf } from "../shared/focus.js";
import { fold, foldInto } from "../shared/fold.js";
import { helpButton, keyGroups, makeHelp } from "../shared/key_help.js";
import { mounting, streamlitComponent } from "../shared/mount.js";
import { stackAt } from "../shared/placement.js";
import { Debounced } from "../shared/requests.js";
import { PageWindow } from "../shared/window.js";
import { WindowedView } from "../shared/windowed_view.js";
import { PairJudging } from "./judging.js";
import { COMPARE_ACTIONS, COMPARE_HELP, COMPARE_LINE } from "./keys.js";
import { pressSegment } from "./list.js";
import { PairOfPanes } from "./panes.js";
import { PairState, putPair } from "./state.js";
import { MODES, makeCompareToolbar } from "./toolbar.js";
import { stepDifference } from "./walk.js";
import { showAskedPage, writeCauses, writeDifference, writeFilters, writeHidden, writeList, writePanes } from "./words.js";
import { centreRow, walkRows } from "../shared/rows.js";
import { actVerdict, verdictKey } from "../viewer/verdict.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { CompareEvents, ComparePayload, DifferenceItem, PairWindowPayload } from "../shared/payloads.d.ts" */
/** @import { ModelPane } from "./panes.js" */
/** @import { NamedPair } from "./state.js" */

const LEAST_HEIGHT = 594;
/** Pixels of a window that has no room for two pages. */
const ONE_PANE = 900;
const MODE_REST = 400;

const comparedPages = new PageWindow(putPair);
const comparedPictures = new PicturesAhead(2);

/** @extends {WindowedView<PairWindowPayload, ComparePayload, CompareEvents>} */
export class Comparison extends WindowedView {
  /** @param {ParentNode & Node} parent @param {Send<CompareEvents>} send */
  constructor(parent, send) {
    super(COMPARE_ACTIONS, send, comparedPages, comparedPictures);
    this.state = new PairState();
    this.visit = "";
    this.untouched = true;
    /** @type {string | null} the chosen box at which the end of all differences was said */
    this.ended = null;
    this.mode = "side";
    this.sentMode = "";
    /** @type {ModelPane | null} */
    this.under = null;
    this.requests.mode = new Debounced(MODE_REST);
    this.pair = new PairOfPanes(this);
    this.panes = this.pair.both;
    this.tools = makeCompareToolbar(this);
    this.causesHead = html("div", { class: "net-head" });
    this.causes = html("nav", { class: "cause-list", "aria-label": "Causes" });
    this.listHead = html("div", { class: "net-head" });
    this.listPlace = html("span", { class: "muted" });
    this.list = html("nav", { class: "net-list", "aria-label": "Pages" });
    this.warnings = html("div", { class: "warnings" });
    this.message = html("div", { class: "pair-message", hidden: true });
    this.notes = html("div", { class: "notes pair-notes" });
    this.sentence = html("div", { class: "pair-said muted" });
    this.judging = new PairJudging(this);
    this.lists = html("div", { class: "pair-lists" }, this.causesHead, this.causes, this.listHead, this.list, this.judging.verdict.root);
    foldInto(this.lists, this.tools.opener);
    this.work = html("div", { class: "pair-work" },
      this.lists, ...this.pair.nodes, this.notes, this.message);
    this.help = makeHelp("Keys of the comparison", COMPARE_HELP);
    const groups = keyGroups(COMPARE_LINE);
    this.verdictKey = groups[COMPARE_LINE.findIndex((each) => each.keys[0] === "1")];
    this.keys = html("div", { class: "key-line" }, ...groups, helpButton(() => this.openHelp()));
    this.root.classList.add("layoutscope-compare");
    this.root.append(this.tools.root, this.warnings, this.work, html("div", { class: "pair-foot" }, this.sentence, this.keys), this.help, this.spoken);
    for (const list of [this.causes, this.list]) list.addEventListener("keydown", (event) => this.walkList(list, event));
    this.listen(parent, LEAST_HEIGHT);
  }

  // ---- data -------------------------------------------------------------------------------------------------------

  /** @override @param {NamedPair} data @param {HTMLImageElement[]} images decoded, one for each pane, or none */
  present(data, images) {
    const { page } = data;
    // The way to look is the reader's own until an address asks for another one.
    const asked = data.mode !== this.data?.mode && data.mode !== this.sentMode && !this.requests.mode.waits;
    const summoned = data.summoned && data.visit !== this.visit;
    this.visit = data.visit;
    // Without a page there is nothing to judge.
    if (this.verdictKey) this.verdictKey.hidden = !data.verdicts;
    const turned = this.accept(data, summoned);
    if (asked) this.setMode(data.mode, true);
    // What is measured and what scrolls comes before what is drawn: it lays out all that was changed until then.
    this.fillWindow();
    writeFilters(this);
    writeCauses(this);
    writeList(this);
    this.panes.forEach((pane, order) => pane.showImage(images[order] ?? null));
    if (turned) this.untouched = true;
    const contentText = data.content ?? JSON.stringify([page && { ...page, image: null, image_width: 0 }, data.panes, data.differences]);
    const changed = turned || contentText !== this.contentText;
    this.contentText = contentText;
    if (changed) this.takeContent(data);
    if (page) this.pair.page = this.pageSize();
    if (changed || summoned) this.placePages(true, this.place.pane.width > 0);
    if (summoned) {
      // The keys of the page are wanted next; the button that was pressed is in another component.
      hostOf(this.root).scrollIntoView({ block: "nearest" });
      this.pair.shown()[0].root.focus({ preventScroll: true });
    }
    if (page) data.panes.forEach(({ mistakes }) => this.judging.drafts.resolve(page, mistakes));
    this.turner.arrived(data, turned);
    this.showMark();
  }

  /** @override */
  writeLate() {
    this.judging.write();
  }

  /** @param {ComparePayload} data */
  takeContent(data) {
    this.state.fill(data.panes, data.differences);
    this.panes.forEach((pane, order) => pane.fill(this.state.contents[order], this.state.byOutline[order]));
    writePanes(this);
    if (this.selected !== null && !this.state.box(this.selected)) this.selected = null;
    if (this.hover !== null && !this.state.box(this.hover)) this.hover = null;
    this.pair.showTruth(this.state.truth);
  }

  // ---- ways to look -----------------------------------------------------------------------------------------------

  /** @param {string} mode @param {boolean} [quiet] it came from the address */
  setMode(mode, quiet = false) {
    const known = MODES.some((each) => each.name === mode) ? mode : "side";
    this.mode = known;
    this.look();
    this.placePages(true);
    this.requests.mode.cancel();
    if (quiet) {
      this.sentMode = known;
      return;
    }
    this.requests.mode.schedule(() => {
      if (this.sentMode === known) return;
      this.sentMode = known;
      this.send("mode", known);
    });
  }

  /** Shows the chosen way to look; one page where there is no room for two. */
  look() {
    const mode = window.innerWidth <= ONE_PANE ? "flip" : this.mode;
    if (mode === this.work.getAttribute("data-mode")) return;
    pressSegment(this.tools.modes, mode);
    this.work.setAttribute("data-mode", mode);
    this.pair.look(mode);
  }

  flip() {
    if (this.pair.mode === "flip") this.pair.flip();
    else this.setMode("flip");
    this.spoken.textContent = `Model ${this.pair.front}`;
    this.showMark();
  }

  // ---- size and place ---------------------------------------------------------------------------------------------

  /** @override @returns {number} */
  fixedHeight() {
    return this.data?.height ?? 0;
  }

  /** @override */
  resized() {
    fold(this.lists, this.tools.opener, this.root.clientWidth);
    this.look();
    this.placePages(false);
  }

  /**
   * Places both pages in panes that may have another size.
   * @param {boolean} anew show the page as on its first look, if the reader has not moved it
   * @param {boolean} [measured] the panes are as large as they were: asking lays everything out, and their observer asks when they change
   */
  placePages(anew, measured = false) {
    if (!measured) this.fillWindow();
    const before = this.place.pane;
    if (!this.data?.page || !(measured || this.pair.measure())) return;
    if (!measured) this.font = `650 12px ${getComputedStyle(this.root).fontFamily}`;
    const { width, height } = this.place.pane;
    if (this.untouched && (anew || before.width !== width || before.height !== height)) {
      this.pair.start();
      const wanted = this.selected ? this.state.box(this.selected)?.xyxy : this.data.differences[0]?.xyxy;
      if (wanted) this.pair.show(wanted);
    } else {
      this.pair.fit();
    }
    this.afterMove();
  }

  /** What follows each zoom and pan. */
  afterMove() {
    const { fit, zoomOut } = this.tools;
    const whole = this.place.zoom === 1;
    const percent = Math.round(this.pair.scale() * 100);
    fit.textContent = `${percent} %`;
    fit.title = whole ? "Page width of both (0)" : "Whole page of both (0)";
    zoomOut.disabled = whole;
    this.scheduleChips();
    if (this.hover !== null || this.selected !== null) this.showMark();
    this.scheduleSharper();
  }

  /** @param {number} factor @param {[number, number] | null} at pixels of the pane */
  zoom(factor, at) {
    this.untouched = false;
    this.pair.zoom(factor, at);
    this.afterMove();
  }

  fitPage() {
    this.untouched = false;
    if (this.place.zoom === 1) this.pair.start(this.pair.widthZoom());
    else this.pair.zoom(0, null);
    this.afterMove();
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    if (this.place.zoom === 1) return;
    this.untouched = false;
    this.pair.pan(dx, dy);
    this.afterMove();
  }

  // ---- boxes ------------------------------------------------------------------------------------------------------

  /** @param {ModelPane} pane @param {[number, number] | null} at @param {string | null} chip */
  pointed(pane, at, chip) {
    this.pointer = at;
    this.under = at ? pane : null;
    const key = at && !chip ? stackAt(this.place, this.state.visible(pane.order), at)[0]?.key ?? null : chip;
    pane.root.classList.toggle("over-box", key !== null);
    if (key === this.hover) return;
    this.hover = key;
    this.showMark();
  }

  /** A verdict is for the model whose pane was clicked. */
  clicked() {
    if (this.under) this.judging.preferred = this.under.order;
    this.select(this.hover);
  }

  /** @param {number} step 1 or -1 */
  step(step) {
    stepDifference(this, step);
  }

  /** @param {DifferenceItem} next of the page */
  choose(next) {
    this.hover = null;
    this.under = null;
    this.pair.show(next.xyxy);
    this.select(next.key);
    this.afterMove();
  }

  // ---- what every view of a page does -----------------------------------------------------------------------------

  /** Another list begins at its first page, wherever the reader has turned to. @override @param {Parameters<Send<CompareEvents>>} event */
  sendChoice(...event) {
    if (event[0] !== "alike") {
      this.forgetTurn();
      this.turner.stop();
    }
    super.sendChoice(...event);
  }

  /** @override @param {number | null} position */
  showAsked(position) {
    showAskedPage(this, position);
  }

  /** @override */
  showMark() {
    this.pair.mark(this.hover ?? this.selected, this.font, this.under, this.pointer, this.hover !== null);
    writeDifference(this);
    this.judging.write();
  }

  /** @override */
  arrange() {
    if (!this.place.sheet.width || !this.data?.page) return;
    this.pair.arrange(this.font);
    writeHidden(this);
    this.showMark();
  }

  /** @override @param {string | null} key @returns {string} */
  nameOf(key) {
    const box = this.state.box(key);
    return this.state.differenceOf(key)?.words ?? (box ? boxName(box) : "");
  }

  // ---- keys -------------------------------------------------------------------------------------------------------

  /** @param {HTMLElement} list @param {KeyboardEvent} event up and down in it */
  walkList(list, event) {
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (step === 0) return;
    const next = walkRows(list, event.target, step);
    if (next) centreRow(list, next);
    event.preventDefault();
    event.stopPropagation();
  }

  /** @override @param {KeyboardEvent} event */
  pressed(event) {
    if (!this.data || this.help?.open || event.defaultPrevented || verdictKey(this.judging, event)) return;
    super.pressed(event);
  }

  /** @override @param {string} action @param {HTMLElement | null} target @returns {boolean} whether the key was used */
  act(action, target) {
    if (actVerdict(this.judging, action)) return true;
    switch (action) {
      case "next": this.step(1); return true;
      case "previous": this.step(-1); return true;
      case "flip": this.flip(); return true;
      case "side": this.setMode("side"); return true;
      case "slider": this.setMode("slider"); return true;
      case "truth":
        this.pair.showTruth(!this.state.truth);
        this.scheduleChips();
        return true;
      case "zoom-in": this.zoom(1.4, this.pointer); return true;
      case "zoom-out": this.zoom(1 / 1.4, this.pointer); return true;
      case "fit": this.fitPage(); return true;
      case "escape": return this.letGo();
      default: return super.act(action, target);
    }
  }
}

/** Shows pages of two models in a parent. */
export const mountComparison = mounting(Comparison);

export default streamlitComponent(mountComparison, ["selected", "mode"]);
