"""Pixel evaluation: equal to the reference to the last integer, to the text where the two differ, and to a painter."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from operator import attrgetter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data.dataset import Annotations
from evaluator.data.issues import BadInput
from evaluator.metrics import export
from evaluator.metrics.pixel_counts import PairCounts, merge
from evaluator.protocols import pixel
from evaluator.protocols.pixel import matrix
from evaluator.protocols.pixel.cells import cell_facts
from evaluator.protocols.pixel.difference import difference as pixel_difference
from evaluator.protocols.pixel.evaluation import PixelInputs, PixelResult, evaluate
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME, Matrices, PixelColumns, confusion, zero_division
from evaluator.protocols.pixel.tables import matrix_tables
from tests.benchmarks import bench_pixel
from tests.building import Box, annotations, ground_truth, random_rows
from tests.painting import cell_mask

ORACLES = Path(__file__).resolve().parents[1] / "oracles" / "pixel"
SHARED = os.environ.get("LAYOUTSCOPE_SHARED", "")
HERE = {path.stem: path for path in ORACLES.glob("*.json")}
needs_shared = pytest.mark.skipif(not SHARED, reason="LAYOUTSCOPE_SHARED does not name the folder of oracles/pixel")
NAMES = ("confusion", "precision", "recall", "f1")


def in_pixels(source: Annotations, size: tuple[float, float]) -> Annotations:
    """The same boxes in pixels of pages of one size."""
    sizes = np.tile(np.array(size, dtype=np.float64), (len(source.page_index), 1))
    return replace(source, unit="pixels", page_size=sizes)


def side_of(oracle: dict[str, Any], key: str, document: str = "a.pdf", page: int = 0) -> Annotations:
    """One layout resolution of an oracle as a reader would return it."""
    rows = [Box(document, page, box["label"], tuple(box["bbox"])) for box in oracle[key]]
    source = annotations(rows, labels=oracle[f"classes_{key}"], pages=[] if rows else [(document, page)])
    return in_pixels(source, (oracle["page"]["width"], oracle["page"]["height"]))


def result_of(oracle: dict[str, Any]) -> PixelResult:
    classes = {"A": "same", "B": "different"}[oracle["case"]]
    return evaluate(side_of(oracle, "lr1"), side_of(oracle, "lr2"), classes=classes)


def load(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(HERE[name].read_text())
    return value


def fractions(matrices: Matrices, row: int = 0) -> list[list[Fraction]]:
    return [[Fraction(int(value), matrices.divisor) for value in line] for line in matrices.scaled[row].tolist()]


def close(ours: Any, expected: Any) -> bool:
    return np.allclose(zero_division(np.asarray(ours, dtype=float)), expected, rtol=1e-12, atol=1e-12)


def equal_to_reference(columns: PixelColumns, expected: dict[str, Any]) -> None:
    """Matrices and vectors of one scope with 0 for undefined, which is the reference's view."""
    for key, matrices in (("detailed", columns.matrices), ("collapsed", columns.collapsed)):
        for name in NAMES:
            assert close(getattr(matrices, name)[0], expected[key][f"{name}_matrix"]), (key, name)
        for name in NAMES[1:]:
            diagonal = zero_division(np.diagonal(getattr(matrices, name)[0]))
            assert close(diagonal, expected[key][f"classes_{name}"])
            assert close(diagonal.mean(), expected[key][f"classes_{name}_mean"])


def test_every_oracle_is_there() -> None:
    assert len([name for name in HERE if name.startswith("s")]) == 20
    assert len([name for name in HERE if name.startswith("r")]) == 21


@pytest.mark.parametrize("name", sorted(name for name in HERE if not name.startswith("agg")))
def test_a_page_equals_its_oracle(name: str) -> None:
    equal_to_oracle(HERE[name])


@needs_shared
def test_other_peoples_pages_equal_their_oracles() -> None:
    pages = sorted(Path(SHARED, "oracles", "pixel").glob("x*.json"))
    assert len(pages) == 21
    for path in pages:
        equal_to_oracle(path)


def equal_to_oracle(path: Path) -> None:
    oracle = json.loads(path.read_text(encoding="utf-8"))
    result = result_of(oracle)
    assert list(result.classes) == oracle["matrix_class_names"], path
    assert [list(row) for row in result.counts.triples(0)] == oracle["expected_pair_counts"], path
    assert int(result.whole.pixels[0]) == oracle["num_pixels"], path
    exact = [[Fraction(value) for value in line] for line in oracle["expected_confusion_matrix_exact"]]
    assert fractions(result.whole.matrices) == exact, path
    assert close(result.whole.matrices.confusion[0], oracle["expected_confusion_matrix"]), path
    # Where the reference wraps negative coordinates (s15, s16) the clamped numbers count.
    expected = oracle.get("expected_evaluation_clamped") or oracle["reference"]["evaluation"]
    equal_to_reference(result.whole, expected)
    # Vectors of classes are diagonals in case A and undefined in case B.
    for key in ("precision", "recall", "f1"):
        vector = getattr(result.whole, key)[0]
        means = result.whole.mean_all(key)[0], result.whole.mean_present(key)[0]
        if oracle["case"] == "B":
            assert np.isnan([*vector, *means]).all(), (path, key)
            continue
        assert close(vector, expected["detailed"][f"classes_{key}"]), (path, key)
        wanted = expected["detailed"][f"classes_{key}_mean"], vector[~np.isnan(vector)].mean()
        assert means == pytest.approx(wanted, abs=1e-12), (path, key)


