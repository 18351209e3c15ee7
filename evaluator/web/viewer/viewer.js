/**
 * The page viewer: toolbar, strip of pages, page with boxes, list of mistakes, key line.
 *
 * One tree of elements per parent, kept in a WeakMap, because Streamlit calls the default export again with the same
 * parent whenever the data change. What the reader does (toggles, zoom, hover, next mistake) stays here; only a page
 * turn, the chosen box, a wish for a sharper image, a change of model and a cleared filter are sent on.
 * `mountViewer(parent, data, send)` is the same viewer without Streamlit.
 */

import { html, setAttributes } from "../shared/elements.js";
import { REPEATING, actionOf } from "./keys.js";
import { drawBoxes, drawCuts, drawLost } from "../shared/layers.js";
import { inPane, listenToPane, makePane, settle, startPlacement, zoomBy } from "../shared/pane.js";
import { ToldChoice, Wish, dropWhenLeaving } from "../shared/requests.js";
import { PageTurner, withoutImage, writeAddress } from "../shared/turn.js";
import { makeHelp, makeToolbar } from "./toolbar.js";
import { cutsOf } from "./visible.js";
import { showAsked, writeBars, writeMenu, writePlace, writeRows, writeStrip } from "./words.js";
import { activeBox, applyLayers, drawMark, placeBoxes, scheduleChips, setHover, setLayer, setLoose, showAll, showLabels, showMark } from "./marks.js";
import { makeVerdictRow, settleDrafts, verdictKey } from "./verdict.js";
import { listenToPrint } from "./print.js";
import { chooseMistake, flipModel, focusVerdict, letGo, movePointer, selectBox, stepMistake, upOrDown } from "./choice.js";

/** @typedef {import("../shared/geometry.js").Rect} Rect */
/** @typedef {import("../shared/layers.js").Box} Box */
/** @typedef {import("../shared/layers.js").Mistake} Mistake */
/** @typedef {import("./list.js").StripPage} StripPage */
/**
 * @typedef {object} Page
 * @property {string} document
 * @property {number} index 0-based
 * @property {number | null} count pages of the document
 * @property {number} position 1-based place among the pages of the list; 0 for a page that the filter hides
 * @property {number} total pages of the list
 * @property {number} width points
 * @property {number} height
 * @property {string | null} image data URL
 * @property {number} image_width pixels
 * @property {{title: string, text: string, fix: string} | null} problem
 * @property {string[]} notes
 * @property {Rect[]} [lost] words that no prediction holds, shares of the page
 * @property {number | null} [lost_words] how many; null or missing takes the toggle away
 * @property {number | null} [lost_ink] share of the ink instead, for a page without a text layer
 */
/**
 * @typedef {object} Data
 * @property {Page | null} page
 * @property {Box[]} boxes
 * @property {Mistake[]} mistakes in the order of the list
 * @property {StripPage[]} strip
 * @property {{TP: number, FP: number, FN: number, ground_truth: number, predictions: number}} counts
 * @property {{drawn: number, total: number} | null} limit
 * @property {{letter: string, name: string}} model
 * @property {{letter: string, name: string}[]} models
 * @property {string | null} selected
 * @property {string[]} labels of this page
 * @property {{text: string, action: string} | null} empty
 * @property {number} [strip_first] position of the first page of the strip in the list, from 0
 * @property {boolean} [filtered] whether a filter may hide mistakes of the pages in the strip
 * @property {number} [hidden_mistakes] mistakes of this page that the filter hides
 * @property {{before: boolean, after: boolean, total: number} | null} [walk] whether N and P lead on to other pages
 * @property {boolean} [verdicts] whether mistakes can be judged
 * @property {string | null} [reviewer] whose verdicts are one's own
 * @property {string} [signature] what made the numbers, for the print
 * @property {string} [address] the query that leads back here; written when the address bar has none
 * @property {("TP" | "FP" | "FN")[]} [statuses] which of the three toggles there are; all without it
 * @property {string} [head] facts behind the number of mistakes, instead of the numbers of boxes
 * @property {number} [height] pixels; without it the viewer fills the window below its top
 */
/** @typedef {(name: string, value: unknown) => void} Send */

