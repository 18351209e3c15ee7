/**
 * The verdict row under the list: what a reviewer thinks of the chosen mistake.
 *
 * It shows the data and the drafts (`drafts.js`) and sends what the reviewer does. Verdicts are stored elsewhere. While
 * the focus is in it no hotkey of the page works, and a key that would replace or take back one's own verdict has to be
 * pressed twice.
 */

import { button, html, icon } from "../shared/elements.js";
import { keepReviewer, knownReviewer } from "../shared/reviewer_name.js";
import { VERDICTS, count, plural, unsavedWords, verdictWords } from "../shared/words.js";

/** @import { PageContent } from "../shared/content.js" */
/** @import { CauseItem, MistakeItem } from "../shared/payloads.d.ts" */
/** @import { Drafts, Judgement } from "./drafts.js" */
/**
 * @typedef {object} Viewer what shows the row: the page viewer, or one model of the comparison
 * @property {{content: PageContent<any>}} state
 * @property {{page: {document: string, index: number} | null, verdicts?: boolean, reviewer?: string | null} | null} data
 * @property {() => {reviewer?: string | null}} shown
 * @property {string | null} selected
 * @property {CauseItem | null} whole the cause that is judged as a whole
 * @property {(mistake: MistakeItem) => CauseItem | undefined} causeOf that has more mistakes than this one
 * @property {(cause: CauseItem | null) => void} judgeWhole
 * @property {(cause: CauseItem) => void} [alike] the way to more like it, where no list has one
 * @property {string} [subject] whose mistakes are judged, where two models are shown: "A: "
 * @property {Drafts} drafts
 * @property {ReturnType<typeof makeVerdictRow>} verdict
 * @property {HTMLElement} root
 * @property {HTMLElement} spoken
 * @property {{root: HTMLElement}} pane
 * @property {(mistake: MistakeItem) => string} [titleOf] what the row says it is about, where a number does not show
 */

/** @type {Judgement} */
const NO_JUDGEMENT = { verdict: null, note: "", problem: "", waiting: false, saved: null };

/** Builds the row. @param {Viewer} view */
export function makeVerdictRow(view) {
  const title = html("b", { class: "verdict-title", id: "verdict-title" });
  const state = html("span", { class: "verdict-state", role: "status" });
  const buttons = new Map(VERDICTS.map(([name, words], order) => [
    name,
    button(words, { class: "verdict-button", "aria-pressed": "false", title: `${words} (${order + 1})` }, (event) => chooseVerdict(view, name, event.detail === 0), words),
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
  const name = /** @type {HTMLInputElement} */ (html("input", { class: "verdict-name", type: "text", maxlength: 120, placeholder: "Your name, shown with your verdicts", "aria-label": "Your name, needed for verdicts", hidden: true }));
  name.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || !name.value.trim()) return;
    event.preventDefault();
    keepReviewer(name.value.trim());
    name.hidden = true;
    view.verdict.buttons.get(view.verdict.held)?.focus();
    sendVerdict(view, view.verdict.held);
  });
  const whole = button("", { class: "verdict-whole", "aria-pressed": "false" }, () => turnWhole(view));
  const alike = button("", { class: "cause-alike", title: "Show them in Grid" }, () => {
    const cause = judgedCause(view);
    if (cause) view.alike?.(cause);
  });
  const group = html("div", { class: "verdict-cause", hidden: true }, whole, alike);
  const root = html("div", { class: "verdict", role: "group", "aria-label": "Verdict", hidden: true },
    html("div", { class: "verdict-head" }, title, state), group,
    html("div", { class: "verdict-buttons", role: "toolbar", "aria-label": "Verdicts" }, ...buttons.values()),
    name, html("div", { class: "verdict-note-row" }, note, save), problem);
  for (const [key, node] of buttons) node.addEventListener("focus", () => holdTab(buttons, key));
  root.addEventListener("focusout", () => ask(view, null));
  return { root, title, state, group, whole, alike, buttons, note, save, problem, name, held: "", shown: "", asking: "" };
}

/** @param {Viewer} view @returns {CauseItem | undefined} of the chosen mistake, when it has more mistakes */
function judgedCause(view) {
  const mistake = judgedMistake(view);
  return mistake && view.causeOf(mistake);
}

/** The verdict is for the whole cause, or for the chosen mistake alone again. @param {Viewer} view */
function turnWhole(view) {
  const cause = judgedCause(view);
  if (!cause) return;
  view.verdict.asking = "";
  view.judgeWhole(view.whole ? null : cause);
  writeVerdict(view);
  view.spoken.textContent = view.verdict.title.textContent;
}

