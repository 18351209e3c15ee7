/**
 * The verdict row under the list: what a reviewer thinks of the chosen mistake.
 *
 * It shows the data and the drafts (`drafts.js`) and sends what the reviewer does. Verdicts are stored elsewhere. Its keys
 * work in the whole view, but for text that is typed in it, and a key that would replace or take back one's own verdict
 * has to be pressed twice.
 */

import { button, html, icon } from "../shared/elements.js";
import { nameField } from "../shared/reviewer_field.js";
import { knownReviewer } from "../shared/reviewer_name.js";
import { VERDICTS } from "../shared/verdicts.js";
import { unsavedWords, verdictWords } from "../shared/words.js";

/** @import { PageContent } from "../shared/content.js" */
/** @import { MistakeItem } from "../shared/payloads.d.ts" */
/** @import { Drafts, Judgement, PagePlace } from "./drafts.js" */
/**
 * @typedef {object} Viewer what shows the row: the page viewer, or one model of the comparison
 * @property {{content: PageContent<any>}} state
 * @property {{page: {document: string, index: number} | null, verdicts?: boolean, reviewer?: string | null} | null} data
 * @property {() => {reviewer?: string | null}} shown
 * @property {string | null} selected
 * @property {(mistake: MistakeItem) => MistakeItem[]} judgedWith what a verdict on one is for, itself too
 * @property {(mistake: MistakeItem) => Scope | null} scopeOf the choice of what else the verdict is for
 * @property {() => void} turnScope
 * @property {(mistake: MistakeItem) => {words: string, go: () => void} | null} alikeOf the way to more like it
 * @property {boolean} [everywhere] the verdict is for all places like it, on all pages
 * @property {() => void} onward to the next mistake
 * @property {Drafts} drafts
 * @property {ReturnType<typeof makeVerdictRow>} verdict
 * @property {HTMLElement} root
 * @property {HTMLElement} spoken
 * @property {(mistake: MistakeItem) => string} titleOf what the row is about
 */

/** @typedef {{words: string, title: string, on: boolean}} Scope */
/** @typedef {{page: PagePlace, mistake: MistakeItem, targets: string[], before: {verdict: string | null, note: string}}} LastVerdict */

/** @type {Judgement} */
const NO_JUDGEMENT = { verdict: null, note: "", problem: "", waiting: false, saved: null };

/** Builds the row. @param {Viewer} view */
export function makeVerdictRow(view) {
  const title = html("b", { class: "verdict-title", id: "verdict-title" });
  const state = html("span", { class: "verdict-state", role: "status" });
  const buttons = new Map(VERDICTS.map(([name, words, sign], order) => [
    name,
    button(words, { class: "verdict-button", "aria-pressed": "false", title: `${words} (${order + 1})` }, (event) => chooseVerdict(view, name, event.detail === 0),
      html("kbd", { "aria-hidden": "true" }, String(order + 1)), html("i", { class: "verdict-sign", "aria-hidden": "true" }, sign), words),
  ]));
  const note = /** @type {HTMLTextAreaElement} */ (html("textarea", { class: "verdict-note", rows: 1, maxlength: 2000, placeholder: "Note", "aria-label": "Note on the verdict" }));
  const save = button("Save the note", { class: "verdict-save", hidden: true, title: "Save the note (Enter)" }, () => sendVerdict(view, judgement(view).verdict), icon("check"));
  note.addEventListener("input", () => {
    const mistake = judgedMistake(view);
    const page = view.data?.page;
    if (!mistake || !page) return;
    view.drafts.type(page, mistake, note.value);
    save.hidden = note.value === (judgement(view).saved?.note ?? "");
  });
  note.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      sendVerdict(view, judgement(view).verdict);
    }
  });
  const problem = html("div", { class: "verdict-problem", role: "alert" });
  const name = nameField("verdict-name", () => {
    name.blur();
    sendVerdict(view, view.verdict.held);
  }, () => {
    name.blur();
    ask(view, null);
  });
  const whole = button("", { class: "verdict-whole", "aria-pressed": "false" }, () => turnScope(view));
  const alike = button("", { class: "cause-alike", title: "Show them in Grid" }, () => {
    const mistake = judgedMistake(view);
    if (mistake) view.alikeOf(mistake)?.go();
  });
  const group = html("div", { class: "verdict-cause", hidden: true }, whole, alike);
  const root = html("div", { class: "verdict", role: "group", "aria-label": "Verdict", hidden: true },
    html("div", { class: "verdict-head" }, title, state), group,
    html("div", { class: "verdict-buttons", role: "toolbar", "aria-label": "Verdicts" }, ...buttons.values()),
    name, html("div", { class: "verdict-note-row" }, note, save), problem);
  for (const [key, node] of buttons) node.addEventListener("focus", () => holdTab(buttons, key));
  return { root, title, state, group, whole, alike, buttons, note, save, problem, name, held: "", shown: "", asking: "", last: /** @type {LastVerdict | null} */ (null) };
}

