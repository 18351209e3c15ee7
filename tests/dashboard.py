"""The dashboard under AppTest: start it on some files, and read what is on the screen.
Each start is a session of its own; the caches of the process are shared, as on a server.
"""

import html.parser
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from google.protobuf.json_format import MessageToDict
from streamlit.components.v2 import manifest_scanner
from streamlit.elements.widgets import selectbox, slider, text_widgets
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.state import get_session_state
from streamlit.testing.v1 import AppTest, app_test, local_script_runner

from evaluator import project
from evaluator.workspace.variables import WORKSPACE_VARIABLE
from pages.app.state import State
from tests.building import Box, write_file

ROOT = Path(__file__).resolve().parents[1]
SAMPLE_DATA = ROOT / "sample_data"
EVERY_VIEW = tuple(
    f"pages/{name}.py"
    for name in (
        "overview", "page_browser", "gallery", "compare", "models", "slices", "pixel_confusion", "fields", "posters",
        "class_confusion", "queue", "suspects", "reading", "findings", "review_pack", "files",
    )
)  # fmt: skip
OVERVIEW, PAGE_BROWSER, GALLERY, COMPARE, MODELS, SLICES, PIXELS, FIELDS, POSTERS, CLASSES, QUEUE, *_ = EVERY_VIEW
SUSPECTS, READING = EVERY_VIEW[11:13]
FINDINGS, PACK, FILES = EVERY_VIEW[-3:]
VIEWS = (OVERVIEW, PAGE_BROWSER, FILES)
# One for all runs, as on a server: AppTest compiles the app and the view before each of them, a quarter of their time.
_compiled = ScriptCache()
app_test.ScriptCache = local_script_runner.ScriptCache = lambda: _compiled  # type: ignore[attr-defined, assignment]
# The installed packages stay the same: AppTest reads all of them at each start, for components, most of its time.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
# One for all runs: each of its attributes is a class that is made when it is first asked for, a tenth of a run.
app_test.MagicMock = cache(app_test.MagicMock)  # type: ignore[attr-defined, assignment, misc]
# A box or slider copies the whole state to look for its own key in it, another tenth.
for _kind in (selectbox, slider, text_widgets):
    _kind.get_session_state = lambda: SimpleNamespace(filtered_state=get_session_state())  # type: ignore[assignment]


