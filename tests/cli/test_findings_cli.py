"""Findings in the terminal: export, import, merge, the corrected ground truth, and corrected rows of an evaluation."""

import csv
import hashlib
import io
import json
from pathlib import Path

import pytest

from evaluator import formats
from evaluator.cli import dashboard
from evaluator.data.dataset import join
from evaluator.protocols import snapshot
from evaluator.review.identity import page_target
from evaluator.review.store import Store
from evaluator.review.store_address import FINDINGS_VARIABLE, FINDINGS_WORKSPACE_VARIABLE
from tests.building import box, write_file
from tests.cli.conftest import Runner
from tests.judging import opinion, verdicts

TRUTH = [box(0.0, 0.0, 0.5, 0.5), box(0.5, 0.5, 1.0, 1.0, label="Table")]
FOUND = [box(0.0, 0.0, 0.5, 0.5, score=0.9), box(0.6, 0.1, 0.9, 0.3, score=0.3)]


@pytest.fixture
def gt(tmp_path: Path) -> Path:
    return write_file(tmp_path / "gt.json", TRUTH, side="ground_truth")


@pytest.fixture
def pred(tmp_path: Path) -> Path:
    return write_file(tmp_path / "pred.json", FOUND)


@pytest.fixture
def kept(tmp_path: Path, gt: Path, pred: Path) -> Path:
    """A store: the missed table and the invented figure, both with "ground truth wrong"; a page in conflict."""
    result = snapshot.pair(join(formats.read(gt), formats.read(pred))).match().at(0.5)
    with Store(tmp_path / "findings.sqlite") as store:
        store.add(verdicts(result, "ground_truth_wrong"))
        store.add([opinion(page_target("a.pdf", 0), "ignore", note="=SUM(A1)")])
        store.add([opinion(page_target("a.pdf", 0), author="Ben", minutes=60)])
    return tmp_path / "findings.sqlite"


SOURCE = "error: {}: a source file is never written to; found what {} reads. Choose another --out.\n"


def test_export_and_import_lose_nothing(run: Runner, kept: Path, tmp_path: Path) -> None:
    shown = run("findings", "export", "--findings", kept)
    assert shown.code == 0
    rows = list(csv.DictReader(io.StringIO(shown.out)))
    assert [row["verdict"] for row in rows] == ["ground_truth_wrong", "ground_truth_wrong", "ignore", "model_wrong"]
    assert rows[2]["note"] == "'=SUM(A1)"
    with Store(kept) as store:
        before = store.events()
    for form in ("csv", "json", "parquet"):
        out, other = tmp_path / f"out.{form}", tmp_path / f"other-{form}.sqlite"
        written = run("findings", "export", "--findings", kept, "--format", form, "--out", out)
        assert (written.code, written.out) == (0, "")
        assert written.err == f"4 events written to out.{form}\n"
        taken = run("findings", "import", out, "--findings", other)
        assert taken.code == 0
        assert taken.err == "4 events added, 0 already there; 3 findings, 1 conflict\n"
        assert "Anna: ignore; Ben: model_wrong" in taken.out
        again = run("findings", "import", out, "--findings", other)
        assert again.err == "0 events added, 4 already there; 3 findings, 1 conflict\n"
        with Store(other) as store:
            back = store.events()
        assert [(event.id, event.target, event.note) for event in back] == [
            (event.id, event.target, event.note) for event in before
        ]
        assert not any(event.verified for event in back)


