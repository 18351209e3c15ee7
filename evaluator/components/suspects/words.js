/**
 * Everything in words around the page of the chosen suspect: the queue, the layers, the evidence and the answers.
 *
 * Each function writes one part from the data and the state of the view, and changes neither.
 */

import { fillCrop } from "../gallery/crop_frame.js";
import { button, drawWhenOther, html, icon, joined, svg } from "../shared/elements.js";
import { scrollToRow } from "../shared/rows.js";
import { count, isolated, percentOf, plural, unsavedWords } from "../shared/words.js";

/** @import { CardBoxItem, Rect, SuspectItem, SuspectsPayload } from "../shared/payloads.d.ts" */
/** @import { SuspectsView } from "./suspects.js" */

/** @type {[string, string, string][]} verdict, words, key */
export const ANSWERS = [["ground_truth_wrong", "Accept correction", "1"], ["model_wrong", "Model wrong", "2"], ["ambiguous", "Ambiguous", "3"]];
/** Of a box, in the order of its coordinates. */
const SIDES = ["Left", "Top", "Right", "Bottom"];
/** Evidence from this probability on is strong. */
const STRONG = 0.8;
/** By how much a step enlarges the page. */
export const ZOOM = 1.25;

/** How many there are, what was answered, and the way back. @param {SuspectsView} view @param {SuspectItem[]} listed */
export function writeHead(view, listed) {
  const answers = view.queue.items.map((item) => view.judgementOf(item).verdict).filter((verdict) => verdict !== null);
  const of = (/** @type {string} */ name) => answers.filter((verdict) => verdict === name).length;
  const unsaved = view.queue.items.map((item) => view.judgementOf(item)).filter(({ problem }) => problem);
  const done = answers.length, all = view.queue.items.length;
  const parts = [["ground_truth_wrong", "accepted"], ["model_wrong", "model wrong"], ["ambiguous", "ambiguous"]].flatMap(([name, words]) => (of(name) ? [`${count(of(name))} ${words}`] : []));
  const last = view.queue.answered.length > 0;
  drawWhenOther(view.head, [listed.length, answers, unsaved.map(unsavedWords), last, view.data?.more], () => {
    const undo = button("Take the last answer back", { class: "link-button", title: "Undo (U)" }, () => view.undo(), "Undo");
    undo.disabled = !last;
    const more = view.data?.more ? `, the first ${count(all)} of ${count(all + view.data.more)}` : "";
    view.head.replaceChildren(
      html("div", { class: "suspect-title" }, html("h2", {}, `${count(listed.length)} to review`), html("span", { class: "muted" }, `most evidence first${more}`)),
      html("div", { class: "suspect-progress", role: "img", "aria-label": `${count(done)} of ${count(all)} answered` }, html("i", { style: `width:${percentOf(all ? done / all : 0)}` })),
      html("div", { class: "suspect-done" }, html("span", {}, `${count(done)} answered${parts.length ? `: ${parts.join(", ")}` : ""}`), undo),
      unsaved.length ? html("div", { class: "verdict-problem", role: "alert" }, `${unsavedWords({ waiting: unsaved.every(({ waiting }) => waiting) })}: ${plural(unsaved.length, "answer")}`) : "");
  });
}

/** @param {SuspectsView} view @param {SuspectItem[]} listed */
export function writeRows(view, listed) {
  const facts = listed.map((item) => [item.target, view.judgementOf(item)]);
  drawWhenOther(view.rows, [view.held, facts], () => view.rows.replaceChildren(...listed.map((item) => queueRow(view, item))));
  for (const node of view.rows.children) {
    const target = node.getAttribute("data-target") ?? "";
    node.setAttribute("aria-selected", String(target === view.queue.chosen));
    const frame = node.querySelector(".gl-crop"), crop = view.crops.get(target);
    if (crop && frame instanceof HTMLElement && !frame.classList.contains("shown")) {
      const item = view.queue.items.find((each) => each.target === target);
      if (item) fillCrop(frame, cropBoxes(item), crop);
    }
  }
  const chosen = view.rows.querySelector("[aria-selected='true']");
  if (chosen instanceof HTMLElement) {
    view.rows.setAttribute("aria-activedescendant", chosen.id);
    scrollToRow(view.rows, chosen);
  }
}

