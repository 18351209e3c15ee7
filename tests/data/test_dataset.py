"""The columnar model: shared codes, sorted pages, renamed labels, and the way back to file and position."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data.dataset import Part, join, map_labels, page_keys, rows_of_pages, with_equal_pages
from tests.building import annotations, box, ground_truth, random_rows


def test_documents_and_pages_are_sorted_whatever_the_files_do() -> None:
    truth = ground_truth([box(0, 0, 1, 1, document="z.pdf", page=3), box(0, 0, 1, 1, document="b.pdf", page=10)])
    predicted = annotations([box(0, 0, 1, 1, document="b.pdf", page=2), box(0, 0, 1, 1, document="z.pdf", page=3)])
    dataset = join(truth, predicted)
    assert [document.doc_id for document in dataset.documents] == ["b.pdf", "z.pdf"]
    assert (dataset.page_document.tolist(), dataset.page_index.tolist()) == ([0, 0, 1], [2, 10, 3])
    assert (dataset.page_document.dtype, dataset.page_index.dtype) == (np.int32, np.int64)
    assert (dataset.ground_truth.document.tolist(), dataset.ground_truth.page.tolist()) == ([1, 0], [2, 1])
    assert (dataset.predictions[0].document.tolist(), dataset.predictions[0].page.tolist()) == ([0, 1], [0, 2])
    assert dataset.pages == 3


def test_pages_without_boxes_are_pages() -> None:
    dataset = join(ground_truth([], pages=[("a.pdf", 4)]), annotations([], pages=[("a.pdf", 0)], documents=["b.pdf"]))
    assert dataset.page_index.tolist() == [0, 4]
    assert [document.doc_id for document in dataset.documents] == ["a.pdf", "b.pdf"]


def test_equal_pages_are_kept_once() -> None:
    rows = [box(0, 0, 1, 1, page=page) for page in (0, 2)]
    truth, predicted = ground_truth(rows), annotations(rows)
    shared = with_equal_pages(predicted, truth)
    assert (shared.documents is truth.documents, shared.page_index is truth.page_index) == (True, True)
    sizes, unknown = np.ones((2, 2)), np.full((2, 2), np.nan)
    known = replace(predicted, page_size=unknown)
    assert with_equal_pages(known, replace(truth, page_size=unknown.copy())) is not known
    for other in (
        replace(truth, page_size=sizes),
        replace(truth, page_images=["a.png", "b.png"]),
        replace(truth, page_index=truth.page_index + 1),
        replace(truth, documents=(msgspec.structs.replace(truth.documents[0], path="x/a.pdf"),)),
    ):
        assert with_equal_pages(predicted, other) is predicted
        assert with_equal_pages(other, truth) is other


@given(seed=st.integers(0, 10**6))
def test_pages_are_found_in_another_file_by_name_and_number_the_first_of_several(seed: int) -> None:
    truth, predicted = ground_truth(random_rows(seed)[0]), annotations(random_rows(seed + 1)[1])
    again = replace(truth, page_index=truth.page_index // 2)
    for source, other in ((predicted, truth), (truth, predicted), (predicted, again), (again, annotations([]))):
        known = page_keys(other)
        expected = [known.index(key) if key in known else -1 for key in page_keys(source)]
        assert rows_of_pages(source, other).tolist() == expected


def test_nothing_joins_to_nothing() -> None:
    for dataset in (join(ground_truth([])), join(ground_truth([]), annotations([]))):
        assert (dataset.pages, len(dataset.documents), len(dataset.ground_truth)) == (0, 0, 0)
        assert dataset.page_row("a.pdf", 0) is None


def test_labels_come_in_the_order_of_the_maps_then_the_unmapped() -> None:
    odd = [box(0, 0, 1, 1, label=label) for label in ("Stamp", "Chart", "Figure")]
    truth, predicted = ground_truth(odd, labels=["Table", "Figure"]), annotations(odd, labels=["Figure", "Chart"])
    dataset = join(truth, predicted)
    # Chart is unmapped in the ground truth and mapped in the prediction: it is scored.
    assert (dataset.labels, dataset.evaluated) == (("Table", "Figure", "Chart", "Stamp"), 3)
    assert dataset.ground_truth.label.tolist() == dataset.predictions[0].label.tolist() == [3, 2, 1]


@given(seed=st.integers(0, 10**6))
def test_codes_lead_back_to_the_names_of_the_file(seed: int) -> None:
    rows, predicted = random_rows(seed)
    dataset = join(ground_truth(rows), annotations(predicted))
    for side, expected in ((dataset.ground_truth, rows), (dataset.predictions[0], predicted)):
        named = [
            (dataset.documents[document].doc_id, int(dataset.page_index[page]), dataset.labels[label])
            for document, page, label in zip(side.document, side.page, side.label, strict=True)
        ]
        assert named == [(row.document, row.page, row.label) for row in expected]
        assert dataset.page_document[side.page].tolist() == side.document.tolist()
    assert side.xyxy is side.source.boxes.xyxy
    assert side.score is side.source.boxes.score


def test_page_row_finds_a_page_or_says_that_there_is_none() -> None:
    listed = [("a", 0), ("a", 5), ("c", 5), ("c", 2**31 - 1)]
    rows = [box(0, 0, 1, 1, document=name, page=page) for name, page in listed]
    dataset = join(ground_truth(rows, documents=["b"]))
    pages = {("a", 0): 0, ("a", 5): 1, ("c", 5): 2, ("c", 2**31 - 1): 3}
    assert dataset.document_code == {"a": 0, "b": 1, "c": 2}
    for document in ("a", "b", "c", "d"):
        for page in (-1, 0, 1, 5, 6, 2**31 - 1):
            assert dataset.page_row(document, page) == pages.get((document, page))


@pytest.mark.parametrize("seed", range(5))
def test_pages_of_another_dataset_are_found_or_not_here(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (
        join(ground_truth([box(0, 0, 1, 1, document=name, page=page) for name, page in pages]))
        for pages in (
            [("abc"[rng.integers(3)], int(rng.integers(4))) for _ in range(6)],
            [("bcd"[rng.integers(3)], int(rng.integers(4))) for _ in range(6)],
        )
    )
    named = [
        (second.documents[document].doc_id, page)
        for document, page in zip(second.page_document.tolist(), second.page_index.tolist(), strict=True)
    ]
    wanted = [row if (row := first.page_row(*each)) is not None else -1 for each in named]
    assert first.page_rows(second).tolist() == wanted
    assert join(ground_truth([])).page_rows(second).tolist() == [-1] * second.pages


def test_documents_of_one_file_only() -> None:
    truth, first = ground_truth([], documents=["c", "a", "b"]), annotations([], documents=["b", "d"])
    dataset = join(truth, first, annotations([], documents=["a", "b", "c"]))
    assert dataset.documents_only_in() == {"ground_truth": ("a", "c"), "prediction": ("d",)}
    assert dataset.in_both().tolist() == [False, True, False, False]
    assert dataset.documents_only_in(1) == {"ground_truth": (), "prediction": ()}
    # d is in neither of the two files that are compared here, and so in neither list.
    assert dataset.in_both(1).tolist()[:3] == [True, True, True]


@pytest.mark.parametrize(
    ("names", "labels", "evaluated", "renamed"),
    [
        # Two labels become one, two are exchanged, and one that counts takes the name of one that does not.
        ({"fig": "Figure", "Table": "Grid"}, ("Figure", "Grid", "Stamp"), 2, ["Figure", "Grid", "Figure", "Stamp"]),
        ({"Figure": "Table", "Table": "Figure"}, ("Table", "Figure", "fig", "Stamp"), 2,
         ["Table", "Figure", "fig", "Stamp"]),
        ({"Figure": "Stamp"}, ("Stamp", "Table", "fig"), 2, ["Stamp", "Table", "fig", "Stamp"]),
    ],
)  # fmt: skip
def test_renamed_labels(names: dict[str, str], labels: tuple[str, ...], evaluated: int, renamed: list[str]) -> None:
    before = annotations([box(0, 0, 1, 1, label=label) for label in ("Figure", "Table", "fig", "Stamp")])
    after = map_labels(before, names)
    assert (after.labels, after.evaluated, [after.labels[code] for code in after.boxes.label]) == (
        labels, evaluated, renamed,
    )  # fmt: skip
    assert (before.labels, before.boxes.label.tolist()) == (("Figure", "Table", "fig", "Stamp"), [0, 1, 2, 3])
    assert after.boxes.xyxy is before.boxes.xyxy


@pytest.mark.parametrize("names", [{}, {"Chart": "Figure"}])
def test_renaming_nothing_gives_the_same_object(names: dict[str, str]) -> None:
    source = annotations([box(0, 0, 1, 1)])
    assert map_labels(source, names) is source


def test_a_box_is_traced_to_its_file_entry_and_position() -> None:
    rows = [box(0, 0, 1, 1), box(0, 0, 0.5, 0.5), box(0, 0, 1, 1, page=1), box(0, 0, 1, 1, document="b.pdf")]
    source = annotations(rows, name="p.json", pages=[("a.pdf", 7)])
    assert [source.source_of(row) for row in range(4)] == [
        ("p.json", 1, 0), ("p.json", 1, 1), ("p.json", 2, 0), ("p.json", 3, 0),
    ]  # fmt: skip


def test_a_box_of_a_folder_is_traced_to_its_own_file() -> None:
    rows = [box(0, 0, 1, 1), box(0, 0, 1, 1, page=1), box(0, 0, 1, 1, document="b.pdf")]
    parts = Part("1.json", "", 2, 2), Part("empty.json", "", 0, 0), Part("2.json", "", 1, 1)
    source = replace(annotations(rows, name="folder"), parts=parts)
    assert [source.source_of(row) for row in range(3)] == [("1.json", 0, 0), ("1.json", 1, 0), ("2.json", 0, 0)]
