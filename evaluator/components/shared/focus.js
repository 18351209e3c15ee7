/** Whether the keys are meant for a component: nothing else wants them. */

/** What takes text or a choice: there a letter is no hotkey. */
export const TAKES_INPUT = "input:not([type='checkbox'], [type='radio'], [type='range'], [type='button']), textarea, select, [contenteditable='true'], [role='textbox'], [role='combobox'], [role='listbox'], [role='spinbutton'], [role='menu'], [role='dialog'], dialog";
/** Open over the view, even while the focus is still on the button that opened it. */
const OPEN = "dialog[open], [aria-modal='true'], [data-testid='stPopoverBody'], [data-testid='stMainMenuPopover']";
/** What other keys than letters and digits are for, when it has the focus. */
const MOVES = "[role='radio'], [role='radiogroup'], [role='slider'], [role='tab'], [role='grid'], [data-testid='stDataFrame'], input";
const PRESSES = "a[href], button, summary, label, [role='button'], [role='checkbox'], [role='gridcell']";
/** Said by a component that begins to hear keys. */
const BUILT = "layoutscope-keys";
/** An attribute of JupyterLab: keys pressed in such an element are none of its shortcuts. */
export const IN_NOTEBOOK = "data-lm-suppress-shortcuts";
const LINK = "[data-testid='stTopNavLink'], [data-testid='stPageLink-NavLink']";

/** @param {HTMLElement} root @returns {Element} the element of the outer document that holds a component */
export function hostOf(root) {
  const top = root.getRootNode();
  return top instanceof ShadowRoot ? top.host : root;
}

/** @param {HTMLElement} root @returns {boolean} whether a component is in a notebook, where all around it is not ours */
export function isInNotebook(root) {
  return hostOf(root).hasAttribute(IN_NOTEBOOK);
}

/** @param {KeyboardEvent} event @param {string} selector @returns {boolean} whether it is about such an element, in a component too */
function isAbout(event, selector) {
  return event.composedPath().some((node) => node instanceof Element && node.matches(selector));
}

/** @param {KeyboardEvent} event outside of every component @returns {boolean} whether what has the focus, or lies open, has a use for it */
function isTaken(event) {
  if (isAbout(event, TAKES_INPUT) || document.querySelector(OPEN)) return true;
  if (event.key === "Enter" || event.key === " ") return isAbout(event, `${MOVES}, ${PRESSES}`);
  return (event.key.length > 1 && event.key !== "Escape") && isAbout(event, MOVES);
}

/** A view that was pressed in the navigation does not keep the keys: Enter is of the view that came. */
function releasePressedLink() {
  const active = document.activeElement;
  if (active instanceof HTMLElement && active.matches(`:is(${LINK}):not(:focus-visible)`)) active.blur();
}

/**
 * Hears the keys of a component while it is in sight, wherever the focus is, unless something else on the page wants them;
 * in a notebook while it has the focus.
 *
 * On the window, before everyone else, because Streamlit's C and R and the shortcuts of its buttons listen on the document;
 * inside of the component after the part that has the focus. Where Streamlit builds a component anew before the old one is
 * gone, the new one alone hears: one press is one verdict.
 * @param {HTMLElement} root @param {(event: KeyboardEvent) => void} pressed @param {AbortSignal} signal ends it
 */
export function listenForKeys(root, pressed, signal) {
  const newer = new AbortController();
  const until = AbortSignal.any([signal, newer.signal]);
  const hear = (/** @type {KeyboardEvent} */ event) => {
    pressed(event);
    const plain = !event.ctrlKey && !event.altKey && !event.metaKey && !isAbout(event, TAKES_INPUT);
    if (plain && /^[cr]$/i.test(event.key)) event.stopPropagation();
  };
  root.addEventListener("keydown", hear);
  if (isInNotebook(root)) return;
  window.addEventListener("keydown", (event) => {
    if (root.getClientRects().length > 0 && !event.composedPath().includes(root) && !isTaken(event)) hear(event);
  }, { capture: true, signal: until });
  window.addEventListener(BUILT, (event) => {
    const other = event instanceof CustomEvent ? event.detail : root;
    if (other !== root && other.classList[0] === root.classList[0]) newer.abort();
  }, { signal: until });
  window.dispatchEvent(new CustomEvent(BUILT, { detail: root }));
  window.addEventListener("click", () => setTimeout(releasePressedLink), { capture: true, signal });
  releasePressedLink();
}
