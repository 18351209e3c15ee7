"""Queue: what is to be reviewed, as Grid: places without a verdict, and pages drawn at random."""

from __future__ import annotations

from evaluator.analysis.suspects.listing import too_many_labels
from evaluator.data.issues import count_of
from pages.app import frame, pictures, widgets
from pages.app.address import read_url, write_url
from pages.app.session_files import BOXES
from pages.app.state import State, state
from pages.views.browser import page_listing
from pages.views.findings import review_counts
from pages.views.gallery import grid
from pages.views.overview import headline
from pages.views.suspects import review_plan, suspects


def view() -> None:
    """Draw the whole view."""
    read_url("queue")
    pictures.start_renderer(BOXES)
    loaded = frame.open_boxes("Queue")
    if loaded is None:
        return
    if state.entered_bare:
        # What the count of the tab counts.
        page_listing.open_unjudged()
    model = loaded.shown
    drawn = too_many_labels(loaded.dataset) is None
    answers = suspects.plan_progress(loaded, suspects.list_suspects(loaded)) if drawn else []
    pages = suspects.planned_pages(answers[0], loaded.dataset) if answers else []
    line = headline.of_one_model("Queue", loaded, review_counts.counts_of(loaded))
    with line:
        help_ = "Places without a verdict; or whole pages drawn at random, from which recall follows with its bound."
        names = {"": "Places", "sample": f"Sample of {count_of(len(pages), 'page')}"}
        widgets.switch("Queue", names, State.queued, label_visibility="collapsed", width="content", help=help_)
    if state.queued and drawn:
        review_plan.show(loaded, model, answers, pages)
    else:
        grid.show(loaded, model, line)
    write_url("queue")


view()
