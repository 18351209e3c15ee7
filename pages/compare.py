"""Compare: two models on the same ground truth, from one sentence down to the boxes in which they differ."""

from __future__ import annotations

from evaluator.components.viewer.reading import READINGS
from evaluator.formats.posters import Posters
from pages.app import frame, session_files, widgets
from pages.app.address import read_url
from pages.app.session_files import LoadedBoxes, LoadedFiles
from pages.app.state import State
from pages.views.compare import compare_boxes, compare_fields, compare_pixels, compare_posters, compare_reading
from pages.views.fields import field_results
from pages.views.fields.field_results import ComparedFields
from pages.views.reading import reading_results
from pages.views.reading.reading_results import Reading


def _files_of_kinds() -> tuple[LoadedBoxes | None, ComparedFields | None, LoadedFiles[Posters] | None]:
    return session_files.load_boxes(), field_results.compare_models(), session_files.load_files(session_files.POSTERS)


def _kinds() -> dict[str, str]:
    """Return what two open models can be compared by, with its name; boxes where nothing is open."""
    boxes, fields, posters = _files_of_kinds()
    kinds = {"boxes": "Boxes", "pixels": "Pixels"} if boxes is not None and len(boxes.pair) == 2 else {}
    if fields is not None and len(fields.models) == 2:
        kinds["fields"] = "Fields"
    if posters is not None and len(posters.pair) == 2:
        kinds["posters"] = "Posters"
    kinds |= {name: of.system.title for name, of in _readings().items()}
    return kinds or {"boxes": "Boxes"}


def _readings() -> dict[str, Reading]:
    """Return what of items two open models can be compared by."""
    every = {name: reading_results.read(system) for name, system in READINGS.items()}
    return {name: of for name, of in every.items() if of is not None and len(of.loaded.pair) == 2}


def view() -> None:
    """Draw the whole view."""
    read_url("compare")
    kinds = _kinds()
    kind = widgets.shown_kind(kinds, State.pair_kind)
    if kind == "boxes":
        compare_boxes.body(kinds)
        return
    frame.refused_parts()
    # Without these a choice was taken away in the meantime.
    boxes, fields, posters = _files_of_kinds()
    if kind == "pixels" and boxes is not None:
        compare_pixels.body(boxes, kinds)
    elif kind == "fields" and fields is not None:
        compare_fields.body(fields, kinds)
    elif kind in READINGS and (of := _readings().get(kind)) is not None:
        compare_reading.body(of, kinds)
    elif posters is not None:
        compare_posters.body(posters, kinds)


view()
