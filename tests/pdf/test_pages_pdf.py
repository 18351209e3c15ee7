"""What is drawn and read of pages: hostile documents, geometry and images, each within its limits."""

import io
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps

from evaluator.pdf import worker
from evaluator.pdf.pool import PageImage, PagePool
from evaluator.pdf.problems import PageProblem
from evaluator.pdf.worker import IMAGE_PIXEL_LIMIT, PIXEL_LIMIT, SIDE_LIMIT, Description, pixel_size
from tests.page_asking import picture_of, refused
from tests.pdf.conftest import Write
from tests.pdf_fixtures import (
    LEGAL,
    RED_CONTENT,
    Geometry,
    crossed_lines,
    external_stream,
    hidden_layer,
    page,
    png_header,
)
from tests.red_box import MOST_OFF, off, pixels, red_share

PROJECT = Path(__file__).resolve().parents[2]
SAMPLE = PROJECT / "sample_data" / "pdf"
CORPUS = Path(__file__).parents[1].joinpath("hostile")
SHORT = 0.05  # seconds; the pages that never end need no more to show it
pytestmark = pytest.mark.usefixtures("compiled_modules")


@pytest.fixture(scope="module")
def short_pool(compiled_modules: None) -> Iterator[PagePool]:
    with PagePool(time_limit=SHORT) as shared:
        yield shared


def outcome(pool: PagePool, path: Path) -> str:
    """The kind of the problem with the first page, or that it renders; within the limits in any case."""
    try:
        image = pool.page_image(path, 0, encoding="screen")
    except PageProblem as problem:
        return problem.kind if str(path.parent) not in str(problem) else str(problem)
    assert image.width * image.height <= PIXEL_LIMIT
    assert max(image.width, image.height) <= SIDE_LIMIT
    return "renders"


BOMB = "too_slow, out_of_memory, worker_lost, unreadable, renders"
# The wanted outcomes of hostile/index.json: kinds that are fine, or "renders".
CORPUS_WANTED: dict[str, str] = {
    **dict.fromkeys(("bomb_dash", "bomb_flate3", "bomb_image", "bomb_ops", "bomb_smask", "bomb_tiling", "bomb_type4fn"),
                    BOMB),
    **dict.fromkeys(("empty", "png_named", "svg_named", "text_named"), "not_pdf"),
    **dict.fromkeys(("count_lies_high", "kids_cycle"), "unreadable"),
    **dict.fromkeys(("active_js", "bomb_form_self", "enc_owner", "external_stream", "ocg_hidden", "ok", "pages_5000",
                     "size_1e30", "size_1e6", "size_2e9", "size_nan", "size_reversed", "size_short", "size_sliver",
                     "size_zero", "trailing_junk"), "renders"),
    **dict.fromkeys(("deep_arrays", "deep_pagetree", "leading_junk", "no_mediabox", "no_xref", "prev_cycle",
                     "truncated"), "not_pdf, unreadable, renders"),
    "bomb_forms": "too_slow", "enc_rc4": "encrypted", "zero_pages": "no_pages",
}  # fmt: skip
CORPUS_GEOMETRY = sorted(path.stem for path in CORPUS.glob("pdf/geom_*.pdf") if path.stem != "geom_rot45")


def test_every_row_of_the_corpus_has_its_wanted_outcome(pool: PagePool, short_pool: PagePool) -> None:
    rows = {name for name in json.loads((CORPUS / "index.json").read_text()) if name.startswith("pdf/")}
    assert rows == {f"pdf/{name}.pdf" for name in (*CORPUS_WANTED, *CORPUS_GEOMETRY, "geom_rot45")}
    outcomes = {
        name: outcome(short_pool if "too_slow" in wanted else pool, CORPUS / "pdf" / f"{name}.pdf")
        for name, wanted in CORPUS_WANTED.items()
    }
    assert {name: kind for name, kind in outcomes.items() if kind not in CORPUS_WANTED[name].split(", ")} == {}


