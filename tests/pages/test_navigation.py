"""The first view of a reader has data, and views without data are muted."""

from __future__ import annotations

from evaluator.workspace.roles import Sides, Workspace
from tests import dashboard
from tests.dashboard import OVERVIEW, SAMPLE_DATA


def test_posters_alone_open_on_their_view_once() -> None:
    files = Workspace({"posters": Sides(SAMPLE_DATA / "posters" / "ground_truth")}).to_json()
    app = dashboard.start(files=files)
    assert dashboard.title(app) == "Posters"
    muted = next(each.proto.body for each in app.get("html") if "opacity: .5" in each.proto.body)
    named = {view for view in ("", "gallery", "fields", "posters", "compare", "files") if f'"/{view}"' in muted}
    assert named == {"", "gallery", "fields"}
    # The reader may look at an empty view.
    dashboard.go(app, OVERVIEW)
    assert "No ground truth is open" in " ".join(dashboard.words(app))
