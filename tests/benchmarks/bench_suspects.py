"""Suspected ground truth against ObjectLab of cleanlab on planted errors, and the coverage of the bound of a review.

    python -m tests.benchmarks.bench_suspects [--pages 1000] [--seeds 1] [--smoke] [--json]

Ground truth of two kinds (eleven labels, dense; Figures and Tables, sparse) with errors in 3 % of its boxes: missing,
extra, wrong label, wrong border, each alone and all four. Two models see the true boxes with noise of their own: they
miss, draw badly, take labels for others, double, split and make things up, with scores that know some of it. The
ranking is judged by average precision, of boxes (a place is right when it is the planted one) and of pages (the first
suspect of a page is its rank), because ObjectLab ranks pages. ObjectLab sees model A, model B, and both with its scores
averaged; the best of the three counts, and its time is that of both models, as ours is. Times are processor seconds of
one thread of each, files and conversions excluded, the least of three runs of each, taken in turns.

Besides: 20 errors planted in the sample, five of each kind, its own two models, with and without its PDFs.
"""

import importlib
import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from evaluator.analysis.suspects import review_plan
from evaluator.analysis.suspects.pairing import Columns
from evaluator.analysis.suspects.ranking import KINDS, MISSING, Ranked, rank
from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.dataset import Annotations
from evaluator.matching.pairs import overlapping_pairs
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from tests.benchmarks.corpus import PAGES_PER_DOCUMENT, dln_like, snap_like
from tests.benchmarks.measuring import Run, installed, parsed, parser_of, tell, timed
from tests.planting import found_errors, listed_suspects
from tests.sample_part import SAMPLE, sample_dataset

SHARE = 0.03
BETTER, FASTER = 1.3, 100.0
RUNS: Final = 3
PIXELS = 1025.0
PLANTS: Final = {kind: (kind,) for kind in KINDS} | {"mixed": KINDS}


class Law(NamedTuple):
    """How a model errs: chances, spreads relative to the box, and Beta laws of scores when right and when wrong."""

    missed: float
    jitter: float
    bad: float
    bad_jitter: float
    flipped: float
    doubled: float
    split: float
    invented: float
    right: tuple[float, float]
    wrong: tuple[float, float]
    least: float


LAWS: Final = {
    "dense": Law(0.08, 0.025, 0.05, 0.18, 0.04, 0.05, 0.02, 2.0, (8.0, 1.6), (1.6, 3.0), 0.05),
    "sparse": Law(0.14, 0.03, 0.08, 0.15, 0.03, 0.04, 0.0, 0.93, (9.0, 1.0), (2.0, 1.6), 0.2),
}
CORPORA: Final[dict[str, Callable[[int], tuple[Annotations, Annotations]]]] = {"dense": dln_like, "sparse": snap_like}


# Pages, boxes on each, share of them wrong, recall of the model. The constants of the plan were chosen on the first two
# lists, with other seeds; the last one had no part in that.
REVIEWS: Final = ((1000, 13.7, 0.03, 0.85), (200, 13.7, 0.03, 0.7), (1000, 2.0, 0.03, 0.85), (1000, 0.6, 0.05, 0.8))
OTHER_REVIEWS: Final = ((500, 6.0, 0.02, 0.75), (2000, 1.0, 0.04, 0.9), (300, 20.0, 0.05, 0.8), (1500, 0.4, 0.03, 0.85))
UNSEEN_REVIEWS: Final = ((800, 3.5, 0.04, 0.6), (400, 9.0, 0.01, 0.9), (2500, 0.8, 0.02, 0.7), (600, 25.0, 0.03, 0.95))


class Planted(NamedTuple):
    """A ground truth with errors: which of its boxes are wrong, and the boxes that it lacks."""

    truth: Columns
    wrong: BoolArray
    gone: Columns