def test_what_is_not_quite_a_pdf_has_its_wanted_outcome(pool: PagePool, write: Write) -> None:
    for name, (content, wanted) in {
        "png_with_pdf_mark": (png_header(8, 8) + b"%PDF-1.7", "unreadable"),
        "html_with_pdf_mark": (b"<html><!-- %PDF-1.7 --><p>Hello</p></html>", "unreadable"),
        "header_only": (b"%PDF-1.7\n", "unreadable"),
        "junk_in_front": (b"\0" * 900 + page(), "renders"),
        "junk_too_long": (b"\0" * 1100 + page(), "not_pdf"),
    }.items():
        assert outcome(pool, write(f"{name}.pdf", content)) == wanted, name


def test_corpus_details(pool: PagePool) -> None:
    folder = CORPUS / "pdf"
    assert pool.describe(folder / "pages_5000.pdf").page_count == 5000
    assert pool.page_image(folder / "pages_5000.pdf", 4999).page_width == 9
    assert pool.describe(folder / "enc_rc4.pdf").encrypted
    assert pool.describe(folder / "zero_pages.pdf").page_count == 0
    assert pool.page_image(folder / "geom_rot45.pdf", 0).warnings == (
        "The page's /Rotate is 45, which is not a multiple of 90: boxes may be off.",
    )
    reversed_corners = pool.page_image(folder / "size_reversed.pdf", 0)
    assert (reversed_corners.page_width, reversed_corners.page_height) == (612, 792)
    for page_index in (-1, 1, 10**6, 10**30):
        with pytest.raises(PageProblem, match=r"ok\.pdf has no page"):
            pool.page_image(folder / "ok.pdf", page_index)


def test_hidden_layers_and_content_of_another_file_are_not_shown(pool: PagePool, write: Write) -> None:
    assert pixels(pool.page_image(write("layers.pdf", hidden_layer()), 0, dpi=40))[5, 5].min() > 240
    outside = write("outside.txt", RED_CONTENT)
    external = pixels(pool.page_image(write("external.pdf", external_stream(str(outside))), 0, dpi=40))
    assert external.min() > 240


