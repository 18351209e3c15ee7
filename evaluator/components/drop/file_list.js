/** All files that were dropped, with a role for each, and the one button that evaluates them. */

import { button, drawWhenOther, html } from "../shared/elements.js";
import { mounting, streamlitComponent } from "../shared/mount.js";

/** @import { Send } from "../shared/mount.js" */
/** @import { ChoiceItem, FileListEvents, FileListPayload, ListedGroup, ListedItem } from "../shared/payloads.d.ts" */

class FileList {
  /** @param {ParentNode & Node} parent @param {Send<FileListEvents>} send */
  constructor(parent, send) {
    this.send = send;
    /** @type {FileListPayload | null} */
    this.data = null;
    this.sent = false;
    this.root = html("div", { class: "layoutscope-files" });
    parent.append(this.root);
    this.listening = new AbortController();
    // On the window, before everyone else; Enter on a link, a button or a choice stays theirs.
    window.addEventListener("keydown", (event) => this.press(event), { capture: true, signal: this.listening.signal });
  }

  /** @param {FileListPayload} data */
  update(data) {
    this.data = data;
    this.sent = false;
    drawWhenOther(this, data, () => this.draw(data));
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.key !== "Enter" || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    let active = document.activeElement;
    while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
    if (active?.closest("a[href], button, summary, select, input, textarea, [role=button], [role=dialog]")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.evaluate();
  }

  evaluate() {
    // Once: a second press would evaluate again what is being opened.
    if (!this.data?.ready || this.sent) return;
    this.sent = true;
    this.send("evaluate", 1);
  }

  /** @param {FileListPayload} data */
  draw(data) {
    /** The choice that the reader has just changed keeps the focus. */
    const kept = this.root.getRootNode() instanceof ShadowRoot ? /** @type {ShadowRoot} */ (this.root.getRootNode()).activeElement?.getAttribute("data-at") : null;
    const evaluate = button(data.button, { class: "primary", disabled: !data.ready }, () => this.evaluate(), data.button);
    this.root.replaceChildren(
      html("header", {},
        html("div", {}, html("h2", {}, data.headline), html("p", { class: "muted" }, data.facts)),
        html("span", { class: "grow" }),
        button("Add files", { class: "plain" }, () => window.dispatchEvent(new Event("layoutscope-open")), "+ Add files"),
        button(data.back, { class: "plain" }, () => this.send("back", 1), data.back)),
      html("div", { class: "heads muted" }, ...["Use as", "File", "What it is", "Documents", "Boxes"].map((head) => html("span", {}, head))),
      html("div", { class: "groups" }, ...data.groups.map((group) => this.group(group))),
      html("footer", {}, evaluate, html("kbd", {}, "Enter"),
        html("div", {}, html("b", {}, data.summary), html("p", { class: "muted" }, data.protocol)),
        html("span", { class: "grow" }),
        data.missing ? html("p", { class: "missing" }, data.missing) : null));
    if (kept) /** @type {HTMLElement | null} */ (this.root.querySelector(`[data-at="${kept}"]`))?.focus();
  }

  /** @param {ListedGroup} group @returns {HTMLElement} */
  group(group) {
    const bar = group.sentence ? html("div", { class: "bar" }, html("span", {}, group.sentence), html("span", { class: "grow" }),
      html("span", { class: "choices" }, ...(group.choices ?? []).map((choice) => this.choice(choice, "choice")))) : null;
    return html("section", { "aria-label": group.title },
      html("h3", {}, html("b", {}, group.title), html("span", { class: "muted" }, group.facts), group.link ? this.choice(group.link, "link") : null),
      ...group.files.map((file) => this.row(file)), bar);
  }

  /** @param {ChoiceItem} choice @param {string} look @returns {HTMLElement} */
  choice(choice, look) {
    return button(choice.words, { class: look, "aria-pressed": look === "choice" ? String(choice.chosen ?? false) : null },
      () => this.send("choose", choice.name), choice.words);
  }

  /** @param {ListedItem} file @returns {HTMLElement} */
  row(file) {
    const at = file.at ?? -1;
    /** @type {Node | string} */
    let role = file.role ?? "";
    if (at >= 0) {
      const select = /** @type {HTMLSelectElement} */ (html("select", { "aria-label": `Use ${file.name} as`, "data-at": at, class: file.role ? null : "unused" },
        ...(file.roles ?? []).map((each) => html("option", { value: each.role, selected: each.role === (file.role ?? "") }, each.words))));
      select.addEventListener("change", () => this.send("role", { at, role: select.value }));
      role = select;
    }
    const cells = [html("span", { class: at < 0 ? "muted" : null }, role), html("span", { class: "name", title: file.name }, file.name),
      html("span", { class: file.wrong ? "what wrong" : "what muted", title: file.what }, file.what),
      html("span", { class: "count" }, file.documents ?? ""), html("span", { class: "count" }, file.boxes ?? "")];
    return html("div", { class: "file" }, ...cells);
  }

  stop() {
    this.listening.abort();
    this.root.remove();
  }
}

export default streamlitComponent(mounting(FileList));
