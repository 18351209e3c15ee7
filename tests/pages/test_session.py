"""One reader's session: the address bar in and out, choices over views, uploads, PDFs, what two sessions share."""

from __future__ import annotations

import io
import json
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from tests import dashboard
from tests.building import box, snapshot_file, write_file
from tests.dashboard import FILES, OVERVIEW, PAGE_BROWSER, SAMPLE_DATA, files_of, key_of, start
from tests.pages.test_views import TRUTH, assert_no_markup, card_numbers, shown
from tests.sample_results import box_result

pytestmark = pytest.mark.usefixtures("store_path")

TOLD = "The address had parts that could not be followed"


def address(app: AppTest) -> dict[str, str]:
    """The address bar after a run."""
    return {name: values[0] if isinstance(values, list) else values for name, values in app.query_params.items()}


def told(app: AppTest) -> list[str]:
    """What the view says about the address, without the escapes."""
    return [each.value.replace("\\", "").replace("\u2060", "") for each in app.caption if each.value.startswith(TOLD)]


# --- the address bar -----------------------------------------------------------------------------------------


def test_a_plain_address_stays_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch)
    assert address(app) == {}
    assert told(app) == []


def test_thresholds_come_from_the_address_and_go_there(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, iou="0.62", scores="0,0.3")
    assert told(app) == []
    assert [app.slider(key=name).value for name in ("iou", "score_0", "score_1")] == [0.62, 0.0, 0.3]
    assert card_numbers(dashboard.cards(app)[1]) == shown(box_result(1, 0.62, 0.3).micro.row(0))
    assert address(app) == {"iou": "0.62", "scores": "0,0.3"}
    app.slider(key="iou").set_value(0.5)
    dashboard.fine(app.slider(key="score_0").set_value(0.07).run())
    assert address(app) == {"scores": "0.07,0.3"}


def test_every_slider_step_comes_back_from_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for step in (0.1, 0.29, 0.57, 0.95):
        app = start(monkeypatch, iou=f"{step:g}", scores=f"{step:g}")
        assert [app.slider(key=name).value for name in ("iou", "score_0")] == [step, step]
        assert address(app) == {"iou": f"{step:g}", "scores": f"{step:g}"}


def test_a_page_and_a_box_come_from_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    first = start(monkeypatch, PAGE_BROWSER, doc="school-census.pdf", page="3", model="2", order="page")
    data = dashboard.viewer(first)
    assert (data["page"]["document"], data["page"]["index"], data["model"]["letter"]) == ("school-census.pdf", 2, "2")
    wanted = {"doc": "school-census.pdf", "page": "3", "model": "2", "order": "page"}
    assert address(first) == wanted
    key = data["mistakes"][0]["keys"][0]
    second = start(monkeypatch, PAGE_BROWSER, **wanted, box=key)
    assert dashboard.viewer(second)["selected"] == key
    assert address(second) == wanted | {"box": key}
    assert told(second) == []


def test_filters_come_from_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {"within": "tram-options.pdf", "label": "Table", "only": "yes"}
    app = start(monkeypatch, PAGE_BROWSER, **wanted)
    assert app.selectbox(key="within").value == "tram-options.pdf"
    assert app.selectbox(key="label").value == "Table"
    assert app.checkbox(key="only").value is True
    assert told(app) == []
    assert {name: address(app).get(name) for name in wanted} == wanted


UNFIT = {
    "iou": ("", "x", "nan", "inf", "-inf", "0", "0.05", "0.96", "1e9", "0,5", "0.5.5"),
    "scores": ("", "-0.1", "1.01", "nan", "half", "0.1,", "0,0,0.1"),
    "page": ("0", "-1", "1.5", "x", "", "٣", "9" * 30),
    "model": ("", "0", "3", "A", "²"),
    "order": ("best", "", "WORST"),
    "only": ("no", "", "perhaps"),
    "label": ("No such label",),
    "within": ("no-such.pdf",),
    "doc": ("no-such.pdf",),
    "nonsense": ("1",),
}


