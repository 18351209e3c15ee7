"""Verdicts on fields under AppTest: beside their problem, in the corrected numbers, in the view of findings."""

from datetime import UTC, datetime
from pathlib import Path

from streamlit.testing.v1 import AppTest

from evaluator.protocols import fields
from evaluator.review.field_corrections import corrected_fields, field_corrections
from evaluator.review.field_targets import judged_fields, targets_of
from evaluator.review.verdicts import Event, JudgedBox, ReviewLog, Target, judge
from tests import dashboard
from tests.dashboard import FIELDS, FINDINGS, PACK, PAGE_BROWSER, go, html_blocks, numbers, start, viewer
from tests.judging import store
from tests.sample_results import field_results


def said(result: fields.FieldsResult, document: str, verdict: str, mistake: str) -> Event:
    judged = judged_fields(result, document, ReviewLog(), iou=0.5)
    target = next(target for target in targets_of(result, judged, iou=0.5).values() if target.mistake == mistake)
    return judge(target, verdict=verdict, author="Anna", verified=False, time=datetime(2026, 1, 31, tzinfo=UTC))


def corrected_rows(app: AppTest) -> list[str]:
    """Official and corrected numbers of all fields; empty without corrected ones."""
    bodies = [body for body in html_blocks(app) if "ls-corrected" in body]
    return dashboard.read_html(bodies[0]).words if bodies else []


def test_a_verdict_stands_beside_its_problem_and_corrects_the_numbers(store_path: Path) -> None:
    document = "norris-20466"
    app = start(FIELDS, field_doc=document)
    data = viewer(app)
    assert data["verdicts"] is True
    assert all(mistake["target"] and "verdict" not in mistake for mistake in data["mistakes"] if mistake["keys"])
    assert corrected_rows(app) == []
    assert not store_path.exists()
    event = said(field_results()["A"], document, "ground_truth_wrong", "missed")
    store(store_path, event)
    app = start(FIELDS, field_doc=document, field_page=str((event.target.page or 0) + 1))
    (judged,) = (each for each in viewer(app)["mistakes"] if each["target"] == event.target.id)
    assert judged["label"] == event.target.label
    assert (judged["verdict"]["agreed"], judged["verdict"]["opinions"][0]["author"]) == ("ground_truth_wrong", "Anna")
    to = field_corrections([*field_results().values()], ReviewLog.of([event]))
    again = corrected_fields(field_results()["A"], to).result
    before, after = field_results()["A"].overall(0.5), again.overall(0.5)
    assert int(after.missed[0]) == int(before.missed[0]) - 1
    shown = corrected_rows(app)
    for which, result, counts in (("official", field_results()["A"], before), ("corrected", again, after)):
        place = shown.index(which)
        assert shown[place + 1 : place + 8] == [
            f"{result.mean_ap:.3f}", f"{counts.precision[0]:.3f}", f"{counts.recall[0]:.3f}",
            *(f"{int(column[0])}" for column in (
                counts.true_positive, counts.below_threshold, counts.missed, counts.spurious,
            )),
        ]  # fmt: skip
    signatures = [line for line in shown if line.startswith("fields 1.0")]
    assert ["corrected, 1 verdict applied" in line for line in signatures] == [False, True]
    # The official numbers stay where they were.
    assert numbers(app)["Recall"] == f"{before.recall[0]:.3f}"


def test_the_view_of_findings_shows_judged_fields(store_path: Path) -> None:
    document = "norris-20466"
    events = [
        said(field_results()["A"], document, "ignore", "missed"),
        said(field_results()["B"], document, "model_wrong", "wrong_value"),
    ]
    box = JudgedBox(side="ground_truth", label="a", xyxy=(0.1, 0.1, 0.2, 0.2))
    away = Target(kind="field", document="nowhere", page=0, boxes=(box,), mistake="missed", label="a")
    events += [judge(away, verdict="ignore", author="Ben", verified=False, time=datetime(2026, 1, 31, tzinfo=UTC))]
    store(store_path, *events)
    app = go(start(FIELDS), FINDINGS)
    rows = {row["title"]: row for row in dashboard.component(app, "answered")["rows"][28:]}
    assert {title: row.get("tags", []) for title, row in rows.items()} == {
        "Missed: nowhere, page 1": ["Not open"],
        f"Missed: {document}, page {events[0].target.page + 1}": [],
        f"Wrong value: {document}, page {events[1].target.page + 1}": [],
    }
    # The boxes are not corrected by them, and the views of boxes and the pack are as before.
    assert any("No agreed verdict on boxes" in each.value for each in app.caption)
    go(app, PAGE_BROWSER)
    go(app, PACK)


def test_a_finding_leads_back_to_its_field(store_path: Path) -> None:
    event = said(field_results()["B"], "lund-freight-118", "ambiguous", "below_threshold")
    store(store_path, event)
    app = go(start(FIELDS), FINDINGS)
    (row,) = dashboard.component(app, "answered")["rows"][28:]
    dashboard.send_event(app, "answered", "open", row["key"])
    go(app, FIELDS)
    data = viewer(app)
    assert data["model"]["letter"] == "B"
    assert (data["page"]["document"], data["page"]["index"]) == ("lund-freight-118", event.target.page)
    (mistake,) = (each for each in data["mistakes"] if data["selected"] in each["keys"])
    assert mistake["target"] == event.target.id
