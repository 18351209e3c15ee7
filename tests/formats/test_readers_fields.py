"""Reading extracted fields: forms of input, and the exact sentence for everything that is wrong with one."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data.fields import Field, FieldDocuments, Rule, leaves
from evaluator.data.issues import BadInput, has_errors
from evaluator.formats.base import Reading
from evaluator.formats.fields import FORMAT, check_pair, read_schema
from tests.reading import refusal, refusal_issues
from tests.texts import character

BOX = [0, 0, 10, 10]


def document(tree: Any, name: str = "d.json") -> FieldDocuments:
    """A document in a file of its own; text is taken as it is."""
    return FORMAT.read(tree.encode() if isinstance(tree, str) else json.dumps(tree).encode(), name)


def sentences(tree: Any, name: str = "d.json") -> list[str]:
    """What is said about a document, readable or not."""
    try:
        return [f"{issue.severity}: {issue.sentence}" for issue in document(tree, name).issues]
    except BadInput as bad:
        return [f"{issue.severity}: {issue.sentence}" for issue in bad.issues]


def fields_of(documents: FieldDocuments, name: str = "d") -> dict[str, Field]:
    return dict(leaves(documents.documents[name]))


def test_a_rich_value_becomes_a_field() -> None:
    tree = {"a": {"_value": "x", "_bbox": [[10, 20], [5, 2]], "_confidence": 0.5, "_page": 3, "_source_text": "X"}}
    field = fields_of(document(tree))["a"]
    assert (field.value, field.has_box, field.box, field.page, field.confidence) == ("x", True, (5, 2, 10, 20), 3, 0.5)
    assert field.extras == {"_bbox": [[10, 20], [5, 2]], "_page": 3, "_source_text": "X"}
    assert not field.confidence_refused


def test_a_plain_value_is_a_field_without_a_box() -> None:
    field = fields_of(document({"a": 1}))["a"]
    assert (field.value, field.has_box, field.box, field.page, field.extras) == (1, False, None, 0, {})
    assert math.isnan(field.confidence)


def test_the_outermost_rich_value_wins() -> None:
    inner = {"b": {"_value": 2, "_bbox": BOX}}
    fields = fields_of(document({"a": {"_value": inner, "_bbox": [1, 1, 2, 2]}}))
    assert list(fields) == ["a"]
    assert (fields["a"].value, fields["a"].box) == (inner, (1, 1, 2, 2))


def test_null_and_a_box_are_legal_and_a_null_box_is_none() -> None:
    fields = fields_of(document({"a": {"_value": None, "_bbox": BOX}, "b": {"_value": 1, "_bbox": None}}))
    assert (fields["a"].value, fields["a"].box) == (None, (0, 0, 10, 10))
    assert (fields["b"].has_box, fields["b"].box) == (False, None)


def test_paths_go_through_objects_and_lists() -> None:
    tree = {"a": {"b": [{"c": 1}, {"c": [{"_value": 2}, 3]}]}, "empty": {}, "none": []}
    assert list(fields_of(document(tree))) == ["a.b[0].c", "a.b[1].c[0]", "a.b[1].c[1]"]


def test_a_folder_has_a_document_per_file_and_files_of_lines(tmp_path: Path) -> None:
    lines = '{"doc_id": "x", "fields": {"a": 3}}\n\n{"doc_id": "y", "fields": {}}\n'
    (tmp_path / "sub").mkdir()
    for name, text in (
        ("b.json", '{"a": 1}'), ("a.JSON", '{"a": 2}'), ("c.jsonl", lines), ("notes.txt", "no"), (".hidden.json", "no"),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
    fields = FORMAT.read_path(tmp_path, Reading(side="prediction"))
    assert list(fields.documents) == ["a", "b", "x", "y"]
    assert (fields.name, fields.side, fields.single, len(fields)) == (tmp_path.name, "prediction", False, 4)
    (tmp_path / "b.json").rename(tmp_path / "d.json")
    assert len({fields.sha256, FORMAT.read_path(tmp_path).sha256}) == 2, "the digest knows the names"


@pytest.mark.parametrize("name", ["x.jsonl", "x.ndjson", "x.json", "x"])
def test_lines_are_known_by_their_content_too(name: str) -> None:
    built = document('\ufeff{"doc_id": "p", "fields": {"a": 1}}\r\n{"doc_id": "q", "fields": {"a": 2}}\r\n', name)
    assert (list(built.documents), built.single) == (["p", "q"], False)


def test_the_name_of_one_document() -> None:
    several_lines = document(json.dumps({"doc_id": "p", "fields": {"a": 1}}, indent=2), "x.json")
    assert list(several_lines.documents) == ["p"]
    own = document({"fields": {"a": 1}, "doc_id": "p", "total": 1}, "invoice.7.json")
    assert (list(own.documents), own.single) == (["invoice.7"], True)


BOX_RULE = "_bbox must be [[x1, y1], [x2, y2]] or [x1, y1, x2, y2] with finite numbers (fields, rich value)"
NO_BOX = "It counts as a box with IoU 0; correct it."
CONFIDENCE = "$.a._confidence: _confidence must be a number in [0, 1] (fields, rich value); found"
UNRANKED = "It ranks as if it were missing and is left out of the confidence metrics; correct it."
SPELLED = "Text and booleans are read as the numbers that they spell; write numbers."
FINITE = "numbers must be finite and fit float64 (RFC 8259, section 6); found"


@pytest.mark.parametrize(
    ("tree", "sentence"),
    [
        ({"a": {"_value": 1, "_bbox": [0, 0, 10]}}, f"$.a._bbox: {BOX_RULE}; found [0, 0, 10]. {NO_BOX}"),
        ('{"a": [{"_value": 1, "_bbox": [0, 0, NaN, 1]}]}',
         f"$.a[0]._bbox: {BOX_RULE}; found [0, 0, NaN, 1]. {NO_BOX}"),
        ({"a": {"_value": 1, "_bbox": "0,0,1,1"}}, f'$.a._bbox: {BOX_RULE}; found "0,0,1,1". {NO_BOX}'),
        ({"a": {"_value": 1, "_bbox": [["0", 0], [1, 1]]}}, "$.a._bbox: coordinates should be numbers (fields, rich "
         f'value); found [["0",0], [1,1]]. {SPELLED}'),
        ({"a": {"_value": 1, "_bbox": [True, 0, 1, 1]}}, "$.a._bbox: coordinates should be numbers (fields, rich "
         f"value); found [true, 0, 1, 1]. {SPELLED}"),
        ({"a": {"_value": 1, "_page": -1}}, "$.a._page: _page must be a whole number from 0 to 2,147,483,647 "
         "(fields, rich value); found -1. The box counts with IoU 0; count pages from 0."),
        ({"a": {"_value": 1, "_confidence": 1.7}}, f"{CONFIDENCE} 1.7. It ranks as 1.7 and is left out of the "
         "confidence metrics; correct it."),
        ('{"a": {"_value": 1, "_confidence": NaN}}', f"{CONFIDENCE} NaN. {UNRANKED}"),
        ({"a": {"_value": 1, "_confidence": True}}, f"{CONFIDENCE} true. {UNRANKED}"),
        ({"a": {"_value": 1, "note": "x"}}, "$.a.note: keys beside _value should begin with an underscore "
         '(fields, rich value); found "note". It is kept and not evaluated; rename it, or move it.'),
        ({"a": {"_value": 1, "_BBox": BOX}}, "$.a._BBox: _bbox should be spelled so (fields, rich value); found "
         '"_BBox". It is kept and not evaluated; correct it.'),
        ({"a": {"_bbox": BOX, "_page": 0}}, "$.a: an object with _bbox and _page should have _value (fields, "
         'rich value); found ["_bbox","_page"]. Without it the object is read as nested fields; add _value (null is '
         "allowed)."),
        ({"a": {"value": 1, "confidence": 0.5}}, "$.a: value and confidence should be spelled _value and "
         '_confidence (fields, rich value); found ["value","confidence"]. The object is read as nested fields; add the '
         "underscores if it is one value."),
    ],
)  # fmt: skip
def test_oddities_are_warned_of(tree: Any, sentence: str) -> None:
    assert sentences(tree) == [f"warning: d.json: {sentence}"]


@pytest.mark.parametrize(
    ("tree", "sentence"),
    [
        ("[1]", "$: the fields of a document must be an object (fields); found [1]. Write an object."),
        ('{"a": 1, "a": 2}', "$.a: a key must not be repeated in one object (RFC 8259, section 4); found "
         '"a" 2 times. Keep one of them.'),
        ('{"a": NaN}', f"$.a: {FINITE} NaN. Correct it."),
        ('{"a": {"_value": [1e400]}}', f"$.a._value[0]: {FINITE} 1e400. Correct it."),
        ('{"a": {"_value": 1, "_note": {"b": NaN}}}', f"$.a._note.b: {FINITE} NaN. Correct it."),
        (r'{"a": "\ud800"}', r"$.a: text must not contain half of a surrogate pair (RFC 8259, section 8.2); "
         r"found '\ud800'. Export the text again; a character was cut in two."),
        (r'{"\udc00": 1}', r"$['\udc00']: text must not contain half of a surrogate pair (RFC 8259, section 8.2); "
         r"found '\udc00'. Export the text again; a character was cut in two."),
        ({"a": "x" * 100_001}, "$.a: a value may have 100,000 characters; it is compared character by "
         "character (fields); found 100,001 characters. Shorten it, or leave the field out."),
        ({"a": [1] * 2_001}, "$.a: a list may have 2,000 items; each is compared with each (fields); found "
         "2,001 items. Split the list."),
    ],
)  # fmt: skip
def test_what_breaks_a_file_is_an_error(tree: Any, sentence: str) -> None:
    assert sentences(tree) == [f"error: d.json: {sentence}"]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (['{"doc_id": "a", "fields": {}}', '{"doc_id": "a", "fields": {}}'], "d.jsonl: line 2, $.doc_id: a document "
         'may be on one line only (fields, JSON lines); found "a", also on line 1. Keep one.'),
        (['{"doc_id": 7, "fields": {}}'], "d.jsonl: line 1, $.doc_id: doc_id must be a text of at least one character "
         "(fields, JSON lines); found 7. Name the document."),
        (['{"doc_id": "a", "data": {}}'], 'd.jsonl: line 1, $: each line must be an object with "doc_id" and "fields", '
         'and nothing else (fields, JSON lines); found ["doc_id","data"]. Put the fields of the document under '
         "fields."),
        (['{"doc_id": "a", "fields": [1]}'], "d.jsonl: line 1, $.fields: the fields of a document must be an object "
         "(fields); found [1]. Write an object."),
        (['{"doc_id": "a", "fields": {}}', '{"doc_id": "b", "fields": {"x": 1,}}'], "d.jsonl: line 2, column 35: the "
         'text must be well-formed JSON (RFC 8259); found "}}". Correct the text at this place, or export it again.'),
        (['{"doc_id": "a", "fields": {"x": NaN}}'], f"d.jsonl: line 1, $.fields.x: {FINITE} NaN. Correct it."),
    ],
)  # fmt: skip
def test_lines_are_named(lines: list[str], sentence: str) -> None:
    assert sentences("\n".join(lines), "d.jsonl") == [f"error: {sentence}"]


def test_all_issues_of_all_files_come_together(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"x": NaN, "y": {"_value": 1, "_bbox": [1]}}')
    (tmp_path / "b.json").write_text('{"x": Infinity}')
    (tmp_path / "c.json").write_text('{"x": {"_value": 1, "_confidence": 2}}')
    issues = refusal_issues(FORMAT.read_path, tmp_path)
    assert [(issue.severity, issue.file, issue.place) for issue in issues] == [
        ("error", "a.json", "$.x"), ("error", "b.json", "$.x"), ("warning", "a.json", "$.y._bbox"),
        ("warning", "c.json", "$.x._confidence"),
    ]  # fmt: skip


def test_a_document_in_two_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "b.jsonl").write_text('{"doc_id": "a", "fields": {}}')
    assert refusal(FORMAT.read_path, tmp_path) == [
        'b.jsonl: a document may be in one file of a folder only (fields); found "a", also in a.json. Keep one of them.'
    ]


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    assert refusal(FORMAT.read_path, tmp_path) == [
        f"{tmp_path.name}: a folder must hold files that end in .json, .jsonl, .ndjson (fields); found none. "
        "Name the folder of the documents."
    ]


def test_one_rule_is_spelled_out_so_often() -> None:
    content = json.dumps({f"f{i}": {"_value": 1, "_bbox": 0} for i in range(9)}).encode()
    assert len(FORMAT.read(content, "d.json", Reading(max_per_rule=3)).issues) == 4
    assert len(FORMAT.read(content, "d.json", Reading(max_per_rule=None)).issues) == 9


def lines(*rows: tuple[str, Any], name: str) -> FieldDocuments:
    return FORMAT.read("\n".join(json.dumps({"doc_id": i, "fields": f}) for i, f in rows).encode(), name)


def test_a_pair_without_oddities_has_no_issues() -> None:
    side = lines(("a", {"x": {"_value": 1, "_bbox": BOX}}), ("b", {}), name="s.jsonl")
    assert check_pair(side, side) == ()


def test_what_is_odd_about_a_pair() -> None:
    truth = lines(("a", {"x": {"_value": 1, "_bbox": [0.1, 0.1, 0.5, 0.5]}}), ("b", {"x": 1}), name="gt.jsonl")
    predicted = lines(("a", {"y": {"_value": 1, "_bbox": [100, 100, 500, 500]}}), ("c", {}), name="pred.jsonl")
    assert [issue.sentence for issue in check_pair(truth, predicted)] == [
        'pred.jsonl: boxes of documents that only gt.jsonl has count as missed (fields); found 1: "b". '
        "Give both sides the same documents under the same ids.",
        'pred.jsonl: boxes of documents that only pred.jsonl has count as spurious (fields); found 1: "c". '
        "Give both sides the same documents under the same ids.",
        'pred.jsonl: fields should have the same paths as in gt.jsonl (fields); found 1: "y", where gt.jsonl has '
        '1: "x". Nothing can be paired; rename the fields of one side.',
        "pred.jsonl: boxes should be in the unit of gt.jsonl (fields); found coordinates up to 500, where gt.jsonl "
        "has up to 0.5. One side looks like shares of the page, the other like pixels; convert one.",
    ]
    assert {issue.severity for issue in check_pair(truth, predicted)} == {"warning"}


def test_a_single_document_is_a_quick_check() -> None:
    truth, predicted = document({"a": 1}, "gt.json"), document({"a": 1}, "model.json")
    assert [issue.sentence for issue in check_pair(truth, predicted)] == [
        "model.json: mAP over one document is a quick check: a handful of fields means little "
        "(fields, single document); found 1 document. Evaluate the whole test set for numbers to rely on."
    ]


def test_many_names_are_shortened() -> None:
    truth = lines(*[(f"d{i}", {}) for i in range(12)], name="gt.jsonl")
    predicted = lines(("other", {}), name="pred.jsonl")
    assert check_pair(truth, predicted)[0].found == '12: "d0", "d1", "d2" and 9 more'


def test_a_schema_is_read(tmp_path: Path) -> None:
    path = tmp_path / "invoice.json"
    rules = {
        "total": {"comparator": "number", "threshold": 0.95},
        "LineItems": {"match_threshold": 0.6},
        "LineItems[].Desc": {"comparator": "text"},
        "v.day": {"comparator": "date"},
    }
    path.write_text(json.dumps(rules))
    schema = read_schema(path)
    children = schema.root.children
    assert (schema.name, len(schema.sha256), list(children)) == ("invoice.json", 64, ["total", "LineItems", "v"])
    assert children["total"].rule == Rule("number", 0.95)
    assert (children["LineItems"].is_list, children["LineItems"].match_threshold) == (True, 0.6)
    assert children["LineItems"].item.children["Desc"].rule == Rule("text", 0.8)
    assert children["v"].children["day"].rule == Rule("date", 1.0)


def test_everything_wrong_with_a_schema_is_said(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(
        '{"": {"comparator": "text"}, "a": {"comparator": "fuzzy"}, "b": {"comparator": "text", "threshold": 2},'
        ' "c": {"threshold": 0.5}, "d": 1, "e": {"comparator": "text", "weight": 2}, "f": {"match_threshold": true}}'
    )
    assert refusal(read_schema, path) == [
        's.json: $[""]: a rule must name a field (fields, schema); found "". Write the path of the field.',
        's.json: $.a.comparator: comparator must be one of text, exact, number, date (fields, schema); found "fuzzy". '
        "Choose one of them.",
        "s.json: $.b.threshold: a threshold must be a number in [0, 1] (fields, schema); found 2. Correct it.",
        's.json: $.c: a rule must have comparator or match_threshold (fields, schema); found ["threshold"]. '
        "Name a comparator.",
        's.json: $.d: a rule must be an object (fields, schema); found 1. Write {"comparator": "text", '
        '"threshold": 0.8}.',
        "s.json: $.e.weight: a rule may have comparator, threshold and match_threshold (fields, schema); "
        'found "weight". Remove or rename it.',
        "s.json: $.f.match_threshold: a threshold must be a number in [0, 1] (fields, schema); found true. Correct it.",
    ]


def test_a_schema_that_is_no_object_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text("[]")
    assert refusal(read_schema, path) == [
        "s.json: $: a schema must be an object of rules by field path (fields, schema); found []. "
        'Write {"total": {"comparator": "number", "threshold": 1}}.'
    ]


keys = st.sampled_from(["_value", "_bbox", "_confidence", "_page", "value", "confidence", "a", "b", "", "[0]", "x.y"])
trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(character, max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)


@given(tree=trees)
def test_any_json_is_read_or_refused_with_issues(tree: Any) -> None:
    for content, name in (
        (json.dumps(tree), "d.json"),
        (json.dumps({"doc_id": "d", "fields": tree}), "d.jsonl"),
        (json.dumps(tree)[:-1], "d.json"),
    ):
        try:
            documents = FORMAT.read(content.encode(), name)
        except BadInput:
            continue
        assert not has_errors(documents.issues)
        for _, field in leaves(documents.documents["d"]):
            assert field.box is None or (field.has_box and all(map(math.isfinite, field.box)))
            assert math.isnan(field.confidence) or math.isfinite(field.confidence)


@pytest.mark.parametrize(
    ("position", "message"),
    [(8, "Expecting property name enclosed in double quotes"), (6, "Illegal trailing comma before end of object")],
    ids=["to Python 3.12", "from Python 3.13"],
)
def test_a_trailing_comma_is_worded_alike_under_every_python(
    position: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '{"x":1, }'

    def loads(content: str, **_: object) -> object:
        raise json.JSONDecodeError(message, content, position)

    monkeypatch.setattr(json, "loads", loads)
    assert sentences(text, "d.json") == [
        "error: d.json: line 1, column 9: the text must be well-formed JSON (RFC 8259); "
        'found "}". Correct the text at this place, or export it again.'
    ]
