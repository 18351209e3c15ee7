/**
 * The comparison of two models on the page: filters, list of pages, two linked panes, key line.
 *
 * One tree of elements per parent, kept in a WeakMap, because Streamlit calls the default export again with the same
 * parent whenever the data change. Zoom, pan, hover, the way to look and the next difference stay here; a page turn,
 * a filter, the chosen box, a wish for a sharper image and the way to the Page browser are sent on.
 */

import { boxName } from "../shared/layers.js";
import { button, html, icon, setAttributes } from "../shared/elements.js";
import { stackAt } from "../shared/pane.js";
import { ToldChoice, Wish, dropWhenLeaving } from "../shared/requests.js";
import { PageTurner, withoutImage, writeAddress } from "../shared/turn.js";
import { COMPARE_REPEATING, compareAction, compareKeyLine, makeCompareHelp } from "./keys.js";
import { pressSegment, segments } from "./list.js";
import { PairOfPanes } from "./panes.js";
import { TOP_BAR, afterMove, fillWindow, placePages } from "./place.js";
import { showAskedPage, writeDifference, writeFilters, writeList, writePanes } from "./words.js";

/** @typedef {import("../shared/geometry.js").Rect} Rect */
/** @typedef {import("./list.js").ListedPage} ListedPage */
/** @typedef {import("./list.js").Filter} Filter */
/** @typedef {import("./panes.js").PaneData} PaneData */
/** @typedef {import("./panes.js").Half} Half */
/** @typedef {{key: string, kind: string, xyxy: Rect, words: string}} Difference */
/**
 * @typedef {object} ComparedPage
 * @property {string} document
 * @property {number} index 0-based
 * @property {number} position 1-based place among the pages of the list
 * @property {number} total pages of the list
 * @property {number} width points
 * @property {number} height
 * @property {string | null} image data URL
 * @property {number} image_width pixels
 * @property {{title: string, text: string, fix: string} | null} problem
 * @property {string[]} notes
 */
/**
 * @typedef {object} CompareData
 * @property {ComparedPage | null} page
 * @property {[PaneData, PaneData] | []} panes
 * @property {Difference[]} differences those that the filter asks for, in reading order
 * @property {ListedPage[]} strip the list of pages
 * @property {{title: string, words: string, scale: number, diverging: boolean}} look of the list
 * @property {Filter[]} filters
 * @property {string} show name of the filter
 * @property {string} mode side, flip or slider
 * @property {string | null} selected
 * @property {boolean} summoned a number opened this page: bring the panes into the window
 * @property {string} visit changes with each opening
 * @property {{text: string, action: string} | null} empty
 * @property {string} [address] query of this state, without question mark
 */
/** @typedef {(name: string, value: unknown) => void} Send */

const PAGE_IMAGE = /^data:image\/(webp|png|jpeg);base64,[A-Za-z0-9+/=]+$/;
const MODES = [
  { name: "side", title: "Side by side", words: "Two linked panes (S)" },
  { name: "flip", title: "Flip", words: "One pane, F changes the model" },
  { name: "slider", title: "Slider", words: "One pane with a divider (D)" },
];

export class Comparison {
  /** @param {ParentNode & Node} parent @param {Send} send */
  constructor(parent, send) {
    this.send = send;
    /** @type {CompareData | null} */
    this.data = null;
    this.pageId = "";
    this.contentText = "";
    this.listText = "";
    this.filterText = "";
    this.visit = "";
    this.load = 0;
    this.askedWidth = 0;
    this.untouched = true;
    this.tall = false;
    /** @type {string | null} */
    this.hover = null;
    /** @type {string | null} */
    this.selected = null;
    this.told = new ToldChoice();
    this.sentMode = "side";
    /** @type {Half | null} */
    this.under = null;
    /** @type {[number, number] | null} */
    this.pointer = null;
    this.font = "650 12px sans-serif";
    this.timers = { chips: 0 };
    this.wishes = { selected: new Wish(250), sharper: new Wish(250), mode: new Wish(400) };
    this.panes = new PairOfPanes({
      move: (half, at, chip) => this.moved(half, at, chip),
      click: () => this.select(this.hover),
      zoom: (factor, at) => this.zoom(factor, at),
      pan: (dx, dy) => this.pan(dx, dy),
      open: (letter) => this.send("open", { letter, key: this.selected }),
      flip: () => this.flip(),
    });
    this.build(parent);
    this.turner = new PageTurner(
      (name, value) => this.send(name, value),
      (asked) => showAskedPage(this, asked),
      (slow) => this.root.classList.toggle("waiting", slow),
    );
    this.listen();
  }

