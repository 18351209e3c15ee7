"""Every place that writes, on a disk that is full, read-only or gone: it is said why, nothing is half written, what was
there stays, and with room again the same is done.
"""

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from evaluator import cli
from evaluator.data.dataset import Annotations
from evaluator.formats import column_cache
from evaluator.formats.base import Reading
from evaluator.review.identity import page_target
from evaluator.review.problems import StoreProblem
from evaluator.review.store import Store
from evaluator.system.atomic_write import atomic_write
from evaluator.workspace import project_file
from evaluator.workspace.roles import Sides
from evaluator.workspace.store import StoreError, WorkspaceFolder, link_or_copy
from evaluator.workspace.uploads import sort_dropped_files
from evaluator.workspace.variables import FOLDER_VARIABLE
from pages.app import pictures, workspace_store
from pages.views.pack import pack_job
from tests.building import box, ground_truth, write_file
from tests.dashboard import (
    FILES,
    SAMPLE_DATA,
    add,
    component,
    drop,
    evaluate,
    go,
    issues,
    press,
    set_role,
    start,
    texts,
)
from tests.judging import opinion
from tests.small_disk import SmallDisk, small_disk

PDF = (SAMPLE_DATA / "pdf" / "tram-options.pdf").read_bytes()
TRUTH, LINES = ((SAMPLE_DATA / f"{name}.json").read_bytes() for name in ("ground_truth", "lines"))
FULL, READ_ONLY, GONE = (os.strerror(each) for each in (errno.ENOSPC, errno.EROFS, errno.ENOENT))
Act = Callable[[], str]
"""Does what writes; returns what is said then, nothing when it is done."""


def said(act: Callable[[], object], problem: type[Exception]) -> str:
    try:
        act()
    except problem as raised:
        return str(raised)
    return ""


def project(place: Path) -> Act:
    truth = write_file(place / "gt.json", [box(0, 0, 1, 1)], side="ground_truth")
    sides = Sides(truth, (write_file(place / "a.json", [box(0, 0, 1, 1)]),), None)
    return lambda: said(lambda: project_file.save({"boxes": sides}, {}), project_file.ProjectFileError)


def recent(place: Path) -> Act:
    """What is only noted for the reader's ease is left out."""
    return lambda: said(lambda: project_file.remember(place / "a.toml", place / "state"), OSError)


def workspace(keep: Callable[[WorkspaceFolder], None]) -> Callable[[Path], Act]:
    def of(place: Path) -> Act:
        folder = WorkspaceFolder(place / "ws")
        # A disk with an open file cannot be made read-only.
        folder.close()
        return lambda: said(lambda: keep(folder), StoreError)

    return of


def workspace_in_files(place: Path) -> Act:
    os.environ[FOLDER_VARIABLE] = str(place / "ws")

    def opened() -> str:
        workspace_store._open.clear()
        errors = texts(start(FILES).error)
        if not errors:
            workspace_store._open(place / "ws").close()
        return " ".join(errors)

    return opened


def findings(place: Path) -> Act:
    store = Store(place / "findings.sqlite")
    store.add([opinion(page_target("a.pdf", 0))])

    def add() -> str:
        before = store.events()
        words = said(lambda: store.add([opinion(page_target("a.pdf", 1), note="x" * 9_000)]), StoreProblem)
        assert len(store.events()) == len(before) + (not words)
        return words

    return add


def command(*words: str) -> Callable[[Path], Act]:
    def of(place: Path) -> Act:
        beside = Path(tempfile.mkdtemp())
        write_file(beside / "gt.json", [box(0, 0, 1, 1)] * 40, side="ground_truth")
        write_file(beside / "a.json", [box(0, 0, 1, 1)] * 40)
        Store(beside / "findings.sqlite").add([opinion(page_target("a.pdf", 0), note="x" * 9_000)])
        given = [word.format(place=place, beside=beside) for word in words]

        def ended() -> str:
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as err, pytest.raises(SystemExit) as left:
                cli.main(given)
            return err.getvalue() if left.value.code else ""

        return ended

    return of


