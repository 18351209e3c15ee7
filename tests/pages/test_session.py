"""One reader's session: the address bar in and out, choices over views, uploads, PDFs, what two sessions share."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from tests import dashboard
from tests.building import box, snapshot_file, write_file
from tests.dashboard import (
    FILES,
    OVERVIEW,
    PAGE_BROWSER,
    address,
    cards,
    files_of,
    fine,
    go,
    press,
    start,
    texts,
    viewer,
)
from tests.pages.test_views import TRUTH, assert_no_markup, on_cards, shown, sliders
from tests.sample_results import box_result

pytestmark = pytest.mark.usefixtures("store_path")

TOLD = "The address had parts that could not be followed"


def told(app: AppTest) -> list[str]:
    return [text for text in texts(app.caption) if text.startswith(TOLD)]


def place(app: AppTest) -> tuple[str, int, str]:
    data = viewer(app)
    return data["page"]["document"], data["page"]["index"], data["model"]["letter"]


def test_thresholds_come_from_the_address_and_go_there() -> None:
    assert address(start()) == {}
    app = start(iou="0.62", scores="0,0.3")
    assert sliders(app, "iou", "score_0", "score_1") == [0.62, 0.0, 0.3]
    assert on_cards(app)[1] == shown(box_result(1, 0.62, 0.3))
    assert (address(app), told(app)) == ({"iou": "0.62", "scores": "0,0.3"}, [])
    app.slider(key="iou").set_value(0.5)
    fine(app.slider(key="score_0").set_value(0.07).run())
    assert address(app) == {"scores": "0.07,0.3"}


def test_every_slider_step_comes_back_from_the_address() -> None:
    for step in (0.1, 0.29, 0.57, 0.95):
        app = start(iou=f"{step:g}", scores=f"{step:g}")
        assert sliders(app, "iou", "score_0") == [step, step]
        assert address(app) == {"iou": f"{step:g}", "scores": f"{step:g}"}


def test_a_page_and_a_box_come_from_the_address() -> None:
    wanted = {"doc": "school-census.pdf", "page": "3", "model": "2", "order": "page"}
    first = start(PAGE_BROWSER, **wanted)
    assert place(first) == ("school-census.pdf", 2, "2")
    assert address(first) == wanted
    key = viewer(first)["mistakes"][0]["keys"][0]
    second = start(PAGE_BROWSER, **wanted, box=key)
    assert viewer(second)["selected"] == key
    assert (address(second), told(second)) == (wanted | {"box": key}, [])


def test_filters_come_from_the_address() -> None:
    wanted = {"within": "tram-options.pdf", "label": "Table", "only": "yes"}
    app = start(PAGE_BROWSER, **wanted)
    chosen = app.selectbox(key="within").value, app.selectbox(key="label").value, app.checkbox(key="only").value
    assert chosen == ("tram-options.pdf", "Table", True)
    assert told(app) == []
    assert address(app).items() >= wanted.items()


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


def test_what_cannot_be_followed_is_said_and_not_guessed() -> None:
    usual = start(PAGE_BROWSER)
    # Opened by its name alone, a view has its address replaced by the viewer: it would be two steps back otherwise.
    assert address(usual) == {}
    for at in range(max(map(len, UNFIT.values()))):
        app = start(PAGE_BROWSER, **{name: unfit[at % len(unfit)] for name, unfit in UNFIT.items()})
        (said,) = told(app)
        assert sorted(said.removeprefix(f"{TOLD}: ").removesuffix(".").split(", ")) == sorted(UNFIT), at
        assert (viewer(app)["page"], dashboard.signature(app)) == (viewer(usual)["page"], dashboard.signature(usual))
        assert address(app) == dict(parse_qsl(viewer(usual)["address"]))
    assert told(fine(app.run())) == [], "once is enough"
    assert told(start(PAGE_BROWSER, doc="school-census.pdf", page="4000")) == [f"{TOLD}: page."]
    some = start(iou="0.7", scores="2", zoom="3")
    assert (told(some), sliders(some, "iou")) == ([f"{TOLD}: scores, zoom."], [0.7])


def test_a_late_address_does_not_undo_what_came_after_it() -> None:
    """A quick reader's browser sends the address from before the last answer; the slider jumped back to it."""
    app = start(PAGE_BROWSER, iou="0.7")
    page = viewer(app)["page"]
    for value in (0.71, 0.74):
        fine(app.slider(key="iou").set_value(value).run())
    for name in list(app.query_params):
        del app.query_params[name]
    app.query_params["iou"] = "0.71"
    app.query_params["doc"], app.query_params["page"] = page["document"], str(page["index"] + 1)
    fine(app.slider(key="iou").set_value(0.75).run())
    assert (sliders(app, "iou"), address(app)["iou"]) == ([0.75], "0.75")


