"""What the modes of Review list, counted: each number opens exactly so many."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evaluator.analysis.suspects.listing import too_many_labels
from evaluator.data.issues import count_of
from pages.app import frame
from pages.app.session_files import LoadedBoxes
from pages.app.state import View
from pages.views.browser import page_listing
from pages.views.findings import decision_rows
from pages.views.suspects import suspects


def counts_of(loaded: LoadedBoxes | None) -> Mapping[View, tuple[int, str]]:
    """Return how many rows, places and suspects the modes list, and that in words; nothing without files."""
    if loaded is None or not loaded.pair:
        return {}
    causes, others, _ = decision_rows.rows_of(loaded)
    rows = count_of(len(causes), "cause") + (f" and {count_of(len(others), 'finding')} of none" if others else "")
    places = int(np.count_nonzero(~page_listing.judged_causes(loaded, loaded.shown)))
    of_model = f"{count_of(places, 'place')} of {frame.letter_and_name(loaded.shown)} without a verdict"
    counts: dict[View, tuple[int, str]] = {"findings": (len(causes) + len(others), rows), "queue": (places, of_model)}
    if not too_many_labels(loaded.dataset):
        suspected = suspects.count_unanswered(suspects.list_suspects(loaded))
        said = f"{count_of(suspected, 'suspected box')} of the ground truth without an answer"
        counts["suspects"] = (suspected, said)
    return counts
