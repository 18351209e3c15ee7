"""What the view Review pack holds: one job of this session, made in a thread of its own, and its finished files."""

from __future__ import annotations

import tempfile
import threading
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final

import msgspec
import streamlit as st

from evaluator.drawing.payloads import ModelItem
from evaluator.model.issues import plain
from evaluator.pack import tables
from evaluator.pack.cards import PackOptions
from evaluator.pack.contents import Contents, gather
from evaluator.pack.folder import write_folder
from evaluator.pack.html_pack import Cancelled, Written, write_html
from evaluator.pack.pdf_pack import write_pdf
from evaluator.pack.pictures import Pictures
from evaluator.pack.writing import WritingProblem
from evaluator.review.verdicts import Event
from pages.shared import pictures
from pages.shared.findings import log as findings
from pages.shared.opened import OpenedBoxes
from pages.shared.results import ResultKey, result_key, result_of
from pages.shared.state import state

FORMS: Final[Mapping[str, str]] = {"html": "One HTML file", "pdf": "PDF for print", "zip": "Everything, as a zip"}
NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "html": ("review-pack.html", "text/html"),
    "pdf": ("review-pack.pdf", "application/pdf"),
    "zip": ("review-pack.zip", "application/zip"),
}


@dataclass(slots=True)
class Job:
    """A pack that is being made, or was.

    Attributes
    ----------
    form : str
        A key of `FORMS`.
    folder : TemporaryDirectory
        Holds the file; it goes with the session.
    text : str
        What is being done.
    problem : str
        Why there is none.
    """

    form: str
    folder: tempfile.TemporaryDirectory[str]
    done: int = 0
    total: int = 0
    text: str = "Starting"
    written: Written | None = None
    problem: str = ""
    cancelled: bool = False
    thread: threading.Thread | None = field(default=None, repr=False)

    @property
    def running(self) -> bool:
        """Whether it is being made."""
        return self.thread is not None and self.thread.is_alive()

    @property
    def path(self) -> Path:
        """Where its file is, or will be."""
        return Path(self.folder.name) / NAMES[self.form][0]

    def note(self, done: int, total: int, text: str) -> None:
        """Take note of the progress; stops the work when it was cancelled."""
        if self.cancelled:
            raise Cancelled
        self.done, self.total, self.text = done, total, text


def contents_of(found: OpenedBoxes, options: PackOptions) -> Contents:
    """What a pack about the chosen models would say."""
    chosen, log = found.pair, findings.review_log()
    results = [result_of(found, model) for model in chosen]
    called = [ModelItem(model.letter, model.name) for model in chosen]
    # Names of models and findings of files follow from the files, which are part of the key of a result.
    keys = tuple(result_key(found, model) for model in chosen)
    return _contents(
        keys,
        msgspec.json.encode(options),
        log.revision,
        _make=lambda: gather(results, called, log, options, issues=found.issues),
    )


@st.cache_resource(max_entries=4, show_spinner="Gathering the pack")
def _contents(
    keys: tuple[ResultKey, ...], options: bytes, revision: tuple[int, str], *, _make: Callable[[], Contents]
) -> Contents:
    """What a pack says; the keys say about which results, with which choices and verdicts."""
    return _make()


def tags() -> list[str]:
    """The tags of all findings, sorted."""
    opinions = (event for judged in findings.review_log().judged.values() for event in judged.opinions)
    return sorted({tag for event in opinions for tag in event.tags})


def today() -> str:
    """The day that a pack carries."""
    day = date.today()
    return f"{day.day} {day:%B %Y}"


def start(found: OpenedBoxes, options: PackOptions, form: str) -> None:
    """Begin a pack; an older one of this session is given up."""
    cancel()
    contents = contents_of(found, options)
    made = Job(form, tempfile.TemporaryDirectory(prefix="layoutscope-pack-"))
    drawn = Pictures(pictures.pool(), found.project.pdfs, found.dataset.page_images)
    events = [event for judged in findings.review_log().judged.values() for event in judged.history]
    work: dict[str, Callable[[], Written]] = {
        "html": lambda: write_html(made.path, contents, drawn, progress=made.note),
        "pdf": lambda: write_pdf(made.path, contents, drawn, progress=made.note),
        "zip": lambda: _everything(made, contents, drawn, events, found.project.pdfs),
    }
    made.thread = threading.Thread(target=_run, args=(made, work[form]), daemon=True, name="review pack")
    state.pack_job = made
    made.thread.start()


def cancel() -> None:
    """Give the job of this session up."""
    if state.pack_job is not None:
        state.pack_job.cancelled = True
        state.pack_job = None


def csv_of(contents: Contents) -> str:
    """The numbers of a pack as CSV."""
    return tables.to_csv(contents)


def _run(made: Job, work: Callable[[], Written]) -> None:
    """The work of the thread; whatever goes wrong is shown on screen."""
    try:
        made.written = work()
    except Cancelled:
        made.problem = "Cancelled."
    except WritingProblem as problem:
        made.problem = plain(str(problem))
    except OSError as problem:
        made.problem = f"The file cannot be written: {plain(problem.strerror or 'an error of the file system')}."


def _everything(made: Job, contents: Contents, pictures: Pictures, events: list[Event], pdfs: Path | None) -> Written:
    """All forms in one archive."""
    folder = Path(made.folder.name) / "pack"
    written = write_folder(folder, contents, pictures, events, pdfs, progress=made.note)
    with zipfile.ZipFile(made.path, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())
    return Written(made.path.stat().st_size, written.html.pages, written.html.left_out)
