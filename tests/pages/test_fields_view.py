"""The view Fields under AppTest: numbers of the core on screen, links, thresholds, address, states, bad files."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from evaluator.formats.fields import FORMAT, schema_from
from evaluator.metrics.confidence import review_budgets, review_sentence
from evaluator.project import evaluate
from evaluator.protocols import fields
from evaluator.protocols.fields.drill_down import FieldPages, linked_rows
from evaluator.protocols.fields.field_types import type_rows
from evaluator.workspace.roles import Sides, Workspace
from tests import dashboard
from tests.dashboard import (
    FIELDS,
    FILES,
    SAMPLE_DATA,
    address,
    fine,
    numbers,
    press,
    signature,
    start,
    texts,
    viewer,
    words,
)
from tests.pages.test_fields_links import PREDICTED, TRUTH, random_sides, rich
from tests.sample_results import field_results

SAMPLE = SAMPLE_DATA / "fields"
TYPES, ONE_BY_ONE = 0, 1


def folder(home: Path, documents: dict[str, Any]) -> Path:
    home.mkdir(parents=True)
    for name, content in documents.items():
        (home / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return home


def opened(truth: Path | None, *predictions: Path, pdfs: Path | None = None) -> str:
    """What the command line hands over for fields only."""
    return Workspace({"fields": Sides(truth, predictions, pdfs)}).to_json()


def one_document(home: Path, predicted: Any = PREDICTED, truth: Any = TRUTH) -> str:
    return opened(folder(home / "t", {"d": truth}), folder(home / "p", {"d": predicted}))


def press_linked(app: AppTest, link: str) -> AppTest:
    return fine(app.button(key=f"linked_{link}").click().run())


def numbers_of(result: fields.FieldsResult, iou: float = 0.5) -> dict[str, str]:
    counts = result.overall(iou)
    values = result.map_at(iou), counts.precision[0], counts.recall[0], result.coverage["ratio"]
    names = f"mAP at {iou:.2f}", "Precision", "Recall", "Coverage"
    return {name: f"{value:.3f}" for name, value in zip(names, values, strict=True)}


def test_the_sample_is_there_without_a_click() -> None:
    app = start(FIELDS)
    assert dashboard.title(app) == "Fields"
    assert signature(app) == (
        "fields 1.0 · IoU ≥ 0.50, AP over 0.50 to 0.95 · values: text ≥ 0.80, numbers within 1e-09, others exact "
        "· 14 documents, 17 pages"
    )
    assert address(app).keys() <= {"field_doc", "field_page", "field_box"}
    assert numbers(app) == numbers_of(field_results()["A"])


def test_the_table_is_that_of_the_core() -> None:
    table = start(FIELDS, field_iou="0.62", model="2").dataframe[TYPES].value
    rows = type_rows(field_results(), "B", iou=0.62)
    assert list(table["Field"]) == [row.label for row in rows]
    columns = {
        "AP 0.62": "ap_at", "AP50": "ap_50", "AP75": "ap_75", "Mean IoU": "mean_iou", "TP": "true_positive",
        "Box too far off": "below_threshold", "Missed": "missed", "Extra (FP)": "spurious", "Truth": "num_gt",
        "Pred.": "num_detections",
    }  # fmt: skip
    wanted = {name: [getattr(row, field) for row in rows] for name, field in columns.items()}
    for name, expected in (wanted | {f"AP, {letter}": [row.ap[letter] for row in rows] for letter in "AB"}).items():
        cells = [None if value is None or np.isnan(value) else value for value in table[name].astype(object)]
        assert cells == pytest.approx(expected), name


def test_a_threshold_scores_again_without_reading_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(FIELDS)
    for read in ("evaluator.formats.fields.reader.Fields.read", "evaluator.protocols.fields.evaluate"):
        monkeypatch.delattr(read)
    for iou in (0.05, 0.8, 0.95):
        fine(app.slider(key="field_iou").set_value(iou).run())
        counts = field_results()["A"].overall(iou)
        assert numbers(app)["Recall"] == f"{counts.recall[0]:.3f}"
        assert f"IoU ≥ {iou:.2f}" in signature(app)
        assert address(app)["field_iou"] == f"{iou:g}"
        assert int(app.dataframe[TYPES].value["TP"].iloc[0]) == int(counts.true_positive[0])
    fine(app.button_group(key=dashboard.key_of(app, "field_preset")).set_value(0.75).run())
    assert app.slider(key=dashboard.key_of(app, "field_iou")).value == 0.75


def test_parity_and_recall_grid_are_those_of_the_protocol() -> None:
    app = start(FIELDS)
    for parity, grid, said, written in (
        ("stickler", "auto", " · parity stickler · recall grid decimal · ", {"parity": "stickler"}),
        ("none", "decimal", " · recall grid decimal · ", {"recall_grid": "decimal"}),
    ):
        app.selectbox(key="field_parity").set_value(parity)
        fine(app.selectbox(key="field_recall_grid").set_value(grid).run())
        _numbers_are_those_of(app, SAMPLE / "ground_truth", SAMPLE / "anchors", parity, grid)
        assert said in signature(app)
        assert {name: text for name, text in address(app).items() if name in ("parity", "recall_grid")} == written
    linked = start(FIELDS, parity=parity, recall_grid=grid)
    assert (numbers(linked), signature(linked)) == (numbers(app), signature(app))


def test_values_are_compared_by_an_uploaded_schema_until_it_is_removed() -> None:
    content = b'{"vendor.vat_id": {"comparator": "text", "threshold": 0.0}}'
    app = start(FIELDS)
    before = signature(app)
    sides = [FORMAT.read_path(SAMPLE / name) for name in ("ground_truth", "anchors")]
    by_schema = fields.evaluate(*sides, schema=schema_from(content, "rules.json"))
    fine(app.file_uploader(key="upload_field_schema").upload("rules.json", content).run())
    with_schema = signature(app)
    assert f" · values: rules.json {hashlib.sha256(content).hexdigest()[:12]} · " in with_schema
    judged, plain = by_schema.confidence(), field_results()["A"].confidence()
    assert int(judged.right.sum()) > int(plain.right.sum()), "every value of the field is right then"
    (budget,) = review_budgets(judged.right, judged.confidence, (0.2,))
    assert review_sentence(budget, errors=int((~judged.right).sum()), total=len(judged)) in words(app)
    assert any("Values are compared by rules.json." in text for text in texts(app.caption))
    fine(app.file_uploader(key="upload_field_schema").upload("bad.json", b'{"total": {"comparator": "roughly"}}').run())
    assert any("bad.json: $.total" in text for text in texts(app.error))
    assert signature(app) == with_schema, "the schema before stays"
    press(app, "Compare without the schema")
    assert signature(app) == before
    assert not app.error


def _numbers_are_those_of(app: AppTest, truth: Path, predicted: Path, parity: str, grid: str) -> None:
    (one,) = evaluate("fields", truth, [predicted], parity=parity, recall_grid=None if grid == "auto" else grid)
    assert isinstance(one.result, fields.FieldsResult)
    assert numbers(app) == numbers_of(one.result)
    assert float(app.dataframe[TYPES].value["AP, A"].iloc[0]) == pytest.approx(one.result.mean_ap)


@pytest.mark.parametrize(("grid", "ap"), [("linspace", "0.347"), ("decimal", "0.356")])
def test_a_recall_on_a_grid_point_tells_the_grids_apart(tmp_path: Path, grid: str, ap: str) -> None:
    # By hand: 35 of 100 boxes are right, and ranked before the wrong ones, so at precision 1. Of the 101 recall points
    # those up to 0.35 count: 36 in decimals; numpy.linspace has 0.35 one ulp higher, and 35 count.
    truth = {f"{row:03}": {"total": rich("x", [0, 0, 10, 10])} for row in range(100)}
    predicted = {
        f"{row:03}": {"total": rich("x", [0, 0, 10, 10] if row < 35 else [50, 50, 60, 60], confidence=1 - row / 1000)}
        for row in range(100)
    }
    app = start(
        FIELDS, files=opened(folder(tmp_path / "t", truth), folder(tmp_path / "p", predicted)), recall_grid=grid
    )
    _numbers_are_those_of(app, tmp_path / "t", tmp_path / "p", "none", grid)
    assert numbers(app)["mAP at 0.50"] == ap


def test_the_two_by_two_is_that_of_the_core() -> None:
    for place, result in enumerate(field_results().values(), 1):
        app = start(FIELDS, model=str(place))
        cells = result.value_by_box(0.5)
        total = sum(sum(row.values()) for row in cells.values())
        for value, row in cells.items():
            for box, count in row.items():
                assert app.button(key=f"linked_{value}_{box}").label == f"**{count:,}** {100 * count / total:.1f} %"


def test_a_cell_opens_its_fields() -> None:
    link, result = "value_wrong_box_right", field_results()["A"]
    app = press_linked(start(FIELDS), link)
    rows = linked_rows(result, link, iou=0.5)
    table = app.dataframe[ONE_BY_ONE].value
    assert list(zip(table["Field"], table["Document"], table["IoU"].round(9), strict=True)) == [
        (row.prediction_path, row.document, round(row.iou, 9)) for row in result.rows_of(rows[:500], 0.5)
    ]
    assert address(app)["behind"] == link
    data = viewer(app)
    pages = FieldPages(result.compared)
    counts = pages.counts(rows)
    document, index = pages.order(counts, only=True)[0]
    assert (data["page"]["document"], data["page"]["index"]) == (result.compared.documents[document], index)
    assert data["page"]["total"] == len(counts)
    assert sum(page["mistakes"] for page in data["strip"]) == len(rows)


def test_the_page_has_its_boxes_and_its_picture() -> None:
    data = viewer(start(FIELDS, field_doc="lund-freight-118", field_page="1", model="2"))
    page = data["page"]
    assert (page["document"], page["image"][:23], page["problem"]) == (
        "lund-freight-118", "data:image/jpeg;base64,", None,
    )  # fmt: skip
    assert data["counts"] == {"TP": 11, "FP": 1, "FN": 16, "ground_truth": 27, "predictions": 12}
    due = next(each for each in data["mistakes"] if each["label"] == "due_date")
    assert (due["title"], due["tags"]) == ("Box too far off", ["FP", "FN"])
    assert due["lines"] == ["predicted “2 July 2025”", "ground truth “8 July 2025”", "IoU 0.00 · confidence 0.88"]


def test_a_field_narrows_everything_to_it() -> None:
    app = start(FIELDS, field="vendor.vat_id")
    assert {each["label"] for each in viewer(app)["mistakes"]} == {"vendor.vat_id"}
    wrong = ~field_results()["A"].confidence("vendor.vat_id").right
    assert {"of vendor.vat_id", f"{int(wrong.sum()):,}"} <= set(words(app))


def test_the_review_says_what_the_core_says() -> None:
    app = start(FIELDS)
    text = dashboard.read_html(dashboard.block(app, "Confidence metrics")).words
    judged = {letter: result.confidence() for letter, result in field_results().items()}
    for name, key in (("AUROC", "auroc"), ("Brier score", "brier"), ("Calibration error", "ece")):
        place = text.index(name)
        assert text[place + 1 : place + 3] == [f"{each.to_json()[key]:.3f}" for each in judged.values()]
    for budget in (20, 5, 100):
        fine(app.slider(key="field_budget").set_value(budget).run())
        for each in judged.values():
            (one,) = review_budgets(each.right, each.confidence, (budget / 100,))
            assert review_sentence(one, errors=int((~each.right).sum()), total=len(each)) in words(app)
    press_linked(app, "least_B")
    assert (address(app)["behind"], address(app)["model"]) == ("least_sure", "2")


def test_an_address_is_the_whole_state() -> None:
    wanted = {
        "field_iou": "0.7", "field": "total", "behind": "below_threshold", "model": "2", "field_doc": "hartwell-3402",
    }  # fmt: skip
    app = start(FIELDS, **wanted, field_page="1")
    at_first = address(app)
    assert at_first.pop("field_page", "1") == "1"
    at_first.pop("field_box", None)
    assert at_first == wanted
    assert viewer(app)["page"]["document"] == "hartwell-3402"


# Two refused texts of every part, one of each in a link.
BAD = {
    "field_iou": ("2", "x"), "behind": ("nowhere", "x"), "budget": ("0", "ten"), "field_page": ("-1", "x"),
    "unit": ("miles", "x"), "field": ("nothing.like.it", "no"), "field_within": ("no-such-document", "no"),
    "parity": ("coco", "x"), "recall_grid": ("11", "x"),
}  # fmt: skip


@pytest.mark.parametrize("at", [0, 1])
def test_an_address_that_makes_no_sense_is_said(at: int) -> None:
    app = start(FIELDS, **{name: refused[at] for name, refused in BAD.items()})
    (told,) = [text for text in texts(app.caption) if "could not be" in text]
    # A choice that the files lack is named by its value.
    named = [refused[at] if name in ("field", "field_within") else name for name, refused in BAD.items()]
    assert sorted(told.partition(": ")[2].removesuffix(".").split(", ")) == sorted(named)
    # The page on screen is always written; what was refused is not.
    assert not {(name, refused[at]) for name, refused in BAD.items()} & set(address(app).items())


def test_nothing_open_and_no_prediction_are_said(tmp_path: Path) -> None:
    app = start(FIELDS, files=opened(None))
    assert "No ground truth of fields is open." in " ".join(words(app))
    assert "Add files" in words(app)
    app = start(FIELDS, files=opened(folder(tmp_path / "t", {"d": TRUTH})))
    assert "No prediction is open" in " ".join(words(app))


def test_one_document_and_one_model(tmp_path: Path) -> None:
    app = start(FIELDS, files=one_document(tmp_path))
    assert "1 document, 3 pages" in signature(app)
    columns = list(app.dataframe[TYPES].value.columns)
    assert (columns[:2], "AP, B" in columns) == (["Field", "AP, A"], False)
    data = viewer(app)
    assert data["page"]["problem"]["title"]
    assert data["page"]["image"] is None
    assert {box["status"] for box in data["boxes"]} == {"TP", "truth", "FP", "FN"}


def test_no_box_at_all(tmp_path: Path) -> None:
    predicted = {"a": "z", "b": rich("y", confidence=0.5)}
    app = start(FIELDS, files=one_document(tmp_path, predicted, {"a": "x", "b": rich("y")}))
    assert numbers(app) == {"mAP at 0.50": "n/a", "Precision": "n/a", "Recall": "n/a", "Coverage": "0.000"}
    assert [each["title"] for each in viewer(app)["mistakes"]] == ["Wrong value"]


def test_a_number_without_fields_has_a_way_out(tmp_path: Path) -> None:
    files = one_document(tmp_path, TRUTH)
    app = start(FIELDS, files=files)
    assert any("No predicted field has a confidence" in text for text in texts(app.caption))
    assert viewer(app)["mistakes"] == []
    app = start(FIELDS, files=files, behind="missed")
    assert viewer(app)["page"] is None
    assert viewer(app)["empty"] == {"text": "No field is behind this number.", "action": "Show all problems"}
    assert any("No field is behind this number" in text for text in texts(app.caption))


def test_boxes_in_points_are_placed_by_the_page(tmp_path: Path) -> None:
    tree = {"total": rich("x", [59.5, 84.2, 297.5, 168.4])}
    sides = [folder(tmp_path / name, {"hartwell-3317": tree}) for name in "tp"]
    app = start(FIELDS, files=opened(*sides, pdfs=SAMPLE / "pdf"))
    assert viewer(app)["boxes"][0]["xyxy"] == pytest.approx([0.1, 0.1, 0.5, 0.2])
    fine(app.selectbox(key="field_unit").set_value("150dpi").run())
    assert viewer(app)["boxes"][0]["xyxy"] == pytest.approx([0.048, 0.048, 0.24, 0.096])
    assert address(app)["unit"] == "150dpi"


def test_a_bad_file_gives_issues_in_place(tmp_path: Path) -> None:
    """What is an error is the reader's (`test_readers_fields.py`): one is enough for the view."""
    truth = folder(tmp_path / "t", {"d": TRUTH})
    good, bad = folder(tmp_path / "p", {"d": PREDICTED}), folder(tmp_path / "q", {"d": PREDICTED, "e": '{"a": NaN}'})
    app = start(FIELDS, files=opened(truth, good, bad))
    assert app.error
    assert "AP, B" not in app.dataframe[TYPES].value
    assert "e.json" in {row["File"] for row in dashboard.issue_tables(app)[0]}
    assert "e.json" in {row["File"] for row in dashboard.issues(dashboard.go(app, FILES))}
    assert "The ground truth has errors" in " ".join(words(start(FIELDS, files=opened(bad, good))))


