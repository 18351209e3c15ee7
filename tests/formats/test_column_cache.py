"""The cache of columns: the same columns from it as from the file, in every format, and nothing that is damaged."""

import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import formats
from evaluator.compare.comparison import Comparison
from evaluator.data.dataset import Annotations
from evaluator.data.issues import BadInput
from evaluator.formats import column_cache, columns, reading
from evaluator.formats.base import Reading
from evaluator.formats.coco.outlines import Outlines
from evaluator.project import Upload, evaluate_together
from evaluator.protocols import protocols_of_boxes
from evaluator.system import cache_folder as cache_folder_module
from evaluator.system.cache_folder import OFF, VARIABLE, cache_folder
from pages.app import session_files
from pages.app.session_files import BOXES
from tests.dashboard import start, workspace
from tests.protocols.test_same_numbers import FORMS, TRUTH, A
from tests.reading import plain
from tests.sample_part import write_part
from tests.terminal import run_command

INSTANCES = b"""{"images": [{"id": 1, "file_name": "a.png", "width": 100, "height": 100}],
"categories": [{"id": 7, "name": "table"}], "annotations": [
{"id": 1, "image_id": 1, "category_id": 7, "bbox": [1, 2, 30, 40], "area": 900, "iscrowd": 0,
 "segmentation": [[1, 2, 31, 2, 31, 42], [5, 5, 9, 5, 9, 9]]},
{"id": 2, "image_id": 1, "category_id": 7, "bbox": [50, 50, 90, 20], "area": 1800, "iscrowd": 1, "segmentation": []}
]}"""


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
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


def check_same(first: object, second: object) -> None:
    assert plain(first) == plain(second)


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
    check_same(plain, again)
    # The second reading parsed nothing.
    monkeypatch.setattr(reading, "box_format", None)
    check_same(plain, read(text.encode(), name, home))


def test_outlines_crowds_areas_and_warnings_come_back(home: Path) -> None:
    plain, again = read_three_times(INSTANCES, "truth.json", home)
    assert plain.issues
    assert len(plain.boxes.polygons) == 1
    (path,) = stored(home)
    modes = {(each.is_dir(), each.stat().st_mode & 0o777) for each in (home, path, *path.iterdir())}
    assert modes == {(True, 0o700), (False, 0o644)}
    assert plain.boxes.crowd is not None
    check_same(plain, again)


def test_outlines_of_any_reader_come_back() -> None:
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    polygons = {3: [triangle], 1: [triangle + 1.0, triangle]}
    check_same(polygons, Outlines(*columns.outline_columns(polygons).values()))


def test_a_file_on_disk_is_found_by_its_content_name_and_what_is_asked(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "truth.json"
    path.write_bytes(INSTANCES)
    check_same(formats.read(path), formats.read_bytes(INSTANCES, "truth.json"))
    assert len(stored(home)) == 1
    assert read(INSTANCES, "other.json", home).issues[0].file == "other.json"
    assert read(INSTANCES, "truth.json", home, side="prediction", unscored=True).side == "prediction"
    path.write_bytes(INSTANCES.replace(b"[1, 2, 30, 40]", b"[1, 2, 30, 41]"))
    assert formats.read(path).boxes.xyxy[0, 3] == 43.0
    assert len(stored(home)) == 4


def flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


# What may become of each file of a folder.
DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "deleted": lambda content: None,
    "empty": lambda content: b"",
    "cut off": lambda content: content[:-1],
    "longer": lambda content: content + b"0",
    "a bit at the start": lambda content: flipped(content, 0),
    "a bit in the header or the key": lambda content: flipped(content, 40),
    "a bit at the end": lambda content: flipped(content, len(content) - 1),
    "of zeros": lambda content: bytes(len(content)),
}


