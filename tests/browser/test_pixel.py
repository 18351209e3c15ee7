"""Pixel confusion in a real Chromium: from a cell to exactly its pixels, by mouse, by keyboard and by table."""

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.protocols.pixel.cells import cell_facts, worst_cell
from evaluator.protocols.pixel.evaluation import PixelResult
from tests.browser.conftest import Screen, Visit, course, dashboard
from tests.building import Box, write_file
from tests.contrast import contrast
from tests.painting import cell_mask
from tests.sample_results import pixel_result, place_of

pytestmark = [pytest.mark.browser]
VIEW = "pixel_confusion"
RECTANGLE = re.compile(r"M(\d+) (\d+)H(\d+)V(\d+)H\d+Z")
# For each of some points of the raster, whether the browser has it inside the tint.
INSIDE = """(path, points) => {
  const svg = path.ownerSVGElement, point = svg.createSVGPoint();
  return points.map(([x, y]) => { point.x = x; point.y = y; return path.isPointInFill(point); });
}"""


def core(model: str = "lines") -> PixelResult:
    return pixel_result(model)


def code(name: str, model: str = "lines") -> int:
    return core(model).classes.index(name)


def page_row(document: str, number: int, model: str = "lines") -> int:
    row = core(model).dataset.page_row(document, number - 1)
    assert row is not None
    return row


