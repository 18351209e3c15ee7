"""Readers of a running dashboard without a browser: sessions over its websocket, in Streamlit's own messages.
Owns what a reader does, and how long the server takes for it; ``bench_attack`` runs twenty at once.
"""

import asyncio
import contextlib
import http.client
import json
import os
import random
import re
import statistics
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from tests.building import box, write_file
from tests.pdf_fixtures import form_bomb, pages
from tests.serving import processes

VIEWS: Final = ("", "page_browser", "gallery", "models", "slices", "findings", "files")
"""Addresses of the views that a reader walks over."""
GOOD, BOMBS = "good.pdf", "bomb{}.pdf"
"""Documents of `poisoned_files`."""
_PICTURE: Final = re.compile(r'"(/layoutscope/[0-9a-f]+\.picture)"')
_FINISHED: Final = {
    ForwardMsg.ScriptFinishedStatus.Value("FINISHED_SUCCESSFULLY"),
    ForwardMsg.ScriptFinishedStatus.Value("FINISHED_FRAGMENT_RUN_SUCCESSFULLY"),
}
# As in meeting.js.
_ASK_SECONDS: Final = 0.5
# How long a run may take at all; what takes longer is told as an error.
_PATIENCE: Final = 60.0


class Act(NamedTuple):
    """What became of one act of a reader."""

    name: str
    seconds: float
    """To the end of the run, with all its pictures fetched that the browser did not have, small ones too."""
    errors: tuple[str, ...]
    """Exceptions that the view shows, and pictures that were not there."""
    page_seconds: float = 0.0
    """To the end of the run, with the picture of the page itself; the small ones come after it."""


class Session:
    """The websocket of one tab, and the address in its bar; `connected` before anything else.

    A message with a `page` opens that view by its address; one with the `script` of a view stays there.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.page = self.query = self.script = ""
        self._connection: ClientConnection | None = None

    async def connected(self) -> Self:
        """Open the session as a browser does that comes from the dashboard's own page."""
        self._connection = await connect(
            f"ws://{urlsplit(self.url).netloc}/_stcore/stream", origin=self.url, subprotocols=["streamlit"],  # type: ignore[list-item, arg-type]
            max_size=None, proxy=None, ping_interval=None,
        )  # fmt: skip
        return self

    async def left(self) -> None:
        """Close the tab."""
        if self._connection is not None:
            await self._connection.close()

    async def answers(self, message: BackMsg) -> AsyncIterator[tuple[ForwardMsg, int]]:
        """Send a message, and yield what the server says to the end of the run, with the bytes of each."""
        assert self._connection is not None, "the session is not open"
        # What is in the address bar: another address would be a wish to go there.
        message.rerun_script.query_string, message.rerun_script.page_name = self.query, self.page
        message.rerun_script.page_script_hash = self.script
        await self._connection.send(message.SerializeToString())
        while True:
            content = await self._connection.recv()
            assert isinstance(content, bytes)
            said = ForwardMsg.FromString(content)
            kind = said.WhichOneof("type")
            if kind == "page_info_changed":
                self.query = said.page_info_changed.query_string
            yield said, len(content)
            if kind == "script_finished" and said.script_finished in _FINISHED:
                return


