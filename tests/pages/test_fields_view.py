"""The view Fields under AppTest: numbers of the core on screen, links, thresholds, address, states, bad files."""

from __future__ import annotations

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
from tests.dashboard import FILES, SAMPLE_DATA, active_markdown, fine, html_blocks, markdown_texts, start, words
from tests.pages.test_fields_links import PREDICTED, TRUTH, random_sides, rich

FIELDS = "pages/fields.py"
SAMPLE = SAMPLE_DATA / "fields"
TYPES, ONE_BY_ONE = 0, 1


@pytest.fixture(scope="module")
def results() -> dict[str, fields.FieldsResult]:
    """The sample's models by letter."""
    truth = FORMAT.read_path(SAMPLE / "ground_truth")
    return {
        letter: fields.evaluate(truth, FORMAT.read_path(SAMPLE / name))
        for letter, name in (("A", "anchors"), ("B", "rules"))
    }


def folder(home: Path, documents: dict[str, Any]) -> Path:
    """One JSON file per document."""
    home.mkdir(parents=True)
    for name, content in documents.items():
        (home / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return home


def opened(truth: Path | None, predictions: tuple[Path, ...] = (), pdfs: Path | None = None) -> str:
    """What the command line hands over for fields only."""
    return Workspace({"fields": Sides(truth, predictions, pdfs)}).to_json()


def address(app: AppTest) -> dict[str, str]:
    return {name: values[0] if isinstance(values, list) else values for name, values in app.query_params.items()}


def numbers(app: AppTest) -> dict[str, str]:
    """The small numbers of the operating point."""
    body = next(body for body in html_blocks(app) if "ls-numbers" in body)
    text = dashboard.read_html(body).words
    return dict(zip(text[::2], text[1::2], strict=True))


def press(app: AppTest, key: str) -> AppTest:
    return fine(app.button(key=key).click().run())


# --- the sample ----------------------------------------------------------------------------------------------


def test_the_sample_is_there_without_a_click(monkeypatch: pytest.MonkeyPatch, results: Any) -> None:
    app = start(monkeypatch, FIELDS)
    assert dashboard.title(app) == "Fields"
    assert dashboard.signature(app) == (
        "fields 1.0 · IoU ≥ 0.50, AP over 0.50 to 0.95 · values: text ≥ 0.80, numbers within 1e-09, others exact "
        "· 14 documents, 17 pages"
    )
    assert address(app).keys() <= {"field_doc", "field_page", "field_box"}
    counts = results["A"].overall(0.5)
    assert numbers(app) == {
        "mAP at 0.50": f"{results['A'].map_at(0.5):.3f}",
        "Precision": f"{counts.precision[0]:.3f}",
        "Recall": f"{counts.recall[0]:.3f}",
        "Coverage": f"{results['A'].coverage['ratio']:.3f}",
    }


def test_the_table_is_that_of_the_core(monkeypatch: pytest.MonkeyPatch, results: Any) -> None:
    table = start(monkeypatch, FIELDS, field_iou="0.62", model="2").dataframe[TYPES].value
    rows = type_rows(results, "B", iou=0.62)
    assert list(table["Field"]) == [row.label for row in rows]
    columns = {
        "AP, A": [row.ap["A"] for row in rows],
        "AP, B": [row.ap["B"] for row in rows],
        "AP 0.62": [row.ap_at for row in rows],
        "AP50": [row.ap_50 for row in rows],
        "AP75": [row.ap_75 for row in rows],
        "Mean IoU": [row.mean_iou for row in rows],
        "TP": [row.true_positive for row in rows],
        "Below": [row.below_threshold for row in rows],
        "Missed": [row.missed for row in rows],
        "Spur.": [row.spurious for row in rows],
        "Truth": [row.num_gt for row in rows],
        "Pred.": [row.num_detections for row in rows],
    }
    for name, expected in columns.items():
        cells = [None if value is None or np.isnan(value) else value for value in table[name].astype(object)]
        assert cells == pytest.approx(expected), name


def test_a_threshold_scores_again_without_reading_again(monkeypatch: pytest.MonkeyPatch, results: Any) -> None:
    app = start(monkeypatch, FIELDS)
    monkeypatch.setattr("evaluator.formats.fields.reader.Fields.read", _never)
    monkeypatch.setattr("evaluator.protocols.fields.evaluate", _never)
    for iou in (0.05, 0.8, 0.95):
        fine(app.slider(key="field_iou").set_value(iou).run())
        counts = results["A"].overall(iou)
        assert numbers(app)["Recall"] == f"{counts.recall[0]:.3f}"
        assert f"IoU ≥ {iou:.2f}" in dashboard.signature(app)
        assert address(app)["field_iou"] == f"{iou:g}"
        assert int(app.dataframe[TYPES].value["TP"].iloc[0]) == int(counts.true_positive[0])
    fine(app.button_group(key=dashboard.key_of(app, "field_preset")).set_value(0.75).run())
    assert app.slider(key=dashboard.key_of(app, "field_iou")).value == 0.75


def test_parity_and_recall_grid_are_those_of_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, FIELDS)
    starts = {"parity": "none", "recall_grid": "auto"}
    for parity, grid, said in (
        ("stickler", "auto", " · parity stickler · recall grid decimal · "),
        ("none", "decimal", " · recall grid decimal · "),
    ):
        app.selectbox(key="field_parity").set_value(parity)
        fine(app.selectbox(key="field_recall_grid").set_value(grid).run())
        _numbers_are_those_of(app, SAMPLE / "ground_truth", SAMPLE / "anchors", parity, grid)
        assert said in dashboard.signature(app)
        chosen = {"parity": parity, "recall_grid": grid}
        assert {name: address(app).get(name) for name in chosen} == {
            name: None if value == starts[name] else value for name, value in chosen.items()
        }
    linked = start(monkeypatch, FIELDS, **chosen)
    assert (numbers(linked), dashboard.signature(linked)) == (numbers(app), dashboard.signature(app))


