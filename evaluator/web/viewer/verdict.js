/**
 * The verdict row under the list: what a reviewer thinks of the chosen mistake.
 *
 * It shows the data and the drafts (`drafts.js`) and sends what the reviewer does. Verdicts are stored elsewhere.
 */

import { button, html, icon } from "../shared/elements.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("./drafts.js").Judgement} Judgement */
/** @typedef {import("../shared/payloads.d.ts").MistakeItem} MistakeItem */

/** @type {[string, string][]} name, words */
const VERDICTS = [
  ["model_wrong", "Model wrong"],
  ["ground_truth_wrong", "Ground truth wrong"],
  ["ambiguous", "Ambiguous"],
  ["ignore", "Ignore"],
];

/** @type {Judgement} */
const NO_JUDGEMENT = { verdict: null, note: "", problem: "", waiting: false, saved: null };

/** @param {string | null} verdict @returns {string} */
function verdictWords(verdict) {
  return VERDICTS.find(([name]) => name === verdict)?.[1] ?? "";
}

/** Builds the row. @param {Viewer} view */
export function makeVerdictRow(view) {
  const title = html("b", { class: "verdict-title", id: "verdict-title" });
  const state = html("span", { class: "verdict-state", role: "status" });
  const buttons = new Map(VERDICTS.map(([name, words], order) => [
    name,
    button(words, { class: "verdict-button", "aria-pressed": "false", title: `${words} (${order + 1})` }, () => chooseVerdict(view, name), words),
  ]));
  const note = /** @type {HTMLTextAreaElement} */ (html("textarea", { class: "verdict-note", rows: 1, maxlength: 2000, placeholder: "Note", "aria-label": "Note on the verdict" }));
  const save = button("Save the note", { class: "verdict-save", hidden: true, title: "Save the note (Enter)" }, () => sendVerdict(view, judgement(view).verdict), icon("check"));
  note.addEventListener("input", () => noteTyped(view));
  note.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      sendVerdict(view, judgement(view).verdict);
    }
  });
  const problem = html("div", { class: "verdict-problem", role: "alert" });
  const root = html("div", { class: "verdict", role: "group", "aria-label": "Verdict", hidden: true },
    html("div", { class: "verdict-head" }, title, state),
    html("div", { class: "verdict-buttons" }, ...buttons.values()),
    html("div", { class: "verdict-note-row" }, note, save), problem);
  return { root, title, state, buttons, note, save, problem, shown: "" };
}

/** @param {Viewer} view @returns {MistakeItem | undefined} the mistake that the row is about */
export function judgedMistake(view) {
  return view.state.content.mistakeOf(view.state.content.box(view.selected));
}

/** @param {Viewer} view @returns {Judgement} */
function judgement(view) {
  const mistake = judgedMistake(view);
  const page = view.data?.page;
  return mistake && page ? view.drafts.shown(page, mistake, view.shown().reviewer ?? null) : NO_JUDGEMENT;
}

/** @param {Viewer} view */
export function writeVerdict(view) {
  const row = view.verdict;
  const on = view.data?.verdicts === true;
  row.root.hidden = !on;
  if (!on) return;
  const page = view.data?.page;
  const mistake = judgedMistake(view);
  const shown = judgement(view);
  row.title.textContent = mistake ? `Verdict on mistake ${mistake.number}` : "Verdict";
  const open = Boolean(mistake?.target);
  for (const [name, node] of row.buttons) {
    node.disabled = !open;
    node.setAttribute("aria-pressed", String(mistake !== undefined && shown.verdict === name));
  }
  row.note.disabled = !open;
  const key = mistake && page ? view.drafts.keyOf(page, mistake) : "";
  const active = /** @type {ShadowRoot | Document} */ (view.root.getRootNode()).activeElement;
  if ((key !== row.shown || active !== row.note) && row.note.value !== shown.note) row.note.value = shown.note;
  row.shown = key;
  row.save.hidden = !mistake || row.note.value === (shown.saved?.note ?? "");
  if (row.problem.textContent !== shown.problem) row.problem.textContent = shown.problem;
  writeState(view, mistake, shown, open);
}

/** What is known of the verdict, in a few words. @param {Viewer} view @param {MistakeItem | undefined} mistake @param {Judgement} shown @param {boolean} open */
function writeState({ verdict: { state } }, mistake, shown, open) {
  const { problem, saved, waiting } = shown;
  const others = (mistake?.verdict?.opinions ?? []).filter((each) => each !== saved && each.verdict);
  const othersText = others.map((each) => `${each.author}: ${verdictWords(each.verdict)}`).join(", ");
  state.className = `verdict-state${problem ? " verdict-unsaved" : ""}`;
  state.title = problem ? "" : othersText;
  state.textContent = !mistake ? "Choose a mistake (N)" : !open ? "A poor match takes no verdict" : problem ? "NOT SAVED" : waiting ? "Saving"
    : mistake.verdict?.conflict ? "Reviewers differ" : saved ? `${saved.author}, ${saved.time.slice(0, 16).replace("T", " ")}` : othersText;
}

/** The reviewer typed. @param {Viewer} view */
function noteTyped(view) {
  const mistake = judgedMistake(view);
  const page = view.data?.page;
  if (!mistake || !page) return;
  view.drafts.type(page, mistake, view.verdict.note.value);
  view.verdict.save.hidden = view.verdict.note.value === (judgement(view).saved?.note ?? "");
}

/** A verdict, or the same again to take it back. @param {Viewer} view @param {string} name */
function chooseVerdict(view, name) {
  const { verdict, problem } = judgement(view);
  sendVerdict(view, verdict === name && !problem ? null : name);
}

/** @param {Viewer} view @param {number} order from 1 */
function chooseByNumber(view, order) {
  const name = VERDICTS[order - 1]?.[0];
  const mistake = judgedMistake(view);
  if (name && mistake?.target) chooseVerdict(view, name);
}

/** Keys of the row: 1 to 4, and Escape; the note keeps all others. @param {Viewer} view @param {KeyboardEvent} event @returns {boolean} whether nothing else may use the key */
export function verdictKey(view, event) {
  const target = event.composedPath()[0];
  if (!(target instanceof Node) || !view.verdict.root.contains(target)) return false;
  const number = "1234".indexOf(event.key) + 1;
  if (event.key === "Escape") {
    view.pane.root.focus();
  } else if (target === view.verdict.note) {
    event.stopPropagation();
    return true;
  } else if (number > 0 && event.key.length === 1 && !event.ctrlKey && !event.altKey && !event.metaKey) {
    chooseByNumber(view, number);
  } else {
    return false;
  }
  event.preventDefault();
  event.stopPropagation();
  return true;
}

/** @param {Viewer} view @param {string | null} verdict */
function sendVerdict(view, verdict) {
  const mistake = judgedMistake(view);
  const page = view.data?.page;
  if (!mistake || !page) return;
  view.drafts.send(page, mistake, verdict, view.verdict.note.value);
  writeVerdict(view);
  view.spoken.textContent = verdict ? `${verdictWords(verdict)}, sent` : "Verdict taken back, sent";
}
