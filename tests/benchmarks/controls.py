"""What the server takes to open views and for a step of every slider, over its websocket without a browser.

For `bench_screen`, which has the browser. Owns no bar. A step is one that no cache knows, from where the slider stands.
`cpu_ms` is CPU of the server and of what runs below it until the run ends, by its clock in nanoseconds;
`number_cpu_ms` is what it had taken when the first changed number, table or chart below the title came, and
`number_ms` the same by the clock on the wall. A step that begins a long search is left where its first numbers are
shown and the search begins: it is cancelled, and the next step waits until the server has come to rest. `ms` and
`cpu_ms` are those until there.
"""

import asyncio
import re
import statistics
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.serving import cpu_ms, processes
from tests.sessions import Session

VIEWS: Final = {
    "Overview": ("", ""),
    "Overview, COCO": ("", "protocol=coco"),
    "Pages": ("page_browser", ""),
    "Grid": ("gallery", ""),
    "Compare": ("compare", ""),
    "Compare, fields": ("compare", "compare=fields"),
    "Compare, pixels": ("compare", "compare=pixels"),
    "All models": ("models", ""),
    "Slices": ("slices", ""),
    "Confusion": ("pixel_confusion", ""),
    "Fields": ("fields", ""),
    "Suspects": ("suspects", ""),
}
"""Address and first query of each view that has a slider."""
OPENED: Final = VIEWS | {"Posters": ("posters", ""), "Decisions": ("findings", ""), "Pack": ("review_pack", "")}
"""The same of every view that shows numbers."""
_FIRST: Final = ("files", "")
"""What a new server shows before a view is opened cold: its list of files."""
_CHANGES: Final = {"html", "bidi_component", "arrow_data_frame", "arrow_vega_lite_chart", "vega_lite_chart", "markdown"}
_PATIENCE: Final = 300.0
# Of a server at rest, in 0.3 seconds.
_REST_MS: Final = 15.0
# First part of the path of what is in the view itself.
_MAIN: Final = 0
_WITHOUT_NUMBERS: Final = ("theme", "reviewer")


class Step(NamedTuple):
    """What one run took; `number_ms` and `number_cpu_ms` are None where nothing changed."""

    ms: float
    cpu_ms: float
    number_ms: float | None
    number_cpu_ms: float | None
    messages: int
    received: int


class Opening(NamedTuple):
    """What it took to open a view: until its title, until its first number, table, chart or page, and all of it."""

    title_ms: float | None
    number_ms: float | None
    number_cpu_ms: float | None
    ms: float
    cpu_ms: float


class Slider(NamedTuple):
    """A slider as it was drawn last, and the fragment that it belongs to."""

    identity: str
    label: str
    low: float
    high: float
    step: float
    fragment: str


Rows = dict[str, list[list[Step]]]


class Tab(Session):
    """One reader's session, and the sliders on its screen."""

    def __init__(self, url: str, pid: int) -> None:
        super().__init__(url)
        self._pid = pid
        self._shown: dict[tuple[int, ...], bytes] = {}
        self.sliders: dict[str, Slider] = {}
        self._values: dict[str, list[float]] = {}
        self._opens = False
        self._titled: float | None = None
        # What cancels the search of the run of the moment.
        self._cancel = ""

    async def open(self, page: str, query: str) -> Step:
        """Go to a view."""
        self.page, self.query = page, query
        self._shown, self.sliders, self._values = {}, {}, {}
        self._opens, self._titled = True, None
        try:
            return await self._run(BackMsg())
        finally:
            self._opens = False

    async def opening(self, page: str, query: str) -> Opening:
        """Go to a view, and see when its title and its first number come."""
        step = await self.open(page, query)
        return Opening(self._titled, step.number_ms, step.number_cpu_ms, step.ms, step.cpu_ms)

    async def move(self, label: str, value: float) -> Step:
        moved = self.sliders[label]
        self._values[moved.identity] = [value]
        self._cancel = ""
        step = await self._run(self._message(moved.fragment), leaves=True)
        if self._cancel:
            message = self._message("")
            pressed = message.rerun_script.widget_states.widgets.add()
            pressed.id, pressed.trigger_value = self._cancel, True
            await self._run(message)
            await self._at_rest()
        return step

    def _message(self, fragment: str) -> BackMsg:
        """A run of the view, or of a fragment, with the sliders as they are."""
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        for identity, values in self._values.items():
            widget = message.rerun_script.widget_states.widgets.add()
            widget.id = identity
            widget.double_array_value.data.extend(values)
        return message

    async def _at_rest(self) -> None:
        """Wait until the server does nothing any more: what was cancelled ends after its next step."""
        async with asyncio.timeout(_PATIENCE):
            while True:
                before = cpu_ms(processes(self._pid))
                await asyncio.sleep(0.3)
                if cpu_ms(processes(self._pid)) - before < _REST_MS:
                    return

    def value(self, label: str) -> list[float]:
        """Where a slider stands; two values for a range."""
        return self._values[self.sliders[label].identity]

    async def _run(self, message: BackMsg, *, leaves: bool = False) -> Step:
        below = processes(self._pid)
        spent, start = cpu_ms(below), time.perf_counter()
        first: tuple[float, float] | None = None
        messages = received = 0
        async with asyncio.timeout(_PATIENCE):
            async for said, size in self.answers(message):
                messages, received = messages + 1, received + size
                now = 1000.0 * (time.perf_counter() - start)
                if said.WhichOneof("type") == "script_finished":
                    # A search that has ended by itself needs no way to cancel it.
                    self._cancel = ""
                if self._opens and self._titled is None and _is_title(said):
                    self._titled = now
                if self._changed(said) and first is None:
                    first = (now, cpu_ms(below) - spent)
                self._cancel = _cancel_button(said) or self._cancel
                if leaves and first is not None and self._cancel:
                    return Step(now, cpu_ms(below) - spent, *first, messages, received)
        ms = 1000.0 * (time.perf_counter() - start)
        # The end of a run collects garbage, and what is computed beside goes on.
        await asyncio.sleep(0.3)
        return Step(ms, cpu_ms(processes(self._pid)) - spent, *(first or (None, None)), messages, received)

    def _changed(self, said: ForwardMsg) -> bool:
        """Whether a message has another number, table or chart than was there, or one where none was.

        Notes what it has.
        """
        element = _element(said)
        if element is None:
            return False
        of = element.WhichOneof("type")
        if of == "exception":
            raise SystemExit(f"{self.page or 'overview'}: {element.exception.message}")
        if of == "slider":
            one = element.slider
            self.sliders[one.label] = Slider(one.id, one.label, one.min, one.max, one.step, said.delta.fragment_id)
            self._values.setdefault(one.id, list(one.value if one.set_value else one.default))
        if of not in _CHANGES or (of == "html" and "ls-title" in element.html.body):
            return False
        path, content = tuple(said.metadata.delta_path), element.SerializeToString()
        before = self._shown.get(path)
        self._shown[path] = content
        if self._opens:
            return self._titled is not None and path[0] == _MAIN and _has_number(element)
        return before != content if before is not None else _has_number(element)


