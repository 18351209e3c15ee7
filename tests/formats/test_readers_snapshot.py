"""The reader of schema 1.3: oracle rows, exact sentences, hostile files, and properties over generated files."""

import gc
import gzip
import hashlib
import json
import resource
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator import formats, project
from evaluator.data.dataset import Annotations
from evaluator.data.issues import BadInput, Issue, has_errors
from evaluator.formats import snapshot
from evaluator.formats.base import Reading
from evaluator.formats.snapshot import reader as snapshot_reader
from evaluator.formats.snapshot import shape as snapshot_shape
from tests.broken import snapshot as broken
from tests.building import Box, snapshot_file
from tests.reading import HOSTILE, head, needs_shared, plain, real, refusal, refusal_issues, walked
from tests.texts import character

HERE = Path(__file__).parents[1]
INVALID = HERE / "oracles" / "snapshot" / "invalid"
MANIFEST = json.loads((INVALID / "manifest.json").read_text())
SIDES = {"gt": "ground_truth", "pred": "prediction"}


VALID = {side: text.encode() for side, text in broken.VALID.items()}


def outcome(content: bytes, **options) -> tuple[Annotations | None, tuple[Issue, ...]]:
    try:
        annotations = formats.read_bytes(content, "f.json", **{"format": "snapshot", **options})
    except BadInput as bad:
        refusal = bad
    else:
        assert not has_errors(annotations.issues)
        return annotations, annotations.issues
    assert has_errors(refusal.issues)
    return None, refusal.issues


def naive(content: bytes) -> list[tuple]:
    """The boxes as the standard library reads them, row by row."""
    tree = json.loads(content.decode("utf-8-sig"))
    return [
        (page["doc_id"], page["page_index"], item["label"], *item["bbox"], item.get("score"), e, o, item["id"])
        for e, page in enumerate(tree["predictions"])
        for o, item in enumerate(page["objects"])
    ]


def rows(source: Annotations) -> list[tuple]:
    boxes = source.boxes
    documents = [source.documents[code].doc_id for code in boxes.document]
    labels = [source.labels[code] for code in boxes.label]
    scores = [None if np.isnan(score) else score for score in boxes.score.tolist()]
    places = boxes.entry.tolist(), boxes.position.tolist(), boxes.ids
    return [*zip(documents, boxes.page.tolist(), labels, *boxes.xyxy.T.tolist(), scores, *places, strict=True)]


@pytest.mark.parametrize("row", MANIFEST, ids=[row["file"] for row in MANIFEST])
def test_manifest(row):
    """Every row of the manifest has its wanted severity.

    The row ``j_label_map_dup_value`` wants a warning for the file and notes that it also breaks 9.2 against its
    partner: there the file alone is judged, and the pair must be the error that the note names. A page_index of 1.0 is
    valid, and is read with a word about how it is written.
    """
    side, other = SIDES[row["side"]], SIDES["pred" if row["side"] == "gt" else "gt"]
    issues: list[Issue] = []
    pair: list[Issue] = []
    try:
        one = formats.read(INVALID / row["file"], side=side)
        two = formats.read(INVALID / row["pair_with"], side=other)
        issues += one.issues
        pair += snapshot.check_pair(one, two) if side == "ground_truth" else snapshot.check_pair(two, one)
    except BadInput as bad:
        issues += bad.issues
    if "9.2" in row["note"]:
        assert [issue.severity for issue in pair] == ["error"]
        pair = []
    if row["file"].startswith("j_page_index_float_integral"):
        assert [issue.rule for issue in issues] == ["page_index should be written as an integer (schema 1.3)"]
        issues = []
    severities = {issue.severity for issue in (*issues, *pair)}
    assert ("error" if "error" in severities else "warning" if severities else "valid") == row["expected"]


def test_shape_agrees_with_the_json_schema():
    """What the JSON schema refuses in the manifest, the reader refuses alone, without the partner file."""
    for row in MANIFEST:
        if row["caught_by_json_schema"]:
            assert outcome((INVALID / row["file"]).read_bytes())[0] is None, row["file"]


@pytest.mark.parametrize("row", broken.ROWS, ids=[row.name for row in broken.ROWS])
def test_sentence(row):
    annotations, issues = outcome(row.content, side=row.side)
    assert [issue.sentence for issue in issues] == [f"f.json: {row.sentence}"]
    assert (annotations is not None) == row.name.startswith("warning")
    assert issues == _exact(row.content, side=row.side)[1]