def test_values_are_compared_by_an_uploaded_schema_until_it_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b'{"vendor.vat_id": {"comparator": "text", "threshold": 0.0}}'
    app = start(monkeypatch, FIELDS)
    before = dashboard.signature(app)
    sides = [FORMAT.read_path(SAMPLE / name) for name in ("ground_truth", "anchors")]
    by_schema = fields.evaluate(*sides, schema=schema_from(content, "rules.json"))
    fine(app.file_uploader(key="upload_field_schema").upload("rules.json", content).run())
    with_schema = dashboard.signature(app)
    assert f" · values: rules.json {hashlib.sha256(content).hexdigest()[:12]} · " in with_schema
    judged, plain = by_schema.confidence(), fields.evaluate(*sides).confidence()
    assert int(judged.right.sum()) > int(plain.right.sum()), "every value of the field is right then"
    (budget,) = review_budgets(judged.right, judged.confidence, (0.2,))
    assert review_sentence(budget, errors=int((~judged.right).sum()), total=len(judged)) in words(app)
    assert any("Values are compared by rules.json." in each.value.replace("\\", "") for each in app.caption)

    fine(app.file_uploader(key="upload_field_schema").upload("bad.json", b'{"total": {"comparator": "roughly"}}').run())
    shown = [each.value.replace("\\", "").replace("\u2060", "") for each in app.error]
    assert any("bad.json: $.total" in each for each in shown), shown
    assert dashboard.signature(app) == with_schema, "the schema before stays"

    fine(next(each for each in app.button if each.label == "Compare without the schema").click().run())
    assert dashboard.signature(app) == before
    assert not app.error


def _numbers_are_those_of(app: AppTest, truth: Path, predicted: Path, parity: str, grid: str) -> None:
    """The numbers on screen are those of the protocol with these options."""
    (one,) = evaluate("fields", truth, [predicted], parity=parity, recall_grid=None if grid == "auto" else grid)
    assert isinstance(one.result, fields.FieldsResult)
    counts = one.result.overall(0.5)
    assert numbers(app) == {
        "mAP at 0.50": f"{one.result.map_at(0.5):.3f}",
        "Precision": f"{counts.precision[0]:.3f}",
        "Recall": f"{counts.recall[0]:.3f}",
        "Coverage": f"{one.result.coverage['ratio']:.3f}",
    }
    table = app.dataframe[TYPES].value
    assert float(table["AP, A"].iloc[0]) == pytest.approx(one.result.mean_ap)