def several_pages() -> tuple[dict[str, Any], PixelResult]:
    """The pages of the aggregate oracle as one dataset of three documents and three page sizes."""
    aggregate = json.loads(HERE["agg01_document_dataset"].read_text())
    where = {name: (doc, at) for doc, value in aggregate["documents"].items() for at, name in enumerate(value["pages"])}
    oracles = {name: load(name) for name in where}
    rows: dict[str, list[Box]] = {"lr1": [], "lr2": []}
    for name, (document, page) in where.items():
        for key, boxes in rows.items():
            boxes += [Box(document, page, box["label"], tuple(box["bbox"])) for box in oracles[name][key]]
    sizes = [[oracle["page"]["width"], oracle["page"]["height"]] for oracle in oracles.values()]
    labels = oracles[next(iter(where))]["classes_lr1"]
    sides = [
        replace(annotations(boxes, labels=labels), unit="pixels", page_size=np.array(sizes, dtype=np.float64))
        for boxes in rows.values()
    ]
    return aggregate, evaluate(*sides)


def test_documents_and_dataset_are_sums_of_pages() -> None:
    aggregate, result = several_pages()
    assert [document.doc_id for document in result.dataset.documents] == list(aggregate["documents"])
    for row, expected in enumerate([*aggregate["documents"].values(), aggregate["dataset"]]):
        columns = result.whole if row == 3 else result.per_document.between(row, row + 1)
        exact = [[Fraction(value) for value in line] for line in expected["matrix_exact"]]
        assert fractions(columns.matrices) == exact
        equal_to_reference(columns, expected["evaluation"])
    assert int(result.whole.pixels[0]) == aggregate["dataset"]["num_pixels"]


def test_the_page_mean_equals_the_reference_statistics() -> None:
    aggregate, result = several_pages()
    detailed, collapsed = (aggregate["dataset"][f"f1_{kind}_classes_stats"]["mean"] for kind in ("all", "collapsed"))
    assert result.page_means.to_json()["pages"] == 6
    assert result.page_means.to_json()["mean"]["all_classes"]["f1"] == pytest.approx(detailed, abs=1e-12)
    f1 = result.page_means.to_json()["collapsed"]["f1"]
    assert (f1[0][0] + f1[1][1]) / 2 == pytest.approx(collapsed, abs=1e-12)
    assert result.mixed_sizes
    assert pixel.MIXED_SIZES in result.to_json()["notes"]


# Invariants of the definition, on random pages with random label sets.

WIDTH, HEIGHT = 14, 11
coordinate = st.integers(-8, 60).map(lambda step: step / 4)
corners = st.tuples(coordinate, coordinate, coordinate, coordinate).map(
    lambda b: (min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3]))
)
LABELS = ("a", "b", "c", "d")
row = st.builds(Box, st.sampled_from(["x", "y"]), st.integers(0, 1), st.sampled_from(LABELS), corners, st.none())
rows = st.lists(row, max_size=12)
KEYS = [("x", 0), ("x", 1), ("y", 0), ("y", 1)]


def side(boxes: Sequence[Box], labels: Sequence[str] = LABELS) -> Annotations:
    every_page = annotations(list(boxes), labels=labels, pages=KEYS)
    return in_pixels(every_page, (WIDTH, HEIGHT))


def painted(boxes: Sequence[Box], key: tuple[str, int], labels: Sequence[str] = LABELS) -> np.ndarray:
    """Label sets of the pixels of one page, as frozen sets of class codes."""
    sets = np.empty((HEIGHT, WIDTH), dtype=object)
    for y in range(HEIGHT):
        for x in range(WIDTH):
            here = [
                1 + labels.index(box.label)
                for box in boxes
                if (box.document, box.page) == key
                and math.floor(box.xyxy[0]) <= x < math.ceil(box.xyxy[2])
                and math.floor(box.xyxy[1]) <= y < math.ceil(box.xyxy[3])
            ]
            sets[y, x] = frozenset(here) or frozenset([0])
    return sets


def contribution(truth: frozenset[int], predicted: frozenset[int]) -> dict[tuple[int, int], Fraction]:
    """What one pixel adds, straight from the table of the definition."""
    both, only_truth, only_found = truth & predicted, truth - predicted, predicted - truth
    if truth == predicted:
        return {(i, i): Fraction(1) for i in truth}
    if truth < predicted:
        own = {(i, i): Fraction(len(truth), len(predicted)) for i in truth}
        return own | {(i, j): Fraction(1, len(predicted)) for i in truth for j in only_found}
    kept = {(i, i): Fraction(1) for i in both}
    if predicted < truth:
        return kept | {(i, j): Fraction(1, len(predicted)) for i in only_truth for j in predicted}
    return kept | {(i, j): Fraction(1, len(only_found)) for i in only_truth for j in only_found}


@given(first=rows, second=rows)
def test_matrices_equal_the_definition_pixel_by_pixel(first: list[Box], second: list[Box]) -> None:
    result = evaluate(side(first), side(second))
    total = np.full((5, 5), Fraction(0), dtype=object)
    for page, key in enumerate(KEYS):
        expected = np.full((5, 5), Fraction(0), dtype=object)
        for truth, predicted in zip(painted(first, key).ravel(), painted(second, key).ravel(), strict=True):
            for cell, value in contribution(truth, predicted).items():
                expected[cell] += value
        assert fractions(result.per_page.between(page, page + 1).matrices) == expected.tolist()
        total += expected
    assert fractions(result.whole.matrices) == total.tolist()


