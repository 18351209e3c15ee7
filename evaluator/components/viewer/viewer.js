/**
 * The page viewer: toolbar, strip of pages, page with boxes, list of mistakes, key line.
 *
 * What the reader does (toggles, zoom, hover, next mistake) stays here; only a page turn, the chosen box, a verdict, a
 * request for a sharper image, a change of model and a cleared filter are sent.
 */

import { html, setAttributes } from "../shared/elements.js";
import { boxName, mistakeName } from "../shared/facts.js";
import { drawCuts, drawLost } from "../shared/layers.js";
import { hostOf, isInNotebook } from "../shared/focus.js";
import { fold, foldInto } from "../shared/fold.js";
import { makeHelp } from "../shared/key_help.js";
import { mounting, streamlitComponent } from "../shared/mount.js";
import { PagePane } from "../shared/pane.js";
import { PicturesAhead } from "../shared/ahead.js";
import { PageWindow } from "../shared/window.js";
import { WindowedView } from "../shared/windowed_view.js";
import { bringIntoView, fitSheet, inPane, openAtBoxes, panBy, startPlacement, zoomBy } from "../shared/placement.js";
import { choosePlace, flipModel, movePointer, showPlace, stepMistake, upOrDown } from "./choice.js";
import { decoded } from "./crop.js";
import { Drafts } from "./drafts.js";
import { KEY_HELP, VIEWER_ACTIONS } from "./keys.js";
import { makeEdges } from "./list.js";
import { VIEWER_LOOK, activeBox, applyLayers, arrange, drawMark, placeBoxes, showMark } from "./marks.js";
import { OrderLayer } from "./order.js";
import { listenToPrint } from "./print.js";
import { BoxStack, ViewerState, putPage } from "./state.js";
import { markSeen } from "./strip.js";
import { plural } from "../shared/words.js";
import { makeToolbar } from "./toolbar.js";
import { actVerdict, makeVerdictRow, verdictKey, writeVerdict } from "./verdict.js";
import { showAsked, writeBars, writePlace, writeRows, writeStrip } from "./words.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { MistakeItem, PageEvents, PagePayload, WindowPayload } from "../shared/payloads.d.ts" */
/** @import { Layer, Place } from "./state.js" */

const LEAST_HEIGHT = 456;
/** Milliseconds before the small pictures are painted: the page itself comes first. */
const CROPS_LATER = 40;

const viewedPages = new PageWindow(putPage);
const viewedPictures = new PicturesAhead(1);

/** @extends {WindowedView<WindowPayload, PagePayload, PageEvents>} */
export class Viewer extends WindowedView {
  /** @param {ParentNode & Node} parent @param {Send<PageEvents>} send */
  constructor(parent, send) {
    super(VIEWER_ACTIONS, send, viewedPages, viewedPictures);
    this.state = new ViewerState();
    this.stack = new BoxStack();
    this.drafts = new Drafts(this.outbox);
    this.crowded = false;
    /** @type {string | null} the last opening from outside; null before the first page */
    this.visit = null;
    /** @type {Promise<ImageBitmap | null> | null} */
    this.bitmap = null;
    /** @type {Map<number, HTMLElement>} the row of each place */
    this.rows = new Map();
    this.rowCrops = { stop: () => {} };
    /** Whether the verdict is for all places like the chosen one. */
    this.everywhere = false;
    /** @type {string | null} the chosen box at which the end of the list was said */
    this.ended = null;
    /** Whether chosen places are zoomed to. */
    this.close = false;
    /** Whether the page is still to be opened at its boxes. */
    this.opening = false;
    /** The fixed height that the view has now. */
    this.height = 0;
    this.pane = new PagePane(VIEWER_LOOK, {
      move: (at, key) => movePointer(this, at, key),
      click: () => this.select(this.hover),
      zoom: (factor, at) => this.zoom(factor, at),
      pan: (dx, dy) => this.pan(dx, dy),
      enlarged: () => this.place.zoom > 1,
    });
    this.panes = [this.pane];
    this.order = new OrderLayer(this);
    this.pane.sheet.append(this.order.lines, this.order.numbers);
    this.strip = html("nav", { class: "strip", "aria-label": "Pages" });
    this.tools = makeToolbar(this);
    foldInto(this.strip, this.tools.pageText);
    this.warnings = html("div", { class: "warnings" });
    this.list = html("div", { class: "list", role: "group", "aria-label": "Mistakes on this page" });
    this.listHead = html("div", { class: "list-head" });
    this.edges = makeEdges(this);
    this.facts = html("div", { class: "box-facts" });
    this.keys = html("div", { class: "key-line" });
    this.verdict = makeVerdictRow(this);
    this.help = makeHelp("Keys of the page browser", KEY_HELP);
    this.root.append(
      this.tools.root,
      html("div", { class: "work" },
        html("div", { class: "stage" }, this.strip, html("div", { class: "pane-column" }, this.warnings, this.pane.problem, this.pane.root)),
        html("section", { class: "side", "aria-label": "Mistakes" }, this.listHead, this.list, this.facts, this.verdict.root)),
      this.keys, this.help, this.spoken);
    this.listen(parent, LEAST_HEIGHT);
    if (!isInNotebook(this.root)) this.stops.push(listenToPrint(this));
  }

