"""The one form of columns on disk: every bit comes back, sorted by page, in numbers as small as the bits allow."""

import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data.dataset import Annotations
from evaluator.formats import columns
from evaluator.formats.column_checks import AnyColumn
from evaluator.formats.columns import ColumnFolder, DamagedColumns
from tests.building import annotations, random_rows
from tests.reading import plain

NUMBERS = st.sampled_from([0.0, -0.0, 0.1, 0.3, 1.25, 1e-9, 1 / 3, 12345.678, 3e9, float("nan")])


def random_source(seed: int) -> Annotations:
    """Predictions whose documents take turns in their file, on pages in no order, with areas, crowds and an outline."""
    rng = np.random.default_rng(seed)
    _, rows = random_rows(seed)
    source = annotations([rows[place] for place in rng.permutation(len(rows))], pages=[("a.pdf", 7), ("a.pdf", 3)])
    boxes, count = source.boxes, len(source.boxes)
    xywh = np.round(rng.random((count, 4)) * 100, int(rng.integers(0, 5)))
    boxes = replace(
        boxes,
        xyxy=np.hstack([xywh[:, :2], xywh[:, :2] + xywh[:, 2:]]),
        box_area=xywh[:, 2] * xywh[:, 3],
        area=rng.random(count),
        crowd=rng.random(count) < 0.5,
        polygons={1: [rng.random((3, 2))]} if count > 1 else {},
    )
    size = rng.choice([100.0, 612.5, np.nan], size=(len(source.page_index), 2))
    return replace(source, boxes=boxes if rng.random() < 0.8 else source.boxes, page_size=size)


def written(folder: Path, source: Annotations) -> ColumnFolder:
    columns.write(folder / "a.columns", source, "key")
    return ColumnFolder(folder / "a.columns").checked()


@given(seed=st.integers(0, 10**6))
def test_every_bit_comes_back(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    source, folder = random_source(seed), tmp_path_factory.mktemp("columns")
    assert plain(written(folder, source).whole()) == plain(source)
    files = {path.name: path.read_bytes() for path in (folder / "a.columns").iterdir()}
    written(folder, source)
    assert files == {path.name: path.read_bytes() for path in (folder / "a.columns").iterdir()}


@pytest.mark.parametrize(("values", "digits"), [([0.1, 12.25], 2), ([-0.0], None), ([1 / 3], None), ([3e9], None)])
def test_as_few_digits_as_the_numbers_have(values: list[float], digits: int | None) -> None:
    assert columns._digits(lambda: [np.array(values)]) == digits


@given(values=st.lists(NUMBERS, max_size=6))
def test_numbers_are_kept_as_integers_only_where_these_give_every_bit_again(values: list[float]) -> None:
    given_values = np.array(values)
    digits = columns._digits(lambda: [given_values])
    if digits is not None:
        again = np.rint(given_values * 10.0**digits).astype(np.int32) / 10.0**digits
        assert again.tobytes() == given_values.tobytes()


def test_boxes_are_sorted_by_page_in_small_integers(tmp_path: Path) -> None:
    source = random_source(5)
    folder = written(tmp_path, source)
    files = {path.stem: np.load(path) for path in (tmp_path / "a.columns").glob("*.npy")}
    assert {name: files[name].dtype.name for name in ("xyxy", "score", "label", "entry")} == {
        "xyxy": "int32", "score": "int32", "label": "uint8", "entry": "uint8",
    }  # fmt: skip
    names = [source.documents[code].doc_id for code in source.page_document]
    pages = [(names[entry], int(source.page_index[entry])) for entry in files["entry"].tolist()]
    assert pages == sorted(pages)
    assert files["row"].tolist() != sorted(files["row"].tolist())
    assert "score" not in written(tmp_path, annotations([], side="ground_truth")).manifest.columns
    assert folder.manifest.key == "key"


def test_a_folder_without_its_manifest_or_of_other_lengths_is_refused(tmp_path: Path) -> None:
    def damaged(**_: Any) -> None:
        with pytest.raises((OSError, DamagedColumns)):
            ColumnFolder(tmp_path / "a.columns")

    damaged()
    written(tmp_path, random_source(1))
    (tmp_path / "a.columns" / "label.npy").write_bytes(b"")
    damaged()
    written(tmp_path, random_source(1))
    (tmp_path / "a.columns" / columns.MANIFEST).unlink()
    damaged()


def with_first(value: float) -> Callable[[AnyColumn], AnyColumn]:
    """Columns with another first number, in a type that has room for it."""

    def changed(values: AnyColumn) -> AnyColumn:
        roomy = values.astype(np.int64 if values.dtype.kind in "iu" else values.dtype)
        roomy.flat[0] = value
        return roomy

    return changed


FORGED: list[tuple[str, Callable[[AnyColumn], AnyColumn]]] = [
    *((name, with_first(-1)) for name in ("page_document", "page_index", "entry", "label", "position", "pages", "row")),
    *((name, with_first(2**31)) for name in ("page_document", "label", "entry", "first_box", "ids_first", "outlines")),
    *((name, lambda values: values[:-1]) for name in ("page_size", "first_box", "row", "score", "xyxy", "ids_first")),
    *((name, lambda values: values.reshape(-1, 1)) for name in ("page_index", "score", "label")),
    *((name, lambda values: values.astype("U3")) for name in ("label", "xyxy", "ids")),
    ("pages", np.zeros_like),
    ("first_box", lambda values: values[::-1].copy()),
    ("entry", lambda values: values[::-1].copy()),
    ("xyxy", lambda values: np.full(values.shape, np.inf)),
    ("ids", lambda values: np.full_like(values, 0xFF)),
    ("outlines_points", lambda values: values[:, 0]),
    ("outlines_first_point", lambda values: values + 1),
]


@pytest.mark.parametrize(("name", "change"), FORGED)
def test_columns_that_contradict_each_other_are_refused_whatever_their_sums(
    name: str, change: Callable[[AnyColumn], AnyColumn], tmp_path: Path
) -> None:
    source = random_source(5)
    source = replace(source, boxes=replace(source.boxes, polygons={1: [np.eye(3)[:, :2]]}))
    written(tmp_path, source).consistent()
    place = tmp_path / "a.columns" / f"{name}.npy"
    np.save(place, change(np.load(place)))
    edited(tmp_path, name, {"length": place.stat().st_size, "checksum": zlib.crc32(place.read_bytes())})
    with pytest.raises(DamagedColumns):
        ColumnFolder(tmp_path / "a.columns").checked().consistent().whole()


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../outside", {}),
        ("other", {}),
        ("label", {"dtype": "<U100000000"}),
        ("label", {"digits": 3}),
        ("xyxy", {"digits": 400}),
        ("xyxy", {"digits": -1}),
    ],
)
def test_no_column_is_opened_that_annotations_do_not_have(name: str, kept: dict[str, Any], tmp_path: Path) -> None:
    written(tmp_path, random_source(5))
    np.save(tmp_path / "outside.npy", np.zeros(3))
    edited(tmp_path, name, kept)
    with pytest.raises(DamagedColumns, match=columns.MANIFEST):
        ColumnFolder(tmp_path / "a.columns")


def edited(folder: Path, name: str, kept: dict[str, Any]) -> None:
    place = folder / "a.columns" / columns.MANIFEST
    manifest = json.loads(place.read_bytes().partition(b"\n")[2])
    manifest["columns"][name] = manifest["columns"].get(name, manifest["columns"]["label"]) | kept
    body = json.dumps(manifest).encode()
    place.write_bytes(b"%08x\n" % zlib.crc32(body) + body)
