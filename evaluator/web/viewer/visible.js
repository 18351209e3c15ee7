/**
 * Which boxes and mistakes show, given the layers and labels that are switched on.
 */

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {import("../shared/geometry.js").Rect} Rect */
/** @typedef {import("../shared/layers.js").Box} Box */
/** @typedef {import("../shared/layers.js").Mistake} Mistake */

/** @param {Viewer} view @param {Box} box @returns {boolean} */
export function isVisible(view, box) {
  if (view.hiddenLabels.has(box.label)) return false;
  if (box.status === "truth") return view.layers.truth;
  if (box.status === "FN") return view.layers.FN || view.layers.truth;
  return view.layers.predictions && view.layers[box.status];
}

/** @param {Viewer} view @returns {Box[]} */
export function visibleBoxes(view) {
  return [...view.boxes.values()].filter((box) => isVisible(view, box));
}

/** @param {Viewer} view @param {Mistake} mistake @returns {Box[]} */
export function boxesOf(view, mistake) {
  return mistake.keys.map((key) => view.boxes.get(key)).filter((box) => box !== undefined);
}

/** @param {Viewer} view @returns {Mistake[]} those with a box that shows */
export function listedMistakes(view) {
  return [...view.mistakes.values()].filter((mistake) => {
    const own = boxesOf(view, mistake);
    return own.length === 0 || own.some((box) => isVisible(view, box));
  });
}

/** @param {Viewer} view @returns {{cut: import("../shared/layers.js").Cut, truth: Rect, prediction: Rect}[]} of the mistakes whose pair shows */
export function cutsOf(view) {
  return [...view.mistakes.values()].flatMap((mistake) => {
    const own = boxesOf(view, mistake).filter((box) => isVisible(view, box));
    const truth = own.find((box) => box.side === "ground_truth");
    const prediction = own.find((box) => box.side === "prediction");
    return mistake.cut && truth && prediction ? [{ cut: mistake.cut, truth: truth.xyxy, prediction: prediction.xyxy }] : [];
  });
}
