"""The command that makes a corpus of files of boxes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from evaluator.cli.paths import need_apart, need_no_foreign
from evaluator.cli.program import OK, Columns, LevelName, UsageError, print_issues, writing
from evaluator.cli.progress import progress
from evaluator.data.issues import count_of, plain
from evaluator.formats.base import Reading
from evaluator.formats.corpus import FOLDERS, LIST, is_corpus
from evaluator.workspace.corpus import make
from evaluator.workspace.roles import find


def corpus(
    sources: Annotated[tuple[Path, ...], Parameter(negative="")] = (),
    /,
    *,
    out: Path,
    gt: Annotated[tuple[Path, ...], Parameter(negative="")] = (),
    pred: Annotated[tuple[Path, ...], Parameter(negative="")] = (),
    format: str | None = None,
    columns: Columns = "",
    level: LevelName = None,
) -> int:
    """Make a folder of columns of a ground truth and its models, which every command reads in place of the files.

    What an interrupted run has finished is kept, and further models are added to a corpus that is there.

    Parameters
    ----------
    sources
        Files and folders of boxes; ground truth and predictions are recognised by content.
    out
        The folder of the corpus.
    gt
        The ground truth, when it should not be guessed; repeat it to merge files of different documents.
    pred
        A prediction file; repeat it for more models.
    format
        Format of the files, when it should not be recognised by content.
    """
    given = (*sources, *gt, *pred)
    if not given:
        raise UsageError("give the files of the corpus, or name them with --gt and --pred.")
    need_apart([out], {"corpus": given})
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out must name a folder; {plain(out.name)} is a file. Choose another name.")
    if out.is_dir():
        others = sorted(each.name for each in out.iterdir() if each.name not in (LIST, *FOLDERS.values()))
        need_no_foreign(out, others, "a corpus has a folder of its own")
    workspace = find(sources, ground_truth=gt, predictions=pred)
    sides = workspace.of("boxes")
    if sides.truths:
        names = ", ".join(plain(path.name) for path in sides.truths)
        raise UsageError(f"several files may be the ground truth: {names}; name it with --gt.")
    if sides.ground_truth is None and not sides.predictions:
        raise UsageError("no file of boxes was recognised; name the files with --gt and --pred.")
    if sides.ground_truth is None and not is_corpus(out):
        raise UsageError(f"a corpus begins with a ground truth, and {plain(out.name)} has none; name it with --gt.")
    with progress("Reading") as say, writing("--out", out):
        made = make(
            out, sides.ground_truth, sides.predictions, Reading(format=format, columns=columns, level=level), say
        )
    print_issues((*workspace.issues, *(issue for side in made for issue in side.issues)))
    for side in made:
        print(f"{plain(side.name)}: {'there already' if side.boxes is None else count_of(side.boxes, 'box')}")
    return OK
