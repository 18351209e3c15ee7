"""What changed since an earlier pack: its record in the HTML file, the words of the change, and files that are none."""

import json
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from evaluator import formats
from evaluator.data.dataset import join
from evaluator.pack.diff import ELEMENT, Change, PackedFinding, PackedModel, PackRecord, read, since
from evaluator.protocols.snapshot.evaluation import pair
from evaluator.review.identity import mistake_targets
from evaluator.review.store import Store
from tests.cli.conftest import Runner, run
from tests.cli.test_report_command import SAMPLE
from tests.judging import opinion
from tests.reading import refusal_issues
from tests.sample_part import write_part

__all__ = ["run"]
SIGNATURE = "snapshot 1.3 · IoU ≥ 0.50 · score ≥ 0.00 · 8 documents, 36 pages"
TABLE = PackedFinding("1", "Missed · Table", "a.pdf, page 1", "Model wrong")


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_part(tmp_path_factory.mktemp("part"), "tram-options.pdf")


def sides(folder: Path, name: str) -> list[object]:
    return ["--gt", folder / "ground_truth.json", "--pred", folder / f"{name}.json"]


def model(letter: str = "A", name: str = "lines 1.0", **given: object) -> PackedModel:
    numbers = {"f1": 0.5, "precision": None, "recall": 0.25, "mistakes": 10, "signature": SIGNATURE}
    return PackedModel(letter=letter, name=name, **{**numbers, **given})  # type: ignore[arg-type]


def packed(*models: PackedModel, **given: object) -> PackRecord:
    values = {"layout": 1, "date": "1 May 2026", "answer": "Cannot tell", "truth": "t", "judged": ()}
    return PackRecord(models=models, **{**values, **given})  # type: ignore[arg-type]


def test_numbers_of_the_model_of_the_same_name_are_subtracted() -> None:
    change = since(packed(model()), packed(model(f1=0.512, precision=0.9, mistakes=8), answer="Ship B"))
    assert change.heading == "Since the pack of 1 May 2026"
    assert change.notes == ()
    assert change.rows == (
        Change("Decision", "Cannot tell", "Ship B", "new"),
        Change("A lines 1.0: F1", "0.500", "0.512", "+1.2 points"),
        Change("A lines 1.0: Precision", "n/a", "0.900", ""),
        Change("A lines 1.0: Recall", "0.250", "0.250", "0.0 points"),
        Change("A lines 1.0: Mistakes", "10", "8", "−2"),
    )


def test_a_model_of_another_name_is_compared_by_its_letter() -> None:
    rows = since(packed(model()), packed(model(name="lines 1.1"))).rows
    assert rows[1].what == "A lines 1.1, before lines 1.0: F1"
    assert since(packed(model()), packed(model("C", "new"))).notes == (
        "C new was not in that pack.",
        "A lines 1.0 of that pack is not in this one.",
    )


def test_another_ground_truth_or_signature_is_said_and_nothing_subtracted() -> None:
    other = since(packed(model()), packed(model(f1=0.9), truth="u"))
    assert other.notes == ("The ground truth is another one, so numbers are shown side by side and not subtracted.",)
    coco = since(packed(model(signature="coco 2.0 · boxes")), packed(model(f1=0.9)))
    assert coco.notes == ("A lines 1.0 was measured under another signature, coco 2.0 · boxes.",)
    for earlier in (other, coco):
        assert {row.change for row in earlier.rows} == {""}
    # Other counts of documents, and another version, are no other signature.
    counted = SIGNATURE.replace("8 documents", "9 documents") + " · layoutscope 0.2.0"
    assert since(packed(model()), packed(model(signature=counted))).notes == ()


@pytest.mark.parametrize("threshold", ["IoU ≥ 0.75", "score ≥ 0.40"])
def test_another_threshold_is_another_signature(threshold: str) -> None:
    kind = threshold.partition(" ")[0]
    now = " · ".join(threshold if part.startswith(kind) else part for part in SIGNATURE.split(" · "))
    change = since(packed(model()), packed(model(signature=now, f1=0.4)))
    assert change.notes == (f"A lines 1.0 was measured under another signature, {SIGNATURE}.",)
    assert [(row.before, row.now, row.change) for row in change.rows[1:2]] == [("0.500", "0.400", "")]


def test_a_model_that_is_gone_is_said() -> None:
    change = since(packed(model(), model("B", "blocks 1.0")), packed(model()))
    assert change.notes == ("B blocks 1.0 of that pack is not in this one.",)
    renamed = since(packed(model(), model("B", "blocks 1.0")), packed(model(name="blocks 1.0")))
    assert renamed.notes == ("A lines 1.0 of that pack is not in this one.",)