  // ---- elements -------------------------------------------------------------------------------------------------

  /** @param {ParentNode & Node} parent */
  build(parent) {
    const joined = (/** @type {string} */ name, /** @type {Node[]} */ ...parts) => html("div", { class: "joined", role: "group", "aria-label": name }, ...parts);
    this.filters = html("div", { class: "filters" });
    this.modes = segments("Way to look", "modes", MODES, (name) => this.setMode(name));
    this.previous = button("Previous difference", { title: "Previous difference (P)" }, () => this.step(-1), icon("up"));
    this.next = button("Next difference", { title: "Next difference (N)" }, () => this.step(1), icon("down"));
    this.place = html("span", { class: "joined-text" });
    this.zoomOut = button("Zoom out", { title: "Zoom both panes out (\u2212)" }, () => this.zoom(1 / 1.4, null), icon("minus"));
    this.fit = button("Zoom, linked", { class: "fit pair-fit" }, () => this.fitPage());
    this.zoomIn = button("Zoom in", { title: "Zoom both panes in (+)" }, () => this.zoom(1.4, null), icon("plus"));
    this.large = button("Tall panes", { class: "toggle", "aria-pressed": "false", title: "Panes as tall as the window (Z)" }, () => this.enlarge(!this.tall), "Tall");
    this.listHead = html("div", { class: "net-head" });
    this.list = html("nav", { class: "net-list", "aria-label": "Pages" });
    this.list.addEventListener("keydown", (event) => this.walkList(event));
    this.warnings = html("div", { class: "warnings" });
    this.message = html("div", { class: "pair-message", hidden: true });
    this.notes = html("div", { class: "notes pair-notes" });
    this.said = html("div", { class: "pair-said muted" });
    this.keys = html("div", { class: "key-line" });
    this.help = makeCompareHelp();
    this.spoken = html("div", { class: "unseen", "aria-live": "polite" });
    this.work = html("div", { class: "pair-work" }, this.listHead, this.list, ...this.panes.nodes, this.notes, this.message);
    this.root = html("div", { class: "layoutscope-viewer layoutscope-compare" },
      html("div", { class: "toolbar pair-toolbar" }, this.filters, html("span", { class: "grow" }),
        joined("Difference", this.previous, this.place, this.next), this.modes,
        joined("Zoom", this.zoomOut, this.fit, this.zoomIn), this.large),
      this.warnings, this.work, this.said, this.keys, this.help, this.spoken);
    this.keys.replaceChildren(...compareKeyLine(() => this.openHelp()));
    parent.append(html("div", { class: "layoutscope-frame" }, this.root));
  }

  listen() {
    this.root.addEventListener("keydown", (event) => this.pressed(event));
    const pageKeys = (/** @type {KeyboardEvent} */ event) => {
      if (this.focusIsAround()) this.pressed(event);
    };
    const resize = () => this.resized();
    window.addEventListener("keydown", pageKeys);
    window.addEventListener("resize", resize);
    const stopDropping = dropWhenLeaving(this.root, this.wishes);
    const sizes = new ResizeObserver(resize);
    const host = this.host();
    if (host instanceof HTMLElement) host.style.scrollMarginTop = `${TOP_BAR}px`;
    sizes.observe(this.panes.a.pane.root);
    const block = this.host().closest("[data-testid='stMainBlockContainer']");
    if (block) sizes.observe(block);
    this.stop = () => {
      window.removeEventListener("keydown", pageKeys);
      window.removeEventListener("resize", resize);
      sizes.disconnect();
      this.turner.stop();
      stopDropping();
      Object.values(this.timers).forEach((timer) => window.clearTimeout(timer));
    };
    document.fonts?.ready.then(() => this.scheduleChips());
  }

