"""B against A in the views of pixels, fields and posters: the same sentence and intervals as in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluator.compare.differences import Difference, decisive, differences
from evaluator.compare.sentences import interval_text, moved_text, name_of, summary
from evaluator.project import evaluate_together
from evaluator.protocols import PROTOCOLS
from tests import dashboard
from tests.dashboard import SAMPLE_DATA, start

VIEWS = {
    "pixel": ("pages/pixel_confusion.py", SAMPLE_DATA / "ground_truth.json", ("lines.json", "blocks.json")),
    "fields": ("pages/fields.py", SAMPLE_DATA / "fields" / "ground_truth", ("fields/anchors", "fields/rules")),
    "posters": ("pages/posters.py", SAMPLE_DATA / "posters" / "ground_truth", ("posters/across", "posters/columns")),
}


def in_terminal(protocol: str, truth: Path, models: Sequence[Path]) -> tuple[Difference, ...]:
    options = {"pdfs": SAMPLE_DATA / "pdf"} if protocol == "pixel" else {}
    results = [one.result for one in evaluate_together(protocol, truth, models, **options)]
    return differences(*(PROTOCOLS[protocol].measures(result) for result in results))


@pytest.mark.parametrize("protocol", list(VIEWS))
def test_the_view_says_what_the_terminal_says(monkeypatch: pytest.MonkeyPatch, protocol: str) -> None:
    view, truth, models = VIEWS[protocol]
    app = start(monkeypatch, view)
    every = in_terminal(protocol, truth, [SAMPLE_DATA / name for name in models])
    table = next(each.value for each in app.dataframe if "B − A, points" in each.value.columns)
    metrics = tuple(dict.fromkeys(one.metric for one in every))
    rows = decisive(every, limit=max(10, sum(one.overall for one in every)), metrics=metrics)
    assert list(table["Number"]) == [name_of(one) for one in rows]
    assert list(table["A"]) == pytest.approx([one.a for one in rows])
    assert list(table["B"]) == pytest.approx([one.b for one in rows])
    assert [text.removesuffix(" ★") for text in table["B − A, points"]] == [moved_text(one) for one in rows]
    assert ["★" in text for text in table["B − A, points"]] == [one.starred for one in rows]
    wanted = [None if one.too_few else interval_text(one, signed=True) for one in rows]
    assert list(table["95 % interval"]) == [text or "–" for text in wanted]
    assert list(table["Better in B"]) == [one.documents_better for one in rows]
    said = " ".join(dashboard.words(app))
    headline = summary(every, ("A", "B")).headline
    # The models are called by their names there.
    assert headline[headline.index(" points") :] in said