HELVETICA = b"/Font << /F 5 0 R >>", (b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",)
HAMBURG = b"BT /F 20 Tf 105 150 Td (Hamburg) Tj ET"
ODD_GEOMETRY = {
    b"/MediaBox [0 0 0 0]": "The page's /MediaBox has no area: drawn as 612 x 792 pt, boxes may be off.",
    b"/MediaBox [0 0 nan inf]": "The page's /MediaBox is not four numbers: drawn as 612 x 792 pt, boxes may be off.",
    b"/MediaBox [0 0 612]": "The page's /MediaBox is not four numbers: drawn as 612 x 792 pt, boxes may be off.",
    b"": "The page has no /MediaBox: drawn as 612 x 792 pt, boxes may be off.",
    b"/MediaBox [0 0 612 792] /CropBox [1000 0 1200 9]": "The page's /CropBox shares no area with its /MediaBox: the "
    "whole /MediaBox is shown, boxes may be off.",
    b"/MediaBox [0 0 612 792] /CropBox [1 2 3]": "The page's /CropBox is not four numbers: the whole /MediaBox is "
    "shown, boxes may be off.",
}


def test_illegal_geometry_is_told(pool: PagePool, write: Write) -> None:
    for entries, warning in ODD_GEOMETRY.items():
        path = write("odd.pdf", page(entries=entries))
        image = pool.page_image(path, 0, dpi=30)
        assert (image.warnings, pool.words(path, 0).warnings) == ((warning,), (warning,)), entries
        assert red_share(image).max() > 0.9, entries
    path = write("inherited.pdf", page(inherited=b"/Rotate 5 0 R", others=(b"30",)))
    assert pool.page_image(path, 0, dpi=30).warnings == (
        "The page's /Rotate is 30, which is not a multiple of 90: boxes may be off.",
    )


def test_stray_bytes_in_the_renderers_words(pool: PagePool, write: Write) -> None:
    # MuPDF hands the byte on as a lone surrogate, which no message can hold.
    path = write("stray.pdf", page(RED_CONTENT + b" 5\xbb"))
    assert pool.page_image(path, 0, dpi=30).warnings == (
        "The renderer met a problem and may have left something out: syntax error: unknown keyword: '5\\udcbb'.",
    )


def test_repaired_and_capped_documents_say_so(pool: PagePool, write: Write) -> None:
    path = write("cut.pdf", page().split(b"xref")[0])
    assert pool.describe(path) == Description(
        1, False, ("The file is damaged and was repaired while reading: pages may be missing or wrong.",)
    )
    image = pool.page_image(
        write("poster.pdf", page(entries=b"/MediaBox [0 0 7200 7200]")), 0, dpi=100, encoding="screen"
    )
    assert (image.width, image.height) == (5000, 5000)
    assert image.warnings == ("The page is too large for 100 dpi; it is drawn at 50 dpi.",)


# Each turn, with and without each of the other entries.
MIXED = ("plain", "turned_90", "shifted_cropped_270", "fractions", "unit_cropped_180")


def test_boxes_land_on_the_picture(pool: PagePool, write: Write) -> None:
    wrong = {}
    for name, geometry in LEGAL.items():
        path = write("geometry.pdf", geometry.document())
        images = {"72 dpi": pool.page_image(path, 0, dpi=72)}
        if name in MIXED:
            # In bands.
            images["large"] = pool.page_image(path, 0, width=1_800)
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
    monkeypatch.setattr(worker, "_BAND_PIXELS", 100_000)
    monkeypatch.setattr(pymupdf.DisplayList, "get_pixmap", band)
    monkeypatch.setattr("evaluator.pdf.worker._webp", lambda picture: picture.tobytes())
    document = worker._PdfDocument(content)
    image = document.page_image(0, dpi=None, width=600)
    assert (image.width, image.height) == (600, 600)
    assert len(drawn) > 1
    assert sum(drawn) == 360_000
    assert max(drawn) <= 100_000
    whole = pymupdf.open(stream=content, filetype="pdf")[0].get_pixmap(matrix=pymupdf.Matrix(1 / 24, 1 / 24))
    own, other = (np.frombuffer(each, np.uint8).astype(int) for each in (image.webp, whole.samples))
    # Where a line leaves a band its edge is rounded once more.
    assert np.abs(own - other).max() < 32


def test_what_is_on_a_page_is_read_once_for_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    listed = pymupdf.Page.get_displaylist

    def counted(page: Any, *given: Any, **more: Any) -> Any:
        read.append(page.number)
        return listed(page, *given, **more)

    def drawn(document: Any, page_index: int, part: tuple[float, ...] | None, dpi: float = 144.0) -> PageImage:
        image: PageImage = document.page_image(page_index, dpi=dpi, width=640 if part else None, part=part)
        return image

    content = (SAMPLE / "river-districts.pdf").read_bytes()
    parts = [(0.1, 0.1, 0.6, 0.4), (0.0, 0.0, 1.0, 1.0), (0.33, 0.5, 0.97, 0.7), None]
    alone = [drawn(worker._PdfDocument(content), 0, part) for part in parts]
    monkeypatch.setattr(pymupdf.Page, "get_displaylist", counted)
    document = worker._PdfDocument(content)
    assert [drawn(document, 0, part) for part in parts] == alone, "the same pictures, bytes and warnings"
    assert read == [0]
    # Nothing of a page is kept once it was drawn whole, or another one is looked at.
    drawn(document, 0, parts[0], 72.0)
    drawn(document, 0, parts[0])
    document.words(1)
    drawn(document, 0, parts[0])
    assert read == [0, 0, 0]


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


@pytest.mark.parametrize("name", MIXED)
def test_a_part_is_drawn_like_the_whole_page(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same pixels it is what the whole page shows there; in fewer what that looks like scaled down."""
    monkeypatch.setattr("evaluator.pdf.worker._webp", lambda picture: picture.tobytes())
    document = worker._PdfDocument(LEGAL[name].document(RED_CONTENT + HAMBURG, *HELVETICA))

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


def test_legal_geometry_of_the_corpus_is_drawn_without_a_warning(pool: PagePool) -> None:
    for name in CORPUS_GEOMETRY:
        image = pool.page_image(CORPUS / "pdf" / f"{name}.pdf", 0, dpi=40)
        assert red_share(image).max() > 0.9, name
        assert not [warning for warning in image.warnings if "/Rotate" in warning], name


def test_word_boxes_cover_the_dark_pixels(pool: PagePool, write: Write) -> None:
    for name, geometry in LEGAL.items():
        path = write("words.pdf", geometry.document(HAMBURG, *HELVETICA))
        words = pool.words(path, 0)
        column = words.texts, words.boxes.dtype, words.boxes.shape, words.boxes.flags.writeable
        assert column == (("Hamburg",), np.float64, (1, 4), False), name
        image = pool.page_image(path, 0, dpi=144)
        rows, columns = np.nonzero(pixels(image)[..., 1] < 128)
        dark = np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])
        box = words.boxes[0] * [image.width, image.height, image.width, image.height]
        assert (box[:2] <= dark[:2] + 1.5).all(), name
        assert (box[2:] >= dark[2:] - 1.5).all(), name
        # ... and not much more than them: the line is 20 pt high, its letters about 15 pt.
        assert np.abs(box - dark).max() <= 10 * geometry.unit * 144 / 72, name


def test_words_outside_the_displayed_page_are_left_out(pool: PagePool, write: Write) -> None:
    content = b"BT /F 20 Tf 60 150 Td (seen) Tj 0 90 Td (hidden) Tj ET"
    geometry = Geometry((0, 0, 240, 300), (70, 100, 200, 200), 90)
    words = pool.words(write("cut.pdf", geometry.document(content, *HELVETICA)), 0)
    assert "hidden" not in "".join(words.texts)
    assert words.boxes.min() >= 0
    assert words.boxes.max() <= 1
    bare = pool.words(write("bare.pdf", page()), 0)
    assert (bare.boxes.shape, bare.texts) == ((0, 4), ())


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


def test_fewer_pixels_where_a_sharp_picture_is_not_needed(pool: PagePool, write: Write) -> None:
    large = write("large.pdf", page(entries=b"/MediaBox [0 0 14400 14400]"))
    image = pool.page_image(large, 0, dpi=90, most_pixels=90_000)
    assert (image.width, image.height) == (300, 300)
    assert image.warnings == ()
    assert pool.page_image(large, 0, width=400, most_pixels=90_000).width == 300
    assert pool.page_image(large, 0, width=200, most_pixels=90_000).width == 200
    for wrong in (0, PIXEL_LIMIT + 1):
        with pytest.raises(ValueError, match="most_pixels must be from 1 to"):
            pool.page_image(large, 0, most_pixels=wrong)


def test_width(pool: PagePool, write: Write) -> None:
    path = write("one.pdf", page())
    image = pool.page_image(path, 0, width=306)
    assert (image.width, image.height) == (306, 396)
    for wrong in (0.0, -1.0, float("nan"), float("inf"), 1e6):
        with pytest.raises(ValueError, match="dpi must be above 0"):
            pool.page_image(path, 0, dpi=wrong)
    with pytest.raises(ValueError, match="width must be from 1"):
        pool.page_image(path, 0, width=0)


def test_an_image_is_a_document_of_one_page(pool: PagePool, write: Write) -> None:
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
        assert refused(pool.page_image, path, 1).kind == "page_out_of_range", kind
    assert refused(pool.page_image, write("sound.webp", b"RIFF\x10\0\0\0WAVEfmt "), 0).kind == "not_pdf"


def test_image_modes_and_compressions(pool: PagePool, write: Write) -> None:
    for mode in ("1", "L", "LA", "RGBA", "I;16"):
        white = 65535 if mode == "I;16" else 0 if mode in ("LA", "RGBA") else 255
        path = write("mode.png", picture_of(Image.new(mode, (40, 20), white), "PNG"))
        assert pixels(pool.page_image(path, 0)).min() > 240, mode
    green = Image.new("RGB", (60, 30), (30, 160, 60))
    for compression in ("raw", "tiff_lzw", "tiff_deflate", "packbits", "jpeg"):
        image = pool.page_image(write("page.TIF", picture_of(green, "TIFF", compression=compression)), 0)
        assert (image.width, image.height) == (60, 30), compression
        assert np.abs(pixels(image)[15, 30] - np.array([30.0, 160.0, 60.0])).max() <= 12, compression
    red = Image.new("RGB", (64, 64), (200, 30, 30)).convert("CMYK")
    shown = pixels(pool.page_image(write("print.jpg", picture_of(red, "JPEG")), 0, width=32))
    assert np.abs(shown[16, 16] - np.array([200.0, 30.0, 30.0])).max() <= 16


def test_image_is_turned_as_its_exif_orientation_says(pool: PagePool, write: Write) -> None:
    """Pillow's own transposition is the oracle; 9 is no orientation."""
    stored = Image.new("RGB", (48, 24), "white")
    stored.paste((200, 30, 30), (0, 0, 16, 8))
    for format_name, turned in itertools.product(("JPEG", "PNG", "TIFF"), range(1, 10)):
        exif = Image.Exif()
        exif[0x0112] = turned
        content = picture_of(stored, format_name, exif=exif)
        path = write(f"turned.{format_name.lower()}", content)
        image = pool.page_image(path, 0)
        with Image.open(io.BytesIO(content)) as again:
            expected = ImageOps.exif_transpose(again).convert("RGB")
        assert (image.width, image.height) == expected.size, (format_name, turned)
        assert (image.page_width, image.page_height) == expected.size, (format_name, turned)
        assert pool.page_sizes(path).tolist() == [[*expected.size]], (format_name, turned)
        assert pool.page_image(path, 0, width=12).height == 12 * expected.height // expected.width
        far = np.abs(pixels(image) - np.asarray(expected, dtype=np.float32)).mean()
        assert far < 8, (format_name, turned)
        told = f"The image is turned by its EXIF orientation ({turned}): boxes refer to the turned picture."
        assert image.warnings == ((told,) if 2 <= turned <= 8 else ()), (format_name, turned)


def test_broken_exif_reads_as_none(pool: PagePool, write: Write) -> None:
    for exif in (b"not a directory", b"II*\0\x08\0\0\0\xff\xff", b"II*\0\xff\xff\xff\xff", b"XX"):
        content = picture_of(Image.new("RGB", (40, 20)), "JPEG", exif=b"Exif\0\0" + exif)
        image = pool.page_image(write("broken.jpg", content), 0)
        assert (image.width, image.height, image.warnings) == (40, 20, ()), exif


def tiff_pages(*pages: Image.Image) -> bytes:
    return picture_of(pages[0], "TIFF", save_all=True, append_images=pages[1:])


def test_a_tiff_of_several_pages_has_them_all(pool: PagePool, write: Write) -> None:
    shades = [(40, 60, 10), (60, 40, 120), (20, 30, 240)]
    frames = [Image.new("L", (width, height), shade) for width, height, shade in shades]
    path = write("scan.tif", tiff_pages(*frames))
    assert pool.describe(path).page_count == 3
    assert pool.page_sizes(path).tolist() == [[width, height] for width, height, _ in shades]
    for index, (width, height, shade) in enumerate(shades):
        image = pool.page_image(path, index)
        assert (image.width, image.height) == (width, height)
        assert np.abs(pixels(image)[height // 2, width // 2] - shade).max() <= 4
        assert len(pool.words(path, index).texts) == 0
        assert pool.ink(path, index).marked.shape[1] == 160
    problem = refused(pool.page_image, path, 3)
    assert problem.kind == "page_out_of_range"
    assert "the document has 3" in problem.text
    # TIFF 6.0, NewSubfileType: bit 0 is a smaller copy of another picture of the file, and no page.
    frames[1].encoderinfo = {"tiffinfo": {0x00FE: 1}}
    assert pool.page_sizes(write("thumb.tiff", tiff_pages(*frames))).tolist() == [[40.0, 60.0], [20.0, 30.0]]


def test_the_ink_of_an_image_is_that_of_the_turned_picture(pool: PagePool, write: Write) -> None:
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


def test_large_jpeg_is_decoded_at_a_fraction(pool: PagePool, write: Write) -> None:
    """More pixels than an image may be decoded to: drawn at half its size, as sharp as the pixel budget allows."""
    path = write("a0.jpg", large_jpeg(10_000, 7_000))
    small = pool.page_image(path, 0, width=1_000, encoding="screen")
    assert (small.width, small.height, small.page_width, small.page_height) == (1_000, 700, 10_000, 7_000)
    sharp = pool.page_image(path, 0, width=16_000, encoding="screen")
    assert (sharp.width, sharp.height) == (5_000, 3_500)
    for image in (small, sharp):
        corner = pixels(image)[: image.height // 4, : image.width // 4]
        assert np.abs(corner.mean(axis=(0, 1)) - np.array([200.0, 30.0, 30.0])).max() <= 12


def large_jpeg(width: int, height: int, **options: object) -> bytes:
    return picture_of(Image.new("RGB", (width, height), (200, 30, 30)), "JPEG", quality=30, **options)


def test_progressive_jpeg_that_does_not_fit_into_memory_is_refused_before(pool: PagePool, write: Write) -> None:
    small = large_jpeg(400, 300, progressive=True)
    assert pool.page_image(write("small.jpg", small), 0).width == 400
    problem = refused(pool.page_image, write("a0.jpg", renamed_size(small, 14_000, 10_000)), 0)
    assert problem.kind == "too_large"
    assert "It is a progressive JPEG, which has to be held whole: 401 MiB." in problem.text
    # Colour at full size takes twice the memory.
    full = large_jpeg(400, 300, progressive=True, subsampling=0)
    with pytest.raises(PageProblem, match="801 MiB"):
        pool.page_image(write("full.jpg", renamed_size(full, 14_000, 10_000)), 0)


def renamed_size(content: bytes, width: int, height: int) -> bytes:
    at = min(workspace for sign in (b"\xff\xc0", b"\xff\xc2") if (workspace := content.find(sign)) > 0) + 5
    return content[:at] + height.to_bytes(2, "big") + width.to_bytes(2, "big") + content[at + 4 :]


def test_hostile_jpegs_fail_typed(pool: PagePool, write: Write) -> None:
    good = large_jpeg(400, 300)
    for name, content, kind in (
        ("cut.jpg", good[: len(good) // 2], "unreadable"),
        ("head.jpg", good[:12], "unreadable"),
        ("lie.jpg", renamed_size(good, 60_000, 60_000), "too_large"),
        ("not.tif", b"II*\0" + b"\xff" * 40, "unreadable"),
        ("png.jpg", png_header(8, 8), "unreadable"),
    ):
        assert refused(pool.page_image, write(name, content), 0).kind == kind, name
    # The decoder fills up what is not there; a picture of the claimed size stays within the budget all the same.
    lie = pool.page_image(write("lie_small.jpg", renamed_size(good, 15_000, 15_000)), 0, encoding="screen")
    assert lie.width * lie.height <= PIXEL_LIMIT
    assert pool.page_image(write("good.jpg", good), 0).width == 400


def test_image_bombs_and_wrong_names(pool: PagePool, write: Write) -> None:
    side = int(IMAGE_PIXEL_LIMIT**0.5) + 10
    for name, content, kind in (
        ("bomb.png", png_header(side, side), "too_large"),
        ("huge.png", png_header(2**31 - 1, 2**31 - 1), "too_large"),
        ("short.png", png_header(8, 8), "unreadable"),
        ("pdf.png", page(), "not_pdf"),
        ("empty.jpg", b"", "not_pdf"),
        ("gif.png", b"GIF89a" + b"\0" * 50, "not_pdf"),
    ):
        assert refused(pool.page_image, write(name, content), 0).kind == kind


def test_sizes_of_all_pages_are_those_of_the_displayed_pages(pool: PagePool, tmp_path: Path) -> None:
    path = tmp_path / "many.pdf"
    with pymupdf.open() as document:
        # More than are asked for at once.
        for page_index in range(603):
            document.new_page(width=300 + page_index % 7, height=400)
        document[5].set_rotation(90)
        document[6].set_cropbox(pymupdf.Rect(10, 20, 110, 220))
        document.save(path)
    sizes = [[300 + page_index % 7, 400] for page_index in range(603)]
    sizes[5:7] = [[400, 305], [100, 200]]
    assert pool.page_sizes(path).tolist() == sizes
    assert refused(pool.page_sizes, tmp_path / "none.pdf").kind == "missing"