@given(first=rows, second=rows)
def test_row_sums_totals_and_sums_of_pages(first: list[Box], second: list[Box]) -> None:
    result = evaluate(side(first), side(second))
    for columns in (result.per_page, result.per_document, result.whole):
        matrices = columns.matrices
        assert (matrices.scaled.sum(axis=2) == columns.first_pixels * matrices.divisor).all()
        assert (matrices.scaled.sum(axis=(1, 2)) == columns.first_pixels.sum(axis=1) * matrices.divisor).all()
        assert (columns.shared_pixels <= np.minimum(columns.first_pixels, columns.second_pixels)).all()
        for values in (matrices.precision, matrices.recall, matrices.f1, columns.iou, columns.pixel_precision):
            known = values[~np.isnan(values)]
            assert ((known >= 0.0) & (known <= 1.0)).all()
    pages = [fractions(result.per_page.matrices, page) for page in range(len(KEYS))]
    assert np.array(pages).sum(axis=0).tolist() == fractions(result.whole.matrices)
    assert int(result.whole.pixels[0]) == len(KEYS) * WIDTH * HEIGHT


@given(first=rows)
def test_identical_sides_are_a_diagonal(first: list[Box]) -> None:
    whole = evaluate(side(first), side(first)).whole
    assert (whole.matrices.confusion[0] == np.diag(whole.first_pixels[0])).all()
    present = whole.first_pixels[0] > 0
    for values in (whole.precision, whole.recall, whole.f1, whole.iou):
        assert (values[0, present] == 1.0).all()
        assert np.isnan(values[0, ~present]).all()
    assert whole.mean_present("f1")[0] == 1.0


@given(first=rows, second=rows)
def test_sets_of_a_class_are_counted_pixel_by_pixel(first: list[Box], second: list[Box]) -> None:
    whole = evaluate(side(first), side(second)).whole
    sets = [[labels for key in KEYS for labels in painted(boxes, key).ravel()] for boxes in (first, second)]
    for code in range(5):
        truth, predicted = (np.array([code in labels for labels in every]) for every in sets)
        assert whole.first_pixels[0, code] == truth.sum()
        assert whole.second_pixels[0, code] == predicted.sum()
        either = (truth | predicted).sum()
        expected = (truth & predicted).sum() / either if either else np.nan
        assert np.array_equal(whole.iou[0, code], expected, equal_nan=True)


@given(first=rows, second=rows, labels=st.permutations(LABELS))
def test_the_order_of_classes_only_permutes_the_matrix(first: list[Box], second: list[Box], labels: list[str]) -> None:
    usual, other = evaluate(side(first), side(second)).whole, evaluate(side(first, labels), side(second, labels)).whole
    order = [0, *(1 + labels.index(label) for label in LABELS)]
    assert fractions(usual.matrices) == np.array(fractions(other.matrices))[np.ix_(order, order)].tolist()


@given(first=rows, second=rows)
def test_a_page_that_one_side_lacks_is_background_or_left_out(first: list[Box], second: list[Box]) -> None:
    half = [box for box in second if box.document == "x"]
    lacking = in_pixels(annotations(half, labels=LABELS, pages=KEYS[:2]), (WIDTH, HEIGHT))
    whole = evaluate(side(first), side(half))
    penalized, ignored = (evaluate(side(first), lacking, missing_page=policy) for policy in pixel.MISSING_PAGE)
    assert fractions(penalized.whole.matrices) == fractions(whole.whole.matrices)
    alone = [box for box in first if box.document == "x"]
    only_x = in_pixels(annotations(alone, labels=LABELS, pages=KEYS[:2]), (WIDTH, HEIGHT))
    assert fractions(ignored.whole.matrices) == fractions(evaluate(only_x, lacking).whole.matrices)
    assert ignored.counted.tolist() == [True, True, False, False]
    assert (ignored.signature.pages, ignored.signature.documents, penalized.signature.pages) == (2, 1, 4)
    assert [page["page"] for page in ignored.to_json()["pages"]] == [0, 1]
    rule = "both sides should have the same pages; one that a side does not have is"
    assert [issue.rule for issue in penalized.issues if "same pages" in issue.rule] == [
        f"{rule} background there (pixel)"
    ]
    assert [issue.sentence for issue in ignored.issues if "same pages" in issue.rule] == [
        f'prediction.json: document "y", page 1 and 1 page more: {rule} left out (pixel). '
        "Add the pages, or give --missing-page penalize."
    ]


@given(first=rows, second=rows, row=st.integers(0, 4), column=st.integers(0, 4))
def test_cells_are_traced_to_pages_and_pixels(first: list[Box], second: list[Box], row: int, column: int) -> None:
    result = evaluate(side(first), side(second))
    per_page = result.per_page.matrices.confusion[:, row, column]
    cells = cell_facts(result, row, column).behind
    assert sorted(cell.page for cell in cells) == np.flatnonzero(per_page).tolist()
    assert [cell.pixels for cell in cells] == sorted((cell.pixels for cell in cells), reverse=True)
    for cell in cells:
        assert cell.pixels == pytest.approx(per_page[cell.page], rel=1e-12)
    assert cell_facts(result, row, column, limit=1).behind == cells[:1]
    for page, key in enumerate(KEYS):
        expected = [
            (row, column) in contribution(truth, predicted)
            for truth, predicted in zip(painted(first, key).ravel(), painted(second, key).ravel(), strict=True)
        ]
        assert cell_mask(result, page, row, column).ravel().tolist() == expected