const IMAGE_DATA = /^data:image\/(webp|png|jpeg);base64,[A-Za-z0-9+/=]+$/;
const BLANK_PAGE = { width: 595, height: 842 };
const LEAST_HEIGHT = 480;
const SHARPER_FROM = 1.3;

export class Viewer {
  /** @param {ParentNode & Node} parent @param {Send} send */
  constructor(parent, send) {
    this.send = send;
    /** @type {Data | null} */
    this.data = null;
    this.pageId = "";
    this.contentText = "";
    this.stripText = "";
    /** @type {Map<string, Box>} */
    this.boxes = new Map();
    /** @type {Map<number, Mistake>} */
    this.mistakes = new Map();
    /** @type {Map<string, SVGElement>} */
    this.rects = new Map();
    /** @type {Map<string, HTMLElement>} */
    this.chips = new Map();
    /** @type {{key: string, rect: Rect | null, compact: boolean}[]} */
    this.chipPlaces = [];
    this.crowded = false;
    /** @type {Promise<ImageBitmap | null> | null} */
    this.bitmap = null;
    this.loose = false;
    /** @type {Map<string, any>} what a reviewer has begun and nobody has saved, by mistake */
    this.drafts = new Map();
    /** @type {Map<number, HTMLButtonElement>} */
    this.rows = new Map();
    this.layers = { TP: true, FP: true, FN: true, truth: false, predictions: true, lost: true };
    /** @type {Set<string>} */
    this.hiddenLabels = new Set();
    /** @type {string | null} */
    this.hover = null;
    /** @type {string | null} */
    this.selected = null;
    this.told = new ToldChoice();
    /** @type {[number, number] | null} */
    this.pointer = null;
    this.stackKeys = "";
    this.stackOrder = 0;
    this.place = startPlacement();
    this.load = 0;
    this.askedWidth = 0;
    this.chipFont = "650 12px sans-serif";
    this.timers = { chips: 0 };
    this.wishes = { selected: new Wish(250), sharper: new Wish(250) };

    this.tools = makeToolbar({
      turn: (step) => this.turner.turn(step),
      step: (step) => stepMistake(this, step),
      toggle: (status) => setLayer(this, status, !this.layers[status]),
      zoom: (factor) => this.zoom(factor, null),
      lost: () => setLayer(this, "lost", !this.layers.lost),
      menu: () => this.openMenu(this.tools.menu.hidden),
    });
    this.pane = makePane();
    this.strip = html("nav", { class: "strip", "aria-label": "Pages" });
    this.list = html("div", { class: "list", role: "group", "aria-label": "Mistakes on this page" });
    this.listHead = html("div", { class: "list-head" });
    this.keys = html("div", { class: "key-line" });
    this.placeLine = html("span", { class: "place" });
    this.verdict = makeVerdictRow(this);
    this.help = makeHelp();
    this.spoken = html("div", { class: "unseen", "aria-live": "polite" });
    this.root = html("div", { class: "layoutscope-viewer" },
      this.tools.root,
      html("div", { class: "work" },
        html("div", { class: "stage" }, this.strip, this.pane.column),
        html("section", { class: "side", "aria-label": "Mistakes" }, this.listHead, this.list, this.verdict.root)),
      this.keys, this.help, this.spoken);
    this.turner = new PageTurner(
      (name, value) => this.send(name, value),
      (asked) => showAsked(this, asked),
      (slow) => this.root.classList.toggle("waiting", slow),
    );
    parent.append(html("div", { class: "layoutscope-frame" }, this.root));
    this.listen();
  }

  listen() {
    listenToPane(this.pane.root, {
      move: (at, key) => movePointer(this, at, key),
      click: () => selectBox(this, this.hover),
      zoom: (factor, at) => this.zoom(factor, at),
      pan: (dx, dy) => this.pan(dx, dy),
      enlarged: () => this.place.zoom > 1,
    });
    this.root.addEventListener("keydown", (event) => this.pressed(event));
    this.root.addEventListener("pointerdown", (event) => {
      const inside = event.target instanceof Node && this.tools.menu.parentElement?.contains(event.target);
      if (!inside) this.openMenu(false);
    });
    const pageKeys = (/** @type {KeyboardEvent} */ event) => {
      if (this.focusIsAround()) this.pressed(event);
    };
    const stopPrint = listenToPrint(this);
    const stopDropping = dropWhenLeaving(this.root, this.wishes);
    const resize = () => this.fillWindow();
    window.addEventListener("keydown", pageKeys);
    window.addEventListener("resize", resize);
    const sizes = new ResizeObserver(() => {
      this.fillWindow();
      this.measure();
    });
    sizes.observe(this.pane.root);
    const block = this.host().closest("[data-testid='stMainBlockContainer']");
    if (block) sizes.observe(block);
    this.stop = () => {
      window.removeEventListener("keydown", pageKeys);
      window.removeEventListener("resize", resize);
      sizes.disconnect();
      this.turner.stop();
      stopDropping();
      stopPrint();
      Object.values(this.timers).forEach((timer) => window.clearTimeout(timer));
    };
    document.fonts?.ready.then(() => scheduleChips(this));
  }

