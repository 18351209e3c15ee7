"""One hostile name as label, document, model and box, looked for in everything that is put out: a formula, markup, a
link, a line break, an escape of terminals and marks that turn the direction of writing, 2,000 characters long.
"""

import csv
import html.parser
import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pymupdf
import pytest

from evaluator import cli, formats
from evaluator.components.meeting.agenda import agenda_rows, decided_items
from evaluator.components.meeting.payload import MeetingNumberItem
from evaluator.data.dataset import join
from evaluator.metrics.export import to_markdown, to_text
from evaluator.metrics.results import ResultTable
from evaluator.pack.minutes import minutes
from evaluator.protocols import snapshot
from evaluator.review.decisions import CauseRow, cause_rows
from evaluator.review.finding_groups import targets_of_causes
from evaluator.review.status import finding_statuses
from evaluator.review.verdicts import Event, ReviewLog, judge
from tests import dashboard
from tests.building import Box, box, snapshot_file
from tests.terminal import run_command

ROOT = Path(__file__).resolve().parents[1]
NAME = (
    '=1+1<img src=http://evil.invalid/x onerror="hacked=1">![b](http://evil.invalid/y)[a](http://evil.invalid/z)'
    "\n\x1b[31m\u202eabc\u2066" + "W" * 2_000
)
OTHER = "@SUM(1)<script>hacked=1</script>\u202e"
TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\x1b\x07\x9b]")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
VIEWS = sorted(f"pages/{path.name}" for path in (ROOT / "pages").glob("[a-z]*.py"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("names")
    documents = [f"{name}{number}" for number in range(2) for name in (NAME, OTHER)]
    truth = [
        box(0.1, 0.1 + 0.2 * place, 0.4, 0.2 + 0.2 * place, label=label, document=document)
        for document in documents
        for place, label in enumerate((NAME, OTHER, "Table"))
    ]
    # Both models call every third box something else, and miss another one.
    for number in range(2):
        rows = [row._replace(label=OTHER) if place % 3 == 0 else row for place, row in enumerate(truth)]
        scored = [row._replace(score=0.8 + 0.1 * number) for place, row in enumerate(rows) if place % 7 != 3 + number]
        _write(made / f"model{number}.json", scored, f"{NAME}{number}")
    _write(made / "gt.json", truth, "")
    return made


def _write(path: Path, rows: list[Box], model: str) -> None:
    value = snapshot_file(rows, side="prediction" if model else "ground_truth", labels=(NAME, OTHER, "Table"))
    if model:
        value["info"]["model"] = {"name": model, "version": "<b>1</b>"}
    path.write_text(json.dumps(value), encoding="utf-8")


class _Tags(html.parser.HTMLParser):
    """What a browser would make of a text: elements that run or fetch, and the text itself."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.acting: list[str] = []
        self.text: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        for name, value in attrs:
            address = name in ("src", "href", "action", "data", "srcset") and "evil" in str(value)
            if name.startswith("on") or address:
                self.acting.append(f"<{tag} {name}={str(value)[:80]}>")

    def handle_data(self, data: str) -> None:
        if self._inside == "script" and "hacked" in data.replace("\\u003c", "<") and not data.lstrip().startswith("{"):
            self.acting.append(f"script {data[:80]}")
        if self._inside not in ("script", "style"):
            self.text.append(data)


def assert_harmless_html(body: str) -> None:
    tags = _Tags()
    tags.feed(body)
    tags.close()
    assert tags.acting == []
    turned = [text[:200] for text in tags.text if TURNING.search(text)]
    assert turned == []


@pytest.mark.parametrize("view", VIEWS)
def test_no_view_acts_on_it(view: str, folder: Path) -> None:
    files = dashboard.workspace(folder / "gt.json", sorted(folder.glob("model*.json")))
    app = dashboard.start(view, files=files)
    # The documentation is Markdown of the package.
    manual = {each.value for each in app.markdown if view == "pages/documentation.py" and each.value.startswith("# ")}
    shown = [each for each in dashboard.markdown_texts(app) if each[1] not in manual]
    # Heads of columns are drawn on a canvas.
    heads = [text for where, text in shown if where.startswith("dataframe.") and where.endswith(".label")]
    assert [text[:80] for text in heads if len(text) > 100] == []
    marked = [(where, text[:200]) for where, text in shown if text not in heads and dashboard.active_markdown(text)]
    assert marked == []
    assert [(where, text[:200]) for where, text in shown if TURNING.search(text)] == []
    for body in dashboard.html_blocks(app):
        assert_harmless_html(body)
    given = [json.loads(component.proto.json or "null") for component in app.get("bidi_component")]
    turned = {place for data in given for place, text in _texts(data) if TURNING.search(text)}
    assert [place for place in sorted(turned) if not NAMING.search(place) or SHOWN_AS_NAME.search(place)] == []


ONE = ("--gt", "gt.json", "--pred", "model0.json")
TWO = (*ONE, "--pred", "model1.json")
COMMANDS = {
    "check": ("check", "gt.json", "model0.json"),
    "compare": ("compare", "snapshot", *TWO),
    "describe": ("describe", "gt.json"),
    "evaluate": ("evaluate", "snapshot", *ONE),
    "coco": ("evaluate", "coco", *ONE),
    "pixel": ("evaluate", "pixel", *ONE, "--page-size", "60x80"),
    "gate": ("gate", "snapshot", *ONE, "--fail-if", "f1 < 0.1"),
    "slices": ("slices", "snapshot", *ONE),
    "suspects": ("suspects", "snapshot", *TWO),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_terminal_obeys_it(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    code, out, err = run_command(capsys, *COMMANDS[command])
    assert code in (0, 1), err
    assert TURNING.findall(out + err) == []
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["evaluate", "coco", "pixel", "compare", "describe", "check"])
def test_json_is_json(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    assert json.loads(run_command(capsys, *COMMANDS[command], "--json")[1])


@pytest.fixture(scope="module")
def pack(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A review pack in all its forms."""
    out = tmp_path_factory.mktemp("pack") / "pack"
    words = ["report", "snapshot", "--gt", str(folder / "gt.json"), "--title", NAME[:200], "--out", str(out)]
    with pytest.raises(SystemExit) as ended:
        cli.main([*words, "--pred", str(folder / "model0.json"), "--pred", str(folder / "model1.json")])
    assert ended.value.code == 0
    return out


def test_no_spreadsheet_runs_it(pack: Path) -> None:
    tables = [path for path in pack.rglob("*") if path.suffix in (".csv", ".tsv")]
    assert tables
    held = 0
    for path in tables:
        text = io.StringIO(path.read_text(encoding="utf-8"))
        cells = [cell for row in csv.reader(text, delimiter="\t" if path.suffix == ".tsv" else ",") for cell in row]
        texts = [cell for cell in cells if not re.fullmatch(r"[-+]?[0-9.e+-]+", cell)]
        assert [cell[:60] for cell in texts if cell.startswith(FORMULA)] == [], path.name
        held += sum(cell.startswith(("'=1+1", "'@SUM")) for cell in texts)
    assert held > 0


def test_no_page_of_a_review_pack_acts_on_it(pack: Path) -> None:
    (page,) = pack.rglob("*.html")
    assert_harmless_html(page.read_text(encoding="utf-8"))


def test_no_pdf_of_a_review_pack_acts_on_it(pack: Path) -> None:
    (path,) = (path for path in pack.rglob("*.pdf") if path.parent == pack)
    with pymupdf.open(path) as made:
        text = "".join(page.get_text() for page in made)
        links = [link.get("uri") for page in made for link in page.get_links() if link.get("uri")]
    assert "=1+1" in text
    assert TURNING.findall(text) == []
    assert [link for link in links if "evil" in str(link)] == []


def test_tables_of_text_stay_tables() -> None:
    table = ResultTable(columns=("label", "f1"), rows=((NAME, 0.5),), title=NAME, signature=OTHER)
    assert TURNING.findall(to_text([table]) + to_markdown([table])) == []
    assert re.search(r"(?<!\\)\]\(", to_markdown([table])) is None


# Parts of what components get that name a thing to the server and are never shown: a document, a label, a cause.
NAMING = re.compile(r"\.(document|key|label|keys\[\]|family\[\]|blocks\[\]\[\])$")
SHOWN_AS_NAME = re.compile(r"\.(boxes|mistakes|cards)\[\]\.label$")


def _texts(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, f"{place}.{name if name.isidentifier() else '*'}")
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, f"{place}[]")
    elif isinstance(value, str):
        yield place, value


def test_the_page_viewer_writes_no_document_as_it_is_named() -> None:
    """What a script puts into a text or an attribute goes through `plainName`; the rest is sent back to the server."""
    scripts = [path for path in (ROOT / "evaluator" / "components").glob("*/*.js") if path.parent.name != "tests"]
    written = re.compile(
        r"\$\{(?:\w+\.)*document\}|title: (?:\w+\.)*document\b|\{ class: [^}]*\}, (?:\w+\.)*document\b"
    )
    bare = [f"{path.name}: {match[0]}" for path in scripts for match in written.finditer(path.read_text("utf-8"))]
    assert bare == []


class _Judged(NamedTuple):
    rows: list[CauseRow]
    events: list[Event]


def _judged(folder: Path) -> _Judged:
    dataset = join(*(formats.read(folder / f"{name}.json") for name in ("gt", "model0", "model1")))
    results = [snapshot.pair(dataset, model).match().at(0.5) for model in (0, 1)]
    targets = targets_of_causes(results[0], np.arange(len(results[0].causes)), ReviewLog())
    events = [
        judge(
            target, verdict="model_wrong", note=NAME, tags=(OTHER,), author=OTHER, verified=False, owner=NAME[:150],
            time=datetime(2026, 1, 31, 12, number % 60, tzinfo=UTC), check=False,
        )
        for number, target in enumerate(targets.values())
    ]  # fmt: skip
    return _Judged(cause_rows(results, finding_statuses(ReviewLog.of(events), results))[0], events)


def test_the_minutes_of_a_meeting_hold_it_as_text(folder: Path) -> None:
    causes, events = _judged(folder)
    assert events
    assert any(row.entries for row in causes)
    text = minutes(
        [(row, None) for row in causes], [], [MeetingNumberItem(NAME, OTHER, NAME)], letters="AB",
        signature=f"A, {NAME}, {OTHER}", time=datetime(2026, 1, 31, tzinfo=UTC), link=lambda *_: "http://localhost/",
    )  # fmt: skip
    assert TURNING.findall(text) == []
    assert re.findall(r"(?<!\\)<(?:img|script)", text) == []
    assert set(re.findall(r"(?<!\\)\]\(([^)]*)", text)) == {"http://localhost/"}
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) > len(causes)
    # A note with a line break, and a name with a bar, stay in their cell.
    (widths,) = {len(re.findall(r"(?<!\\)\|", row)) for row in rows if "=1+1" in row and "Model wrong" in row}
    assert widths == 10


def test_the_words_of_a_meeting_turn_nothing(folder: Path) -> None:
    rows = _judged(folder).rows
    shown = [*agenda_rows(rows), *decided_items(rows)]
    turned = [
        f"{type(each).__name__}.{name}"
        for each in shown
        for name, text in _texts(msgspec.to_builtins(each))
        if TURNING.search(text) and not NAMING.search(name)
    ]
    assert turned == []
    assert len(shown) > len(rows) > 0


def test_names_of_downloads_are_constants() -> None:
    """No name of a file, model or label is part of one; `name` is of the table of forms of a pack."""
    pages = [ROOT / "pages" / "views" / "pack" / "pack_job.py", *(ROOT / "pages").glob("*.py")]
    given = [name for path in pages for name in re.findall(r"file_name=([^,\n]+)", path.read_text(encoding="utf-8"))]
    assert given
    assert [each for each in given if not re.fullmatch(r'"[a-z_-]+\.[a-z]+"|name', each.strip())] == []
