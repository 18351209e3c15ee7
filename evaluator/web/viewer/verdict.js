/**
 * The verdict row under the list: what a reviewer thinks of the chosen mistake.
 *
 * It shows what the data say and sends what the reviewer does; it keeps text that is not sent yet, per mistake, and says
 * so when something could not be saved. Verdicts are stored elsewhere.
 */

import { button, html, icon } from "../shared/elements.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("../shared/layers.js").Mistake} Mistake */
/** @typedef {{author: string, verdict: string | null, note: string, time: string}} Opinion */
/** @typedef {{agreed: string | null, conflict: boolean, opinions: Opinion[]}} Judged */
/** @typedef {{verdict: string | null, note: string, problem: string}} Unsaved */

/** @type {[string, string][]} name, words */
const VERDICTS = [
  ["model_wrong", "Model wrong"],
  ["ground_truth_wrong", "Ground truth wrong"],
  ["ambiguous", "Ambiguous"],
  ["ignore", "Ignore"],
];
const AGAIN = 3000;
const LATE = 8000;

/** @param {string | null} verdict @returns {string} */
export function verdictWords(verdict) {
  return VERDICTS.find(([name]) => name === verdict)?.[1] ?? "";
}

/** Builds the row. @param {Viewer} view */
export function makeVerdictRow(view) {
  const title = html("b", { class: "verdict-title", id: "verdict-title" });
  const state = html("span", { class: "verdict-state", role: "status" });
  const buttons = new Map(VERDICTS.map(([name, words], order) => [
    name,
    button(words, { class: "verdict-button", "aria-pressed": "false", title: `${words} (${order + 1})` }, () => choose(view, name), words),
  ]));
  const note = /** @type {HTMLTextAreaElement} */ (html("textarea", { class: "verdict-note", rows: 1, maxlength: 2000, placeholder: "Note", "aria-label": "Note on the verdict" }));
  const save = button("Save the note", { class: "verdict-save", hidden: true, title: "Save the note (Enter)" }, () => send(view, current(view).verdict), icon("check"));
  note.addEventListener("input", () => typed(view));
  note.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      send(view, current(view).verdict);
    }
  });
  const problem = html("div", { class: "verdict-problem", role: "alert" });
  const root = html("div", { class: "verdict", role: "group", "aria-label": "Verdict", hidden: true },
    html("div", { class: "verdict-head" }, title, state),
    html("div", { class: "verdict-buttons" }, ...buttons.values()),
    html("div", { class: "verdict-note-row" }, note, save), problem);
  return { root, title, state, buttons, note, save, problem, shown: "" };
}

/** @param {Viewer} view @returns {Mistake | undefined} the mistake that the row is about */
export function judgedMistake(view) {
  const number = view.selected ? view.boxes.get(view.selected)?.mistake : null;
  return number === null || number === undefined ? undefined : view.mistakes.get(number);
}

/** @param {Viewer} view @param {Mistake} mistake @returns {string} what drafts are kept under */
function draftKey(view, mistake) {
  return mistake.target ?? JSON.stringify([view.data?.page?.document, view.data?.page?.index, mistake.keys]);
}

/**
 * What the row shows: the draft, else what could not be saved, else one's own last word.
 * @param {Viewer} view @returns {{verdict: string | null, note: string, unsaved: string, waiting: boolean, saved: Opinion | null}}
 */
function current(view) {
  const mistake = judgedMistake(view);
  if (!mistake) return { verdict: null, note: "", unsaved: "", waiting: false, saved: null };
  const draft = view.drafts.get(draftKey(view, mistake));
  const opinions = mistake.verdict?.opinions ?? [];
  const reviewer = view.data?.reviewer ?? null;
  const mine = opinions.find((each) => each.author === reviewer) ?? null;
  const unsaved = mistake.unsaved ?? null;
  const saved = mine;
  const base = unsaved ?? mine;
  return {
    verdict: draft?.verdict === undefined ? base?.verdict ?? null : draft.verdict,
    note: draft?.note ?? base?.note ?? "",
    unsaved: unsaved?.problem ?? draft?.late ?? "",
    waiting: draft?.waiting ?? false,
    saved,
  };
}

