"""The cache of columns: the same columns from it as from the file, in every format, and nothing that is damaged."""

from __future__ import annotations

import os
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import cli, formats
from evaluator.formats import column_cache
from evaluator.formats.base import Reading
from evaluator.model.dataset import Annotations, Boxes
from evaluator.model.issues import BadInput
from evaluator.project import Upload
from evaluator.system.cache_folder import OFF, VARIABLE, cache_folder
from pages.shared import opened
from pages.shared.opened import BOXES
from tests.dashboard import start, workspace
from tests.test_same_numbers import FORMS, TRUTH, A

INSTANCES = b"""{"images": [{"id": 1, "file_name": "a.png", "width": 100, "height": 100}],
"categories": [{"id": 7, "name": "table"}], "annotations": [
{"id": 1, "image_id": 1, "category_id": 7, "bbox": [1, 2, 30, 40], "area": 900, "iscrowd": 0,
 "segmentation": [[1, 2, 31, 2, 31, 42], [5, 5, 9, 5, 9, 9]]},
{"id": 2, "image_id": 1, "category_id": 7, "bbox": [50, 50, 90, 20], "area": 1800, "iscrowd": 1, "segmentation": []}
]}"""


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache of the test alone, for files of any size."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(column_cache, "SMALLEST", 0)
    return tmp_path / "cache"


def read(content: bytes, name: str, home: Path, **asked: Any) -> Annotations:
    """A file with this content, read from disk; an upload never comes to the cache."""
    path = home.parent / name
    path.write_bytes(content)
    return formats.read(path, **asked)


def stored(home: Path) -> list[Path]:
    return sorted(home.iterdir()) if home.is_dir() else []


def assert_same(first: Any, second: Any) -> None:
    """Both have the same values and types, arrays to the last bit."""
    if isinstance(first, np.ndarray):
        assert first.dtype == second.dtype
        assert first.shape == second.shape
        assert first.tobytes() == second.tobytes()
    elif is_dataclass(first):
        for field in fields(first):
            assert_same(getattr(first, field.name), getattr(second, field.name))
    elif isinstance(first, dict) or hasattr(first, "keys"):
        assert sorted(first) == sorted(second)
        for key in first:
            assert_same(first[key], second[key])
    elif isinstance(first, (list, tuple)) or (hasattr(first, "__getitem__") and not isinstance(first, str)):
        assert len(first) == len(second)
        for one, other in zip(first, second, strict=True):
            assert_same(one, other)
    else:
        assert first == second


def read_three_times(content: bytes, name: str, home: Path, **asked: Any) -> tuple[Annotations, Annotations]:
    """What the reader gives without a cache, and what comes out of the cache at the second reading with it."""
    before = os.environ[VARIABLE]
    os.environ[VARIABLE] = OFF
    plain = read(content, name, home, **asked)
    os.environ[VARIABLE] = before
    assert not stored(home)
    read(content, name, home, **asked)
    assert len(stored(home)) == 1
    return plain, read(content, name, home, **asked)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("side", ["ground_truth", "prediction"])
def test_every_format_comes_back_as_it_was_read(
    form: str, side: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = FORMS[form].truth(TRUTH) if side == "ground_truth" else FORMS[form].prediction(A)
    if isinstance(written, dict):
        name, text = next(iter(written.items()))
    else:
        text = written
        name = f"file{'.json' if text[:1] in '[{' else FORMS[form].suffix}"
    if form == "yolo":
        pytest.skip("a file of YOLO is read with the folder around it, which is never kept")
    plain, again = read_three_times(text.encode(), name, home)
    assert_same(plain, again)
    # The second reading parsed nothing.
    monkeypatch.setattr(formats, "_box_format", None)
    assert_same(plain, read(text.encode(), name, home))


def test_outlines_crowds_areas_and_warnings_come_back(home: Path) -> None:
    plain, again = read_three_times(INSTANCES, "truth.json", home)
    assert plain.issues
    assert len(plain.boxes.polygons) == 1
    (path,) = stored(home)
    assert (home.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)
    assert plain.boxes.crowd is not None
    assert_same(plain, again)


def test_outlines_of_any_reader_come_back() -> None:
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    polygons = {3: [triangle], 1: [triangle + 1.0, triangle]}
    made = column_cache._outlines(column_cache._outline_columns(polygons), 4)
    assert_same(polygons, made)


def test_a_file_on_disk_is_found_by_its_content_name_and_what_is_asked(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "truth.json"
    path.write_bytes(INSTANCES)
    assert_same(formats.read(path), formats.read_bytes(INSTANCES, "truth.json"))
    assert len(stored(home)) == 1
    assert read(INSTANCES, "other.json", home).issues[0].file == "other.json"
    assert read(INSTANCES, "truth.json", home, side="prediction", unscored=True).side == "prediction"
    path.write_bytes(INSTANCES.replace(b"[1, 2, 30, 40]", b"[1, 2, 30, 41]"))
    assert formats.read(path).boxes.xyxy[0, 3] == 43.0
    assert len(stored(home)) == 4


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[:60] + bytes([content[60] ^ 1]) + content[61:],
        lambda content: b"another mark\n" + content,
    ],
    ids=["empty", "cut off", "a bit", "another form"],
)
def test_a_damaged_file_is_not_used_and_written_again(damage: Any, home: Path) -> None:
    plain, _ = read_three_times(INSTANCES, "truth.json", home)
    (path,) = stored(home)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert_same(plain, read(INSTANCES, "truth.json", home))
    assert path.read_bytes() == whole