def test_what_cannot_be_followed_is_said_and_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = start(monkeypatch, PAGE_BROWSER)
    # Opened by its name alone, a view has its address replaced by the viewer: it would be two steps back otherwise.
    assert address(usual) == {}
    for at in range(max(map(len, UNFIT.values()))):
        app = start(monkeypatch, PAGE_BROWSER, **{name: texts[at % len(texts)] for name, texts in UNFIT.items()})
        (said,) = told(app)
        assert sorted(said.removeprefix(f"{TOLD}: ").removesuffix(".").split(", ")) == sorted(UNFIT), at
        data = dashboard.viewer(app)
        assert data["page"] == dashboard.viewer(usual)["page"]
        assert dashboard.signature(app) == dashboard.signature(usual)
        assert address(app) == dict(urllib.parse.parse_qsl(dashboard.viewer(usual)["address"]))
    assert told(dashboard.fine(app.run())) == [], "once is enough"


def test_a_page_that_the_document_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, PAGE_BROWSER, doc="school-census.pdf", page="4000")
    assert told(app) == [f"{TOLD}: page."]


def test_several_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, iou="0.7", scores="2", zoom="3")
    assert told(app) == [f"{TOLD}: scores, zoom."]
    assert app.slider(key="iou").value == 0.7


def test_a_late_address_does_not_undo_what_came_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick reader's browser sends the address from before the last answer; the slider jumped back to it."""
    app = start(monkeypatch, PAGE_BROWSER, iou="0.7")
    page = dashboard.viewer(app)["page"]
    for value in (0.71, 0.74):
        dashboard.fine(app.slider(key="iou").set_value(value).run())
    for name in list(app.query_params):
        del app.query_params[name]
    app.query_params["iou"] = "0.71"
    app.query_params["doc"], app.query_params["page"] = page["document"], str(page["index"] + 1)
    dashboard.fine(app.slider(key="iou").set_value(0.75).run())
    assert app.slider(key="iou").value == 0.75
    assert address(app)["iou"] == "0.75"