  // ---- data -------------------------------------------------------------------------------------------------------

  /** @override @param {PagePayload & {content?: string}} data @param {HTMLImageElement[]} images decoded */
  present(data, images) {
    const visit = data.visit ?? "";
    const opened = this.visit !== null && visit !== this.visit;
    this.visit = visit;
    const turned = this.accept(data);
    if (!this.place.pane.width || this.height !== this.fixedHeight()) this.resized();
    // What scrolls comes before what is drawn: scrolling lays out all that was changed until then.
    if (turned) this.list.scrollTop = 0;
    writeStrip(this);
    const imageChanged = this.showImage(images[0] ?? null);
    if (turned) {
      this.place = { ...startPlacement(), pane: this.place.pane };
      this.opening = data.at_boxes === true;
      this.stack.clear();
      this.everywhere = false;
    }
    const contentChanged = this.takeContent(data, turned);
    if (this.selected !== null && !this.state.content.boxes.has(this.selected)) this.selected = null;
    if (this.hover !== null && !this.state.content.boxes.has(this.hover)) this.hover = null;
    const moved = contentChanged && writeBars(this);
    // Asking for the size lays everything out; when it changes by itself, its observer asks.
    if (moved || !this.place.pane.width) this.resized();
    else this.refit();
    if (contentChanged || imageChanged) writeRows(this, imageChanged);
    if (contentChanged) applyLayers(this);
    if (turned && this.close) showPlace(this, this.state.placeOf(this.selected));
    writePlace(this);
    this.turner.arrived(data, turned);
    this.showMark();
    if (opened) hostOf(this.root).scrollIntoView({ block: "nearest" });
  }

  /** @override */
  writeLate() {
    writeVerdict(this);
  }

  /** Draws the boxes of the data when they are others. @param {PagePayload & {content?: string}} data @param {boolean} turned @returns {boolean} whether they are */
  takeContent(data, turned) {
    const { page } = data;
    const around = page && [page.width, page.height, page.problem, page.notes, page.lost_words, page.lost_ink, page.position === 0];
    const { boxes, mistakes, causes, counts, empty, limit, labels, models, model, hidden_mistakes: hidden, verdicts, reviewer, walk, by_outline: byOutline } = data;
    const text = data.content ?? JSON.stringify([around, boxes, mistakes, causes, counts, empty, limit, labels, models, model, hidden, verdicts, reviewer, walk, byOutline]);
    if (page) this.drafts.resolve(page, mistakes);
    if (!turned && text === this.contentText) return false;
    this.contentText = text;
    this.state.take(boxes, mistakes, causes ?? []);
    this.pane.fill(this.state.content, byOutline);
    if (this.state.loose) placeBoxes(this);
    this.order.fill(data.paths ?? []);
    this.root.classList.toggle("wide-list", mistakes.some(({ pieces, table }) => pieces || table !== undefined));
    drawLost(this.pane.lost, page?.lost ?? []);
    return true;
  }

  /** @param {HTMLImageElement | null} image @returns {boolean} whether it is another one */
  showImage(image) {
    if (image === this.pane.image) return false;
    this.bitmap?.then((bitmap) => bitmap?.close());
    this.bitmap = null;
    return this.pane.showImage(image);
  }