@given(first=rows, second=rows, extra=st.lists(row, max_size=3))
def test_shares_of_a_corpus_add_up_in_any_order(first: list[Box], second: list[Box], extra: list[Box]) -> None:
    parts = [evaluate(side(first), side(second)), evaluate(side(second), side(extra)), evaluate(side([]), side(first))]
    forth, back = merge([part.counts for part in parts]), merge([part.counts for part in parts[::-1]])
    one, other = confusion(forth, 5), confusion(back, 5)
    assert one.divisor == other.divisor
    assert (one.scaled == other.scaled).all()
    sums = sum(np.array(fractions(part.whole.matrices)) for part in parts)
    pooled = forth.pooled(np.zeros(4, dtype=np.int64), 1)
    assert fractions(confusion(pooled, 5)) == sums.tolist()


def test_a_divisor_beyond_whole_numbers_still_gives_the_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    result = result_of(load("r05_dense_1025x1025_b100_c11"))
    exact = result.whole.matrices
    monkeypatch.setattr("evaluator.protocols.pixel.matrix.EXACT", 0)
    other = confusion(result.whole.counts, len(result.classes))
    assert other.divisor == 1
    assert np.allclose(other.confusion, exact.confusion, rtol=1e-14, atol=0.0)


def test_sixty_three_labels_on_one_pixel() -> None:
    labels = [f"c{code:02d}" for code in range(63)]
    truth = [Box("a", 0, label, (0, 0, 3, 1)) for label in labels]
    predicted = [Box("a", 0, label, (0, 0, 2, 1)) for label in labels[:61]]
    sides = [in_pixels(annotations(boxes, labels=labels), (4, 1)) for boxes in (truth, predicted)]
    matrices = evaluate(*sides).whole.matrices
    # Two pixels have 63 and 61 labels: those not found go to each found one.
    assert matrices.confusion[0, 63, 1] == pytest.approx(2 / 61, rel=1e-15)
    assert matrices.confusion[0, 1, 1] == 2.0
    assert matrices.confusion[0, 1, 0] == 1.0
    assert matrices.confusion[0].sum() == pytest.approx(3 * 63 + 1, rel=1e-14)


# Classes.


def two(first: Sequence[str], second: Sequence[str], **options: Any) -> PixelResult:
    """Two sides with one box of each of their labels in a row."""
    sides = [
        in_pixels(
            annotations(
                [Box("a", 0, label, (2 * at, 0, 2 * at + 2, 1)) for at, label in enumerate(labels)], labels=labels
            ),
            (20, 2),
        )
        for labels in (first, second)
    ]
    return evaluate(*sides, **options)


def test_auto_takes_classes_as_the_same_when_one_side_contains_the_other() -> None:
    assert two(["text", "table"], ["table", "text"]).classes == (BACKGROUND_NAME, "text", "table")
    assert two(["text", "table"], ["text"]).classes == (BACKGROUND_NAME, "text", "table")
    assert two(["text"], ["table", "text"]).classes == (BACKGROUND_NAME, "text", "table")
    assert two(["text"], []).same_classes
    assert not two(["text"], ["text"]).issues


def test_auto_says_when_it_takes_classes_as_different() -> None:
    result = two(["text", "Table"], ["text", "grid"])
    assert result.classes == (BACKGROUND_NAME, "LR1:text", "LR1:Table", "LR2:text", "LR2:grid")
    assert [issue.sentence for issue in result.issues] == [
        "prediction.json: the sides use different classes, so each side has its own in the matrix (pixel, case B); "
        'found only in the first "Table", only in the second "grid". Bring names together with --map-label, or give '
        "--classes same or --classes different."
    ]
    assert not two(["text", "Table"], ["text", "grid"], classes="different").issues


def test_same_classes_joins_names_and_different_ones_parts_them() -> None:
    assert two(["text", "Table"], ["text", "grid"], classes="same").classes == (
        BACKGROUND_NAME,
        "text",
        "Table",
        "grid",
    )
    assert two(["text"], ["text"], classes="different").classes == (BACKGROUND_NAME, "LR1:text", "LR2:text")


def test_a_shared_name_is_one_class_when_the_user_says_so() -> None:
    result = two(["text", "Table"], ["text", "grid"], classes="different", shared_labels=["text"])
    assert result.classes == (BACKGROUND_NAME, "text", "LR1:Table", "LR2:grid")
    assert result.whole.recall[0, 1] == 1.0
    assert np.isnan(result.whole.recall[0, [0, 2, 3]]).all()
    assert np.isnan(result.whole.mean_present("recall")[0])
    assert "shared text" in result.signature.line


def test_labels_that_are_left_out_become_background_without_gaps() -> None:
    result = two(["text", "table", "figure"], ["text", "table", "figure"], labels=["figure", "text"])
    assert result.classes == (BACKGROUND_NAME, "text", "figure")
    assert result.counts.triples(0) == [(1, 1, 36), (2, 2, 2), (4, 4, 2)]
    assert result.signature.labels == ("figure", "text")
    assert not result.issues


def test_a_label_outside_the_label_map_is_background_and_said() -> None:
    rows = [Box("a", 0, "text", (0, 0, 2, 1)), Box("a", 0, "stamp", (4, 0, 6, 1)), Box("a", 0, "stamp", (6, 0, 8, 1))]
    truth = in_pixels(annotations(rows, labels=["text"]), (20, 2))
    result = evaluate(truth, truth)
    assert result.counts.triples(0) == [(1, 1, 38), (2, 2, 2)]
    assert [issue.sentence for issue in result.issues] == [
        "prediction.json: page entry 0, object 1 and 1 object more: boxes whose label is not in the label map count as "
        'background (pixel); found "stamp". Add the label to the label map to count it.'
    ] * 2