def copied(place: Path) -> Act:
    """A page file of the workspace folder, into a session on another disk."""
    source = Path(tempfile.mkdtemp()) / "a.pdf"
    source.write_bytes(PDF)

    def copy() -> str:
        try:
            link_or_copy(source, place / "a.pdf")
        except OSError as problem:
            return str(problem.strerror)
        return ""

    return copy


def cache_of_columns(place: Path) -> Act:
    """Without room the file is read, and nothing is said."""
    os.environ["LAYOUTSCOPE_CACHE"] = str(place / "cache")
    source = ground_truth([box(0, 0, 1, 1)])

    def read() -> str:
        asked = ("prediction", Reading())
        assert isinstance(
            column_cache.get_or_read(b"x" * column_cache.SMALLEST, "a", asked, lambda: source), Annotations
        )
        return ""

    return read


def dropped(place: Path) -> Act:
    tempfile.tempdir = str(place)
    return lambda: " ".join(each.sentence for each in sort_dropped_files([("a.json", LINES)]).issues)


# Sessions with uploads, whose folders go before the disk does.
OPENED: list[AppTest] = []


def files_view() -> AppTest:
    OPENED.append(add(start(FILES), {"truth.json": TRUTH, "lines.json": LINES}))
    return OPENED[-1]


def with_pages(app: AppTest) -> str:
    groups = component(drop(app, {"tram-options.pdf": PDF}), "groups")["groups"]
    # Without a place to look at them nothing is listed for opening.
    reasons = [each["what"] for group in groups if group["title"] == "Left out" for each in group["files"]]
    evaluate(app)
    return " ".join(each.partition("found ")[2].partition(".")[0] for each in reasons) or refused(app)


def refused(app: AppTest) -> str:
    """Why the page file is not taken, or stays."""
    return " ".join(row["Found"] for row in issues(go(app, FILES)) if row["File"] == "tram-options.pdf")


def pages(place: Path) -> Act:
    tempfile.tempdir = str(place)
    app = files_view()
    return lambda: with_pages(app)


def pages_removed(place: Path) -> Act:
    tempfile.tempdir = str(place)
    app = files_view()
    assert with_pages(app) == ""

    def remove() -> str:
        evaluate(set_role(press(app, "Change roles"), "tram-options.pdf", ""))
        return refused(app)

    return remove


def pack(place: Path) -> Act:
    tempfile.tempdir = str(place)

    def write(path: Path, *_: Any) -> Any:
        atomic_write(path, [b"x" * 9_000])

    def make() -> str:
        made = pack_job._make("html", lambda _: None, write, lambda *_: None)  # type: ignore[arg-type, return-value]
        made.discard()
        return made.problem

    return make


FOLDER = "{}: the folder of uploads must have room and be writable; found {{}}. "
AGAIN = "Nothing of it is kept. Make room there, or start with another folder in TMPDIR; then add it again."
UPLOAD = FOLDER + AGAIN
WORKSPACE = "The workspace folder cannot be written: {}."
MUST = "error: {}: {} must be writable; found {{}}. Choose another place, or correct its permissions.\n"
KINDS = {
    FULL: "No room for findings. ",
    READ_ONLY: "Findings cannot be written. ",
    GONE: "Findings cannot be written. ",
}
SAMPLES = ("--gt", str(SAMPLE_DATA / "ground_truth.json"), "--pred", str(SAMPLE_DATA / "lines.json"))
BOTH = ("--gt", "{beside}/gt.json", "--pred", "{beside}/a.json")


def to(name: str, *words: str, flag: str = "--out") -> tuple[Callable[[Path], Act], str]:
    return command(*words, flag, f"{{place}}/{name}"), MUST.format(flag, name)