  /** The page image for small pictures, decoded once, and not before the page is on screen. @returns {Promise<ImageBitmap | null>} */
  picture() {
    const source = this.pane.image.getAttribute("src");
    if (source === null) return Promise.resolve(null);
    const wanted = () => source === this.pane.image.getAttribute("src");
    this.bitmap ??= new Promise((done) => window.setTimeout(() => done(wanted() ? decoded(source) : null), CROPS_LATER));
    return this.bitmap;
  }

  // ---- size and place ---------------------------------------------------------------------------------------------

  /** @override @returns {number} */
  fixedHeight() {
    return this.data?.height ?? 0;
  }

  /** @override */
  resized() {
    this.height = this.fixedHeight();
    this.fillWindow();
    fold(this.strip, this.tools.pageText, this.root.clientWidth);
    const pane = { width: this.pane.root.clientWidth, height: this.pane.root.clientHeight };
    if (pane.width === 0) return;
    this.font = `650 12px ${getComputedStyle(this.root).fontFamily}`;
    this.place.pane = pane;
    this.refit();
  }

  refit() {
    fitSheet(this.place, this.pageSize());
    if (this.opening && this.place.pane.width) this.openAtBoxes();
    this.moved();
  }

  /** Once for each page: small boxes are readable at once, and the chosen one shows. */
  openAtBoxes() {
    this.opening = false;
    const chosen = this.state.content.box(this.selected);
    openAtBoxes(this.place, [...this.state.content.boxes.values()].map((box) => box.xyxy), this.pageSize());
    if (chosen) bringIntoView(this.place, chosen.xyxy, this.pageSize());
  }

  /** What follows each change of size and place. */
  moved() {
    const { fit, zoomOut } = this.tools;
    const whole = this.place.zoom === 1;
    this.pane.move(this.place);
    markSeen(this.strip, this.place);
    setAttributes(fit, { "aria-pressed": String(whole), title: `Whole page (0); now ${Math.round(this.place.zoom * 100)} % of it` });
    zoomOut.disabled = whole;
    this.scheduleChips();
    drawMark(this);
    drawCuts(this.pane.cuts, this.state.cuts(), this.place.sheet);
    this.scheduleSharper();
  }

  /** @param {number} factor 0 for the whole page @param {[number, number] | null} at pixels of the pane */
  zoom(factor, at) {
    zoomBy(this.place, factor, this.pageSize(), at ?? (factor > 1 ? this.markedPoint() : null));
    this.moved();
  }

  /** @returns {[number, number] | null} the middle of the marked box while some of it shows, in pixels of the pane */
  markedPoint() {
    const marked = activeBox(this);
    if (!marked) return null;
    const [x1, y1, x2, y2] = inPane(this.place, marked.xyxy);
    const { width, height } = this.place.pane;
    return x1 < width && x2 > 0 && y1 < height && y2 > 0 ? [(x1 + x2) / 2, (y1 + y2) / 2] : null;
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    if (this.place.zoom === 1) return;
    panBy(this.place, dx, dy, this.pageSize());
    this.moved();
  }

  // ---- what the bars and lists ask for ----------------------------------------------------------------------------

  /** @param {Layer} layer @param {boolean} shown */
  setLayer(layer, shown) {
    this.state.layers[layer] = shown;
    applyLayers(this);
  }

  /** @param {string[]} labels @param {boolean} shown */
  showLabels(labels, shown) {
    this.state.showLabels(labels, shown);
    applyLayers(this);
  }

  /** @param {boolean} loose */
  setLoose(loose) {
    this.state.loose = loose;
    placeBoxes(this);
    drawMark(this);
  }

  showAll() {
    this.state.showAll();
    applyLayers(this);
  }

  /** @param {string | null} key */
  setHover(key) {
    if (key === this.hover) return;
    this.hover = key;
    this.showMark();
  }

  /** @param {Place} place */
  choosePlace(place) {
    choosePlace(this, place);
  }

  /** On to the next mistake. */
  onward() {
    stepMistake(this, 1);
  }