def refused(*sides: Annotations, **options: Any) -> list[str]:
    with pytest.raises(BadInput) as problem:
        evaluate(*sides, **options)
    return [issue.sentence for issue in problem.value.issues]


def test_more_classes_than_a_word_has_bits_are_refused() -> None:
    labels = [f"c{code:02d}" for code in range(64)]
    side_with_many = in_pixels(annotations([], labels=labels, pages=[("a", 0)]), (10, 10))
    assert refused(side_with_many, side_with_many) == [
        "prediction.json: a matrix may have 63 classes beside the background (pixel); found 64. Choose classes with "
        "--labels, or bring some together with --map-label."
    ]
    assert len(evaluate(side_with_many, side_with_many, labels=labels[:63]).classes) == 64


def test_a_label_called_background_is_refused() -> None:
    named = in_pixels(annotations([], labels=["Background"], pages=[("a", 0)]), (10, 10))
    assert refused(named, named) == [
        'prediction.json: no label may be called "Background", which is the name of pixels without a label (pixel); '
        'found "Background". Rename it with --map-label, or leave it out with --labels.'
    ]
    assert evaluate(named, named, classes="different").classes == ("Background", "LR1:Background", "LR2:Background")


def test_options_that_do_not_exist() -> None:
    with pytest.raises(ValueError, match=r"^classes must be one of auto, same, different; found equal$"):
        two(["a"], ["a"], classes="equal")
    with pytest.raises(ValueError, match=r"^missing_page must be one of penalize, ignore; found skip$"):
        two(["a"], ["a"], missing_page="skip")
    with pytest.raises(ValueError, match=r"^labels not in the label maps: z$"):
        two(["a"], ["a"], labels=["a", "z"])
    with pytest.raises(ValueError, match=r"^shared labels must be on both sides: b$"):
        two(["a"], ["b"], shared_labels=["b"])


# Page sizes.

SHARES = [Box("a.pdf", 0, "text", (0.1, 0.2, 0.5, 0.4)), Box("a.pdf", 1, "text", (0.0, 0.0, 1.0, 0.5))]


def shares(boxes: Sequence[Box] = SHARES) -> Annotations:
    return annotations(list(boxes), labels=["text"], pages=[("a.pdf", 0), ("a.pdf", 1)][: 0 if boxes else 2])


def test_shares_of_a_page_are_scaled_by_its_size() -> None:
    result = evaluate(shares(), shares([]), page_sizes={("a.pdf", 0): (100.0, 50.0), ("a.pdf", 1): (10.5, 4.0)})
    assert [result.counts.triples(page) for page in (0, 1)] == [[(1, 1, 4600), (2, 1, 400)], [(1, 1, 22), (2, 1, 22)]]
    one_size = evaluate(shares(), shares([]), page_size=(100.0, 50.0))
    assert one_size.counts.triples(1) == [(1, 1, 2500), (2, 1, 2500)]
    assert "pages of unknown size: 100 x 50" in one_size.signature.line


def test_a_page_without_a_size_is_refused_and_each_is_named() -> None:
    rule = "a page needs its width and height, so that its pixels can be counted (pixel); found none"
    fix = "Give the PDFs, a COCO file with the sizes of its images, or one size for all (--page-size WIDTHxHEIGHT)."
    assert refused(shares(), shares()) == [
        f'prediction.json: document "a.pdf", page {page}: {rule}. {fix}' for page in (1, 2)
    ]
    assert len(refused(shares(), shares(), page_sizes={("a.pdf", 1): (10.0, 10.0)})) == 1
    missing = annotations(SHARES[:1], labels=["text"])
    # A page that is not counted needs no size.
    assert (
        evaluate(shares(), missing, missing_page="ignore", page_sizes={("a.pdf", 0): (9.0, 9.0)}).counts.totals[1] == 0
    )


@pytest.mark.parametrize("size", [(0.0, 10.0), (10.0, -1.0), (math.inf, 10.0), (2.0**20, 10.0)])
def test_a_size_that_cannot_be_counted_is_refused(size: tuple[float, float]) -> None:
    assert refused(shares(SHARES[:1]), shares(SHARES[:1]), page_size=size) == [
        'prediction.json: document "a.pdf", page 1: the width and height of a page must be above 0 and at most '
        f"1,048,575 pixels (pixel); found {size[0]:g} x {size[1]:g}. Correct the size."
    ]


def test_two_sizes_for_one_page_are_refused() -> None:
    twice = annotations([SHARES[0], SHARES[1], SHARES[0]], labels=["text"])
    sizes = np.array([[10.0, 10.0], [5.0, 5.0], [10.0, 12.0]])
    assert refused(replace(twice, page_size=sizes), shares()) == [
        'prediction.json: document "a.pdf", page 1: the entries of one page must give one size (pixel); found 10 x 12 '
        "after 10 x 10. Correct the sizes."
    ]


def test_the_second_side_is_rescaled_to_the_first_and_said() -> None:
    truth = in_pixels(annotations([Box("a", 0, "text", (10, 10, 50, 20))], labels=["text"]), (100, 50))
    same = in_pixels(annotations([Box("a", 0, "text", (20, 30, 100, 60))], labels=["text"]), (200, 150))
    result = evaluate(truth, same)
    assert result.counts.triples(0) == [(1, 1, 4600), (2, 2, 400)]
    assert [issue.sentence for issue in result.issues] == [
        'prediction.json: document "a", page 1: both sides should give a page the same size; boxes of the second side '
        "are rescaled to the first (pixel); found 200 x 150 and 100 x 50. Nothing to do if both are images of one page."
    ]