  /** @returns {Element} the element of the outer document that holds the comparison */
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

  // ---- data -----------------------------------------------------------------------------------------------------

  /** @param {CompareData} data */
  update(data) {
    this.load += 1;
    const load = this.load;
    const source = data.page?.image ?? null;
    if (source === null || source === this.panes.a.pane.image.getAttribute("src")) {
      this.present(data, source === null ? [] : this.panes.halves().map((half) => half.pane.image));
      return;
    }
    if (!PAGE_IMAGE.test(source)) {
      this.present(withoutImage(data), []);
      return;
    }
    const images = this.panes.halves().map(() => /** @type {HTMLImageElement} */ (html("img", { class: "page-image", alt: "", draggable: "false", src: source })));
    Promise.all(images.map((image) => image.decode())).then(
      () => load === this.load && this.present(data, images),
      () => load === this.load && this.present(withoutImage(data), []),
    );
  }

  /** @param {CompareData} data @param {HTMLImageElement[]} images decoded, one for each pane, or none */
  present(data, images) {
    const page = data.page;
    const pageId = page ? JSON.stringify([page.document, page.index]) : "";
    const turned = pageId !== this.pageId || this.data === null;
    const summoned = data.summoned && data.visit !== this.visit;
    const before = this.data?.selected ?? null;
    const first = this.data === null;
    this.data = data;
    this.visit = data.visit;
    this.pageId = pageId;
    this.panes.halves().forEach((half, order) => replacePageImage(half, images[order] ?? null));
    if (first) this.setMode(data.mode, true);
    if (turned || summoned || (data.selected !== before && this.told.isNews(data.selected))) {
      this.selected = data.selected;
      this.told.agree(data.selected);
      this.wishes.selected.drop();
    }
    if (turned) {
      this.hover = null;
      this.askedWidth = 0;
      this.untouched = true;
    }
    const contentText = JSON.stringify([page && { ...page, image: null, image_width: 0 }, data.panes, data.differences]);
    const changed = turned || contentText !== this.contentText;
    this.contentText = contentText;
    if (changed) this.fillPanes();
    writeFilters(this);
    writeList(this);
    fillWindow(this);
    if (page) this.panes.page = page.width > 0 && page.height > 0 ? page : { width: 595, height: 842 };
    if (turned || changed || summoned) this.resized(true);
    if (summoned) {
      // The keys of the page are wanted next; the button that was pressed is in another component.
      this.host().scrollIntoView({ block: "nearest" });
      this.panes.shown()[0].pane.root.focus({ preventScroll: true });
    }
    this.turner.arrived(/** @type {any} */ (data), turned);
    this.showMark();
  }

  fillPanes() {
    writePanes(this);
    if (this.selected !== null && !this.known(this.selected)) this.selected = null;
    if (this.hover !== null && !this.known(this.hover)) this.hover = null;
    this.panes.showTruth(this.panes.truth);
  }

  /** @param {string} key @returns {import("./layers.js").PairBox | undefined} */
  known(key) {
    return this.panes.a.boxes.get(key) ?? this.panes.b.boxes.get(key);
  }

  /** @returns {CompareData} what is on screen */
  shown() {
    return /** @type {CompareData} */ (this.data);
  }

  /** @param {string | null} one @param {string | null} other @returns {boolean} the same box, seen in either page */
  sameBox(one, other) {
    if (one === null || other === null) return false;
    if (one === other) return true;
    const box = this.known(one);
    return box?.mate === other || this.known(other)?.partner === one || box?.partner === other;
  }

