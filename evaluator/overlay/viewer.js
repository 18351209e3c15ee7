/**
 * The page viewer: toolbar, strip of pages, page with boxes, list of mistakes, key line.
 *
 * One tree of elements per parent, kept in a WeakMap, because Streamlit calls the default export again with the same
 * parent whenever the data change. What the reader does (toggles, zoom, hover, next mistake) stays here; only a page
 * turn, the chosen box, a wish for a sharper image, a change of model and a cleared filter are sent on.
 * `mountViewer(parent, data, send)` is the same viewer without Streamlit.
 */

import { unionOf } from "./viewer_geometry.js";
import { html, setAttributes } from "./viewer_elements.js";
import { REPEATING, actionOf } from "./viewer_keys.js";
import { arrangeChips, boxName, companions, drawBoxes, drawCuts, drawLost, drawMarked, drawMarkedChip, factsOf, placeTooltip, writeTooltip } from "./viewer_layers.js";
import { bringIntoView, inPane, listenToPane, makePane, settle, stackAt, startPlacement, zoomBy } from "./viewer_pane.js";
import { scrollToRow } from "./viewer_list.js";
import { PageTurner } from "./viewer_turn.js";
import { makeHelp, makeToolbar } from "./viewer_toolbar.js";
import { STATUSES, showAsked, writeBars, writeListState, writeMenu, writeMenuButton, writeMistakePlace, writeNotes, writePlace, writeRows, writeStrip } from "./viewer_words.js";