def test_pixels_and_shares_meet_in_the_pixels_of_either_side() -> None:
    in_shares = annotations([Box("a", 0, "text", (0.1, 0.2, 0.5, 0.4))], labels=["text"])
    pixels = in_pixels(annotations([Box("a", 0, "text", (10, 10, 50, 20))], labels=["text"]), (100, 50))
    for sides in ((in_shares, pixels), (pixels, in_shares)):
        result = evaluate(*sides)
        assert result.counts.triples(0) == [(1, 1, 4600), (2, 2, 400)]
        assert not result.issues


def test_the_size_of_the_first_side_comes_before_what_the_caller_says() -> None:
    pixels = in_pixels(annotations([Box("a", 0, "text", (0, 0, 5, 5))], labels=["text"]), (10, 10))
    result = evaluate(pixels, pixels, page_sizes={("a", 0): (20.0, 20.0)}, page_size=(30.0, 30.0))
    assert result.size.tolist() == [[10, 10]]
    unsized = replace(pixels, page_size=None)
    assert evaluate(unsized, unsized, page_size=(30.0, 30.0)).counts.triples(0) == [(1, 1, 875), (2, 2, 25)]


def test_pages_and_boxes_of_files_may_come_in_any_order() -> None:
    rng = np.random.default_rng(7)
    sides = bench_pixel.overlapping(5, 12, 0.3)
    expected = evaluate(*sides)
    shuffled = []
    for side in sides:
        assert side.page_size is not None
        entries, rows = rng.permutation(5), rng.permutation(len(side.boxes))
        place = np.argsort(entries)
        columns = {name: getattr(side.boxes, name)[rows] for name in ("document", "page", "label", "xyxy", "score")}
        position, entry = side.boxes.position[rows], place[side.boxes.entry[rows]].astype(np.int32)
        ids = [str(row) for row in rows]
        boxes = replace(side.boxes, **columns, position=position, entry=entry, ids=ids)
        columns = {name: getattr(side, name)[entries] for name in ("page_document", "page_index", "page_size")}
        shuffled.append(replace(side, boxes=boxes, **columns))
    result = evaluate(*shuffled)
    assert result.to_json(exact=True) == expected.to_json(exact=True)
    assert result.size.tolist() == expected.size.tolist()


def test_boxes_beyond_the_page_and_boxes_without_a_pixel_are_said() -> None:
    oracle = load("s15_out_left_top")
    assert [issue.sentence for issue in result_of(oracle).issues] == [
        "prediction.json: page entry 0, object 0: boxes should lie on their page; what lies beyond it is not counted "
        "(pixel); found [-5.0,-3.0,8.0,8.0] on 20 x 20 pixels. Correct the boxes, or the size of the page."
    ]
    assert [issue.sentence for issue in result_of(load("s17_degenerate")).issues] == [
        "prediction.json: page entry 0, object 0 and 1 object more: boxes should cover at least one pixel; these count "
        "nothing (pixel); found [5.0,5.0,5.0,9.0]. Correct or remove the boxes."
    ]


# What a result gives.


def test_two_predictions_are_not_symmetric() -> None:
    oracle = load("s08_case2_pred_superset")
    one, other = side_of(oracle, "lr1"), side_of(oracle, "lr2")
    forth, back = (evaluate(*sides).whole.matrices.confusion[0] for sides in ((one, other), (other, one)))
    assert not (forth == back.T).all()
    assert pixel.ORDER_MATTERS in evaluate(one, other).to_json()["notes"]


def test_a_low_score_leaves_a_box_of_the_second_side_out() -> None:
    boxes = [
        Box("a", 0, "text", (0, 0, 5, 5), 0.4),
        Box("a", 0, "text", (5, 0, 10, 5), 0.6),
        Box("a", 0, "text", (0, 5, 1, 6)),
    ]
    scored = in_pixels(annotations(boxes, labels=["text"]), (10, 10))
    result = evaluate(scored, scored, min_score=0.5)
    assert result.counts.triples(0) == [(1, 1, 49), (2, 1, 25), (2, 2, 26)]
    assert "score ≥ 0.50" in result.signature.line


def scored_pair(seed: int) -> tuple[Annotations, Annotations]:
    """Two sides of some pages; every seventh box of the second has no score."""
    truth, predicted = random_rows(seed, documents=5, per_page=(0.5, 2.0, 6.0)[seed % 3])
    unscored = [row._replace(score=None) if at % 7 == 0 else row for at, row in enumerate(predicted)]
    return annotations(truth), annotations(unscored)