def true_boxes(kind: str, pages: int) -> tuple[Columns, int]:
    """The true boxes of a corpus and its number of labels."""
    truth, _ = CORPORA[kind](pages)
    boxes = truth.boxes
    page = boxes.document.astype(np.int64) * PAGES_PER_DOCUMENT + boxes.page
    return Columns(page, boxes.label.astype(np.int64), boxes.xyxy, boxes.score), len(truth.labels)


def model_of(truth: Columns, law: Law, pages: int, labels: int, rng: np.random.Generator) -> Columns:
    """What a model makes of the true boxes."""
    size = (truth.xyxy[:, 2:] - truth.xyxy[:, :2])[:, [0, 1, 0, 1]]

    def shaken(rows: IntArray, spread: float) -> FloatArray:
        return truth.xyxy[rows] + rng.normal(0.0, spread, (len(rows), 4)) * size[rows]

    def some(chance: float) -> IntArray:
        return np.flatnonzero(rng.random(len(truth.page)) < chance)

    kept = some(1.0 - law.missed)
    bad, flipped = rng.random(len(kept)) < law.bad, rng.random(len(kept)) < law.flipped
    xyxy = shaken(kept, law.jitter)
    xyxy[bad] = shaken(kept[bad], law.bad_jitter)
    label = np.where(flipped, rng.integers(0, labels, len(kept)), truth.label[kept])
    score = np.where(bad | flipped, rng.beta(*law.wrong, len(kept)), rng.beta(*law.right, len(kept)))
    parts = [(truth.page[kept], label, xyxy, score)]
    twice = some(law.doubled)
    parts.append((truth.page[twice], truth.label[twice], shaken(twice, 0.06), rng.beta(*law.wrong, len(twice))))
    cut = some(law.split)
    middle = truth.xyxy[cut][:, [1, 3]].mean(axis=1)
    for edge in (1, 3):
        half = truth.xyxy[cut].copy()
        half[:, edge] = middle
        parts.append((truth.page[cut], truth.label[cut], half, rng.beta(*law.wrong, len(cut))))
    page = np.repeat(np.arange(pages), rng.poisson(law.invented, pages))
    extent = np.column_stack([rng.uniform(0.05, 0.6, len(page)), rng.uniform(0.01, 0.2, len(page))])
    corner = rng.random((len(page), 2)) * (1.0 - extent)
    chosen = rng.choice(truth.label, len(page))
    parts.append((page, chosen, np.hstack([corner, corner + extent]), rng.beta(*law.wrong, len(page))))
    page, label, xyxy, score = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    xyxy = np.clip(xyxy, 0.0, 1.0)
    fits = np.flatnonzero((xyxy[:, 2:] - xyxy[:, :2] > 1e-3).all(axis=1) & (score >= law.least))
    order = fits[np.lexsort((rng.random(len(fits)), page[fits]))]
    return Columns(page[order], label[order], xyxy[order], score[order])