@pytest.mark.parametrize(("grid", "ap"), [("linspace", "0.347"), ("decimal", "0.356")])
def test_a_recall_on_a_grid_point_tells_the_grids_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, grid: str, ap: str
) -> None:
    # By hand: 35 of 100 boxes are right, and ranked before the wrong ones, so at precision 1. Of the 101 recall points
    # those up to 0.35 count: 36 in decimals; numpy.linspace has 0.35 one ulp higher, and 35 count.
    names = [f"{place:03}" for place in range(100)]
    truth = {name: {"total": rich("x", [0, 0, 10, 10])} for name in names}
    predicted = {
        name: {"total": rich("x", [0, 0, 10, 10] if row < 35 else [50, 50, 60, 60], confidence=1 - row / 1000)}
        for row, name in enumerate(names)
    }
    files = opened(folder(tmp_path / "t", truth), (folder(tmp_path / "p", predicted),))
    app = start(monkeypatch, FIELDS, files=files, recall_grid=grid)
    _numbers_are_those_of(app, tmp_path / "t", tmp_path / "p", "none", grid)
    assert numbers(app)["mAP at 0.50"] == ap


def _never(*_: object, **__: object) -> Any:
    raise AssertionError("files were read or compared again")


def test_the_two_by_two_is_that_of_the_core(monkeypatch: pytest.MonkeyPatch, results: Any) -> None:
    for place, letter in enumerate("AB", 1):
        app = start(monkeypatch, FIELDS, model=str(place))
        cells = results[letter].value_by_box(0.5)
        total = sum(sum(row.values()) for row in cells.values())
        for value, row in cells.items():
            for box, count in row.items():
                assert app.button(key=f"linked_{value}_{box}").label == f"**{count:,}** {100 * count / total:.1f} %"


def test_a_cell_opens_its_fields(monkeypatch: pytest.MonkeyPatch, results: Any) -> None:
    link = "value_wrong_box_right"
    app = press(start(monkeypatch, FIELDS), f"linked_{link}")
    rows = linked_rows(results["A"], link, iou=0.5)
    table = app.dataframe[ONE_BY_ONE].value
    shown = results["A"].rows_of(rows[:500], 0.5)
    assert list(table["Field"]) == [row.prediction_path for row in shown]
    assert list(table["Document"]) == [row.document for row in shown]
    assert list(table["IoU"]) == pytest.approx([row.iou for row in shown])
    assert address(app)["behind"] == link
    data = dashboard.viewer(app)
    pages = FieldPages(results["A"].compared)
    counts = pages.counts(rows)
    first = pages.order(counts, only=True)[0]
    assert (data["page"]["document"], data["page"]["index"]) == (results["A"].compared.documents[first[0]], first[1])
    assert data["page"]["total"] == len(counts)
    assert sum(page["mistakes"] for page in data["strip"]) == len(rows)


def test_the_page_has_its_boxes_and_its_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, FIELDS, field_doc="lund-freight-118", field_page="1", model="2")
    data = dashboard.viewer(app)
    assert data["page"]["document"] == "lund-freight-118"
    assert data["page"]["image"].startswith("data:image/jpeg;base64,")
    assert data["page"]["problem"] is None
    assert data["counts"] == {"TP": 11, "FP": 1, "FN": 16, "ground_truth": 27, "predictions": 12}
    due = next(each for each in data["mistakes"] if each["label"] == "due_date")
    assert due["title"] == "Below threshold"
    assert due["tags"] == ["FP", "FN"]
    assert due["lines"] == ["predicted “2 July 2025”", "ground truth “8 July 2025”", "IoU 0.00 · confidence 0.88"]


def test_a_field_narrows_everything_to_it(monkeypatch: pytest.MonkeyPatch, results: Any) -> None:
    app = start(monkeypatch, FIELDS, field="vendor.vat_id")
    data = dashboard.viewer(app)
    assert {each["label"] for each in data["mistakes"]} == {"vendor.vat_id"}
    judged = results["A"].confidence("vendor.vat_id")
    assert "of vendor.vat_id" in words(app)
    assert f"{int((~judged.right).sum()):,}" in words(app)