def test_a_file_under_the_key_of_another_is_not_used(home: Path) -> None:
    read(INSTANCES, "truth.json", home)
    (first,) = stored(home)
    other = INSTANCES.replace(b'"table"', b'"figure"')
    read(other, "truth.json", home)
    (second,) = {*stored(home)} - {first}
    second.write_bytes(first.read_bytes())
    assert read(other, "truth.json", home).labels == ("figure",)


@pytest.mark.parametrize("column", ["document", "label", "entry", "page_document"])
def test_codes_out_of_range_are_not_used(column: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even with a checksum that is right."""
    source = read(INSTANCES, "truth.json", home)
    owner: Annotations | Boxes = source if column == "page_document" else source.boxes
    wrong = getattr(owner, column) + 9
    (path,) = stored(home)
    object.__setattr__(owner, column, wrong)
    column_cache._store(path, path.stem, source)
    assert column_cache._loaded(path, path.stem) is None
    assert (read(INSTANCES, "truth.json", home).labels) == ("table",)


def test_the_files_that_were_not_used_for_longest_are_deleted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        read(INSTANCES, f"{number}.json", home)
    paths = stored(home)
    for age, path in enumerate(paths):
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    size = paths[0].stat().st_size
    monkeypatch.setattr(column_cache, "MOST", 3 * size + size // 2)
    read(INSTANCES, "5.json", home)
    assert {*paths[:2]} <= {*stored(home)}
    assert len(stored(home)) == 3
    column_cache.clear()
    assert not stored(home)


def test_files_with_errors_small_files_and_no_cache(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput):
        read(INSTANCES.replace(b"[1, 2, 30, 40]", b"[1, 2, -30, 40]"), "truth.json", home)
    monkeypatch.setattr(column_cache, "SMALLEST", 10_000)
    read(INSTANCES, "truth.json", home)
    monkeypatch.setattr(column_cache, "SMALLEST", 0)
    monkeypatch.setenv(VARIABLE, OFF)
    read(INSTANCES, "truth.json", home)
    assert not stored(home)


def test_a_folder_that_cannot_be_made_is_no_error(home: Path) -> None:
    home.write_text("a file")
    assert len(read(INSTANCES, "truth.json", home).boxes) == 2


def test_the_folder_is_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "layoutscope"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "layoutscope"


def test_no_cache_anywhere_on_the_command_line(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "truth.json"
    path.write_bytes(INSTANCES)
    monkeypatch.setenv(VARIABLE, str(home))
    for words, files in ((["check", str(path), "--no-cache"], 0), (["check", str(path)], 1)):
        monkeypatch.setenv(VARIABLE, str(home))
        with pytest.raises(SystemExit) as left:
            cli.main(words)
        assert left.value.code == 0
        assert len(stored(home)) == files
    capsys.readouterr()


def test_an_upload_stays_in_memory(home: Path) -> None:
    formats.read_bytes(INSTANCES, "truth.json")
    assert not stored(home)


def test_the_dashboard_keeps_the_columns_of_files_on_disk_and_those_of_no_upload(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = INSTANCES.replace(b"table", b"of the dashboard")
    results = b'[{"image_id": 1, "category_id": 7, "bbox": [1, 2, 30, 40], "score": 0.5}]'
    upload = opened.read(BOXES, Upload("up.json", (("up.json", truth),)), "up.json", "ground_truth")
    assert upload.source is not None
    assert not stored(home)
    paths = tmp_path / "truth.json", tmp_path / "results.json"
    for path, content in zip(paths, (truth, results), strict=True):
        path.write_bytes(content)
    start(monkeypatch, files=workspace(paths[0], [paths[1]]))
    assert len(stored(home)) == 2
    # The terminal finds what the dashboard kept.
    assert formats.is_kept(paths[0], Reading(side="ground_truth"))
    assert_same(formats.read(paths[0], side="ground_truth").boxes, upload.source.boxes)
    assert len(stored(home)) == 2