/** @param {SuspectsView} view @param {SuspectItem} item @returns {HTMLElement} */
function queueRow(view, item) {
  const { verdict, problem, waiting } = view.judgementOf(item);
  const words = problem ? unsavedWords({ waiting }) : ANSWERS.find(([name]) => name === verdict)?.[1] ?? "";
  const node = html("div", { class: "suspect-row", role: "option", id: `suspect-${item.rank}`, "data-target": item.target, "aria-selected": "false" },
    html("div", { class: "gl-crop suspect-crop", "aria-hidden": "true" }),
    html("div", { class: "suspect-words" },
      html("div", { class: "suspect-name" }, html("b", {}, `${item.rank + 1} ${item.kind}`), html("span", { title: item.label }, ` \u00b7 ${isolated(item.label)}`), html("b", { class: "suspect-score" }, item.score >= STRONG ? "strong" : "weak")),
      html("span", { class: "suspect-reason", title: item.reason }, item.reason), html("span", { class: "suspect-place muted", title: item.place }, words ? `${words} \u00b7 ${item.place}` : item.place)));
  node.addEventListener("click", () => view.choose(item));
  return node;
}

/** @param {SuspectsView} view @param {SuspectsPayload} data */
export function writeToolbar(view, data) {
  const layers = [["now", "Ground truth now", "G"], ["proposed", "Proposed", ""], ...data.models.map(([letter, name]) => [letter, name, letter])];
  drawWhenOther(view.toolbar, [layers, [...view.hidden], view.sheet.zoom], () => view.toolbar.replaceChildren(
    ...layers.map(([layer, words, key]) => button(`${words}: shown or hidden`, { class: "toggle", "aria-pressed": String(!view.hidden.has(layer)), title: key ? `${words} (${key})` : words },
      () => view.toggle(layer), swatch(layer), html("span", { class: "suspect-layer-name" }, words))),
    html("span", { class: "grow" }),
    joined("Zoom", button("Smaller", { title: "Smaller (-)" }, () => view.zoom(1 / ZOOM), icon("minus")), button("As it fits", { class: "fit", "aria-pressed": String(view.sheet.zoom === 0), title: "As it fits (0)" }, () => view.zoom(0), "Fit"),
      button("Larger", { title: "Larger (+)" }, () => view.zoom(ZOOM), icon("plus")))));
}

/** @param {SuspectsView} view @param {SuspectItem | null} item @param {SuspectsPayload} data */
export function writeChosen(view, item, data) {
  view.sheet.root.hidden = view.toolbar.hidden = !item;
  if (!item) {
    drawWhenOther(view.detail, "none", () => view.detail.replaceChildren(html("p", { class: "suspect-all" }, "Every suspect of this list has an answer. Lower the minimum evidence, or show those with a verdict.")));
    return;
  }
  if (view.edit?.target !== item.target) view.edit = null;
  view.drawSheet(item, data);
  const { verdict, problem, waiting, saved } = view.judgementOf(item);
  const others = (view.states[item.target]?.verdict?.opinions ?? []).filter((each) => each.author !== data.reviewer).map((each) => `${each.author}: ${wordsOf(each.verdict)}`).join(", ");
  drawWhenOther(view.detail, [item, verdict, problem, waiting, saved, others, view.edit !== null, view.asking, data.unit, view.effects[item.target]], () => {
    const state = view.asking ? `Press ${ANSWERS.find(([name]) => name === view.asking)?.[2]} again: ${wordsOf(view.asking)} instead of ${wordsOf(verdict)}` : problem ? `${unsavedWords({ waiting })}. ${problem}` : waiting ? "Saving" : saved?.verdict ? `You: ${wordsOf(saved.verdict)}` : others;
    const answers = ANSWERS.map(([name, words, key]) => button(words, { class: "suspect-answer", "aria-pressed": String(verdict === name), title: `${words} (${key})` }, () => view.answer(name, false), html("kbd", {}, key), words));
    const steps = html("div", { class: "suspect-steps" }, button("Next suspect", { title: "Next (S)" }, () => view.step(1), html("kbd", {}, "S"), "Skip"), button("Edit the correction", { "aria-pressed": String(view.edit !== null), title: "Edit (E)" }, () => view.turnEdit(), html("kbd", {}, "E"), view.edit ? "As proposed" : "Edit"),
      button("Show in Pages", { title: "Show in Pages" }, () => {
        // A question after it would call the reader back.
        window.clearTimeout(view.wantTimer);
        view.send("open", { document: item.document, index: item.index });
      }, "Pages"));
    view.detail.replaceChildren(
      html("div", { class: "suspect-lead" }, html("b", {}, item.reason), html("span", { class: "muted", title: item.place }, item.place)),
      view.edit ? correctionFields(view, item, data) : html("div", {}, evidence(item), effect(verdict === ANSWERS[0][0] ? [] : view.effects[item.target] ?? [])),
      html("div", { class: "suspect-answers", role: "group", "aria-label": "Answers" }, ...answers, steps, view.name, html("div", { class: problem ? "verdict-problem" : "suspect-state", role: "status" }, state)));
  });
  view.name.hidden ||= data.reviewer !== "";
}

