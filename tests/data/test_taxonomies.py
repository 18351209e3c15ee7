"""Labels of one taxonomy under the names of another one: all of them, in all files, and only where it is known."""

import csv
from pathlib import Path

import pytest

from evaluator.data import taxonomies
from evaluator.data.taxonomies import NAMES, taxonomy, under_names_of, wider_meanings
from tests.dashboard import FILES, OVERVIEW, go, signature, start, texts, workspace
from tests.terminal import run_command

TRUTH = ("Title", "Text", "Text", "Picture", "Page-footer", "Section-header", "Formula", "List-item")
MODEL = ("doc_title", "text", "abstract", "chart", "number", "paragraph_title", "formula", "reference")


@pytest.mark.parametrize("name", NAMES)
def test_every_label_has_a_meaning_and_every_new_name_is_a_label_of_the_taxonomy(name: str) -> None:
    of = taxonomy(name)
    assert of.title != of.source != ""
    assert {*of.labels.values()} <= wider_meanings().keys()
    for target in NAMES:
        renamed = under_names_of(target, [*of.labels], of.format)
        assert {*renamed.names.values()} <= taxonomy(target).labels.keys()
        same = {label for label in of.labels if label in taxonomy(target).labels}
        assert {*renamed.names} | {*renamed.left} | same == {*of.labels}


def test_meanings_widen_to_an_end_and_each_is_used() -> None:
    wider = wider_meanings()
    for meaning in wider:
        steps = [meaning]
        while steps[-1]:
            steps.append(wider[steps[-1]])
            assert len(steps) < 8
    assert {meaning for name in NAMES for meaning in taxonomy(name).labels.values()} | {*wider.values()} == {"", *wider}


@pytest.mark.parametrize(
    ("target", "labels", "format", "names", "left"),
    [
        ("doclaynet", MODEL, "", dict(zip(MODEL, TRUTH, strict=True)), ()),
        ("doclaynet", ("section_header", "chart", "code", "form"), "docling",
         {"section_header": "Section-header", "chart": "Picture", "code": "Text"}, ("form",)),
        ("omnidocbench", ("Caption", "Section-header"), "", {"Section-header": "title"}, ("Caption",)),
        ("publaynet", ("Title", "Caption", "Formula"), "", {"Title": "title", "Caption": "text"}, ("Formula",)),
        # PubLayNet, MinerU and Docling have these three, and only Docling says which title is meant.
        ("doclaynet", ("title", "text", "table"), "", {"text": "Text", "table": "Table"}, ("title",)),
        ("doclaynet", ("title", "text", "table"), "docling", {"title": "Title", "text": "Text", "table": "Table"}, ()),
        ("doclaynet", ("text", "stamp"), "", {"text": "Text"}, ("stamp",)),
        ("doclaynet", ("Text", "Title"), "", {}, ()),
        ("doclaynet", (), "", {}, ()),
    ],
)  # fmt: skip
def test_labels_get_the_name_of_their_meaning_or_the_next_wider_one(
    target: str, labels: tuple[str, ...], format: str, names: dict[str, str], left: tuple[str, ...]
) -> None:
    assert under_names_of(target, labels, format) == (names, left)


def table(path: Path, labels: tuple[str, ...], *score: str) -> str:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["document", "label", *(["score"] if score else []), "x1", "y1", "x2", "y2"])
        for document in range(4):
            for at, label in enumerate(labels):
                out.writerow([f"d{document}", label, *score, 10, 40 * at + document, 90, 40 * at + 30])
    return str(path)


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    truth, model = table(tmp_path / "truth.csv", TRUTH), table(tmp_path / "model.csv", MODEL, "0.5")
    return ["evaluate", "snapshot", "--gt", truth, "--pred", model]


def test_the_doctor_proposes_the_taxonomy_of_the_ground_truth(
    pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run_command(capsys, *pair)
    assert code == 2
    assert "with labels under the names of DocLayNet: 1.000. Apply it with --fix labels=doclaynet," in err


def test_both_sides_are_read_under_the_names_that_are_asked_for_and_the_signature_says_so(
    pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run_command(capsys, *pair, "--labels-of", "publaynet")
    assert (code, out, err) == run_command(capsys, *pair, "--fix", "labels=publaynet")
    assert code == 0
    assert "fix of the ground truth: labels=publaynet · fix: labels=publaynet" in " ".join(out.split())
    assert "│ figure" in out
    assert (
        'warning: model.csv: with labels=publaynet a label should have a name in PubLayNet; found "number", "formula". '
        'They keep their names; "label=OLD=NEW" gives one another.'
    ) in err


def test_the_dashboard_reads_all_files_under_the_names_that_are_chosen(pair: list[str]) -> None:
    app = start(FILES, files=workspace(Path(pair[3]), [Path(pair[5])]))
    choice = next(each for each in app.selectbox if each.label == "Label names")
    assert choice.options[1:] == [taxonomies.taxonomy(name).title for name in NAMES]
    choice.set_value("doclaynet").run()
    assert "In all files: labels under the names of DocLayNet." in texts(app.caption)
    app = go(app, OVERVIEW)
    assert texts(app.warning) == []
    assert "fix truth.csv: labels=doclaynet · fix model.csv: labels=doclaynet" in signature(app)
