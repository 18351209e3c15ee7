/** Opens a page of the pack in the viewer; everything else of the pack works without script. */

import { mountViewer } from "../viewer/viewer.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { PackPagePayload, PageEvents, PagePayload } from "../shared/payloads.d.ts" */

/** Pixels of the dialog that its own bar takes. */
const DIALOG_BAR = 74;
const MOST_BLOCKS = 12;

class PackViewer {
  /** @param {HTMLDialogElement} dialog @param {HTMLElement} host @param {HTMLTemplateElement} style of the viewer */
  constructor(dialog, host, style) {
    this.dialog = dialog;
    // A root of its own, so that the styles of the pack and of the viewer never meet.
    this.root = host.attachShadow({ mode: "open" });
    this.root.append(style.content.cloneNode(true));
    this.sources = [...document.querySelectorAll("script[data-page]")];
    /** @type {PackPagePayload[]} parsed once each: the strip looks at all pages, hundreds of them, on every turn */
    this.parsed = [];
    this.position = 0;
    this.letter = "";
    /** @type {string | null} */
    this.selected = null;
  }

  /** @param {number} position @returns {PackPagePayload} */
  read(position) {
    this.parsed[position] ??= JSON.parse(this.sources[position].textContent ?? "");
    return this.parsed[position];
  }

  /** @param {PackPagePayload} payload the layer of the model that shows, or of the last one */
  layerOf({ models }) {
    return models.find((each) => each.model.letter === this.letter) ?? models[models.length - 1];
  }

  /** @returns {PagePayload["strip"]} */
  strip() {
    return this.sources.map((_, position) => {
      const payload = this.read(position);
      const { boxes, mistakes } = this.layerOf(payload).data;
      const truths = boxes.filter((box) => box.side === "ground_truth").slice(0, MOST_BLOCKS);
      const { document: name, index } = payload.page;
      return { document: name, index, mistakes: mistakes.length, blocks: truths.map(({ xyxy, label }) => [...xyxy, label]), current: position === this.position };
    });
  }

  /** @returns {number[]} how many mistakes of each page have a verdict */
  judged() {
    return this.sources.map((_, position) => this.layerOf(this.read(position)).data.mistakes.filter(({ verdict }) => verdict).length);
  }

  /** @param {number} position */
  show(position) {
    this.position = Math.max(0, Math.min(this.sources.length - 1, position));
    const payload = this.read(this.position);
    const layer = this.layerOf(payload);
    this.letter = layer.model.letter;
    const picture = this.sources[this.position].parentElement?.querySelector("img");
    /** @type {PagePayload} */
    const data = {
      ...layer.data,
      page: { ...payload.page, ...layer.text, count: null, image: picture ? picture.src : null, notes: [] },
      strip: this.strip(),
      judged: this.judged(),
      model: layer.model,
      models: payload.models.map((each) => each.model),
      selected: this.selected,
      empty: null,
      height: this.dialog.clientHeight - DIALOG_BAR,
      walk: { before: this.position > 0, after: this.position < this.sources.length - 1, total: 0 },
    };
    mountViewer(this.root, data, (...event) => this.answer(...event));
  }

  /** @param {Parameters<Send<PageEvents>>} event */
  answer(...event) {
    const [name, value] = event;
    if (name === "go") this.go(value);
    else if (name === "model") {
      this.letter = value;
      this.show(this.position);
    }
    else if (name === "selected") this.selected = value.key;
  }

  /** @param {PageEvents["go"]} go */
  go(go) {
    const at = this.sources.findIndex((_, position) => {
      const { page } = this.read(position);
      return page.document === go.document && page.index === go.index;
    });
    this.selected = null;
    this.show((at < 0 ? this.position : at) + (go.step || go.mistake || 0));
  }

  /** @param {number} position */
  open(position) {
    this.selected = null;
    this.dialog.showModal();
    this.show(position);
    // The keys of the viewer work from the first moment.
    const first = this.root.querySelector("[tabindex='0']");
    if (first instanceof HTMLElement) first.focus();
  }
}

/** Makes the buttons of the pages open the viewer. */
function openPages() {
  const [dialog, host, style] = ["viewer", "viewer-host", "viewer-style"].map((id) => document.getElementById(id));
  if (!(dialog instanceof HTMLDialogElement) || !host || !(style instanceof HTMLTemplateElement)) return;
  const viewer = new PackViewer(dialog, host, style);
  for (const node of document.querySelectorAll("[data-open]")) {
    node.addEventListener("click", () => viewer.open(Number(node.getAttribute("data-open"))));
  }
}

openPages();