/** The verdict is for more, or for the chosen mistake alone again. @param {Viewer} view */
function turnScope(view) {
  const mistake = judgedMistake(view);
  if (!mistake || !view.scopeOf(mistake)) return;
  view.verdict.asking = "";
  view.turnScope();
  writeVerdict(view);
  const on = view.scopeOf(mistake)?.on ?? false;
  view.spoken.textContent = on ? view.verdict.whole.textContent : view.verdict.title.textContent;
}

/** What else the verdict is for; not there for what is alone. @param {Viewer} view */
function writeGroup(view) {
  const { group, whole, alike } = view.verdict;
  const mistake = judgedMistake(view);
  const scope = mistake ? view.scopeOf(mistake) : null;
  group.hidden = !scope;
  if (!mistake || !scope) return;
  whole.setAttribute("aria-pressed", String(scope.on));
  if (whole.textContent !== scope.words) whole.textContent = scope.words;
  whole.title = scope.title;
  const more = view.alikeOf(mistake);
  alike.hidden = !more;
  if (more && alike.textContent !== more.words) alike.textContent = more.words;
}

/** Asks for the reviewer's name where the verdict was pressed; it is sent with the verdict. @param {Viewer} view @param {string} verdict */
function askName(view, verdict) {
  const { name, state } = view.verdict;
  view.verdict.held = verdict;
  name.hidden = false;
  name.focus();
  state.textContent = "Type your name and press Enter";
  view.spoken.textContent = `${verdictWords(verdict)}: type your name and press Enter`;
}

/** One of the buttons is on the way of Tab, so that the next Tab leads to the note. @param {Map<string, HTMLButtonElement>} buttons @param {string} name */
function holdTab(buttons, name) {
  for (const [each, node] of buttons) node.tabIndex = each === name ? 0 : -1;
}

/** @param {Viewer} view @returns {MistakeItem | undefined} the mistake that the row is about */
export function judgedMistake(view) {
  return view.state.content.mistakeOf(view.state.content.box(view.selected));
}

/** @param {Viewer} view @returns {MistakeItem[]} what else than the chosen mistake the verdict is for on the page, with itself; none for itself alone */
function wholeMistakes(view) {
  const mistake = judgedMistake(view);
  const judged = mistake ? view.judgedWith(mistake) : [];
  return judged.length > 1 ? judged : [];
}

/** @param {Viewer} view @param {MistakeItem} mistake @returns {string | null} one's own verdict on it */
function savedVerdict(view, mistake) {
  const page = view.data?.page;
  return page ? view.drafts.shown(page, mistake, view.shown().reviewer ?? null).saved?.verdict ?? null : null;
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
  writeGroup(view);
  row.title.textContent = mistake ? view.titleOf(mistake) : "Verdict";
  const open = Boolean(mistake?.target);
  for (const [name, node] of row.buttons) {
    node.disabled = !open;
    node.setAttribute("aria-pressed", String(mistake !== undefined && shown.verdict === name));
  }
  const active = /** @type {ShadowRoot | Document} */ (view.root.getRootNode()).activeElement;
  if (![...row.buttons.values()].some((node) => node === active)) holdTab(row.buttons, shown.verdict ?? VERDICTS[0][0]);
  row.note.disabled = !open;
  if (view.data?.reviewer !== "") row.name.hidden = true;
  const key = mistake && page ? view.drafts.keyOf(page, mistake) : "";
  if (key !== row.shown) row.asking = "";
  if ((key !== row.shown || active !== row.note) && row.note.value !== shown.note) row.note.value = shown.note;
  row.shown = key;
  row.save.hidden = !mistake || row.note.value === (shown.saved?.note ?? "");
  if (row.problem.textContent !== shown.problem) row.problem.textContent = shown.problem;
  writeState(view, mistake, shown, open);
}

/** What is known of the verdict, in a few words. @param {Viewer} view @param {MistakeItem | undefined} mistake @param {Judgement} shown @param {boolean} open */
function writeState({ verdict: { state, asking } }, mistake, shown, open) {
  const { problem, saved, waiting } = shown;
  if (asking && mistake) {
    const words = verdictWords(asking), key = VERDICTS.findIndex(([name]) => name === asking) + 1;
    state.className = "verdict-state verdict-asks";
    state.title = "";
    state.textContent = asking !== shown.verdict && shown.verdict === null ? `Press ${key} again: some of them have your verdict` : asking === shown.verdict ? `Press ${key} again to take back ${words}` : `Press ${key} again: ${words} instead of ${verdictWords(shown.verdict)}`;
    return;
  }
  const others = (mistake?.verdict?.opinions ?? []).filter((each) => each !== saved && each.verdict);
  const othersText = others.map((each) => `${each.author}: ${verdictWords(each.verdict)}`).join(", ");
  state.className = `verdict-state${problem ? " verdict-unsaved" : ""}`;
  state.title = problem ? "" : othersText;
  state.textContent = !mistake ? "Choose a mistake (N)" : !open ? "A poor match takes no verdict" : problem ? unsavedWords(shown) : waiting ? "Saving"
    : mistake.verdict?.conflict ? "Reviewers differ" : saved ? `${saved.author}, ${saved.time.slice(0, 16).replace("T", " ")}` : othersText;
}

