"""Names of mistakes against hotcoco and tidecv, interleaved in one run, with equal counts.

    python -m tests.benchmarks.bench_error_types [--pages 80000] [--pages-tidecv 10000] [--rounds 5] [--smoke] [--json]

Nobody reads files: hotcoco starts from its own loaded data sets, tidecv from its own lists of boxes, ours from columns.
hotcoco needs its `evaluate` before its `tide_errors`, so both the second alone and the two together are timed. Boxes
are x, y, width, height with four decimals, as files have them: pairs at a threshold fall on the same side only when IoU
is worked out in the same way. CPU seconds are the honest ratio on a busy machine; wall seconds count hotcoco's two
threads in its favour. The document names have no peer; their time is next to TIDE's.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Annotations
from evaluator.formats.coco.shape import corners
from evaluator.matching.error_types import DOCUMENT, NONE, TIDE, BoxColumns, name_mistakes, tide
from evaluator.matching.pairs import fit_pairs, overlapping_pairs
from tests.benchmarks.corpus import PAGES_PER_DOCUMENT, dln_like
from tests.benchmarks.measuring import OURS, installed, parsed, parser_of, spread, tell, timed

BAR = 1.5
PIXELS = 1025
PEER_NAMES = dict(zip(TIDE, ("Cls", "Loc", "Both", "Dupe", "Bkg", "Miss"), strict=True))


class Side(NamedTuple):
    """The boxes of one side as columns, and as x, y, width, height for the peers."""

    boxes: BoxColumns
    xywh: FloatArray


def sides_of(pages: int) -> tuple[Side, Side]:
    """Both sides of a corpus in pixels, as COCO files have them."""
    truth, predicted = dln_like(pages)
    return side_of(truth), side_of(predicted)


def side_of(source: Annotations) -> Side:
    boxes = source.boxes
    corners_ = boxes.xyxy * PIXELS
    xywh = np.round(np.hstack([corners_[:, :2], corners_[:, 2:] - corners_[:, :2]]), 4)
    page = boxes.document.astype(np.int64) * PAGES_PER_DOCUMENT + boxes.page
    area = xywh[:, 2] * xywh[:, 3]
    return Side(BoxColumns(xyxy=corners(xywh), label=boxes.label, page=page, score=boxes.score, area=area), xywh)


def against_hotcoco(truth: Side, predicted: Side, pages: int, rounds: int) -> dict[str, Any]:
    """Times of both in turns; stops when a count differs."""
    import hotcoco

    labels = int(max(side.boxes.label.max() for side in (truth, predicted))) + 1
    data = hotcoco.COCO.from_arrays(
        [{"id": page + 1, "width": 1024, "height": 1024} for page in range(pages)],
        [{"id": label + 1, "name": str(label)} for label in range(labels)],
        truth.boxes.page + 1, truth.boxes.label.astype(np.int64) + 1, truth.xywh,
    )  # fmt: skip
    of = predicted.boxes
    detections = data.load_res(np.column_stack([of.page + 1, predicted.xywh, of.score, of.label + 1]))
    runs: dict[str, list[Any]] = {OURS: [], "tide_errors": [], "both": []}
    for _ in range(rounds):
        evaluation = hotcoco.COCOeval(data, detections, "bbox")
        before, errors = timed(evaluation.evaluate), timed(evaluation.tide_errors)
        ours = timed(tide, truth.boxes, predicted.boxes)
        both = errors._replace(cpu=before.cpu + errors.cpu, wall=before.wall + errors.wall)
        for name, run in zip(runs, (ours, errors, both), strict=True):
            runs[name].append(run)
        counts = {name: errors.answer["counts"][short] for name, short in PEER_NAMES.items()}
        own, ap, costs = counted(ours.answer), errors.answer["ap_base"], ours.answer.costs
        # Its recall grid is COCO's, which differs from that of tidecv in the last digit of ten points.
        if own != counts or abs(costs.ap - ap) > 1e-4:
            raise SystemExit(f"hotcoco says {counts}, AP {ap}; ours {own}, AP {costs.ap}")
    seconds = {name: spread(of) for name, of in runs.items()}
    ratios = {
        f"{name}_{clock}": seconds[name][clock] / seconds[OURS][clock]
        for name in ("tide_errors", "both")
        for clock in ("cpu", "wall")
    }
    row = {"peer": "hotcoco", "pages": pages, "boxes": [len(truth.boxes), len(of)], "seconds": seconds}
    return row | {"ratios": ratios, "bar": BAR, "reached": min(ratios.values()) >= BAR}


def counted(errors: Any) -> dict[str, int]:
    """Ours by name."""
    return dict(zip(TIDE, errors.counts.tolist(), strict=True))


def against_tidecv(truth: Side, predicted: Side, pages: int, rounds: int) -> dict[str, Any]:
    """tidecv once, ours before it; stops when a count or a gain differs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tidecv import Data
        from tidecv.quantify import TIDERun
    runs = [timed(tide, truth.boxes, predicted.boxes) for _ in range(rounds)]
    boxes, predictions = Data("truth"), Data("predicted")
    for page in range(pages):
        boxes.add_image(page, str(page))
    of = truth.boxes
    for row in zip(of.page.tolist(), of.label.tolist(), truth.xywh.tolist(), strict=True):
        boxes.add_ground_truth(*row)
    of = predicted.boxes
    assert of.score is not None
    for row in zip(*(column.tolist() for column in (of.page, of.label, of.score, predicted.xywh)), strict=True):
        predictions.add_detection(*row)

    def everything() -> tuple[Any, Any]:
        run = TIDERun(boxes, predictions, 0.5, 0.1, "bbox", 100)
        return run, list(run.fix_main_errors().values()) + list(run.fix_special_errors().values())

    peer = timed(everything)
    run, gains = peer.answer
    counts, own = run.count_errors(), counted(runs[0].answer)
    expected = {name: counts[kind] for name, kind in zip(TIDE, run.error_dict, strict=True)}
    costs = runs[0].answer.costs
    own_gains = [*costs.delta_ap, costs.false_positive_ap, costs.false_negative_ap]
    if own != expected or not np.allclose(np.array(gains) / 100, own_gains, rtol=0, atol=1e-9):
        raise SystemExit(f"tidecv says {expected}, {gains}; ours {own}, {own_gains}")
    seconds = {OURS: spread(runs), "tidecv": spread([peer])}
    ratio = seconds["tidecv"]["cpu"] / seconds[OURS]["cpu"]
    return {"peer": "tidecv", "pages": pages, "seconds": seconds, "ratios": {"cpu": ratio}}


