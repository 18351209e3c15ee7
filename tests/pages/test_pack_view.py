"""The view Review pack: what is open for other evaluation systems goes into the pack as the terminal would put it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from streamlit.testing.v1 import AppTest

from evaluator.components.payload import ModelItem
from evaluator.formats.fields import schema_from
from evaluator.pack import extra_protocols
from evaluator.pack.blocks import Rows
from evaluator.pack.chapters import Chapter, chapter_of
from evaluator.pack.contents import Contents
from evaluator.pack.extra_protocols import ExtraEvaluation, gather_all
from evaluator.pack.html_pack import WrittenPack
from evaluator.pack.options import PackOptions
from evaluator.project import evaluate_together, open_project
from evaluator.protocols import PROTOCOLS
from evaluator.protocols.coco import CocoResult
from evaluator.workspace.roles import Sides, Workspace
from pages.app.jobs import Cancelled, Job, ReportProgress
from pages.views.pack import pack_job
from pages.views.pack.pack_job import FinishedPack
from tests import dashboard
from tests.building import box, write_file, write_items
from tests.dashboard import PACK, SAMPLE_DATA, fine, plain, start, texts
from tests.reading import refusal_issues
from tests.sample_part import write_part

Make = Callable[[AppTest], tuple[AppTest, Any]]
FIELDS = SAMPLE_DATA / "fields"
TRUE_POSTERS, ACROSS, COLUMNS = (SAMPLE_DATA / "posters" / name for name in ("ground_truth", "across", "columns"))
POSTERS = Sides(TRUE_POSTERS, (ACROSS, COLUMNS))


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Sides:
    return sides(write_part(tmp_path_factory.mktemp("boxes"), "tram-options.pdf"), SAMPLE_DATA / "pdf")


def sides(folder: Path, pdfs: Path | None = None) -> Sides:
    return Sides(folder / "ground_truth.json", (folder / "lines.json", folder / "blocks.json"), pdfs)


def one_model(boxes: Sides, pdfs: Path | None = None) -> Sides:
    """The first of two models, without pages unless they are given."""
    return Sides(boxes.ground_truth, boxes.predictions[:1], pdfs)


def packing(protocol: str = "snapshot", **opened: Sides) -> AppTest:
    app = start(PACK, files=Workspace(opened).to_json(), **({} if protocol == "snapshot" else {"protocol": protocol}))
    for name in ("pack_pages",) if "boxes" in opened else ():
        app.slider(key=name).set_value(0)
    return app


def by_terminal(system: str, sides: Sides, *names: str, **options: Any) -> Chapter:
    assert sides.ground_truth is not None
    evaluations = evaluate_together(system, sides.ground_truth, list(sides.predictions), **options)
    called = [ModelItem(letter, name) for letter, name in zip("AB"[: len(names)], names, strict=True)]
    return chapter_of([each.result for each in evaluations], called)


def also(app: AppTest) -> Any:
    return next(each for each in app.button_group if (each.key or "").startswith("pack_also_"))


@pytest.fixture
def made() -> Iterator[Make]:
    jobs: list[Job[Any, FinishedPack]] = []

    def make(app: AppTest) -> tuple[AppTest, Job]:
        fine(app.run())
        app.button(key="pack_start").click().run()
        job: Job[Any, FinishedPack] = app.session_state["pack_job"]
        jobs.append(job)
        made = job.future.result(120)
        return fine(app.run()), made

    yield make
    for job in jobs:
        job.cancel()


def test_coco_with_its_own_numbers_and_posters(made: Make, boxes: Sides) -> None:
    app = packing("coco", boxes=boxes, posters=POSTERS)
    assert [plain(text) for text in also(app).options] == [
        PROTOCOLS[name].title for name in ("snapshot", "pixel", "pod", "posters")
    ]
    assert any("computed when the pack is made" in text for text in texts(app.caption))
    also(app).set_value(["posters"])
    app, job = made(app)
    assert (job.problem, job.contents is None) == ("", False)
    own, posters = job.contents.own, job.contents.chapters[0]
    evaluations = evaluate_together("coco", boxes.ground_truth or "", list(boxes.predictions))
    precision, recall = (block for block in own.blocks[:2] if isinstance(block, Rows))
    for row, each in enumerate(evaluations):
        assert isinstance(each.result, CocoResult)
        numbers = ["n/a" if value is None else f"{value:.3f}" for value in each.result.numbers.values()]
        assert [*precision.rows[row][1:], *recall.rows[row][1:]] == numbers
    expected = by_terminal("posters", POSTERS, "across", "columns")
    assert (posters.numbers, posters.differences) == (expected.numbers, expected.differences)
    text = job.path.read_text(encoding="utf-8")
    assert "Average recall, at most 1, 10 or 100 predictions" in text
    assert 'href="#protocol-posters"' in text
    assert expected.decision is not None
    shown = [each.value for each in app.text]
    assert job.contents.summary in shown
    assert f"{expected.title}: {expected.decision.headline}" in shown
    # Other choices: the finished pack no longer says what the next one will.
    fine(also(app).set_value([]).run())
    assert job.contents.summary not in [each.value for each in app.text]


def test_pixel_confusion_has_the_numbers_of_the_terminal(made: Make, boxes: Sides) -> None:
    one = one_model(boxes, boxes.pdfs)
    app = packing(boxes=one)
    also(app).set_value(["pixel"])
    app.session_state["pixel_missing"] = "ignore"
    _, job = made(app)
    assert job.contents.own is None
    expected = by_terminal("pixel", one, "lines 1.0", pdfs=boxes.pdfs, missing_page="ignore")
    for name in ("numbers", "signature", "blocks"):
        assert getattr(job.contents.chapters[0], name) == getattr(expected, name)


def test_order_text_and_tables_have_the_numbers_of_the_terminal_as_the_view_compares_them(
    made: Make, tmp_path: Path
) -> None:
    item = {"label": "text", "box": [0, 0, 90, 40], "order": 0, "text": "left one"}
    pages = [{"width": 100, "height": 100, "items": [{**item, "text": text}]} for text in ("left one", "left 0ne two")]
    truth, model = (write_items(tmp_path / f"{number}.jsonl", [page]) for number, page in enumerate(pages))
    one = Sides(truth, (model,))
    app = packing(boxes=one)
    also(app).set_value(["order", "text"])
    app.session_state["reading_words"] = "spaces"
    _, job = made(app)
    expected = [by_terminal("order", one, "1.jsonl"), by_terminal("text", one, "1.jsonl", words="spaces")]
    assert [each.numbers for each in job.contents.chapters] == [each.numbers for each in expected]


def test_a_chapter_is_made_once_and_takes_what_the_views_have_chosen(
    monkeypatch: pytest.MonkeyPatch, made: Make, boxes: Sides
) -> None:
    evaluated: list[str] = []
    evaluate = extra_protocols.evaluate_read

    def counted(system: Any, *rest: Any, **more: Any) -> Any:
        evaluated.append(system.name)
        return evaluate(system, *rest, **more)

    monkeypatch.setattr(extra_protocols, "evaluate_read", counted)
    monkeypatch.setattr(pack_job, "_MADE_BEFORE", pack_job.MadeBefore(most=12))
    app = packing("coco", boxes=one_model(boxes), fields=Sides(FIELDS / "ground_truth", (FIELDS / "rules",)))
    app.session_state["field_parity"] = "stickler"
    app.session_state["class_weights"] = (("Text", 2.0), ("Gone", 3.0))
    schema = schema_from(b'{"total": {"comparator": "text", "threshold": 0.8}}', "rules.json")
    app.session_state["field_schema"] = schema
    also(app).set_value(["snapshot", "fields"])
    _, job = made(app)
    assert (job.problem, evaluated) == ("", ["snapshot", "fields"])
    of_boxes, of_fields = (chapter.signature for chapter in job.contents.chapters)
    assert "weights Text 2" in of_boxes
    assert schema.sha256[:8] in of_fields
    assert "stickler" in of_fields
    app.text_input(key="pack_title").set_value("Another title")
    _, again = made(app)
    assert again.contents.chapters[0] is job.contents.chapters[0]
    assert evaluated == ["snapshot", "fields"]
    app.session_state["field_parity"] = "none"
    made(app)
    assert evaluated == ["snapshot", "fields", "fields"]


def test_posters_alone_make_a_pack(made: Make) -> None:
    app = packing(posters=POSTERS)
    assert also(app).value == ["posters"]
    app, job = made(app)
    assert (job.contents.dataset, job.contents.pages) == (None, ())
    assert [chapter.anchor for chapter in job.contents.chapters] == ["protocol-posters"]
    assert "<title>columns against across: " in job.path.read_text(encoding="utf-8")
    also(app).set_value([])
    assert fine(app.run()).button(key="pack_start").disabled


def test_hand_work_is_reckoned_with_what_is_typed(made: Make, boxes: Sides) -> None:
    app = packing(boxes=Sides(boxes.ground_truth, boxes.predictions))
    app.number_input(key="pack_seconds").set_value(12.5)
    app.number_input(key="pack_yearly").set_value(3_000)
    _, job = made(app)
    text = job.path.read_text(encoding="utf-8")
    assert "At 12.5 s a box: " in text
    assert "for 3,000 pages a year " in text


def test_the_rule_of_compare_and_an_earlier_pack_go_in(made: Make, tmp_path: Path) -> None:
    tops = [(f"{letter}.pdf", 0.1 + 0.2 * place) for letter in "abcdefgh" for place in range(3)]
    rows = [box(0.1, top, 0.9, top + 0.1, document=document) for document, top in tops]
    write_file(tmp_path / "ground_truth.json", rows, side="ground_truth")
    write_file(tmp_path / "lines.json", [row for at, row in enumerate(rows) if at % 3])
    write_file(tmp_path / "blocks.json", rows)
    app = packing(boxes=sides(tmp_path))
    app.session_state["rule_measure"] = "precision"
    _, first = made(app)
    content = first.path.read_bytes()
    app.session_state["rule_measure"], app.session_state["rule_least"] = "recall", 0.5
    app.session_state["rule_loss"] = 100.0
    app.file_uploader(key="pack_earlier").upload("pack.html", content, "text/html")
    app, job = made(app)
    assert not Path(first.folder.name).exists(), "what is replaced leaves nothing"
    decision = job.contents.decision
    assert (decision.rule.metric, decision.rule.least, decision.answer) == ("recall", 0.005, "ship")
    assert job.contents.since.rows[0].change == "new"
    assert any("decision Keep toy (1), now Ship toy (2)." in text for text in texts(app.caption))
    assert "Since the pack of " in job.path.read_text(encoding="utf-8")
    app.file_uploader(key="pack_earlier").clear()
    fine(app.file_uploader(key="pack_earlier").upload("other.html", b"<p>no pack</p>", "text/html").run())
    assert [row["Found"] for row in dashboard.issues(app)] == ["no record of a pack in it"]
    app.session_state["pack_job"].cancel()
    assert not Path(job.folder.name).exists()
    assert any(each.value == "The pack was lost with the connection. Rebuild it." for each in fine(app.run()).info)


@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), Cancelled(), ValueError("a defect")])
def test_no_folder_is_left_of_a_pack_that_was_not_written(problem: Exception) -> None:
    folders: list[Path] = []

    def write(path: Path, _contents: Contents, _note: ReportProgress) -> WrittenPack:
        folders.append(path.parent)
        path.write_text("half")
        raise problem

    def make() -> FinishedPack:
        return pack_job._make("html", lambda _note: cast("Contents", None), write, lambda _done, _total, text="": None)

    if isinstance(problem, OSError):
        assert make().problem == "The file cannot be written: No space left on device."
    else:
        with pytest.raises(type(problem)):
            make()
    assert not folders[0].exists()


def test_files_that_a_system_cannot_evaluate_are_said(made: Make, boxes: Sides) -> None:
    one = one_model(boxes)
    app = packing(boxes=one)
    also(app).set_value(["pixel"])
    app, job = made(app)
    assert (job.written, job.contents) == (None, None)
    assert texts(app.error) == ["Files cannot be evaluated as chosen. Each row shows how to fix it."]
    assert job.issues == refusal_issues(by_terminal, "pixel", one, "lines 1.0")
    assert dashboard.issues(app)


def test_a_cancelled_evaluation_stops() -> None:
    system = PROTOCOLS["posters"]
    assert POSTERS.ground_truth is not None
    truth, models = open_project(
        system, POSTERS.ground_truth, list(POSTERS.predictions), system.options(), lambda _: None
    ).required()
    one = ExtraEvaluation(system, truth, models, system.options(), [ModelItem("A", "a"), ModelItem("B", "b")])
    told: list[str] = []

    def note(done: int, total: int, text: str) -> None:
        told.append(text)
        raise Cancelled

    with pytest.raises(Cancelled):
        gather_all(None, [one], PackOptions(), note)
    assert told == [f"Evaluating {system.title}"]
    with pytest.raises(ValueError, match=r"^a pack needs at least one chapter$"):
        gather_all(None, [], PackOptions(), note)
