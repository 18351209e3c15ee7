"""What is open: roles from content, PDFs from where they are, and nothing opened because a file names it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from evaluator import cli
from evaluator.cli import dashboard
from evaluator.data.issues import BadInput
from evaluator.workspace.roles import Sides, Workspace, find, from_json, sample
from tests.building import box, write_file

ONE = [box(0.1, 0.1, 0.9, 0.9)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A session: a ground truth, two models, PDFs two levels down, and files that are neither."""
    home = tmp_path / "corpus"
    (home / "pdf" / "2024").mkdir(parents=True)
    write_file(home / "annotated.json", ONE, side="ground_truth")
    write_file(home / "b.json", ONE)
    write_file(home / "a.json", ONE)
    (home / "pdf" / "x.PDF").write_bytes(b"%PDF-1.7")
    (home / "pdf" / "2024" / "y.pdf").write_bytes(b"%PDF-1.7")
    (home / "notes.txt").write_text("ground_truth")
    return home


def test_roles_come_from_the_content(folder: Path) -> None:
    workspace = find([folder])
    assert workspace.of("boxes").ground_truth == folder / "annotated.json"
    assert workspace.of("boxes").predictions == (folder / "a.json", folder / "b.json")
    assert workspace.of("boxes").pdfs == folder.resolve() / "pdf"
    assert (workspace.as_reference, workspace.issues) == (False, ())


def test_names_do_not_decide(tmp_path: Path) -> None:
    truth = write_file(tmp_path / "prediction.json", ONE, side="ground_truth")
    model = write_file(tmp_path / "ground_truth.json", ONE)
    assert find([tmp_path]).of("boxes") == Sides(truth, (model,), None)


def test_what_is_named_is_not_guessed(folder: Path) -> None:
    workspace = find([folder], ground_truth=folder / "b.json", predictions=[folder / "a.json"], as_reference=True)
    assert workspace.as_reference
    assert workspace.of("boxes") == Sides(folder / "b.json", (folder / "a.json",), folder.resolve() / "pdf")
    assert find([folder], pdfs=folder / "pdf" / "2024").of("boxes").pdfs == folder / "pdf" / "2024"


def test_files_can_be_named_one_by_one(folder: Path) -> None:
    workspace = find([folder / "b.json", folder / "annotated.json", folder / "pdf" / "2024" / "y.pdf"])
    pdfs = folder.resolve() / "pdf" / "2024"
    assert workspace.of("boxes") == Sides(folder / "annotated.json", (folder / "b.json",), pdfs)


def test_a_file_named_twice_is_opened_once(folder: Path) -> None:
    models = folder / "a.json", folder / "b.json"
    workspace = find([folder], predictions=models, ground_truth=folder / "annotated.json")
    assert workspace.of("boxes").predictions == models


def test_predictions_without_a_ground_truth_are_fine(folder: Path) -> None:
    (folder / "annotated.json").unlink()
    shutil.rmtree(folder / "pdf")
    assert find([folder]).of("boxes") == Sides(None, (folder / "a.json", folder / "b.json"), None)


def test_an_empty_folder_is_an_empty_workspace(tmp_path: Path) -> None:
    workspace = find([tmp_path])
    assert (workspace.of("boxes"), workspace.issues) == (Sides(None, (), None), ())


def test_two_ground_truths_are_refused_by_name(folder: Path) -> None:
    write_file(folder / "other.json", ONE, side="ground_truth")
    with pytest.raises(BadInput) as refused:
        find([folder])
    assert [issue.sentence for issue in refused.value.issues] == [
        "annotated.json: one session has one ground truth; found annotated.json, other.json. "
        "Name the one you mean with --gt."
    ]
    assert find([folder], ground_truth=folder / "other.json").of("boxes").ground_truth == folder / "other.json"