def test_a_late_mark_on_a_preset_does_not_undo_the_slider() -> None:
    """The second step of a slider comes with the preset still marked, which looks like a click on it."""
    app = start()
    app.slider(key="iou").set_value(0.51)
    marked = app._tree.get_widget_states()
    fine(app.run())
    for widget in marked.widgets:
        if widget.id.endswith("-iou"):
            widget.double_array_value.data[:] = [0.52]
    fine(app._run(marked))
    assert (sliders(app, "iou"), app.button_group(key=dashboard.key_of(app, "preset")).value) == ([0.52], None)
    fine(app.button_group(key=dashboard.key_of(app, "preset")).set_value("Defaults").run())
    assert sliders(app, "iou") == [0.5]


def test_choices_stay_over_views() -> None:
    app = start()
    app.slider(key="iou").set_value(0.7)
    fine(app.slider(key="score_1").set_value(0.25).run())
    for view in (PAGE_BROWSER, FILES, OVERVIEW, FILES, PAGE_BROWSER, OVERVIEW):
        go(app, view)
        if view != FILES:
            values = {"iou": 0.7, "score_0": 0.0, **({"score_1": 0.25} if view == OVERVIEW else {})}
            assert sliders(app, *values) == list(values.values()), view
            assert (address(app)["iou"], address(app)["scores"]) == ("0.7", "0,0.25")
            scores = "≥ 0.00 (A), ≥ 0.25 (B)" if view == OVERVIEW else "≥ 0.00 ·"
            assert f"IoU ≥ 0.70 · score {scores}" in dashboard.signature(app)
    assert on_cards(app)[1] == shown(box_result(1, 0.7, 0.25))


def test_the_first_run_of_a_view_is_right_already() -> None:
    """Streamlit starts a keyed slider of another view at its lowest value unless told; the numbers then were wrong."""
    app = go(start(), PAGE_BROWSER)
    assert f"{len(box_result(0).mistakes)} mistakes" in dashboard.toolbar(app)
    assert "iou" not in address(app)


def test_the_page_and_its_model_stay_over_views() -> None:
    app = start(PAGE_BROWSER, doc="school-census.pdf", page="3", model="2")
    assert address(go(app, OVERVIEW)) == {"model": "2"}
    assert place(go(app, PAGE_BROWSER)) == ("school-census.pdf", 2, "2")


def test_sessions_do_not_share_choices_or_files(tmp_path: Path) -> None:
    first = start(iou="0.7")
    second = start(files=files_of(tmp_path, TRUTH, TRUTH[:1]))
    assert (sliders(second, "iou"), cards(second)[0]["TP"]) == ([0.5], "1")
    fine(first.run())
    assert (sliders(first, "iou"), cards(first)[0]["name"]) == ([0.7], "lines 1.0")
    changed = start(files=files_of(tmp_path, TRUTH, TRUTH[:2]))
    assert cards(changed)[0]["TP"] == "2", "a changed file under the same name is read anew"


def test_a_chosen_model_that_is_gone(tmp_path: Path) -> None:
    app = start(files=files_of(tmp_path, TRUTH, TRUTH[:1]), model="2")
    assert len(cards(app)) == 1
    assert viewer(go(app, PAGE_BROWSER))["model"]["letter"] == "1"