def test_a_late_mark_on_a_preset_does_not_undo_the_slider(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second step of a slider comes with the preset still marked, which looks like a click on it."""
    app = start(monkeypatch)
    app.slider(key="iou").set_value(0.51)
    marked = app._tree.get_widget_states()
    dashboard.fine(app.run())
    for widget in marked.widgets:
        if widget.id.endswith("-iou"):
            widget.double_array_value.data[:] = [0.52]
    dashboard.fine(app._run(marked))
    assert app.slider(key="iou").value == 0.52
    assert app.button_group(key=key_of(app, "preset")).value is None
    dashboard.fine(app.button_group(key=key_of(app, "preset")).set_value("Standard thresholds").run())
    assert app.slider(key=key_of(app, "iou")).value == 0.5


# --- choices over views --------------------------------------------------------------------------------------


def test_choices_stay_over_views(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch)
    app.slider(key="iou").set_value(0.7)
    dashboard.fine(app.slider(key="score_1").set_value(0.25).run())
    for view in (PAGE_BROWSER, FILES, OVERVIEW, FILES, PAGE_BROWSER, OVERVIEW):
        dashboard.go(app, view)
        if view != FILES:
            sliders = {"iou": 0.7, "score_0": 0.0, **({"score_1": 0.25} if view == OVERVIEW else {})}
            assert {name: app.slider(key=name).value for name in sliders} == sliders, view
            assert (address(app)["iou"], address(app)["scores"]) == ("0.7", "0,0.25")
            scores = "≥ 0.00 (A), ≥ 0.25 (B)" if view == OVERVIEW else "≥ 0.00 ·"
            assert f"IoU ≥ 0.70 · score {scores}" in dashboard.signature(app)
    assert card_numbers(dashboard.cards(app)[1]) == shown(box_result(1, 0.7, 0.25).micro.row(0))


def test_the_first_run_of_a_view_is_right_already(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit starts a keyed slider of another view at its lowest value unless told; the numbers then were wrong."""
    app = dashboard.go(start(monkeypatch), PAGE_BROWSER)
    assert dashboard.three_numbers(app)["F1"] == f"{box_result(0).micro.f1[0]:.3f}"
    assert "iou" not in address(app)


def test_the_page_and_its_model_stay_over_views(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, PAGE_BROWSER, doc="school-census.pdf", page="3", model="2")
    dashboard.go(app, OVERVIEW)
    assert address(app) == {"model": "2"}
    data = dashboard.viewer(dashboard.go(app, PAGE_BROWSER))
    assert (data["page"]["document"], data["page"]["index"]) == ("school-census.pdf", 2)
    assert data["model"]["letter"] == "2"


def test_sessions_do_not_share_choices_or_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first = start(monkeypatch, iou="0.7")
    second = start(monkeypatch, files=files_of(tmp_path, TRUTH, TRUTH[:1]))
    assert second.slider(key="iou").value == 0.5
    assert dashboard.cards(second)[0]["TP"] == "1"
    dashboard.fine(first.run())
    assert first.slider(key="iou").value == 0.7
    assert dashboard.cards(first)[0]["name"] == "lines 1.0"


def test_a_changed_file_under_the_same_name_is_read_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert dashboard.cards(start(monkeypatch, files=files_of(tmp_path, TRUTH, TRUTH[:1])))[0]["TP"] == "1"
    assert dashboard.cards(start(monkeypatch, files=files_of(tmp_path, TRUTH, TRUTH[:2])))[0]["TP"] == "2"


def test_a_chosen_model_that_is_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = start(monkeypatch, files=files_of(tmp_path, TRUTH, TRUTH[:1]), model="2")
    assert len(dashboard.cards(app)) == 1
    data = dashboard.viewer(dashboard.go(app, PAGE_BROWSER))
    assert data["model"]["letter"] == "1"


# --- uploads -------------------------------------------------------------------------------------------------


def upload(app: AppTest, name: str, content: bytes, *, role: str = "Prediction") -> AppTest:
    """An annotation file through the form of the Files view."""
    next(each for each in app.button_group if each.label == "Role of the files").set_value(role)
    app.file_uploader(key="upload_annotations").set_value([(name, content, "application/json")])
    next(each for each in app.button if each.label == "Read the files").click()
    return dashboard.fine(app.run())


def table(app: AppTest) -> dict[str, str]:
    """Role of each loaded file of boxes."""
    frames = [each.value for each in app.dataframe if "Role" in each.value.columns]
    roles = zip(frames[0]["File"], frames[0]["Role"], strict=True) if frames else ()
    return {name: role for name, role in roles if name.endswith(".json")}


def file_bytes(*rows: object, side: str = "prediction", **given: object) -> bytes:
    return json.dumps(snapshot_file(rows, side=side, **given)).encode()  # type: ignore[arg-type]


BROKEN = (
    (b"", "JSON", "Prediction"),
    (b"{", "JSON", "Ground truth"),
    (b"\xff\xfe{\x00}\x00", "UTF-8", "Prediction"),
    (b"[1]", "known format", "Ground truth"),
    (b'{"label_map": {}}', "known format", "Prediction"),
    (file_bytes(box(0.5, 0.1, 0.1, 0.5)), "x2", "Prediction"),
)


def test_a_broken_upload_is_told_until_a_good_one_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, FILES)
    before = table(app)
    for content, rule, role in BROKEN:
        upload(app, "broken.json", content, role=role)
        (error,) = app.error
        assert error.value == "The file has errors and was not taken; what was loaded before stays in use."
        issues = dashboard.issues(app)
        assert {row["File"] for row in issues} == {"broken.json"}
        assert "error" in {row["Severity"] for row in issues}
        assert any(rule in row["Rule"] for row in issues), issues
        assert table(app) == before
    upload(app, "third.json", (SAMPLE_DATA / "blocks.json").read_bytes())
    assert not app.error
    assert table(app)["third.json"] == "Prediction"
    dashboard.go(app, OVERVIEW)
    assert card_numbers(dashboard.cards(app)[0]) == shown(box_result(0).micro.row(0))


