/**
 * Files and folders dropped anywhere go to the one hidden uploader of Streamlit; what does not arrive is named to Python.
 *
 * Listens on the window before everyone else (capture) and stops the event, so that no second uploader takes the files.
 */

import { html } from "../shared/elements.js";
import { mounting, streamlitComponent } from "../shared/mount.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { DropEvents, DropPayload } from "../shared/payloads.d.ts" */

/** Milliseconds without a word from the browser, which repeats `dragover`: the drag has gone. */
const STILL = 700;
/** How long the uploader has to show up, and to show a file. */
const APPEARS = 5000;
const TAKES = 5000;
const HIDDEN = /(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini)$/;

/** @param {FileSystemDirectoryEntry} folder @param {File[]} files @returns {Promise<void>} */
async function walk(folder, files) {
  const reader = folder.createReader();
  // At most 100 entries for each call: until none is left.
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const entries = await new Promise((done, fail) => { reader.readEntries(done, fail); });
    if (!entries.length) return;
    for (const entry of entries) {
      if (entry.isDirectory) await walk(/** @type {FileSystemDirectoryEntry} */ (entry), files);
      else {
        /** @type {File} */
        const file = await new Promise((done, fail) => { /** @type {FileSystemFileEntry} */ (entry).file(done, fail); });
        // With its folder in its name: else two files of one name cannot be told apart.
        files.push(new File([file], entry.fullPath.slice(1), { type: file.type, lastModified: file.lastModified }));
      }
    }
  }
}

/**
 * All files of a drop, folders opened. The entries must be taken before the first `await`: afterwards they are gone.
 * @param {DataTransfer} transfer @returns {Promise<File[]>}
 */
async function filesOf(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry());
  const plain = items.map((item) => item.getAsFile());
  /** @type {File[]} */
  const files = [];
  await Promise.all(entries.map(async (entry, place) => {
    const file = plain[place];
    if (entry?.isDirectory) await walk(/** @type {FileSystemDirectoryEntry} */ (entry), files);
    else if (file) files.push(file);
  }));
  return files;
}

/** @param {() => unknown} there @param {number} [ms] @returns {Promise<boolean>} whether it is there in time */
async function soon(there, ms = Infinity) {
  for (const end = Date.now() + ms; Date.now() < end; await new Promise((done) => { setTimeout(done, 40); })) if (there()) return true;
  return false;
}

/**
 * The uploader's own way in, until every file is there or has failed. Private to Streamlit: the test ids of its input, of a
 * file in it and of one on its way, and `change`.
 *
 * The uploader first asks for addresses over the socket. Streamlit throws that answer away when a run of the script begins
 * before it was sent (ForwardMsgQueue.clear), and waits for it for ever: no file shows up then, and it is asked again.
 * @param {File[]} files @param {string} key
 */
export async function hand(files, key) {
  const transfer = new DataTransfer();
  for (const file of files) transfer.items.add(file);
  const own = (/** @type {string} */ id) => document.querySelector(`.st-key-${key} [data-testid="${id}"]`);
  const input = () => /** @type {HTMLInputElement | null} */ (own("stFileUploaderDropzoneInput"));
  for (let tries = 0; tries < 4; tries += 1) {
    if (!await soon(input, APPEARS)) return; // its script comes when it is first shown
    const node = input();
    if (!node) return;
    node.files = transfer.files;
    node.dispatchEvent(new Event("change", { bubbles: true }));
    // A file shows up, or they are taken already and the uploader has another key.
    if (await soon(() => own("stFileChip") ?? !input(), TAKES)) {
      await soon(() => !own("stFileChipIconSpinner"));
      return;
    }
  }
}