def _ended(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """Wait for the end of a run; AppTest asks a thousand times a second."""
    assert runner._script_thread is not None
    runner._script_thread.join(timeout)
    assert runner.script_stopped(), f"the run did not end in {timeout} s"


local_script_runner.require_widgets_deltas = _ended
# The sample data stay the same: each session reads their fields and posters, a quarter of the time of its start.
_read_content = project.read_content
_read_sample = cache(_read_content)


def _read_once(origin: Path | project.Upload, reading: Any, kind: Any) -> Any:
    of_sample = isinstance(origin, Path) and kind != "boxes" and origin.is_relative_to(SAMPLE_DATA)
    return (_read_sample if of_sample else _read_content)(origin, reading, kind)


project.read_content = _read_once
# Elements whose text Streamlit shows as it is, and those that only we read.
PLAIN_ELEMENTS = {"html", "bidi_component", "text"}


def workspace(
    ground_truth: Path | None, predictions: Sequence[Path] = (), pdfs: Path | None = None, *, as_reference: bool = False
) -> str:
    """What the command line hands over in the environment."""
    boxes = {
        "ground_truth": str(ground_truth) if ground_truth else None,
        "predictions": [str(path) for path in predictions],
        "pdfs": str(pdfs) if pdfs else None,
    }
    return json.dumps({"sides": {"boxes": boxes}, "as_reference": as_reference})


def files_of(folder: Path, truth: Sequence[Box], *models: Sequence[Box], **given: Any) -> str:
    """Files on disk as the command line would hand them over."""
    ground_truth = write_file(folder / "truth.json", truth, side="ground_truth", **given)
    predictions = [write_file(folder / f"model{number}.json", rows, **given) for number, rows in enumerate(models, 1)]
    return workspace(ground_truth, predictions)


def start(view: str = OVERVIEW, *, files: str | None = None, **address: str) -> AppTest:
    """A new session on a view; `files` from `workspace`, the sample data without; they are open until the test ends."""
    os.environ.pop(WORKSPACE_VARIABLE, None)
    if files is not None:
        os.environ[WORKSPACE_VARIABLE] = files
    # A busy machine is no fault: what takes too long meets the timeout of pytest.
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    # What app.py notes when it lets the reader in: a view is run alone here.
    app.session_state[State.access.key] = True
    if view != OVERVIEW:
        app.switch_page(view)
    for name, text in address.items():
        app.query_params[name] = text
    return fine(app.run())


def fine(app: AppTest) -> AppTest:
    """The same session, if its last run ended without an exception."""
    assert not app.exception, [each.message for each in app.exception]
    return app


def go(app: AppTest, view: str) -> AppTest:
    """The session on another view."""
    return fine(app.switch_page(view).run())


def send_message(*, stop: bool = False) -> None:
    """Another message of the browser comes in the middle of a run; `stop`: the reader leaves."""
    context = get_script_run_ctx()
    assert context is not None
    assert context.script_requests is not None
    if stop:
        context.script_requests.request_stop()
    else:
        context.script_requests.request_rerun(RerunData(page_script_hash=context.page_script_hash))


def press(app: AppTest, label: str) -> AppTest:
    """The session after a press of the button of a label."""
    return fine(next(button for button in app.button if plain(button.label) == label).click().run())


class NoFolder(type(Path())):  # type: ignore[misc]
    """A path that is never there."""

    def exists(self, **_: Any) -> bool:
        return False


def drop(app: AppTest, files: Mapping[str, bytes]) -> AppTest:
    """The session after files are dropped or chosen, which are listed then; under `whole_app`."""
    uploader = next(each for each in app.get("file_uploader") if (each.key or "").startswith("dropped_"))
    return fine(uploader.set_value([(name, content, "") for name, content in files.items()]).run())


def set_role(app: AppTest, name: str, role: str) -> AppTest:
    """The session after another role in the list of files: ``truth``, a letter, ``pages`` or nothing."""
    files = [each for group in component(app, "groups")["groups"] for each in group["files"]]
    send_event(app, "groups", "role", {"at": next(each["at"] for each in files if each["name"] == name), "role": role})
    return fine(app)


def choose_truth(app: AppTest, name: str) -> AppTest:
    """The session after one of several ground truths of the list is chosen."""
    choices = [each for group in component(app, "groups")["groups"] for each in group.get("choices", ())]
    send_event(app, "groups", "choose", next(each["name"] for each in choices if each["words"].startswith(name)))
    return fine(app)


def evaluate(app: AppTest) -> AppTest:
    """The session after the list of files is opened."""
    assert component(app, "groups")["ready"], component(app, "groups")
    send_event(app, "groups", "evaluate", 1)
    return fine(app)


def add(app: AppTest, files: Mapping[str, bytes]) -> AppTest:
    """The session with further files, under the roles that are proposed."""
    return evaluate(drop(app, files))


def plain(text: str) -> str:
    """A text of ours as a reader sees it: Markdown shows neither the escapes nor what holds a name together."""
    return text.replace("\\", "").replace("\u2060", "")


def texts(elements: Iterable[Any]) -> list[str]:
    """The texts of captions, warnings or errors."""
    return [plain(each.value) for each in elements]


def address(app: AppTest) -> dict[str, str]:
    """The address bar after a run."""
    return {name: values[0] if isinstance(values, list) else values for name, values in app.query_params.items()}


def key_of(app: AppTest, name: str) -> str:
    """The key of a value of the session, by its name: what our own code wrote over a widget has another one."""
    if "replaced" not in app.session_state:
        return name
    times = app.session_state["replaced"].get(name, 0)
    return f"{name}-{times}" if times else name


class _Words(html.parser.HTMLParser):
    """Text and tags of a piece of HTML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        # Rows of tables, each with the text of its cells.
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data
        if data.strip():
            self.words.append(data.strip())


def read_html(body: str) -> _Words:
    """Words and tags as a browser would see them."""
    reader = _Words()
    reader.feed(body)
    reader.close()
    return reader


def html_blocks(app: AppTest) -> list[str]:
    """Bodies of all st.html blocks but the style sheet."""
    return [each.proto.body for each in app.get("html") if "<style" not in each.proto.body]


def block(app: AppTest, name: str) -> str:
    """The first block of a class, or with some other text."""
    return next(body for body in html_blocks(app) if name in body)


def table(app: AppTest, column: str) -> Any:
    """The first table with a column."""
    return next(each.value for each in app.dataframe if column in each.value)


def words(app: AppTest) -> list[str]:
    """Pieces of text in our own HTML blocks, in order."""
    return [word for body in html_blocks(app) for word in read_html(body).words]


def signature(app: AppTest) -> str:
    """What made the numbers of a view."""
    return " ".join(read_html(block(app, "ls-facts")).words)


def title(app: AppTest) -> str:
    """The title of the view."""
    return read_html(block(app, "ls-title")).words[0]


def issue_tables(app: AppTest) -> list[list[dict[str, str]]]:
    """The tables of issues, each row by the heads of its columns."""
    tables = [read_html(body).rows for body in html_blocks(app) if "ls-issues" in body]
    return [[dict(zip(rows[0], row, strict=True)) for row in rows[1:]] for rows in tables]


def issues(app: AppTest) -> list[dict[str, str]]:
    return [row for table in issue_tables(app) for row in table]


def cards(app: AppTest) -> list[dict[str, str]]:
    """The bars of the Overview: letter and name of each model, its ratios and counts as they are written."""
    return [
        {
            "letter": bar["letter"],
            "name": bar["name"],
            "F1": bar["f1"],
            **{word: bar[word.lower()].split(" ")[1].removesuffix(".") for word in ("Precision", "Recall")},
            **{word: f"{bar[name]:,}" for word, name in (("TP", "matched"), ("FP", "extra"), ("FN", "missed"))},
        }
        for data in every_component(app)
        for bar in data.get("bars", ())
    ]


def numbers(app: AppTest) -> dict[str, str]:
    """The small numbers of the operating point in the view of fields."""
    text = read_html(block(app, "ls-numbers")).words
    return dict(zip(text[::2], text[1::2], strict=True))


def components(app: AppTest) -> list[dict[str, Any]]:
    """The data of our components in the order of the view, but for those that are on every view."""
    return [data for data in every_component(app) if set(data) not in ({"dark"}, {"key", "limit"})]


def data_of(component: Any) -> dict[str, Any]:
    """The data of a component; of pages that it was given, the page that it shows."""
    (data,) = json.loads(component.proto.json)
    return page_of(data) if "listing" in data else data


def every_component(app: AppTest) -> list[dict[str, Any]]:
    """The data of each component, in order."""
    return [data_of(each) for each in app.get("bidi_component")]


def component(app: AppTest, field: str) -> dict[str, Any]:
    """The data of the first component whose data have a field."""
    return next(data for data in every_component(app) if field in data)


def toolbar(app: AppTest) -> str:
    """The filter of Pages, chip by chip, and what passes it: ``Label: Text | 144 wrong boxes in 120 mistakes, …``."""
    chips = [plain(each.label).removesuffix(" ✕") for each in app.button if (each.key or "").startswith("chip_")]
    return " | ".join([*chips, " ".join(read_html(block(app, "ls-result")).words).replace(" ,", ",")])


def send_event(app: AppTest, field: str, event: str, value: object) -> AppTest:
    """The view after the component whose data have a field sent an event, as a browser sends it."""
    (shown,) = [each for each in app.get("bidi_component") if field in data_of(each)]
    states = app._tree.get_widget_states()
    state = states.widgets.add()
    state.id = f"$$STREAMLIT_INTERNAL_KEY_{shown.proto.id}__events"
    state.json_trigger_value = json.dumps([{"event": event, "value": value}])
    return fine(app._run(states))


def viewer(app: AppTest) -> dict[str, Any]:
    """What the page viewer was given, or the one other component of a view."""
    given = components(app)
    # The component that remembers the reviewer's name is on several views.
    (data,) = [each for each in given if set(each) != {"name"}] if len(given) > 1 else given
    return data


# What browsers were given, by name: it is not given again to one that has it.
_GIVEN: dict[str, Any] = {}


def page_of(data: dict[str, Any]) -> dict[str, Any]:
    """The page that the browser shows of a list, as `viewer/state.js` and `compare/state.js` put it together."""
    _GIVEN.update({data[name]: data[part] for name, part in (("name", "content"), ("strip", "items")) if part in data})
    content, items = _GIVEN[data["name"]], _GIVEN[data["strip"]]
    place = content["page"]["document"], content["page"]["index"]
    page = {**content["page"], "image": data.get("image"), "image_width": data.get("image_width", 0)}
    list_ = items if isinstance(items, dict) else {"strip": items, "strip_first": data["strip_first"]}
    strip = [{**each, "current": (each["document"], each["index"]) == place} for each in list_["strip"]]
    of_run = {"address": "", "reviewer": ""} | {
        name: data[name]
        for name in ("selected", "address", "reviewer", "mode", "visit", "summoned", "judged", "said", "answered")
        if name in data
    }
    return of_run | content | list_ | {"page": page, "strip": strip} | {"selected": data["selected"]}


def markdown_texts(app: AppTest) -> Iterator[tuple[str, str]]:
    """Every text that Streamlit may render as Markdown, with where it is.

    Cells of tables and charts are binary in the protocol and so not here; Streamlit draws them on a canvas. Options
    of a selectbox are plain text; its label is not.
    """
    for element in _elements(app._tree):  # AppTest has no public walk over all elements
        kind = element.type
        if kind in PLAIN_ELEMENTS:
            continue
        values = MessageToDict(element.proto, preserving_proto_field_name=True)
        if kind == "selectbox":
            values.pop("options", None)
            values.pop("raw_value", None)
        if kind in ("vega_lite_chart", "arrow_vega_lite_chart"):
            values = {name: value for name, value in values.items() if name == "alt"}
        for name in ("arrow_data", "data", "id", "form_id", "icon"):
            values.pop(name, None)
        yield from ((f"{kind}.{place}", text) for place, text in _strings(values, ""))


def _elements(block: Any) -> Iterator[Any]:
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from _elements(child)
        else:
            yield child


def _strings(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _strings(inner, f"{place}.{name}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _strings(inner, f"{place}[{number}]")
    elif isinstance(value, str):
        try:
            inner = json.loads(value) if value[:1] in "{[" else None
        except ValueError:
            inner = None
        if isinstance(inner, dict):
            yield from _strings(inner, place)
        else:
            yield place, value


# A piece of Markdown or HTML that does something, not preceded by a backslash.
_ACTIVE = re.compile(
    r"(?<!\\)!?\[[^\]]*\](?<!\\)\(|(?<!\\)<[a-zA-Z/!]|(?<![\\a-zA-Z]):(?:material|red|blue|green)\b|(?<!\\)\$[^$]+\$"
    r"|https?://|www\.|\*\*|(?<!\\)`|^#"
)


def active_markdown(text: str) -> str | None:
    """The first piece of a text that Markdown would act on, None when there is none."""
    searched = _ACTIVE.search(text)
    return searched.group() if searched else None