def _exact(content: bytes, **options) -> tuple[Annotations | None, tuple[Issue, ...]]:
    try:
        annotations = walked(snapshot.FORMAT, content, "f.json", Reading(**options))
    except BadInput as bad:
        return None, bad.issues
    return annotations, annotations.issues


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "f.json: the text must be well-formed JSON (RFC 8259); found an empty file. Export the file again."),
        (b" \n ",
         "f.json: the text must be well-formed JSON (RFC 8259); found 3 bytes of white space. Export the file again."),
        (b"\0" * 100, "f.json: byte 0: JSON must not contain NUL bytes (RFC 8259, section 7); found 0x00. Save the "
         "file as UTF-8; zero bytes mean that it is UTF-16, binary or damaged."),
        ("{}".encode("utf-16"), "f.json: JSON must be UTF-8 (RFC 8259, section 8.1); found UTF-16 (byte order mark FF "
         "FE). Save it as UTF-8."),
        ("{}".encode("utf-32"), "f.json: JSON must be UTF-8 (RFC 8259, section 8.1); found UTF-32 (byte order mark FF "
         "FE 00 00). Save it as UTF-8."),
        (b'{"a": "caf\xe9"}',
         "f.json: byte 10: JSON must be UTF-8 (RFC 8259, section 8.1); found 0xE9. Save the file as UTF-8."),
        (b'{"a":' * 1000, "f.json: line 1, column 321: arrays and objects may be nested 64 deep; found level 65. "
         "Flatten the value, or remove it."),
        (b"{'a': 1}",
         "f.json: line 1, column 2: the text must be well-formed JSON (RFC 8259); found \"'a': 1}\". Put text and keys "
         "in double quotes."),
        (b"[1, 2]",
         "f.json: $: the top level must be an object with label_map, info, documents, predictions (snapshot 1.3, "
         "section 4); found [1, 2]. Write one such object for each file."),
    ],
)  # fmt: skip
def test_sentence_of_bytes(content, sentence):
    assert [issue.sentence for issue in outcome(content)[1]] == [sentence]


def test_utf8_offset_behind_the_first_step():
    content = b'{"a": "' + "é".encode() * 700_000 + b"\xff"
    assert outcome(content)[1][0].place == "byte 1400007"


def test_all_issues_at_once():
    """Errors of shape and of value in one file are listed together, errors before warnings."""
    bad = VALID["prediction"].replace(b'"id": "o0"', b'"id": 7').replace(b"0.9}", b"1.9}").replace(b"0.3,", b"3,")
    bad = bad.replace(b'"label": "Table"', b'"label": "Chart"').replace(b'"page_index": 0', b'"page_index": -1')
    at = "$.predictions[0].objects[0]"
    assert [(issue.severity, issue.place) for issue in outcome(bad)[1]] == [
        ("error", f"{at}.id"), ("error", "$.predictions[0].page_index"), ("error", f"{at}.bbox"),
        ("error", f"{at}.score"), ("warning", f"{at}.label"),
    ]  # fmt: skip


def test_unknown_keys_are_reported_in_the_order_of_the_file():
    names = [f"{letter}_extra" for letter in "qazwsxedcrfv"]
    tree = json.loads(VALID["prediction"])
    tree["info"] |= dict.fromkeys(names, 1)
    tree["info"]["coordinate_system"] |= dict.fromkeys(names, 1)
    _, issues = outcome(json.dumps(tree).encode())
    places = ("$.info", "$.info.coordinate_system")
    assert [issue.place for issue in issues] == [f"{place}.{name}" for place in places for name in names]


