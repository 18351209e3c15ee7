"""Changed files: every reader gives columns or issues, and nothing else."""

import random
import warnings

import pytest

from evaluator import formats
from evaluator.data.issues import BadInput
from tests import attacks, attacks_files
from tests.attacks import Reached, attempts, changed, good_files, read
from tests.attacks_values import losses
from tests.reading import refusal_issues


@pytest.mark.parametrize("reader", sorted(good_files()))
def test_changed_files_give_columns_or_issues(reader: str) -> None:
    made = list(attempts(reader, 10, seed=1))
    assert len(made) == 10
    assert [(attempt.uncaught, attempt.content) for attempt in made if attempt.uncaught] == []


def test_a_file_that_reaches_a_new_line_is_changed_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    files = good_files()
    before = len(files["voc"])
    monkeypatch.setattr(attacks, "good_files", lambda: files)
    list(attempts("voc", 50, seed=1))
    kept = files["voc"][before:]
    reached = Reached()
    for name, content in (*files["voc"][:before], kept[0]):
        with reached:
            attacks._tried("voc", name, content)
    assert reached.new
    with reached:
        attacks._tried("voc", *kept[0])
    assert not reached.new


@pytest.mark.parametrize("reader", sorted(formats.FORMATS.keys() & good_files().keys()))
def test_no_box_leaves_without_an_issue(reader: str) -> None:
    """Every second change of one value; `bench_attack` makes all."""
    made = dict(losses(reader, step=2))
    assert len(made) >= 7
    assert [change for change, silent in made.items() if silent] == []


@pytest.mark.parametrize("reader", sorted(good_files()))
def test_changed_files_pass_the_parser(reader: str) -> None:
    """A file that the parser refuses says nothing of the rules behind it."""
    chance, files, passed = random.Random(2), good_files()[reader], 0
    unparsed = ("well-formed", "UTF-8", "NUL", "must be TOML", "must be JSON")
    for _ in range(15):
        name, content = chance.choice(files)
        try:
            read(reader, name, changed(content, chance))
        except BadInput as problem:
            passed += not any(word in issue.rule for issue in problem.issues for word in unparsed)
        else:
            passed += 1
    assert passed >= 5


# What no chance finds: lists in lists, numbers that no float64 is, and work that grows with the square of a text.
BOMBS = {
    "lists in lists": b"[" * 100_000,
    "objects in objects": b'{"a":' * 100_000,
    "lists in a value": b'{"a": ' + b"[" * 100_000,
    "a number of 5,000 digits": b'{"a": ' + b"9" * 5_000 + b"}",
    "a limit of 400 digits": b'{"a": [{"attribute": "area", "op": "<", "value": ' + b"9" * 400 + b"}]}",
    "lists in lists of TOML": b"a = " + b"[" * 100_000,
    "a number of TOML": b"a = " + b"9" * 5_000,
    "a key of many parts": b"[" + b"a." * 20_000 + b"a]\n" + b"".join(b"a%d = 1\n" % at for at in range(20_000)),
    "a record in lists": b'<script type="application/json" id="pack-record">{"x":' + b"[" * 100_000 + b"</script>",
    "blanks": b"f1" + b" " * 100_000 + b"x",
    "colons": b"a:" * 50_000,
    "digits": b"f1 < " + b"9" * 100_000,
}


@pytest.mark.parametrize("reader", sorted(attacks_files.READERS))
def test_what_is_no_annotation_is_refused_in_words_whatever_is_in_it(reader: str) -> None:
    name = attacks_files.READERS[reader].good()[0][0]
    uncaught = {bomb: attacks._tried(reader, name, content)[0] for bomb, content in BOMBS.items()}
    assert {bomb: said for bomb, said in uncaught.items() if said} == {}


@pytest.mark.parametrize("reader", sorted(attacks_files.READERS))
def test_what_is_no_annotation_is_read(reader: str) -> None:
    for name, content in attacks_files.READERS[reader].good():
        if reader != "workspace":  # its uploads are not there
            read(reader, name, content)


def test_an_image_without_an_id_in_a_file_whose_ids_are_texts() -> None:
    content = b'{"images": [{"width": 9}, {"id": "a", "file_name": "a.png"}], "annotations": [], "categories": []}'
    issues = refusal_issues(formats.read_bytes, content, "a.json", format="coco")
    assert {issue.rule for issue in issues} >= {"id is required here (COCO format)"}


def test_an_id_that_is_written_with_a_point_is_the_number_beside_ids_that_are_texts() -> None:
    images = b'[{"id": "a", "file_name": "a.png", "width": 9, "height": 9}, {"id": 5.0, "width": 9, "height": 9}]'
    item = b'{"id": 1, "image_id": "5", "category_id": "t", "bbox": [1, 1, 2, 2], "area": 4, "iscrowd": 0}'
    content = b'{"images": %s, "annotations": [%s], "categories": [{"id": %s, "name": "T"}]}'
    source = formats.read_bytes(content % (images, item, b'"t"'), "a.json", format="coco")
    assert [document.name for document in source.documents] == ["a", "5"]
    # 0.0 was taken for the first of the texts.
    assert [
        issue.found
        for issue in refusal_issues(formats.read_bytes, content % (images, item, b"0.0"), "a.json", format="coco")
        if issue.severity == "error"
    ] == ['"t"']


@pytest.mark.parametrize("odd", ['{"type": [[]]}', '{"type": {"a": 1}, "id": "r"}'])
def test_a_result_of_label_studio_whose_type_is_no_text(odd: str) -> None:
    content = f'[{{"id": 1, "data": {{"image": "a.png"}}, "annotations": [{{"result": [{odd}]}}]}}]'.encode()
    issues = refusal_issues(formats.read_bytes, content, "a.json", format="label-studio")
    assert [issue.rule for issue in issues] == ["a result must have a type (Label Studio)"]


def test_a_turned_rectangle_that_is_too_large_for_a_number_is_an_issue_without_a_warning_of_numpy() -> None:
    shape = '{"x": 1, "y": 1, "width": 1e308, "height": 1e308, "rotation": 45, "rectanglelabels": ["a"]}'
    region = f'{{"type": "rectanglelabels", "original_width": 900, "original_height": 900, "value": {shape}}}'
    content = f'[{{"id": 1, "data": {{"image": "a.png"}}, "annotations": [{{"result": [{region}]}}]}}]'
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(BadInput) as refused:
            formats.read_bytes(content.encode(), "a.json", format="label-studio")
    assert [issue.place for issue in refused.value.issues] == ["$[0].annotations[0].result[0]"]


def test_a_page_of_nearly_no_size_makes_no_infinite_boxes() -> None:
    ((name, content),) = good_files()["docling"]
    tiny = content.replace(b'"height": 100}', b'"height": 1e-320}').replace(b'"height": 200}', b'"height": 1e-320}')
    assert tiny != content
    (issue,) = (issue for issue in refusal_issues(formats.read_bytes, tiny, name) if issue.severity == "error")
    assert issue.rule.startswith("the size of a page must be in the unit of its boxes")
