"""The list of dropped files as the browser shows it: groups, roles, what is missing and why a file is left out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Final

from evaluator import formats
from evaluator.components.drop.payload import ChoiceItem, FileListPayload, ListedGroup, ListedItem, RoleItem
from evaluator.data.dataset import Annotations
from evaluator.data.issues import Issue, count_of, displayed
from evaluator.formats.base import KINDS, Kind
from evaluator.pdf import parquet_pictures
from evaluator.workspace.proposal import LETTERS, TRUTH, UNUSED, ListedFile, Proposal, headline

PAGES: Final = "pages"
"""The role of PDFs and page images."""
_MOST_SHOWN: Final = 200
_COUNTED: Final = {"boxes": "boxes", "fields": "fields", "posters": "poster text"}


def page_folders(names: Sequence[str]) -> dict[str, list[str]]:
    """Return PDFs and page images by their folder, "" for those without."""
    folders: dict[str, list[str]] = {}
    for name in names:
        folders.setdefault(PurePosixPath(name).parent.as_posix().removeprefix("."), []).append(name)
    return folders


def file_list(
    proposal: Proposal,
    pages: Sequence[str],
    left_out: Sequence[tuple[str, str]],
    *,
    unused_pages: Collection[str] = (),
    paired: bool = False,
    back: str,
    protocol: str,
) -> FileListPayload:
    """Return the list of files: proposed roles, PDFs and page images by name, and names left out with the reason."""
    groups = [group for kind in KINDS for group in _of_kind(proposal, kind, paired=paired)]
    folders = page_folders(pages)
    if folders:
        roles = (RoleItem(PAGES, "Pages"), RoleItem(UNUSED, "Not used"))
        rows = [
            ListedItem(
                f"{folder}/ {count_of(len(names), 'file')}" if folder else ", ".join(map(displayed, names)),
                "PDFs and page images",
                len(proposal.files) + place,
                UNUSED if folder in unused_pages else PAGES,
                roles,
                f"{len(names):,}",
            )
            for place, (folder, names) in enumerate(folders.items())
        ]
        groups.append(ListedGroup("Pages", "shown behind the boxes", rows))
    if left_out:
        rows = [ListedItem(displayed(name), why) for name, why in left_out[:_MOST_SHOWN]]
        more = f"; the first {_MOST_SHOWN}" if len(left_out) > _MOST_SHOWN else ""
        groups.append(ListedGroup("Left out", f"{count_of(len(left_out), 'file')}{more}", rows))
    every = len(proposal.files) + len({*pages} - {each.name for each in proposal.files}) + len(left_out)
    used = [name for folder, names in folders.items() if folder not in unused_pages for name in names]
    reference = proposal.as_reference()
    facts = f"{count_of(every, 'file')}, recognised by their content. Change a role where it is wrong."
    if not proposal.files:
        titles = [each.title.split(" (")[0] for each in formats.FORMATS.values()]
        facts = f"What is read: {'; '.join(titles)}."
    return FileListPayload(
        headline(proposal, others=len(pages) + len(left_out)),
        facts,
        groups,
        back,
        proposal.can_open,
        "Evaluate" if proposal.kinds or reference is None else reference.words,
        _summary(proposal),
        protocol if proposal.is_ready("boxes") else "",
        _without_pages(proposal, used),
    )


def _of_kind(proposal: Proposal, kind: Kind, *, paired: bool) -> Iterator[ListedGroup]:
    truths, places, elsewhere = proposal.of_truth(kind), proposal.places(kind), proposal.elsewhere(kind)
    models, others = sorted({*places} - {*truths} - elsewhere), sorted(elsewhere)
    row = partial(_row, proposal, len(proposal.models(kind)))
    of = "" if kind == "boxes" else f" of {kind}"
    reference = proposal.as_reference() if kind == "boxes" else None
    if truths or (places and kind == "boxes"):
        sentence, choices = proposal.truth_choices(kind)
        items = [
            ChoiceItem(f"truth:{kind}:{place}", displayed(each.words), each.roles == proposal.roles)
            for place, each in enumerate(choices)
        ]
        if not truths and reference is not None:
            sentence = "A prediction can be the reference: the numbers then show how far the models agree."
            items = [ChoiceItem("reference", reference.words)] if proposal.kinds else []
        used = [at for at in truths if proposal.roles[at] == TRUTH]
        facts = f"{count_of(len(used), 'file')}" if truths else "none"
        if copies := [at for at in truths if at in proposal.notes]:
            facts = f"{facts}; {len(copies)} more {'is a copy' if len(copies) == 1 else 'are copies'}"
        rows = [row(at) for at in truths]
        yield ListedGroup(f"Ground truth{of}", facts, rows, None, sentence, items)
    if models:
        together = [places for places in proposal.models(kind) if len(places) > 1]
        facts, link = count_of(len(proposal.models(kind)), "model"), None
        if together:
            facts = (
                f"{facts} in {count_of(sum(map(len, proposal.models(kind))), 'file')}: same name, no document twice."
            )
            link = ChoiceItem(f"apart:{kind}", "Keep them apart")
        pair, shared = proposal.lonely_pages() if kind == "boxes" else None, proposal.shared(kind)
        sentence = (
            f"{displayed(pair[0])} and {displayed(pair[1])}: one page on each side, under two names." if pair else ""
        )
        items = [ChoiceItem("pair", "They are the same page", paired)] if pair else []
        yield ListedGroup(f"Models{of}", facts, [row(at, shared.get(at)) for at in models], link, sentence, items)
    if others:
        documents = frozenset[str]().union(*(proposal.files[at].documents for at in others))
        link = ChoiceItem("reference", "Open these instead, one model as the reference") if reference else None
        facts = f"{count_of(len(documents), 'document')} without ground truth."
        yield ListedGroup(f"Other documents{of}", facts, [row(at) for at in others], link)


def _row(proposal: Proposal, models: int, at: int, shared: int | None = None) -> ListedItem:
    """Return a file of the list, beside some models; `shared`: how many of its documents the ground truth has."""
    one, role = proposal.files[at], proposal.roles[at]
    letters = [*LETTERS[: models + 1]]
    unused = "Not used: copy" if at in proposal.notes else "Not used"
    roles = [RoleItem(TRUTH, "Ground truth"), *(RoleItem(each, f"Model {each}") for each in letters)]
    if role in LETTERS and role not in letters and role:
        roles.append(RoleItem(role, f"Model {role}"))
    source = one.source
    if source is None:
        first = one.member.issues[0]
        wrong = " ".join(
            part for part in (f"{first.place}:" if first.place else "", f"{first.rule}. {first.fix}") if part
        )
        return ListedItem(displayed(one.name), f"not read. {wrong}", wrong=True)
    documents = f"{len(one.documents):,}"
    if shared is not None and one.documents:
        documents = f"{shared:,} of {documents}"
    boxes = f"{len(source.boxes):,}" if isinstance(source, Annotations) else ""
    what = _what(one) if at not in proposal.notes else f"{_what(one)}, {displayed(proposal.notes[at])}"
    return ListedItem(displayed(one.name), what, at, role, [*roles, RoleItem(UNUSED, unused)], documents, boxes)


def _what(one: ListedFile) -> str:
    title = formats.FORMATS[one.source.format].title.split(" (")[0]
    model = getattr(one.source, "model", None)
    return f"{title}, {displayed(model.rpartition('/')[2])}" if model else title


def _summary(proposal: Proposal) -> str:
    parts = []
    for kind in proposal.kinds:
        sources = [proposal.files[at].source for at in proposal.places(kind, TRUTH)]
        boxes = sum(len(source.boxes) for source in sources if isinstance(source, Annotations))
        counted = f", {boxes:,} ground-truth boxes" if kind == "boxes" else f" of {_COUNTED[kind]}"
        documents = count_of(len(proposal.documents(kind)), "document")
        parts.append(f"{documents}{counted}, {count_of(len(proposal.models(kind)), 'model')}")
    if not parts and proposal.can_open:
        return f"{count_of(len(proposal.places('boxes')), 'prediction')}, no ground truth"
    return "; ".join(parts) or "Nothing to evaluate yet"


def _pages_of(proposal: Proposal, pages: Sequence[str]) -> list[bool]:
    names = {PurePosixPath(name).name.casefold() for name in pages}
    tables = any(name.endswith(parquet_pictures.SUFFIX) for name in names)
    stems = names | {PurePosixPath(name).stem for name in names}
    there = []
    for at in proposal.places("boxes", TRUTH):
        source = proposal.files[at].source
        images: dict[str, set[str]] = {}
        for (document, _), image in source.images_by_page().items():
            images.setdefault(document, set()).add(PurePosixPath(image).name.casefold())
        for document in source.documents:
            name = PurePosixPath(document.name).name.casefold()
            # The names of the pictures of a table are known when it is open.
            there.append(tables or bool({name, PurePosixPath(name).stem, *images.get(document.name, ())} & stems))
    return there


def has_pages(proposal: Proposal, pages: Sequence[str]) -> bool:
    """Return whether any document of the ground truth is among some PDFs and images, or nothing says so."""
    return any(_pages_of(proposal, pages)) or not proposal.is_ready("boxes")


def _without_pages(proposal: Proposal, pages: Sequence[str]) -> str:
    """Return how many documents of the ground truth have no PDF or image among some files, or what else is missing."""
    if not proposal.can_open:
        missing = ("the output of a model",) if proposal.has_truth else ("a ground truth",)
        what = " and ".join(missing if proposal.files else (*missing, "the output of a model"))
        return f"Drop {what} here, too{', or change a role' if proposal.files else ''}."
    there = _pages_of(proposal, pages) if proposal.is_ready("boxes") else []
    without, documents = there.count(False), len(there)
    if not without:
        return ""
    whose = f"{without:,} of these {documents:,}" if without < documents else f"these {documents:,}"
    whose = f"{whose} documents" if documents > 1 else "this document"
    return f"No PDF or image for {whose}: boxes on empty sheets. Drop them here, too."


def reasons(issues: Sequence[Issue], names: Sequence[str]) -> list[tuple[str, str]]:
    """Return every file that is left out, once, with the reason; `names` are those without an issue."""
    said: Mapping[str, Issue] = {issue.file: issue for issue in reversed(issues)}
    known = [
        (name, f"{issue.rule}{f'; found {issue.found}' if issue.found else ''}. {issue.fix}")
        for name, issue in said.items()
    ]
    return sorted([*known, *((name, "neither annotations nor pages") for name in names if name not in said)])