def test_a_damaged_folder_is_not_used_and_written_again(home: Path) -> None:
    plain, _ = read_three_times(INSTANCES, "truth.json", home)
    (folder,) = stored(home)
    names = sorted(path.name for path in folder.iterdir())
    assert {"manifest", "xyxy.npy", "ids.npy", "outlines.npy", "page_size.npy"} <= {*names}
    whole = {name: (folder / name).read_bytes() for name in names}
    believed = []
    for place, name in enumerate(names):
        # Each damage of the manifest and of a column, and each of some other file.
        tried = [*DAMAGES] if name in ("manifest", "xyxy.npy") else [list(DAMAGES)[place % len(DAMAGES)], "cut off"]
        for damage in dict.fromkeys(tried):
            content = DAMAGES[damage](whole[name])
            (folder / name).unlink()
            if content is not None:
                (folder / name).write_bytes(content)
            if column_cache._opened(folder) is not None:
                believed.append((name, damage))
            check_same(plain, read(INSTANCES, "truth.json", home))
            if {path.name: path.read_bytes() for path in folder.iterdir()} != whole:
                believed.append((name, damage, "not written again"))
    assert not believed


def test_columns_of_another_file_are_not_used(home: Path) -> None:
    other = INSTANCES.replace(b'"table"', b'"label"').replace(b"[1, 2, 30, 40]", b"[1, 2, 30, 41]")
    read(INSTANCES, "truth.json", home)
    (first,) = stored(home)
    read(other, "truth.json", home)
    (second,) = {*stored(home)} - {first}
    (second / "xyxy.npy").write_bytes((first / "xyxy.npy").read_bytes())
    assert read(other, "truth.json", home).boxes.xyxy[0, 3] == 43.0
    shutil.rmtree(second)
    shutil.copytree(first, second)
    assert read(other, "truth.json", home).labels == ("label",)


def test_a_folder_that_was_not_finished_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(columns, "_saved", full)
        plain = read(INSTANCES, "truth.json", home)
    assert not stored(home)
    # A killed process leaves a folder under another name, without a manifest.
    (home / "tmp123.columns").mkdir()
    check_same(plain, read(INSTANCES, "truth.json", home))
    assert len(stored(home)) == 2


def test_columns_outlive_their_files_and_another_process_gets_them(home: Path) -> None:
    _, again = read_three_times(INSTANCES, "truth.json", home)
    check_same(again, pickle.loads(pickle.dumps(again)))
    shutil.rmtree(home)
    assert again.boxes.xyxy.tolist() == [[1.0, 2.0, 31.0, 42.0], [50.0, 50.0, 140.0, 70.0]]