  /** @returns {Element} the element of the outer document that holds the viewer */
  host() {
    const top = this.root.getRootNode();
    return top instanceof ShadowRoot ? top.host : this.root;
  }

  /** @returns {boolean} nothing else wants the keys: the focus is on the view as a whole */
  focusIsAround() {
    const active = document.activeElement;
    if (!this.root.isConnected || this.root.offsetParent === null) return false;
    if (!active || active === document.body) return true;
    return active !== this.host() && active.contains(this.host()) && !active.contains(document.querySelector("dialog[open]"));
  }

  // ---- data ---------------------------------------------------------------------------------------------------

  /** @param {Data} data */
  update(data) {
    this.load += 1;
    const load = this.load;
    const source = data.page?.image ?? null;
    if (source === null || source === this.pane.image.getAttribute("src")) {
      this.present(data, source === null ? null : this.pane.image);
      return;
    }
    if (!IMAGE_DATA.test(source)) {
      this.present(withoutImage(data), null);
      return;
    }
    const image = /** @type {HTMLImageElement} */ (html("img", { class: "page-image", alt: "", draggable: "false", src: source }));
    image.decode().then(
      () => load === this.load && this.present(data, image),
      () => load === this.load && this.present(withoutImage(data), null),
    );
  }

  /** @param {Data} data @param {HTMLImageElement | null} image decoded */
  present(data, image) {
    const page = data.page;
    const pageId = page ? JSON.stringify([page.document, page.index]) : "";
    const turned = pageId !== this.pageId || this.data === null;
    const before = this.data?.selected ?? null;
    const imageChanged = this.showImage(image);
    this.data = data;
    if (turned) {
      this.pageId = pageId;
      this.place = { ...startPlacement(), pane: this.place.pane };
      this.hover = null;
      this.stackKeys = "";
      this.selected = data.selected;
      this.told.agree(data.selected);
      this.wishes.selected.drop();
      this.askedWidth = 0;
    } else if (data.selected !== before && this.told.isNews(data.selected)) {
      this.selected = data.selected;
      this.told.agree(data.selected);
    }
    const around = page && [page.width, page.height, page.problem, page.notes, page.lost_words, page.lost_ink, page.position === 0];
    const contentText = JSON.stringify([around, data.boxes, data.mistakes, data.counts, data.empty, data.limit, data.labels, data.models, data.model, data.hidden_mistakes, data.verdicts, data.reviewer, data.walk]);
    const contentChanged = turned || contentText !== this.contentText;
    if (contentChanged) {
      this.contentText = contentText;
      this.boxes = new Map(data.boxes.map((box) => [box.key, box]));
      this.mistakes = new Map(data.mistakes.map((mistake) => [mistake.number, mistake]));
      settleDrafts(this);
      ({ rects: this.rects, chips: this.chips } = drawBoxes(this.pane.boxes, this.pane.chips, data.boxes));
      if (this.loose) placeBoxes(this);
      this.pane.chips.classList.remove("ready");
      drawLost(this.pane.lost, page?.lost ?? []);
    }
    if (this.selected !== null && !this.boxes.has(this.selected)) this.selected = null;
    if (this.hover !== null && !this.boxes.has(this.hover)) this.hover = null;
    if (contentChanged) writeBars(this);
    // Asking for the size lays everything out; when it changes, its observer asks.
    if (this.place.pane.width && !data.height) {
      this.resettle();
    } else {
      this.fillWindow();
      this.measure();
    }
    if (contentChanged) {
      writeRows(this);
      applyLayers(this);
      if (turned) this.list.scrollTop = 0;
    } else if (imageChanged) {
      writeRows(this);
    }
    writeStrip(this);
    writePlace(this);
    this.turner.arrived(data, turned);
    showMark(this, false);
  }