def test_every_missing_path_is_said(folder: Path) -> None:
    with pytest.raises(BadInput) as refused:
        find([folder, folder / "gone"], ground_truth=folder / "gt.json", pdfs=folder / "no_pdfs")
    assert [issue.file for issue in refused.value.issues] == ["gone", "gt.json", "no_pdfs"]
    assert refused.value.issues[0].sentence == (
        "gone: the file or folder must exist. Check the spelling, or give the path from the folder you are in."
    )


@pytest.mark.parametrize("content", [b"{}", b"[1, 2]", b"not json", b"", b"\xff\xfe\x00", b'{"info": {"type": "x"}}'])
def test_other_json_files_are_passed_over_and_said(folder: Path, content: bytes) -> None:
    (folder / "package.json").write_bytes(content)
    workspace = find([folder])
    assert workspace.of("boxes").predictions == (folder / "a.json", folder / "b.json")
    (issue,) = workspace.issues
    assert (issue.severity, issue.file, issue.fix.split(". ")[0]) == ("warning", "package.json", "Left out")
    assert [note.found for note in workspace.others] == ['1: "notes.txt"']
    assert from_json(workspace.to_json()) == workspace


def test_hidden_and_deep_folders_are_left_alone(folder: Path) -> None:
    for place in (folder / ".git", folder.joinpath(*"12345")):
        place.mkdir(parents=True)
        write_file(place / "truth.json", ONE, side="ground_truth")
    write_file(folder.joinpath(*"1234", "deep.json"), ONE)
    workspace = find([folder])
    assert workspace.of("boxes").ground_truth == folder / "annotated.json"
    assert workspace.of("boxes").predictions[-1] == folder.joinpath(*"1234", "deep.json")


def test_at_most_26_models_are_opened(tmp_path: Path) -> None:
    for index in range(30):
        write_file(tmp_path / f"{index:02}.json", ONE)
    assert len(find([tmp_path]).of("boxes").predictions) == 26


def test_paths_inside_a_file_are_never_opened(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "pdf").mkdir()
    (tmp_path / "pdf" / "a.pdf").write_bytes(b"%PDF-1.7")
    shutil.rmtree(folder / "pdf")
    assert find([folder / "a.json"]).of("boxes").pdfs is None


def test_files_of_every_format_of_boxes_are_opened(tmp_path: Path) -> None:
    coco = {"images": [{"id": 1, "width": 10, "height": 10, "file_name": "a.png"}], "categories": [], "annotations": []}
    (tmp_path / "instances.json").write_text(json.dumps(coco))
    result = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 0.5}
    (tmp_path / "model.json").write_text(json.dumps([result]))
    workspace = find([tmp_path])
    assert workspace.of("boxes") == Sides(tmp_path / "instances.json", (tmp_path / "model.json",), None)
    assert workspace.issues == ()


def test_ground_truths_of_two_formats_are_refused_by_name(folder: Path) -> None:
    coco = {"images": [{"id": 1, "width": 10, "height": 10, "file_name": "a.png"}], "categories": [], "annotations": []}
    (folder / "instances.json").write_text(json.dumps(coco))
    with pytest.raises(BadInput, match=r"one session has one ground truth; found annotated\.json, instances\.json"):
        find([folder])


# --- extracted fields and posters ----------------------------------------------------------------------------


def fields_file(path: Path, *, confidence: float | None = None) -> Path:
    """A document with one rich value."""
    path.parent.mkdir(parents=True, exist_ok=True)
    more = {} if confidence is None else {"_confidence": confidence}
    path.write_text(json.dumps({"total": {"_value": 3, "_bbox": [0, 0, 1, 1], **more}}))
    return path