/** @typedef {import("./viewer_geometry.js").Rect} Rect */
/** @typedef {import("./viewer_layers.js").Box} Box */
/** @typedef {import("./viewer_layers.js").Mistake} Mistake */
/** @typedef {import("./viewer_list.js").StripPage} StripPage */
/**
 * @typedef {object} Page
 * @property {string} document
 * @property {number} index 0-based
 * @property {number | null} count pages of the document
 * @property {number} position 1-based place among the pages of the list
 * @property {number} total pages of the list
 * @property {number} width points
 * @property {number} height
 * @property {string | null} image data URL
 * @property {number} image_width pixels
 * @property {{title: string, text: string, fix: string} | null} problem
 * @property {string[]} notes
 * @property {Rect[]} [lost] words that no prediction holds, shares of the page
 * @property {number | null} [lost_words] how many; null or missing takes the toggle away
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
    /** @type {ReturnType<typeof arrangeChips>} */
    this.chipPlaces = [];
    this.crowded = false;
    /** @type {Map<number, HTMLButtonElement>} */
    this.rows = new Map();
    this.layers = { TP: true, FP: true, FN: true, truth: false, predictions: true, lost: true };
    /** @type {Set<string>} */
    this.hiddenLabels = new Set();
    /** @type {string | null} */
    this.hover = null;
    /** @type {string | null} */
    this.selected = null;
    /** @type {string | null} */
    this.sentSelected = null;
    /** @type {[number, number] | null} */
    this.pointer = null;
    this.stackKeys = "";
    this.stackOrder = 0;
    this.place = startPlacement();
    this.load = 0;
    this.askedWidth = 0;
    this.chipFont = "650 12px sans-serif";
    this.timers = { selected: 0, sharper: 0, chips: 0 };

    this.tools = makeToolbar({
      turn: (step) => this.turner.turn(step),
      step: (step) => this.stepMistake(step),
      toggle: (status) => this.setLayer(status, !this.layers[status]),
      zoom: (factor) => this.zoom(factor, null),
      lost: () => this.setLayer("lost", !this.layers.lost),
      menu: () => this.openMenu(this.tools.menu.hidden),
    });
    this.pane = makePane();
    this.strip = html("nav", { class: "strip", "aria-label": "Pages" });
    this.list = html("div", { class: "list", role: "group", "aria-label": "Mistakes on this page" });
    this.listHead = html("div", { class: "list-head" });
    this.keys = html("div", { class: "key-line" });
    this.help = makeHelp();
    this.spoken = html("div", { class: "unseen", "aria-live": "polite" });
    this.cropStyle = html("style");
    this.root = html("div", { class: "layoutscope-viewer" },
      this.tools.root,
      html("div", { class: "work" },
        html("div", { class: "stage" }, this.strip, this.pane.column),
        html("section", { class: "side", "aria-label": "Mistakes" }, this.listHead, this.list)),
      this.keys, this.help, this.spoken, this.cropStyle);
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
      move: (at, key) => this.movePointer(at, key),
      click: () => this.select(this.hover),
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
      Object.values(this.timers).forEach((timer) => window.clearTimeout(timer));
    };
    document.fonts?.ready.then(() => this.scheduleChips());
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
      this.sentSelected = data.selected;
      this.askedWidth = 0;
      window.clearTimeout(this.timers.selected);
    } else if (data.selected !== before && data.selected !== this.sentSelected) {
      this.selected = data.selected;
      this.sentSelected = data.selected;
    }
    const around = page && [page.width, page.height, page.problem, page.notes, page.lost, page.lost_words];
    const contentText = JSON.stringify([around, data.boxes, data.mistakes, data.counts, data.empty, data.limit, data.labels, data.models, data.model]);
    const contentChanged = turned || contentText !== this.contentText;
    if (contentChanged) {
      this.contentText = contentText;
      this.boxes = new Map(data.boxes.map((box) => [box.key, box]));
      this.mistakes = new Map(data.mistakes.map((mistake) => [mistake.number, mistake]));
      ({ rects: this.rects, chips: this.chips } = drawBoxes(this.pane.boxes, this.pane.chips, data.boxes));
      this.pane.chips.classList.remove("ready");
      drawLost(this.pane.lost, page?.lost ?? []);
    }
    if (this.selected !== null && !this.boxes.has(this.selected)) this.selected = null;
    if (this.hover !== null && !this.boxes.has(this.hover)) this.hover = null;
    if (contentChanged) writeBars(this);
    this.fillWindow();
    this.measure();
    if (contentChanged) {
      writeRows(this);
      this.applyLayers();
      if (turned) this.list.scrollTop = 0;
    } else if (imageChanged) {
      writeRows(this);
    }
    writeStrip(this);
    writePlace(this);
    this.turner.arrived(data, turned);
    this.mark(false);
  }

  /** @returns {Data} what is on screen */
  shown() {
    return /** @type {Data} */ (this.data);
  }

  /** @param {HTMLImageElement | null} image @returns {boolean} whether it is another one */
  showImage(image) {
    const old = this.pane.image;
    if (image === old) return false;
    if (image) {
      old.replaceWith(image);
      this.pane.image = image;
      this.cropStyle.textContent = `.crop-image{background-image:url("${image.getAttribute("src")}")}`;
      return true;
    }
    const had = old.hasAttribute("src");
    old.removeAttribute("src");
    old.hidden = true;
    this.cropStyle.textContent = "";
    return had;
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
    this.scheduleChips();
    this.drawMark();
    drawCuts(this.pane.cuts, this.cuts(), this.place.sheet);
    window.clearTimeout(this.timers.sharper);
    this.timers.sharper = window.setTimeout(() => this.askSharper(), 250);
  }

  /** @param {number} factor 0 for the whole page @param {[number, number] | null} at pixels of the pane */
  zoom(factor, at) {
    let point = at;
    const marked = this.active();
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

  // ---- what shows ------------------------------------------------------------------------------------------------

  /** @param {Box} box @returns {boolean} */
  visible(box) {
    if (this.hiddenLabels.has(box.label)) return false;
    if (box.status === "truth") return this.layers.truth;
    if (box.status === "FN") return this.layers.FN || this.layers.truth;
    return this.layers.predictions && this.layers[box.status];
  }

  /** @returns {Box[]} */
  visibleBoxes() {
    return [...this.boxes.values()].filter((box) => this.visible(box));
  }

  /** @param {Mistake} mistake @returns {Box[]} */
  boxesOf(mistake) {
    return mistake.keys.map((key) => this.boxes.get(key)).filter((box) => box !== undefined);
  }

  /** @returns {Mistake[]} those with a box that shows */
  listed() {
    return [...this.mistakes.values()].filter((mistake) => {
      const own = this.boxesOf(mistake);
      return own.length === 0 || own.some((box) => this.visible(box));
    });
  }

  /** @returns {{cut: import("./viewer_layers.js").Cut, truth: Rect, prediction: Rect}[]} of the mistakes whose pair shows */
  cuts() {
    return [...this.mistakes.values()].flatMap((mistake) => {
      const own = this.boxesOf(mistake).filter((box) => this.visible(box));
      const truth = own.find((box) => box.side === "ground_truth");
      const prediction = own.find((box) => box.side === "prediction");
      return mistake.cut && truth && prediction ? [{ cut: mistake.cut, truth: truth.xyxy, prediction: prediction.xyxy }] : [];
    });
  }

  /** @param {"TP" | "FP" | "FN" | "truth" | "predictions" | "lost"} layer @param {boolean} shown */
  setLayer(layer, shown) {
    this.layers[layer] = shown;
    this.applyLayers();
  }

  /** @param {string[]} labels @param {boolean} shown */
  showLabels(labels, shown) {
    for (const label of labels) {
      if (shown) this.hiddenLabels.delete(label);
      else this.hiddenLabels.add(label);
    }
    this.applyLayers();
  }

  showAll() {
    Object.assign(this.layers, { TP: true, FP: true, FN: true, predictions: true });
    this.hiddenLabels.clear();
    this.applyLayers();
  }

  applyLayers() {
    const { layers, pane, tools } = this;
    const hidden = {
      TP: !(layers.TP && layers.predictions),
      FP: !(layers.FP && layers.predictions),
      FN: !(layers.FN || layers.truth),
      truth: !layers.truth,
    };
    for (const [status, off] of Object.entries(hidden)) {
      pane.boxes.classList.toggle(`hide-${status}`, off);
      pane.chips.classList.toggle(`hide-${status}`, off);
    }
    for (const [key, rect] of this.rects) {
      const off = this.hiddenLabels.has(/** @type {Box} */ (this.boxes.get(key)).label);
      rect.classList.toggle("off", off);
      this.chips.get(key)?.classList.toggle("off", off);
    }
    for (const status of STATUSES) {
      const { node } = tools.toggles[status];
      setAttributes(node, { "aria-pressed": String(layers[status]) });
      node.classList.toggle("overruled", layers[status] && hidden[status]);
    }
    pane.lost.classList.toggle("off", !layers.lost);
    setAttributes(tools.lost, { "aria-pressed": String(layers.lost) });
    const marked = this.hover ? this.boxes.get(this.hover) : null;
    if (marked && !this.visible(marked)) this.hover = null;
    drawCuts(pane.cuts, this.cuts(), this.place.sheet);
    writeMenuButton(this);
    writeNotes(this);
    writeListState(this);
    this.mark(false);
    this.scheduleChips();
  }

  /** New content gets its chips at once, a zoom or a toggle when it has come to rest. */
  scheduleChips() {
    window.clearTimeout(this.timers.chips);
    if (this.pane.chips.classList.contains("ready")) this.timers.chips = window.setTimeout(() => this.arrange(), 60);
    else this.arrange();
  }

  arrange() {
    if (!this.place.sheet.width || !this.data) return;
    this.chipPlaces = arrangeChips(this.chips, this.visibleBoxes(), this.place.sheet, this.chipFont);
    this.pane.chips.classList.add("ready");
    const crowded = this.chipPlaces.length > 0 && this.chipPlaces.every((chip) => chip.rect === null);
    if (crowded !== this.crowded) {
      this.crowded = crowded;
      writeNotes(this);
    }
    drawMarkedChip(this.pane.markedChips, this.active(), this.place.sheet, this.chipFont, this.chipPlaces);
  }

  /** @returns {Box | null} the box under the pointer, else the chosen one */
  active() {
    return this.boxes.get(this.hover ?? this.selected ?? "") ?? null;
  }

  /** @param {string | null} key */
  setHover(key) {
    if (key === this.hover) return;
    this.hover = key;
    this.mark(false);
  }

  /** Shows the box under the pointer or the chosen one everywhere. @param {boolean} quiet leave the list where it is scrolled */
  mark(quiet) {
    const box = this.active();
    const chosen = this.selected ? this.boxes.get(this.selected) : undefined;
    for (const row of this.list.querySelectorAll(".hovered, .chosen")) {
      row.classList.remove("hovered", "chosen");
      row.removeAttribute("aria-current");
    }
    const chosenRow = this.rows.get(chosen?.mistake ?? -1);
    const row = this.rows.get(box?.mistake ?? -1);
    chosenRow?.classList.add("chosen");
    chosenRow?.setAttribute("aria-current", "true");
    row?.classList.add("hovered");
    if (row && !quiet && !this.list.matches(":hover")) scrollToRow(this.list, row);
    const first = chosenRow ?? [...this.rows.values()].find((each) => !each.hidden);
    if (first && first.tabIndex !== 0) {
      this.list.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
      first.tabIndex = 0;
    }
    writeTooltip(this.pane.tooltip, box ? factsOf(box, this.mistakes.get(box.mistake ?? -1), this.boxes) : null);
    this.pane.root.classList.toggle("over-box", this.hover !== null);
    this.drawMark();
    writeMistakePlace(this);
  }

  drawMark() {
    const box = this.active();
    const others = box ? companions(box, this.boxes, this.mistakes.get(box.mistake ?? -1)) : [];
    const { sheet, pane, x, y } = this.place;
    drawMarked(this.pane.marked, box, others, sheet);
    drawMarkedChip(this.pane.markedChips, box, sheet, this.chipFont, this.chipPlaces);
    if (!box) return;
    const own = new Set([box, ...others]);
    const around = this.visibleBoxes().filter((each) => !own.has(each))
      .map((each) => ({ rect: inPane(this.place, each.xyxy), weight: each.mistake === null ? 0.7 : 1.5 }));
    placeTooltip(this.pane.tooltip, [...own].map((each) => inPane(this.place, each.xyxy)), around, [x, y, x + sheet.width, y + sheet.height], pane, this.pointer);
  }

  // ---- choosing ----------------------------------------------------------------------------------------------------

  /** @param {[number, number] | null} at pixels of the pane @param {string | null} chip the box whose chip is there */
  movePointer(at, chip) {
    this.pointer = at;
    if (!at) {
      this.stackKeys = "";
      this.setHover(null);
      return;
    }
    if (chip) {
      this.setHover(chip);
      return;
    }
    const stack = stackAt(this.place, this.visibleBoxes(), at);
    const keys = stack.map((box) => box.key).join(" ");
    if (keys !== this.stackKeys) {
      this.stackKeys = keys;
      this.stackOrder = 0;
    }
    this.setHover(stack[this.stackOrder]?.key ?? null);
  }

  /** @param {string | null} key */
  select(key) {
    if (key === this.selected) return;
    this.selected = key;
    this.mark(false);
    const box = key ? this.boxes.get(key) : undefined;
    const mistake = this.mistakes.get(box?.mistake ?? -1);
    this.spoken.textContent = mistake ? [`Mistake ${mistake.number}`, mistake.title, mistake.label, ...mistake.lines].join(", ") : box ? boxName(box) : "";
    window.clearTimeout(this.timers.selected);
    this.timers.selected = window.setTimeout(() => {
      const page = this.data?.page;
      if (!page || this.selected === this.sentSelected) return;
      this.sentSelected = this.selected;
      this.send("selected", { document: page.document, index: page.index, key: this.selected });
    }, 250);
  }

  /** @param {Mistake} mistake */
  chooseMistake(mistake) {
    const own = this.boxesOf(mistake);
    if (own.length === 0) return;
    this.select((own.find((box) => this.visible(box)) ?? own[0]).key);
    if (this.place.zoom === 1) return;
    bringIntoView(this.place, unionOf(own.map((box) => box.xyxy)), this.pageSize(), this.pane.sheet);
    this.afterMove();
  }

  /** @param {number} step */
  stepMistake(step) {
    const listed = this.listed();
    if (listed.length === 0) return;
    const number = this.selected ? this.boxes.get(this.selected)?.mistake : null;
    const at = listed.findIndex((mistake) => mistake.number === number);
    const next = at < 0 ? (step > 0 ? 0 : listed.length - 1) : (at + step + listed.length) % listed.length;
    this.hover = null;
    this.chooseMistake(listed[next]);
    this.mark(false);
  }

  /** @param {number} step through boxes that lie on each other */
  stepStack(step) {
    const chosen = this.selected ? this.boxes.get(this.selected) : undefined;
    const r = chosen ? inPane(this.place, chosen.xyxy) : null;
    const at = this.pointer ?? (r ? /** @type {[number, number]} */ ([(r[0] + r[2]) / 2, (r[1] + r[3]) / 2]) : null);
    const stack = at ? stackAt(this.place, this.visibleBoxes(), at) : [];
    if (stack.length === 0) return;
    const current = stack.findIndex((box) => box.key === (this.hover ?? this.selected));
    const next = ((current < 0 ? -step : current) + step + stack.length) % stack.length;
    this.stackKeys = stack.map((box) => box.key).join(" ");
    this.stackOrder = next;
    if (this.pointer) this.setHover(stack[next].key);
    else this.select(stack[next].key);
    this.spoken.textContent = boxName(stack[next]);
  }

  flipModel() {
    const { models, model } = this.shown();
    const here = models.findIndex((each) => each.letter === model.letter);
    if (models.length > 1) this.send("model", models[(here + 1) % models.length].letter);
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
      case "next-mistake": this.stepMistake(1); return true;
      case "previous-mistake": this.stepMistake(-1); return true;
      case "stack-up": return this.upOrDown(-1, target);
      case "stack-down": return this.upOrDown(1, target);
      case "zoom-in": this.zoom(1.4, this.pointer); return true;
      case "zoom-out": this.zoom(1 / 1.4, this.pointer); return true;
      case "fit": this.zoom(0, null); return true;
      case "truth": this.setLayer("truth", !this.layers.truth); return true;
      case "predictions": this.setLayer("predictions", !this.layers.predictions); return true;
      case "model": this.flipModel(); return true;
      case "help": this.openHelp(); return true;
      default: return this.escape();
    }
  }

  /** @param {number} step @param {HTMLElement | null} target @returns {boolean} */
  upOrDown(step, target) {
    const column = !this.pointer && target ? [this.strip, this.list].find((each) => each.contains(target)) : undefined;
    if (!column) {
      this.stepStack(step);
      return this.pointer !== null || this.selected !== null;
    }
    const nodes = [...column.querySelectorAll("button")].filter((node) => !node.hidden);
    const next = nodes[nodes.indexOf(/** @type {HTMLButtonElement} */ (target)) + step];
    if (!next) return true;
    next.focus({ preventScroll: true });
    if (column === this.list) {
      const mistake = this.mistakes.get(Number(next.getAttribute("data-number")));
      if (mistake) this.chooseMistake(mistake);
    } else {
      column.scrollTop = next.offsetTop - (column.clientHeight - next.offsetHeight) / 2;
    }
    return true;
  }

  /** @returns {boolean} */
  escape() {
    if (!this.tools.menu.hidden) {
      this.openMenu(false);
      this.tools.labels.focus();
      return true;
    }
    if (this.selected === null && this.hover === null) return false;
    this.hover = null;
    this.select(null);
    this.mark(true);
    return true;
  }
}

/** @param {Data} data @returns {Data} the same page as an empty sheet, and why */
function withoutImage(data) {
  const problem = {
    title: "The page image cannot be shown",
    text: "The browser could not decode it. The boxes are drawn on an empty sheet.",
    fix: "Reload the view; if it stays, open the PDF elsewhere to check it.",
  };
  return { ...data, page: data.page && { ...data.page, image: null, problem: data.page.problem ?? problem } };
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
  return mountViewer(component.parentElement, component.data, send);
}