def table(app: AppTest) -> dict[str, str]:
    frames = [each.value for each in app.dataframe if "Role" in each.value.columns]
    roles = zip(frames[0]["File"], frames[0]["Role"], strict=True) if frames else ()
    return {name: role for name, role in roles if name.endswith(".json")}


def file_bytes(*rows: object, side: str = "prediction") -> bytes:
    return json.dumps(snapshot_file(rows, side=side)).encode()  # type: ignore[arg-type]


SAMPLE = {name: (dashboard.SAMPLE_DATA / f"{name}.json").read_bytes() for name in ("ground_truth", "lines", "blocks")}
BROKEN = ((b"", "JSON"), (b"[1]", "known format"), (file_bytes(box(0.5, 0.1, 0.1, 0.5)), "x2"))


def listed(app: AppTest) -> dict[str, str]:
    groups = dashboard.component(app, "groups")["groups"]
    return {file["name"]: file["what"] for group in groups for file in group["files"]}


@pytest.fixture
def own(tmp_path: Path, whole_app: None) -> str:
    for name, content in SAMPLE.items():
        (tmp_path / f"{name}.json").write_bytes(content)
    truth, *models = (tmp_path / f"{name}.json" for name in SAMPLE)
    return dashboard.workspace(truth, models)


def test_a_broken_upload_is_listed_with_its_reason_and_what_is_open_stays(own: str) -> None:
    app = start(FILES, files=own)
    before = table(app)
    for content, rule in BROKEN:
        dashboard.drop(app, {"broken.json": content})
        assert rule in listed(app)["broken.json"]
        assert table(dashboard.send_event(app, "groups", "back", 1)) == before
    dashboard.add(app, {"third.json": SAMPLE["blocks"]})
    assert on_cards(app)[0] == shown(box_result(0))
    assert table(go(app, FILES))["third.json"] == "Prediction"


def test_an_uploaded_prediction_is_added_and_one_of_the_same_name_replaced(own: str) -> None:
    app = start(FILES, files=own)
    for name, models in (
        ("blocks", ["lines 1.0", "blocks 1.0 (1)", "blocks 1.0 (2)"]),
        ("lines", ["lines 1.0 (1)", "blocks 1.0", "lines 1.0 (2)"]),
    ):
        dashboard.add(app, {"third.json": SAMPLE[name]})
        assert app.selectbox(key=dashboard.key_of(app, "model_a")).options == models
        assert list(table(go(app, FILES))) == ["ground_truth.json", "lines.json", "blocks.json", "third.json"]


def test_thresholds_stay_with_a_further_model_and_begin_anew_with_another_ground_truth(own: str) -> None:
    app = start(files=own, iou="0.7", protocol="coco", mistakes="missed")
    dashboard.add(app, {"third.json": SAMPLE["lines"]})
    assert address(app) == {"uploads": "yes", "iou": "0.7", "protocol": "coco"}
    dashboard.drop(app, {"new.json": file_bytes(*TRUTH[:1], side="ground_truth"), "own.json": file_bytes(*TRUTH)})
    dashboard.choose_truth(app, "new.json")
    dashboard.evaluate(app)
    assert (address(app), [card["TP"] for card in cards(app)]) == ({"uploads": "yes"}, ["1"])


@pytest.mark.usefixtures("whole_app")
def test_another_ground_truth_is_chosen_and_a_prediction_is_the_reference_where_it_is_told_to_be(
    tmp_path: Path,
) -> None:
    app = start(FILES, files=files_of(tmp_path, TRUTH, TRUTH[:2]))
    dashboard.drop(app, {"new truth.json": file_bytes(*TRUTH[:1], side="ground_truth")})
    dashboard.choose_truth(app, "new truth.json")
    (card,) = cards(dashboard.evaluate(app))
    assert (card["TP"], card["FP"], card["FN"]) == ("1", "1", "0")
    roles = {"new truth.json": "Ground truth", "model1.json": "Model A", "truth.json": "Not used"}
    assert table(go(app, FILES)) == roles
    press(app, "Change roles")
    for name, role in (("model1.json", "truth"), ("new truth.json", ""), ("truth.json", "A")):
        dashboard.set_role(app, name, role)
    # What says that it is a ground truth is no prediction: nothing is opened, and its issue is listed.
    assert "truth.json" in listed(dashboard.send_event(app, "groups", "evaluate", 1))
    dashboard.send_event(app, "groups", "back", 1)
    assert table(go(app, FILES)) == roles