def test_limit_per_rule():
    tree = json.loads(VALID["prediction"])
    tree["predictions"][0]["objects"] = [
        {"id": str(index), "label": "Table", "bbox": [1, 2, 3, 4], "score": 7} for index in range(300)
    ]
    content = json.dumps(tree).encode()
    _, issues = outcome(content)
    more = "found the same 100 more times. layoutscope check lists them all."
    assert len(issues) == 402
    assert [issue.sentence for issue in issues[-2:]] == [
        f"f.json: coordinates must lie in [0, 1] (snapshot 1.3, sections 3 and 9.4); {more}",
        f"f.json: score must be a number in [0, 1] (schema 1.3); {more}",
    ]
    assert len(outcome(content, max_per_rule=None)[1]) == 600
    assert len(outcome(content.replace(b'"0"', b"0"), max_per_rule=5)[1]) == 13


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[0.1, 0.2, 0.3, 0.4]", "[0, 0, 5e-324, 5e-324]"),
        ("[0.1, 0.2, 0.3, 0.4]", "[0, -0.0, 1, 1]"),
        ('"o0"', '"\\ud83d\\ude00 \\"quoted\\\\"'),
        ('"score": 0.9', '"score": 1, "attributes": {"a": {"b": ["x", null, true, 1.5]}}'),
        ('"label"', '"l\\u0061bel"'),
        ('"run_id": "r"', '"run_id": null, "created_at": "2026-01-01T00:00:00"'),
    ],
)
def test_accepted(old, new):
    content = broken.VALID["prediction"].replace(old, new).encode()
    annotations, issues = outcome(content, side="prediction")
    assert issues == ()
    assert rows(annotations) == naive(content)


def test_columns_of_a_file():
    source, _ = outcome(VALID["prediction"], side="prediction")
    boxes = source.boxes
    assert head(source) == ("snapshot", "prediction", "page", ["a"], [0], None)
    assert (source.name, source.model, source.version, source.labels) == ("f.json", "m", None, ("Figure", "Table"))
    assert (source.evaluated, source.sha256) == (2, hashlib.sha256(VALID["prediction"]).hexdigest())
    assert (source.source_of(0), boxes.xyxy.dtype, boxes.xyxy.shape) == (("f.json", 0, 0), np.float64, (1, 4))
    columns = boxes.document, boxes.page, boxes.label, boxes.entry, boxes.position
    assert [column.dtype for column in columns] == [np.int32, np.int64, np.int32, np.int32, np.int32]
    with_mark, _ = outcome(b"\xef\xbb\xbf" + VALID["prediction"])
    assert plain(with_mark) == plain(source)
    assert outcome(VALID["ground_truth"])[0].side == "ground_truth"


def test_labels_in_integer_order():
    content = broken.VALID["prediction"].replace('"1": "Figure"', '"10": "Formula", "9": "Figure"').encode()
    assert outcome(content)[0].labels == ("Table", "Figure", "Formula")


def test_no_objects():
    content = (broken.HEADER % "prediction").encode() + b'"predictions": []}'
    annotations, issues = outcome(content)
    assert issues == ()
    assert annotations.boxes.xyxy.shape == (0, 4)
    assert len(annotations.page_index) == 0


def test_predictions_as_reference():
    assert outcome(VALID["prediction"], side="ground_truth")[0] is None
    annotations, issues = outcome(VALID["prediction"], side="ground_truth", as_reference=True)
    assert annotations.side == "ground_truth"
    assert np.isnan(annotations.boxes.score).all()
    assert [issue.sentence for issue in issues] == [
        "f.json: $.info.type: predictions are used as the reference, on request (snapshot 1.3, section 4); "
        'found "prediction". Their scores are left out; read results accordingly.'
    ]
    missing = VALID["prediction"].replace(b"0.9", b"null")
    assert outcome(missing, side="ground_truth", as_reference=True)[0] is None


def test_garbage_collection_is_restored():
    assert gc.isenabled()
    for content in (VALID["prediction"], b"{", VALID["prediction"].replace(b"0.9", b"NaN")):
        outcome(content)
        assert gc.isenabled()
    gc.disable()
    try:
        outcome(VALID["prediction"])
        assert not gc.isenabled()
    finally:
        gc.enable()


def _crowd(objects: int, *, before: int = 0, key: str = '"objects"') -> bytes:
    item = '{"id": "%d", "label": "Table", "bbox": [0, 0, 1, 1], "score": 1}'
    empty = "".join(
        f'{{"page_id": "b{i}", "doc_id": "a", "page_index": {i + 1}, "objects": []}}, ' for i in range(before)
    )
    content = ", ".join(item % index for index in range(objects))
    page = f'"predictions": [{empty}{{"page_id": "a", "doc_id": "a", "page_index": 0, {key}: [{content}]}}]}}'
    return (broken.HEADER % "prediction" + page).encode()


