"""Two sides in shards of documents by one plan, and what is done with each of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from evaluator import formats
from evaluator.data.boxes import IntArray
from evaluator.data.dataset import Annotations, join
from evaluator.data.fields import FieldDocuments
from evaluator.data.subsets import only_documents
from evaluator.protocols.base import ShardPair, Source
from evaluator.system.engine import Engine, Shard, plan

# Of a part where no number is given.
PAGES: Final = 2_500
# Pages below which no processes are started: that takes some tenths of a second.
LARGE: Final = 20_000


def run_in_shards(
    work: Callable[[ShardPair], Any], sides: ShardPair, *, pages: int | bool, engine: Engine | None = None
) -> list[Any]:
    """Return what the work makes of each part of about so many pages, at least one; True for a number that fits."""
    truth, predicted = sides
    if isinstance(truth, Annotations):
        predicted = formats.resolve(predicted, truth)
    engine = engine or Engine()
    fitting = PAGES if pages is True else pages
    cuts = DocumentShards(truth, predicted, fitting, None if engine.parts is None else engine.parts.count)
    engine = engine if cuts.pages >= LARGE else engine.here()
    return engine.share(cuts, [side.sha256 for side in sides], work)


class DocumentShards(Sequence[ShardPair]):
    """Two sides, cut between documents into parts of about so many pages; a part is made when it is asked for.

    With `parts` there are about so many instead.
    """

    def __init__(self, truth: Source, predicted: Source, pages: int, parts: int | None = None) -> None:
        self._sides = truth, predicted
        self.names, documents = _pages(truth, predicted)
        pages = pages if parts is None else max(-(-len(documents) // parts), 1)
        self.shards = plan(documents, pages) or (Shard(0, 0),)
        self.pages = len(documents)

    def __len__(self) -> int:
        return len(self.shards)

    def __getitem__(self, at: Any) -> Any:  # noqa: ANN401 - int to ShardPair; nobody asks for several
        names = frozenset(self.names[slice(*self.shards[at])])
        return tuple(_only(side, names) for side in self._sides)


def _pages(truth: Source, predicted: Source) -> tuple[list[str], IntArray]:
    """Return the name and the code of the document of each page; one without pages counts as one page."""
    if isinstance(truth, Annotations) and isinstance(predicted, Annotations):
        dataset = join(truth, predicted)
        ids = dataset.document_ids
        empty = np.setdiff1d(np.arange(len(ids)), dataset.page_document)
        codes = np.sort(np.concatenate([dataset.page_document, empty]))
        return [ids[code] for code in codes.tolist()], codes
    names = list(dict.fromkeys(name for side in (truth, predicted) for name in documents_of(side)))
    # Two single documents are one, whatever they are called.
    one = all(isinstance(side, FieldDocuments) and side.single for side in (truth, predicted))
    return names, np.zeros(len(names), dtype=np.int64) if one else np.arange(len(names))


def documents_of(source: Source) -> list[str]:
    """Return the names of the documents of a side, in its order."""
    if isinstance(source, FieldDocuments):
        return list(source.documents)
    if isinstance(source, Annotations):
        return [document.doc_id for document in source.documents]
    return [*source.posters, *source.broken]


def _only(source: Source, names: Collection[str]) -> Source:
    if isinstance(source, Annotations):
        return only_documents(source, names)
    if isinstance(source, FieldDocuments):
        return replace(source, documents={name: tree for name, tree in source.documents.items() if name in names})
    posters = {name: poster for name, poster in source.posters.items() if name in names}
    broken = {name: issues for name, issues in source.broken.items() if name in names}
    return replace(source, posters=posters, broken=broken)
