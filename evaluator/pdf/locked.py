"""PDFs that need a password which is not given, among those that files name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evaluator.data.issues import Issue
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.passwords import states_encryption
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem


def locked_issues(names: Iterable[str], documents: PdfFolder) -> list[Issue]:
    """Return a warning for each PDF of documents that the passwords in force do not open; no process without any."""
    paths = (_encrypted(documents, name) for name in dict.fromkeys(names))
    encrypted = dict.fromkeys(path for path in paths if path is not None)
    if not encrypted:
        return []
    issues = []
    with PagePool(workers=1) as pool:
        for path in encrypted:
            try:
                pool.words(path, 0)
            except PageProblem as problem:
                if problem.kind == "encrypted":
                    rule = "a PDF must open without a password, or with the one that is given"
                    why = f"{problem.title}. {problem.detail}".strip(" .")
                    issues.append(
                        Issue(severity="warning", file=path.name, place="", rule=rule, found=why, fix=problem.fix)
                    )
    return issues


def _encrypted(documents: PdfFolder, name: str) -> Path | None:
    try:
        path = documents.find(name)
        with path.open("rb") as file:
            return path if path.suffix.lower() == ".pdf" and states_encryption(file) else None
    except (PageProblem, OSError):
        return None