/** The choice between one mistake and its whole cause; not there for a mistake that is alone. @param {Viewer} view */
function writeGroup(view) {
  const { group, whole, alike } = view.verdict;
  const cause = judgedCause(view);
  group.hidden = !cause;
  if (!cause) return;
  const words = `One verdict for all ${plural(cause.numbers.length, "mistake")}`;
  whole.setAttribute("aria-pressed", String(view.whole !== null));
  if (whole.textContent !== words) whole.textContent = words;
  whole.title = `${cause.title}: ${plural(cause.boxes, "wrong box", "wrong boxes")}. One verdict for all of it (C in this row)`;
  alike.hidden = !view.alike || !cause.alike;
  const more = `${count(cause.alike)} more like this`;
  if (alike.textContent !== more) alike.textContent = more;
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

/** Brings the keys to the pressed button of the row, else to its first. @param {ReturnType<typeof makeVerdictRow>} row */
export function focusButton({ buttons }) {
  const nodes = [...buttons.values()].filter((node) => !node.disabled);
  (nodes.find((node) => node.getAttribute("aria-pressed") === "true") ?? nodes[0])?.focus();
}

/** @param {Viewer} view @returns {MistakeItem | undefined} the mistake that the row is about */
export function judgedMistake(view) {
  return view.state.content.mistakeOf(view.state.content.box(view.selected));
}

/** @param {Viewer} view @returns {MistakeItem[]} of the cause that is chosen as a whole; none for a single mistake */
function wholeMistakes(view) {
  return (view.whole?.numbers ?? []).flatMap((number) => view.state.content.mistakes.get(number) ?? []);
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
  row.title.textContent = view.whole ? `Verdict on ${view.subject ?? ""}${plural(view.whole.numbers.length, "mistake")}: ${view.whole.title}` : mistake ? view.titleOf?.(mistake) ?? `Verdict on mistake ${mistake.number}` : "Verdict";
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
  sendVerdict(view, verdict === name && !problem ? null : name);
}

/** Asks before a verdict is replaced, or asks no more. @param {Viewer} view @param {string | null} name */
function ask(view, name) {
  if (view.verdict.asking === (name ?? "")) return;
  view.verdict.asking = name ?? "";
  writeVerdict(view);
  if (name) view.spoken.textContent = view.verdict.state.textContent;
}

/** @param {Viewer} view @param {number} order from 1 */
function chooseByNumber(view, order) {
  const name = VERDICTS[order - 1]?.[0];
  const mistake = judgedMistake(view);
  if (!name || !mistake?.target) return;
  const asking = view.verdict.asking;
  view.verdict.buttons.get(name)?.focus();
  // The focus has left another button on the way.
  view.verdict.asking = asking;
  chooseVerdict(view, name, true);
}

/** @type {Record<string, number>} */
const BUTTON_STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/**
 * Keys of the row: 1 to 4, C, the arrows and Escape. All others are text, or the browser's: no hotkey of the page works here.
 * @param {Viewer} view @param {KeyboardEvent} event @returns {boolean} whether nothing else may use the key
 */
export function verdictKey(view, event) {
  const target = event.composedPath()[0];
  if (!(target instanceof Node) || !view.verdict.root.contains(target)) return false;
  const number = "1234".indexOf(event.key) + 1;
  const plain = event.key.length === 1 && !event.ctrlKey && !event.altKey && !event.metaKey;
  event.stopPropagation();
  if (event.key === "Escape") {
    view.verdict.name.hidden = true;
    if (view.verdict.asking) ask(view, null);
    else view.pane.root.focus();
  } else if (target === view.verdict.note || target === view.verdict.name) {
    return true;
  } else if (number > 0 && plain) {
    if (!event.repeat) chooseByNumber(view, number);
  } else if (plain && event.key.toLowerCase() === "c") {
    turnWhole(view);
  } else if (BUTTON_STEPS[event.key]) {
    const nodes = [...view.verdict.buttons.values()];
    const at = nodes.findIndex((node) => node === target);
    if (at >= 0) nodes[(at + BUTTON_STEPS[event.key] + nodes.length) % nodes.length].focus();
  } else {
    if (event.key !== "Enter" && event.key !== " ") ask(view, null);
    return true;
  }
  event.preventDefault();
  return true;
}

/** @param {Viewer} view @param {string | null} verdict */
function sendVerdict(view, verdict) {
  const mistake = judgedMistake(view);
  const page = view.data?.page;
  if (!mistake || !page) return;
  view.drafts.send(page, mistake, verdict, view.verdict.note.value, wholeMistakes(view).flatMap(({ target }) => target ?? []), view.data?.reviewer === "" ? knownReviewer() || view.verdict.name.value.trim() : "");
  writeVerdict(view);
  view.spoken.textContent = verdict ? `${verdictWords(verdict)}, sent` : "Verdict taken back, sent";
}
