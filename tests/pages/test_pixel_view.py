"""Pixel confusion under AppTest: says what the core says, for every scope and choice, and stays whole on odd data."""

import itertools
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from evaluator import formats
from evaluator.components.matrix.matrix import SHOWS, matrix_data, short_pixels
from evaluator.project import evaluate
from evaluator.protocols import pixel
from evaluator.protocols.pixel.cells import cell_facts, cell_words, worst_cell
from evaluator.protocols.pixel.difference import difference
from evaluator.protocols.pixel.protocol import page_sizes
from tests import dashboard
from tests.building import box, write_file
from tests.dashboard import (
    OVERVIEW,
    PIXELS,
    SAMPLE_DATA,
    address,
    fine,
    signature,
    start,
    texts,
    words,
    workspace,
)
from tests.sample_results import pixel_result


def components(app: AppTest) -> dict[str, dict[str, Any]]:
    payloads = [json.loads(each.proto.json)[0] for each in app.get("bidi_component")]
    return {"matrix" if "text" in each else "page": each for each in payloads}


def matrix(app: AppTest) -> dict[str, Any]:
    return components(app)["matrix"]


def counted(result: pixel.PixelResult) -> Any:
    return result.whole.matrices.confusion[0].tolist()


def two_files(folder: Path, truth: Any = None, predicted: Any = None, **given: Any) -> str:
    first = write_file(folder / "truth.json", truth or [box(0.0, 0.0, 0.5, 0.5)], side="ground_truth", **given)
    upper = [box(0.0, 0.0, 0.5, 0.25, score=0.5)]
    return workspace(first, [write_file(folder / "model.json", upper if predicted is None else predicted, **given)])


def test_it_opens_on_the_sample_data_with_no_click() -> None:
    app = start(PIXELS)
    result = pixel_result("lines")
    assert dashboard.title(app) == "Confusion"
    line = result.signature.line.removeprefix("pixel 2020 · ")
    assert signature(app) == f"pixel 2020 · score ≥ 0.00 (A), ≥ 0.00 (B) · 12 classes · {line}"
    parts = components(app)
    expected = json.loads(msgspec.json.encode(matrix_data(result.classes, result.whole.matrices, "row", "steps")))
    assert {name: parts["matrix"][name] for name in expected} == expected
    cell = worst_cell(result.whole.matrices.confusion[0])
    assert parts["matrix"]["chosen"] == list(cell)
    assert (parts["matrix"]["rows"], parts["matrix"]["columns"]) == ("Ground truth", "Predicted by A")
    assert set(cell_words(cell_facts(result, *cell))) <= set(words(app))
    # The page with the most pixels of that cell, with exactly these pixels.
    top = cell_facts(result, *cell).behind[0]
    tint = parts["page"]["tint"]
    assert tint["rectangles"] == result.cell_region(top.page, *cell).rectangles.tolist()
    assert parts["page"]["page"]["image"].startswith("data:image/jpeg;base64,")
    assert f"{tint['pixels']:,} pixels" in parts["page"]["caption"]


def test_collapsed_means_and_pages_are_those_of_the_core() -> None:
    app = start(PIXELS)
    results = [pixel_result("lines"), pixel_result("blocks")]
    text = words(app)
    matrices = results[0].whole.collapsed
    for row, column in ((0, 0), (0, 1), (1, 0), (1, 1)):
        assert short_pixels(float(matrices.confusion[0, row, column])) in text
        assert f"{100 * matrices.recall[0, row, column]:.1f} % of row" in text
    at = text.index("Mean F1")
    assert text[at + 1 : at + 3] == ["A", "B"]
    rows = {text[place]: text[place + 1 : place + 3] for place in (at + 3, at + 6, at + 9)}
    assert rows == {
        "All classes": [f"{each.whole.mean_all('f1')[0]:.3f}" for each in results],
        "Present classes": [f"{each.whole.mean_present('f1')[0]:.3f}" for each in results],
        "Mean over pages": [f"{each.page_means.to_json()['mean']['present_classes']['f1']:.3f}" for each in results],
    }
    behind = app.dataframe[0].value
    cell = worst_cell(results[0].whole.matrices.confusion[0])
    assert behind["Pixels"].tolist() == [each.pixels for each in cell_facts(results[0], *cell, limit=100).behind]
    fine(app.toggle(key="pixel_as_table").set_value(True).run())
    assert "matrix" not in components(app)
    table, classes = app.dataframe[0].value, list(results[0].classes)
    assert table["Ground truth"].tolist() == classes
    shares = 100 * results[0].whole.matrices.recall[0]
    assert np.allclose(table[classes].to_numpy(), shares, equal_nan=True), "the heatmap in numbers"