  // ---- ways to look ----------------------------------------------------------------------------------------------------

  /** @param {string} mode @param {boolean} [quiet] it came from the address */
  setMode(mode, quiet = false) {
    const known = MODES.some((each) => each.name === mode) ? mode : "side";
    pressSegment(this.modes, known);
    this.work.setAttribute("data-mode", known);
    this.panes.look(known);
    this.resized(true);
    this.wishes.mode.drop();
    if (quiet) {
      this.sentMode = known;
      return;
    }
    this.wishes.mode.soon(() => {
      if (this.sentMode === known) return;
      this.sentMode = known;
      this.send("mode", known);
    });
  }

  flip() {
    if (this.panes.mode === "flip") this.panes.flip();
    else this.setMode("flip");
    this.spoken.textContent = `Model ${this.panes.front}`;
    this.showMark();
  }

  /** @param {boolean} tall */
  enlarge(tall) {
    this.tall = tall;
    setAttributes(this.large, { "aria-pressed": String(tall) });
    fillWindow(this);
    this.resized(true);
    this.host().scrollIntoView({ block: tall ? "start" : "nearest" });
  }

  // ---- size and place --------------------------------------------------------------------------------------------

  /** @param {boolean} [anew] show the page as on its first look, if the reader has not moved it */
  resized(anew = false) {
    placePages(this, anew);
  }

  /** @param {number} factor @param {[number, number] | null} at pixels of the pane */
  zoom(factor, at) {
    this.untouched = false;
    this.panes.zoom(factor, at);
    afterMove(this);
  }

  fitPage() {
    this.untouched = false;
    if (this.panes.place.zoom === 1) this.panes.start(this.panes.widthZoom());
    else this.panes.zoom(0, null);
    afterMove(this);
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    if (this.panes.place.zoom === 1) return;
    this.untouched = false;
    this.panes.pan(dx, dy);
    afterMove(this);
  }

  /** New content gets its chips at once, a zoom or a pan when it has come to rest. */
  scheduleChips() {
    window.clearTimeout(this.timers.chips);
    const ready = this.panes.a.pane.chips.classList.contains("ready") && this.panes.b.pane.chips.classList.contains("ready");
    if (ready) this.timers.chips = window.setTimeout(() => this.arrange(), 60);
    else this.arrange();
  }

  arrange() {
    if (!this.panes.place.sheet.width || !this.data?.page) return;
    this.panes.arrange(this.font);
    const hidden = this.panes.hiddenChips;
    const words = hidden === 1 ? "1 name has no room. Zoom in (+)" : `${hidden} names have no room. Zoom in (+)`;
    const notes = hidden ? [button("Zoom in for the names", { class: "note" }, () => this.zoom(1.6, null), words)] : [];
    this.notes.replaceChildren(...notes);
    this.showMark();
  }

  // ---- boxes ------------------------------------------------------------------------------------------------------

  /** @param {Half} half @param {[number, number] | null} at @param {string | null} chip */
  moved(half, at, chip) {
    this.pointer = at;
    this.under = at ? half : null;
    let key = chip;
    if (at && !chip) key = stackAt(this.panes.place, half.visible(this.panes.truth), at)[0]?.key ?? null;
    half.pane.root.classList.toggle("over-box", key !== null);
    if (key === this.hover) return;
    this.hover = key;
    this.showMark();
  }

  showMark() {
    this.panes.mark(this.hover ?? this.selected, this.font, this.under, this.pointer, this.hover !== null);
    writeDifference(this);
  }

  /** @param {string | null} key */
  select(key) {
    if (key === this.selected) return;
    this.selected = key;
    this.showMark();
    const box = key ? this.known(key) : undefined;
    this.spoken.textContent = this.shown().differences.find((each) => this.sameBox(each.key, key))?.words ?? (box ? boxName(box) : "");
    this.wishes.selected.soon(() => {
      const page = this.data?.page;
      if (!page || this.told.knows(this.selected)) return;
      this.told.tell(this.selected);
      this.send("selected", { document: page.document, index: page.index, key: this.selected });
    });
  }