/** @param {Viewer} view */
export function writeVerdict(view) {
  const row = view.verdict;
  const on = view.data?.verdicts === true;
  row.root.hidden = !on;
  if (!on) return;
  const mistake = judgedMistake(view);
  const { verdict, note, unsaved, waiting, saved } = current(view);
  row.title.textContent = mistake ? `Verdict on mistake ${mistake.number}` : "Verdict";
  const open = mistake !== undefined && mistake.target !== null;
  for (const [name, node] of row.buttons) {
    node.disabled = !open;
    node.setAttribute("aria-pressed", String(mistake !== undefined && verdict === name));
  }
  row.note.disabled = !open;
  const key = mistake ? draftKey(view, mistake) : "";
  const active = /** @type {ShadowRoot | Document} */ (view.root.getRootNode()).activeElement;
  if (key !== row.shown || active !== row.note) {
    if (row.note.value !== note) row.note.value = note;
  }
  row.shown = key;
  row.save.hidden = !mistake || row.note.value === (saved?.note ?? "");
  const others = (mistake?.verdict?.opinions ?? []).filter((each) => each !== saved && each.verdict);
  const said = others.map((each) => `${each.author}: ${verdictWords(each.verdict)}`).join(", ");
  row.state.className = `verdict-state${unsaved ? " verdict-unsaved" : ""}`;
  row.state.title = unsaved ? "" : said;
  if (row.problem.textContent !== unsaved) row.problem.textContent = unsaved;
  row.state.textContent = !mistake ? "Choose a mistake (N)" : !open ? "A poor match takes no verdict" : unsaved ? "NOT SAVED" : waiting ? "Saving"
    : mistake.verdict?.conflict ? "Reviewers differ" : saved ? `${saved.author}, ${saved.time.slice(0, 16).replace("T", " ")}` : said;
}

/** The reviewer typed. @param {Viewer} view */
function typed(view) {
  const mistake = judgedMistake(view);
  if (!mistake) return;
  const key = draftKey(view, mistake);
  view.drafts.set(key, { ...view.drafts.get(key), note: view.verdict.note.value });
  view.verdict.save.hidden = view.verdict.note.value === (current(view).saved?.note ?? "");
}

/** A verdict, or the same again to take it back. @param {Viewer} view @param {string} name */
function choose(view, name) {
  const { verdict, unsaved } = current(view);
  send(view, verdict === name && !unsaved ? null : name);
}

/** @param {Viewer} view @param {number} order from 1 */
function chooseByNumber(view, order) {
  const name = VERDICTS[order - 1]?.[0];
  const mistake = judgedMistake(view);
  if (name && mistake && mistake.target !== null) choose(view, name);
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
function send(view, verdict) {
  const mistake = judgedMistake(view);
  const page = view.data?.page;
  if (!mistake || !page) return;
  const key = draftKey(view, mistake);
  const note = view.verdict.note.value;
  const before = JSON.stringify([mistake.verdict ?? null, mistake.unsaved ?? null]);
  const event = { document: page.document, index: page.index, number: mistake.number, keys: mistake.keys, target: mistake.target ?? null, verdict, note };
  const late = window.setTimeout(() => {
    const draft = view.drafts.get(key);
    if (!draft?.waiting || draft.timer !== late) return;
    view.drafts.set(key, { ...draft, waiting: false, late: "The dashboard has not answered. The text stays here; choose the verdict again to retry." });
    writeVerdict(view);
  }, LATE);
  view.drafts.set(key, { verdict, note, waiting: true, before, timer: late });
  view.send("verdict", event);
  // A wish that reaches the server during another run can get lost on the way: it is sent once more.
  window.setTimeout(() => {
    const draft = view.drafts.get(key);
    if (draft?.waiting && draft.timer === late) view.send("verdict", { ...event, again: true });
  }, AGAIN);
  writeVerdict(view);
  view.spoken.textContent = verdict ? `${verdictWords(verdict)}, sent` : "Verdict taken back, sent";
}

/** New data: what was waited for is here, so its draft goes. @param {Viewer} view */
export function settleDrafts(view) {
  for (const mistake of view.data?.mistakes ?? []) {
    const key = draftKey(view, mistake);
    const draft = view.drafts.get(key);
    if (!draft?.waiting || JSON.stringify([mistake.verdict ?? null, mistake.unsaved ?? null]) === draft.before) continue;
    window.clearTimeout(draft.timer);
    view.drafts.delete(key);
  }
}
