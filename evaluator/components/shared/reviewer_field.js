/** The field for the name of a reviewer, where a verdict waits for it. */

import { html } from "./elements.js";
import { keepReviewer } from "./reviewer_name.js";

/** @param {string} look its class @returns {HTMLInputElement} hidden until a verdict waits for the name */
export function nameInput(look) {
  const words = { placeholder: "Your name, shown with your verdicts", "aria-label": "Your name, needed for verdicts" };
  return /** @type {HTMLInputElement} */ (html("input", { class: look, type: "text", maxlength: 120, ...words, hidden: true }));
}

/**
 * The field that keeps the name at Enter and drops it at Escape; no key typed in it is one of the view.
 *
 * @param {string} look its class @param {() => void} named the name is kept @param {() => void} [dropped]
 * @returns {HTMLInputElement}
 */
export function nameField(look, named, dropped) {
  const field = nameInput(look);
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") {
      field.hidden = true;
      dropped?.();
    }
    if (event.key !== "Enter" || event.isComposing || !field.value.trim()) return;
    event.preventDefault();
    keepReviewer(field.value.trim());
    field.hidden = true;
    named();
  });
  return field;
}