  /** @param {number} step through the differences of the page */
  step(step) {
    const all = this.data?.differences ?? [];
    if (all.length === 0) return;
    const at = all.findIndex((each) => this.sameBox(each.key, this.selected));
    const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length];
    this.hover = null;
    this.under = null;
    this.panes.show(next.xyxy);
    this.select(next.key);
    afterMove(this);
  }

  /** @returns {boolean} whether there was something to let go */
  letGo() {
    if (this.selected === null && this.hover === null) return false;
    this.hover = null;
    this.select(null);
    this.showMark();
    return true;
  }

  // ---- keys -------------------------------------------------------------------------------------------------------

  openHelp() {
    if (!this.help.open) this.help.showModal();
  }

  /** @param {KeyboardEvent} event up and down in the list of pages */
  walkList(event) {
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (step === 0) return;
    const nodes = [...this.list.querySelectorAll("button")];
    const next = nodes[nodes.indexOf(/** @type {HTMLButtonElement} */ (event.target)) + step];
    next?.focus({ preventScroll: true });
    if (next) this.list.scrollTop = next.offsetTop - this.list.offsetTop - (this.list.clientHeight - next.offsetHeight) / 2;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (!this.data || this.help.open || event.defaultPrevented) return;
    const action = compareAction(event);
    if (!action || (event.repeat && !COMPARE_REPEATING.has(action))) return;
    if (!this.act(action)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {string} action @returns {boolean} whether the key was used */
  act(action) {
    switch (action) {
      case "previous-page": this.turner.turn(-1); return true;
      case "next-page": this.turner.turn(1); return true;
      case "next": this.step(1); return true;
      case "previous": this.step(-1); return true;
      case "flip": this.flip(); return true;
      case "side": this.setMode("side"); return true;
      case "slider": this.setMode("slider"); return true;
      case "enlarge": this.enlarge(!this.tall); return true;
      case "truth":
        this.panes.showTruth(!this.panes.truth);
        this.scheduleChips();
        return true;
      case "zoom-in": this.zoom(1.4, this.pointer); return true;
      case "zoom-out": this.zoom(1 / 1.4, this.pointer); return true;
      case "fit": this.fitPage(); return true;
      case "help": this.openHelp(); return true;
      default: return this.letGo();
    }
  }
}

/** @param {Half} half @param {HTMLImageElement | null} image */
function replacePageImage(half, image) {
  const old = half.pane.image;
  if (image === old) return;
  if (image) {
    old.replaceWith(image);
    half.pane.image = image;
    return;
  }
  old.removeAttribute("src");
  old.hidden = true;
}

/** @type {WeakMap<object, Comparison>} */
const comparisons = new WeakMap();

/**
 * Shows data in a parent; the first call builds the comparison, later calls keep what the reader did.
 * @param {ParentNode & Node} parent @param {CompareData} data @param {Send} send
 * @returns {() => void} takes it away again
 */
export function mountComparison(parent, data, send) {
  const comparison = comparisons.get(parent) ?? new Comparison(parent, send);
  comparisons.set(parent, comparison);
  comparison.send = send;
  comparison.update(data);
  return () => {
    comparison.stop?.();
    comparison.root.parentElement?.remove();
    comparisons.delete(parent);
  };
}

/**
 * Called by Streamlit on mount and on each change of the data.
 * @param {{parentElement: ParentNode & Node, data: CompareData, setTriggerValue: Send, setStateValue: Send}} component
 */
export default function streamlitComparison(component) {
  const send = (/** @type {string} */ name, /** @type {unknown} */ value) =>
    name === "selected" || name === "mode" ? component.setStateValue(name, value) : component.setTriggerValue(name, value);
  writeAddress(component.data.address);
  return mountComparison(component.parentElement, component.data, send);
}