@pytest.mark.usefixtures("whole_app")
def test_further_fields_reach_the_view_and_bad_ones_are_listed(tmp_path: Path) -> None:
    app = start(FIELDS, files=one_document(tmp_path))
    line = json.dumps({"doc_id": "d", "fields": PREDICTED}).encode()
    dashboard.drop(app, {"more.jsonl": line, "broken.json": b"{"})
    files = [file for group in dashboard.component(app, "groups")["groups"] for file in group["files"]]
    assert "well-formed JSON" in next(file["what"] for file in files if file["name"] == "broken.json")
    dashboard.evaluate(app)
    assert "AP, B" in app.dataframe[TYPES].value
    assert "more.jsonl" in app.selectbox(key=dashboard.key_of(app, "field_b")).options


HOSTILE = (
    "![x](http://example.invalid/x.png)", "<img src=x onerror=alert(1)>", "[a](http://example.invalid)", "`code`",
    "$x$", "www.example.invalid", ":material/home:", "a:Q", "\u202egnp",
)  # fmt: skip


def test_names_from_strangers_never_reach_a_renderer_of_markup(tmp_path: Path) -> None:
    files = tmp_path / "gt.jsonl", tmp_path / "![m](www.x.invalid) *b*.jsonl"
    for path, box, said in zip(files, ([0.1, 0.1, 0.2, 0.2], [0.5, 0.5, 0.6, 0.6]), ("", " not"), strict=True):
        tree = {name: rich(name + said, box, confidence=0.5) for name in HOSTILE}
        path.write_text("\n".join(json.dumps({"doc_id": name, "fields": tree}) for name in HOSTILE))
    app = start(FIELDS, files=opened(files[0], files[1], files[0]))
    # Each is chosen once, of every two one as the field and one as the document.
    for field, document in zip(HOSTILE[::2], (*HOSTILE[1::2], HOSTILE[0]), strict=True):
        app.selectbox(key="field_label").set_value(field)
        fine(app.selectbox(key="field_within").set_value(document).run())
        for place, text in dashboard.markdown_texts(app):
            # The four buttons of value and box are our own words.
            if not re.fullmatch(r"\*\*[0-9,]+\*\* [0-9.]+ %", text):
                assert dashboard.active_markdown(text) is None, (place, text)