  /** @returns {Data} what is on screen */
  shown() {
    return /** @type {Data} */ (this.data);
  }

  /** @param {HTMLImageElement | null} image @returns {boolean} whether it is another one */
  showImage(image) {
    const old = this.pane.image;
    if (image === old) return false;
    this.bitmap?.then((bitmap) => bitmap?.close());
    this.bitmap = null;
    if (image) {
      old.replaceWith(image);
      this.pane.image = image;
      return true;
    }
    const had = old.hasAttribute("src");
    old.removeAttribute("src");
    old.hidden = true;
    return had;
  }

  /** The page image for small pictures, decoded once, and not before the page is on screen. @returns {Promise<ImageBitmap | null>} */
  picture() {
    const source = this.pane.image.getAttribute("src");
    if (source === null) return Promise.resolve(null);
    const wanted = () => source === this.pane.image.getAttribute("src");
    this.bitmap ??= new Promise((done) => window.setTimeout(() => done(wanted() ? decoded(source) : null), 40));
    return this.bitmap;
  }

  /** @returns {{width: number, height: number}} points */
  pageSize() {
    const page = this.data?.page;
    return page && page.width > 0 && page.height > 0 ? page : BLANK_PAGE;
  }

  // ---- size and place ------------------------------------------------------------------------------------------

  fillWindow() {
    let height = this.data?.height ?? 0;
    if (!height) {
      const host = this.host();
      let scroller = host.parentElement;
      while (scroller && !/auto|scroll/.test(getComputedStyle(scroller).overflowY)) scroller = scroller.parentElement;
      const scrolled = scroller ? scroller.scrollTop : window.scrollY;
      height = window.innerHeight - host.getBoundingClientRect().top - scrolled - 14;
    }
    this.root.style.setProperty("--viewer-height", `${Math.max(LEAST_HEIGHT, Math.floor(height))}px`);
  }

  measure() {
    const pane = { width: this.pane.root.clientWidth, height: this.pane.root.clientHeight };
    if (pane.width === 0) return;
    this.chipFont = `650 12px ${getComputedStyle(this.root).fontFamily}`;
    this.place.pane = pane;
    this.resettle();
  }

  resettle() {
    settle(this.place, this.pageSize(), this.pane.sheet);
    this.afterMove();
  }

  afterMove() {
    const { fit, zoomOut } = this.tools;
    const whole = this.place.zoom === 1;
    setAttributes(fit, { "aria-pressed": String(whole), title: `Whole page (0); now ${Math.round(this.place.zoom * 100)} % of it` });
    zoomOut.disabled = whole;
    this.pane.root.classList.toggle("enlarged", !whole);
    scheduleChips(this);
    drawMark(this);
    drawCuts(this.pane.cuts, cutsOf(this), this.place.sheet);
    this.wishes.sharper.soon(() => this.askSharper());
  }

  /** @param {number} factor 0 for the whole page @param {[number, number] | null} at pixels of the pane */
  zoom(factor, at) {
    let point = at;
    const marked = activeBox(this);
    if (marked && !at && factor > 1) {
      const [x1, y1, x2, y2] = inPane(this.place, marked.xyxy);
      const { width, height } = this.place.pane;
      if (x1 < width && x2 > 0 && y1 < height && y2 > 0) point = [(x1 + x2) / 2, (y1 + y2) / 2];
    }
    zoomBy(this.place, factor, this.pageSize(), this.pane.sheet, point);
    this.afterMove();
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    if (this.place.zoom === 1) return;
    this.place.x += dx;
    this.place.y += dy;
    this.resettle();
  }

  askSharper() {
    const page = this.data?.page;
    if (!page?.image) return;
    const needed = Math.ceil(this.place.sheet.width * (window.devicePixelRatio || 1));
    if (needed <= SHARPER_FROM * Math.max(page.image_width, this.askedWidth)) return;
    this.askedWidth = needed;
    this.send("sharper", { document: page.document, index: page.index, width: needed });
  }

