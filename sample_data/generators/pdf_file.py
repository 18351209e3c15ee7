"""Writing a drawn document: its bytes, pages that are moved on their sheet, and pages that become pictures."""

# PyMuPDF ships no types for its methods.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import io

import pymupdf
from PIL import Image


def pdf_bytes(document: pymupdf.Document, title: str) -> bytes:
    """Return the document as PDF, the same bytes on every run."""
    document.subset_fonts()
    document.set_metadata({"title": title, "author": "LayoutScope sample data"})
    # A random /ID and dates would change the bytes on every run.
    return bytes(document.tobytes(garbage=3, deflate=True, no_new_id=True, use_objstms=1))


def move_contents(page: pymupdf.Page, matrix: str, marks: str = "") -> None:
    """Move the whole drawing of a page by a PDF matrix; marks are drawn after it where they say."""
    page.clean_contents()
    xref = page.get_contents()[0]
    content = page.parent.xref_stream(xref)
    page.parent.update_stream(xref, f"q {matrix} cm\n".encode() + content + f"\nQ{marks}".encode())


def as_jpeg(image: Image.Image, quality: int) -> bytes:
    """Return the image as JPEG bytes."""
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=quality, optimize=False)
    return stream.getvalue()


def picture_of(page: pymupdf.Page, dpi: float, mode: str = "L") -> Image.Image:
    """Return the page as a picture in grey ("L") or colour ("RGB")."""
    colors = {"L": pymupdf.csGRAY, "RGB": pymupdf.csRGB}[mode]
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(dpi / 72, dpi / 72), colorspace=colors, alpha=False)
    return Image.frombytes(mode, (pixmap.width, pixmap.height), pixmap.samples)


def replace_by_picture(document: pymupdf.Document, number: int, picture: bytes) -> pymupdf.Page:
    """Put a page of the same size in the place of another, filled by a picture; return it."""
    size = document[number].rect
    document.delete_page(number)
    page = document.new_page(number, width=size.width, height=size.height)
    page.insert_image(page.rect, stream=picture)
    return page
