/** The name of the reviewer that this browser remembers. */

const REVIEWER_KEY = "layoutscope-reviewer";

/** @returns {string} empty for none */
export function knownReviewer() {
  try {
    return window.localStorage.getItem(REVIEWER_KEY) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} name */
export function keepReviewer(name) {
  try {
    window.localStorage.setItem(REVIEWER_KEY, name);
  } catch {
    // A browser that keeps nothing asks again next time.
  }
}