def planted(truth: Columns, kinds: Sequence[str], labels: int, rng: np.random.Generator) -> Planted:
    """The true boxes with errors in `SHARE` of them, the kinds equally often.

    A wrong label is any other one. A wrong border has one side, or all four, 15 to 40 % of the size away. Half of the
    extra boxes repeat one of the page, shifted by a few per cent; half have the size of another box, anywhere.
    """
    page, label, xyxy = truth.page.copy(), truth.label.copy(), truth.xyxy.copy()
    boxes = len(page)
    chosen = rng.permutation(boxes)[: max(round(SHARE * boxes), len(kinds))]
    wrong, gone = np.zeros(boxes, dtype=bool), np.zeros(boxes, dtype=bool)
    added = []
    for kind, rows in zip(kinds, np.array_split(chosen, len(kinds)), strict=True):
        size = (xyxy[rows, 2:] - xyxy[rows, :2])[:, [0, 1, 0, 1]]
        if kind == "missing":
            gone[rows] = True
        elif kind == "label":
            label[rows] = (label[rows] + rng.integers(1, labels, len(rows))) % labels
            wrong[rows] = True
        elif kind == "border":
            amount = rng.uniform(0.15, 0.4, (len(rows), 4)) * rng.choice([-1.0, 1.0], (len(rows), 4))
            one = np.arange(4) == rng.integers(0, 4, len(rows))[:, None]
            every = rng.random(len(rows)) < 0.5
            moved = xyxy[rows] + np.where(every[:, None], 0.5 * amount, amount * one) * size
            xyxy[rows] = np.clip(moved, 0.0, 1.0)
            wrong[rows] = True
        else:
            anywhere, repeated = np.array_split(rows, 2)
            extent = truth.xyxy[rng.permutation(boxes)[: len(anywhere)]]
            extent = extent[:, 2:] - extent[:, :2]
            corner = rng.random(extent.shape) * (1.0 - extent)
            added.append((page[anywhere], label[anywhere], np.hstack([corner, corner + extent])))
            near = truth.xyxy[repeated] + rng.normal(0.0, 0.04, (len(repeated), 4)) * size[len(anywhere) :]
            added.append((page[repeated], label[repeated], np.clip(near, 0.0, 1.0)))
    lacking = truth.take(np.flatnonzero(gone))
    parts = [(page[~gone], label[~gone], xyxy[~gone]), *added]
    wrong = np.concatenate([wrong[~gone], *(np.ones(len(part[0]), dtype=bool) for part in added)])
    page, label = (np.concatenate([part[column] for part in parts]) for column in (0, 1))
    xyxy = np.concatenate([part[2] for part in parts])
    order = np.argsort(page, kind="stable")
    columns = Columns(page[order], label[order], np.ascontiguousarray(xyxy[order]), np.full(len(order), np.nan))
    return Planted(columns, wrong[order], lacking)


def average_precision(score: FloatArray, right: FloatArray, total: float | None = None) -> float:
    """Mean of the precision at each right place, over all that there are."""
    ranked = right[np.argsort(-score, kind="stable")]
    precision = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
    return float((precision * ranked).sum() / (right.sum() if total is None else total))


def of_boxes(ranked: Ranked, errors: Planted) -> float:
    """Average precision of places: a wrong box, or a missing one with IoU 0.5; a second suspect of one box is wrong."""
    right = np.zeros(len(ranked))
    at_box = ranked.kind != MISSING
    right[at_box] = errors.wrong[ranked.truth[at_box]]
    rows = np.flatnonzero(~at_box)
    if len(rows) and errors.gone:
        gone = errors.gone
        pairs = overlapping_pairs(gone.xyxy, gone.page, ranked.xyxy[rows], ranked.page[rows], iou_floor=0.5)
        _, first = np.unique(pairs.ground_truth, return_index=True)
        right[rows[pairs.prediction[first]]] = 1.0
    return average_precision(ranked.score, right, float(errors.wrong.sum() + len(errors.gone.page)))


def wrong_pages(errors: Planted, pages: int) -> FloatArray:
    """Which pages have an error, 1 or 0."""
    wrong = np.zeros(pages)
    wrong[errors.truth.page[errors.wrong]] = 1.0
    wrong[errors.gone.page] = 1.0
    return wrong


def object_lab(truth: Columns, model: Columns, pages: int, labels: int) -> Run:
    """Ask ObjectLab how suspicious each page is."""
    score = importlib.import_module("cleanlab.object_detection.rank").get_label_quality_scores
    given = [
        {"bboxes": truth.xyxy[rows] * PIXELS, "labels": truth.label[rows]} for rows in _rows_of_pages(truth, pages)
    ]
    predicted = []
    for rows in _rows_of_pages(model, pages):
        boxes = np.column_stack([model.xyxy[rows] * PIXELS, model.score[rows]])
        by_label = np.empty(labels, dtype=object)
        for label in range(labels):
            by_label[label] = boxes[model.label[rows] == label]
        predicted.append(by_label)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return timed(lambda: 1.0 - np.asarray(score(given, predicted, verbose=False)))