@pytest.mark.parametrize("seed", range(3))
def test_at_every_score_the_numbers_are_those_of_the_two_files_alone(seed: int) -> None:
    sides = scored_pair(seed)
    files = PixelInputs.of(*sides, page_size=(61.0, 79.5))
    for first, second in ((0.0, 0.0), (0.0, 0.03), (0.02, 0.03), (0.02, 0.0), (0.9, 0.9), (0.0, 0.0)):
        scores = {"first_min_score": first, "min_score": second}
        result = files.evaluate(**scores)
        alone = evaluate(*sides, page_size=(61.0, 79.5), **scores)
        for name in ("counts", "whole.counts", "per_document.counts"):
            one, other = (attrgetter(name)(each) for each in (result, alone))
            assert one.scopes == other.scopes
            for column in ("scope", "row_first", "row_second", "pixels"):
                assert getattr(one, column).dtype == getattr(other, column).dtype
                np.testing.assert_array_equal(getattr(one, column), getattr(other, column))
        assert result.issues == alone.issues
        assert result.to_json() == alone.to_json()
        per_page = alone.per_page
        for row, column in np.ndindex(len(result.classes), len(result.classes)):
            np.testing.assert_array_equal(
                result.cell_pixels(row, column), per_page.matrices.confusion[:, row, column], f"cell {row}, {column}"
            )
        for row in range(len(result.classes)):
            np.testing.assert_array_equal(result.row_pixels(row), per_page.first_pixels[:, row], f"row {row}")
        for document in range(len(result.dataset.documents)):
            own = result.document_columns(document).counts.triples(0)
            assert own == alone.per_document.counts.triples(document), f"document {document}"
        for page in range(result.counts.scopes):
            own = result.page_columns(page).counts.triples(0)
            assert own == alone.counts.triples(page), f"page {page}"


