"""Grid: the places of the mistakes of one model as cards, by cause, and the matched boxes behind a number as crops."""

from __future__ import annotations

from pages.app import frame, pictures
from pages.app.address import read_url, write_url
from pages.app.session_files import BOXES
from pages.views.gallery import grid
from pages.views.overview import headline


def view() -> None:
    """Draw the whole view."""
    read_url("gallery")
    pictures.start_renderer(BOXES)
    loaded = frame.open_boxes("Grid")
    if loaded is None:
        return
    grid.show(loaded, loaded.shown, headline.of_one_model("Grid", loaded))
    write_url("gallery")


view()
