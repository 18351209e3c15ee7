/** Whether the keys are meant for a component: nothing else wants them. */

/** What takes text or a choice: there a letter is no hotkey. */
export const TAKES_INPUT = "input, textarea, select, [contenteditable='true'], [role='textbox'], [role='combobox'], [role='listbox'], [role='radio'], [role='spinbutton']";

/** @param {HTMLElement} root @returns {Element} the element of the outer document that holds a component */
export function hostOf(root) {
  const top = root.getRootNode();
  return top instanceof ShadowRoot ? top.host : root;
}

/** @param {HTMLElement} root of a component @returns {boolean} the focus is on the page as a whole, or around the component */
export function focusIsAround(root) {
  const active = document.activeElement;
  const host = hostOf(root);
  if (!root.isConnected || root.offsetParent === null) return false;
  if (!active || active === document.body) return true;
  return active !== host && active.contains(host) && !active.contains(document.querySelector("dialog[open]"));
}
