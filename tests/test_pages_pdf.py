"""Page rendering: hostile documents, geometry, killing, caches, and that no name leads out of the folder."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps

from evaluator.pdf import pool as pages_pdf
from evaluator.pdf import process, worker
from evaluator.pdf.folder import PdfFolder, find_document
from evaluator.pdf.pool import PageImage, PagePool, Words
from evaluator.pdf.problems import PageProblem
from evaluator.pdf.worker import (
    IMAGE_PIXEL_LIMIT,
    PIXEL_LIMIT,
    SIDE_LIMIT,
    Description,
    Failure,
    InkGrid,
    LayoutList,
    Ready,
    SizeList,
    WordList,
    pixel_size,
    read_frame,
    write_frame,
)
from tests import network
from tests.pdf_fixtures import (
    HOSTILE,
    LEGAL,
    RED_CONTENT,
    Geometry,
    crossed_lines,
    external_stream,
    form_bomb,
    hidden_layer,
    page,
    pages,
    png_header,
)
from tests.red_box import MOST_OFF, off, pixels, red_share

PROJECT = Path(__file__).resolve().parent.parent
SAMPLE = PROJECT / "sample_data" / "pdf"
SHARED = os.environ.get("LAYOUTSCOPE_SHARED", "")
CORPUS = Path(SHARED, "hostile")
needs_corpus = pytest.mark.skipif(not SHARED, reason="LAYOUTSCOPE_SHARED does not name the folder of hostile/")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
SHORT = 0.3  # seconds; the pages that never end need no more to show it


@pytest.fixture(scope="module", autouse=True)
def compiled_modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    # Some fifty processes start here: 0.6 s each where compiled modules may not be kept, else 0.1 s.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.mktemp("compiled")))
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield


@pytest.fixture(scope="module")
def pool(compiled_modules: None) -> Iterator[PagePool]:
    # Generous: a slow machine must not turn a good page into a slow one.
    with PagePool(time_limit=20.0) as shared:
        yield shared


@pytest.fixture(scope="module")
def short_pool(compiled_modules: None) -> Iterator[PagePool]:
    with PagePool(time_limit=SHORT) as shared:
        yield shared


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes], Path]:
    def write_file(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write_file


# --- hostile documents -------------------------------------------------------------------------------------------


def outcome(pool: PagePool, path: Path) -> str:
    """The kind of the problem with the first page, or that it renders; within the limits in any case."""
    try:
        image = pool.page_image(path, 0)
    except PageProblem as problem:
        return problem.kind if str(path.parent) not in str(problem) else str(problem)
    assert image.width * image.height <= PIXEL_LIMIT
    assert max(image.width, image.height) <= SIDE_LIMIT
    return "renders"


def test_hostile_documents_have_their_wanted_outcomes(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    found = {name: outcome(pool, write(f"{name}.pdf", build())) for name, (build, _) in HOSTILE.items()}
    assert found == {name: wanted for name, (_, wanted) in HOSTILE.items()}


# The wanted outcomes of hostile/index.json: kinds that are fine, or "renders".
TYPED = {"not_pdf", "unreadable"}
BOMB = {"too_slow", "out_of_memory", "worker_lost", "unreadable", "renders"}
CORPUS_WANTED: dict[str, set[str]] = {
    "active_js": {"renders"},
    "bomb_dash": BOMB,
    "bomb_flate3": BOMB,
    "bomb_form_self": {"renders", "unreadable"},
    "bomb_forms": {"too_slow"},
    "bomb_image": BOMB,
    "bomb_ops": BOMB,
    "bomb_smask": BOMB,
    "bomb_tiling": BOMB,
    "bomb_type4fn": BOMB,
    "count_lies_high": TYPED | {"renders"},
    "deep_arrays": TYPED | {"renders"},
    "deep_pagetree": TYPED | {"renders"},
    "empty": TYPED,
    "enc_owner": {"renders"},
    "enc_rc4": {"encrypted"},
    "external_stream": {"renders"},
    "kids_cycle": TYPED,
    "leading_junk": TYPED | {"renders"},
    "no_mediabox": TYPED | {"renders"},
    "no_xref": TYPED | {"renders"},
    "ocg_hidden": {"renders"},
    "ok": {"renders"},
    "pages_5000": {"renders"},
    "png_named": TYPED,
    "prev_cycle": TYPED | {"renders"},
    "size_reversed": {"renders"},
    "svg_named": TYPED,
    "text_named": TYPED,
    "trailing_junk": {"renders"},
    "truncated": TYPED | {"renders"},
    "zero_pages": {"no_pages"},
    **dict.fromkeys(("size_1e30", "size_1e6", "size_2e9", "size_nan", "size_short", "size_sliver", "size_zero"),
                    TYPED | {"renders"}),
}  # fmt: skip
CORPUS_GEOMETRY = [f"geom_{name}" for name in (
    "crop", "crop_disjoint", "crop_outside", "crop_rot180", "crop_rot90", "fraction", "inherit_crop_rot270",
    "mediaoff", "mediaoff_crop", "mediaoff_crop_rot270", "mediaoff_crop_rot90", "rot-90", "rot0", "rot180", "rot450",
    "rot90", "userunit2", "userunit_crop_rot90",
)]  # fmt: skip


@needs_corpus
def test_every_row_of_the_corpus_is_tested() -> None:
    rows = {name for name in json.loads((CORPUS / "index.json").read_text()) if name.startswith("pdf/")}
    tested = {f"pdf/{name}.pdf" for name in (*CORPUS_WANTED, *CORPUS_GEOMETRY, "geom_rot45")}
    assert rows == tested


@needs_corpus
def test_corpus_rows_have_their_wanted_outcomes(pool: PagePool, short_pool: PagePool) -> None:
    found = {
        name: outcome(short_pool if name.startswith("bomb_") else pool, CORPUS / "pdf" / f"{name}.pdf")
        for name in CORPUS_WANTED
    }
    assert {name: kind for name, kind in found.items() if kind not in CORPUS_WANTED[name]} == {}


@needs_corpus
def test_corpus_details(pool: PagePool) -> None:
    folder = CORPUS / "pdf"
    assert pool.describe(folder / "pages_5000.pdf").page_count == 5000
    assert pool.page_image(folder / "pages_5000.pdf", 4999).page_width == 9
    assert pool.describe(folder / "enc_rc4.pdf").encrypted
    assert pool.describe(folder / "zero_pages.pdf").page_count == 0
    reversed_corners = pool.page_image(folder / "size_reversed.pdf", 0)
    assert (reversed_corners.page_width, reversed_corners.page_height) == (612, 792)
    green = pixels(pool.page_image(folder / "ocg_hidden.pdf", 0, dpi=40))[5, 5]
    assert green.min() > 240
    assert pixels(pool.page_image(folder / "external_stream.pdf", 0, dpi=40)).min() > 240
    assert pool.page_image(folder / "size_zero.pdf", 0).warnings == (
        "The page's /MediaBox has no area: drawn as 612 x 792 pt, boxes may be off.",
    )
    for page_index in (-1, 1, 10**6, 10**30):
        with pytest.raises(PageProblem, match=r"ok\.pdf has no page"):
            pool.page_image(folder / "ok.pdf", page_index)


def test_hidden_layers_stay_hidden(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    shown = pixels(pool.page_image(write("layers.pdf", hidden_layer()), 0, dpi=40))
    assert shown[5, 5].min() > 240


def test_content_in_another_file_is_not_read(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    outside = write("outside.txt", RED_CONTENT)
    shown = pixels(pool.page_image(write("external.pdf", external_stream(str(outside))), 0, dpi=40))
    assert shown.min() > 240


ODD_GEOMETRY = {
    b"/MediaBox [0 0 612 792] /Rotate 45": "The page's /Rotate is 45, which is not a multiple of 90: boxes may be off.",
    b"/MediaBox [0 0 0 0]": "The page's /MediaBox has no area: drawn as 612 x 792 pt, boxes may be off.",
    b"/MediaBox [0 0 nan inf]": "The page's /MediaBox is not four numbers: drawn as 612 x 792 pt, boxes may be off.",
    b"/MediaBox [0 0 612]": "The page's /MediaBox is not four numbers: drawn as 612 x 792 pt, boxes may be off.",
    b"": "The page has no /MediaBox: drawn as 612 x 792 pt, boxes may be off.",
    b"/MediaBox [0 0 612 792] /CropBox [1000 0 1200 9]": "The page's /CropBox shares no area with its /MediaBox: the "
    "whole /MediaBox is shown, boxes may be off.",
    b"/MediaBox [0 0 612 792] /CropBox [1 2 3]": "The page's /CropBox is not four numbers: the whole /MediaBox is "
    "shown, boxes may be off.",
}


def test_illegal_geometry_is_told(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    for entries, warning in ODD_GEOMETRY.items():
        path = write("odd.pdf", page(entries=entries))
        image = pool.page_image(path, 0, dpi=30)
        assert (image.warnings, pool.words(path, 0).warnings) == ((warning,), (warning,)), entries
        assert red_share(image).max() > 0.9, entries
    path = write("inherited.pdf", page(inherited=b"/Rotate 5 0 R", others=(b"30",)))
    assert pool.page_image(path, 0, dpi=30).warnings == (
        "The page's /Rotate is 30, which is not a multiple of 90: boxes may be off.",
    )


def test_stray_bytes_in_the_renderers_words(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    # MuPDF hands the byte on as a lone surrogate, which no message can hold.
    path = write("stray.pdf", page(RED_CONTENT + b" 5\xbb"))
    assert pool.page_image(path, 0, dpi=30).warnings == (
        "The renderer met a problem and may have left something out: syntax error: unknown keyword: '5\\udcbb'.",
    )


def test_repaired_and_capped_documents_say_so(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    path = write("cut.pdf", page().split(b"xref")[0])
    assert pool.describe(path) == Description(
        1, False, ("The file is damaged and was repaired while reading: pages may be missing or wrong.",)
    )
    image = pool.page_image(write("poster.pdf", page(entries=b"/MediaBox [0 0 7200 7200]")), 0, dpi=100)
    assert (image.width, image.height) == (5000, 5000)
    assert image.warnings == ("The page is too large for 100 dpi; it is drawn at 50 dpi.",)


# --- geometry ----------------------------------------------------------------------------------------------------


def test_boxes_land_on_the_picture(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    wrong = {}
    for name, geometry in LEGAL.items():
        path = write("geometry.pdf", geometry.document())
        images = {f"{dpi} dpi": pool.page_image(path, 0, dpi=dpi) for dpi in (72, 150, 300)}
        # Drawn in bands.
        images["large"] = pool.page_image(path, 0, width=2_000)
        wrong |= {(name, size): far for size, image in images.items() if (far := off(image, geometry)) > MOST_OFF}
        sizes = {(image.page_width, image.page_height) for image in images.values()}
        assert np.allclose(list(sizes), geometry.size(), atol=1e-3), name
    assert wrong == {}


def test_a_large_picture_is_drawn_in_bands_and_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line from corner to corner costs as much as the rectangle around it, so none may be large."""
    drawn: list[int] = []
    draw = pymupdf.DisplayList.get_pixmap

    def band(listed: Any, *given: Any, **more: Any) -> Any:
        made = draw(listed, *given, **more)
        drawn.append(made.width * made.height)
        return made

    content = crossed_lines(14_400, 14_400)
    monkeypatch.setattr(pymupdf.DisplayList, "get_pixmap", band)
    monkeypatch.setattr("evaluator.pdf.worker._webp", lambda picture: picture.tobytes())
    document = worker._PdfDocument(content)
    image = document.page_image(0, dpi=None, width=2_000)
    assert (image.width, image.height) == (2_000, 2_000)
    assert drawn
    assert sum(drawn) == 4_000_000
    assert max(drawn) <= 2_500_000
    whole = pymupdf.open(stream=content, filetype="pdf")[0].get_pixmap(matrix=pymupdf.Matrix(1 / 7.2, 1 / 7.2))
    own, other = (np.frombuffer(each, np.uint8).astype(int) for each in (image.webp, whole.samples))
    # Where a line leaves a band its edge is rounded once more.
    assert np.abs(own - other).max() < 32


