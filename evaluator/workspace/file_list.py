"""All files of a session in one list: what each is, its role, what it holds, and why it was left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from evaluator import formats
from evaluator.data.dataset import Annotations
from evaluator.data.fields import FieldDocuments, class_key, leaves
from evaluator.data.issues import Issue, count_of, issue_count
from evaluator.formats import search
from evaluator.pdf import parquet_pictures
from evaluator.pdf.passwords import states_encryption
from evaluator.pdf.worker import HEAD_BYTES, is_page_file
from evaluator.project import AnyMember, AnyProject
from evaluator.workspace.uploads import PAGE_SUFFIXES, no_page

READ, LEFT_OUT, WITH_ISSUES = "Read", "Left out", "With issues"
_NOT_READ: Final = "not read"
_NO_FORMAT: Final = "left out: neither annotations nor pages"
_SEE_ISSUE: Final = "left out: its issue says why"


class FileRow(msgspec.Struct, frozen=True, kw_only=True):
    """File or folder of a session; `pages`, `boxes` and `labels` are None where it has no such thing.

    Of fields these count documents and values with a box. `what` is the format, or why it was left out without an
    issue; `role` is "" then. `sha256` is the beginning of the digest; "" for what is not read.
    """

    name: str
    what: str
    role: str = ""
    pages: int | None = None
    boxes: int | None = None
    labels: int | None = None
    issues: str = "none"
    sha256: str = ""

    def shown_under(self, choice: str) -> bool:
        """Return whether it belongs to the rows of a choice; every row belongs to any other word."""
        if choice in (READ, LEFT_OUT):
            # Something of it is used: it has a role, and no errors that keep it from being read.
            return (bool(self.role) and self.what != _NOT_READ) == (choice == READ)
        return choice != WITH_ISSUES or self.issues != "none"


def of_project(project: AnyProject, letters: Mapping[str, str]) -> Iterator[FileRow]:
    """Yield the files of one kind, the ground truth first; `letters` by name of the models side by side."""
    for member in project.members:
        role = "Ground truth"
        if member.side == "prediction":
            role = f"Model {letters[member.name]}" if member.name in letters else "Prediction"
        elif project.as_reference:
            role = "Reference (a prediction)"
        yield FileRow(
            name=member.name,
            what=_format(member),
            role=role,
            issues=issues_in_words(member.issues),
            sha256=member.source.sha256[:12] if member.source is not None else "",
            **_counts(member),
        )


def of_unused(unused: Iterable[AnyMember]) -> Iterator[FileRow]:
    """Return the files that were taken out of the comparison by the reader."""
    for member in unused:
        row = FileRow(name=member.name, what=_format(member), role="Not used", issues=issues_in_words(member.issues))
        yield msgspec.structs.replace(row, **_counts(member))


def of_pages(name: str, count: int) -> FileRow:
    """Return the folder of PDFs and page images, with how many files are in it."""
    return FileRow(name=f"{name}/ {count_of(count, 'file')}", what="PDFs and page images", role="Pages")


def of_findings(name: str, count: int) -> FileRow:
    """Return the store of findings, with how many things were judged in the open documents."""
    return FileRow(name=name, what=count_of(count, "finding"), role="Findings")


def of_project_file(name: str) -> FileRow:
    """Return the project file beside the ground truth."""
    return FileRow(name=name, what="Project file", role="Project")


def of_left_out(issues: Iterable[Issue], names: Sequence[str] = ()) -> Iterator[FileRow]:
    """Yield every file that is not read: those with an issue, then `names` that are of no use here."""
    for issue in issues:
        yield FileRow(name=issue.file, what=_SEE_ISSUE, issues=issues_in_words((issue,)))
    for name in names:
        yield FileRow(name=name, what=_NO_FORMAT)


class PageFiles(NamedTuple):
    """Pages below a folder: number of PDFs or images, an issue for each that only is called so, encrypted PDFs."""

    files: int
    issues: tuple[Issue, ...]
    encrypted: tuple[Path, ...] = ()


def page_files(folder: Path) -> PageFiles:
    """Return the PDFs and images below a folder, by the first bytes of the files that are called so."""
    count, issues, encrypted = 0, [], []
    for path in search.walk([folder]):
        count += len(parquet_pictures.picture_names(path)) if parquet_pictures.has_pictures(path) else 0
        if path.suffix.lower() not in PAGE_SUFFIXES:
            continue
        try:
            with path.open("rb") as file:
                head = file.read(HEAD_BYTES)
                if path.suffix.lower() == ".pdf" and states_encryption(file):
                    encrypted.append(path)
        except OSError:
            head = b""
        if is_page_file(head):
            count += 1
        else:
            issues.append(no_page(path.name))
    return PageFiles(count, tuple(issues), tuple(encrypted))


def issues_in_words(issues: Sequence[Issue]) -> str:
    """Return how many errors and warnings; "none" for none."""
    errors = issue_count(issue for issue in issues if issue.severity == "error")
    counts = ((errors, "error"), (issue_count(issues) - errors, "warning"))
    return ", ".join(count_of(count, noun) for count, noun in counts if count) or "none"


def _format(member: AnyMember) -> str:
    if member.source is None:
        return _NOT_READ
    row = formats.FORMATS.get(member.source.format)
    return row.title if row else str(member.source.format)


def _counts(member: AnyMember) -> dict[str, int]:
    source = member.source
    if isinstance(source, Annotations):
        return {"pages": len(source.page_index), "boxes": len(source.boxes), "labels": len(source.labels)}
    if isinstance(source, FieldDocuments):
        every = [(class_key(path), field) for tree in source.documents.values() for path, field in leaves(tree)]
        boxes = sum(field.box is not None for _, field in every)
        pages = sum(
            len({field.page for _, field in leaves(tree) if field.box is not None})
            for tree in source.documents.values()
        )
        return {"pages": pages, "boxes": boxes, "labels": len({name for name, _ in every})}
    return {} if source is None else {"pages": len(source.posters)}