  // ---- what the bars and lists ask for --------------------------------------------------------------------------------

  /** @param {"TP" | "FP" | "FN" | "truth" | "predictions" | "lost"} layer @param {boolean} shown */
  setLayer(layer, shown) {
    setLayer(this, layer, shown);
  }

  /** @param {string[]} labels @param {boolean} shown */
  showLabels(labels, shown) {
    showLabels(this, labels, shown);
  }

  /** @param {boolean} loose */
  setLoose(loose) {
    setLoose(this, loose);
  }

  showAll() {
    showAll(this);
  }

  /** @param {string | null} key */
  setHover(key) {
    setHover(this, key);
  }

  /** @param {Mistake} mistake */
  chooseMistake(mistake) {
    chooseMistake(this, mistake);
  }

  // ---- menu, help, keys ----------------------------------------------------------------------------------------------

  /** @param {boolean} open */
  openMenu(open) {
    const { menu, labels } = this.tools;
    if (open === !menu.hidden) return;
    if (open) writeMenu(this);
    menu.hidden = !open;
    labels.setAttribute("aria-expanded", String(open));
    if (open) menu.querySelector("input")?.focus();
  }

  openHelp() {
    if (!this.help.open) this.help.showModal();
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (!this.data || this.help.open || event.defaultPrevented) return;
    if (verdictKey(this, event)) return;
    const action = actionOf(event);
    if (!action || (event.repeat && !REPEATING.has(action))) return;
    const target = event.composedPath()[0];
    const inMenu = target instanceof Node && this.tools.menu.contains(target);
    if (inMenu && action !== "escape") {
      event.stopPropagation();
      return;
    }
    if (!this.act(action, target instanceof HTMLElement ? target : null)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {string} action @param {HTMLElement | null} target @returns {boolean} whether the key was used */
  act(action, target) {
    switch (action) {
      case "previous-page": this.turner.turn(-1); return true;
      case "next-page": this.turner.turn(1); return true;
      case "next-mistake": stepMistake(this, 1); return true;
      case "previous-mistake": stepMistake(this, -1); return true;
      case "stack-up": return upOrDown(this, -1, target);
      case "stack-down": return upOrDown(this, 1, target);
      case "zoom-in": this.zoom(1.4, this.pointer); return true;
      case "zoom-out": this.zoom(1 / 1.4, this.pointer); return true;
      case "fit": this.zoom(0, null); return true;
      case "truth": setLayer(this, "truth", !this.layers.truth); return true;
      case "predictions": setLayer(this, "predictions", !this.layers.predictions); return true;
      case "model": flipModel(this); return true;
      case "loose": setLoose(this, !this.loose); return true;
      case "verdict": return focusVerdict(this);
      case "help": this.openHelp(); return true;
      default: return letGo(this);
    }
  }

}

/** Decodes beside the main thread, which it would hold up otherwise. @param {string} source data URL @returns {Promise<ImageBitmap>} */
function decoded(source) {
  const [head, body] = source.split(",", 2);
  const text = atob(body);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return createImageBitmap(new Blob([bytes], { type: head.slice(5, head.indexOf(";")) }));
}

/** @type {WeakMap<object, Viewer>} */
const viewers = new WeakMap();

/**
 * Shows data in a parent; the first call builds the viewer, later calls keep what the reader did.
 * @param {ParentNode & Node} parent @param {Data} data @param {Send} send
 * @returns {() => void} takes the viewer away again
 */
export function mountViewer(parent, data, send) {
  const viewer = viewers.get(parent) ?? new Viewer(parent, send);
  viewers.set(parent, viewer);
  viewer.send = send;
  viewer.update(data);
  return () => {
    viewer.stop?.();
    viewer.root.parentElement?.remove();
    viewers.delete(parent);
  };
}

/**
 * Called by Streamlit on mount and on each change of the data.
 * @param {{parentElement: ParentNode & Node, data: Data, setTriggerValue: Send, setStateValue: Send}} component
 */
export default function streamlitViewer(component) {
  const send = (/** @type {string} */ name, /** @type {unknown} */ value) =>
    name === "selected" ? component.setStateValue(name, value) : component.setTriggerValue(name, value);
  writeAddress(component.data.address);
  return mountViewer(component.parentElement, component.data, send);
}