class DropAnywhere {
  /** @param {ParentNode & Node} parent @param {Send<DropEvents>} send */
  constructor(parent, send) {
    this.send = send;
    this.timer = 0;
    /** @type {DropPayload | null} */
    this.data = null;
    /** a picture of our own page is a file too while it is dragged */
    this.own = false;
    this.words = html("b");
    this.root = html("div", { class: "layoutscope-drop", "aria-hidden": "true" },
      html("div", { class: "drop-card" }, this.words,
        html("span", {}, "Ground truth, predictions, PDFs or page images, as files, folders or zip"),
        html("small", {}, "They stay on this machine. What is open closes when you evaluate.")));
    parent.append(this.root);
    /** @type {HTMLInputElement | null} the chooser that is open, so that it is kept while the reader chooses */
    this.chooser = null;
    this.listening = new AbortController();
    this.on("dragstart", () => { this.own = true; });
    this.on("dragend", () => { this.own = false; });
    this.on("dragenter", (event) => this.over(event));
    this.on("dragover", (event) => this.over(event));
    // To nowhere: out of the window, or Esc. Counting fails when an element goes away below the pointer.
    this.on("dragleave", (event) => { if (!event.relatedTarget) this.show(null); });
    this.on("drop", (event) => this.drop(event));
    this.on("click", (event) => {
      const opener = event.target instanceof Element && event.target.closest(".ls-opener");
      if (!opener) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      this.choose(opener.classList.contains("ls-folder"));
    });
    this.on("keydown", (event) => {
      if (event.key.toLowerCase() !== "o" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      this.choose(event.shiftKey);
    });
    // Pressed before anybody listened: the browser still takes it for a press of the reader for some seconds.
    const pressed = document.activeElement?.closest(".ls-opener");
    if (pressed && navigator.userActivation?.isActive) this.choose(pressed.classList.contains("ls-folder"));
    // From a component, whose inside a click on the window does not name.
    window.addEventListener("layoutscope-open", () => this.choose(false), { signal: this.listening.signal });
  }

  /** @template {keyof WindowEventMap} N @param {N} name @param {(event: WindowEventMap[N]) => void} act */
  on(name, act) {
    window.addEventListener(name, act, { capture: true, signal: this.listening.signal });
  }

  /** @param {DropPayload} data */
  update(data) {
    this.data = data;
  }

  /** @param {DragEvent} event @returns {boolean} whether files of the reader are dragged, which then are ours */
  takes(event) {
    if (this.own || !event.dataTransfer || ![...event.dataTransfer.types].includes("Files")) return false;
    event.preventDefault(); // without it the browser opens the file in place of the dashboard
    event.stopImmediatePropagation();
    return true;
  }

  /** @param {DragEvent} event */
  over(event) {
    if (!this.takes(event) || !event.dataTransfer) return;
    event.dataTransfer.dropEffect = "copy";
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.show(null), STILL);
    this.show(event.dataTransfer.items.length);
  }

  /** @param {DragEvent} event */
  drop(event) {
    if (!this.takes(event) || !event.dataTransfer) return;
    clearTimeout(this.timer);
    this.show(null);
    void filesOf(event.dataTransfer).then((files) => this.take(files));
  }

  /** @param {number | null} count files, 0 for an unknown number; null hides the veil */
  show(count) {
    this.root.classList.toggle("on", count !== null);
    if (count !== null) this.words.textContent = count ? `Drop ${count} ${count === 1 ? "file" : "files"} to open ${count === 1 ? "it" : "them"}` : "Drop to open";
  }

  /** @param {File[]} files */
  async take(files) {
    if (!this.data) return;
    const { key, limit } = this.data;
    const wanted = files.filter((file) => !HIDDEN.test(file.name));
    const large = wanted.filter((file) => file.size > limit * 2 ** 20);
    const fit = wanted.filter((file) => !large.includes(file));
    if (fit.length) await hand(fit, key);
    // Streamlit tells Python nothing of what is too large or cut off. Not before the files: it begins a run.
    const names = (/** @type {File[]} */ of) => of.map((file) => file.name);
    if (wanted.length) this.send("dropped", { drop: key, names: names(wanted), large: names(large) });
  }

  /** The same by keyboard: it opens only while a press of the reader is handled. @param {boolean} folder */
  choose(folder) {
    const input = /** @type {HTMLInputElement} */ (html("input", { type: "file", multiple: true, webkitdirectory: folder }));
    input.addEventListener("change", () => {
      // Enter is for the list that follows, not for the link once more.
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      void this.take([...input.files ?? []].map((file) => file.webkitRelativePath ? new File([file], file.webkitRelativePath, { type: file.type }) : file));
    });
    this.chooser = input;
    input.click();
  }

  stop() {
    this.listening.abort();
    clearTimeout(this.timer);
    this.root.remove();
  }
}

export default streamlitComponent(mounting(DropAnywhere));