def test_import_takes_nothing_when_a_file_has_a_bad_row(run: Runner, kept: Path, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("kind,document,verdict,author,time\ndocument,a,ignore,Anna,2026-01-31T12:00:00Z\n")
    bad.write_text("kind,document,verdict,author,time\ndocument,a,perhaps,,2026\n")
    other = tmp_path / "other.sqlite"
    refused = run("findings", "import", good, bad, "--findings", other)
    assert refused.code == 2
    assert refused.err.count("error: bad.csv: line 2") == 3
    assert "Traceback" not in refused.err
    assert not other.exists()


def test_merge_lists_the_conflicts(run: Runner, tmp_path: Path) -> None:
    head = "kind,document,page_index,verdict,author,time\n"
    anna, ben = tmp_path / "anna.csv", tmp_path / "ben.csv"
    anna.write_text(f"{head}page,a,0,ignore,Anna,2026-01-31T12:00:00Z\npage,a,1,ignore,Anna,2026-01-31T12:00:00Z\n")
    ben.write_text(f"{head}page,a,1,ambiguous,Ben,2026-01-31T12:00:00Z\n")
    out = tmp_path / "merged.json"
    merged = run("findings", "merge", anna, ben, "--out", out)
    assert merged.code == 0
    assert merged.err == "3 events; 2 findings, 1 conflict\n"
    assert "Anna: ignore; Ben: ambiguous" in merged.out
    assert len(json.loads(out.read_text())["events"]) == 3
    assert run("findings", "merge", anna).code == 2
    before = anna.read_bytes()
    assert run("findings", "merge", anna, ben, "--out", anna) == (2, "", SOURCE.format("anna.csv", "merge"))
    assert anna.read_bytes() == before


def test_the_corrected_ground_truth(run: Runner, kept: Path, gt: Path, pred: Path, tmp_path: Path) -> None:
    before = hashlib.sha256(gt.read_bytes()).hexdigest()
    out = tmp_path / "corrected.json"
    done = run("findings", "correct", "--gt", gt, "--pred", pred, "--findings", kept, "--out", out)
    assert done.code == 0
    assert sorted(done.out.splitlines()) == [
        "a.pdf, page 1: Figure added, verdict of Anna", "a.pdf, page 1: Table removed, verdict of Anna",
    ]  # fmt: skip
    assert done.err == "2 verdicts applied; written to corrected.json\n"
    assert hashlib.sha256(gt.read_bytes()).hexdigest() == before
    told = run("evaluate", "snapshot", "--gt", out, "--pred", pred, "--iou", 0.5, "--json")
    assert json.loads(told.out)["thresholds"]["0.5"]["micro"]["f1"] == 1.0
    words = ("findings", "correct", "--gt", gt, "--pred", pred, "--findings", kept, "--out")
    link = tmp_path / "link.json"
    link.symlink_to(gt)
    for place, named in ((gt, "--gt"), (link, "--gt"), (pred, "--pred"), (kept, "--findings")):
        old = place.read_bytes()
        assert run(*words, place, "--force") == (2, "", SOURCE.format(place.name, named))
        assert place.read_bytes() == old
    out.write_bytes(b"of somebody")
    exists = "error: corrected.json exists; choose another --out, or overwrite it with --force.\n"
    assert run(*words, out) == (2, "", exists)
    assert out.read_bytes() == b"of somebody"
    assert run(*words, out, "--force").code == 0
    assert run("evaluate", "snapshot", "--gt", out, "--pred", pred).code == 0


def test_a_store_is_never_written_over(run: Runner, kept: Path) -> None:
    for address in (str(kept), f"sqlite:///{kept}"):
        for out in (kept, kept.with_name(f"{kept.name}-wal")):
            refused = run("findings", "export", "--findings", address, "--out", out)
            assert refused == (2, "", SOURCE.format(out.name, "--findings"))
    with Store(kept) as store:
        assert len(store.events()) == 4


def test_what_cannot_be_written_has_the_name_that_was_given(run: Runner, kept: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for out, name, reason in (
        (tmp_path / "nodir" / "x.csv", "x.csv", "No such file or directory"),
        (tmp_path / "folder", "folder", "Is a directory"),
    ):
        said = f"{name} must be writable; found {reason}. Choose another place, or correct its permissions."
        assert run("findings", "export", "--findings", kept, "--out", out) == (2, "", f"error: --out: {said}\n")


def test_what_is_no_store_is_said_and_left_as_it_is(run: Runner, tmp_path: Path) -> None:
    empty = tmp_path / "empty.sqlite"
    empty.touch()
    assert run("findings", "export", "--findings", empty).err == (
        "error: empty.sqlite is an empty file, which holds no findings; check the spelling of --findings.\n"
    )
    assert empty.stat().st_size == 0
    folder = f"error: --findings must name a file; {tmp_path.name} is a folder. Name the file of the store.\n"
    table = tmp_path / "one.csv"
    table.write_text("kind,document,verdict,author,time\ndocument,a,ignore,Anna,2026-01-31T12:00:00Z\n")
    for words in (("export",), ("import", table)):
        assert run("findings", *words, "--findings", tmp_path) == (2, "", folder)


def test_a_file_without_events_begins_no_store(run: Runner, tmp_path: Path) -> None:
    table, store = tmp_path / "none.csv", tmp_path / "new.sqlite"
    table.write_text("verdict,author,time\n")
    taken = run("findings", "import", table, "--findings", store)
    assert (taken.code, taken.out) == (0, "")
    assert taken.err == (
        "warning: none.csv: a file of findings should hold events; found none. Export the findings again, or leave the "
        "file out.\n0 events added, 0 already there; 0 findings, 0 conflicts\n"
    )
    assert not store.exists()


def test_an_evaluation_with_corrected_rows(run: Runner, kept: Path, gt: Path, pred: Path) -> None:
    sides = ("--gt", gt, "--pred", pred, "--findings", kept, "--json")
    official, corrected = run("evaluate", "snapshot", *sides, "--iou", 0.5).json()
    assert official["thresholds"]["0.5"]["micro"]["f1"] == 0.5
    assert corrected["thresholds"]["0.5"]["micro"]["f1"] == 1.0
    assert corrected["verdicts_applied"] == 2
    assert "corrected, 2 verdicts applied" in corrected["signature"]
    assert "corrected" not in official["signature"]
    for protocol in ("pod", "coco"):
        both = run("evaluate", protocol, *sides).json()
        assert [each.get("verdicts_applied") for each in both] == [None, 2]
    both = run("evaluate", "pixel", *sides, "--page-size", "100x100").json()
    assert both[1]["dataset"]["mean"]["all_classes"]["f1"] > both[0]["dataset"]["mean"]["all_classes"]["f1"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("export",), "name the store with --findings FILE_OR_ADDRESS, or set LAYOUTSCOPE_FINDINGS."),
        (("export", "--findings", "nowhere.sqlite"), "there are no findings at nowhere.sqlite"),
        (("export", "--findings", "kept", "--format", "parquet"), "parquet needs --out FILE."),
        (("export", "--findings", "postgresql+psycopg://me:secret@127.0.0.1:1/x"), "could not be reached"),
        (
            ("import", "missing.csv", "--findings", "x.sqlite"),
            "the file must be readable or writable; found No such file",
        ),
    ],
)
def test_what_cannot_be_done_is_said(
    run: Runner, kept: Path, words: tuple[str, ...], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(kept.parent)
    ended = run("findings", *(str(kept) if word == "kept" else word for word in words))
    assert ended.code == 2
    assert told in ended.err
    assert "secret" not in ended.err
    assert "Traceback" not in ended.err


def test_open_hands_the_store_to_the_dashboard(run: Runner, gt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[dict[str, str]] = []
    monkeypatch.setattr(dashboard, "_serve", lambda _found, variables, **_options: handed.append(dict(variables)) or 0)
    monkeypatch.chdir(gt.parent)
    assert run("open", gt).code == 0
    assert run("open", gt, "--findings", "notes.sqlite").code == 0
    url = "postgresql+psycopg://host/base"
    assert run("open", gt, "--findings", url, "--findings-workspace", "one").code == 0
    assert handed == [
        {},
        {FINDINGS_VARIABLE: str(gt.parent.resolve() / "notes.sqlite")},
        {FINDINGS_VARIABLE: url, FINDINGS_WORKSPACE_VARIABLE: "one"},
    ]