/**
 * A verdict, or the same again to take it back.
 * @param {Viewer} view @param {string} name @param {boolean} [typed] by a key: one's own verdict goes at the second press
 */
function chooseVerdict(view, name, typed = false) {
  const { verdict, problem } = judgement(view);
  const overwrites = (verdict !== null && !problem) || wholeMistakes(view).some((each) => savedVerdict(view, each) !== null);
  if (typed && overwrites && view.verdict.asking !== name) {
    ask(view, name);
    return;
  }
  view.verdict.asking = "";
  if (view.data?.reviewer === "" && !knownReviewer()) {
    askName(view, name);
    return;
  }
  const taken = verdict === name && !problem;
  sendVerdict(view, taken ? null : name);
  if (typed && !taken) view.onward();
}

/** Asks before a verdict is replaced, or asks no more. @param {Viewer} view @param {string | null} name */
function ask(view, name) {
  if (view.verdict.asking === (name ?? "")) return;
  view.verdict.asking = name ?? "";
  writeVerdict(view);
  if (name) view.spoken.textContent = view.verdict.state.textContent;
}

/**
 * What the keys of verdicts ask for, wherever the focus is.
 * @param {Viewer} view @param {string} action @returns {boolean} whether it was one of them
 */
export function actVerdict(view, action) {
  const name = VERDICTS[Number(action.replace("verdict-", "")) - 1]?.[0];
  const { asking } = view.verdict;
  if (!name) ask(view, null);
  if (view.data?.verdicts !== true) return false;
  if (asking && action === "escape") return true;
  if (name || action === "note") {
    if (!judgedMistake(view)) view.onward();
    if (!judgedMistake(view)?.target) return true;
    if (name) chooseVerdict(view, name, true);
    else view.verdict.note.focus();
  } else if (action === "whole") {
    turnScope(view);
  } else if (action === "undo") {
    undo(view);
  } else {
    return false;
  }
  return true;
}

/** @type {Record<string, number>} */
const BUTTON_STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/**
 * Keys of the part of the row that has the focus: text, the arrows and Escape.
 * @param {Viewer} view @param {KeyboardEvent} event @returns {boolean} whether nothing else may use the key
 */
export function verdictKey(view, event) {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement) || !view.verdict.root.contains(target)) return false;
  const nodes = [...view.verdict.buttons.values()];
  const at = nodes.findIndex((node) => node === target);
  const step = BUTTON_STEPS[event.key];
  if (event.key === "Escape") {
    view.verdict.name.hidden = true;
    ask(view, null);
    target.blur();
  } else if (target === view.verdict.note) {
    event.stopPropagation();
    return true;
  } else if (step && at >= 0) {
    nodes[(at + step + nodes.length) % nodes.length].focus();
  } else {
    return false;
  }
  event.preventDefault();
  event.stopPropagation();
  return true;
}

/** The last verdict is as it was before. @param {Viewer} view */
function undo(view) {
  const { last } = view.verdict;
  view.verdict.last = null;
  if (!last) {
    view.spoken.textContent = "No verdict to take back";
    return;
  }
  view.drafts.send(last.page, last.mistake, last.before.verdict, last.before.note, last.targets, "");
  writeVerdict(view);
  view.spoken.textContent = last.before.verdict ? `${verdictWords(last.before.verdict)} again` : "Verdict taken back";
}

/** @param {Viewer} view @param {string | null} verdict */
function sendVerdict(view, verdict) {
  const mistake = judgedMistake(view);
  const page = view.data?.page;
  if (!mistake || !page) return;
  view.verdict.asking = "";
  const whole = wholeMistakes(view);
  const targets = whole.flatMap(({ target }) => target ?? []);
  const { saved } = judgement(view);
  // Where they had different ones, there is no one verdict that all could have again.
  const alike = new Set(whole.map((each) => savedVerdict(view, each))).size < 2;
  view.verdict.last = alike && !view.everywhere ? { page, mistake, targets, before: { verdict: saved?.verdict ?? null, note: saved?.note ?? "" } } : null;
  view.drafts.send(page, mistake, verdict, view.verdict.note.value, targets, view.data?.reviewer === "" ? knownReviewer() || view.verdict.name.value.trim() : "", view.everywhere);
  writeVerdict(view);
  view.spoken.textContent = verdict ? `${verdictWords(verdict)}, sent` : "Verdict taken back, sent";
}
