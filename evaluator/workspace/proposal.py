"""Which role each of several files has, as far as their content tells: proposed, counted and changed by the reader.

A role is `TRUTH`, the letter of a model, or `UNUSED`. Several files with one role are read as one.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from evaluator.data.dataset import Annotations, Side, join
from evaluator.data.fields import FieldDocuments
from evaluator.data.issues import count_of, listed
from evaluator.formats import search
from evaluator.formats.base import KINDS, Kind
from evaluator.formats.posters import Posters
from evaluator.project import AnyMember, MergedFiles, Origin, Upload, one_input, paths_of, several_name
from evaluator.protocols import DEFAULT, box_protocols

TRUTH: Final = "truth"
UNUSED: Final = ""
LETTERS: Final = string.ascii_uppercase
# Two boxes of one label that overlap so far are the same one, written with other digits.
_EQUAL_IOU: Final = 0.99
# With so many files of the same documents a file is compared.
_MOST_ALIKE: Final = 8


@dataclass(frozen=True, eq=False)
class ListedFile:
    """A file, folder or upload that may be opened, as what it seems to be; `stated`: its side, None for either."""

    kind: Kind
    stated: Side | None
    member: AnyMember

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return self.member.name

    @property
    def source(self) -> Any:  # noqa: ANN401 - of its kind
        """Return what the file holds; None of one that cannot be read."""
        return self.member.source

    @property
    def documents(self) -> frozenset[str]:
        """Return the ids of the documents, or posters; none of what cannot be read."""
        source = self.source
        if isinstance(source, Annotations):
            return frozenset(document.doc_id for document in source.documents)
        if isinstance(source, FieldDocuments):
            return frozenset(source.documents)
        return frozenset(source.posters) if isinstance(source, Posters) else frozenset()


class Choice(NamedTuple):
    """Something that the reader may choose instead: its words, and the roles that it gives."""

    words: str
    roles: tuple[str, ...]


@dataclass(frozen=True)
class Proposal:
    """Files with their roles, in the order of `files`; `notes` by place: why a file is not used."""

    files: tuple[ListedFile, ...]
    roles: tuple[str, ...]
    notes: Mapping[int, str]

    def with_role(self, place: int, role: str) -> Proposal:
        """Return the same files, one of them with another role."""
        return replace(self, roles=(*self.roles[:place], role, *self.roles[place + 1 :]))

    def places(self, kind: Kind, role: str | None = None) -> list[int]:
        """Return the places of the files of a kind, all or those of a role."""
        return [
            place
            for place, each in enumerate(self.files)
            if each.kind == kind and (role is None or self.roles[place] == role)
        ]

    def documents(self, kind: Kind) -> frozenset[str]:
        """Return the documents of the ground truth of a kind."""
        return _documents(self.files[place] for place in self.places(kind, TRUTH))

    def models(self, kind: Kind) -> list[list[int]]:
        """Return the places of the files of each model, A first."""
        of_letters = (self.places(kind, letter) for letter in LETTERS)
        return [places for places in of_letters if places]

    def is_ready(self, kind: Kind) -> bool:
        """Return whether a kind has a ground truth and a model."""
        return bool(self.places(kind, TRUTH) and self.models(kind))

    @property
    def kinds(self) -> list[Kind]:
        """Return the kinds that can be evaluated."""
        return [kind for kind in KINDS if self.is_ready(kind)]

    @property
    def can_open(self) -> bool:
        """Return whether anything can be evaluated, with a prediction as the reference where there is nothing else."""
        return bool(self.kinds) or self.as_reference() is not None

    @property
    def has_truth(self) -> bool:
        """Return whether a file is a ground truth."""
        return TRUTH in self.roles

    def of_truth(self, kind: Kind) -> list[int]:
        """Return the places of what may be the ground truth of a kind, copies among them."""
        return [at for at in self.places(kind) if self.files[at].stated != "prediction" or self.roles[at] == TRUTH]

    def elsewhere(self, kind: Kind) -> frozenset[int]:
        """Return the places of predictions of documents that the ground truth does not have, where others have them."""
        truths, shared = set(self.of_truth(kind)), self.shared(kind)
        models = [at for at in self.places(kind) if at not in truths and self.files[at].source is not None]
        others = [at for at in models if shared and self.files[at].documents and not shared[at]]
        return frozenset(others if len(others) < len(models) else ())

    def shared(self, kind: Kind) -> Mapping[int, int]:
        """Return by place how many documents of a file the ground truth has; nothing without one.

        A results list of COCO names images by their ids.
        """
        truth = self.documents(kind)
        sources = [self.files[at].source for at in self.places(kind, TRUTH)]
        ids = {key for each in sources if getattr(each, "format", "") == "coco" for key in each.page_ids}
        counts = {at: len(self.files[at].documents & truth) for at in self.places(kind)} if truth else {}
        for at, count in counts.items():
            source = self.files[at].source
            if not count and ids and getattr(source, "format", "") == "coco":
                counts[at] = len(ids.intersection(source.page_ids))
        return counts

    def truth_choices(self, kind: Kind) -> tuple[str, tuple[Choice, ...]]:
        """Return in a sentence what several ground truths have in common, and what may be chosen; empty for one."""
        places = [at for at in self.of_truth(kind) if at not in self.notes and self.files[at].source]
        if len(places) < 2:
            return "", ()
        files = [self.files[at] for at in places]
        choices = []
        if can_merge(files):
            choices.append(
                Choice(f"Merge them: {count_of(len(_documents(files)), 'document')}", self._as_truth(places))
            )
        choices += [
            Choice(f"{each.name}: {len(each.documents):,}", self._as_truth([at]))
            for at, each in [*zip(places, files, strict=True)][: len(LETTERS)]
        ]
        return _in_common(files), tuple(choices)

    def _as_truth(self, truths: Sequence[int]) -> tuple[str, ...]:
        kind = self.files[truths[0]].kind
        roles = list(self.roles)
        for at in self.of_truth(kind):
            roles[at] = TRUTH if at in truths else UNUSED
        return replace(self, roles=tuple(roles)).with_models(kind).roles

    def with_models(self, kind: Kind, *, apart: bool = False) -> Proposal:
        """Return the proposal with a letter for each prediction that has documents of the ground truth.

        Files of one model that have no document in common get one letter, unless they are to be kept `apart`.
        """
        roles, elsewhere = list(self.roles), self.elsewhere(kind)
        # What each model states of itself, None for one whose files stay apart, and its documents.
        taken = list[tuple[object, set[str]]]()
        for at in self.places(kind):
            one = self.files[at]
            if one.stated != "prediction" or roles[at] == TRUTH:
                continue
            roles[at] = UNUSED
            if at in elsewhere or one.source is None:
                continue
            stated = None if apart else _model_of(one)
            same = (
                place
                for place, (of, documents) in enumerate(taken)
                if stated is not None and of == stated and documents.isdisjoint(one.documents)
            )
            place = next(same, len(taken))
            if place == len(taken) < len(LETTERS):
                taken.append((stated, set()))
            if place < len(taken):
                taken[place][1].update(one.documents)
                roles[at] = LETTERS[place]
        return replace(self, roles=tuple(roles))

    def as_reference(self) -> Choice | None:
        """Return how predictions of boxes are compared without a ground truth; None with one, and for less than two."""
        groups: dict[frozenset[str], list[int]] = {}
        for at in self.places("boxes"):
            if self.files[at].stated == "prediction" and self.files[at].source is not None:
                groups.setdefault(self.files[at].documents, []).append(at)
        alone = [at for places in groups.values() if len(places) > 1 for at in places if self.roles[at] != TRUTH]
        if len(alone) < 2:
            return None
        documents = self.files[alone[0]].documents
        alone = [at for at in alone if self.files[at].documents == documents]
        roles = [role if each.kind != "boxes" else UNUSED for role, each in zip(self.roles, self.files, strict=True)]
        roles[alone[0]] = TRUTH
        for letter, at in zip(LETTERS, alone[1:], strict=False):
            roles[at] = letter
        return Choice("Compare, the first model as the reference", tuple(roles))

    def lonely_pages(self) -> tuple[str, str] | None:
        """Return the names of the one page on each side when they differ; None otherwise."""
        sides = [self.places("boxes", TRUTH), [at for places in self.models("boxes") for at in places]]
        names = [_documents(self.files[at] for at in places) for places in sides]
        pages = [
            source for places in sides for at in places if isinstance(source := self.files[at].source, Annotations)
        ]
        if (
            any(len(each) != 1 for each in names)
            or names[0] == names[1]
            or any(len(each.page_index) != 1 for each in pages)
        ):
            return None
        return next(iter(names[0])), next(iter(names[1]))


def propose(files: Sequence[ListedFile]) -> Proposal:
    """Return files with the roles that follow from their content.

    Ground truths without a document in common are merged; else the one with the most predictions is chosen, first by
    name. One with the boxes of another is a copy and not used. Predictions of other documents only are not used.
    """
    proposal = Proposal(tuple(files), tuple(UNUSED for _ in files), {})
    for kind in KINDS:
        proposal = _with_truth(proposal, kind).with_models(kind)
    return proposal


def _with_truth(proposal: Proposal, kind: Kind) -> Proposal:
    files = proposal.files
    truths = [at for at in proposal.of_truth(kind) if files[at].source is not None]
    # Of copies the one stays that is of the format of most.
    formats = Counter(files[at].source.format for at in truths)
    by_format = sorted(truths, key=lambda at: -formats[files[at].source.format])
    notes = {}
    kept: list[int] = []
    alike: dict[tuple[frozenset[str], int], list[int]] = {}
    for at in by_format:
        boxes = getattr(files[at].source, "boxes", ())
        others = alike.setdefault((files[at].documents, len(boxes)), [])
        original = next((other for other in others[:_MOST_ALIKE] if is_copy(files[at], files[other])), None)
        if original is None:
            kept.append(at)
            others.append(at)
        else:
            notes[at] = f"the same boxes as {files[original].name}"
    kept.sort()
    predicted = [files[at].documents for at in proposal.places(kind) if files[at].stated == "prediction"]

    def has_models(at: int) -> tuple[int, str]:
        return -sum(bool(documents & files[at].documents) for documents in predicted), files[at].name

    chosen = kept if can_merge([files[at] for at in kept]) else sorted(kept, key=has_models)[:1]
    roles = tuple(TRUTH if at in chosen else role for at, role in enumerate(proposal.roles))
    return replace(proposal, roles=roles, notes={**proposal.notes, **notes})


def _documents(files: Iterable[ListedFile]) -> frozenset[str]:
    return frozenset[str]().union(*(each.documents for each in files))


def can_merge(files: Sequence[ListedFile]) -> bool:
    """Return whether files of boxes can be read as one: no document is in two, and they agree in what files state."""
    if len(files) < 2 or any(each.kind != "boxes" for each in files):
        return False
    return len(set(map(_stated, files))) == 1 and len(_documents(files)) == sum(len(each.documents) for each in files)


def _stated(one: ListedFile) -> tuple[object, ...]:
    return (one.source.format, one.source.unit, *one.source.label_map.items())


def _model_of(one: ListedFile) -> object:
    source = one.source
    named = isinstance(source, Annotations) and source.model
    return (source.model, source.version, *_stated(one)) if named else None


@lru_cache(maxsize=8)
def equal_boxes(one: Annotations, other: Annotations) -> int:
    """Return how many boxes of two files are the same, one to one: label, page and place."""
    if one.unit != other.unit:
        return 0
    system = box_protocols()[DEFAULT]
    options = system.options()
    pairs = system.pair(join(one, other), 0, options, iou_floor=_EQUAL_IOU)
    return int(system.match(pairs, options, min_score=0.0).at(_EQUAL_IOU).micro.tp.sum())


def is_copy(one: ListedFile, other: ListedFile) -> bool:
    """Return whether two files of boxes hold the same boxes of the same documents."""
    a, b = one.source, other.source
    if not isinstance(a, Annotations) or not isinstance(b, Annotations):
        return False
    return one.documents == other.documents and len(a.boxes) == len(b.boxes) == equal_boxes(a, b)


def _in_common(files: Sequence[ListedFile]) -> str:
    shared = frozenset.intersection(*(each.documents for each in files))
    if len(_documents(files)) == sum(len(each.documents) for each in files):
        words = "No document is in both." if len(files) == 2 else "No document is in two of them."
        return words if can_merge(files) else f"{words} They state other labels, units or formats: choose one."
    if any(each.documents != files[0].documents for each in files):
        return f"They have {count_of(len(shared), 'document')} in common: choose one."
    a, b = files[0].source, files[1].source
    if len(files) > 2 or not isinstance(a, Annotations) or not isinstance(b, Annotations):
        return "They have the same documents: choose one."
    return f"They have the same documents: choose one. {equal_boxes(a, b):,} of {len(a.boxes):,} boxes are equal."


def merged_origin(origins: Sequence[Origin]) -> Origin:
    """Return several files of one side as what is read as one; one as itself."""
    if len(origins) == 1:
        return origins[0]
    if not any(isinstance(each, Upload) for each in origins):
        return one_input([path for each in origins for path in paths_of(each)])
    uploads = [each if isinstance(each, Upload) else _as_upload(each) for each in origins]
    files = tuple(
        (name if len(each.files) == 1 else f"{each.name}/{name}", content)
        for each in uploads
        for name, content in each.files
    )
    return Upload(
        several_name([each.name for each in uploads]),
        files,
        next(filter(None, (each.format for each in uploads)), None),
    )


def _as_upload(origin: Path | MergedFiles) -> Upload:
    files = []
    for path in paths_of(origin):
        inside = search.walk([path]) if path.is_dir() else [path]
        files += [(each.relative_to(path.parent).as_posix(), each.read_bytes()) for each in inside]
    return Upload(origin.name, tuple(files))


def parts_of(origin: Origin) -> tuple[Origin, ...]:
    """Return what a side was merged of: each file by itself."""
    return origin.parts if isinstance(origin, MergedFiles) else (origin,)


def headline(proposal: Proposal, *, others: int = 0) -> str:
    """Return in a line what can be evaluated, or what is missing; `others` are files that are no annotations."""
    count = len(proposal.files) + others
    if not proposal.files:
        none = f"None of the {count:,} files has" if count > 1 else "The file does not have"
        return f"{none} boxes, fields or poster text"
    if not proposal.kinds:
        missing = "prediction" if proposal.has_truth else "ground truth"
        return f"No {missing} {f'among these {count:,} files' if count > 1 else 'in this file'}"
    parts = []
    for kind in proposal.kinds:
        models, documents = len(proposal.models(kind)), len(proposal.documents(kind))
        noun = "poster" if kind == "posters" else "document"
        parts.append(
            f"{count_of(models, 'model')} of {kind}, {count_of(documents, noun)}"
            if len(proposal.kinds) > 1
            else f"1 ground truth, {count_of(models, 'model')}, {count_of(documents, noun)}"
        )
    return f"Ready: {listed(parts) if len(parts) > 1 else parts[0]}"