def test_wrong_pixels_are_those_off_the_diagonal_of_each_page() -> None:
    result = evaluate(*scored_pair(2), page_size=(61.0, 79.5))
    for row, matrix_of_page in enumerate(result.per_page.matrices.confusion):
        wrong = matrix_of_page - np.diag(np.diag(matrix_of_page))
        touched = matrix_of_page.sum(axis=0) + matrix_of_page.sum(axis=1) > 0.0
        own = np.where(touched, wrong.sum(axis=0) + wrong.sum(axis=1), np.nan)
        np.testing.assert_allclose(result.wrong_pixels[row], [wrong.sum(), *own[1:]], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("exact", [2.0, 200_000.0])
def test_numbers_of_pages_that_are_too_fine_for_whole_numbers_are_rounded(exact: float) -> None:
    sides = scored_pair(2)
    wanted = evaluate(*sides, page_size=(61.0, 79.5))
    with patch.object(matrix, "EXACT", exact):
        result = evaluate(*sides, page_size=(61.0, 79.5))
        np.testing.assert_allclose(result.wrong_pixels, wanted.wrong_pixels, rtol=1e-12, atol=0.0)
        for row, column in np.ndindex(len(result.classes), len(result.classes)):
            np.testing.assert_allclose(
                result.cell_pixels(row, column), wanted.cell_pixels(row, column), rtol=1e-12, atol=0.0
            )


def test_the_order_of_questions_changes_no_byte() -> None:
    """Thirty questions about two models of one ground truth, in three orders, each order with files made ready anew."""
    truth, predicted = random_rows(5, documents=3, per_page=6.0)
    other = random_rows(6, documents=3, per_page=6.0)[1]
    sides = annotations(truth), annotations(predicted), annotations(other)
    floors = (0.0, 0.02, 0.3, 0.31, 0.9)
    labels = sides[0].labels

    def answers(order: Sequence[int]) -> dict[int, bytes]:
        files = [PixelInputs.of(sides[0], model, page_size=(61.0, 79.5)) for model in sides[1:]]
        a, b = files
        between = PixelInputs.of(sides[1], sides[2], page_size=(61.0, 79.5))

        def plain(value: object) -> bytes:
            return msgspec.json.encode(value, enc_hook=lambda array: array.tolist())

        questions: list[Callable[[], bytes]] = []
        for at, floor in enumerate(floors):
            one = PixelInputs.of(*sides[:2], page_size=(61.0, 79.5), labels=[labels[at % 2]]).evaluate
            questions += [
                lambda floor=floor: plain(a.evaluate(min_score=floor).to_json()),
                lambda floor=floor: b.evaluate(min_score=floor).wrong_pixels.tobytes(),
                lambda floor=floor, at=at: plain(cell_facts(a.evaluate(min_score=floor), at % 3, 1)),
                lambda floor=floor, at=at: plain(b.evaluate(min_score=floor).page_columns(at).row(0, exact=True)),
                lambda floor=floor: plain(
                    pixel_difference(
                        a.evaluate(min_score=floor).whole, b.evaluate(min_score=0.3).whole, "recall"
                    ).values
                ),
                lambda floor=floor, one=one: plain(
                    [one(min_score=floor).to_json(), between.evaluate(first_min_score=floor, min_score=0.3).to_json()]
                ),
            ]
        return {number: questions[number]() for number in order}

    orders = [np.random.default_rng(seed).permutation(30).tolist() for seed in range(2)]
    expected = answers(range(30))
    assert len(set(expected.values())) > 20
    for order in orders:
        given = answers(order)
        differing = [number for number in range(30) if given[number] != expected[number]]
        assert not differing, f"in the order {order} these have another answer: {differing}"


def test_the_signature() -> None:
    line = two(["text"], ["text"]).signature.line
    assert line.startswith("pixel 2020 · same classes · missing pages: penalize · 1 document, 1 page · layoutscope ")


@given(seed=st.integers(0, 10**6), different=st.booleans(), exact=st.booleans())
def test_the_json_has_the_keys_of_the_contract_and_no_nan(seed: int, different: bool, exact: bool) -> None:
    truth, predicted = random_rows(seed, documents=2, pages=2)
    sides = ground_truth(truth), annotations(predicted)
    for one in sides:
        for column in (one.boxes.xyxy, one.boxes.score, one.boxes.label, one.boxes.page, one.page_index):
            column.flags.writeable = False
    result = evaluate(*sides, classes="different" if different else "auto", page_size=(61.0, 79.5))
    value = result.to_json(exact=exact)
    assert {"protocol", "signature", "ground_truth", "predictions", "issues", "classes"} <= value.keys()
    assert set(value["ground_truth"]) == set(value["predictions"]) == {"name", "sha256"}
    assert set(value["documents"]) == {document.doc_id for document in result.dataset.documents}
    scopes = [value["dataset"], *value["documents"].values(), *value["pages"]]
    for scope in scopes:
        assert {"pixels", *NAMES, "per_class", "collapsed", "mean"} <= scope.keys()
        assert ("pair_counts" in scope) == exact
        assert list(scope["per_class"]) == value["classes"]
        assert {"precision", "recall", "f1", "iou"} <= scope["per_class"]["Background"].keys()
        assert set(NAMES) <= scope["collapsed"].keys()
        assert set(scope["mean"]) == {"all_classes", "present_classes"}
        undefined = {value for row in scope["per_class"].values() for value in row.values()}
        assert not different or undefined == {None}
    for key in ("documents", "pages"):
        parts = value[key].values() if key == "documents" else value[key]
        assert sum(part["pixels"] for part in parts) == value["dataset"]["pixels"]
    text = export.to_json(value)
    assert "NaN" not in text
    assert msgspec.json.decode(text) == msgspec.to_builtins(value)
    assert value == evaluate(*sides, classes="different" if different else "auto", page_size=(61.0, 79.5)).to_json(
        exact=exact
    )


def test_pair_counts_of_sixty_three_classes_survive_json() -> None:
    labels = [f"c{code:02d}" for code in range(63)]
    last = in_pixels(annotations([Box("a", 0, "c62", (0, 0, 1, 1))], labels=labels), (2, 1))
    text = export.to_json(evaluate(last, last).to_json(exact=True, scopes=["dataset"]))
    value = json.loads(text)
    assert value["dataset"]["pair_counts"] == [[1, 1, 1], [2**63, 2**63, 1]]
    assert not {"documents", "pages"} & value.keys()


def test_no_pages_at_all() -> None:
    nothing = annotations([], labels=["text"])
    result = evaluate(nothing, nothing)
    value = result.to_json()
    assert (value["pages"], value["documents"], value["dataset"]["pixels"]) == ([], {}, 0)
    assert value["dataset"]["mean"]["present_classes"] == dict.fromkeys(("precision", "recall", "f1", "iou"))
    assert value["page_mean"]["pages"] == 0
    assert value["page_mean"]["mean"]["all_classes"]["f1"] is None
    assert result.table().rows[0][:3] == (BACKGROUND_NAME, 0, 0)


def test_the_table_has_a_row_for_each_class_and_mean() -> None:
    result = result_of(load("s02_single_label_shift"))
    table = result.table()
    names = [row[0] for row in table.rows]
    means = [pixel.ALL_CLASSES, pixel.PRESENT_CLASSES, "Collapsed: Background", "Collapsed: All classes"]
    assert names == [BACKGROUND_NAME, "text", "table", "picture", *means]
    assert table.rows[1] == ("text", 15, 50, 12 / 50, 12 / 15, 24 / 65, 12 / 53, 12 / 50, 12 / 15)
    # Nothing was predicted as a table: its precision is undefined, its recall 0.
    assert table.rows[2][:7] == ("table", 56, 0, None, 0.0, 0.0, 0.0)
    assert export.to_csv([table]).count("\n") == 9


def test_every_matrix_is_ready_for_csv() -> None:
    _, result = several_pages()
    for columns, row in ((result.whole, 0), (result.per_document, 1), (result.per_page, 4)):
        tables = matrix_tables(columns, row, result.signature.line)
        assert [table.title for table in tables] == [*NAMES, *(f"collapsed {name}" for name in NAMES)]
        for table in tables[:4]:
            assert table.columns == ("label", *result.classes)
            assert [line[0] for line in table.rows] == list(result.classes)
        matrices = columns.matrices
        assert [list(line[1:]) for line in tables[0].rows] == matrices.confusion[row].tolist()
        assert [len(table.rows) for table in tables[4:]] == [2, 2, 2, 2]
        assert export.to_csv(tables[:1]).splitlines()[1].split(",")[:2] == ["confusion", BACKGROUND_NAME]


@pytest.mark.parametrize(
    ("classes", "exact", "rows"),
    [(2, 1 << 53, 10), (2, 0, 1 << 13), (13, 0, 10), (13, 1 << 53, 1 << 13), (64, 1 << 53, 10), (64, 0, 1 << 13)],
)
def test_products_of_sets_equal_shares_one_by_one(
    classes: int, exact: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(classes)
    first, second = (
        np.maximum(rng.integers(0, 1 << min(classes - 1, 60), 400).astype(np.uint64) << np.uint64(1), np.uint64(1))
        for _ in range(2)
    )
    counts = PairCounts(3, np.sort(rng.integers(0, 3, 400)), first, second, rng.integers(1, 999, 400))
    monkeypatch.setattr(matrix, "EXACT", exact)
    monkeypatch.setattr(matrix, "_ROWS_AT_ONCE", rows)
    monkeypatch.setattr(matrix, "_PRODUCT_AT_ONCE", rows * classes**2 // 3)
    made = []
    for many in (0, 1000):
        monkeypatch.setattr(matrix, "_MANY_ROWS", many)
        made.append(matrix.confusion(counts, classes))
    assert made[0].divisor == made[1].divisor
    assert made[0].scaled.tolist() == made[1].scaled.tolist()