def test_of_many_documents_the_strip_has_a_part(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    for name in ("truth", "model"):
        lines = []
        for number in range(210):
            tree = {}
            for field in range(3):
                x, y = rng.uniform(0, 0.8, 2)
                sure = None if name == "truth" else float(rng.uniform(0, 1))
                tree[f"field_{field}"] = rich(f"value {rng.integers(5)}", [x, y, x + 0.1, y + 0.05], confidence=sure)
            lines.append(json.dumps({"doc_id": f"document-{number}", "fields": tree}))
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    app = start(FIELDS, files=opened(tmp_path / "truth.jsonl", tmp_path / "model.jsonl"))
    assert "210 documents, 210 pages" in signature(app)
    assert (viewer(app)["page"]["total"], len(viewer(app)["strip"])) == (210, 200)
    fine(app.slider(key="field_iou").set_value(0.3).run())
    assert "IoU ≥ 0.30" in signature(app)


@settings(max_examples=3)
@given(st.integers(0, 10**6), st.sampled_from([0.05, 0.5, 0.95]))
def test_any_documents_can_be_shown(tmp_path_factory: pytest.TempPathFactory, seed: int, iou: float) -> None:
    home = tmp_path_factory.mktemp("random")
    sides = random_sides(seed)
    for name, side in zip("tp", sides, strict=True):
        folder(home / name, {doc_id: _written(tree) for doc_id, tree in side.documents.items()})
    app = start(FIELDS, files=opened(home / "t", home / "p"), field_iou=f"{iou:g}")
    rows = linked_rows(fields.evaluate(*sides), "problems", iou=iou)
    assert sum(page["mistakes"] for page in viewer(app)["strip"]) >= len(rows)
    press_linked(app, "value_wrong_box_wrong")


def _written(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _written(inner) for key, inner in tree.items()}
    if isinstance(tree, list):
        return [_written(inner) for inner in tree]
    sure = {} if np.isnan(tree.confidence) else {"_confidence": tree.confidence}
    return {"_value": tree.value, **sure, **tree.extras}