class Reader(Session):
    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._viewer: tuple[str, str] | None = None
        # What a browser has is not sent or asked for again: an address and a name stand for their content for good.
        self._pictures: set[str] = set()
        self._contents: dict[str, Any] = {}
        self.shown: dict[str, Any] = {}
        """What the page viewer was last given."""

    @property
    def turns(self) -> bool:
        """Whether there are pages to turn."""
        return self._viewer is not None

    def content(self) -> dict[str, Any]:
        """What was given of the page that is shown."""
        given: dict[str, Any] = self._contents[self.shown["name"]]
        return given

    async def open(self, view: str, **address: str) -> Act:
        """Go to a view."""
        self.page, self.query, self._viewer = view, urlencode(address), None
        return await self._run(view or "overview", BackMsg())

    async def turn(self, step: int = 1) -> Act:
        """Turn to another page of the list in the page browser; it must be open."""
        assert self._viewer is not None, "the page browser is not open"
        identity, fragment = self._viewer
        page, held = self.content()["page"], [self.shown.get("name", ""), self.shown.get("strip", "")]
        event = {"document": page["document"], "index": page["index"], "step": step, "turn": "", "held": held}
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        state = message.rerun_script.widget_states.widgets.add()
        state.id = f"$$STREAMLIT_INTERNAL_KEY_{identity}__events"
        state.json_trigger_value = json.dumps([{"event": "go", "value": event}])
        return await self._run("page turn", message)

    async def _run(self, name: str, message: BackMsg) -> Act:
        start = time.perf_counter()
        errors: list[str] = []
        pictures: set[str] = set()
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._read(message, errors, pictures)
                await self._fetch(pictures & self._of_page(), errors)
                page_seconds = time.perf_counter() - start
                await self._fetch(pictures, errors)
        except TimeoutError:
            return Act(name, _PATIENCE, (*errors, f"{name}: no end within {_PATIENCE:g} s"), _PATIENCE)
        return Act(name, time.perf_counter() - start, tuple(errors), page_seconds)

    def _of_page(self) -> set[str]:
        """The picture of the page that the viewer was last given; none where the view has no viewer, or no picture."""
        return {self.shown.get("image")} - {None} if self._viewer is not None else set()

    async def _fetch(self, pictures: set[str], errors: list[str]) -> None:
        """Fetch what the browser does not have."""
        missing = sorted(pictures - self._pictures)
        fetched = await asyncio.gather(*(asyncio.to_thread(fetch, self.url, path) for path in missing))
        for path, (status, _) in zip(missing, fetched, strict=True):
            if status == 200:
                self._pictures.add(path)
            # 204: a page of the strip that cannot be drawn has no small picture.
            elif status != 204:
                errors.append(f"{path}: {status}")

    async def _read(self, message: BackMsg, errors: list[str], pictures: set[str]) -> None:
        """Read to the end of the run."""
        async for said, _ in self.answers(message):
            if said.WhichOneof("type") == "page_not_found":
                errors.append("page not found")
            if said.WhichOneof("type") != "delta" or said.delta.WhichOneof("type") != "new_element":
                continue
            element = said.delta.new_element
            if element.WhichOneof("type") == "exception":
                errors.append(element.exception.message[:200])
            if element.WhichOneof("type") == "bidi_component":
                pictures.update(_PICTURE.findall(element.bidi_component.json))
                (given,) = json.loads(element.bidi_component.json or "[null]")
                if isinstance(given, dict) and "listing" in given and "version" in given:
                    self._viewer, self.shown = (element.bidi_component.id, said.delta.fragment_id), given
                    if given.get("content"):
                        self._contents[given["name"]] = given["content"]


class Attendee(Session):
    """One in the live meeting, who presents or follows; asks as often as the component does."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._board = self._fragment = ""
        self._pictures: set[str] = set()
        self.board: dict[str, Any] = {}
        """What the meeting was last given."""

    @property
    def place(self) -> tuple[str, int]:
        """The item that is shown, and which of its places."""
        return self.board["item"], self.board["example"]

    async def joined(self) -> Self:
        """Enter the meeting."""
        self.page, self.query = "findings", urlencode({"meeting": "yes"})
        await self.connected()
        await self._run(BackMsg())
        self.page = ""
        return self

    async def send(self, event: str, value: object) -> None:
        """Do something on the screen of the meeting."""
        message = BackMsg()
        message.rerun_script.fragment_id = self._fragment
        state = message.rerun_script.widget_states.widgets.add()
        state.id = f"$$STREAMLIT_INTERNAL_KEY_{self._board}__events"
        state.json_trigger_value = json.dumps([{"event": event, "value": value}])
        await self._run(message)

    async def follow(self, until: asyncio.Event) -> list[tuple[tuple[str, int], float]]:
        """Every place that is shown until the end, and when it was there with its picture."""
        shown, place = [], self.place
        while not until.is_set():
            await asyncio.sleep(_ASK_SECONDS)
            _, seen = await asyncio.to_thread(fetch, self.url, self.board["live"]["asks"])
            if seen.decode() not in ("", self.board["live"]["seen"]):
                await self.send("changed", True)
            if self.place != place:
                shown.append((place := self.place, time.perf_counter()))
        return shown

    async def _run(self, message: BackMsg) -> None:
        async for said, _ in self.answers(message):
            kind = said.WhichOneof("type")
            if kind == "navigation":
                self.script = said.navigation.page_script_hash
            if kind == "delta" and said.delta.WhichOneof("type") == "new_element":
                element = said.delta.new_element
                assert element.WhichOneof("type") != "exception", element.exception.message
                if element.WhichOneof("type") != "bidi_component":
                    continue
                (given,) = json.loads(element.bidi_component.json or "[null]")
                if isinstance(given, dict) and "agenda" in given:
                    self._board, self._fragment = element.bidi_component.id, said.delta.fragment_id
                    self.board = given
                    await self._picture()

    async def _picture(self) -> None:
        path = (self.board["page"] or {}).get("image")
        if path and path not in self._pictures:
            status, _ = await asyncio.to_thread(fetch, self.url, path)
            assert status == 200, f"{path}: {status}"
            self._pictures.add(path)


def fetch(url: str, path: str) -> tuple[int, bytes]:
    """Status and body of something that the server hands out."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=_PATIENCE)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