def test_an_uploaded_prediction_is_added_and_one_of_the_same_name_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, FILES)
    upload(app, "third.json", (SAMPLE_DATA / "blocks.json").read_bytes())
    assert list(table(app)) == ["ground_truth.json", "lines.json", "blocks.json", "third.json"]
    dashboard.go(app, OVERVIEW)
    assert app.selectbox(key="model_a").options == ["lines 1.0", "blocks 1.0 (1)", "blocks 1.0 (2)"]
    dashboard.go(app, FILES)
    upload(app, "third.json", (SAMPLE_DATA / "lines.json").read_bytes())
    assert list(table(app)) == ["ground_truth.json", "lines.json", "blocks.json", "third.json"]
    dashboard.go(app, OVERVIEW)
    assert app.selectbox(key="model_a").options == ["lines 1.0 (1)", "blocks 1.0", "lines 1.0 (2)"]


def test_an_uploaded_ground_truth_replaces_the_old_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = start(monkeypatch, FILES, files=files_of(tmp_path, TRUTH, TRUTH[:2]))
    upload(app, "new truth.json", file_bytes(*TRUTH[:1], side="ground_truth"), role="Ground truth")
    assert table(app) == {"new truth.json": "Ground truth", "model1.json": "Model A"}
    (card,) = dashboard.cards(dashboard.go(app, OVERVIEW))
    assert (card["TP"], card["FP"], card["FN"]) == ("1", "1", "0")


def test_a_file_in_the_wrong_role_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, FILES)
    upload(app, "p.json", (SAMPLE_DATA / "lines.json").read_bytes(), role="Ground truth")
    assert app.error
    assert table(app)["ground_truth.json"] == "Ground truth"


def test_an_upload_that_does_not_fit_the_ground_truth_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, FILES)
    upload(app, "other.json", file_bytes(*TRUTH))
    (issues,) = dashboard.issue_tables(app)
    assert "other.json" in {row["File"] for row in issues}
    assert len(dashboard.cards(dashboard.go(app, OVERVIEW))) == 2


def test_names_of_uploads_stay_text(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, FILES)
    name = "![x](http://example.invalid/x.png)<b>.json"
    for content in (b"{", (SAMPLE_DATA / "lines.json").read_bytes()):
        upload(app, name, content)
        assert_no_markup(app)
    assert table(app)[name] == "Prediction"


# --- PDFs ----------------------------------------------------------------------------------------------------


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """A session on the Files view whose folder of uploads is cleared at the end."""
    app = start(monkeypatch, FILES)
    yield app
    if "upload_folder" in app.session_state:
        app.session_state["upload_folder"].cleanup()


def upload_pdfs(app: AppTest, *files: tuple[str, bytes]) -> str:
    app.file_uploader(key="upload_pages_files").set_value(
        [(name, content, "application/pdf") for name, content in files]
    )
    dashboard.fine(next(each for each in app.button if each.label == "Add the pages").click().run())
    return (
        next(each.value for each in app.caption if each.value.startswith("Added "))
        .replace("\\", "")
        .replace("\u2060", "")
    )


PDF = (SAMPLE_DATA / "pdf" / "tram-options.pdf").read_bytes()


