"""How many planted hypotheses the doctor finds, alone, two at a time and on a part of the pages.

    python -m tests.benchmarks.bench_doctor [--files lines,blocks,worldbank] [--sets 300] [--only ROWS] [--smoke]

Two parts. Files as they are (the sample data, and worldbank with LAYOUTSCOPE_SHARED) are spoilt in every way of
`tests.planting`, alone and two at a time. Sets of their own (`planted_sets`) are made for each kind: so many each, of 3
to 60 pages, 1 to 11 labels and models that find half to nearly all; two kinds at a time for each pair of what they are
about; on 20 to 60 % of the pages. On clean sets with good and bad models, and on files of another data set, nothing may
be proposed. Found is what brings F1 back to that of the clean files; what costs fewer than five boxes, six on a part of
the pages, eight under exchanged labels, or ten under those or shifted on a part of the pages and of pages whose ids are
exchanged, is too little to tell. Other names are planted for labels that lose five boxes each, as each is told by
itself. It ends with 1 when anything is missed or invented.
"""

import copy
import itertools
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evaluator import formats
from evaluator.analysis.doctor import match_check
from evaluator.analysis.doctor.diagnosis import Diagnosis
from evaluator.data.dataset import Annotations
from evaluator.data.issues import BadInput
from evaluator.project import evaluate
from evaluator.protocols import DEFAULT, PROTOCOLS
from tests.benchmarks import planted_sets
from tests.benchmarks.measuring import parsed, parser_of, spread, tell, timed
from tests.benchmarks.planted_sets import KINDS, Files
from tests.planting import IN_PART, NOT_TOGETHER, PLANTS, on_part, spoilt

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
CLOSE = 0.03
# What so few boxes of the ground truth lose is no evidence, nor are so few on a part of the pages and under exchanged
# labels.
LITTLE, LITTLE_ON_PART = 5, 6
EXCHANGED = 8
# On a part of the pages, of exchanged labels and of what is estimated.
ON_PART, ESTIMATED = 10, ("shifted", "cropped")
HOLE = re.compile(r"  | [,.;:]|[,;:] ?[,.;:]|with [:,.]|\bNone\b|\bnan\b")
MEASURE = match_check.measure_of(PROTOCOLS[DEFAULT], PROTOCOLS[DEFAULT].options())


def tried(paths: tuple[Path, Path], combinations: list[tuple[str, ...]]) -> dict[str, Any]:
    """What is found of each combination, planted in the second file of a pair."""
    sides = [formats.read(path) for path in paths]
    good = match_check.diagnosis_of(*sides).as_given or 0.0
    undone, runs, missed = 0, [], []
    for names in combinations:
        runs.append(timed(match_check.diagnosis_of, *spoilt(*sides, *names)))
        diagnosis = runs[-1].answer
        best = diagnosis.best
        if best is None and len(names) == 2 and (diagnosis.as_given or 0.0) >= good - CLOSE:
            undone += 1
        elif best is None or (best.f1 or 0.0) < good - CLOSE:
            missed.append(f"{' and '.join(names)}: {best and (best.words, best.f1)}")
    for name in IN_PART if len(combinations) > len(PLANTS) else ():
        for share, least in ((0.8, 0.7 * good), (0.15, 0.85 * good)):
            truth, prediction = sides
            runs.append(timed(match_check.diagnosis_of, truth, on_part(PLANTS[name], share)(prediction)))
            diagnosis = runs[-1].answer
            # On a few pages a fix of all is none.
            if diagnosis.reached < least or (share < 0.5 and diagnosis.best is not None):
                missed.append(f"{name} on {share:.0%} of the pages: {diagnosis.sentence}")
    longest = max(run.wall for run in runs)
    median = spread(runs)["median_wall"]
    return {"tried": len(runs), "undo_each_other": undone, "missed": missed, "median_s": median, "longest_s": longest}


# --- sets of their own -----------------------------------------------------------------------------------------


class Verdict(NamedTuple):
    """What became of one pair of files, in a word, and what was said."""

    word: str
    said: str = ""


def least_boxes(name: str, *, part: bool) -> int:
    """Return how many boxes a kind has to cost to be told."""
    exchanged = KINDS[name].about == "labels" and KINDS[name].labels > 1
    if name == "image ids exchanged" or (part and (exchanged or name in ESTIMATED)):
        return ON_PART
    return EXCHANGED if exchanged else LITTLE_ON_PART if part else LITTLE


def on_pages(files: Files, share: float) -> None:
    """Choose some pages to plant on, one at least."""
    count = max(1, round(share * len(files.size)))
    files.spoilt = np.zeros(len(files.size), dtype=bool)
    files.spoilt[files.rng.permutation(len(files.size))[:count]] = True