def test_what_is_on_a_page_is_read_once_for_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    listed = pymupdf.Page.get_displaylist

    def counted(page: Any, *given: Any, **more: Any) -> Any:
        read.append(page.number)
        return listed(page, *given, **more)

    monkeypatch.setattr(pymupdf.Page, "get_displaylist", counted)
    content = (SAMPLE / "river-districts.pdf").read_bytes()
    document = worker._PdfDocument(content)
    parts = [(0.1, 0.1, 0.6, 0.4), (0.0, 0.0, 1.0, 1.0), (0.33, 0.5, 0.97, 0.7)]

    def drawn(document: Any, page_index: int, part: tuple[float, float, float, float], dpi: float = 144.0) -> PageImage:
        made: PageImage = document.page_image(page_index, dpi=dpi, width=640, part=part)
        return made

    assert [drawn(document, 0, part) for part in parts] == [
        drawn(worker._PdfDocument(content), 0, part) for part in parts
    ], "the same pictures, bytes and warnings"
    assert len(read) == 1 + len(parts)
    drawn(document, 0, parts[0], 72.0)
    assert len(read) == 1 + len(parts)
    whole = document.page_image(0, dpi=72.0, width=None)
    assert whole == worker._PdfDocument(content).page_image(0, dpi=72.0, width=None)
    # Nothing of a page is kept once another one is looked at, or it was drawn whole.
    assert document._kept is None
    drawn(document, 0, parts[0])
    document.words(1)
    assert document._kept is None
    drawn(document, 1, parts[0])
    assert read[-2:] == [0, 1]


def test_the_text_of_a_layout_is_that_without_pictures() -> None:
    """Where a page shows none, its text is read once for both."""
    for name in ("river-districts.pdf", "scanned-minutes-1997.pdf"):
        document = worker._PdfDocument((SAMPLE / name).read_bytes())
        for page_index in range(document.describe().page_count):
            layout = document.layout(page_index)
            given = document._document[page_index]
            spans = [
                span
                for block in given.get_text("dict", flags=0)["blocks"]
                for line in block["lines"]
                for span in line["spans"]
                if span["text"].strip()
            ]
            assert np.frombuffer(layout.sizes).tolist() == [span["size"] for span in spans]
            assert len(layout.images) == 32 * len(given.get_image_info())