def test_crowded_page_is_refused():
    assert len(outcome(_crowd(10_000))[0].boxes) == 10_000
    sentence = (
        "f.json: $.predictions[%d].objects: a page may have 10,000 objects; found 10,001. "
        "Remove the surplus, for instance with a score cut-off."
    )
    assert [issue.sentence for issue in outcome(_crowd(10_001))[1]] == [sentence % 0]
    assert [issue.sentence for issue in outcome(_crowd(10_001, before=20_000))[1]] == [sentence % 20_000]
    # The escaped key is seen only after decoding.
    assert [issue.sentence for issue in outcome(_crowd(10_001, key='"obj\\u0065cts"'))[1]] == [sentence % 0]


def test_two_million_boxes_are_refused_before_they_are_built(monkeypatch):
    content = gzip.decompress((HOSTILE / "json" / "boxes_2M.json.gz").read_bytes())
    monkeypatch.setattr(snapshot_reader, "decode", lambda _: pytest.fail("decoded"))
    monkeypatch.setattr(snapshot_reader, "validate", lambda *_: pytest.fail("walked"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _, issues = outcome(content, format=None)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
    assert [(issue.place, issue.found) for issue in issues] == [("$.predictions[0].objects", "2,000,000")]


@pytest.mark.parametrize("by", [snapshot.Snapshot.read, walked])
def test_a_page_index_with_a_decimal_point_is_read_and_said(by):
    content = (INVALID / "valid_pred.json").read_bytes()
    for written in (b"1.0", b"1e0"):
        read = by(snapshot.FORMAT, content.replace(b'"page_index": 0', b'"page_index": ' + written), "p.json")
        assert (read.page_index.tolist(), [issue.sentence for issue in read.issues]) == (
            [1],
            [
                "p.json: $.predictions[0].page_index: page_index should be written as an integer (schema 1.3); "
                "found 1.0. Read as 1."
            ],
        )
    with pytest.raises(BadInput):
        by(snapshot.FORMAT, content.replace(b'"page_index": 0', b'"page_index": 0.5'), "p.json")


def test_crowded_pages_are_decoded_few_bytes_at_a_time(monkeypatch):
    entries = [msgspec.Raw(b"[" + b" " * size + b"]") for size in (10, 90, 3, 200, 1, 1, 1, 1, 1, 1)]
    monkeypatch.setattr(snapshot_shape, "_BYTES_AT_A_TIME", 100)
    monkeypatch.setattr(snapshot_shape, "_PAGES_AT_A_TIME", 4)
    runs = [list(run) for run in snapshot_shape._few_at_a_time(entries)]
    assert [len(run) for run in runs] == [1, 2, 1, 4, 2]
    assert [entry for run in runs for entry in run] == entries


def test_hostile_files_are_refused() -> None:
    """They are written in a looser dialect than schema 1.3, so that each breaks a rule; their own are in `broken`."""
    for path in (HOSTILE / "json").glob("*.json"):
        assert has_errors(refusal_issues(formats.read, path, max_per_rule=None)), path.name


@needs_shared
@pytest.mark.parametrize(
    "name",
    ["doclayout-yolo", "doclayoutyolo_ref", "evaluate_model_gt", "evaluate_model_pred",
     "labelstudio_ref", "tfid_ref", "yolo11_ref", "yolo26_ref"],
)  # fmt: skip
def test_real_files(name):
    path = real("worldbank", f"{name}.json")
    annotations, content = formats.read(path), path.read_bytes()
    assert rows(annotations) == naive(content)
    assert plain(annotations) == plain(walked(snapshot.FORMAT, content, path.name))
    assert snapshot_shape.decode(content) is not None


def test_reference_cases():
    """Every case of the oracle is read, except those whose name says that the file breaks a rule."""
    cases = sorted((HERE / "oracles" / "snapshot" / "cases").iterdir())
    refused = {case.name[:3] for case in cases if not _reads(case)}
    assert refused == {"d01", "d02", "d05", "d06", "d07"}


def _reads(case: Path) -> bool:
    try:
        truth = formats.read(case / "gt.json", side="ground_truth")
        predicted = formats.read(case / "pred.json", side="prediction")
    except BadInput:
        return False
    return not any(issue.severity == "error" for issue in snapshot.check_pair(truth, predicted))


def _pair(truth: bytes, predicted: bytes) -> list[str]:
    one, two = snapshot.FORMAT.read(truth, "gt.json"), snapshot.FORMAT.read(predicted, "pred.json")
    return [f"{issue.severity} {issue.sentence}" for issue in snapshot.check_pair(one, two)]


def test_pair_agrees():
    assert _pair(VALID["ground_truth"], VALID["prediction"]) == []


def test_pair_swapped():
    assert _pair(VALID["prediction"], VALID["ground_truth"]) == [
        'error gt.json: $.info.type: a ground truth file must have type "ground_truth" (snapshot 1.3, section 4); '
        'found "prediction". The two files look swapped; exchange them.',
        'error pred.json: $.info.type: a prediction file must have type "prediction" (snapshot 1.3, section 4); '
        'found "ground_truth". The two files look swapped; exchange them.',
    ]
    assert _pair(VALID["prediction"], VALID["prediction"]) == [
        'error gt.json: $.info.type: a ground truth file must have type "ground_truth" (snapshot 1.3, section 4); '
        'found "prediction". Give a ground truth file here.'
    ]


def test_pair_label_map():
    assert _pair(VALID["ground_truth"], VALID["prediction"].replace(b'"2": "Table"', b'"3": "Table"')) == [
        "error pred.json: $.label_map: label_map must be the same as in gt.json (snapshot 1.3, section 9.2); "
        'found {"3":"Table"} where gt.json has {"2":"Table"}. Give both files the same ids and names.'
    ]


def test_categories_of_two_coco_files_go_by_name(tmp_path):
    """The rule is that of schema 1.3: `check` knows none for COCO, and both commands agree."""
    paths, tops = (tmp_path / "gt.json", tmp_path / "pred.json"), {"Text": 0, "Table": 20, "Note": 40}
    for path, names in zip(paths, (["Text", "Table"], ["Table", "Note", "Text"]), strict=True):
        image = {"id": 1, "file_name": "p.png", "width": 100, "height": 100}
        boxes = [
            {"id": at, "image_id": 1, "category_id": at, "bbox": [0, tops[name], 50, 10]}
            for at, name in enumerate(names, 1)
        ]
        categories = [{"id": at, "name": name} for at, name in enumerate(names, 1)]
        path.write_text(json.dumps({"images": [image], "annotations": boxes, "categories": categories}))
    (one,) = project.evaluate("snapshot", paths[0], [paths[1]])
    assert [one.result.first.micro.row(0)[name] for name in ("tp", "fp", "fn")] == [2, 1, 0]


def test_pair_page_ids():
    assert _pair(VALID["ground_truth"], VALID["prediction"].replace(b"a::0", b"a-p0")) == [
        "warning pred.json: $.predictions: page_id should be spelled as in gt.json (snapshot 1.3 is silent); "
        'found 1: "a-p0 and a::0". Nothing is lost: pages are distinguished by doc_id and page_index.'
    ]


@pytest.mark.parametrize("content", [b"hello", b"{}", b"[1,2]", b"\xff\xfe\x00", b"<a/>", b"PK\x03\x04", b'{"a": 1'])
def test_unknown_format(content):
    (issue,) = refusal_issues(formats.read_bytes, content, "some/../where\\f.json")
    assert issue.file == "f.json"


def test_unknown_format_says_what_is_there():
    _, issues = outcome(b'{"images": []}', format=None)
    assert [issue.sentence for issue in issues] == [
        'f.json: the content must be of a known format; found a JSON object with "images". '
        "Write a table with a row for each box, of the columns document, label, x1, y1, x2 and y2, which is read. "
        f"Other formats that are: {', '.join(formats.of_kind('boxes'))}."
    ]
    assert outcome(b'[{"a": 1, "b": 2}]', format=None)[1][0].found == 'a list of JSON objects with "a", "b"'


@pytest.mark.parametrize("name", ["missing.json", "x\0y", "a" * 5000])
def test_unreadable_path(tmp_path, name):
    with pytest.raises(BadInput):
        formats.read(tmp_path / name)


def test_folder(tmp_path):
    for name, label in (("b", "Table"), ("a", "Chart")):
        text = broken.VALID["prediction"].replace('"doc_id": "a"', f'"doc_id": "{name}"')
        (tmp_path / f"{name}.json").write_text(text.replace('"label": "Table"', f'"label": "{label}"'))
    for name in ("readme.txt", ".hidden.json"):
        (tmp_path / name).write_text("no")
    source = formats.read(tmp_path, side="prediction")
    assert (source.name, head(source)[3:5]) == (tmp_path.name, (["a", "b"], [0, 0]))
    assert [source.source_of(row) for row in range(2)] == [("a.json", 0, 0), ("b.json", 0, 0)]
    assert [source.labels[code] for code in source.boxes.label] == ["Chart", "Table"]
    columns = source.boxes.document, source.page_document, source.boxes.entry
    assert [column.tolist() for column in columns] == [[0, 1]] * 3
    assert [issue.file for issue in source.issues] == ["a.json"]


def test_folder_of_one_document_twice(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_bytes(VALID["prediction"])
    assert refusal(formats.read, tmp_path) == [
        f"{tmp_path.name}: b.json and a.json: a document may be listed by one of the files read as one; "
        'found "a". Put all pages of a document into one file, or give one of the files alone with --gt or --pred.'
    ]


NAMES = st.text(character, min_size=1, max_size=6)
UNIT = st.floats(0, 1) | st.sampled_from([0.0, 1.0, 5e-324, 0.5])
SPAN = st.lists(UNIT, min_size=2, max_size=2, unique=True).map(sorted)
ATTRIBUTES = st.dictionaries(NAMES, st.integers() | NAMES | st.none(), max_size=2)


@st.composite
def files(draw) -> dict:
    names = draw(st.lists(NAMES, min_size=3, max_size=3, unique=True))
    rows = [
        Box(draw(st.sampled_from(names)), draw(st.integers(0, 2**31 - 1)), draw(st.sampled_from(names) | NAMES),
            (x[0], y[0], x[1], y[1]), draw(UNIT), draw(NAMES))
        for x, y in draw(st.lists(st.tuples(SPAN, SPAN), max_size=6))
    ]  # fmt: skip
    side = draw(st.sampled_from(["ground_truth", "prediction"]))
    tree = snapshot_file(rows, side=side, labels=names[:2], documents=names)
    for page in tree["predictions"]:
        page["page_id"] = draw(NAMES)
        for item in page["objects"]:
            if draw(st.booleans()):
                item["attributes"] = draw(ATTRIBUTES)
            if side == "ground_truth" and draw(st.booleans()):
                item["score"] = None
    return tree


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(character, max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(character, max_size=5), inner, max_size=3),
    max_leaves=8,
)
JUNK = JSON | st.sampled_from([10**30, 10**400, -1, 1.5, "0", "", True, [], {}, [0, 0, 1, 1], float("nan")])
SETTINGS = settings(max_examples=30, suppress_health_check=list(HealthCheck))


def _places(tree: object) -> list[tuple]:
    items = [*tree.items()] if isinstance(tree, dict) else [*enumerate(tree)] if isinstance(tree, list) else []
    return [place for key, value in items for place in ((tree, key), *_places(value))]


@SETTINGS
@given(tree=files(), ascii_only=st.booleans(), indent=st.sampled_from([None, 1]))
def test_paths_agree_on_valid_files(tree, ascii_only, indent):
    content = json.dumps(tree, ensure_ascii=ascii_only, indent=indent).encode()
    assert snapshot_shape.decode(content) is not None
    fast = snapshot.FORMAT.read(content, "f.json", Reading(max_per_rule=None))
    assert plain(fast) == plain(walked(snapshot.FORMAT, content, "f.json", Reading(max_per_rule=None)))
    assert rows(fast) == naive(content)


@SETTINGS
@given(data=st.data(), tree=files())
def test_mutated_files(data, tree):
    """One value replaced, one key deleted or one key repeated: the columns of a naive reader, or BadInput."""
    container, key = data.draw(st.sampled_from(_places(tree)))
    kind = data.draw(st.sampled_from(["replace", "delete", "repeat"]))
    mark = "\x01mark"
    if kind == "replace":
        container[key] = data.draw(JUNK)
    elif kind == "delete":
        del container[key]
    elif isinstance(container, dict):
        copied = dict(container)
        container.clear()
        container.update({mark: data.draw(JUNK), **copied})
    content = json.dumps(tree).replace(json.dumps(mark), json.dumps(key)).encode()
    fast, issues = outcome(content, max_per_rule=None)
    exact, exact_issues = _exact(content, max_per_rule=None)
    assert issues == exact_issues
    if fast is None:
        assert exact is None
        return
    assert plain(fast) == plain(exact)
    assert rows(fast) == naive(content)
    if kind == "repeat" and isinstance(container, dict):
        assert key in ("id", "label", "attributes")
        assert any("repeated key" in issue.rule for issue in issues)