def stored(app: AppTest) -> list[str]:
    """Names in the session's folder."""
    if "upload_folder" not in app.session_state:
        return []
    folder = Path(app.session_state["upload_folder"].name)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_pdf_is_added_and_used(reader: AppTest) -> None:
    assert upload_pdfs(reader, ("tram-options.pdf", PDF)) == "Added 1."
    assert stored(reader) == ["tram-options.pdf"]
    reader.session_state["doc"], reader.session_state["page"] = "tram-options.pdf", 0
    data = dashboard.viewer(dashboard.go(reader, PAGE_BROWSER))
    assert data["page"]["document"] == "tram-options.pdf"
    assert data["page"]["problem"] is None
    assert data["page"]["image"]
    # The others are still those of the folder that was open.
    reader.session_state["doc"], reader.session_state["page"] = "school-census.pdf", 0
    data = dashboard.viewer(dashboard.fine(reader.run()))
    assert data["page"]["problem"] is None
    text = " ".join(each.value for each in dashboard.go(reader, FILES).caption)
    assert "by name among the uploads, then under the folder pdf" in text
    names = list(next(each for each in reader.dataframe if "Role" in each.value.columns).value["File"])
    assert "Uploaded pages/ 1 file" in names
    assert "pdf/ 14 files" in names


def test_the_file_in_whose_place_an_upload_is_shown_is_named(reader: AppTest) -> None:
    other = (SAMPLE_DATA / "pdf" / "school-census.pdf").read_bytes()
    assert upload_pdfs(reader, ("tram-options.pdf", other), ("new.pdf", other)) == (
        "Added 2. Shown instead of tram-options.pdf, of pdf."
    )
    assert (
        upload_pdfs(reader, ("tram-options.pdf", PDF)) == "Added 1. Shown instead of tram-options.pdf, uploaded before."
    )
    assert upload_pdfs(reader, ("tram-options.pdf", PDF)) == "Added 1."
    for place in range(2):
        dashboard.fine(reader.button(key=f"remove_page_{1 - place}").click().run())
    text = " ".join(each.value for each in reader.caption)
    assert "by name under the folder pdf" in text


def test_what_is_not_a_pdf_is_refused(reader: AppTest) -> None:
    contents = (b"", b"<html>", b"\x89PNG\r\n", b" " * 1025 + b"%PDF-1.7", b"PK\x03\x04")
    said = upload_pdfs(reader, *((f"{at}.pdf", content) for at, content in enumerate(contents)))
    assert said == "Added 0. Neither PDF nor image: 0.pdf, 1.pdf, 2.pdf, 3.pdf, 4.pdf."
    assert stored(reader) == []
    assert dashboard.components(dashboard.go(reader, PAGE_BROWSER))


NAMES = (
    "../escape.pdf", "..\\escape.pdf", "/tmp/escape.pdf", "C:\\escape.pdf", "a/b.pdf", ".hidden.pdf", "..pdf",
    "new\nline.pdf", "\u202egnp.pdf", "x" * 250 + ".pdf", "漢" * 100 + ".pdf", "ü" * 190 + ".pdf",
)  # fmt: skip


def test_tricks_with_names_write_nothing_outside(reader: AppTest) -> None:
    """Whatever the browser claims the file is called, it is refused or stored under a plain name in the folder."""
    upload_pdfs(reader, *((name, PDF) for name in NAMES))
    assert stored(reader)
    for each in stored(reader):
        assert "\\" not in each
        assert not each.startswith(".")
    assert not Path("/tmp/escape.pdf").exists()
    assert_no_markup(reader)


def test_a_good_pdf_beside_a_bad_one(reader: AppTest) -> None:
    said = upload_pdfs(reader, ("a.pdf", PDF), ("b.pdf", b"no"), ("![x](http:x).pdf", b"no"))
    assert said == "Added 1. Neither PDF nor image: b.pdf, ![x](http:x).pdf."
    assert_no_markup(reader)