# Every matrix and every scope, not each of one with each of the other.
@pytest.mark.parametrize(("shows", "scope"), list(zip(SHOWS, itertools.cycle(("page", "document", "dataset")))))
def test_the_address_chooses_scope_cell_and_page(shows: str, scope: str) -> None:
    chosen = {"doc": "river-districts.pdf", "page": "2", "row": "Table", "column": "Text"}
    chosen |= {"shows": shows, "scope": scope, "of": "B", "colour": "log"}
    app = start(PIXELS, **chosen)
    result = pixel_result("blocks")
    page = result.dataset.page_row("river-districts.pdf", 1)
    columns, row = {
        "page": (result.per_page, page),
        "document": (result.per_document, int(result.dataset.page_document[page])),
        "dataset": (result.whole, 0),
    }[scope]
    parts = components(app)
    values = getattr(columns.matrices, SHOWS[shows])[row]  # type: ignore[index]
    facts = np.array(parts["matrix"]["facts"][shows], dtype=float)
    assert np.array_equal(facts, values, equal_nan=True)
    assert [parts["matrix"]["classes"][each] for each in parts["matrix"]["chosen"]] == ["Table", "Text"]
    assert parts["page"]["name"] == "river-districts.pdf, page 2"
    defaults = {("scope", "dataset"), ("shows", "row")}
    assert address(app) == dict(chosen.items() - defaults)


def test_under_a_scope_the_rest_says_what_it_is_of() -> None:
    """B against A is of all documents whatever the matrix is of, and pages have no mean of their own."""
    app = start(PIXELS, scope="page", doc="groundwater-note.pdf", page="3")
    assert "all 8 documents · 95 % intervals from resampled documents" in words(app)
    assert "Mean over pages" not in words(app)
    assert not any("the mean over pages" in each.value for each in app.caption)


def test_a_minus_b_is_the_difference_of_the_core() -> None:
    app = start(PIXELS, of="A-B", shows="f1")
    expected, facts = difference(pixel_result("lines").whole, pixel_result("blocks").whole, "f1"), matrix(app)["facts"]
    assert matrix(app)["kind"] == "difference"
    for name in ("first", "second", "gain"):
        np.testing.assert_array_equal(np.array(facts[name], dtype=float), getattr(expected, name))
    assert any(word.startswith("A: ") and "; B: " in word for word in words(app))


def test_two_predictions_come_with_a_sentence_on_asymmetry() -> None:
    app = start(PIXELS, of="B on A", scores="0.6,0.4")
    sides = [formats.read(SAMPLE_DATA / f"{name}.json") for name in ("lines", "blocks")]
    sizes = page_sizes(sides[0], SAMPLE_DATA / "pdf")
    result = pixel.evaluate(*sides, page_sizes=sizes, first_min_score=0.6, min_score=0.4)
    assert matrix(app)["facts"]["pixels"] == counted(result)
    assert (matrix(app)["rows"], matrix(app)["columns"]) == ("Model A", "Model B")
    assert "score ≥ 0.60 (A), ≥ 0.40 (B)" in signature(app)
    asymmetry = "Rows are A, columns B. Swapping them does not mirror the matrix"
    assert any(text.startswith(asymmetry) for text in texts(app.caption))
    assert any("pixels of A are" in word for word in words(app))