def read(files: Files) -> tuple[Path, Path, Annotations, Annotations]:
    """Write the files and read them as `layoutscope check` does."""
    paths = planted_sets.written(files, Path(tempfile.mkdtemp()))
    truth = formats.read(paths[0], side="ground_truth")
    return *paths, truth, formats.read(paths[1], side="prediction", as_written=True, unscored=True)


def f1_of(truth: Annotations, prediction: Annotations) -> float:
    try:
        return MEASURE(truth, formats.resolve(prediction, truth)) or 0.0
    except BadInput:
        return 0.0


def planted(names: Sequence[str], seed: int, *, part: bool = False) -> Verdict:
    rng = np.random.default_rng([seed, *(list(KINDS).index(name) for name in names), part])
    kinds = sorted((KINDS[name] for name in names), key=list(KINDS.values()).index)
    both = [format for format in kinds[0].formats if all(format in kind.formats for kind in kinds)]
    files = planted_sets.made(rng, str(rng.choice(both)), labels=max(kind.labels for kind in kinds))
    if part:
        on_pages(files, float(rng.uniform(0.2, 0.6)))
    files.in_shares |= "shares for pixels" in names
    # What is only said of changes the numbers of clean files, too.
    for kind in kinds:
        if kind.about == "said":
            kind.plant(files)
    before = copy.deepcopy(files)
    for kind in kinds:
        if kind.about != "said":
            kind.plant(files)
    gt, dt, truth, prediction = read(files)
    if files.format == "results" and len(files.model.page) != len(before.model.page):
        before.model = files.model
    good = 0.0 if files.format == "page-xml" else f1_of(*read(before)[2:])
    boxes = (len(files.truth.page) + len(files.model.page)) / 2.0
    few = max(least_boxes(name, part=part) for name in names)
    try:
        diagnosis = match_check.diagnosis_of(truth, prediction)
    except BadInput as problem:
        return Verdict("little" if good * boxes < few else "refused", f"{good:.3f} {problem.issues[-1].sentence}")
    if files.more:
        issues = [*prediction.issues]
        try:
            fixes = diagnosis.best.fixes if diagnosis.best else ()
            issues += evaluate("coco", gt, [dt], allow_no_match=True, fix=fixes)[0].issues
        except BadInput as problem:
            issues += problem.issues
        text = " ".join(issue.sentence for issue in issues)
        missing = [more for more in files.more if more not in text]
        if missing or all(kind.about == "said" for kind in kinds):
            return Verdict("missed" if missing else "found", text)
    if files.format == "page-xml":
        return Verdict("found")
    value, words = proposed(truth, prediction, diagnosis)
    if words:
        return Verdict(words, diagnosis.sentence)
    if good - value < max(CLOSE, few / boxes):
        little = diagnosis.silent and good - (diagnosis.as_given or 0.0) > CLOSE
        return Verdict("little" if little else "unchanged" if diagnosis.silent else "found", diagnosis.sentence)
    return Verdict(
        "missed" if diagnosis.best is None else "wrong", f"{good:.3f} {diagnosis.sentence} {diagnosis.option}"
    )


def proposed(truth: Annotations, prediction: Annotations, diagnosis: Diagnosis) -> tuple[float, str]:
    """The F1 with all that is proposed, and what is wrong with the proposal itself; empty where nothing is."""
    best = diagnosis.best
    sentences = [diagnosis.sentence, *([] if diagnosis.silent else [diagnosis.issue().sentence])]
    if any(HOLE.search(sentence) for sentence in sentences):
        return 0.0, "hole"
    value = max(each or 0.0 for each in (diagnosis.as_given, diagnosis.labels_f1, diagnosis.pages_f1))
    if best is not None:
        f1 = MEASURE(truth, match_check.with_fixes(prediction, truth, best.fixes))
        if f1 is None or best.f1 is None or abs(f1 - best.f1) > 1e-9:
            return 0.0, "not kept"
        kinds = {"labels" if fix.kind == "label" else fix.kind for fix in best.fixes}
        if f1 < 0.3 and len(kinds) > 1:
            return 0.0, "chain"
        value = max(value, f1)
    return value, ""