/** Label and edges of the edited correction. @param {SuspectsView} view @param {SuspectItem} item @param {SuspectsPayload} data @returns {HTMLElement} */
function correctionFields(view, item, data) {
  const edit = view.edit;
  if (!edit) return html("div");
  const label = /** @type {HTMLSelectElement} */ (html("select", { "aria-label": "Label of the correction" }, ...data.labels.map((name, order) => html("option", { value: order, selected: order === edit.label }, name))));
  label.addEventListener("change", () => {
    if (view.edit) view.edit.label = Number(label.value);
    view.drawSheet(item, data);
  });
  const problem = html("p", { class: "verdict-problem", role: "alert" });
  const inputs = SIDES.map((side, order) => {
    const factor = item.scale[order % 2];
    const input = /** @type {HTMLInputElement} */ (html("input", { type: "number", step: data.unit === "%" ? "0.1" : "1", min: "0", max: String(factor), value: (edit.box[order] * factor).toFixed(2), "data-side": String(order), "aria-label": `${side}, ${data.unit}` }));
    input.addEventListener("input", () => {
      const box = /** @type {Rect} */ (inputs.map((each, at) => Number(each.value) / item.scale[at % 2]));
      const sound = box.every((value) => Number.isFinite(value) && value >= 0 && value <= 1) && box[0] < box[2] && box[1] < box[3];
      problem.textContent = sound ? "" : "The right edge must be right of the left one, the bottom edge below the top one, and all on the page.";
      if (!sound || !view.edit) return;
      view.edit.box = box;
      view.drawSheet(item, data);
    });
    return input;
  });
  return html("div", { class: "suspect-fields" }, html("label", {}, html("span", {}, "Label"), label),
    ...SIDES.map((side, order) => html("label", {}, html("span", {}, `${side}, ${data.unit}`), inputs[order])), problem);
}

/** @param {string | null} verdict @returns {string} */
export function wordsOf(verdict) {
  return ANSWERS.find(([name]) => name === verdict)?.[1] ?? verdict?.replaceAll("_", " ") ?? "no verdict";
}

/** @param {SuspectItem} item @returns {CardBoxItem[]} the boxes of a row */
function cropBoxes(item) {
  return [
    ...(item.proposed ? [{ key: "proposed", side: /** @type {const} */ ("prediction"), status: /** @type {const} */ ("truth"), xyxy: item.proposed }] : []),
    ...(item.now ? [{ key: "now", side: /** @type {const} */ ("ground_truth"), status: /** @type {const} */ ("FN"), xyxy: item.now }] : []),
  ];
}

/** @param {string} layer @returns {SVGElement | HTMLElement} */
function swatch(layer) {
  if (layer === "A" || layer === "B") return html("i", { class: `letter letter-${layer}` }, layer);
  return svg("svg", { class: `swatch suspect-swatch-${layer}`, "aria-hidden": "true" }, svg("rect", { x: 1, y: 1, width: 16, height: 12 }));
}

/** @param {SuspectItem} item @returns {HTMLElement} */
function evidence({ fit }) {
  const rows = fit.map(([name, now, proposed]) => html("tr", {}, html("th", { scope: "row", title: name }, name), html("td", {}, now), html("td", {}, html("b", {}, proposed))));
  return html("table", { class: "suspect-evidence" }, html("thead", {}, html("tr", {}, ...["Evidence", "Now", "Proposed"].map((text) => html("th", { scope: "col" }, text)))), html("tbody", {}, ...rows));
}

/** What accepting changes. @param {readonly string[]} lines one for each model @returns {HTMLElement} */
function effect(lines) {
  return html("p", { class: "suspect-effect" }, ...(lines.length ? [html("span", { class: "muted" }, "Once accepted:"), ...lines.map((line) => html("span", {}, line))] : []));
}