def _element(said: ForwardMsg) -> Any:
    """The element that a message draws, None for other messages."""
    is_one = said.WhichOneof("type") == "delta" and said.delta.WhichOneof("type") == "new_element"
    return said.delta.new_element if is_one else None


def _cancel_button(said: ForwardMsg) -> str:
    """The button that cancels what takes long, when a message has it; else ""."""
    element = _element(said)
    is_one = element is not None and element.WhichOneof("type") == "button" and element.button.label == "Cancel"
    return str(element.button.id) if is_one else ""


def _is_title(said: ForwardMsg) -> bool:
    """Whether a message has the title of a view."""
    element = _element(said)
    return element is not None and element.WhichOneof("type") == "html" and "ls-title" in element.html.body


def _has_number(element: Any) -> bool:
    """Whether an element shows numbers: a table, a chart, one of our components with a page, or words with a digit."""
    of = element.WhichOneof("type")
    if of == "bidi_component":
        return not element.bidi_component.component_name.endswith(_WITHOUT_NUMBERS)
    if of == "html":
        return bool(re.search(r"\d", re.sub(r"<[^>]*>", "", element.html.body)))
    return of != "markdown"


def steps_of(slider: Slider, at: float, count: int) -> list[float]:
    """So many values beside one, above it as far as the range goes, then below.

    From the lower end of its range a slider goes in the upper half, where scores are that change something.
    """
    at = (slider.low + slider.high) / 2 if at == slider.low else at
    every = [at + slider.step * sign * number for sign in (1, -1) for number in range(1, count + 1)]
    return [round(each, 10) for each in every if slider.low - 1e-9 <= each <= slider.high + 1e-9][:count]


async def opened(server: tuple[str, int], view: str, times: int) -> list[Opening]:
    """A view opened in a new server, then so many times again."""
    tab = await Tab(*server).connected()
    await tab.open(*_FIRST)
    taken = []
    for number in range(1 + times):
        if number:
            await tab.open(*_FIRST)
        taken.append(await tab.opening(*OPENED[view]))
    await tab.left()
    return taken


def medians(steps: Sequence[Step | Opening]) -> dict[str, float | None]:
    """How often an act was done, the least CPU, and the median of each thing that it took."""
    least = round(min(each.cpu_ms for each in steps), 1)
    taken: dict[str, float | None] = {"n": len(steps), "least_cpu_ms": least}
    for field in steps[0]._fields:
        known = [value for value in (getattr(each, field) for each in steps) if value is not None]
        taken[field] = round(statistics.median(known), 1) if known else None
    return taken


async def measured(servers: list[tuple[str, int]], views: list[str], count: int, *, opened: int = 3) -> Rows:
    """So many steps of each slider of some views, and openings, on some servers in turns.

    Returns
    -------
    dict
        By view and act: the steps on each server, in order.
    """
    tabs = [await Tab(*server).connected() for server in servers]
    rows: Rows = {}
    for view in views:
        for number in range(1 + opened):
            name = f"{view}: open, {'again' if number else 'first time'}"
            for place, tab in enumerate(tabs):
                rows.setdefault(name, [[] for _ in tabs])[place].append(await tab.open(*VIEWS[view]))
        for label, slider in list(tabs[0].sliders.items()):
            at = tabs[0].value(label)
            if len(at) > 1:
                continue
            name = f"{view}: {label}"
            for value in steps_of(slider, at[0], count):
                for place, tab in enumerate(tabs):
                    # Models may have other numbers then, and views no such slider any more.
                    if label in tab.sliders:
                        rows.setdefault(name, [[] for _ in tabs])[place].append(await tab.move(label, value))
            for tab in tabs:
                await tab.move(label, at[0])
    for tab in tabs:
        await tab.left()
    return rows
