"""Pictures of Parquet files are pages: found by the names of their rows, decoded where pages are drawn."""

from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from PIL import Image
from pyarrow import parquet

from evaluator.data.issues import BadInput
from evaluator.formats import read_bytes
from evaluator.pdf import parquet_pictures
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.pdf.sizes import page_sizes
from evaluator.workspace.file_list import page_files
from evaluator.workspace.roles import find
from evaluator.workspace.uploads import sort_dropped_files
from tests.building import box, write_file
from tests.page_asking import picture_of, refused


def picture(width: int, kind: str = "PNG") -> bytes:
    return picture_of(Image.new("RGB", (width, 10), "white"), kind)


def row(image: bytes, path: str | None, page_hash: str = "") -> dict[str, Any]:
    """A row as DocLayNet v1.2 has it."""
    metadata = {"coco_height": 1025, "coco_width": 1025, "image_id": 1, "page_hash": page_hash, "page_no": 1}
    return {
        "image": {"bytes": image, "path": path}, "bboxes": [[1.0, 2.0, 3.0, 4.0]], "category_id": [9],
        "segmentation": [[[1.0, 2.0]]], "area": [12.0], "pdf_cells": [[{"bbox": [1.0], "text": "x"}]],
        "metadata": metadata, "pdf": b"%PDF-1.7", "modalities": ["pdf"],
    }  # fmt: skip


def table(path: Path, *rows: dict[str, Any]) -> Path:
    parquet.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=2)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [row(picture(10 * number), f"{number}.png") for number in range(1, 4)]
    return table(tmp_path / "test.parquet", *rows, row(picture(40, "JPEG"), None, "ab"), row(b"no picture", "5.png"))


@pytest.mark.parametrize("as_folder", [True, False])
def test_every_page_of_a_data_set_has_its_own_picture(data: Path, as_folder: bool) -> None:
    source = read_bytes(data.read_bytes(), data.name)
    assert source.labels == ("Table",)
    wanted = {("1", 0): (10, 10), ("2", 0): (20, 10), ("3", 0): (30, 10), ("ab", 0): (40, 10)}
    assert page_sizes(source, data.parent if as_folder else data) == wanted


def test_a_picture_that_is_none_is_told_at_its_page(data: Path) -> None:
    with PagePool() as pool:
        problem = refused(pool.describe, PdfFolder(data).find("5"))
    assert problem.title == "5.png is not a document that can be shown"


@pytest.mark.parametrize("name", ["../../secret.png", "/etc/secret.png", "C:\\secret.png", "a/../../secret.png"])
def test_a_path_in_a_table_is_a_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.png").write_bytes(picture(90))
    home = tmp_path / "home"
    home.mkdir()
    folder = PdfFolder(table(home / "a.parquet", row(picture(10), name)))
    with PagePool() as pool:
        assert pool.page_sizes(folder.find("secret")).tolist() == [[10, 10]]


def test_two_tables_with_a_picture_of_one_name_are_told(tmp_path: Path) -> None:
    for name in ("a.parquet", "b.parquet"):
        table(tmp_path / name, row(picture(10), "1.png"))
    assert "holds a.parquet/1.png and b.parquet/1.png" in refused(PdfFolder(tmp_path).find, "1").text


def test_a_link_to_a_table_outside_is_refused(tmp_path: Path, data: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "test.parquet").symlink_to(data)
    assert refused(PdfFolder(home).find, "1").kind == "blocked"


@pytest.mark.parametrize("cut", [1, 4, 200])
def test_a_damaged_table_has_no_pictures(data: Path, cut: int) -> None:
    data.write_bytes(data.read_bytes()[:-cut])
    assert not parquet_pictures.has_pictures(data)
    assert refused(PdfFolder(data).find, "1").kind == "missing"


def test_damage_in_the_pictures_is_told_at_the_page(data: Path) -> None:
    content = bytearray(data.read_bytes())
    content[4:12] = bytes(8)  # the head of the first page of the first column
    data.write_bytes(content)
    assert refused(PdfFolder(data).find, "1").kind == "unreadable"


def test_a_group_of_pictures_has_a_limit(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_pictures, "_GROUP_LIMIT", 10)
    problem = refused(PdfFolder(data).find, "1")
    assert "A group of rows of test.parquet has more than 0 MiB." in problem.text


def test_pictures_go_with_the_files_that_are_opened_and_dropped(data: Path) -> None:
    model = write_file(data.with_name("model.json"), [box(0.1, 0.1, 0.9, 0.9)])
    sides = find([data.parent]).of("boxes")
    assert (sides.ground_truth, sides.predictions, sides.pdfs) == (data, (model,), data.resolve())
    assert find(ground_truth=[data], predictions=[model]).of("boxes").pdfs == data.resolve()
    assert page_files(data).files == 5
    dropped = sort_dropped_files([("test.parquet", data.read_bytes())])
    assert [each.side for each in dropped.proposed] == ["ground_truth"]
    assert [name for name, _ in dropped.pages] == ["test.parquet"]


def test_pictures_alone_are_pages_of_other_files(tmp_path: Path) -> None:
    """The Parquet files of OmniDocBench have a column of pictures and nothing else."""
    held = table(tmp_path / "0000.parquet", {"image": {"bytes": picture(10), "path": "page-1.jpg"}})
    workspace = find([tmp_path])
    assert (workspace.of("boxes").pdfs, workspace.others) == (held.resolve(), ())
    assert PdfFolder(tmp_path).find("page-1").name == "page-1.jpg"
    dropped = sort_dropped_files([("0000.parquet", held.read_bytes())])
    assert (dropped.proposed, dropped.left_out, dropped.issues, len(dropped.pages)) == ((), (), (), 1)
    with pytest.raises(BadInput):
        read_bytes(held.read_bytes(), held.name)


def test_a_copy_goes_when_others_need_its_room(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_pictures, "_copies", type(parquet_pictures._copies)(most=1))
    first = PdfFolder(data).find("1")
    assert first.is_file()
    PdfFolder(data).find("2")
    assert not first.exists()


def test_numbers_of_rows_name_what_has_no_name(tmp_path: Path) -> None:
    held = table(
        tmp_path / "a.parquet",
        {"image": {"bytes": picture(10), "path": None}, "bboxes": [[1.0, 2.0, 3.0, 4.0]], "label": ["x"]},
    )
    source = read_bytes(held.read_bytes(), held.name)
    assert page_sizes(source, held) == {("a row 1", 0): (10, 10)}