def test_findings_that_are_new_gone_or_judged_otherwise() -> None:
    gone = PackedFinding("2", "Extra · Text", "b.pdf", "Ignore")
    # Two of one name on one page are two findings.
    new = PackedFinding("3", "Missed · Table", "a.pdf, page 1", "Ambiguous")
    again = msgspec.structs.replace(TABLE, verdict="Ground truth wrong")
    twin = msgspec.structs.replace(new, target="4")
    assert since(packed(judged=(TABLE, gone)), packed(judged=(again, new, twin))).findings == (
        "3 findings with a verdict or note, before 2.",
        "2 ambiguous, 1 ground truth wrong.",
        "New, 2: Missed · Table, a.pdf, page 1 (2).",
        "No longer among the findings, 1: Extra · Text, b.pdf.",
        "Judged otherwise, 1: Missed · Table, a.pdf, page 1.",
    )
    assert since(packed(), packed()).findings == ("0 findings with a verdict or note, before 0.",)


def test_an_older_pack_that_holds_only_what_it_shows_does_not_say_what_is_new() -> None:
    assert since(packed(layout=1, judged=None), packed(judged=(TABLE,))).findings == (
        "1 finding with a verdict or note now; how many there were then cannot be told from that pack.",
        "1 model wrong.",
    )


def test_what_is_shown_makes_no_finding_new_or_gone(tmp_path: Path, run: Runner, part: Path) -> None:
    dataset = join(*(formats.read(part / f"{name}.json") for name in ("ground_truth", "blocks")))
    result = pair(dataset).match().at(0.5)
    targets = [target for page in (0, 1) for target in mistake_targets(result, page).targets]
    with closing(Store(tmp_path / "findings.sqlite")) as store:
        store.add([opinion(target, "ambiguous") for target in targets])
    packs = {"all": (), "none": ("--verdicts", "ignore"), "tagged": ("--tags", "border")}
    records = {}
    for name, words in packs.items():
        out = tmp_path / f"{name}.html"
        common = ("--findings", tmp_path / "findings.sqlite", "--pages", 0, "--out", out)
        assert run("report", *sides(part, "blocks"), *words, *common)[0] == 0
        records[name] = read(out)
    for name, record in records.items():
        assert since(records["all"], record).findings == (
            f"{len(targets)} findings with a verdict or note, before {len(targets)}.",
            f"{len(targets)} ambiguous.",
        ), name


RECORD = f'<script type="application/json" id="{ELEMENT}">{{}}</script>'


def test_a_file_that_is_no_pack_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.html"
    for text in ("", "<html></html>", *(RECORD.format(record) for record in ("{", '{"layout": 1}', "[1]"))):
        path.write_text(text)
        (issue,) = refusal_issues(read, path)
        assert (issue.file, issue.rule) == ("old.html", "an earlier pack must be an HTML file of layoutscope report")
    path.write_text(RECORD.format(msgspec.json.encode(packed(layout=3)).decode()))
    assert refusal_issues(read, path)[0].found == "layout 3"


def test_a_pack_says_what_changed_since_another(tmp_path: Path, run: Runner, part: Path) -> None:
    first, second = tmp_path / "first.html", tmp_path / "second.html"
    few = ("--pages", 0)
    assert run("report", *sides(part, "blocks"), "--out", first, *few)[0] == 0
    lines = sides(part, "lines")
    assert run("report", *lines, "--out", second, *few, "--since", first)[0] == 0
    before, after = read(first).models[0], read(second).models[0]
    text = second.read_text(encoding="utf-8")
    assert "Since the pack of " in text
    assert before.f1 is not None
    assert after.f1 is not None
    assert f"<td>{before.f1:.3f}</td><td>{after.f1:.3f}</td><td>−{100 * (before.f1 - after.f1):.1f} points</td>" in text
    assert "Since the pack of" not in first.read_text(encoding="utf-8")
    folder = tmp_path / "folder"
    assert run("report", *lines, "--out", folder, *few, "--since", first)[0] == 0
    stored = json.loads((folder / "results.json").read_text())["since"]
    assert stored["heading"].startswith("Since the pack of ")
    row = stored["rows"][1]
    numbers = f"{before.f1:.3f}", f"{after.f1:.3f}"
    assert (row["what"], row["before"], row["now"]) == ("A lines 1.0, before blocks 1.0: F1", *numbers)
    assert run("report", *lines, "--out", tmp_path / "second.pdf", *few, "--since", first)[0] == 0
    words = ("fields", "--gt", SAMPLE / "fields", "--pred", SAMPLE, "--out", second, "--since", first)
    refused = "error: --since compares packs with boxes; none of these protocols matches boxes.\n"
    assert run("report", *words) == (2, "", refused)
