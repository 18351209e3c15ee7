"""What is open: roles from content, PDFs from where they are, and nothing opened because a file names it."""

import json
import shutil
from pathlib import Path

import pytest

from evaluator.cli import dashboard
from evaluator.data.issues import BadInput
from evaluator.project import MergedFiles
from evaluator.workspace import project_file
from evaluator.workspace.roles import Sides, Workspace, find, from_json, sample
from tests.building import box, write_file
from tests.reading import refusal
from tests.terminal import run_command

ONE = [box(0.1, 0.1, 0.9, 0.9)]
COCO = {"images": [{"id": 1, "width": 10, "height": 10, "file_name": "a.png"}], "categories": [], "annotations": []}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
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
    truth, a, b, pdfs = folder / "annotated.json", folder / "a.json", folder / "b.json", folder.resolve() / "pdf"
    workspace = find([folder], ground_truth=[b], predictions=[a], as_reference=True)
    assert (workspace.as_reference, workspace.of("boxes")) == (True, Sides(b, (a,), pdfs))
    assert find([folder], pdfs=folder / "pdf" / "2024").of("boxes").pdfs == folder / "pdf" / "2024"
    assert find([b, truth, pdfs / "2024" / "y.pdf"]).of("boxes") == Sides(truth, (b,), pdfs / "2024")
    # The output of a model may be a ground truth, as in the terminal; a file that says it is none may not.
    output = folder / "output.json"
    output.write_text('{"schema_name": "DoclingDocument", "texts": [], "pages": {}}')
    assert find(ground_truth=[output], predictions=[a]).of("boxes") == Sides(output, (a,), None)
    with pytest.raises(BadInput, match='a ground truth file must have type "ground_truth"'):
        find(ground_truth=[b], predictions=[a])
    output.unlink()
    # A file that is named and lies in the folder is opened once.
    assert find([folder], predictions=(a, b), ground_truth=[truth]).of("boxes").predictions == (a, b)


def test_any_side_may_be_missing(folder: Path, tmp_path: Path) -> None:
    (folder / "annotated.json").unlink()
    shutil.rmtree(folder / "pdf")
    assert find([folder]).of("boxes") == Sides(None, (folder / "a.json", folder / "b.json"), None)
    (tmp_path / "empty").mkdir()
    workspace = find([tmp_path / "empty"])
    assert (workspace.of("boxes"), workspace.issues) == (Sides(None, (), None), ())


def test_several_ground_truths_are_for_the_reader_to_choose_or_merge(folder: Path) -> None:
    a, other = folder / "annotated.json", write_file(folder / "other.json", ONE, side="ground_truth")
    sides = find([folder]).of("boxes")
    assert (sides.ground_truth, sides.truths, len(sides.predictions)) == (None, (a, other), 2)
    assert find([folder], ground_truth=[other]).of("boxes").ground_truth == other
    merged = find([folder], ground_truth=[a, other])
    assert merged.of("boxes").ground_truth == MergedFiles((a, other))
    for workspace in (merged, find([folder])):
        assert from_json(workspace.to_json()) == workspace
    for year in ("2023", "2024"):
        fields_file(folder / "fields" / year / "gt" / "one.json")
    assert [path.parent.name for path in find([folder]).of("fields").truths] == ["2023", "2024"]


def test_every_missing_path_is_said(folder: Path) -> None:
    sentences = refusal(find, [folder, folder / "gone"], ground_truth=[folder / "gt.json"], pdfs=folder / "no_pdfs")
    said = "the file or folder must exist. Check the spelling, or give the path from the folder you are in."
    assert sentences == [f"{name}: {said}" for name in ("gone", "gt.json", "no_pdfs")]


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
    for index in range(27):
        write_file(tmp_path / f"{index:02}.json", ONE)
    workspace = find([tmp_path])
    assert len(workspace.of("boxes").predictions) == 26
    assert [issue.sentence for issue in workspace.issues] == [
        "26.json: at most 26 predictions are opened at a time. Left out. Name those that you want with --pred."
    ]


def test_paths_inside_a_file_are_never_opened(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "pdf").mkdir()
    (tmp_path / "pdf" / "a.pdf").write_bytes(b"%PDF-1.7")
    shutil.rmtree(folder / "pdf")
    assert find([folder / "a.json"]).of("boxes").pdfs is None


def test_files_of_every_format_of_boxes_are_opened(tmp_path: Path) -> None:
    (tmp_path / "instances.json").write_text(json.dumps(COCO))
    result = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 0.5}
    (tmp_path / "model.json").write_text(json.dumps([result]))
    workspace = find([tmp_path])
    assert workspace.of("boxes") == Sides(tmp_path / "instances.json", (tmp_path / "model.json",), None)
    assert workspace.issues == ()


def fields_file(path: Path, *, confidence: float | None = None) -> Path:
    more = {} if confidence is None else {"_confidence": confidence}
    return json_file(path, {"total": {"_value": 3, "_bbox": [0, 0, 1, 1], **more}})


