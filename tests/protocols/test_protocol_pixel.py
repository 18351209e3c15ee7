"""Pixel evaluation: equal to the reference to the last integer, to the text where the two differ, and to a painter."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data.dataset import Annotations
from evaluator.metrics import export
from evaluator.metrics.pixel_counts import PairCounts, merge
from evaluator.metrics.results import defined
from evaluator.protocols import pixel
from evaluator.protocols.pixel import matrix
from evaluator.protocols.pixel.cells import cell_facts
from evaluator.protocols.pixel.evaluation import PixelInputs, PixelResult, evaluate
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME, Matrices, PixelColumns, confusion, zero_division
from evaluator.protocols.pixel.tables import PER_CLASS
from tests.building import Box, annotations, ground_truth, random_rows
from tests.painting import cell_mask
from tests.reading import SHARED, needs_shared, refusal

ORACLES = Path(__file__).resolve().parents[1] / "oracles" / "pixel"

HERE = {path.stem: path for path in ORACLES.glob("*.json")}

NAMES = ("confusion", "precision", "recall", "f1")


def in_pixels(source: Annotations, size: tuple[float, float]) -> Annotations:
    sizes = np.tile(np.array(size, dtype=np.float64), (len(source.page_index), 1))
    return replace(source, unit="pixels", page_size=sizes)


def side_of(oracle: dict[str, Any], key: str, document: str = "a.pdf", page: int = 0) -> Annotations:
    rows = [Box(document, page, box["label"], tuple(box["bbox"])) for box in oracle[key]]
    source = annotations(rows, labels=oracle[f"classes_{key}"], pages=[] if rows else [(document, page)])
    return in_pixels(source, (oracle["page"]["width"], oracle["page"]["height"]))


def result_of(oracle: dict[str, Any]) -> PixelResult:
    classes = {"A": "same", "B": "different"}[oracle["case"]]
    return evaluate(side_of(oracle, "lr1"), side_of(oracle, "lr2"), classes=classes)


def load(name: str) -> dict[str, Any]:
    return json.loads(HERE[name].read_text(encoding="utf-8"))


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
    assert [sum(name.startswith(kind) for name in HERE) for kind in ("s", "r", "agg")] == [20, 21, 1]


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
    aggregate = load("agg01_document_dataset")
    where = {name: (doc, at) for doc, value in aggregate["documents"].items() for at, name in enumerate(value["pages"])}
    oracles = {name: load(name) for name in where}
    sizes = np.array([[float(oracle["page"][side]) for side in ("width", "height")] for oracle in oracles.values()])
    sides = []
    for key in ("lr1", "lr2"):
        rows = [
            Box(*where[name], box["label"], tuple(box["bbox"]))
            for name, oracle in oracles.items()
            for box in oracle[key]
        ]
        made = annotations(rows, labels=oracles[next(iter(where))]["classes_lr1"])
        sides.append(replace(made, unit="pixels", page_size=sizes))
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
    means = result.page_means.to_json()
    f1 = means["collapsed"]["f1"]
    assert means["pages"] == 6
    assert means["mean"]["all_classes"]["f1"] == pytest.approx(detailed, abs=1e-12)
    assert (f1[0][0] + f1[1][1]) / 2 == pytest.approx(collapsed, abs=1e-12)
    assert result.mixed_sizes
    assert pixel.MIXED_SIZES in result.to_json()["notes"]


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
    return in_pixels(annotations(list(boxes), labels=labels, pages=KEYS), (WIDTH, HEIGHT))


def painted(boxes: Sequence[Box], key: tuple[str, int]) -> np.ndarray:
    sets = np.full((HEIGHT, WIDTH), frozenset([0]), dtype=object)
    for box in boxes:
        if (box.document, box.page) == key:
            x1, y1 = (max(math.floor(low), 0) for low in box.xyxy[:2])
            x2, y2 = (max(math.ceil(high), 0) for high in box.xyxy[2:])
            here = sets[y1:y2, x1:x2]
            here[:] = (here - frozenset([0])) | frozenset([1 + LABELS.index(box.label)])
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
        counted = (whole.first_pixels[0, code], whole.second_pixels[0, code])
        assert counted == (truth.sum(), predicted.sum())
        shared, either = (truth & predicted).sum(), (truth | predicted).sum()
        np.testing.assert_array_equal(whole.iou[0, code], shared / either if either else np.nan)


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
    per_page, behind = result.per_page.matrices.confusion[:, row, column], cell_facts(result, row, column).behind
    assert {cell.page: cell.pixels for cell in behind} == pytest.approx(
        {page: per_page[page] for page in np.flatnonzero(per_page)}, rel=1e-12
    )
    for page, key in enumerate(KEYS):
        pixels = zip(painted(first, key).ravel(), painted(second, key).ravel(), strict=True)
        expected = [(row, column) in contribution(truth, predicted) for truth, predicted in pixels]
        assert cell_mask(result, page, row, column).ravel().tolist() == expected


@given(first=rows, second=rows, extra=st.lists(row, max_size=3))
def test_shares_of_a_corpus_add_up_in_any_order(first: list[Box], second: list[Box], extra: list[Box]) -> None:
    parts = [evaluate(side(first), side(second)), evaluate(side(second), side(extra)), evaluate(side([]), side(first))]
    forth, back = merge([part.counts for part in parts]), merge([part.counts for part in parts[::-1]])
    one, other = confusion(forth, 5), confusion(back, 5)
    assert one.divisor == other.divisor
    assert (one.scaled == other.scaled).all()
    sums = sum(np.array(fractions(part.whole.matrices)) for part in parts)
    assert fractions(confusion(forth.pooled(np.zeros(4, dtype=np.int64), 1), 5)) == sums.tolist()


def test_a_divisor_beyond_whole_numbers_still_gives_the_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    result = result_of(load("r05_dense_1025x1025_b100_c11"))
    monkeypatch.setattr(matrix, "EXACT", 0)
    other = confusion(result.whole.counts, len(result.classes))
    assert other.divisor == 1
    assert np.allclose(other.confusion, result.whole.matrices.confusion, rtol=1e-14, atol=0.0)


def test_sixty_three_labels_on_one_pixel() -> None:
    labels = [f"c{code:02d}" for code in range(63)]
    truth = [Box("a", 0, label, (0, 0, 3, 1)) for label in labels]
    predicted = [Box("a", 0, label, (0, 0, 2, 1)) for label in labels[:61]]
    sides = [in_pixels(annotations(boxes, labels=labels), (4, 1)) for boxes in (truth, predicted)]
    result = evaluate(*sides)
    # Two pixels have 63 and 61 labels: those not found go to each found one.
    counted = result.whole.matrices.confusion[0]
    assert [counted[63, 1], counted[1, 1], counted[1, 0]] == pytest.approx([2 / 61, 2.0, 1.0], rel=1e-15)
    assert counted.sum() == pytest.approx(3 * 63 + 1, rel=1e-14)
    value = json.loads(export.to_json(result.to_json(exact=True, scopes=["dataset"])))
    every, some = 2**64 - 2, 2**62 - 2
    assert value["dataset"]["pair_counts"] == [[1, 1, 1], [every, 1, 1], [every, some, 2]]
    assert not {"documents", "pages"} & value.keys()


def two(first: Sequence[str], second: Sequence[str], **options: Any) -> PixelResult:
    sides = []
    for labels in (first, second):
        rows = [Box("a", 0, label, (2 * at, 0, 2 * at + 2, 1)) for at, label in enumerate(labels)]
        sides.append(in_pixels(annotations(rows, labels=labels), (20, 2)))
    return evaluate(*sides, **options)


@pytest.mark.parametrize(
    ("first", "second", "options", "classes"),
    [
        ("text table", "table text", {}, "text table"),
        ("text table", "text", {}, "text table"),
        ("text", "table text", {}, "text table"),
        ("text Table", "text grid", {}, "LR1:text LR1:Table LR2:text LR2:grid"),
        ("text Table", "text grid", {"classes": "different"}, "LR1:text LR1:Table LR2:text LR2:grid"),
        ("text Table", "text grid", {"classes": "same"}, "text Table grid"),
        ("text", "text", {"classes": "different"}, "LR1:text LR2:text"),
    ],
)
def test_classes_are_the_same_when_one_side_contains_the_other_or_the_user_says_so(
    first: str, second: str, options: dict[str, Any], classes: str
) -> None:
    result = two(first.split(), second.split(), **options)
    assert result.classes == (BACKGROUND_NAME, *classes.split())
    said = (
        "prediction.json: the sides use different classes, so each side has its own in the matrix (pixel, case B); "
        'found only in the first "Table", only in the second "grid". Bring names together with --map-label, or give '
        "--classes same or --classes different."
    )
    assert [issue.sentence for issue in result.issues] == ([said] if "LR2" in classes and not options else [])


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
    assert (result.signature.labels, list(result.issues)) == (("figure", "text"), [])
    assert two(["text"], []).same_classes


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
    return refusal(evaluate, *sides, **options)


def test_more_classes_than_a_word_has_bits_are_refused() -> None:
    labels = [f"c{code:02d}" for code in range(64)]
    many = no_boxes(*labels)
    assert refused(many, many) == [
        "prediction.json: a matrix may have 63 classes beside the background (pixel); found 64. Choose classes with "
        "--labels, or bring some together with --map-label."
    ]
    assert len(evaluate(many, many, labels=labels[:63]).classes) == 64


def no_boxes(*labels: str) -> Annotations:
    return in_pixels(annotations([], labels=labels, pages=[("a", 0)]), (10, 10))


def test_a_label_called_background_is_refused() -> None:
    named = no_boxes("Background")
    assert refused(named, named) == [
        'prediction.json: no label may be called "Background", which is the name of pixels without a label (pixel); '
        'found "Background". Rename it with --map-label, or leave it out with --labels.'
    ]
    assert evaluate(named, named, classes="different").classes == ("Background", "LR1:Background", "LR2:Background")


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


def text(*corners: float, size: tuple[float, float] | None = None) -> Annotations:
    """One box on a page, in pixels of its size, or in shares of the page without one."""
    made = annotations([Box("a", 0, "text", corners)], labels=["text"])
    return made if size is None else in_pixels(made, size)


def test_the_second_side_is_rescaled_to_the_first_and_said() -> None:
    result = evaluate(text(10, 10, 50, 20, size=(100, 50)), text(20, 30, 100, 60, size=(200, 150)))
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
    rng, documents = np.random.default_rng(7), [f"{document}.pdf" for document in range(4)]
    sides = random_rows(7, per_page=6.0)
    mixed = [[rows[at] for at in rng.permutation(len(rows))] for rows in sides]
    first, second = (
        evaluate(*(annotations(rows, documents=documents) for rows in pair), page_size=(61.0, 79.5)).to_json(exact=True)
        for pair in (sides, mixed)
    )
    issues = [sorted(issue["rule"] for issue in value.pop("issues")) for value in (first, second)]
    assert (first, issues[0]) == (second, issues[1])


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


def test_a_low_score_leaves_a_box_of_the_second_side_out() -> None:
    boxes = (((0, 0, 5, 5), 0.4), ((5, 0, 10, 5), 0.6), ((0, 5, 1, 6), None))
    rows = [Box("a", 0, "text", corners, score) for corners, score in boxes]
    scored = in_pixels(annotations(rows, labels=["text"]), (10, 10))
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
    """Whatever was asked before, of the same files and of the same result."""
    sides, rng = scored_pair(seed), np.random.default_rng(seed)
    files = PixelInputs.of(*sides, page_size=(61.0, 79.5))

    def columns(counts: PairCounts) -> list[Any]:
        of_counts = [getattr(counts, name) for name in ("scope", "row_first", "row_second", "pixels")]
        return [counts.scopes, *((column.dtype, column.tolist()) for column in of_counts)]

    cells = list(np.ndindex(3, 3))
    questions: dict[str, Callable[[PixelResult], Any]] = {
        "json": lambda result: result.to_json(exact=True),
        "counts": lambda result: [columns(each.counts) for each in (result, result.whole, result.per_document)],
        "issues": lambda result: [issue.sentence for issue in result.issues],
        "wrong": lambda result: result.wrong_pixels.tolist(),
        "cells": lambda result: [result.cell_pixels(*cell).tolist() for cell in cells],
        "rows": lambda result: [result.row_pixels(row).tolist() for row in range(3)],
        "facts": lambda result: [cell_facts(result, row, 1) for row in range(3)],
        "documents": lambda result: [result.document_columns(at).counts.triples(0) for at in range(5)],
        "pages": lambda result: [result.page_columns(at).counts.triples(0) for at in range(result.counts.scopes)],
    }
    for first, second in ((0.0, 0.0), (0.0, 0.03), (0.02, 0.03), (0.02, 0.0), (0.9, 0.9), (0.0, 0.0)):
        scores = {"first_min_score": first, "min_score": second}
        result, alone = files.evaluate(**scores), evaluate(*sides, page_size=(61.0, 79.5), **scores)
        expected = {name: ask(alone) for name, ask in questions.items()}
        per_page, of_documents = alone.per_page, alone.per_document.counts
        assert expected["cells"] == [per_page.matrices.confusion[:, row, column].tolist() for row, column in cells]
        assert expected["rows"] == [per_page.first_pixels[:, row].tolist() for row in range(3)]
        assert expected["documents"] == [of_documents.triples(at) for at in range(5)]
        assert expected["pages"] == [alone.counts.triples(at) for at in range(alone.counts.scopes)]
        for name in rng.permutation(list(questions)).tolist():
            assert repr(questions[name](result)) == repr(expected[name]), name


def test_wrong_pixels_are_those_off_the_diagonal_of_each_page() -> None:
    result = evaluate(*scored_pair(2), page_size=(61.0, 79.5))
    for row, pixels in enumerate(result.per_page.matrices.confusion):
        wrong = pixels - np.diag(np.diag(pixels))
        touched = pixels.sum(axis=0) + pixels.sum(axis=1) > 0.0
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


def test_every_matrix_is_a_file_and_a_part_of_the_long_form() -> None:
    _, result = several_pages()
    for columns, row in ((result.whole, 0), (result.per_document, 1), (result.per_page, 4)):
        made = {}
        for kind, matrices, classes in (
            ("", columns.matrices, result.classes),
            ("collapsed-", columns.collapsed, ("Background", "All classes")),
        ):
            for name in NAMES:
                values = getattr(matrices, name)[row].tolist()
                rows = tuple((label, *map(defined, line)) for label, line in zip(classes, values, strict=True))
                made[f"{kind}{name}.csv"] = ("label", *classes), rows
        assert {name: (table.columns, table.rows) for name, table in result.csv_files(columns, row).items()} == made
    cells = {row[:3]: row[3] for row in result.csv_table().rows}
    assert len(cells) == len(result.csv_table().rows) == 4 * len(result.classes) ** 2 + 16 + 8 * len(result.classes)
    tables = [(name.removesuffix(".csv").replace("-", " "), table) for name, table in result.csv_files().items()]
    # The numbers of the table on the screen are there too.
    on_screen = msgspec.structs.replace(result.table(), rows=result.table().rows[: len(result.classes)])
    for name, table in (*tables, (PER_CLASS, on_screen)):
        for label, *values in table.rows:
            assert [cells[name, label, column] for column in table.columns[1:]] == values


@given(seed=st.integers(0, 10**6), different=st.booleans(), exact=st.booleans())
def test_the_json_has_the_keys_of_the_contract_and_no_nan(seed: int, different: bool, exact: bool) -> None:
    truth, predicted = random_rows(seed, documents=2, pages=2)
    sides = ground_truth(truth), annotations(predicted)
    for one in sides:
        for column in (one.boxes.xyxy, one.boxes.score, one.boxes.label, one.boxes.page, one.page_index):
            column.flags.writeable = False
    classes = "different" if different else "auto"
    result, again = (evaluate(*sides, classes=classes, page_size=(61.0, 79.5)) for _ in range(2))
    value = result.to_json(exact=exact)
    assert value == again.to_json(exact=exact)
    assert {"protocol", "signature", "ground_truth", "predictions", "issues", "classes"} <= value.keys()
    assert set(value["ground_truth"]) == set(value["predictions"]) == {"name", "sha256"}
    assert set(value["documents"]) == {document.doc_id for document in result.dataset.documents}
    for scope in (value["dataset"], *value["documents"].values(), *value["pages"]):
        assert {"pixels", *NAMES, "per_class", "collapsed", "mean"} <= scope.keys()
        assert ("pair_counts" in scope) == exact
        assert list(scope["per_class"]) == value["classes"]
        assert {"precision", "recall", "f1", "iou"} <= scope["per_class"]["Background"].keys()
        assert set(NAMES) <= scope["collapsed"].keys()
        assert set(scope["mean"]) == {"all_classes", "present_classes"}
        assert not different or {one for row in scope["per_class"].values() for one in row.values()} == {None}
    for parts in (value["documents"].values(), value["pages"]):
        assert sum(part["pixels"] for part in parts) == value["dataset"]["pixels"]
    assert "NaN" not in export.to_json(value)
    assert msgspec.json.decode(export.to_json(value)) == msgspec.to_builtins(value)


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
    table = result_of(load("s02_single_label_shift")).table()
    names = [row[0] for row in table.rows]
    means = [pixel.ALL_CLASSES, pixel.PRESENT_CLASSES, "Collapsed: Background", "Collapsed: All classes"]
    assert names == [BACKGROUND_NAME, "text", "table", "picture", *means]
    assert table.rows[1] == ("text", 15, 50, 12 / 50, 12 / 15, 24 / 65, 12 / 53, 12 / 50, 12 / 15)
    # Nothing was predicted as a table: its precision is undefined, its recall 0.
    assert table.rows[2][:7] == ("table", 56, 0, None, 0.0, 0.0, 0.0)
    assert export.to_csv([table]).count("\n") == 9


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