async def wander(
    url: str,
    seconds: float,
    seed: int,
    think: tuple[float, float],
    views: Sequence[str] = VIEWS,
    **address: str,
) -> list[Act]:
    chance = random.Random(seed)
    reader, acts = await Reader(url).connected(), []
    until = time.monotonic() + seconds
    try:
        await asyncio.sleep(chance.random() * think[1])
        acts.append(await reader.open("page_browser", **address))
        while time.monotonic() < until:
            await asyncio.sleep(chance.uniform(*think))
            view = chance.choice(views)
            if reader.turns and chance.random() < 0.7:
                acts.append(await reader.turn(chance.choice([1, 1, 1, -1])))
            elif view == "page_browser":
                acts.append(await reader.open(view, **address))
            else:
                acts.append(await reader.open(view))
    finally:
        await reader.left()
    return acts


async def poison(url: str, bombs: Iterable[int]) -> list[tuple[float, str]]:
    """A reader who opens one page after the other that never ends: how long until what was said of it, and that.

    The small picture of such a page, beside it, may come later.
    """
    reader, told = await Reader(url).connected(), []
    try:
        for number in bombs:
            act = await reader.open("page_browser", order="page", within=BOMBS.format(number))
            assert act.errors == (), act
            problem = reader.content()["page"]["problem"]
            told.append((act.page_seconds, problem["title"] if problem else ""))
    finally:
        await reader.left()
    return told


def poisoned_files(folder: Path, pages_of_good: int, bombs: int) -> None:
    """A document whose pages are fine, and some of one page that never ends; all boxes of the latter match."""
    (folder / "pdf").mkdir()
    (folder / "pdf" / GOOD).write_bytes(pages(pages_of_good))
    for number in range(bombs):
        (folder / "pdf" / BOMBS.format(number)).write_bytes(form_bomb() + b"%" * (number + 1))
    rows = [box(0.1, 0.1, 0.4, 0.4, document=BOMBS.format(number)) for number in range(bombs)]
    rows += [box(0.1, 0.1, 0.4, 0.4, document=GOOD, page=page) for page in range(pages_of_good)]
    write_file(folder / "ground_truth.json", rows, side="ground_truth")
    scored = [row._replace(score=0.9) for row in rows]
    moved = [row._replace(xyxy=(0.5, 0.5, 0.9, 0.9)) if row.document == GOOD else row for row in scored]
    write_file(folder / "model.json", moved)


async def health(url: str, seconds: float) -> list[float]:
    """Seconds that the server takes to say that it is well, asked ten times a second."""
    took = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        start = time.perf_counter()
        await asyncio.to_thread(fetch, url, "/_stcore/health")
        took.append(time.perf_counter() - start)
        await asyncio.sleep(0.1)
    return took


def quantile(values: Iterable[float], share: float) -> float:
    """A quantile of some numbers, of the nearest rank; 0 for none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def by_name(acts: Sequence[Act]) -> dict[str, tuple[int, float, float]]:
    """Number, median and 95th percentile in seconds of each kind of act."""
    names = sorted({act.name for act in acts})
    seconds = {name: [act.seconds for act in acts if act.name == name] for name in names}
    return {name: (len(each), statistics.median(each), quantile(each, 0.95)) for name, each in seconds.items()}


def memory(pid: int) -> tuple[float, float]:
    """Megabytes of memory of a server: of itself, and of the processes that read documents below it."""
    own = workers = 0.0
    for number in processes(pid):
        place = Path(f"/proc/{number}")
        # It may end in between.
        with contextlib.suppress(OSError):
            megabytes = int((place / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
            if b"evaluator.pdf" in (place / "cmdline").read_bytes():
                workers += megabytes
            else:
                own += megabytes
    return own, workers
