"""Writes cases.json and file_cases.json: small tie-heavy sets of boxes and what tidecv says of them.

    python tests/oracles/tide/make_cases.py

Needs tidecv 1.0.1, which the tests do not. In cases.json corners are whole numbers, so that every IoU is the same in
corners as in width and height; equal scores, equal boxes and IoUs at a threshold are everywhere. In file_cases.json
boxes are x, y, width, height in tenths, as a file has them, so that an IoU at a threshold depends on how it is worked
out, and some of the ground truth are regions to ignore.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

SHORT_NAMES = {
    "Cls": "classification",
    "Loc": "localisation",
    "Both": "both",
    "Dupe": "duplicate",
    "Bkg": "background",
    "Miss": "missed",
}
THRESHOLDS = ((0.5, 0.1), (0.5, 0.1), (0.75, 0.1), (0.5, 0.5), (0.25, 0.25))


def random_case(seed: int) -> dict[str, Any]:
    """Rows [page, label, x1, y1, x2, y2(, score)] of both sides, and the thresholds."""
    rng = np.random.default_rng(seed)
    pages, labels = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    score_steps = int(rng.integers(1, 6))

    def side(most: int) -> list[list[int]]:
        count = int(rng.integers(0, most))
        low = rng.integers(0, 8, (count, 2))
        high = np.minimum(low + rng.integers(0, 5, (count, 2)), 8)
        codes = np.column_stack([rng.integers(0, pages, count), rng.integers(0, labels, count)])
        return np.hstack([codes, low, high]).tolist()

    truth, predicted = side(20), side(32)
    scores = (rng.integers(0, score_steps + 1, len(predicted)) / score_steps).tolist()
    iou, background = THRESHOLDS[rng.integers(len(THRESHOLDS))]
    return {
        "pages": pages,
        "ground_truth": truth,
        "predictions": [[*row, score] for row, score in zip(predicted, scores, strict=True)],
        "iou": iou,
        "background_iou": background,
        "max_detections": int(rng.choice([100, 100, 4])),
    }


def random_file_case(seed: int) -> dict[str, Any]:
    """Rows [page, label, x, y, width, height(, score)] of both sides, regions to ignore, and the thresholds."""
    rng = np.random.default_rng(seed)
    case = random_case(seed)
    sized = {}
    for side in ("ground_truth", "predictions"):
        rows = [[*row[:4], row[4] - row[2], row[5] - row[3], *row[6:]] for row in case[side]]
        sized[side] = [[*row[:2], *(round(0.1 + value * 0.3, 1) for value in row[2:6]), *row[6:]] for row in rows]
    regions = rng.random(len(sized["ground_truth"])) < 0.3 * (seed % 3)
    rows = sized["ground_truth"]
    sized["ignore"] = [row for row, region in zip(rows, regions, strict=True) if region]
    sized["ground_truth"] = [row for row, region in zip(rows, regions, strict=True) if not region]
    return {**case, **sized}


def ask_tidecv(case: dict[str, Any]) -> dict[str, Any] | None:
    """Counts, AP and gains of tidecv, in percent as it gives them; None where it divides by zero.

    A gain is None when mending leaves no label at all.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tidecv import Data
        from tidecv.quantify import TIDE, TIDERun

    truth, predicted = Data("truth", max_dets=case["max_detections"]), Data("predicted")
    for page in range(case["pages"]):
        truth.add_image(page, str(page))
    sized = "ignore" in case
    for page, label, x, y, *end in case["ground_truth"]:
        truth.add_ground_truth(page, label, [x, y, *end] if sized else [x, y, end[0] - x, end[1] - y])
    for page, label, *region in case.get("ignore", []):
        truth.add_ignore_region(page, label, region)
    for page, label, x, y, *end, score in case["predictions"]:
        predicted.add_detection(page, label, score, [x, y, *end] if sized else [x, y, end[0] - x, end[1] - y])
    try:
        run = TIDERun(truth, predicted, case["iou"], case["background_iou"], "bbox", case["max_detections"])
    except ZeroDivisionError:
        return None
    counts = {SHORT_NAMES[kind.short_name]: count for kind, count in run.count_errors().items()}
    gains: dict[str, float | None] = {}
    for kind in TIDE._error_types:
        try:
            (gains[SHORT_NAMES[kind.short_name]],) = run.fix_main_errors(error_types=[kind]).values()
        except ZeroDivisionError:
            gains[SHORT_NAMES[kind.short_name]] = None
    try:
        false_positive, false_negative = run.fix_special_errors().values()
    except ZeroDivisionError:
        false_positive = false_negative = None
    return {
        "counts": counts,
        "ap": run.ap,
        "delta_ap": gains,
        "false_positive_ap": false_positive,
        "false_negative_ap": false_negative,
    }


def main() -> None:
    for name, make in (("cases.json", random_case), ("file_cases.json", random_file_case)):
        cases = [{**make(seed), "tidecv": ask_tidecv(make(seed))} for seed in range(48)]
        lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
        Path(__file__).with_name(name).write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