@pytest.mark.usefixtures("whole_app")
def test_names_of_uploads_stay_text() -> None:
    app = start(FILES)
    name = "![x](example.invalid)<b>.json"
    assert_no_markup(dashboard.drop(app, {name: b"{"}))
    dashboard.add(app, {name: SAMPLE["lines"], "truth.json": SAMPLE["ground_truth"]})
    assert table(go(app, FILES))[name] == "Model A"
    assert_no_markup(app)


@pytest.fixture
def reader(own: str) -> Iterator[AppTest]:
    app = start(FILES, files=own.replace('"pdfs": null', f'"pdfs": "{dashboard.SAMPLE_DATA / "pdf"}"'))
    yield app
    if "upload_folder" in app.session_state:
        app.session_state["upload_folder"].cleanup()


PDF = (dashboard.SAMPLE_DATA / "pdf" / "tram-options.pdf").read_bytes()


def stored(app: AppTest) -> list[str]:
    if "upload_folder" not in app.session_state:
        return []
    folder = Path(app.session_state["upload_folder"].name) / "uploads"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def page_at(app: AppTest, document: str, index: int = 0) -> dict[str, object]:
    app.session_state["doc"], app.session_state["page"] = document, index
    page: dict[str, object] = viewer(go(app, PAGE_BROWSER))["page"]
    assert page["document"] == document
    return page


def said(app: AppTest) -> str:
    return " ".join(dashboard.read_html(dashboard.block(app, 'role="status"')).words)


def test_a_pdf_is_added_and_used(reader: AppTest) -> None:
    dashboard.add(reader, {"tram-options.pdf": PDF})
    assert said(reader) == "1 page file added."
    assert "undo_open" not in {each.key for each in reader.button}
    assert stored(reader) == ["tram-options.pdf"]
    # The others are still those of the folder that was open.
    for document in ("tram-options.pdf", "school-census.pdf"):
        page = page_at(reader, document)
        assert page["problem"] is None
        assert page["image"]
    text = " ".join(texts(go(reader, FILES).caption))
    assert "by name among the uploads, then under the folder pdf" in text
    assert {"Uploaded pages/ 1 file", "pdf/ 8 files"} <= set(dashboard.table(reader, "Role")["File"])


def test_the_file_in_whose_place_an_upload_is_shown_is_named(reader: AppTest) -> None:
    other = (dashboard.SAMPLE_DATA / "pdf" / "school-census.pdf").read_bytes()
    for files, words in (
        (
            {"tram-options.pdf": other, "new.pdf": other},
            "2 page files added. Shown instead of tram-options.pdf, of pdf.",
        ),
        ({"tram-options.pdf": PDF}, "1 page file added. Shown instead of tram-options.pdf, uploaded before."),
        ({"tram-options.pdf": PDF}, "1 page file added."),
    ):
        assert said(dashboard.add(reader, files)) == words
    press(reader, "Change roles")
    dashboard.set_role(reader, "new.pdf, tram-options.pdf", "")
    assert said(dashboard.evaluate(reader)) == "2 page files removed."
    assert "by name under the folder pdf" in " ".join(texts(reader.caption))


def test_what_is_not_a_pdf_is_refused(reader: AppTest) -> None:
    contents = (b"", b"<html>", b"\x89PNG\r\n", b" " * 1025 + b"%PDF-1.7", b"PK\x03\x04")
    dashboard.add(reader, {f"{at}.pdf": content for at, content in enumerate(contents)})
    rule = "a file with the ending of a page must be a PDF or an image"
    assert {row["File"] for row in dashboard.issues(reader) if row["Rule"] == rule} == {f"{at}.pdf" for at in range(4)}
    assert stored(reader) == []
    assert dashboard.components(go(reader, PAGE_BROWSER))
    dashboard.add(go(reader, FILES), {"tram-options.pdf": PDF, "b.pdf": b"no", "![x](http:x).pdf": b"no"})
    assert said(reader) == "1 page file added."
    assert_no_markup(reader)