@pytest.mark.parametrize("protocol", protocols_of_boxes())
def test_a_protocol_counts_the_same_on_maps(protocol: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = write_part(home.parent, "tram-options.pdf", "groundwater-note.pdf")
    options: dict[str, Any] = {"page_size": (1000, 1400)} if protocol == "pixel" else {}
    truth, predictions = sample / "ground_truth.json", [sample / "lines.json", sample / "blocks.json"]

    def compared() -> list[Any]:
        made = evaluate_together(protocol, truth, predictions, **options)
        comparison = Comparison(tuple(each.result for each in made), ("a", "b"), seed=1, resamples=50)
        return [comparison.to_json([each.to_json() for each in made]), [each.issues for each in made]]

    monkeypatch.setenv(VARIABLE, OFF)
    plain = compared()
    monkeypatch.setenv(VARIABLE, str(home))
    evaluate_together(protocol, truth, predictions, **options)
    monkeypatch.setattr(reading, "box_format", None)
    assert compared() == plain


def test_ids_are_read_like_a_list() -> None:
    texts = ["", "a", "\u00e4\U0001f600", "b" * 300]
    ids = columns.Texts(*[each for _, each in columns.text_columns(texts)])  # type: ignore[arg-type]
    assert (list(ids), ids[-1], ids[1:3], len(ids)) == (texts, texts[-1], texts[1:3], 4)
    with pytest.raises(IndexError):
        ids[4]
    none, same, other = (
        columns.Texts(*[each for _, each in columns.text_columns(each)]) for each in ([], texts, ["a"])
    )  # type: ignore[arg-type]
    assert list(none) == []
    assert (ids == same, ids == other, ids == texts) == (True, False, False)


def test_a_file_of_many_pieces_is_known_by_all_of_them(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_cache, "_PIECE", 64)
    digests = {formats.digest_of(INSTANCES[:length]) for length in range(len(INSTANCES))}
    turned = INSTANCES[64:128] + INSTANCES[:64] + INSTANCES[128:]
    assert len(digests | {formats.digest_of(turned), formats.digest_of(INSTANCES)}) == len(INSTANCES) + 2
    read(INSTANCES, "truth.json", home)
    path = home.parent / "truth.json"
    assert formats.is_cached(path, Reading())
    formats.read_bytes(INSTANCES, "truth.json", on_disk=formats.digest_of(INSTANCES))
    assert len(stored(home)) == 1
    path.write_bytes(INSTANCES[:-1] + b" ")
    assert not formats.is_cached(path, Reading())


def test_other_readers_make_other_columns(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read(INSTANCES, "truth.json", home)
    monkeypatch.setattr(column_cache, "code_digest", lambda *_: "others")
    read(INSTANCES, "truth.json", home)
    monkeypatch.setattr(column_cache, "__version__", "0")
    read(INSTANCES, "truth.json", home)
    assert len(stored(home)) == 3


def test_the_folders_that_were_not_used_for_longest_are_deleted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        read(INSTANCES, f"{number}.json", home)
    # Of an earlier version.
    (home / "0.columns").write_bytes(bytes(5))
    (home / "notes.txt").write_bytes(bytes(1_000_000))
    paths = [path for path in stored(home) if path.name != "notes.txt"]
    for age, path in enumerate(paths):
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    size = sum(path.stat().st_size for path in paths[-1].iterdir())
    monkeypatch.setattr(cache_folder_module, "MOST", 2 * size + size // 2)
    read(INSTANCES, "5.json", home)
    left = {*stored(home)}
    assert {home / "notes.txt", *paths[:2]} <= left
    assert len(left) == 4
    # What is used is not the oldest any more.
    assert column_cache._opened(next(path for path in paths[:2] if path.is_dir())) is not None
    monkeypatch.setattr(cache_folder_module, "MOST", size + size // 2)
    cache_folder_module.bound(home)
    assert len(stored(home)) == 2


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
    for word in ("off", "0", "FALSE", "no"):
        monkeypatch.setenv(VARIABLE, word)
        assert cache_folder() is None
    monkeypatch.setenv(VARIABLE, "kept/here")
    assert cache_folder() == Path("kept/here")


def test_no_cache_anywhere_on_the_command_line(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "truth.json"
    path.write_bytes(INSTANCES)
    for words, files in ((("--no-cache",), 0), ((), 1)):
        monkeypatch.setenv(VARIABLE, str(home))
        assert run_command(capsys, "check", path, *words)[0] == 0
        assert len(stored(home)) == files


def test_the_dashboard_keeps_the_columns_of_files_on_disk_and_those_of_no_upload(home: Path, tmp_path: Path) -> None:
    truth = INSTANCES.replace(b"table", b"of the dashboard")
    results = b'[{"image_id": 1, "category_id": 7, "bbox": [1, 2, 30, 40], "score": 0.5}]'
    upload = session_files.read(BOXES, Upload("up.json", (("up.json", truth),)), "up.json", "ground_truth")
    assert not stored(home)
    paths = tmp_path / "truth.json", tmp_path / "results.json"
    for path, content in zip(paths, (truth, results), strict=True):
        path.write_bytes(content)
    start(files=workspace(paths[0], [paths[1]]))
    assert len(stored(home)) == 2
    # The terminal finds what the dashboard kept.
    assert formats.is_cached(paths[0], Reading(side="ground_truth"))
    check_same(formats.read(paths[0], side="ground_truth").boxes, upload.source.boxes)
    assert len(stored(home)) == 2