def _rows_of_pages(side: Columns, pages: int) -> list[slice]:
    ends = np.searchsorted(side.page, np.arange(pages + 1)).tolist()
    return [slice(*pair) for pair in itertools.pairwise(ends)]


def duel(kind: str, pages: int, seed: int, *, peer: bool) -> list[dict[str, Any]]:
    boxes, labels = true_boxes(kind, pages)
    models = [model_of(boxes, LAWS[kind], pages, labels, np.random.default_rng(seed + each)) for each in (1, 2)]
    rows = []
    for name, kinds in PLANTS.items():
        errors = planted(boxes, kinds, labels, np.random.default_rng(seed + 3))
        wrong = wrong_pages(errors, pages)
        runs: dict[int, list[Run]] = {2: [], 1: []}
        theirs: list[list[Run]] = []
        for _turn in range(RUNS):
            for count, own in runs.items():
                own.append(timed(rank, errors.truth, models[:count], labels=labels))
            if peer:
                theirs.append([object_lab(errors.truth, model, pages, labels) for model in models])
        row: dict[str, Any] = {"corpus": kind, "pages": pages, "seed": seed, "kind": name}
        for count, own in runs.items():
            ranked: Ranked = own[0].answer
            by_page = np.zeros(pages)
            np.maximum.at(by_page, ranked.page, ranked.score)
            seconds = min(run.cpu for run in own)
            ap = {"ap_boxes": of_boxes(ranked, errors), "ap_pages": average_precision(by_page, wrong)}
            row[f"models_{count}"] = {**ap, "seconds": seconds}
        if peer:
            scores = [run.answer for run in theirs[0]]
            every = [average_precision(score, wrong) for score in (*scores, scores[0] + scores[1])]
            best, alone, both = max(every), every[0], min(sum(run.cpu for run in turn) for turn in theirs)
            row["objectlab"] = {"ap_pages": best, "ap_pages_model_a": alone, "seconds": both}
            better, faster = row["models_2"]["ap_pages"] / best, both / row["models_2"]["seconds"]
            row |= {"better": better, "better_one_model": row["models_1"]["ap_pages"] / alone, "faster": faster}
            row["reached"] = bool(better >= BETTER and faster >= FASTER)
        rows.append(row)
    return rows


class Review(NamedTuple):
    """A simulated review: whether its bound held when it stopped, and after how many pages."""

    held: bool
    reviewed: int


def simulated(
    rng: np.random.Generator, *, pages: int, per_page: float, wrong: float, recall: float, margin: float
) -> Review:
    """One review of a corpus until the margin is reached.

    Pages differ in how many boxes they have and in how often these are wrong. A suspect with probability p is an error
    with probability p; one error in six nobody suspects. Three errors in ten are missing boxes, which the model finds
    less often than others, two are extra ones, of which it matches a tenth, and five are wrong labels and borders: it
    matches a fifth of them as they are, and of the rest as many as of all boxes once they are right.
    """
    true_boxes = rng.poisson(rng.gamma(3.0, per_page / 3.0, pages))
    rate = wrong * rng.gamma(0.5, 2.0, pages) * true_boxes
    page = np.repeat(np.arange(pages), rng.poisson(rate * (5.0 / 6.0) / 0.7))
    chance = rng.beta(1.4, 0.6, len(page))
    expected = np.bincount(page, chance, minlength=pages).astype(np.float64)
    page = np.concatenate([page[rng.random(len(page)) < chance], np.repeat(np.arange(pages), rng.poisson(rate / 6.0))])
    kind = rng.choice(3, len(page), p=[0.3, 0.2, 0.5])
    missing, extra, changed = (np.bincount(page[kind == each], minlength=pages) for each in range(3))
    missing = np.minimum(missing, true_boxes)
    changed = np.minimum(changed, true_boxes - missing)
    boxes = true_boxes - missing + extra
    right = rng.binomial(true_boxes - missing - changed, recall)
    still = rng.binomial(changed, 0.2)
    matched = right + still + rng.binomial(extra, 0.1)
    true_matched = right + still + rng.binomial(changed - still, recall) + rng.binomial(missing, 0.6 * recall)
    planned = review_plan.plan(boxes, matched, expected, margin=margin, seed=int(rng.integers(2**31)))
    reviewed: dict[int, review_plan.Counts] = {}
    known = review_plan.Bound(0, None, None, planned.pages)
    while not known.done:
        for row in planned.order[len(reviewed) : len(reviewed) + known.more].tolist():
            reviewed[row] = review_plan.Counts(int(true_boxes[row]), int(true_matched[row]))
        known = review_plan.bound(planned, reviewed)
    assert known.recall is not None
    assert known.half is not None
    true = true_matched.sum() / true_boxes.sum()
    return Review(bool(abs(known.recall - true) <= known.half), known.reviewed)