def left_alone(seed: int, *, bad: bool = False, other: bool = False) -> Verdict:
    """A set without anything wrong, or the prediction of another one under the names of this one."""
    rng = np.random.default_rng([seed, bad, other, 99])
    format = str(rng.choice(planted_sets.ALL))
    files = planted_sets.made(rng, format, bad=bad)
    if other:
        strange = planted_sets.made(rng, format)
        pages = len(files.size)
        model = strange.model
        at = (model.page < pages) & (model.label < len(files.labels))
        files.model = planted_sets.Rows(*(column[at] for column in model))
        own = np.tile(files.size[files.model.page] / strange.size[files.model.page], 2)
        files.model = files.model._replace(xyxy=files.model.xyxy * own)
    *_, truth, prediction = read(files)
    diagnosis = match_check.diagnosis_of(truth, prediction)
    _, words = proposed(truth, prediction, diagnosis)
    quiet = diagnosis.best is None and not diagnosis.pages and not diagnosis.labels_help
    return Verdict(words or ("quiet" if quiet else "invented"), f"{diagnosis.sentence} {diagnosis.option}")


Work = tuple[str, Any, tuple[Any, ...], dict[str, Any]]


def works(sets: int) -> Iterator[Work]:
    """Each row of the table: what is planted, by whom, and how."""
    for name in KINDS:
        for seed in range(sets):
            yield f"alone: {name}", planted, ((name,), seed), {}
    for name, kind in KINDS.items():
        for seed in range(sets if kind.on_part else 0):
            yield f"part: {name}", planted, ((name,), seed), {"part": True}
    about = list(dict.fromkeys(kind.about for kind in KINDS.values()))
    for first, second in itertools.combinations_with_replacement(about, 2):
        pairs = [
            (one, two) for one, two in itertools.combinations(KINDS, 2)
            if (KINDS[one].about, KINDS[two].about) == (first, second) and fit(one, two)
        ]  # fmt: skip
        for seed in range(sets if pairs else 0):
            yield f"pair: {first} and {second}", planted, (pairs[seed % len(pairs)], seed), {}
    for name, more in (("clean", {}), ("clean, bad model", {"bad": True}), ("another data set", {"other": True})):
        for seed in range(sets):
            yield f"quiet: {name}", left_alone, (seed,), more


def fit(one: str, two: str) -> bool:
    """Tell whether a file can have both: two of one kind of thing do not come together."""
    kinds = KINDS[one], KINDS[two]
    return (
        bool(set(kinds[0].formats) & set(kinds[1].formats))
        and kinds[0].about != kinds[1].about
        and {one, two} != {"confidence second", "no scores"}
    )


def table(sets: int, only: str, shown: int) -> dict[str, Any]:
    """Counts of verdicts by row, as they come on stderr, too, and some of what was missed or invented."""
    counts: dict[str, dict[str, int]] = {}
    wrong: list[str] = []
    for row, of_row in itertools.groupby(works(sets), key=lambda work: work[0]):
        if re.search(only, row):
            verdicts = [(given, work(*given, **more)) for _, work, given, more in of_row]
            counts[row] = dict(Counter(verdict.word for _, verdict in verdicts).most_common())
            off = [f"{row} {given} {each.word}: {each.said}" for given, each in verdicts if each.word not in FINE]
            wrong += off[:shown] or off[:1]
            print(f"{row:42} {counts[row]}", *off[:shown], sep="\n  ", file=sys.stderr, flush=True)
    return {"counts": counts, "missed": wrong}


FINE = ("found", "unchanged", "little", "quiet")


def main() -> int:
    """Print one line for each pair of files, with each hypothesis that was not found."""
    parser = parser_of(__doc__, files="lines,blocks,worldbank", sets=300, only="", shown=3)
    given = parsed(parser, files="lines", sets=1)
    pairs = {model: (SAMPLE / "ground_truth.json", SAMPLE / f"{model}.json") for model in ("lines", "blocks")}
    if shared := os.environ.get("LAYOUTSCOPE_SHARED"):
        folder = Path(shared) / "real" / "worldbank"
        pairs["worldbank"] = (folder / "evaluate_model_gt.json", folder / "evaluate_model_pred.json")
    combinations = [*((name,) for name in PLANTS), *itertools.combinations(PLANTS, 2)]
    combinations = [names for names in combinations if frozenset(names) not in NOT_TOGETHER]
    wanted = [name for name in given.files.split(",") if name in pairs]
    report = {name: tried(pairs[name], combinations[: 4 if given.smoke else None]) for name in wanted}
    with tempfile.TemporaryDirectory(prefix="doctor") as tempfile.tempdir:
        report["sets"] = table(given.sets, given.only, given.shown)
    tell(report, as_json=given.json)
    # A short run shows what is missed and does not judge it.
    return int(not given.smoke and any(row["missed"] for row in report.values()))


if __name__ == "__main__":
    sys.exit(main())