def test_a_score_threshold_counts_again_and_is_shared_with_the_other_views() -> None:
    app = start(PIXELS)
    fine(app.slider(key="score_0").set_value(0.8).run())
    assert matrix(app)["facts"]["pixels"] == counted(pixel_result("lines", 0.8))
    assert "score ≥ 0.80 (A), ≥ " in signature(app)
    assert dashboard.go(app, OVERVIEW).slider(key="score_0").value == 0.8
    assert "score ≥ 0.80 (A)" in signature(dashboard.go(app, PIXELS))


def test_choices_by_hand() -> None:
    app = start(PIXELS)
    app.button_group(key="pixel_scope").set_value("document")
    app.button_group(key="pixel_shows").set_value("pixels")
    fine(app.button_group(key="pixel_of").set_value("B").run())
    fine(app.selectbox(key="pixel_document").set_value("tram-options.pdf").run())
    result = pixel_result("blocks")
    code = [each.doc_id for each in result.dataset.documents].index("tram-options.pdf")
    parts = components(app)
    assert parts["matrix"]["facts"]["pixels"] == result.per_document.matrices.confusion[code].tolist()
    assert parts["page"]["name"].startswith("tram-options.pdf, page ")
    fine(app.selectbox(key=dashboard.key_of(app, "pixel_page")).set_value(0).run())
    assert components(app)["page"]["name"] == "tram-options.pdf, page 1"
    assert app.query_params["page"] == "1"
    app.selectbox(key="pixel_missing").set_value("ignore")
    fine(app.selectbox(key="pixel_classes").set_value("different").run())
    assert "different classes · missing pages: ignore" in signature(app)
    assert matrix(app)["classes"][1].startswith("LR1:")


def test_the_page_follows_a_cell_that_was_chosen() -> None:
    app = start(PIXELS, doc="scanned-minutes.pdf", page="1")
    result = pixel_result("lines")
    row, column = result.classes.index("Formula"), result.classes.index("Text")
    # What the callbacks of the heatmap and of the table do.
    app.session_state["pixel_row"], app.session_state["pixel_column"] = "Formula", "Text"
    app.session_state["pixel_follow"] = True
    fine(app.run())
    top = cell_facts(result, row, column).behind[0]
    document = result.dataset.documents[result.dataset.page_document[top.page]].name
    page = components(app)["page"]
    assert page["name"] == f"{document}, page {int(result.dataset.page_index[top.page]) + 1}"
    assert page["tint"]["pixels"] > 0
    assert app.query_params["row"] == "Formula"


def test_pages_without_a_size_are_named_and_one_can_be_set(tmp_path: Path) -> None:
    app = start(PIXELS, files=two_files(tmp_path))
    assert any(word.startswith("1 page without a size: neither the files nor the PDFs") for word in words(app))
    assert [row["Place"] for row in dashboard.issues(app)] == ['document "a.pdf", page 1']
    app.number_input[0].set_value(100.0)
    app.number_input[1].set_value(200.0)
    fine(next(each for each in app.button if each.label.startswith("Use this size")).click().run())
    assert "pages of unknown size: 100 x 200" in signature(app)
    assert "50.0 % of Figure pixels became background" in words(app)
    assert app.query_params["page_size"] == "100x200"
    page = components(app)["page"]
    assert page["tint"]["rectangles"] == [[0, 50, 50, 100]]
    assert (page["page"]["width"], page["page"]["height"]) == (100.0, 200.0)
    assert page["page"]["problem"]["title"]
    fine(app.button(key="pixel_forget_size").click().run())
    assert any("1 page without a size" in word for word in words(app))