def poster_file(path: Path) -> Path:
    """The text of a poster."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"posterContent": {"sections": []}}))
    return path


def test_a_folder_of_fields_is_one_side(tmp_path: Path) -> None:
    for name in ("b", "a"):
        fields_file(tmp_path / name / "one.json", confidence=0.5)
        fields_file(tmp_path / name / "two.json", confidence=0.5)
    fields_file(tmp_path / "ground truth" / "one.json")
    (tmp_path / "ground truth" / "plain.json").write_text('{"total": 3}')
    (tmp_path / "pdf").mkdir()
    (tmp_path / "pdf" / "one.pdf").write_bytes(b"%PDF-1.7")
    workspace = find([tmp_path])
    assert workspace.of("fields") == Sides(
        tmp_path / "ground truth", (tmp_path / "a", tmp_path / "b"), tmp_path.resolve() / "pdf"
    )
    boxes = workspace.of("boxes")
    assert (boxes.ground_truth, boxes.predictions, workspace.of("posters"), workspace.issues) == (None, (), Sides(), ())


def test_fields_without_confidence_are_the_ground_truth_when_no_name_says(tmp_path: Path) -> None:
    fields_file(tmp_path / "people" / "one.json")
    fields_file(tmp_path / "model" / "one.json", confidence=0.5)
    workspace = find([tmp_path])
    assert workspace.of("fields") == Sides(tmp_path / "people", (tmp_path / "model",), None)


def test_two_sides_of_fields_without_confidence_are_not_guessed(tmp_path: Path) -> None:
    fields_file(tmp_path / "people" / "one.json")
    fields_file(tmp_path / "model" / "one.json")
    workspace = find([tmp_path])
    assert workspace.of("fields") == Sides(None, (tmp_path / "model", tmp_path / "people"), None)
    assert [issue.sentence for issue in workspace.issues] == [
        "model: files of fields do not state which is the ground truth; its folder or file is called ground_truth; "
        "found model, people, all without confidence. "
        "Name the ground truth with --gt; until then all of them are predictions."
    ]
    named = find([tmp_path], ground_truth=tmp_path / "people")
    assert (named.of("fields"), named.issues) == (Sides(tmp_path / "people", (tmp_path / "model",), None), ())


def test_two_ground_truths_of_fields_are_refused_by_name(tmp_path: Path) -> None:
    fields_file(tmp_path / "2023" / "gt" / "one.json")
    fields_file(tmp_path / "2024" / "gt" / "one.json")
    with pytest.raises(BadInput, match="one session has one ground truth; found 2023/gt, 2024/gt"):
        find([tmp_path])


def test_a_file_of_json_lines_is_one_side(tmp_path: Path) -> None:
    line = json.dumps({"doc_id": "a", "fields": {"total": 3}})
    for name in ("ground_truth.jsonl", "model.ndjson"):
        (tmp_path / name).write_text(line)
    (tmp_path / "log.jsonl").write_text('{"time": 3}')
    workspace = find([tmp_path])
    assert workspace.of("fields") == Sides(tmp_path / "ground_truth.jsonl", (tmp_path / "model.ndjson",), None)
    assert [issue.file for issue in workspace.issues] == ["log.jsonl"]


def test_fields_lie_beside_boxes(folder: Path) -> None:
    fields_file(folder / "fields" / "ground_truth" / "x.json")
    fields_file(folder / "fields" / "model" / "x.json", confidence=1.0)
    workspace = find([folder])
    assert workspace.of("fields") == Sides(
        folder / "fields" / "ground_truth", (folder / "fields" / "model",), folder.resolve() / "pdf"
    )
    opened = workspace.of("boxes")
    assert (opened.ground_truth, len(opened.predictions)) == (folder / "annotated.json", 2)
    boxes = find([folder], ground_truth=folder / "fields" / "ground_truth", predictions=[folder / "fields" / "model"])
    assert boxes.of("fields") == workspace.of("fields")
    assert boxes.of("boxes").ground_truth == folder / "annotated.json"


def test_one_folder_can_be_both_sides_of_posters(tmp_path: Path) -> None:
    for number in (1, 2):
        poster_file(tmp_path / str(number) / "reference.json")
        poster_file(tmp_path / str(number) / "extracted.json")
    assert find([tmp_path]).of("posters") == Sides(tmp_path, (tmp_path,), None)
    one = tmp_path / "1"
    assert find([one]).of("posters") == Sides(one, (one,), None)


def test_folders_of_posters_are_told_by_their_names(tmp_path: Path) -> None:
    poster_file(tmp_path / "ground_truth" / "1.json")
    poster_file(tmp_path / "b" / "1_extracted.json")
    poster_file(tmp_path / "a" / "1.json")
    workspace = find([tmp_path])
    assert workspace.of("posters") == Sides(tmp_path / "ground_truth", (tmp_path / "a", tmp_path / "b"), None)
    assert workspace.of("fields") == Sides()


def test_a_workspace_survives_the_way_to_another_process(folder: Path) -> None:
    fields_file(folder / "fields" / "gt" / "x.json")
    poster_file(folder / "posters" / "model" / "1.json")
    workspace = find([folder], as_reference=True)
    assert from_json(workspace.to_json()) == workspace
    assert from_json('{"sides": {}, "as_reference": false}') == find()


def test_the_sample_data_is_a_workspace_of_its_own(tmp_path: Path) -> None:
    for place in ("fields/pdf", "fields/ground_truth", "fields/b", "fields/a", "fields/__pycache__"):
        (tmp_path / place).mkdir(parents=True)
    workspace = sample(tmp_path)
    root = tmp_path / "fields"
    assert workspace.of("fields") == Sides(root / "ground_truth", (root / "a", root / "b"), root / "pdf")
    assert workspace.of("posters") == Sides()
    assert workspace.of("boxes").ground_truth == tmp_path / "ground_truth.json"


def test_a_folder_without_annotations_does_not_start_an_empty_dashboard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for content, sentence in ((None, "nothing was found to open"), (b"{}", "package.json: the content must be")):
        if content is not None:
            (tmp_path / "package.json").write_bytes(content)
        with pytest.raises(SystemExit) as left:
            cli.main(["open", str(tmp_path), "--no-browser"])
        streams = capsys.readouterr()
        assert (left.value.code, streams.out) == (2, "")
        assert streams.err.startswith(f"error: {sentence}")


def started(monkeypatch: pytest.MonkeyPatch, *words: object) -> Workspace:
    """What the command would start the dashboard on."""
    seen: list[Workspace] = []

    def serve(files: Workspace, *_: object, **__: object) -> int:
        seen.append(files)
        return 0

    monkeypatch.setattr(dashboard, "_serve", serve)
    with pytest.raises(SystemExit) as left:
        cli.main(["open", *map(str, words)])
    assert left.value.code == 0
    return seen[0]


def test_open_without_a_path_opens_what_is_named_or_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = write_file(tmp_path / "gt.json", ONE, side="ground_truth")
    model = write_file(tmp_path / "pred.json", ONE)
    assert started(monkeypatch, "--gt", truth, "--pred", model).of("boxes") == Sides(truth, (model,))
    assert started(monkeypatch) == sample(Path(__file__).parents[2] / "sample_data")


def test_a_reference_needs_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["open", "--as-reference"])
    assert left.value.code == 2
    assert capsys.readouterr().err == "error: --as-reference needs the file that --gt names.\n"


# --- every file that is not read -----------------------------------------------------------------------------


def test_files_beside_those_of_a_folder_that_is_one_side_are_said(tmp_path: Path) -> None:
    for name in ("one", "two"):
        fields_file(tmp_path / "ground truth" / f"{name}.json")
    boxes = "<annotation><filename>a.png</filename><object><name>x</name><bndbox>"
    boxes += "<xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></object></annotation>"
    (tmp_path / "ground truth" / "boxes.xml").write_text(boxes)
    (tmp_path / "ground truth" / "notes.md").write_text("hello")
    workspace = find([tmp_path])
    assert workspace.of("fields").ground_truth == tmp_path / "ground truth"
    assert workspace.passed_over == ("notes.md",)
    assert from_json(workspace.to_json()) == workspace


def test_models_that_are_too_many_are_said(tmp_path: Path) -> None:
    for index in range(27):
        write_file(tmp_path / f"{index:02}.json", ONE)
    assert [issue.sentence for issue in find([tmp_path]).issues] == [
        "26.json: at most 26 predictions are opened at a time. Left out. Name those that you want with --pred."
    ]