@pytest.mark.parametrize("name", ["plain", "turned_90", "shifted_cropped_270", "fractions", "unit_cropped_180"])
def test_a_part_is_drawn_like_the_whole_page(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same pixels it is what the whole page shows there; in fewer what that looks like scaled down."""
    monkeypatch.setattr("evaluator.pdf.worker._webp", lambda picture: picture.tobytes())
    words = b"BT /F 20 Tf 105 150 Td (Hamburg) Tj ET"
    font = (b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",)
    document = worker._PdfDocument(LEGAL[name].document(RED_CONTENT + words, b"/Font << /F 5 0 R >>", font))

    def picture(image: PageImage) -> Image.Image:
        return Image.frombytes("RGB", (image.width, image.height), image.webp)

    page = picture(document.page_image(0, dpi=144.0, width=None))
    left, top, right, bottom = (
        int(share * side) for share, side in zip((0.2, 0.1, 0.9, 0.8), page.size * 2, strict=True)
    )
    part = (left / page.width, top / page.height, right / page.width, bottom / page.height)
    there = page.crop((left, top, right, bottom))
    assert there.convert("L").getextrema()[0] < 128, "something is on it"
    own = picture(document.page_image(0, dpi=144.0, width=page.width, part=part))
    assert own.size == there.size
    # An edge within a pixel may be rounded otherwise.
    assert np.abs(np.asarray(own).astype(int) - np.asarray(there)).max() <= 2
    small = document.page_image(0, dpi=144.0, width=there.width // 2, part=part)
    assert small.width == there.width // 2
    scaled = worker.part_of(page, part, width=small.width)
    assert scaled.size == (small.width, small.height)
    assert np.abs(np.asarray(picture(small)).astype(int) - np.asarray(scaled)).mean() < 2.0


def test_a_part_that_is_rounded_otherwise_is_moved_to_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """MuPDF reckons in 24 bits: of a sliver far from the corner it draws a row or a column more."""
    moved: list[tuple[int, int]] = []
    move = worker._moved

    def noted(picture: Image.Image, place: tuple[int, int], size: tuple[int, int]) -> Image.Image:
        moved.append(place)
        return move(picture, place, size)

    monkeypatch.setattr(worker, "_moved", noted)
    document = worker._PdfDocument(page(b"0 0 1 rg 0 0 612 792 re f"))
    content = document._page(0)[0].get_displaylist()
    for step in range(100):
        part = (1.0 - 1e-5 - 1e-7 * step, 0.25, 1.0, 0.75)
        size = worker.part_size((1_275, 1_650), part, width=100)
        picture, told = worker._drawn_page(content, (612.0, 792.0), size, part)
        assert picture.size == size
        assert not told
        # Blue all over but for what is antialiased at the edge of the page.
        assert picture.getpixel((0, size[1] // 2))[2] == 255  # type: ignore[index]
    assert moved


@needs_corpus
def test_corpus_boxes_land_on_the_picture(pool: PagePool) -> None:
    wrong = {}
    for name in CORPUS_GEOMETRY:
        path = CORPUS / "pdf" / f"{name}.pdf"
        text = path.read_bytes().decode("latin-1")
        media, crop, rotate, unit = (
            [float(number) for found in re.findall(pattern, text) for number in found.split()]
            for pattern in (
                r"/MediaBox \[([^\]]+)\]",
                r"/CropBox \[([^\]]+)\]",
                r"/Rotate (-?\d+)",
                r"/UserUnit ([\d.]+)",
            )
        )
        geometry = Geometry(
            (media[0], media[1], media[2], media[3]),
            (crop[0], crop[1], crop[2], crop[3]) if crop else None,
            int(rotate[0]) if rotate else 0,
            unit[0] if unit else 1.0,
        )
        for dpi in (72, 300):
            image = pool.page_image(path, 0, dpi=dpi)
            far, told = off(image, geometry), [warning for warning in image.warnings if "/Rotate" in warning]
            assert np.allclose((image.page_width, image.page_height), geometry.size(), atol=1e-3), name
            if far > MOST_OFF or told:
                wrong[name, dpi] = (far, told)
    assert wrong == {}
    assert pool.page_image(CORPUS / "pdf" / "geom_rot45.pdf", 0).warnings == (
        "The page's /Rotate is 45, which is not a multiple of 90: boxes may be off.",
    )


def test_word_boxes_cover_the_dark_pixels(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    content = b"BT /F 20 Tf 105 150 Td (Hamburg) Tj ET"
    font = (b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",)
    for name, geometry in LEGAL.items():
        path = write("words.pdf", geometry.document(content, b"/Font << /F 5 0 R >>", font))
        words = pool.words(path, 0)
        assert words.texts == ("Hamburg",), name
        assert words.boxes.dtype == np.float64
        assert words.boxes.shape == (1, 4), name
        assert not words.boxes.flags.writeable
        image = pool.page_image(path, 0, dpi=144)
        rows, columns = np.nonzero(pixels(image)[..., 1] < 128)
        dark = np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])
        box = words.boxes[0] * [image.width, image.height, image.width, image.height]
        assert (box[:2] <= dark[:2] + 1.5).all(), name
        assert (box[2:] >= dark[2:] - 1.5).all(), name
        # ... and not much more than them: the line is 20 pt high, its letters about 15 pt.
        assert np.abs(box - dark).max() <= 10 * geometry.unit * 144 / 72, name


def test_words_outside_the_displayed_page_are_left_out(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    content = b"BT /F 20 Tf 60 150 Td (seen) Tj 0 90 Td (hidden) Tj ET"
    font = (b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",)
    geometry = Geometry((0, 0, 240, 300), (70, 100, 200, 200), 90)
    words = pool.words(write("cut.pdf", geometry.document(content, b"/Font << /F 5 0 R >>", font)), 0)
    assert "hidden" not in "".join(words.texts)
    assert words.boxes.min() >= 0
    assert words.boxes.max() <= 1


def test_page_without_text_has_no_words(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    words = pool.words(write("bare.pdf", page()), 0)
    assert words.boxes.shape == (0, 4)
    assert words.texts == ()


@given(
    st.floats(1e-6, 1e30),
    st.floats(1e-6, 1e30),
    st.one_of(st.tuples(st.floats(0.01, 1200), st.none()), st.tuples(st.none(), st.integers(1, 16_000))),
)
def test_pixel_size_keeps_its_limits(width: float, height: float, wanted: tuple[float | None, int | None]) -> None:
    for most in (PIXEL_LIMIT, 8_000_000, 1):
        drawn = pixel_size(width, height, dpi=wanted[0], width=wanted[1], most=most)
        assert min(drawn) >= 1
        assert max(drawn) <= SIDE_LIMIT
        # A sliver is a pixel wide, and as long as a picture may be.
        assert drawn[0] * drawn[1] <= most or min(drawn) == 1


def test_fewer_pixels_where_a_sharp_picture_is_not_needed(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    large = write("large.pdf", page(entries=b"/MediaBox [0 0 14400 14400]"))
    image = pool.page_image(large, 0, dpi=90, most_pixels=90_000)
    assert (image.width, image.height) == (300, 300)
    assert image.warnings == ()
    assert pool.page_image(large, 0, width=400, most_pixels=90_000).width == 300
    assert pool.page_image(large, 0, width=200, most_pixels=90_000).width == 200
    for wrong in (0, PIXEL_LIMIT + 1):
        with pytest.raises(ValueError, match="most_pixels must be from 1 to"):
            pool.page_image(large, 0, most_pixels=wrong)


def test_width(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    path = write("one.pdf", page())
    image = pool.page_image(path, 0, width=306)
    assert (image.width, image.height) == (306, 396)
    for wrong in (0.0, -1.0, float("nan"), float("inf"), 1e6):
        with pytest.raises(ValueError, match="dpi must be above 0"):
            pool.page_image(path, 0, dpi=wrong)
    with pytest.raises(ValueError, match="width must be from 1"):
        pool.page_image(path, 0, width=0)


# --- images ------------------------------------------------------------------------------------------------------


def picture_of(image: Image.Image, format_name: str, **more: Any) -> bytes:
    sheet = io.BytesIO()
    image.save(sheet, format_name, **more)
    return sheet.getvalue()


def test_an_image_is_a_document_of_one_page(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    drawn = Image.new("RGB", (400, 200), (200, 30, 30))
    for suffix, kind in {"png": "PNG", "JPG": "JPEG", "bmp": "BMP", "tif": "TIFF", "webp": "WEBP"}.items():
        path = write(f"page.{suffix}", picture_of(drawn, kind))
        assert pool.describe(path) == Description(1, False, ())
        image = pool.page_image(path, 0)
        # Not enlarged to 110 dpi: it has 400 pixels.
        assert (image.width, image.height, image.page_width, image.page_height) == (400, 200, 400, 200), kind
        assert np.abs(pixels(image)[100, 200] - np.array([200.0, 30.0, 30.0])).max() <= 12, kind
        assert pool.page_image(path, 0, width=40).height == 20
        assert pool.page_image(path, 0, width=4_000).width == 400
        assert pool.words(path, 0).texts == ()
        with pytest.raises(PageProblem) as caught:
            pool.page_image(path, 1)
        assert caught.value.kind == "page_out_of_range", kind
    with pytest.raises(PageProblem) as caught:
        pool.page_image(write("sound.webp", b"RIFF\x10\0\0\0WAVEfmt "), 0)
    assert caught.value.kind == "not_pdf"


def test_image_modes_and_compressions(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    for mode in ("1", "L", "LA", "RGBA", "I;16"):
        white = 65535 if mode == "I;16" else 0 if mode in ("LA", "RGBA") else 255
        path = write("mode.png", picture_of(Image.new(mode, (40, 20), white), "PNG"))
        assert pixels(pool.page_image(path, 0)).min() > 240, mode
    green = Image.new("RGB", (60, 30), (30, 160, 60))
    for compression in ("raw", "tiff_lzw", "tiff_deflate", "packbits", "jpeg"):
        image = pool.page_image(write("page.TIF", picture_of(green, "TIFF", compression=compression)), 0)
        assert (image.width, image.height) == (60, 30), compression
        assert np.abs(pixels(image)[15, 30] - np.array([30.0, 160.0, 60.0])).max() <= 12, compression


def test_image_is_turned_as_its_exif_orientation_says(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    """Pillow's own transposition is the oracle; 9 is no orientation."""
    stored = Image.new("RGB", (48, 24), "white")
    stored.paste((200, 30, 30), (0, 0, 16, 8))
    for format_name, turned in itertools.product(("JPEG", "PNG", "TIFF"), range(1, 10)):
        exif = Image.Exif()
        exif[0x0112] = turned
        content = picture_of(stored, format_name, exif=exif)
        image = pool.page_image(write(f"turned.{format_name.lower()}", content), 0)
        with Image.open(io.BytesIO(content)) as again:
            expected = ImageOps.exif_transpose(again).convert("RGB")
        assert (image.width, image.height) == expected.size, (format_name, turned)
        assert (image.page_width, image.page_height) == expected.size, (format_name, turned)
        far = np.abs(pixels(image) - np.asarray(expected, dtype=np.float32)).mean()
        assert far < 8, (format_name, turned)
        told = f"The image is turned by its EXIF orientation ({turned}): boxes refer to the turned picture."
        assert image.warnings == ((told,) if 2 <= turned <= 8 else ()), (format_name, turned)


def test_page_sizes_of_an_image_are_those_of_the_turned_picture(
    pool: PagePool, write: Callable[[str, bytes], Path]
) -> None:
    exif = Image.Exif()
    exif[0x0112] = 8
    sheet = io.BytesIO()
    Image.new("RGB", (48, 24)).save(sheet, "JPEG", exif=exif)
    path = write("side.jpg", sheet.getvalue())
    assert pool.page_sizes(path).tolist() == [[24.0, 48.0]]
    assert pool.page_image(path, 0, width=12).height == 24


def test_broken_exif_reads_as_none(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    for exif in (b"not a directory", b"II*\0\x08\0\0\0\xff\xff", b"II*\0\xff\xff\xff\xff", b"XX"):
        content = picture_of(Image.new("RGB", (40, 20)), "JPEG", exif=b"Exif\0\0" + exif)
        image = pool.page_image(write("broken.jpg", content), 0)
        assert (image.width, image.height, image.warnings) == (40, 20, ()), exif


def tiff_pages(*pages: tuple[int, int, int]) -> bytes:
    """A TIFF with a page for each shade: width, height, shade of grey."""
    first, *others = [Image.new("L", (width, height), shade) for width, height, shade in pages]
    sheet = io.BytesIO()
    first.save(sheet, "TIFF", save_all=True, append_images=others, compression="tiff_deflate")
    return sheet.getvalue()


def test_a_tiff_of_several_pages_has_them_all(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    path = write("scan.tif", tiff_pages((40, 60, 10), (60, 40, 120), (20, 30, 240)))
    assert pool.describe(path).page_count == 3
    assert pool.page_sizes(path).tolist() == [[40.0, 60.0], [60.0, 40.0], [20.0, 30.0]]
    for index, (width, height, shade) in enumerate([(40, 60, 10), (60, 40, 120), (20, 30, 240)]):
        image = pool.page_image(path, index)
        assert (image.width, image.height) == (width, height)
        assert np.abs(pixels(image)[height // 2, width // 2] - shade).max() <= 4
        assert len(pool.words(path, index).texts) == 0
        assert pool.ink(path, index).marked.shape[1] == 160
    with pytest.raises(PageProblem) as caught:
        pool.page_image(path, 3)
    assert caught.value.kind == "page_out_of_range"
    assert "the document has 3" in caught.value.text


def test_a_thumbnail_in_a_tiff_is_no_page(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    """TIFF 6.0, NewSubfileType: bit 0 is a smaller copy of another picture of the file."""
    frames = [Image.new("L", size, 90) for size in ((40, 60), (4, 6), (20, 30))]
    frames[1].encoderinfo = {"tiffinfo": {0x00FE: 1}}
    sheet = io.BytesIO()
    frames[0].save(sheet, "TIFF", save_all=True, append_images=frames[1:])
    path = write("thumb.tiff", sheet.getvalue())
    assert pool.page_sizes(path).tolist() == [[40.0, 60.0], [20.0, 30.0]]


def test_the_ink_of_an_image_is_that_of_the_turned_picture(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    drawn = Image.new("L", (80, 40), 255)
    drawn.paste(0, (0, 0, 80, 10))
    turned = Image.Exif()
    turned[0x0112] = 6
    for suffix, kind in {"tif": "TIFF", "jpg": "JPEG", "webp": "WEBP"}.items():
        path = write(f"page.{suffix}", picture_of(drawn.convert("RGB"), kind, exif=turned))
        marked = pool.ink(path, 0).marked
        # Turned by 90 degrees clockwise, the top is the right.
        assert marked[:, -20:].mean() > 0.9, kind
        assert marked[:, :60].mean() < 0.1, kind


def test_the_image_of_a_page_stands_in_for_a_document_that_is_not_there(tmp_path: Path) -> None:
    for name in ("report-0003.png", "book.pdf"):
        (tmp_path / name).write_bytes(b"x")
    folder = PdfFolder(tmp_path)
    images = {("report", 2): "scans\\a/report-0003.png", ("book", 1): "book-0002.png", ("report", 3): "../../x.png"}
    assert folder.find_page("report", 2, images) == (tmp_path.resolve() / "report-0003.png", 0)
    assert folder.find_page("book", 1, images) == (tmp_path.resolve() / "book.pdf", 1)
    for index in (1, 3):
        with pytest.raises(PageProblem) as caught:
            folder.find_page("report", index, images)
        assert "No document named report is" in caught.value.text


def test_of_several_folders_the_better_name_goes_first_and_then_the_earlier_folder(tmp_path: Path) -> None:
    for name in ("first/report.png", "first/deep/page.pdf", "then/report.pdf", "then/page.pdf", "then/only.pdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    folder = PdfFolder((tmp_path / "first", tmp_path / "then", tmp_path / "gone"))
    root = tmp_path.resolve()
    assert folder.find("only.pdf") == root / "then/only.pdf"
    assert folder.find("report.pdf") == root / "then/report.pdf"
    assert folder.find("Report") == root / "then/report.pdf"
    assert folder.find("PAGE.pdf") == root / "first/deep/page.pdf"
    with pytest.raises(PageProblem) as caught:
        folder.find("none.pdf")
    assert "in the folder gone or in the folders inside it" in caught.value.text


def test_a_link_out_of_one_of_several_folders_is_refused(tmp_path: Path) -> None:
    for name in ("first", "then"):
        (tmp_path / name).mkdir()
    (tmp_path / "then" / "a.pdf").write_bytes(b"x")
    (tmp_path / "first" / "a.pdf").symlink_to(tmp_path / "then" / "a.pdf")
    with pytest.raises(PageProblem, match="leads out of the folder"):
        PdfFolder((tmp_path / "first", tmp_path / "then")).find("a.pdf")


def test_cmyk_jpeg_is_shown_in_its_colours(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    sheet = io.BytesIO()
    Image.new("RGB", (64, 64), (200, 30, 30)).convert("CMYK").save(sheet, "JPEG")
    shown = pixels(pool.page_image(write("print.jpg", sheet.getvalue()), 0, width=32))
    assert np.abs(shown[16, 16] - np.array([200.0, 30.0, 30.0])).max() <= 16


def test_large_jpeg_is_decoded_at_a_fraction(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    """More pixels than an image may be decoded to: drawn at half its size, as sharp as the pixel budget allows."""
    content = large_jpeg(10_000, 7_000)
    path = write("a0.jpg", content)
    small = pool.page_image(path, 0, width=1_000)
    assert (small.width, small.height, small.page_width, small.page_height) == (1_000, 700, 10_000, 7_000)
    sharp = pool.page_image(path, 0, width=16_000)
    assert (sharp.width, sharp.height) == (5_000, 3_500)
    for image in (small, sharp):
        corner = pixels(image)[: image.height // 4, : image.width // 4]
        assert np.abs(corner.mean(axis=(0, 1)) - np.array([200.0, 30.0, 30.0])).max() <= 12


def large_jpeg(width: int, height: int, **options: object) -> bytes:
    """A red picture of many pixels and few bytes."""
    sheet = io.BytesIO()
    Image.new("RGB", (width, height), (200, 30, 30)).save(sheet, "JPEG", quality=30, **options)
    return sheet.getvalue()


def test_progressive_jpeg_that_does_not_fit_into_memory_is_refused_before(
    pool: PagePool, write: Callable[[str, bytes], Path]
) -> None:
    small = large_jpeg(400, 300, progressive=True)
    assert pool.page_image(write("small.jpg", small), 0).width == 400
    with pytest.raises(PageProblem) as caught:
        pool.page_image(write("a0.jpg", renamed_size(small, 14_000, 10_000)), 0)
    assert caught.value.kind == "too_large"
    assert "It is a progressive JPEG, which has to be held whole: 401 MiB." in caught.value.text
    # Colour at full size takes twice the memory.
    full = large_jpeg(400, 300, progressive=True, subsampling=0)
    with pytest.raises(PageProblem, match="801 MiB"):
        pool.page_image(write("full.jpg", renamed_size(full, 14_000, 10_000)), 0)


def renamed_size(content: bytes, width: int, height: int) -> bytes:
    """A JPEG whose head claims another size."""
    at = min(workspace for sign in (b"\xff\xc0", b"\xff\xc2") if (workspace := content.find(sign)) > 0) + 5
    return content[:at] + height.to_bytes(2, "big") + width.to_bytes(2, "big") + content[at + 4 :]


def test_hostile_jpegs_fail_typed(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    good = large_jpeg(400, 300)
    for name, content, kind in (
        ("cut.jpg", good[: len(good) // 2], "unreadable"),
        ("head.jpg", good[:12], "unreadable"),
        ("lie.jpg", renamed_size(good, 60_000, 60_000), "too_large"),
        ("not.tif", b"II*\0" + b"\xff" * 40, "unreadable"),
        ("png.jpg", png_header(8, 8), "unreadable"),
    ):
        with pytest.raises(PageProblem) as caught:
            pool.page_image(write(name, content), 0)
        assert caught.value.kind == kind, name
    # The decoder fills up what is not there; a picture of the claimed size stays within the budget all the same.
    lie = pool.page_image(write("lie_small.jpg", renamed_size(good, 15_000, 15_000)), 0)
    assert lie.width * lie.height <= PIXEL_LIMIT
    assert pool.page_image(write("good.jpg", good), 0).width == 400


def test_image_bombs_and_wrong_names(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    side = int(IMAGE_PIXEL_LIMIT**0.5) + 10
    for name, content, kind in (
        ("bomb.png", png_header(side, side), "too_large"),
        ("huge.png", png_header(2**31 - 1, 2**31 - 1), "too_large"),
        ("short.png", png_header(8, 8), "unreadable"),
        ("pdf.png", page(), "not_pdf"),
        ("empty.jpg", b"", "not_pdf"),
        ("gif.png", b"GIF89a" + b"\0" * 50, "not_pdf"),
    ):
        with pytest.raises(PageProblem) as caught:
            pool.page_image(write(name, content), 0)
        assert caught.value.kind == kind


# --- processes ---------------------------------------------------------------------------------------------------


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def worker_pids(pool: PagePool) -> set[int]:
    return {worker.process.pid for worker in list(pool._live)}


def busy(pool: PagePool) -> list[Any]:
    """The workers that are asked something."""
    return [worker for worker in list(pool._live) if worker not in pool._free]


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds, for a minute: a busy machine starts a process or a thread late."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def test_endless_page_is_killed_while_others_are_drawn(write: Callable[[str, bytes], Path]) -> None:
    bomb, good = write("bomb.pdf", form_bomb()), write("good.pdf", pages(30))
    with PagePool(time_limit=2.0, wait_limit=60.0) as pool:
        pool.page_image(good, 0)
        bombed: list[PageProblem] = []

        def poison() -> None:
            with pytest.raises(PageProblem) as caught:
                pool.page_image(bomb, 0)
            bombed.append(caught.value)

        # Three sessions on the same page: they wait for each other and cost one worker.
        sessions = [threading.Thread(target=poison) for _ in range(3)]
        for session in sessions:
            session.start()
        until(lambda: busy(pool))
        before = worker_pids(pool)
        for page_index in range(1, 20):
            assert pool.page_image(good, page_index).page_width == 100 + page_index
        assert not bombed, "they do not wait for its end"
        for session in sessions:
            session.join()
        assert [problem.kind for problem in bombed] == ["too_slow"] * 3
        # On a busy machine the clock may be first: a slow page has the lowest priority.
        assert re.fullmatch(
            r"Rendering took too long\. Page 1 of bomb\.pdf was not ready after (2 s of the processor|12 s) and was "
            r"stopped\. It is not tried again for 10 minutes\. Open the page in a PDF viewer; saving it again in "
            r"simpler form often helps\.",
            str(bombed[0]),
        )
        assert pool.page_image(good, 20).page_width == 120
        # Exactly one process was lost and replaced.
        assert len(before - worker_pids(pool)) == 1
        assert not any(alive(pid) for pid in before - worker_pids(pool))


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_page_that_waits_for_the_processor_is_drawn_and_one_that_is_stuck_ends_by_the_clock(
    write: Callable[[str, bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("good.pdf", pages(3))
    monkeypatch.setattr(pages_pdf, "_CLOCK_LIMITS", 600)
    with PagePool(time_limit=0.2, spares=0, workers=1) as pool, ThreadPoolExecutor(1) as threads:
        pool.describe(path)
        (worker,) = pool._live
        worker.process.send_signal(signal.SIGSTOP)
        waiting = threads.submit(pool.page_image, path, 1)
        # It has waited for longer than it may compute.
        until(lambda: worker.stepped_back)
        worker.process.send_signal(signal.SIGCONT)
        assert waiting.result().page_width == 101
        pool.describe(write("other.pdf", page()))
        (worker,) = pool._live
        worker.process.send_signal(signal.SIGSTOP)
        monkeypatch.setattr(pages_pdf, "_CLOCK_LIMITS", 2)
        with pytest.raises(PageProblem) as caught:
            pool.page_image(path, 2)
        assert caught.value.text.startswith("Page 3 of good.pdf was not ready after 0.4 s and was stopped.")
        assert not alive(worker.process.pid)


def test_a_slow_page_is_not_waited_for_longer_than_is_said(write: Callable[[str, bytes], Path]) -> None:
    """It lets others go first, so that on a busy machine it takes long; what is said comes in time, to all who ask."""
    bomb = write("bomb.pdf", form_bomb())
    with PagePool(time_limit=3.0, slow_after=0.05, wait_limit=120.0, spares=0, workers=1) as pool:
        pool.describe(bomb)
        said: list[PageProblem] = []

        def ask() -> None:
            with pytest.raises(PageProblem) as caught:
                pool.page_image(bomb, 0, patience=0.2)
            said.append(caught.value)

        asking = [threading.Thread(target=ask) for _ in range(3)]
        for each in asking:
            each.start()
        for each in asking:
            each.join()
        assert [problem.kind for problem in said] == ["not_ready"] * 3
        assert str(said[0]) == (
            "This page is still being drawn. Page 1 of bomb.pdf was not ready after 0.2 s. It is drawn further while "
            "others go first. It is looked for again by itself for a minute; after that open it again."
        )
        # Its words come after its picture.
        with pytest.raises(PageProblem) as caught:
            pool.words(bomb, 0, patience=0.1)
        assert caught.value.kind == "not_ready"
        with pytest.raises(PageProblem) as caught:
            pool.page_image(bomb, 0)
        assert caught.value.kind == "too_slow"
        # What is known by then is said at once.
        with pytest.raises(PageProblem) as caught:
            pool.page_image(bomb, 0, patience=0.2)
        assert caught.value.kind == "too_slow"


def test_a_page_that_is_not_waited_for_is_there_only_when_it_is_kept(write: Callable[[str, bytes], Path]) -> None:
    path = write("good.pdf", pages(3))
    with PagePool(spares=0, workers=1) as pool:
        for ask in (pool.page_image, pool.words, pool.ink):
            with pytest.raises(PageProblem) as caught:
                ask(path, 1, patience=0)
            assert caught.value.kind == "not_ready"
            answer = ask(path, 1)
            assert ask(path, 1, patience=0) is answer


def test_the_size_of_a_page_is_that_of_its_picture(write: Callable[[str, bytes], Path]) -> None:
    path = write("good.pdf", pages(3))
    with PagePool(spares=0, workers=1) as pool:
        sizes = pool.page_sizes(path)
        for index in range(3):
            image = pool.page_image(path, index)
            assert pool.page_size(path, index) == (image.page_width, image.page_height) == tuple(sizes[index])
        with pytest.raises(PageProblem) as caught:
            pool.page_size(path, 3)
        assert caught.value.kind == "page_out_of_range"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_page_that_is_waited_for_no_longer_is_drawn_for_the_next_one_who_asks(
    write: Callable[[str, bytes], Path],
) -> None:
    path = write("good.pdf", pages(3))
    with PagePool(time_limit=30.0, spares=0, workers=1) as pool:
        pool.describe(path)
        (pid,) = worker_pids(pool)
        # From now on: a process that was slow once is replaced, and another one would draw the page.
        pool._slow_after = 0.0
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(PageProblem) as caught:
            pool.page_image(path, 1, patience=0.05)
        assert caught.value.kind == "not_ready"
        os.kill(pid, signal.SIGCONT)
        assert pool.page_image(path, 1).page_width == 101


@pytest.mark.skipif(sys.platform == "win32", reason="priorities")
def test_a_slow_page_in_a_process_that_had_to_start_lets_others_go_first(write: Callable[[str, bytes], Path]) -> None:
    """A start takes longer than `slow_after` on a busy machine, and often on a quiet one."""
    bomb = write("bomb.pdf", form_bomb())
    own = os.getpriority(os.PRIO_PROCESS, 0)
    with PagePool(time_limit=2.0, slow_after=0.01, spares=0, workers=1) as pool, ThreadPoolExecutor(1) as threads:
        asking = threads.submit(pool.page_image, bomb, 0)
        stepped_back = False
        while not asking.done() and not stepped_back:
            time.sleep(0.01)
            for pid in worker_pids(pool):
                with contextlib.suppress(ProcessLookupError):
                    stepped_back |= os.getpriority(os.PRIO_PROCESS, pid) > own or own == 19
        assert isinstance(asking.exception(), PageProblem)
        assert stepped_back


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_page_that_is_late_and_not_slow_is_waited_for(
    write: Callable[[str, bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine every page is late."""
    path, looks = write("good.pdf", pages(3)), []
    wait = pages_pdf.wait

    def look(futures: Any, seconds: float) -> Any:
        looks.append(seconds)
        if len(looks) == 4:
            os.kill(pid, signal.SIGCONT)
        return wait(futures, seconds)

    with PagePool(time_limit=300.0, spares=0, workers=1) as pool:
        pool.describe(path)
        (pid,) = worker_pids(pool)
        os.kill(pid, signal.SIGSTOP)
        monkeypatch.setattr(pages_pdf, "wait", look)
        assert pool.page_image(path, 1, patience=0.05).page_width == 101
        assert len(looks) >= 4
        # What goes wrong beside the one who waits is said to him.
        with pytest.raises(PageProblem) as caught:
            pool.page_image(path, 7, patience=5.0)
        assert caught.value.kind == "page_out_of_range"


def test_page_that_killed_a_worker_is_not_retried_for_ten_minutes(write: Callable[[str, bytes], Path]) -> None:
    now = [1000.0]
    path = write("bomb.pdf", form_bomb())
    with PagePool(time_limit=0.4, clock=lambda: now[0]) as pool:
        assert pool.describe(path).page_count == 1

        def kind(at: Path, dpi: float) -> str:
            with pytest.raises(PageProblem) as caught:
                pool.page_image(at, 0, dpi=dpi)
            return caught.value.kind

        assert kind(path, 72) == "too_slow"
        processes = worker_pids(pool)
        # By content: the same page under another name and at another size is the same page.
        copy = path.with_name("copy.pdf")
        copy.write_bytes(path.read_bytes())
        now[0] += 599
        assert [kind(blocked, 20) for blocked in (path, copy)] == ["too_slow"] * 2
        assert worker_pids(pool) == processes
        now[0] += 2
        assert kind(path, 72) == "too_slow"
        assert worker_pids(pool) != processes


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_worker_that_dies_is_replaced(write: Callable[[str, bytes], Path]) -> None:
    good, bomb = write("good.pdf", pages(3)), write("bomb.pdf", form_bomb())
    with PagePool(time_limit=10.0) as pool:
        pool.page_image(good, 0)
        for worker in list(pool._live):  # while idle: no page is to blame
            os.kill(worker.process.pid, signal.SIGKILL)
            worker.process.wait()
        assert pool.page_image(good, 1).page_width == 101

        shot: set[int] = set()

        def shoot() -> None:
            # The page is asked for again in a fresh worker before it is blamed.
            while len(shot) < 2:
                time.sleep(0.3)
                for worker in list(pool._live - set(pool._free)):
                    if worker.engine and worker.process.pid not in shot:
                        shot.add(worker.process.pid)
                        os.kill(worker.process.pid, signal.SIGSEGV)

        hunter = threading.Thread(target=shoot)
        hunter.start()
        with pytest.raises(PageProblem) as caught:
            pool.page_image(bomb, 0)
        hunter.join()
        assert caught.value.kind == "worker_lost"
        with pytest.raises(PageProblem) as caught:
            pool.page_image(bomb, 0)
        assert caught.value.kind == "worker_lost"
        assert pool.page_image(good, 2).page_width == 102


def test_a_page_is_blamed_for_what_it_did_twice(
    write: Callable[[str, bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    good, asked, losses = write("good.pdf", pages(3)), [], [1, 0, 1, 1]
    ask = pages_pdf._Worker.ask

    def lost(worker: Any, *given: Any, **more: Any) -> Any:
        asked.append(worker.answered)
        if losses and losses.pop(0):
            raise pages_pdf.Lost("Somebody ended it.")
        return ask(worker, *given, **more)

    with PagePool(time_limit=10.0) as pool:
        pool.page_image(good, 0)
        monkeypatch.setattr(pages_pdf._Worker, "ask", lost)
        # Lost once, answered by a fresh worker.
        assert pool.page_image(good, 1).page_width == 101
        assert asked[1] == 0
        # Lost twice: now it is the page's doing, and nobody is asked a third time.
        for _ in range(2):
            with pytest.raises(PageProblem) as caught:
                pool.page_image(good, 2)
            assert caught.value.kind == "worker_lost"
        assert len(asked) == 4


def test_close_leaves_no_process_and_fails_typed(write: Callable[[str, bytes], Path]) -> None:
    good, bomb = write("good.pdf", page()), write("bomb.pdf", form_bomb())
    pool = PagePool(time_limit=30.0)
    assert not pool._live  # nothing starts before the first request
    pool.page_image(good, 0)
    kinds: list[str] = []

    def wait() -> None:
        with pytest.raises(PageProblem) as caught:
            pool.page_image(bomb, 0)
        kinds.append(caught.value.kind)

    waiting = threading.Thread(target=wait)
    waiting.start()
    until(lambda: busy(pool) and len(worker_pids(pool)) >= 2)
    pids = worker_pids(pool)
    pool.close()
    waiting.join(timeout=60)
    assert kinds == ["worker_lost"]
    assert not any(alive(pid) for pid in pids)
    with pytest.raises(PageProblem) as caught:
        pool.page_image(bomb, 0)
    assert caught.value.kind == "no_renderer"
    pool.close()


def test_a_pool_at_rest_has_no_process_and_draws_again(write: Callable[[str, bytes], Path]) -> None:
    good, slow = write("good.pdf", page()), write("bomb.pdf", form_bomb())
    with PagePool(time_limit=2.0) as pool:
        pool.page_image(good, 0)

        def wait() -> None:
            with pytest.raises(PageProblem):
                pool.page_image(slow, 0)

        waiting = threading.Thread(target=wait)
        waiting.start()
        until(lambda: busy(pool))
        pids = worker_pids(pool)
        pool.rest()
        waiting.join(timeout=60)
        assert not pool._live  # the one that was at work is not replaced
        assert not any(alive(pid) for pid in pids)
        assert pool.page_image(good, 0, dpi=30).width > 0


def test_collected_pool_leaves_no_process(write: Callable[[str, bytes], Path]) -> None:
    pool = PagePool()
    pool.page_image(write("good.pdf", page()), 0)
    pids = worker_pids(pool)
    del pool
    assert not any(alive(pid) for pid in pids)


def test_worker_is_replaced_after_its_share_of_requests(write: Callable[[str, bytes], Path]) -> None:
    path = write("many.pdf", pages(8))
    with PagePool(workers=1, spares=0, requests_per_worker=3) as pool:
        seen = []
        for page_index in range(8):
            assert pool.page_image(path, page_index, dpi=30).page_width == 100 + page_index
            seen.append(frozenset(worker_pids(pool)))
        assert len(set(seen)) == 3


def test_eight_threads_get_their_own_pages(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    path = write("many.pdf", pages(40))

    def ask(turn: int) -> tuple[int, float, tuple[str, ...]]:
        page_index = turn * 7 % 40
        return page_index, pool.page_image(path, page_index, dpi=50).page_width, pool.words(path, page_index).texts

    with ThreadPoolExecutor(8) as threads:
        for page_index, width, texts in threads.map(ask, range(120)):
            assert width == 100 + page_index
            assert texts == (f"page{page_index}",)


def test_waiting_is_bounded(write: Callable[[str, bytes], Path]) -> None:
    good, bomb = write("good.pdf", page()), write("bomb.pdf", form_bomb())
    with PagePool(workers=1, time_limit=2.0, wait_limit=0.2, slow_after=9.0) as pool:
        pool.describe(good)

        def poison() -> None:
            with pytest.raises(PageProblem):
                pool.page_image(bomb, 0)

        slow = threading.Thread(target=poison)
        slow.start()
        until(lambda: busy(pool))
        with pytest.raises(PageProblem) as caught:
            pool.page_image(good, 0)
        assert caught.value.kind == "busy"
        slow.join()
        assert pool.page_image(good, 0).width


def test_slow_pages_of_one_session_leave_room_for_the_others(write: Callable[[str, bytes], Path]) -> None:
    good = write("good.pdf", pages(6))
    bombs = [write(f"bomb{number}.pdf", form_bomb() + b"%" * number) for number in range(2)]
    # Nobody may wait longer than a slow page takes: without room beside them every good page would be "busy".
    with PagePool(time_limit=60.0, wait_limit=30.0, slow_after=0.2) as pool:
        pool.describe(good)
        slow = [threading.Thread(target=lambda path=bomb: failed(pool, path)) for bomb in bombs]  # type: ignore[misc]
        for thread in slow:
            thread.start()
        until(lambda: busy(pool))
        assert [pool.page_image(good, page_index).page_width for page_index in range(6)] == [
            100.0 + n for n in range(6)
        ]
        assert all(thread.is_alive() for thread in slow), "the slow pages are drawn all the while"
        pool.close()
        for thread in slow:
            thread.join(60)
        assert (pool._running._value, pool._slow._value) == (2, 2)


@linux_only
def test_a_slow_page_lets_others_go_first_and_its_process_is_replaced(write: Callable[[str, bytes], Path]) -> None:
    bomb, good = write("bomb.pdf", form_bomb()), write("good.pdf", page())
    with PagePool(time_limit=8.0, slow_after=0.2) as pool:
        pool.describe(good)
        before = {pid: os.getpriority(os.PRIO_PROCESS, pid) for pid in worker_pids(pool)}
        slow = threading.Thread(target=failed, args=(pool, bomb))
        slow.start()
        until(lambda: any(each.stepped_back for each in list(pool._live)))
        (worker,) = [each for each in list(pool._live) if each.stepped_back]
        assert os.getpriority(os.PRIO_PROCESS, worker.process.pid) > max(before.values())
        assert pool.page_image(good, 0).width
        assert [each for each in pool._live if each.stepped_back] == [worker]
        worker.kill()
        slow.join(60)
        assert worker.process.pid not in worker_pids(pool)


def failed(pool: PagePool, path: Path) -> None:
    """Ask for a page that never comes."""
    with contextlib.suppress(PageProblem):
        pool.page_image(path, 0)


def run_python(code: str, *arguments: str, timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *arguments],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": network.python_path(PROJECT)},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def test_app_process_never_imports_the_renderer(write: Callable[[str, bytes], Path]) -> None:
    # Ends without close(): the pool has to clean up by itself, and without a warning.
    done = run_python(
        """
        import sys
        from pathlib import Path
        from evaluator.pdf.pool import PagePool
        pool = PagePool()
        path = Path(sys.argv[1])
        assert pool.describe(path).page_count == 2
        assert pool.page_image(path, 1).page_width == 101
        assert pool.words(path, 1).texts == ("page1",)
        print([name for name in sys.modules if name.split(".")[0] in ("pymupdf", "fitz", "PIL", "streamlit")])
        print(*(worker.process.pid for worker in pool._live))
        """,
        str(write("two.pdf", pages(2))),
    )
    assert (done.returncode, done.stderr) == (0, "")
    modules, pids = done.stdout.splitlines()
    assert modules == "[]"
    assert not any(alive(int(pid)) for pid in pids.split())


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_workers_end_when_the_app_is_killed_also_in_the_middle_of_a_page(write: Callable[[str, bytes], Path]) -> None:
    done = run_python(
        """
        import os, signal, sys, threading
        from pathlib import Path
        from evaluator.pdf.pool import PagePool
        pool = PagePool(time_limit=120.0)
        pool.page_image(Path(sys.argv[1]), 0)
        print(*(worker.process.pid for worker in pool._live), flush=True)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGKILL)).start()
        pool.page_image(Path(sys.argv[2]), 0)
        """,
        str(write("one.pdf", page())),
        str(write("endless.pdf", form_bomb())),
    )
    pids = [int(pid) for pid in done.stdout.split()]
    assert pids
    until(lambda: not [pid for pid in pids if alive(pid) and not zombie(pid)])


def zombie(pid: int) -> bool:
    """Whether a process has ended and only waits for its adopter, who may be slow in a container."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[-1].split()[0] == "Z"
    except OSError:
        return False


def test_the_app_ends_while_a_page_is_drawn_that_nobody_waits_for(write: Callable[[str, bytes], Path]) -> None:
    done = run_python(
        """
        import sys
        from pathlib import Path
        from evaluator.pdf.pool import PagePool
        from evaluator.pdf.problems import PageProblem
        pool = PagePool(time_limit=600.0, slow_after=0.05)
        try:
            pool.page_image(Path(sys.argv[1]), 0, patience=0.1)
        except PageProblem as problem:
            print(problem.kind, *(worker.process.pid for worker in pool._live))
        """,
        str(write("endless.pdf", form_bomb())),
    )
    kind, *pids = done.stdout.split()
    assert (done.returncode, done.stderr, kind) == (0, "", "not_ready")
    assert pids
    assert not any(alive(int(pid)) for pid in pids)


def test_a_session_that_asks_for_many_pages_does_not_keep_the_others_waiting(
    write: Callable[[str, bytes], Path],
) -> None:
    many, one = write("many.pdf", pages(300)), write("one.pdf", page())
    with PagePool(workers=1, spares=0, wait_limit=120.0, time_limit=60.0) as pool, ThreadPoolExecutor(1) as threads:
        drawn: list[int] = []

        def greedy() -> None:
            for page_index in range(300):
                pool.page_image(many, page_index, dpi=20)
                drawn.append(page_index)

        going = threads.submit(greedy)
        until(lambda: len(drawn) > 5)
        pool.page_image(one, 0)
        pool.words(one, 0)
        assert len(drawn) < 300, "they are served between the others"
        going.result()


# Not the worker: it introduces itself, and then answers the first request as its argument says.
LIAR = """
import os, sys, time
from evaluator.pdf import process, worker
import msgspec
source, sink, files = worker.own_pipes()
worker.write_frame(sink, msgspec.msgpack.encode(worker.Ready("liar")))
worker.read_frame(source, limit=65536)
answer = msgspec.msgpack.encode(worker.Description(1, False))
said = {SAID}
sink.write(said)
sink.flush()
if {ENDS}:
    os._exit(0)
time.sleep(600)
"""


def test_a_worker_that_lies_or_stalls_costs_a_limit_and_nothing_else(
    write: Callable[[str, bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    good, command, kinds = write("good.pdf", page()), process.python_module, []
    lies = [
        ("b''", False, "too_slow"),
        ("b'\\0\\0'", False, "too_slow"),
        ("len(answer).to_bytes(4, 'big') + answer[:-1]", False, "too_slow"),
        ("len(answer).to_bytes(4, 'big') + answer[:-1]", True, "worker_lost"),
        ("b'\\xff' * 4 + answer", False, "worker_lost"),
        ("(3).to_bytes(4, 'big') + b'abc'", False, "worker_lost"),
        ("(0).to_bytes(4, 'big')", False, "worker_lost"),
    ]
    for said, ends, _ in lies:
        program = write("liar.py", LIAR.replace("{SAID}", said).replace("{ENDS}", str(ends)).encode())
        with PagePool(spares=0, time_limit=0.1) as pool:
            monkeypatch.setattr(process, "python_module", lambda _: [sys.executable, "-P", str(program)])  # noqa: B023
            with pytest.raises(PageProblem) as caught:
                pool.page_image(good, 0)
            kinds.append((said, ends, caught.value.kind))
            # Those that replace them would lie as well.
            pool.rest()
            monkeypatch.setattr(process, "python_module", command)
            assert pool.describe(good).page_count == 1
    assert kinds == lies


@linux_only
def test_worker_gives_up_what_it_does_not_need_and_stays_small(write: Callable[[str, bytes], Path]) -> None:
    poster = write("poster.pdf", page(entries=b"/MediaBox [0 0 20000 20000]"))
    with PagePool(time_limit=20.0, spares=0, slow_after=20.0) as pool:
        image = pool.page_image(poster, 0, dpi=300)
        assert image.width * image.height == PIXEL_LIMIT
        (pid,) = worker_pids(pool)
        peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        assert peak is not None
        assert int(peak.group(1)) <= 512 * 1024
        limits = Path(f"/proc/{pid}/limits").read_text()
        for line in ("Max core file size +0 +0 ", "Max file size +0 +0 ", "Max processes +0 +0 "):
            assert re.search(line, limits)
        assert re.search(rf"Max data size +{480 * 2**20} +{480 * 2**20} ", limits)
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        assert not [entry for entry in environment if entry.startswith((b"HOME=", b"LAYOUTSCOPE_SHARED="))]


def test_missing_renderer_is_said(write: Callable[[str, bytes], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(Path(sys.executable).with_name("no-such-python")))
    with PagePool() as pool, pytest.raises(PageProblem) as caught:
        pool.page_image(write("one.pdf", page()), 0)
    assert caught.value.kind == "no_renderer"
    assert caught.value.text == "The renderer could not be started. The system refused to start a process."


# --- what a worker may say ---------------------------------------------------------------------------------------


def webp(width: int, height: int, **more: bool) -> bytes:
    return picture_of(Image.new("RGB", (width, height)), "WEBP", **more)


def jpeg(width: int, height: int, mode: str = "RGB", **more: bool) -> bytes:
    return picture_of(Image.new(mode, (width, height)), "JPEG", **more)


def test_an_honest_picture_is_taken_where_it_was_asked_for() -> None:
    for size in ((1, 1), (40, 30), (1, 16_000)):
        shown = PageImage(webp(*size), *size, 5.0, 5.0)
        alone = PageImage(b"", *size, 5.0, 5.0, jpeg=jpeg(*size))
        both = PageImage(webp(*size), *size, 5.0, 5.0, jpeg=jpeg(*size))
        honest = {"webp": shown, "jpeg": alone, "screen": alone, "both": both}
        for encoding, reply in itertools.product(honest, (shown, alone, both)):
            if reply == honest[encoding]:
                assert pages_pdf._checked(reply, encoding) == reply  # type: ignore[arg-type]
            else:
                with pytest.raises(pages_pdf.Lost, match="another format"):
                    pages_pdf._checked(reply, encoding)  # type: ignore[arg-type]


def boxes_of(*numbers: float) -> bytes:
    return np.array(numbers).tobytes()


DISHONEST = [
    *[PageImage(b"", 40, 30, 5.0, 5.0, jpeg=picture) for picture in (
        b"<svg onload=alert(1)>", webp(40, 30), jpeg(30, 40), jpeg(40, 30, "L"), jpeg(40, 30, "CMYK"),
        jpeg(40, 30, progressive=True), jpeg(40, 30)[:100], b"\xff\xd8" + b"\xff\xe0\0\0" * 9,
        b"\xff\xd8\xff\xc0\0\x11\x08",
    )],
    PageImage(b"<svg onload=alert(1)>", 5, 5, 5.0, 5.0),
    PageImage(b"RIFF\0\0\0\0WEBP", 16_000, 16_000, 5.0, 5.0),
    PageImage(webp(40, 30), 4, 3, 5.0, 5.0),
    PageImage(webp(40, 30, lossless=True), 40, 30, 5.0, 5.0),
    WordList(b"\0" * 31, ["a"]),
    WordList(boxes_of(0.0, 0.0, 2.0, 1.0), ["a"]),
    WordList(boxes_of(0.0, 0.0, np.nan, 1.0), ["a"]),
    SizeList(b""),
    SizeList(boxes_of(1.0)),
    InkGrid(2, 2, b"\0" * 3),
    LayoutList(0, "", b"\0" * 31, b"", b"", b"", b""),
    LayoutList(0, "", boxes_of(0.0, 0.0, 2.0, 1.0), b"", b"", b"", b""),
    LayoutList(0, "", b"", b"", boxes_of(0.0, 0.0, 1.0, 1.0), boxes_of(1.0), b""),
    LayoutList(0, "", b"", b"", boxes_of(0.0, 0.0, 1.0, 1.0), boxes_of(-1.0), boxes_of(1.0)),
    LayoutList(0, "", b"", b"", b"", b"", b"", columns=8, rows=2, mask=b"\0"),
    Failure("page_out_of_range", "many"),
    Ready("again"),
]  # fmt: skip


def test_dishonest_answers_are_refused() -> None:
    taken = []
    for reply in DISHONEST:
        encoding = "jpeg" if isinstance(reply, PageImage) and reply.jpeg else "webp"
        with contextlib.suppress(pages_pdf.Lost):
            taken.append((reply, pages_pdf._checked(reply, encoding)))  # type: ignore[arg-type]
    assert taken == []


def test_a_page_comes_in_the_encoding_that_is_asked_for(pool: PagePool, write: Callable[[str, bytes], Path]) -> None:
    path = write("one.pdf", page())
    shown, printed, both = (pool.page_image(path, 0, encoding=each) for each in ("webp", "jpeg", "both"))
    assert (both.webp, both.jpeg) == (shown.webp, printed.jpeg)
    assert (shown.jpeg, printed.webp) == (b"", b"")
    screen = pool.page_image(path, 0, encoding="screen")
    assert (screen.webp, screen.width, screen.warnings) == (b"", shown.width, shown.warnings)
    pictures = []
    for content, kind in ((both.webp, "WEBP"), (both.jpeg, "JPEG"), (screen.jpeg, "JPEG")):
        with Image.open(io.BytesIO(content), formats=(kind,)) as image:
            assert image.size == (both.width, both.height)
            pictures.append(np.asarray(image.convert("RGB"), dtype=np.float64))
    assert np.abs(pictures[0] - pictures[1]).mean() < 3.0
    assert np.abs(pictures[0] - pictures[2]).mean() < 2.0
    assert len(screen.jpeg) > len(printed.jpeg)
    part = pool.page_part(path, 0, part=(0.1, 0.1, 0.6, 0.4), dpi=144.0, width=640, encoding="jpeg")
    assert part.webp == b""
    with Image.open(io.BytesIO(part.jpeg), formats=("JPEG",)) as image:
        assert image.size == (part.width, part.height)


def test_honest_answers_are_cleaned() -> None:
    checked = pages_pdf._checked(Description(1, False, ("red \x1b[31m",)))
    assert checked == Description(1, False, ("red \\x1b[31m",))
    words = pages_pdf._checked(WordList(np.array([[0.0, 0.1, 0.2, 0.3]]).tobytes(), ["a"]))
    assert isinstance(words, Words)
    assert words.boxes.tolist() == [[0.0, 0.1, 0.2, 0.3]]


def test_messages_of_the_wrong_shape_are_refused() -> None:
    for payload in (
        b"",
        b"\xc1",
        msgspec.msgpack.encode({"type": "Description", "page_count": -1, "encrypted": False}),
        msgspec.msgpack.encode({"type": "PageImage", "webp": b"", "width": 0, "height": 1}),
        msgspec.msgpack.encode(["PageImage"]),
    ):
        with pytest.raises(pages_pdf.Lost, match="something that is not an answer"):
            pages_pdf._decoded(payload)


def test_frames() -> None:
    pipe = io.BytesIO()
    write_frame(pipe, b"one")
    write_frame(pipe, b"")
    whole = pipe.getvalue()
    reader = io.BytesIO(whole)
    assert [read_frame(reader, limit=3) for _ in range(3)] == [b"one", b"", None]
    assert read_frame(io.BytesIO(whole[:5]), limit=3) is None
    with pytest.raises(ValueError, match="message of 3 bytes, the limit is 2"):
        read_frame(io.BytesIO(whole), limit=2)


# --- caches ------------------------------------------------------------------------------------------------------


def test_answers_are_kept_by_content(write: Callable[[str, bytes], Path]) -> None:
    path = write("one.pdf", pages(2))
    with PagePool() as pool:
        first = pool.page_image(path, 0)
        assert pool.page_image(path, 0) is first
        assert pool.page_image(path, 0, dpi=111) is not first
        assert pool.words(path, 0) is pool.words(path, 0)
        copy = path.with_name("copy.pdf")
        copy.write_bytes(path.read_bytes())
        assert pool.page_image(copy, 0) is first
        path.write_bytes(page())
        assert pool.page_image(path, 0).page_width == 612


def test_file_exchanged_behind_the_digest_is_noticed(write: Callable[[str, bytes], Path]) -> None:
    path = write("one.pdf", page(entries=b"/MediaBox [0 0 612 792]"))
    # A new process for each request: one that has the document open would not read the file again.
    with PagePool(requests_per_worker=1) as pool:
        pool.describe(path)
        status = path.stat()
        # Same size, same inode, same time: only the bytes tell.
        path.write_bytes(page(entries=b"/MediaBox [0 0 512 792]"))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert pool.page_image(path, 0).page_width == 512


def test_missing_and_odd_files(pool: PagePool, tmp_path: Path) -> None:
    for path in (tmp_path / "none.pdf", tmp_path, Path("/dev/zero"), tmp_path / "a\0b.pdf"):
        with pytest.raises(PageProblem) as caught:
            pool.page_image(path, 0)
        assert caught.value.kind == "missing"
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.pdf")
        with pytest.raises(PageProblem):
            pool.page_image(tmp_path / "pipe.pdf", 0)


# --- finding a document ------------------------------------------------------------------------------------------

# hostile/json/doc_paths.json, written out.
HOSTILE_NAMES = [
    "../../etc/passwd", "/etc/passwd", "./sub/../../../etc/hostname", "..\\..\\windows\\win.ini",
    "C:\\Windows\\win.ini", "\\\\attacker\\share\\a.pdf", "//attacker/share/a.pdf", "file:///etc/passwd",
    "http://169.254.169.254/latest/meta-data/", "https://example.invalid/a.pdf", "ok.pdf\0.png",
    "link_to_outside.pdf", "~/.ssh/id_rsa", "$HOME/.bashrc", "%2e%2e/%2e%2e/etc/passwd", "....//....//etc/passwd",
    "CON", "nul.pdf", "ok.pdf:stream", "/dev/zero", "/dev/stdin", "/proc/self/environ", "a" * 5000 + ".pdf", "", ".",
    "ok\u202efdp.exe", "oK.pdf", "e\u0301.pdf", " ok.pdf ", "ok.pdf\n", "-rf.pdf", "|id",
    "sub\uff0f..\uff0f..\uff0fetc",
]  # fmt: skip
BLOCKED = {*HOSTILE_NAMES[:11], "link_to_outside.pdf", "....//....//etc/passwd", "CON", "nul.pdf", "ok.pdf:stream",
           "/dev/zero", "/dev/stdin", "/proc/self/environ", "a" * 5000 + ".pdf", "", ".", "ok.pdf\n"}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outside.pdf").write_bytes(page())
    root = tmp_path / "documents"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "ok.pdf").write_bytes(page())
    (root / "sub" / "Report.PDF").write_bytes(page())
    (root / "sub" / "deep" / "scan.png").write_bytes(png_header(8, 8))
    (root / "sub" / "twice.pdf").write_bytes(page())
    (root / "sub" / "deep" / "twice.pdf").write_bytes(page())
    (root / "notes.txt").write_text("secret")
    for number, names in ((7, ("poster.pdf", "photo.png")), (8, ("poster.jpg",)), (9, ("a.jpg", "b.png"))):
        (root / f"poster-{number}").mkdir()
        for name in names:
            (root / f"poster-{number}" / name).write_bytes(page())
    (root / "shot.jpg").write_bytes(page())
    (root / "sub" / "shot.tif").write_bytes(page())
    if sys.platform != "win32":
        (root / "link_to_outside.pdf").symlink_to(tmp_path / "outside.pdf")
        (root / "sub" / "other_link.pdf").symlink_to(tmp_path / "outside.pdf")
        (root / "link_inside.pdf").symlink_to(root / "ok.pdf")
        (root / "circle.pdf").symlink_to(root / "circle.pdf")
        (root / "linked_folder").symlink_to(tmp_path)
        os.mkfifo(root / "pipe.pdf")
    return root


def test_hostile_names_are_those_of_the_corpus() -> None:
    if not SHARED:
        pytest.skip("LAYOUTSCOPE_SHARED does not name the folder of hostile/")
    stored = json.loads((CORPUS / "json" / "doc_paths.json").read_text())
    names = [document["doc_path"] for document in stored["documents"]]
    assert [name[:20] for name in names] == [name[:20] for name in HOSTILE_NAMES]


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_hostile_names_find_nothing_outside(folder: Path) -> None:
    assert find_document("oK.pdf", folder) == (folder / "ok.pdf").resolve()
    for name in set(HOSTILE_NAMES) - {"oK.pdf"}:
        with pytest.raises(PageProblem) as caught:
            find_document(name, folder)
        assert caught.value.kind == ("blocked" if name in BLOCKED else "missing"), name
        assert caught.value.title == "PDF not found under documents"
        assert str(folder.parent) not in str(caught.value)
        assert str(caught.value).isprintable(), name


def test_blocked_names_reach_no_file_system_call(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched, kinds = PdfFolder(folder), {}

    def forbidden(*arguments: object, **options: object) -> None:
        raise AssertionError("the file system was asked")

    with monkeypatch.context() as patch:
        for call in ("stat", "lstat", "open", "scandir", "listdir", "readlink", "access"):
            patch.setattr(os, call, forbidden)
        for name in BLOCKED - {"link_to_outside.pdf"}:
            with pytest.raises(PageProblem) as caught:
                find_document(name, searched)
            kinds[name] = caught.value.kind
    assert set(kinds.values()) == {"blocked"}, kinds


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_no_file_outside_the_folder_is_opened(folder: Path) -> None:
    # In a process of its own: an audit hook cannot be taken back. Every opening and listing is noted, also of workers'
    # documents, which the pool opens itself to take their digest.
    done = run_python(
        """
        import json, os, re, sys
        from pathlib import Path
        from evaluator.pdf.problems import PageProblem
        from evaluator.pdf.pool import PagePool
        from evaluator.pdf.folder import PdfFolder, find_document
        root, names = Path(sys.argv[1]), json.loads(sys.argv[2])
        touched, watching = [], []
        def note(event, arguments):
            if event == "open" and isinstance(arguments[0], int):
                return  # a file that is open already
            if watching and event in ("open", "os.listdir", "os.scandir", "socket.connect", "socket.getaddrinfo"):
                touched.append((event, os.fsdecode(arguments[0]) if isinstance(arguments[0], (str, bytes)) else "?"))
        with PagePool() as pool:
            pool.describe(root / "ok.pdf")
            sys.addaudithook(note)
            watching.append(1)
            found = []
            for searched in (root, PdfFolder(root)):
                for name in names:
                    try:
                        path = find_document(name, searched)
                        found.append(path.name)
                        pool.page_image(path, 0, dpi=20)
                    except PageProblem:
                        pass
            watching.clear()
        real = os.path.realpath(root)
        print(json.dumps([found, [entry for entry in touched if not os.path.realpath(entry[1]).startswith(real)],
                          len(touched)]))
        """,
        str(folder),
        json.dumps(HOSTILE_NAMES),
    )
    assert done.stderr == ""
    opened, outside, touched = json.loads(done.stdout)
    assert opened == ["ok.pdf", "ok.pdf"]
    assert outside == []
    assert touched > 0


FOUND = {
    "ok.pdf": "ok.pdf", "ok": "ok.pdf", "OK": "ok.pdf", "sub/Report.PDF": "sub/Report.PDF",
    "report.pdf": "sub/Report.PDF", "report": "sub/Report.PDF", "somewhere/else/report.pdf": "sub/Report.PDF",
    "scan.png": "sub/deep/scan.png", "sub/twice.pdf": "sub/twice.pdf", "sub/deep/twice": "sub/deep/twice.pdf",
    "link_inside.pdf": "ok.pdf", "scan": "sub/deep/scan.png", "scan.pdf": "sub/deep/scan.png",
    "scan.xml": "sub/deep/scan.png", "ok.bmp": "ok.pdf", "poster-7": "poster-7/poster.pdf",
    "Poster-7": "poster-7/poster.pdf", "poster-8": "poster-8/poster.jpg",
}  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_documents_are_found_by_name(folder: Path) -> None:
    assert {name: find_document(name, folder) for name in FOUND} == {
        name: (folder / expected).resolve() for name, expected in FOUND.items()
    }


def test_composed_and_decomposed_names_are_one(folder: Path) -> None:
    (folder / "sub" / "\u00e9t\u00e9.pdf").write_bytes(page())
    assert find_document("e\u0301te\u0301.pdf", folder).parent.name == "sub"


def test_exact_spelling_goes_before_another_case(folder: Path) -> None:
    if (folder / "OK.PDF").exists():
        pytest.skip("the file system ignores case")
    (folder / "sub" / "report.pdf").write_bytes(page())
    assert find_document("report.pdf", folder) == (folder / "sub" / "report.pdf").resolve()
    with pytest.raises(PageProblem) as caught:
        find_document("REPORT.pdf", folder)
    assert caught.value.kind == "ambiguous"


SENTENCES = {
    "none.pdf": "PDF not found under documents. No document named none.pdf is in the folder documents or in the "
    "folders inside it. Folders that are links are not looked into: linked_folder. Put the document into this folder, "
    "or add it in Files.",
    "../x.pdf": "PDF not found under documents. Documents are found by their name inside the folder documents; "
    "../x.pdf holds steps such as . or .., so it was not looked up. Name the document in the annotation by its file "
    "name, such as report.pdf.",
    "far/twice.pdf": "Several documents are named twice.pdf. The folder documents holds sub/deep/twice.pdf and "
    "sub/twice.pdf; which one is meant is not clear. Keep one of them, or give them different names.",
    "shot": "Several documents are named shot. The folder documents holds shot.jpg and sub/shot.tif; which one is "
    "meant is not clear. Keep one of them, or give them different names.",
}
NO_DOCUMENTS = {
    "other_link.pdf": "blocked", "linked_folder/outside.pdf": "blocked", "circle.pdf": "missing",
    "pipe.pdf": "missing", "sub": "missing", "notes.txt": "missing", "poster-9": "missing",
}  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_what_is_not_found_says_why(folder: Path) -> None:
    said: dict[str, PageProblem] = {}
    for name in (*SENTENCES, *NO_DOCUMENTS):
        with pytest.raises(PageProblem) as caught:
            find_document(name, folder)
        said[name] = caught.value
    assert {name: str(said[name]) for name in SENTENCES} == SENTENCES
    assert {name: said[name].kind for name in NO_DOCUMENTS} == NO_DOCUMENTS


def test_listing_is_bounded_and_can_be_refreshed(folder: Path) -> None:
    with pytest.raises(PageProblem, match=r"Only the first 2 files were looked at\."):
        PdfFolder(folder, max_files=2).find("none.pdf")
    with pytest.raises(PageProblem):
        PdfFolder(folder, max_depth=1).find("scan.png")
    searched = PdfFolder(folder)
    with pytest.raises(PageProblem):
        searched.find("later.pdf")
    (folder / "sub" / "later.pdf").write_bytes(page())
    with pytest.raises(PageProblem):
        searched.find("later.pdf")
    searched.refresh()
    assert searched.find("later.pdf").name == "later.pdf"
    with pytest.raises(PageProblem, match=r"The folder does not exist\."):
        find_document("ok.pdf", folder / "none")


def test_linked_folders_are_named_when_a_document_is_missing(tmp_path: Path) -> None:
    """A link may lead out of the folder, so that it is not followed; nobody would know why nothing is found."""
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    root.mkdir()
    elsewhere.mkdir()
    (elsewhere / "a.pdf").write_bytes(b"")
    folder = PdfFolder(root)
    for name in ("one", "two", "three", "four"):
        (root / name).symlink_to(elsewhere)
    told = "Folders that are links are not looked into: four, one, three and 1 more."
    with pytest.raises(PageProblem, match=f"No document named a.pdf is in the folder root .* {told}"):
        folder.find("a.pdf")
    for name in ("one", "two", "three", "four"):
        (root / name).unlink()
    folder.refresh()
    with pytest.raises(PageProblem) as raised:
        folder.find("a.pdf")
    assert "links" not in str(raised.value)


@given(st.text(max_size=60) | st.text(alphabet="./\\~okpdf\0: ", max_size=30))
def test_any_name_stays_inside_or_is_a_typed_problem(name: str) -> None:
    # Nothing else may be raised, and nothing else be found.
    root = PROJECT / "sample_data"
    with contextlib.suppress(PageProblem):
        assert find_document(name, root).is_relative_to(root.resolve())


def test_problem_survives_copying_and_hides_control_characters() -> None:
    import copy

    problem = PageProblem("missing", document="a\x1b[31m\u202e.pdf", folder="documents", page_index=3)
    twin = copy.copy(problem)
    assert (twin.kind, str(twin)) == ("missing", str(problem))
    assert "\\x1b" in str(problem)
    assert str(problem).isprintable()
    assert "far out of range" in PageProblem("page_out_of_range", document="a.pdf", page_index=10**5000).text


def test_sizes_of_all_pages_are_those_of_the_displayed_pages(tmp_path: Path) -> None:
    pymupdf = pytest.importorskip("pymupdf")
    document = pymupdf.open()
    for page_index in range(1_203):
        page = document.new_page(width=300 + page_index % 7, height=400)
        if page_index == 5:
            page.set_rotation(90)
        if page_index == 6:
            page.set_cropbox(pymupdf.Rect(10, 20, 110, 220))
    path = tmp_path / "many.pdf"
    document.save(path)
    document.close()
    Image.new("RGB", (64, 32), "white").save(tmp_path / "page.png")
    with PagePool(time_limit=20.0) as pool:
        sizes = pool.page_sizes(path)
        assert pool.page_sizes(tmp_path / "page.png").tolist() == [[64.0, 32.0]]
        with pytest.raises(PageProblem) as problem:
            pool.page_sizes(tmp_path / "none.pdf")
    assert problem.value.kind == "missing"
    assert sizes.shape == (1_203, 2)
    assert sizes[:5].tolist() == [[300 + page_index, 400] for page_index in range(5)]
    assert sizes[5:8].tolist() == [[400, 305], [100, 200], [300, 400]]
    assert sizes[1_202].tolist() == [300 + 1_202 % 7, 400]