NAMES = (
    "../escape.pdf", "..\\escape.pdf", "/tmp/escape.pdf", "C:\\escape.pdf", "a/b.pdf", ".hidden.pdf", "..pdf",
    "new\nline.pdf", "\u202egnp.pdf", "x" * 250 + ".pdf", "漢" * 100 + ".pdf", "ü" * 190 + ".pdf",
)  # fmt: skip


def test_tricks_with_names_write_nothing_outside(reader: AppTest) -> None:
    """Whatever the browser claims the file is called, it is refused or stored under a plain name in the folder."""
    dashboard.drop(reader, dict.fromkeys(NAMES, PDF))
    for name in [name for name, what in listed(reader).items() if what == "PDFs and page images"]:
        dashboard.set_role(reader, name, "pages")
    dashboard.evaluate(reader)
    assert stored(reader)
    assert [each for each in stored(reader) if "\\" in each or each.startswith(".")] == []
    assert not Path("/tmp/escape.pdf").exists()
    assert_no_markup(reader)


def test_dropped_files_are_sorted_and_the_image_of_a_page_is_shown(reader: AppTest) -> None:
    """COCO with documents of several pages, whose page images are known by file_name alone."""
    image = {"id": 4, "file_name": "scans/report_0002.webp", "doc_name": "report", "page_no": 2}
    image |= {"width": 60, "height": 80}
    item = {"id": 1, "image_id": 4, "category_id": 1, "bbox": [6, 8, 30, 40], "area": 1200, "iscrowd": 0}
    truth = {"images": [image], "categories": [{"id": 1, "name": "Table"}], "annotations": [item]}
    result = [{"image_id": 4, "category_id": 1, "bbox": [6, 8, 30, 40], "score": 0.8}]
    sheet = io.BytesIO()
    Image.new("RGB", (60, 80), "white").save(sheet, "WEBP")
    given = {"boxes.json": json.dumps(truth).encode(), "model.json": json.dumps(result).encode()}
    dashboard.drop(reader, {**given, "report_0002.webp": sheet.getvalue(), "notes.txt": b"nothing"})
    assert listed(reader)["notes.txt"] == "neither annotations nor pages"
    dashboard.choose_truth(reader, "boxes.json")
    dashboard.evaluate(reader)
    files = table(go(reader, FILES))
    assert (files["boxes.json"], files["model.json"]) == ("Ground truth", "Model A")
    page = page_at(reader, "report", 1)
    assert (page["problem"], page["width"], page["height"]) == (None, 60.0, 80.0)


def test_without_a_pdf_folder_pages_are_empty_sheets_with_boxes(tmp_path: Path) -> None:
    app = start(PAGE_BROWSER, files=files_of(tmp_path, TRUTH, TRUTH[:1]))
    data = viewer(app)
    assert data["page"]["image"] is None
    assert data["page"]["problem"]["text"]
    assert data["page"]["problem"]["fix"]
    assert data["boxes"]
    assert "No folder of pages is open" in " ".join(texts(go(app, FILES).caption))


def test_a_path_in_an_annotation_is_only_a_name(tmp_path: Path) -> None:
    shown_pages = 0
    for name in ("../../../../etc/passwd", "/etc/passwd", "C:\\x.pdf", "\\\\host\\share\\x.pdf", "."):
        rows = [box(0.1, 0.1, 0.5, 0.5, document=name)]
        truth = write_file(tmp_path / "t.json", rows, side="ground_truth")
        app = start(
            PAGE_BROWSER,
            files=dashboard.workspace(truth, [write_file(tmp_path / "p.json", rows)], dashboard.SAMPLE_DATA / "pdf"),
        )
        if dashboard.components(app):
            shown_pages += 1
            assert viewer(app)["page"]["image"] is None, name
            assert viewer(app)["page"]["problem"], name
    assert shown_pages, "the names that are taken as one of a document"