@pytest.fixture(scope="module")
def many(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Forty classes, two models, no PDF."""
    folder = tmp_path_factory.mktemp("many")
    rng = np.random.default_rng(40)
    labels = [f"Class {each:02d} of a long taxonomy" if each % 5 == 0 else f"Part-{each}" for each in range(40)]
    truth, predicted = [], []
    for page in range(3):
        for each in range(40):
            x, y = 0.1 * (each % 10), 0.25 * (each // 10)
            truth.append(Box("a.pdf", page, labels[each], (x, y, x + 0.1, y + 0.25)))
            label = labels[each if rng.uniform() < 0.7 else int(rng.integers(40))]
            predicted.append(Box("a.pdf", page, label, (x, y, x + 0.1, y + 0.2), 0.5))
    paths = (
        write_file(folder / "gt.json", truth, side="ground_truth", labels=labels),
        write_file(folder / "pred.json", predicted, labels=labels),
    )
    with dashboard(folder, "open", str(folder), "--gt", str(paths[0]), "--pred", str(paths[1])) as url:
        yield url


def opened(screen: Screen, **address: str) -> Screen:
    """The view when both its components have drawn."""
    screen.open(VIEW, **address)
    screen.page.locator(".mx-grid td").first.wait_for()
    screen.page.locator("path.tint-fill").wait_for(state="attached")
    return screen.settled()


def stepped(screen: Screen, **address: str) -> Screen:
    screen.to(VIEW, **address)
    screen.page.locator("path.tint-fill").wait_for(state="attached")
    return screen.settled()


def cell(screen: Screen, row: int, column: int) -> Any:
    return screen.page.locator(f"td[data-row='{row}'][data-column='{column}']")


def chosen(screen: Screen) -> tuple[str, str]:
    marked = screen.page.locator(".mx-grid td[aria-selected=true]")
    assert marked.count() == 1
    names = screen.page.locator("th[data-name-row]")
    return (
        names.nth(int(marked.get_attribute("data-row"))).get_attribute("aria-label"),
        names.nth(int(marked.get_attribute("data-column"))).get_attribute("aria-label"),
    )


def caption(screen: Screen) -> str:
    return str(screen.page.locator(".tint-caption").inner_text())


def tinted(screen: Screen, shape: tuple[int, int]) -> np.ndarray:
    mask = np.zeros(shape, dtype=bool)
    path = screen.page.locator("path.tint-fill").get_attribute("d") or ""
    assert "".join(match.group() for match in RECTANGLE.finditer(path)) == path
    for x1, y1, x2, y2 in (map(int, match.groups()) for match in RECTANGLE.finditer(path)):
        assert not mask[y1:y2, x1:x2].any()
        mask[y1:y2, x1:x2] = True
    return mask


def assert_tinted(screen: Screen, place: tuple[str, int], names: tuple[str, str], model: str = "lines") -> None:
    page = page_row(*place, model)
    row, column = names
    mask = cell_mask(core(model), page, code(row, model), code(column, model))
    assert (tinted(screen, mask.shape) == mask).all()
    # What the browser fills is what the path says: centres of some pixels, half of them from the mask.
    rng = np.random.default_rng(7)
    height, width = mask.shape
    points = np.stack([rng.integers(0, width, 300), rng.integers(0, height, 300)], axis=1)
    inside = np.argwhere(mask)[:, ::-1]
    points = np.concatenate([points, inside[rng.integers(0, len(inside), 300)]]) if len(inside) else points
    evaluation = screen.page.locator("path.tint-fill").evaluate(INSIDE, (points + 0.5).tolist())
    assert evaluation == mask[points[:, 1], points[:, 0]].tolist()
    # A raster is the page rounded up; the layer covers the sheet, whose width is the page's own.
    extent = core(model).extent[page]
    box = screen.page.locator("svg.tint-area").get_attribute("viewBox").split()
    assert [float(each) for each in box[2:]] == pytest.approx(extent.tolist())
    sheet, layer = (screen.page.locator(name).bounding_box() for name in (".tint-sheet", "svg.tint-area"))
    assert layer == sheet


def test_from_cells_to_their_pixels(server: str, visit: Visit, tmp_path: Path) -> None:
    course(
        opened(visit(server)),
        it_opens_on_the_sample_data_without_a_click,
        the_grid_says_what_it_is,
        windows_of_every_size_show_the_matrix_and_the_page_beside_it,
        zoom_and_a_sharper_picture,
        partial(every_matrix_can_be_downloaded, tmp_path),
        the_keyboard_walks_the_grid_and_chooses,
        the_table_is_another_way_to_a_cell,
        a_cell_opens_its_pages_and_exactly_its_pixels,
        a_difference_can_be_read_in_the_dark,
        the_background_and_the_diagonal_are_a_cell_like_others,
    )


def it_opens_on_the_sample_data_without_a_click(screen: Screen) -> None:
    assert screen.page.locator(".mx-grid td").count() == 144
    result = core()
    row, column = worst_cell(result.whole.matrices.confusion[0])
    assert chosen(screen) == (result.classes[row], result.classes[column])
    document, number = place_of(cell_facts(result, row, column).behind[0].page)
    assert caption(screen).startswith(f"{document}, page {number}: ")
    assert_tinted(screen, (document, number), (result.classes[row], result.classes[column]))
    # Cells have room, nothing is cut off at the right, and the page ends with the heatmap.
    box = cell(screen, 1, 1).bounding_box()
    assert box["width"] >= 46
    assert box["height"] >= 34
    grid, frame = screen.page.locator(".mx-grid").bounding_box(), screen.page.locator(".mx-scroll").bounding_box()
    assert grid["x"] + grid["width"] <= frame["x"] + frame["width"]
    pane = screen.page.locator(".tint-pane").bounding_box()
    assert abs(pane["y"] + pane["height"] - grid["y"] - grid["height"]) < 30


def a_cell_opens_its_pages_and_exactly_its_pixels(screen: Screen) -> None:
    cell(screen, code("Formula"), code("Text")).click()
    screen.settled()
    assert chosen(screen) == ("Formula", "Text")
    screen.addressed(row="Formula")
    assert screen.address()["column"] == "Text"
    places = [place_of(each.page) for each in cell_facts(core(), code("Formula"), code("Text")).behind]
    document, number = places[0]
    screen.wait(lambda: caption(screen).startswith(f"{document}, page {number}: "), "the page with the most pixels")
    assert_tinted(screen, (document, number), ("Formula", "Text"))
    chips = screen.page.locator(".tint-chip").all_inner_texts()
    assert {re.sub(", [0-9]+ boxes", "", chip) for chip in chips} <= {"True Formula", "Predicted Text"}
    # The second page of the list: its row is clicked on the canvas of the table.
    screen.click_cell(screen.page.locator(".st-key-pixel_lower [data-testid=stDataFrame]").last, 1, 90)
    other, second = places[1]
    screen.wait(lambda: caption(screen).startswith(f"{other}, page {second}: "), f"{other}, page {second}").settled()
    assert_tinted(screen, (other, second), ("Formula", "Text"))
    assert chosen(screen) == ("Formula", "Text")
    # The address is the whole state.
    wanted = {"row": "Formula", "column": "Text", "doc": other, "page": str(second)}
    assert wanted.items() <= screen.address().items()


def the_background_and_the_diagonal_are_a_cell_like_others(screen: Screen) -> None:
    stepped(screen, of="B", doc="river-districts.pdf", page="2", scope="page")
    cell(screen, code("Background", "blocks"), code("Background", "blocks")).click()
    screen.settled()
    screen.wait(lambda: chosen(screen) == ("Background", "Background"), "the cell")
    assert caption(screen).startswith("river-districts.pdf, page 2: ")
    assert_tinted(screen, ("river-districts.pdf", 2), ("Background", "Background"), "blocks")


def zoom_and_a_sharper_picture(screen: Screen) -> None:
    image = screen.page.locator(".tint-image")
    width = image.evaluate("(node) => node.naturalWidth")
    for _ in range(5):
        screen.page.get_by_role("button", name="Zoom in").click()
    screen.wait(lambda: image.evaluate("(node) => node.naturalWidth") > 1.2 * width, "a sharper picture").settled()
    path = screen.page.locator("path.tint-fill").bounding_box()
    sheet = screen.page.locator(".tint-sheet").bounding_box()
    mask = cell_mask(core(), *shown_cell())
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    scale = sheet["width"] / core().extent[shown_cell()[0], 0]
    assert path["x"] - sheet["x"] == pytest.approx(columns[0] * scale, abs=1)
    assert path["y"] - sheet["y"] == pytest.approx(rows[0] * scale, abs=1)
    assert path["width"] == pytest.approx((columns[-1] + 1 - columns[0]) * scale, abs=1.5)
    screen.page.get_by_role("button", name="Whole page").click()
    pane = screen.page.locator(".tint-pane").bounding_box()
    assert screen.page.locator(".tint-sheet").bounding_box()["height"] <= pane["height"]


def shown_cell() -> tuple[int, int, int]:
    row, column = worst_cell(core().whole.matrices.confusion[0])
    return cell_facts(core(), row, column).behind[0].page, row, column


def the_keyboard_walks_the_grid_and_chooses(screen: Screen) -> None:
    assert screen.page.locator(".mx-grid td[tabindex='0']").count() == 1
    keys = screen.page.keyboard
    # The view scrolls: cells that come to lie under the pointer would be read.
    screen.page.mouse.move(2, 2)
    screen.page.evaluate("document.activeElement.blur()")
    keys.press("PageDown")
    assert not screen.page.locator(".mx-grid td:focus").count(), "it scrolls the view"
    keys.press("ArrowUp")
    assert screen.page.locator(".mx-grid td:focus").count() == 1, "arrows need no focus"
    keys.press("Control+Home")
    words = screen.page.locator(".mx-words")
    assert words.inner_text().startswith("Background → Background")
    screen.press("ArrowLeft", "ArrowUp")
    assert words.inner_text().startswith("Background → Background")
    for _ in range(code("Table")):
        keys.press("ArrowDown")
    for _ in range(code("Text")):
        keys.press("ArrowRight")
    share = core().whole.matrices.recall[0, code("Table"), code("Text")]
    assert words.inner_text().startswith("Table → Text")
    assert f"{100 * share:.1f} % of the row" in words.inner_text()
    before = caption(screen)
    keys.press("Enter")
    screen.wait(lambda: caption(screen) != before, "another page").settled()
    assert chosen(screen) == ("Table", "Text")
    # The focus stays in the grid, so that the next arrow goes on from here.
    keys.press("End")
    assert words.inner_text().startswith(f"Table → {core().classes[-1]}")
    top = cell_facts(core(), code("Table"), code("Text")).behind[0].page
    assert_tinted(screen, place_of(top), ("Table", "Text"))


def the_grid_says_what_it_is(screen: Screen) -> None:
    grid = screen.page.get_by_role("grid", name="Confusion matrix, rows Ground truth, columns Predicted by A")
    assert grid.get_by_role("columnheader").count() >= 12
    assert grid.get_by_role("rowheader", name="Table").count() == 1
    assert grid.get_by_role("gridcell", name=re.compile("^Table to Background: ")).count() == 1


def the_table_is_another_way_to_a_cell(screen: Screen) -> None:
    before = caption(screen)
    screen.page.get_by_text("As table").click()
    table = screen.page.locator("[data-testid=stDataFrame]").first
    table.locator("canvas").first.wait_for()
    screen.settled()
    # Third row, second class: the column of names is 130 wide, the others 76.
    screen.click_cell(table, 2, 130 + 76 * 1.5)
    screen.wait(lambda: caption(screen) != before, "the pages of the cell").settled()
    names = core().classes[2], core().classes[1]
    assert (screen.address()["row"], screen.address()["column"]) == names
    screen.page.get_by_text("As table").click()
    screen.page.locator(".mx-grid td[aria-selected=true]").wait_for()
    screen.settled()
    assert chosen(screen) == names


def test_forty_classes_can_be_used_once_their_pages_have_a_size(many: str, visit: Visit) -> None:
    screen = visit(many).open(VIEW)
    assert "3 pages without a size" in screen.page.locator(".ls-empty").inner_text()
    widths = screen.page.locator(".ls-issues td").evaluate_all("(cells) => cells.map((cell) => cell.offsetWidth)")
    assert widths[4] >= 90, "no word of what was found is broken"
    screen.page.get_by_label("Width").fill("612")
    screen.page.get_by_label("Height").fill("792")
    screen.page.get_by_role("button", name="Use this size for pages without one").click()
    screen.page.locator(".mx-grid td").first.wait_for()
    screen.settled()
    assert screen.address()["page_size"] == "612x792"
    assert "No PDF folder is open" in screen.page.locator(".tint-problem").inner_text()
    assert screen.page.locator(".mx-grid td").count() == 41 * 41
    box = cell(screen, 5, 5).bounding_box()
    assert box["width"] >= 46
    assert box["height"] >= 34
    # Names stay while the cells scroll, and the keyboard brings the cell into sight.
    screen.page.locator(".mx-grid td[tabindex='0']").focus()
    screen.page.keyboard.press("Control+End")
    frame = screen.page.locator(".mx-scroll").bounding_box()
    last = cell(screen, 40, 40).bounding_box()
    assert last["x"] + last["width"] <= frame["x"] + frame["width"] + 1
    assert last["y"] + last["height"] <= frame["y"] + frame["height"] + 1
    name = screen.page.locator("th[data-name-row='40']").bounding_box()
    assert name["x"] == pytest.approx(frame["x"], abs=6)
    assert name["x"] + name["width"] <= last["x"]
    screen.page.keyboard.press("Control+Home")
    corner = screen.page.locator(".mx-corner").bounding_box()
    first = cell(screen, 0, 0).bounding_box()
    assert first["x"] >= corner["x"] + corner["width"] - 1
    assert first["y"] >= corner["y"] + corner["height"] - 1
    # Small cells show all of it at once.
    screen.page.get_by_role("button", name="Small cells").click()
    grid, frame = screen.page.locator(".mx-grid").bounding_box(), screen.page.locator(".mx-scroll").bounding_box()
    assert grid["width"] <= frame["width"] + 1
    assert grid["height"] <= frame["height"] + 1
    cell(screen, 12, 0).hover()
    assert screen.page.locator(".mx-words").inner_text().startswith("Part-11 → Background")
    cell(screen, 12, 0).click()
    sentence = screen.page.locator(".ls-cell b", has_text="of Part-11 pixels became background")
    sentence.wait_for()
    screen.settled()
    assert screen.address()["row"] == "Part-11"
    percent = re.match(r"([\d.]+) %", sentence.inner_text())
    assert percent
    # A box of a quarter of the page's height that stops at a fifth of it, in whole pixels.
    assert 19.0 <= float(percent[1]) <= 21.0


def every_matrix_can_be_downloaded(tmp_path: Path, screen: Screen) -> None:
    with screen.page.expect_download() as waiting:
        screen.page.get_by_role("button", name="CSV", exact=True).click()
    waiting.value.save_as(tmp_path / "matrices.zip")
    with zipfile.ZipFile(tmp_path / "matrices.zip") as archive:
        assert len(archive.namelist()) == 8
        rows = list(csv.reader(io.StringIO(archive.read("A confusion.csv").decode())))
    assert [[float(each) for each in row[2:-1]] for row in rows[1:]] == core().whole.matrices.confusion[0].tolist()


NAMES_ABOVE = """() => shadows()
  .flatMap((root) => [...root.querySelectorAll('thead .mx-name span')]).map((span) => {
    const range = document.createRange();
    range.selectNodeContents(span);
    const {left, right, top, bottom} = range.getBoundingClientRect();
    return [left, top, right, bottom];
  })"""


def windows_of_every_size_show_the_matrix_and_the_page_beside_it(screen: Screen) -> None:
    """In the dark theme, which stays; the contrast of cells is a test of their colours."""
    screen.page.emulate_media(color_scheme="dark")
    screen.settled()
    ground = screen.page.get_by_test_id("stApp").evaluate("(node) => getComputedStyle(node).backgroundColor")
    assert ground == "rgb(20, 24, 29)"
    for width, height in ((1440, 900), (960, 600)):
        screen.sized(width, height).settled()
        overflow = screen.page.evaluate("() => document.scrollingElement.scrollWidth - window.innerWidth")
        assert overflow <= 0, width
        page = screen.page.locator(".tint-pane").bounding_box()
        cell = screen.page.locator(".mx-grid td").last.bounding_box()
        assert page["y"] < 0.55 * height, f"the page is in the first window of {width}"
        assert cell["x"] + cell["width"] <= page["x"] <= page["x"] + page["width"] <= width
        assert cell["width"] >= 30, width
        chips = screen.page.locator(".tint-chip").all_inner_texts()
        assert "True Figure" in chips
        assert "Predicted Figure" in chips
        names = screen.page.evaluate(NAMES_ABOVE)
        assert names
        for at, one in enumerate(names):
            for other in names[at + 1 :]:
                apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] + 3 or other[3] <= one[1] + 3
                assert apart, (width, one, other)
    screen.sized().settled()


def a_difference_can_be_read_in_the_dark(screen: Screen) -> None:
    stepped(screen, of="A-B", colour="linear")
    colours = screen.page.locator(".mx-grid td").evaluate_all(
        "(cells) => cells.map((cell) => [getComputedStyle(cell).backgroundColor, getComputedStyle(cell).color])"
    )
    for fill, ink in colours[1:]:
        assert contrast(fill, ink) >= 4.5 or fill == "rgba(0, 0, 0, 0)", (fill, ink)
    assert "blue: A is better; orange: B is better" in screen.page.locator(".mx-legend").inner_text()
    assert screen.page.locator("[data-testid=stException]").count() == 0