def document_names(truth: BoxColumns, predicted: BoxColumns, rounds: int) -> dict[str, Any]:
    """Times of the document names at an IoU threshold of 0.5, the matching excluded."""
    groups = [side.page * 100 + side.label for side in (truth, predicted)]
    pairs = overlapping_pairs(truth.xyxy, groups[0], predicted.xyxy, groups[1], iou_floor=0.5)
    fitted = fit_pairs(pairs, truth.xyxy, predicted.xyxy, groups[0])
    matches = fitted.columns.take(np.flatnonzero(fitted.score_intervals(np.full(len(predicted), np.nan)).at(0.0)))
    partner = np.full(len(truth), NONE, dtype=np.int64)
    partner[matches.ground_truth] = matches.prediction
    runs = [timed(name_mistakes, truth, predicted, partner, iou=0.5) for _ in range(rounds)]
    counts = dict(zip(DOCUMENT, runs[0].answer.counts.tolist(), strict=True))
    return {"seconds": spread(runs), "counts": counts}


def main() -> None:
    """Print the ratios; stops with a message when counts differ."""
    parser = parser_of(__doc__, pages=80_000, pages_tidecv=10_000, rounds=5)
    given = parsed(parser, pages=400, pages_tidecv=100, rounds=2)
    both = sides_of(given.pages)
    names = document_names(*(side.boxes for side in both), given.rounds)
    duels = []
    if installed("hotcoco"):
        duels.append(against_hotcoco(*both, given.pages, given.rounds))
    if installed("tidecv"):
        duels.append(against_tidecv(*sides_of(given.pages_tidecv), given.pages_tidecv, given.rounds))
    tell({"document_names": names, "duels": duels}, as_json=given.json)


if __name__ == "__main__":
    main()