def test_the_review_says_what_the_core_says(monkeypatch: pytest.MonkeyPatch, results: Any) -> None:
    app = start(monkeypatch, FIELDS)
    body = next(body for body in html_blocks(app) if "Confidence metrics" in body)
    text = dashboard.read_html(body).words
    plain = {letter: result.confidence().to_json() for letter, result in results.items()}
    for name, key in (("AUROC", "auroc"), ("Brier score", "brier"), ("Calibration error", "ece")):
        place = text.index(name)
        assert text[place + 1 : place + 3] == [f"{plain[letter][key]:.3f}" for letter in ("A", "B")]
    for budget in (20, 5, 100):
        fine(app.slider(key="field_budget").set_value(budget).run())
        for result in results.values():
            judged = result.confidence()
            budgets = review_budgets(judged.right, judged.confidence, (budget / 100,))
            sentence = review_sentence(budgets[0], errors=int((~judged.right).sum()), total=len(judged))
            assert sentence in words(app)
    press(app, "linked_least_B")
    assert address(app)["behind"] == "least_sure"
    assert address(app)["model"] == "2"


# --- the address ---------------------------------------------------------------------------------------------


def test_an_address_is_the_whole_state(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {
        "field_iou": "0.7", "field": "total", "behind": "below_threshold", "model": "2", "field_doc": "hartwell-3402",
        "field_page": "1",
    }  # fmt: skip
    app = start(monkeypatch, FIELDS, **wanted)
    at_first = address(app)
    assert at_first.pop("field_page", "1") == wanted.pop("field_page")
    at_first.pop("field_box", None)
    assert at_first == wanted
    assert dashboard.viewer(app)["page"]["document"] == "hartwell-3402"


# Two refused texts of every part, one of each in a link.
BAD = {
    "field_iou": ("2", "x"),
    "behind": ("nowhere", "x"),
    "budget": ("0", "ten"),
    "field_page": ("-1", "x"),
    "unit": ("miles", "x"),
    "field": ("nothing.like.it", "no"),
    "field_within": ("no-such-document", "no"),
    "parity": ("coco", "x"),
    "recall_grid": ("11", "x"),
}


@pytest.mark.parametrize("at", [0, 1])
def test_an_address_that_makes_no_sense_is_said(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    app = start(monkeypatch, FIELDS, **{name: texts[at] for name, texts in BAD.items()})
    (told,) = [
        each.value.replace("\\", "").replace("\u2060", "") for each in app.caption if "could not be" in each.value
    ]
    # A choice that the files lack is named by its value.
    named = [texts[at] if name in ("field", "field_within") else name for name, texts in BAD.items()]
    assert sorted(told.partition(": ")[2].removesuffix(".").split(", ")) == sorted(named)
    # The page on screen is always written; what was refused is not.
    assert not {(name, texts[at]) for name, texts in BAD.items()} & set(address(app).items())


# --- states --------------------------------------------------------------------------------------------------


def test_nothing_open_is_said_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, FIELDS, files=opened(None))
    assert "No ground truth of fields is open." in " ".join(words(app))
    assert app.get("file_uploader")


def test_no_prediction_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = start(monkeypatch, FIELDS, files=opened(folder(tmp_path / "t", {"d": TRUTH})))
    assert "No prediction is open" in " ".join(words(app))


def test_one_document_and_one_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth, predicted = folder(tmp_path / "t", {"d": TRUTH}), folder(tmp_path / "p", {"d": PREDICTED})
    app = start(monkeypatch, FIELDS, files=opened(truth, (predicted,)))
    assert "1 document, 3 pages" in dashboard.signature(app)
    assert list(app.dataframe[TYPES].value.columns)[:2] == ["Field", "AP, A"]
    assert "AP, B" not in app.dataframe[TYPES].value
    data = dashboard.viewer(app)
    assert data["page"]["problem"]["title"]
    assert data["page"]["image"] is None
    assert {box["status"] for box in data["boxes"]} == {"TP", "truth", "FP", "FN"}


def test_no_box_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth = folder(tmp_path / "t", {"d": {"a": "x", "b": rich("y")}})
    predicted = folder(tmp_path / "p", {"d": {"a": "z", "b": rich("y", confidence=0.5)}})
    app = start(monkeypatch, FIELDS, files=opened(truth, (predicted,)))
    assert numbers(app)["mAP at 0.50"] == numbers(app)["Recall"] == "n/a"
    assert numbers(app)["Coverage"] == "0.000"
    assert [each["title"] for each in dashboard.viewer(app)["mistakes"]] == ["Wrong value"]


def test_a_number_without_fields_has_a_way_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth, predicted = folder(tmp_path / "t", {"d": TRUTH}), folder(tmp_path / "p", {"d": TRUTH})
    app = start(monkeypatch, FIELDS, files=opened(truth, (predicted,)))
    assert any("No predicted field has a confidence" in each.value for each in app.caption)
    assert dashboard.viewer(app)["mistakes"] == []
    app = start(monkeypatch, FIELDS, files=opened(truth, (predicted,)), behind="missed")
    data = dashboard.viewer(app)
    assert data["page"] is None
    assert data["empty"] == {"text": "No field is behind this number.", "action": "Show all problems"}
    assert any("No field is behind this number" in each.value for each in app.caption)


def test_boxes_in_points_are_placed_by_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tree = {"total": rich("x", [59.5, 84.2, 297.5, 168.4])}
    truth, predicted = folder(tmp_path / "t", {"hartwell-3317": tree}), folder(tmp_path / "p", {"hartwell-3317": tree})
    app = start(monkeypatch, FIELDS, files=opened(truth, (predicted,), SAMPLE / "pdf"))
    assert dashboard.viewer(app)["boxes"][0]["xyxy"] == pytest.approx([0.1, 0.1, 0.5, 0.2])
    fine(app.selectbox(key="field_unit").set_value("150dpi").run())
    assert dashboard.viewer(app)["boxes"][0]["xyxy"] == pytest.approx([0.048, 0.048, 0.24, 0.096])
    assert address(app)["unit"] == "150dpi"


def test_a_bad_file_gives_issues_in_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is an error is the reader's (`test_readers_fields.py`): one is enough for the view."""
    truth = folder(tmp_path / "t", {"d": TRUTH})
    good, bad = folder(tmp_path / "p", {"d": PREDICTED}), folder(tmp_path / "q", {"d": PREDICTED, "e": '{"a": NaN}'})
    app = start(monkeypatch, FIELDS, files=opened(truth, (good, bad)))
    assert app.error
    assert "e.json" in {row["File"] for row in dashboard.issue_tables(app)[0]}
    assert "AP, B" not in app.dataframe[TYPES].value
    on_files = dashboard.go(app, FILES)
    assert "e.json" in {row["File"] for row in dashboard.issues(on_files)}
    broken = start(monkeypatch, FIELDS, files=opened(bad, (good,)))
    assert "The ground truth has errors" in " ".join(words(broken))


def test_an_upload_is_taken_and_a_bad_one_is_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth = folder(tmp_path / "t", {"d": TRUTH})
    app = start(monkeypatch, FIELDS, files=opened(truth, (folder(tmp_path / "p", {"d": PREDICTED}),)))
    line = json.dumps({"doc_id": "d", "fields": PREDICTED}).encode()
    _upload(app, ("more.jsonl", line))
    assert "AP, B" in app.dataframe[TYPES].value
    _upload(app, ("broken.json", b"{"))
    assert any("were not taken" in each.value for each in app.error)
    assert "AP, B" in app.dataframe[TYPES].value


def _upload(app: AppTest, *files: tuple[str, bytes]) -> None:
    """Choose files in the form of the view and send it."""
    for name, content in files:
        app.file_uploader(key="field_uploads").upload(name, content)
    send = next(button for button in app.button if button.label == "Read the files")
    fine(send.click().run())


@pytest.mark.parametrize(
    ("view", "label"), [(FILES, "Read the files"), (FILES, "Add the pages"), (FIELDS, "Read the files")]
)
def test_a_form_that_is_sent_without_a_file_says_so_once(
    monkeypatch: pytest.MonkeyPatch, view: str, label: str
) -> None:
    app = start(monkeypatch, view)
    send = next(button for button in app.button if button.label == label)
    fine(send.click().run())
    assert [each.value for each in app.warning if "chosen" in each.value] == [
        "No file was chosen. Drop files above, or press Upload, and go on once they are listed."
    ]
    fine(app.run())
    assert not [each for each in app.warning if "chosen" in each.value]


def test_an_upload_in_files_reaches_the_view(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, FILES)
    line = json.dumps({"doc_id": "hartwell-3317", "fields": {"total": 3}}).encode()
    app.file_uploader(key="upload_annotations").upload("third.jsonl", line)
    send = next(button for button in app.button if button.label == "Read the files")
    fine(send.click().run())
    assert [each.value for each in app.selectbox if each.key.startswith("dropped_role")] == ["Prediction"]
    fine(next(button for button in app.button if button.label == "Open these files").click().run())
    assert not app.error
    after = dashboard.go(app, FIELDS)
    assert "third.jsonl" in after.selectbox(key="field_b").options


HOSTILE = (
    "![x](http://example.invalid/x.png)", "<img src=x onerror=alert(1)>", "[a](http://example.invalid)", "`code`",
    "$x$", "www.example.invalid", ":material/home:", "a:Q", "\u202egnp",
)  # fmt: skip


def test_names_from_strangers_never_reach_a_renderer_of_markup(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tree = {name: rich(name, [0.1, 0.1, 0.2, 0.2], confidence=0.5) for name in HOSTILE}
    other = {name: rich(f"{name} not", [0.5, 0.5, 0.6, 0.6], confidence=0.4) for name in HOSTILE}
    line = "\n".join(json.dumps({"doc_id": name, "fields": tree}) for name in HOSTILE)
    (tmp_path / "gt.jsonl").write_text(line)
    model = tmp_path / "![m](www.x.invalid) *b*.jsonl"
    model.write_text("\n".join(json.dumps({"doc_id": name, "fields": other}) for name in HOSTILE))
    app = start(monkeypatch, FIELDS, files=opened(tmp_path / "gt.jsonl", (model, tmp_path / "gt.jsonl")))
    # Each is chosen once, of every two one as the field and one as the document.
    for field, document in zip(HOSTILE[::2], (*HOSTILE[1::2], HOSTILE[0]), strict=True):
        app.selectbox(key="field_label").set_value(field)
        fine(app.selectbox(key="field_within").set_value(document).run())
        for place, text in markdown_texts(app):
            if re.fullmatch(r"\*\*[0-9,]+\*\* [0-9.]+ %", text):
                continue  # the four buttons of value and box, our own words
            assert active_markdown(text) is None, (place, text)


# --- many documents, and any documents -----------------------------------------------------------------------


def test_of_many_documents_the_strip_has_a_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    sides: dict[str, list[str]] = {"truth": [], "model": []}
    for number in range(210):
        for name, lines in sides.items():
            tree = {}
            for field in range(3):
                x, y = rng.uniform(0, 0.8, 2)
                sure = None if name == "truth" else float(rng.uniform(0, 1))
                tree[f"field_{field}"] = rich(f"value {rng.integers(5)}", [x, y, x + 0.1, y + 0.05], confidence=sure)
            lines.append(json.dumps({"doc_id": f"document-{number}", "fields": tree}))
    for name, lines in sides.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    app = start(monkeypatch, FIELDS, files=opened(tmp_path / "truth.jsonl", (tmp_path / "model.jsonl",)))
    assert "210 documents, 210 pages" in dashboard.signature(app)
    data = dashboard.viewer(app)
    assert data["page"]["total"] == 210
    assert len(data["strip"]) == 200
    fine(app.slider(key="field_iou").set_value(0.3).run())
    assert "IoU ≥ 0.30" in dashboard.signature(app)


@settings(max_examples=3)
@given(st.integers(0, 10**6), st.sampled_from([0.05, 0.5, 0.95]))
def test_any_documents_can_be_shown(tmp_path_factory: pytest.TempPathFactory, seed: int, iou: float) -> None:
    home = tmp_path_factory.mktemp("random")
    truth, predicted = random_sides(seed)
    _write(home / "t", truth)
    _write(home / "p", predicted)
    with pytest.MonkeyPatch.context() as monkeypatch:
        app = start(monkeypatch, FIELDS, files=opened(home / "t", (home / "p",)), field_iou=f"{iou:g}")
        result = fields.evaluate(FORMAT.read_path(home / "t"), FORMAT.read_path(home / "p"))
        data = dashboard.viewer(app)
        assert sum(page["mistakes"] for page in data["strip"]) >= len(linked_rows(result, "problems", iou=iou))
        press(app, "linked_value_wrong_box_wrong")


def _write(home: Path, side: Any) -> None:
    """Documents back to files."""

    def back(tree: Any) -> Any:
        if isinstance(tree, dict):
            return {key: back(inner) for key, inner in tree.items()}
        if isinstance(tree, list):
            return [back(inner) for inner in tree]
        sure = {} if np.isnan(tree.confidence) else {"_confidence": tree.confidence}
        return {"_value": tree.value, **sure, **tree.extras}

    folder(home, {doc_id: back(tree) for doc_id, tree in side.documents.items()})