def coverage(simulations: int, seed: int) -> list[dict[str, Any]]:
    """How often the bound at the end of a review holds the recall on a right ground truth."""
    rows = []
    for pages, per_page, wrong, recall in (*REVIEWS, *OTHER_REVIEWS, *UNSEEN_REVIEWS):
        for margin in (0.03, 0.02, 0.01):
            rng = np.random.default_rng(seed)
            runs = [
                simulated(rng, pages=pages, per_page=per_page, wrong=wrong, recall=recall, margin=margin)
                for _ in range(simulations)
            ]
            row = {"pages": pages, "per_page": per_page, "wrong": wrong, "recall": recall, "margin": margin}
            held = sum(run.held for run in runs) / simulations
            rows.append(row | {"share": held, "reviewed": sum(run.reviewed for run in runs) / simulations})
    return rows


def planted_in_sample(seeds: int) -> list[dict[str, Any]]:
    rows = []
    with PagePool() as pool:
        for name, pdfs in (("boxes", None), ("pdfs", (PdfFolder(SAMPLE / "pdf"), pool))):
            clean = len(listed_suspects(sample_dataset(), pdfs))
            runs = [found_errors(sample_dataset(), seed, pdfs) for seed in range(seeds)]
            listed, right = sum(run.listed for run in runs), sum(run.right for run in runs)
            kinds = {kind: sum(run.kinds[kind] for run in runs) for kind in KINDS}
            planted = sum(run.planted for run in runs)
            of = {"with": name, "without_errors": clean, "listed": listed, "planted": planted, "kinds": kinds}
            rows.append(of | {"precision": right / max(listed, 1), "recall": sum(kinds.values()) / planted})
    return rows


def main() -> None:
    """Print figures, ratios and coverage."""
    parser = parser_of(__doc__, pages=1000, seeds=1, simulations=1000, only="ranking,review,sample")
    given = parsed(parser, pages=60, simulations=1)
    peer = installed("cleanlab")
    rows = [
        row
        for kind in (CORPORA if "ranking" in given.only else ())
        for seed in range(given.seeds)
        # The sparse corpus has one box on two pages; as many errors need more pages.
        for row in duel(kind, given.pages * (5 if kind == "sparse" else 1), 100 * seed, peer=peer)
    ]
    ways = ("models_2", "objectlab") if peer else ("models_2",)
    seconds = {
        kind: {way: sum(row[way]["seconds"] for row in rows if row["corpus"] == kind) for way in ways}
        for kind in CORPORA
    }
    sample = planted_in_sample(given.seeds) if "sample" in given.only else []
    covered = coverage(given.simulations, 9001) if "review" in given.only else []
    tell({"rows": rows, "seconds": seconds, "coverage": covered, "sample": sample}, as_json=given.json)


if __name__ == "__main__":
    main()
