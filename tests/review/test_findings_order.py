"""The order of events is that of the store, whatever their times say; times that cannot be right are shown as such."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from evaluator.review import findings_import
from evaluator.review.findings_export import to_csv
from evaluator.review.identity import page_target
from evaluator.review.store import Store
from evaluator.review.verdicts import Event, ReviewLog
from tests.judging import NOW, opinion
from tests.reading import refusal_issues


def at_minute(verdict: str, minutes: int, author: str = "Ann", *, page: int = 0, source: str = "") -> Event:
    return opinion(page_target("a.pdf", page), verdict, minutes=minutes, author=author, source=source)


def test_the_newer_verdict_wins_after_the_clock_stepped_back(tmp_path: Path) -> None:
    first, second = at_minute("model_wrong", 0), at_minute("ambiguous", -90)
    with Store(tmp_path / "f.db") as store:
        store.add([first])
        store.add([second])
        (judged,) = store.log().judged.values()
        assert (judged.verdict, judged.last.id) == ("ambiguous", second.id)
        assert [event.id for event in store.log().events] == [first.id, second.id]
        assert store.log().improbable(NOW) == {first.id}


def test_an_event_of_the_future_beats_no_later_one(tmp_path: Path) -> None:
    future = at_minute("model_wrong", 60 * 24 * 3650, source="sent.csv")
    (imported,) = findings_import.read(to_csv([future]).encode(), "sent.csv").events
    with Store(tmp_path / "f.db") as store:
        store.add([imported])
        store.add([at_minute("ignore", 1)])
        (judged,) = store.log().judged.values()
        assert judged.verdict == "ignore"
        assert store.log().improbable(NOW) == {imported.id}


def test_an_old_file_makes_no_time_improbable() -> None:
    log = ReviewLog.of(
        [at_minute("ignore", 0), at_minute("ambiguous", -5000, "Ben", source="old.csv"), at_minute("ignore", 1)]
    )
    assert log.improbable(NOW + timedelta(minutes=2)) == frozenset()
    assert ReviewLog.of([at_minute("ignore", 4)]).improbable(NOW) == frozenset()


def test_the_target_of_the_last_event_comes_first() -> None:
    events = [at_minute("ignore", 9, page=1), at_minute("ignore", 5, page=2), at_minute("ambiguous", 1, page=1)]
    log = ReviewLog.of([*events, events[0]])
    assert [judged.target.page for judged in log.every.values()] == [1, 2]
    assert log.revision == (3, events[2].id)
    assert ReviewLog.of([]).revision == (0, "")


@pytest.mark.parametrize("column", ["verdict", "note", "author", "time", "event", "target", "kind", "document"])
def test_a_cell_of_another_type_is_an_issue(column: str) -> None:
    cells = {"verdict": "ignore", "author": "Ann", "time": "2026-01-31T12:00:00Z", "kind": "document", "document": "a"}
    for value in (["x"], {"a": 1}, 7, True):
        content = json.dumps({"events": [{**cells, column: value}]}).encode()
        places = [issue.place for issue in refusal_issues(findings_import.read, content, "f.json")]
        assert f"$.events[0].{column}" in places, value
