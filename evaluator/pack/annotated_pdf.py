"""The documents with PDF annotations: rectangles with pop-up text, one layer for each model.

``pdf.writer`` writes copies in a process of its own; source documents are never touched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple

import numpy as np

from evaluator.components.viewer.outlines import path_rings
from evaluator.components.viewer.page_overlay import NO_SIZE
from evaluator.components.viewer.payload import BoxItem, MistakeItem
from evaluator.data.issues import count_of, plain
from evaluator.pack.contents import Contents, page_layers
from evaluator.pack.html_pack import Progress
from evaluator.pack.options import is_document_included
from evaluator.pack.writing import Writer, WritingProblem
from evaluator.pdf.active_content import ActiveContent
from evaluator.pdf.folder import Folders, PdfFolder
from evaluator.pdf.passwords import NONE, Passwords
from evaluator.pdf.problems import PageProblem
from evaluator.pdf.writer import Accepted, Mark, Note
from evaluator.system.atomic_write import atomic_write

_LOOKS: Final[Mapping[str, tuple[str, float, bool]]] = {
    "TP": ("#00796B", 0.8, False),
    "FP": ("#C75000", 1.8, False),
    "FN": ("#5E35B1", 1.4, True),
}
_DOCUMENTS_PER_PROCESS: Final = 50
_UNPLACED: Final = (
    "No file states the size of its pages, so its boxes have no place on them. Give the size with --page-size WxH."
)
_WORDS: Final = {"TP": "True positive", "FP": "False positive", "FN": "Missed"}


class AnnotatedDocument(NamedTuple):
    """What became of one document: `path` None, and `problem` says why, when it could not be written.

    `active`: what was taken out of it.
    """

    name: str
    path: Path | None
    notes: int
    problem: str
    active: ActiveContent = ActiveContent()

    @property
    def words(self) -> str:
        """Return all of it in one line."""
        return self.problem or "; ".join(filter(None, (count_of(self.notes, "mark"), self.active.words)))


def write_annotated(
    folder: Path,
    contents: Contents,
    pdfs: Folders,
    *,
    passwords: Passwords = NONE,
    keep_active: bool = False,
    progress: Progress,
) -> list[AnnotatedDocument]:
    """Write a copy of each document that has boxes, with annotations, as ``name-marked.pdf``.

    A copy of a PDF that needs a password needs the same. Scripts and what else acts by itself or carries files is not
    copied unless `keep_active`.
    """
    dataset = contents.dataset
    if dataset is None:
        return []
    documents = [
        code for code, each in enumerate(dataset.documents) if is_document_included(each.doc_id, contents.options)
    ]
    marked: list[AnnotatedDocument] = []
    with _Copies(folder, PdfFolder(pdfs), passwords, keep_active=keep_active) as copies:
        for done, code in enumerate(documents):
            name = dataset.documents[code].name
            progress(done, len(documents), f"Marking {plain(name)}")
            notes = tuple(notes_of(contents, code))
            if notes:
                marked.append(copies.write(name, notes))
            elif _lacks_size(contents, code):
                marked.append(AnnotatedDocument(plain(name), None, 0, _UNPLACED))
    progress(len(documents), len(documents), "Done")
    return marked


class _Copies:
    """Marked copies in a folder; a writer that failed or wrote `_DOCUMENTS_PER_PROCESS` is replaced."""

    def __init__(self, folder: Path, sources: PdfFolder, passwords: Passwords, *, keep_active: bool) -> None:
        self._folder, self._sources, self._passwords = folder, sources, passwords
        self._keep_active = keep_active
        self._taken: set[str] = set()
        self._writer: Writer | None = None
        self._written = 0

    def __enter__(self) -> _Copies:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def write(self, name: str, notes: tuple[Note, ...]) -> AnnotatedDocument:
        try:
            source = self._sources.find(name)
            digest = hashlib.sha256(source.read_bytes()).hexdigest()
            password = self._passwords.of(source)
            content, done = self._marked(Mark(str(source), digest, notes, password, self._keep_active))
        except PageProblem as problem:
            return AnnotatedDocument(plain(name), None, 0, f"{plain(problem.title)}: {plain(problem.text)}")
        except WritingProblem as problem:
            return AnnotatedDocument(plain(name), None, 0, plain(str(problem)))
        except OSError as problem:
            return AnnotatedDocument(plain(name), None, 0, plain(problem.strerror or str(problem)))
        path = self._folder / _free_name(source.stem, self._taken)
        atomic_write(path, [content])
        return AnnotatedDocument(plain(name), path, len(notes) - done.left_out, "", done.active)

    def _marked(self, mark: Mark) -> tuple[bytes, Accepted]:
        is_fresh = not self._written
        try:
            if self._writer is None:
                self._writer = Writer()
            done = self._writer.send(mark)
            content = self._writer.finish()
        except WritingProblem:
            self._end()
            if is_fresh:
                raise
            # Another document may have harmed the process.
            return self._marked(mark)
        self._written += 1
        if self._written == _DOCUMENTS_PER_PROCESS:
            self._end()
        return content, done

    def _end(self) -> None:
        writer, self._writer, self._written = self._writer, None, 0
        if writer is not None:
            writer.close()


def notes_of(contents: Contents, document: int) -> Iterator[Note]:
    """Yield one document's annotations by page, in the layer of the model that predicts or misses the box."""
    dataset = contents.dataset
    if dataset is None:
        return
    for page in np.flatnonzero(dataset.page_document == document).tolist():
        index = int(dataset.page_index[page])
        for model, data in zip(contents.models, page_layers(contents, page, None), strict=True):
            by_number = {mistake.number: mistake for mistake in data.mistakes}
            layer = f"{model.letter} {plain(model.name)}"
            for box in data.boxes:
                if box.status in _LOOKS:
                    yield _note(box, by_number.get(box.mistake or 0), index, layer)


def _lacks_size(contents: Contents, document: int) -> bool:
    dataset = contents.dataset
    if dataset is None:
        return False
    pages = np.flatnonzero(dataset.page_document == document).tolist()
    layers = (data for page in pages for data in page_layers(contents, page, None))
    return any(NO_SIZE in data.notes and data.limit is not None and data.limit.total > 0 for data in layers)


def _note(box: BoxItem, mistake: MistakeItem | None, index: int, layer: str) -> Note:
    colour, width, dashed = _LOOKS[box.status]
    score = "" if box.score is None else f", score {box.score:.2f}"
    lines = [f"{_WORDS[box.status]}: {plain(box.label)}{score}"]
    if mistake is not None:
        lines += [f"Mistake {mistake.number}: {mistake.title}", *mistake.lines]
    rings = path_rings(box.outline) if box.outline else ()
    return Note(index, box.xyxy, layer, colour, width, dashed, layer, "\n".join(lines), rings)


def _free_name(stem: str, taken: set[str]) -> str:
    name, number = f"{stem}-marked.pdf", 2
    while name.casefold() in taken:
        name, number = f"{stem}-marked-{number}.pdf", number + 1
    taken.add(name.casefold())
    return name