def poster_file(path: Path) -> Path:
    return json_file(path, {"posterContent": {"sections": []}})


def json_file(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
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
    people, model = tmp_path / "people", tmp_path / "model"
    fields_file(people / "one.json")
    fields_file(model / "one.json", confidence=0.5)
    assert find([tmp_path]).of("fields") == Sides(people, (model,), None)
    # Where both sides have none, nothing is guessed.
    fields_file(model / "one.json")
    workspace = find([tmp_path])
    assert workspace.of("fields") == Sides(None, (model, people), None)
    assert [issue.sentence for issue in workspace.issues] == [
        "model: files of fields do not state which is the ground truth; its folder or file is called ground_truth; "
        "found model, people, all without confidence. "
        "Name the ground truth with --gt; until then all of them are predictions."
    ]
    named = find([tmp_path], ground_truth=[people])
    assert (named.of("fields"), named.issues) == (Sides(people, (model,), None), ())


def test_a_file_of_json_lines_is_one_side(tmp_path: Path) -> None:
    line = json.dumps({"doc_id": "a", "fields": {"total": 3}})
    for name in ("ground_truth.jsonl", "model.ndjson"):
        (tmp_path / name).write_text(line)
    (tmp_path / "log.jsonl").write_text('{"time": 3}')
    workspace = find([tmp_path])
    assert workspace.of("fields") == Sides(tmp_path / "ground_truth.jsonl", (tmp_path / "model.ndjson",), None)
    assert workspace.passed_over == ("log.jsonl",)


def test_fields_lie_beside_boxes(folder: Path) -> None:
    fields_file(folder / "fields" / "ground_truth" / "x.json")
    fields_file(folder / "fields" / "model" / "x.json", confidence=1.0)
    workspace = find([folder])
    assert workspace.of("fields") == Sides(
        folder / "fields" / "ground_truth", (folder / "fields" / "model",), folder.resolve() / "pdf"
    )
    opened = workspace.of("boxes")
    assert (opened.ground_truth, len(opened.predictions)) == (folder / "annotated.json", 2)
    boxes = find([folder], ground_truth=[folder / "fields" / "ground_truth"], predictions=[folder / "fields" / "model"])
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
        code, out, err = run_command(capsys, "open", tmp_path, "--no-browser")
        assert (code, out, err.startswith(f"error: {sentence}")) == (2, "", True)
    assert run_command(capsys, "open", "--as-reference") == (
        2, "", "error: --as-reference needs the file that --gt names.\n",
    )  # fmt: skip


def test_open_without_a_path_opens_what_is_named_or_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Workspace | None] = []
    monkeypatch.setattr(dashboard, "_serve", lambda files, *_, **__: seen.append(files) or 0)
    truth = write_file(tmp_path / "gt.json", ONE, side="ground_truth")
    model = write_file(tmp_path / "pred.json", ONE)
    assert dashboard.open_paths([], gt=[truth], pred=[model]) == dashboard.open_paths([]) == 0
    assert seen[0].of("boxes") == Sides(truth, (model,))
    # Nothing is named: the server opens the sample, and its first picture has the room of its bar.
    assert dashboard.dashboard() == 0
    assert seen[1:] == [None, None]


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


def test_ground_truths_of_different_documents_are_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truths = [
        write_file(tmp_path / f"{name}.json", [box(0.1, 0.1, 0.9, 0.9, document=f"{name}.pdf")], side="ground_truth")
        for name in "ab"
    ]
    pred = write_file(tmp_path / "pred.json", [box(0.1, 0.1, 0.9, 0.9, document=f"{name}.pdf") for name in "ab"])
    given = [word for truth in truths for word in ("--gt", truth)]
    code, out, _ = run_command(capsys, "evaluate", "snapshot", *given, "--pred", pred, "--json")
    assert (code, json.loads(out)["thresholds"]["0.5"]["micro"]["tp"]) == (0, 2)
    code, _, said = run_command(capsys, "evaluate", "snapshot", "--gt", truths[0], "--gt", truths[0], "--pred", pred)
    assert code == 2
    assert said.splitlines()[0] == (
        "error: 2 files, a.json first: a.json and a.json: a document may be listed by one of the files read as one; "
        'found "a.pdf". Put all pages of a document into one file, or give one of the files alone with --gt or --pred.'
    )
    fields_file(tmp_path / "gt" / "one.json")
    given = ["--gt", tmp_path / "gt", "--gt", tmp_path / "gt", "--pred", tmp_path / "gt"]
    assert run_command(capsys, "evaluate", "fields", *given)[2].splitlines()[0] == (
        "error: gt: several files are merged for boxes only; found files of fields. Give one file or folder with --gt."
    )
    toml = tmp_path / "layoutscope.toml"
    sides = Sides(MergedFiles(tuple(truths)), (pred,))
    toml.write_text(project_file.content({"boxes": sides}, {}))
    assert project_file.read(toml)[0].of("boxes") == sides