def test_page_images_that_are_open_give_the_sizes_of_coco_pages(tmp_path: Path) -> None:
    # The image of a page is known by its file name alone, and lies beside the files, not where the path says.
    image = {"id": 4, "file_name": "/data/scans/report_0002.png", "doc_name": "report", "page_no": 2}
    item = {"id": 1, "image_id": 4, "category_id": 1, "bbox": [0, 0, 40, 40], "area": 800, "iscrowd": 0}
    item["segmentation"] = [[0, 0, 40, 40, 0, 40]]
    truth = {"images": [image], "categories": [{"id": 1, "name": "Table"}], "annotations": [item]}
    result = [{"image_id": 4, "category_id": 1, "bbox": [0, 0, 40, 20], "score": 0.8}]
    for name, content in (("truth.json", truth), ("model.json", result)):
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "pages").mkdir()
    Image.new("RGB", (60, 80), "white").save(tmp_path / "pages" / "report_0002.png")
    paths = tmp_path / "truth.json", [tmp_path / "model.json"]
    app = start(PIXELS, files=workspace(*paths, tmp_path / "pages"))
    expected = [[60 * 80 - 40 * 40, 0], [40 * 20, 40 * 20]]
    assert matrix(app)["facts"]["pixels"] == expected
    assert "pixels of boxes, not of outlines" in signature(app)
    (in_terminal,) = evaluate("pixel", *paths, pdfs=tmp_path / "pages")
    assert isinstance(in_terminal.result, pixel.PixelResult)
    assert in_terminal.result.whole.matrices.confusion[0].tolist() == expected


def test_a_page_that_one_side_lacks_is_said(tmp_path: Path) -> None:
    rows = [box(0.0, 0.0, 0.5, 0.5), box(0.0, 0.0, 0.5, 0.5, page=1)]
    app = start(PIXELS, files=two_files(tmp_path, rows, rows[:1]), page_size="100x100")
    assert any("both sides should have the same pages" in text for text in texts(app.warning))
    assert [each.label for each in app.expander] == ["1 issue of this count"]


def test_other_labels_and_no_scores_are_counted_though_the_views_of_boxes_refuse_them(tmp_path: Path) -> None:
    # Case B: the sides have no label in common, so the matrix has the classes of both.
    files, model = two_files(tmp_path), tmp_path / "model.json"
    text = model.read_text().replace('"Figure"', '"picture"').replace('"Table"', '"grid"')
    assert '"score": 0.5' in text
    model.write_text(text.replace('"score": 0.5', '"score": null'))
    assert any(word.startswith("No prediction can be evaluated") for word in words(start(files=files)))
    app = start(PIXELS, files=files, page_size="100x100")
    names = matrix(app)["classes"]
    assert (names[0], {"LR1:Figure", "LR2:picture"} <= set(names)) == ("Background", True)
    assert "50.0 % of LR1:Figure pixels became background" in words(app)


def test_nothing_open_and_nothing_predicted(tmp_path: Path) -> None:
    app = start(PIXELS, files=workspace(None))
    assert any(word.startswith("No ground truth is open") for word in words(app))
    app = start(PIXELS, files=two_files(tmp_path, predicted=[], pages=[("a.pdf", 0)]), page_size="10x10")
    assert "100 % of Figure pixels became background" in words(app)


def test_an_address_that_makes_no_sense_is_said() -> None:
    app = start(PIXELS, scope="galaxy", shows="7", page_size="0x5", row="Table", column="Tabel")
    assert "The address had parts that could not be followed: scope, shows, page_size, column." in texts(app.caption)
    assert matrix(app)["shows"] == "row"


def test_a_label_may_be_called_as_a_column_of_the_table(tmp_path: Path) -> None:
    rows = [box(0.0, 0.0, 0.5, 0.5, label="Ground truth")]
    app = start(PIXELS, files=two_files(tmp_path, rows, rows, labels=["Ground truth"]), page_size="100x100")
    fine(app.toggle(key="pixel_as_table").set_value(True).run())


def test_other_views_say_that_pixels_cannot_be_counted(tmp_path: Path) -> None:
    rows = [box(0.0, 0.0, 0.5, 0.5)]
    files = dashboard.files_of(tmp_path, rows, rows, rows)
    for view, chosen in ((dashboard.COMPARE, {"compare": "pixels"}), (dashboard.SLICES, {"slices": "pixels"})):
        app = start(view, files=files, **chosen)
        said = [*words(app), *texts(app.caption), *texts(app.info)]
        assert any("The pixels of these files cannot be counted" in text for text in said), (view, chosen)