def test_dropped_files_are_sorted_and_the_image_of_a_page_is_shown(reader: AppTest) -> None:
    """COCO with documents of several pages, whose page images are known by file_name alone."""
    image = {"id": 4, "file_name": "scans/report_0002.webp", "doc_name": "report", "page_no": 2}
    image |= {"width": 60, "height": 80}
    item = {"id": 1, "image_id": 4, "category_id": 1, "bbox": [6, 8, 30, 40], "area": 1200, "iscrowd": 0}
    truth = {"images": [image], "categories": [{"id": 1, "name": "Table"}], "annotations": [item]}
    sheet = io.BytesIO()
    Image.new("RGB", (60, 80), "white").save(sheet, "WEBP")
    result = [{"image_id": 4, "category_id": 1, "bbox": [6, 8, 30, 40], "score": 0.8}]
    reader.file_uploader(key="upload_annotations").set_value(
        [
            ("boxes.json", json.dumps(truth).encode(), "application/json"),
            ("model.json", json.dumps(result).encode(), "application/json"),
            ("report_0002.webp", sheet.getvalue(), "image/webp"),
            ("notes.txt", b"nothing", "text/plain"),
        ]
    )
    dashboard.fine(next(each for each in reader.button if each.label == "Read the files").click().run())
    proposed = {
        each.label.split(" ")[0]: each.value for each in reader.selectbox if each.key.startswith("dropped_role")
    }
    assert {name.replace("\\", ""): role for name, role in proposed.items()} == {
        "boxes.json": "Ground truth",
        "model.json": "Prediction",
    }
    assert any("notes" in each.value for each in reader.caption)
    dashboard.fine(next(each for each in reader.button if each.label == "Open these files").click().run())
    assert table(reader) == {"boxes.json": "Ground truth", "model.json": "Model A"}
    reader.session_state["doc"], reader.session_state["page"] = "report", 1
    data = dashboard.viewer(dashboard.go(reader, PAGE_BROWSER))
    assert data["page"]["problem"] is None
    assert (data["page"]["width"], data["page"]["height"]) == (60.0, 80.0)


def test_without_a_pdf_folder_pages_are_empty_sheets_with_boxes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    app = start(monkeypatch, PAGE_BROWSER, files=files_of(tmp_path, TRUTH, TRUTH[:1]))
    data = dashboard.viewer(app)
    assert data["page"]["image"] is None
    assert data["page"]["problem"]["text"]
    assert data["page"]["problem"]["fix"]
    assert len(data["boxes"]) >= 1
    text = " ".join(each.value for each in dashboard.go(app, FILES).caption)
    assert "No folder of pages is open" in text


def test_a_path_in_an_annotation_is_only_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown_pages = 0
    for name in ("../../../../etc/passwd", "/etc/passwd", "C:\\x.pdf", "\\\\host\\share\\x.pdf", "."):
        rows = [box(0.1, 0.1, 0.5, 0.5, document=name)]
        truth = write_file(tmp_path / "t.json", rows, side="ground_truth")
        prediction = write_file(tmp_path / "p.json", rows)
        app = start(monkeypatch, PAGE_BROWSER, files=dashboard.workspace(truth, [prediction], SAMPLE_DATA / "pdf"))
        if dashboard.components(app):
            shown_pages += 1
            assert dashboard.viewer(app)["page"]["image"] is None, name
            assert dashboard.viewer(app)["page"]["problem"], name
    assert shown_pages, "the names that are taken as one of a document"


def test_every_format_of_boxes_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, FILES)
    page = {"id": 1, "width": 9, "height": 9, "file_name": "a.png"}
    coco = {"images": [page], "categories": [{"id": 1, "name": "Table"}], "annotations": []}
    upload(app, "instances.json", json.dumps(coco).encode(), role="Ground truth")
    assert not any("was not taken" in each.value for each in app.error)
    assert table(app)["instances.json"] == "Ground truth"
    # The sample predictions do not fit to it, which is said and not shown as numbers.
    assert "No prediction can be evaluated" in " ".join(dashboard.words(dashboard.go(app, OVERVIEW)))