# What writes, what is said with the reason in the gap, and on which disks.
MADE, EVERY = (FULL, READ_ONLY), (FULL, READ_ONLY, GONE)
PLACES: dict[str, tuple[Callable[[Path], Act], Any, tuple[str, ...]]] = {
    "project": (project, "layoutscope.toml cannot be written: {}.", EVERY),
    "recent projects": (recent, "", MADE),
    "workspace upload": (workspace(lambda of: of.keep_pages([("a.pdf", PDF)])), WORKSPACE, EVERY),
    "workspace filters": (workspace(lambda of: of.keep_filters({"label": "x"})), WORKSPACE, EVERY),
    "workspace in Files": (workspace_in_files, WORKSPACE, (READ_ONLY,)),
    "page file copied": (copied, "{}", EVERY),
    "findings": (findings, KINDS, EVERY),
    "evaluate": (*to("out", "evaluate", "snapshot", *BOTH), MADE),
    "convert": (*to("a.json", "convert", "{beside}/a.json", "--to", "coco", "--page-size", "600x800"), MADE),
    "convert to a folder": (*to("yolo", "convert", "{beside}/a.json", "--to", "yolo"), MADE),
    **{name: (*to(name, "report", "snapshot", *BOTH), MADE) for name in ("p.html", "p.pdf", "p.zip", "p")},
    "findings export": (*to("f.csv", "findings", "export", "--findings", "{beside}/findings.sqlite"), EVERY),
    "slices": (*to("n.json", "slices", "snapshot", *SAMPLES, "--save", "mine", flag="--slices-file"), EVERY),
    "cache of columns": (cache_of_columns, "", MADE),
    "dropped files": (dropped, UPLOAD.format("a.json"), EVERY),
    "page files": (pages, "{}", EVERY),
    "page files removed": (pages_removed, "{}", (READ_ONLY,)),
    "review pack": (pack, "The file cannot be written: {}.", EVERY),
}


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch, store_path: Path, whole_app: None) -> Iterator[SmallDisk]:
    # Set by acts, and set back here.
    monkeypatch.setattr(tempfile, "tempdir", tempfile.tempdir)
    for name in (FOLDER_VARIABLE, "LAYOUTSCOPE_CACHE"):
        monkeypatch.setenv(name, "off")
    monkeypatch.delenv(FOLDER_VARIABLE)
    with small_disk() as made:
        yield made
        while OPENED:
            opened = OPENED.pop()
            if "upload_folder" in opened.session_state:
                opened.session_state["upload_folder"].cleanup()


def files_of(folder: Path) -> dict[str, bytes]:
    """Files with their content; of a database what SQLite writes beside it is its own."""
    every = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm")))
    return {str(path.relative_to(folder)): path.read_bytes() for path in every}


@pytest.mark.parametrize(("name", "why"), [(name, why) for name, row in PLACES.items() for why in row[2]])
def test_a_place_that_cannot_be_written(disk: SmallDisk, name: str, why: str) -> None:
    begin, sentence, _ = PLACES[name]
    act = begin(disk.place)
    before = files_of(disk.place)
    with {FULL: disk.full, READ_ONLY: disk.read_only, GONE: disk.gone}[why]():
        words = act()
    if sentence is KINDS:
        assert words.startswith(sentence[why])
    else:
        assert words == sentence.format(why)
    assert files_of(disk.place) == before
    assert act() == ""


def test_page_files_of_the_workspace_folder_that_find_no_room_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store_path: Path
) -> None:
    def no_room(*_: Path) -> None:
        raise OSError(errno.ENOSPC, FULL)

    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "ws"))
    kept = WorkspaceFolder(tmp_path / "ws")
    kept.keep_pages([("a.pdf", PDF)])
    kept.close()
    monkeypatch.setattr(pictures, "link_or_copy", no_room)
    app = start(FILES)
    (issue,) = issues(app)
    assert (issue["File"], issue["Found"], issue["Fix"]) == ("page files of the workspace folder", FULL, AGAIN)
    workspace_store._open(tmp_path / "ws").close()
    workspace_store._open.clear()
    app.session_state["upload_folder"].cleanup()