  /** Zooms to the chosen place and to those that follow, or shows the whole page again. */
  turnClose() {
    this.close = !this.close;
    if (this.close) showPlace(this, this.state.placeOf(this.selected));
    else this.zoom(0, null);
  }

  /** @param {MistakeItem} mistake @returns {Place | undefined} */
  placeWith(mistake) {
    return this.state.places.find(({ mistakes }) => mistakes.includes(mistake));
  }

  /** A verdict is for the whole place. @param {MistakeItem} mistake @returns {MistakeItem[]} */
  judgedWith(mistake) {
    return this.placeWith(mistake)?.mistakes ?? [mistake];
  }

  /** @param {MistakeItem} mistake */
  scopeOf({ alike = 0 }) {
    return alike ? { words: `All ${plural(alike + 1, "place")} like this`, title: "One verdict for all of them, on every page (C)", on: this.everywhere } : null;
  }

  turnScope() {
    this.everywhere = !this.everywhere;
  }

  /** @param {MistakeItem} mistake */
  alikeOf({ alike, family }) {
    return alike && family ? { words: "Show them in Grid", go: () => this.sendChoice("alike", family) } : null;
  }

  /** @param {MistakeItem} mistake @returns {string} */
  titleOf(mistake) {
    return `Verdict on mistake ${this.placeWith(mistake)?.number ?? mistake.number}`;
  }

  /** @override @param {string | null} key */
  select(key) {
    if (this.state.placeOf(key) !== this.state.placeOf(this.selected)) this.everywhere = false;
    super.select(key);
  }

  // ---- what every view of a page does -------------------------------------------------------------------------------

  /** @override @param {number} from @param {number} step */
  nextWith(from, step) {
    const walk = this.pagesHere.pages.get(from)?.content.walk;
    return (step > 0 ? walk?.next : walk?.previous) ?? 0;
  }

  /** @override @param {number | null} position */
  showAsked(position) {
    showAsked(this, position);
  }

  /** @override */
  showMark() {
    showMark(this, false);
    const place = this.order.at === null ? this.state.placeOf(this.selected) : undefined;
    this.order.near(place ? this.state.boxesOf(place).flatMap(({ key, partner }) => [key, partner ?? key]) : []);
  }

  /** @override */
  arrange() {
    arrange(this);
  }

  /** @override @param {string | null} key @returns {string} */
  nameOf(key) {
    const box = this.state.content.box(key);
    const mistake = this.state.content.mistakeOf(box);
    return mistake ? `Mistake ${this.placeWith(mistake)?.number ?? mistake.number}, ${mistakeName(mistake)}` : box ? boxName(box) : "";
  }

  // ---- keys -------------------------------------------------------------------------------------------------------

  /** @override @param {KeyboardEvent} event */
  pressed(event) {
    if (!this.data || this.help?.open || event.defaultPrevented || verdictKey(this, event)) return;
    super.pressed(event);
  }

  /** @override @param {string} action @param {HTMLElement | null} target @returns {boolean} whether the key was used */
  act(action, target) {
    if (actVerdict(this, action)) return true;
    switch (action) {
      case "next": stepMistake(this, 1); return true;
      case "previous": stepMistake(this, -1); return true;
      case "stack-up": return upOrDown(this, -1, target);
      case "stack-down": return upOrDown(this, 1, target);
      case "zoom-in": this.zoom(1.4, this.pointer); return true;
      case "zoom-out": this.zoom(1 / 1.4, this.pointer); return true;
      case "fit": this.close = false; this.zoom(0, null); return true;
      case "close": this.turnClose(); return true;
      case "truth": this.setLayer("truth", !this.state.layers.truth); return true;
      case "predictions": this.setLayer("predictions", !this.state.layers.predictions); return true;
      case "model": flipModel(this); return true;
      case "loose": this.setLoose(!this.state.loose); return true;
      case "play": return this.order.play();
      case "step-on": return this.order.step(1);
      case "step-back": return this.order.step(-1);
      case "escape": return this.order.stop() || this.letGo();
      default: return super.act(action, target);
    }
  }
}

/** Shows pages in a parent, without Streamlit. */
export const mountViewer = mounting(Viewer);

export default streamlitComponent(mountViewer, ["selected"]);
