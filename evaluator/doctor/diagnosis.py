"""The diagnosis of two files of which little or nothing matches: hypotheses, tried on the data, with numbers.

Owns the order of the hypotheses (names, then coordinates and pages, then labels), what is left out because it brings
nothing, and the sentence. How good two files are together is asked of `Measure`, so that the number is the one that
an evaluation gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from evaluator.doctor import geometry, labels, names
from evaluator.doctor.advice import advised
from evaluator.doctor.fixes import Fix, apply_fixes, spelled, words_of
from evaluator.doctor.labels import LabelProposal
from evaluator.metrics.results import listed
from evaluator.model.dataset import Annotations
from evaluator.model.issues import BadInput, Issue, Severity, plain
from evaluator.model.page_sizes import unit_issue

Measure = Callable[[Annotations, Annotations], float | None]
"""F1 of a ground truth and a prediction; None when it is undefined or the two cannot be compared."""

# A file that is this good is not looked at further, and a fix has to bring at least this much.
_GOOD: Final = 0.9
_GAIN: Final = 0.1
_TIMES: Final = 1.25
_GEOMETRIES: Final = 4
# A fix that costs less than this when it is left out is left out.
_WORTH: Final = 0.01
_SHOWN: Final = 6
# Fewer boxes than this lie on each other by chance with some flip or shift.
_FEWEST: Final = 3


class Hypothesis(msgspec.Struct, frozen=True, kw_only=True):
    """Some fixes and what the files are worth with them.

    Attributes
    ----------
    fixes : tuple of Fix
        Empty for the files as given.
    words : str
        What they do, in words that follow "with".
    f1 : float or None
    documents : int
        In how many documents the fixes bring boxes together; counted for the winner only.
    """

    fixes: tuple[Fix, ...]
    words: str
    f1: float | None
    documents: int = 0


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """What was found out about a ground truth and a prediction.

    Attributes
    ----------
    file, against : str
        Names of the prediction and of the ground truth.
    as_given : float or None
        F1 without any fix; None when they cannot be compared as they are.
    hypotheses : tuple of Hypothesis
        Those that were tried, best first; empty when nothing had to be tried.
    best : Hypothesis or None
        The one that is worth applying; None when nothing helps or nothing is wrong.
    nothing_matches : bool
        Both files have boxes, and none of them match.
    not_compared : str
        Why boxes of both files could not be compared, as a sentence; empty when they could, and without boxes.
    shared_documents, documents : int
        How many documents of the ground truth both name, as given, and how many there are.
    labels : tuple of LabelProposal
        Labels that only the prediction has.
    labels_f1 : float or None
        F1 when all proposed labels are mapped, beside `Diagnosis.best` without its labels; None without proposals.
    """

    file: str
    against: str
    as_given: float | None
    hypotheses: tuple[Hypothesis, ...]
    best: Hypothesis | None
    nothing_matches: bool
    shared_documents: int
    documents: int
    labels: tuple[LabelProposal, ...] = ()
    labels_f1: float | None = None
    not_compared: str = ""

    @property
    def silent(self) -> bool:
        """Whether nothing can be mended: no fix helps, nor do other names of labels."""
        return self.best is None and not (self.nothing_matches or self.not_compared or self.labels_help)

    @property
    def labels_help(self) -> bool:
        """Whether the files are better when the proposed labels are mapped."""
        before = self.as_given if self.best is None else self.best.f1
        return self.labels_f1 is not None and self.labels_f1 > (before or 0.0)

    @property
    def serious(self) -> bool:
        """Whether the numbers as given cannot be right: nothing matches, or nearly nothing that a fix would bring."""
        if self.nothing_matches or self.not_compared:
            return True
        if self.best is None or self.as_given is None or self.best.f1 is None:
            return self.best is not None
        return self.as_given < 0.2 and self.best.f1 >= 3.0 * self.as_given

    @property
    def sentence(self) -> str:
        """The finding in one line: ``F1 0.040. With the y axis flipped: 0.696.``"""
        given = f"F1 {number(self.as_given)}."
        if self.best is not None:
            return plain(f"{given} With {self.best.words}: {number(self.best.f1)}.")
        if self.not_compared:
            return plain(f"{given} Nothing was compared: {self.not_compared}")
        if self.nothing_matches and not self.shared_documents:
            return plain(f"{given} Nothing matches: {self.file} has no document of {self.against}.")
        return f"{given} Nothing matches, and no fix that was tried helps." if self.nothing_matches else given

    @property
    def option(self) -> str:
        """The options of a command that apply the best hypothesis; empty without one."""
        return spelled(self.best.fixes) if self.best else ""

    def issue(self, given: Sequence[Fix] = (), applied: Sequence[str] = ()) -> Issue:
        """The diagnosis as an issue of the prediction: an error when the numbers cannot be right.

        Parameters
        ----------
        given, applied : sequence
            The fixes of the command, and the texts of those that the prediction has; see `advised`.
        """
        severity: Severity = "error" if self.serious else "warning"
        found = f"F1 {number(self.as_given)}"
        fix = "Check that the two files belong together; --allow-no-match evaluates them as they are."
        if self.best is not None:
            found = f"{found}; with {self.best.words}: {number(self.best.f1)}"
            fix = advised(given, self.file, applied, self.best.fixes)
            fix += ", or allow the numbers as they are with --allow-no-match." if self.serious else "."
        what = "nothing does" if self.nothing_matches else "none is compared" if self.not_compared else "little does"
        rule = f"boxes should match those of {self.against}; {what}"
        if self.nothing_matches and not self.shared_documents:
            rule = f"documents should be those of {self.against}; none is"
        return Issue(severity=severity, file=self.file, place="", rule=rule, found=found, fix=fix)

    def to_json(self) -> dict[str, object]:
        """Plain values; undefined is None."""
        return {
            "file": self.file,
            "against": self.against,
            "sentence": self.sentence,
            "f1": self.as_given,
            "nothing_matches": self.nothing_matches,
            "not_compared": self.not_compared,
            "shared_documents": self.shared_documents,
            "documents": self.documents,
            "fixes": [fix.text for fix in self.best.fixes] if self.best else [],
            "option": self.option,
            "fixed_f1": self.best.f1 if self.best else None,
            "hypotheses": [
                {"fixes": [fix.text for fix in each.fixes], "words": each.words, "f1": each.f1}
                for each in self.hypotheses
            ],
            "labels": [msgspec.structs.asdict(each) for each in self.labels],
            "labels_f1": self.labels_f1,
        }


def not_comparable(truth: Annotations, prediction: Annotations) -> str:
    """Why boxes of two files that are in different units cannot be compared, as a sentence; empty for one unit."""
    return "".join(
        f"{issue.rule}; found {issue.found}. Evaluate them with one size for all pages (--page-size WxH), or with a "
        "folder of the images of the pages (--pdfs DIR)."
        for issue in unit_issue(truth, prediction)
    )


def number(value: float | None) -> str:
    """A ratio with three decimals; undefined is n/a."""
    return "n/a" if value is None else f"{value:.3f}"


def diagnose(truth: Annotations, prediction: Annotations, measure: Measure) -> Diagnosis:
    """What is probably wrong with two files of which little or nothing matches.

    Parameters
    ----------
    truth, prediction : Annotations
        Read with `Reading.as_written` where they break the rules of their format; a results list is resolved.
    measure : callable
        How good two files are together.

    Returns
    -------
    Diagnosis
        Silent when enough matches, or when there is nothing to match: a file without boxes is none that is wrong.
    """
    return _Doctor(truth, prediction, measure).diagnosis()


class _Doctor:
    """The diagnosis of one pair."""

    def __init__(self, truth: Annotations, prediction: Annotations, measure: Measure) -> None:
        self._truth, self._prediction, self._measure = truth, prediction, measure
        self._tried: dict[tuple[str, ...], Hypothesis] = {}

    def diagnosis(self) -> Diagnosis:
        """See `diagnose`."""
        truth, prediction = self._truth, self._prediction
        given = self._f1(()) if len(truth.boxes) and len(prediction.boxes) else None
        if not len(truth.boxes) or not len(prediction.boxes) or (given is not None and given >= _GOOD):
            return self._found(given, None)
        named = self._names()
        guessed = geometry.guesses(self._mended(named), truth)
        proposed = self._proposed(self._mended(named))
        if guessed and not named and not proposed and given is not None and guessed[0].score >= geometry.GOOD:
            return self._found(given, None)
        self._tried[()] = Hypothesis(fixes=(), words="as given", f1=given)
        best: Hypothesis | None = None
        shapes = [guess.fixes for guess in guessed[1 : _GEOMETRIES + 1] if guess.score > guessed[0].score]
        for shape in dict.fromkeys([(), *shapes]):
            fixes = (*named, *shape)
            for more in self._label_fixes(fixes):
                hypothesis = self._hypothesis((*fixes, *more))
                if hypothesis.fixes and (best is None or _worth(hypothesis) > _worth(best)):
                    best = hypothesis
        best = self._worthwhile(self._pruned(best), given) if best else None
        for guess in guessed[1 : _SHOWN + 1]:
            if len(self._tried) < _SHOWN + 2:
                self._hypothesis((*named, *guess.fixes))
        return self._found(given, best)

    def _found(self, given: float | None, best: Hypothesis | None) -> Diagnosis:
        truth, prediction = self._truth, self._prediction
        shared = {each.doc_id for each in truth.documents} & {each.doc_id for each in prediction.documents}
        without_labels = tuple(fix for fix in (best.fixes if best else ()) if fix.kind not in ("label", "labels"))
        mended = self._mended(without_labels)
        proposed = self._proposed(mended)
        mapped = tuple(Fix("label", f"{each.label}={each.proposal}") for each in proposed if each.proposal)
        ranked = sorted(self._tried.values(), key=lambda each: (each.f1 is None, -(each.f1 or 0.0), len(each.fixes)))
        if best is not None:
            ranked = [best, *(each for each in ranked if each.fixes != best.fixes)]
        return Diagnosis(
            file=prediction.name,
            against=truth.name,
            as_given=given,
            hypotheses=tuple(ranked[:_SHOWN]) if best or given in (None, 0.0) else (),
            best=best,
            nothing_matches=given == 0.0,
            not_compared=self._not_compared() if given is None else "",
            shared_documents=len(shared),
            documents=len(truth.documents),
            labels=proposed,
            labels_f1=self._f1((*without_labels, *mapped)) if mapped else None,
        )

    def _not_compared(self) -> str:
        """Why there is no F1, as a sentence; empty when a side has no boxes."""
        truth, prediction = self._truth, self._prediction
        if not len(truth.boxes) or not len(prediction.boxes):
            return ""
        return not_comparable(truth, prediction) or "no box of the two files is counted."

    def _names(self) -> tuple[Fix, ...]:
        ours = [document.doc_id for document in self._prediction.documents]
        known = [document.doc_id for document in self._truth.documents]
        return tuple(Fix("names", mode) for mode in names.best_modes(ours, known))

    def _label_fixes(self, fixes: tuple[Fix, ...]) -> Iterator[tuple[Fix, ...]]:
        """No label fix, one for spelling alone, and one for each label that lies on another one's boxes."""
        yield ()
        proposed = self._proposed(self._mended(fixes))
        spelling = (Fix("labels", "case"),) if any(each.reason == "name" for each in proposed) else ()
        moved = tuple(Fix("label", f"{each.label}={each.proposal}") for each in proposed if each.reason == "overlap")
        if spelling:
            yield spelling
        if moved:
            yield (*spelling, *moved)

    def _proposed(self, mended: Annotations) -> tuple[LabelProposal, ...]:
        """Other names for labels that the ground truth does not have."""
        if set(mended.labels) <= set(self._truth.labels):
            # As in most files: which boxes lie on which is not looked at for nothing.
            return ()
        return labels.proposals(mended.labels, self._truth.labels, geometry.overlaps(mended, self._truth))

    def _hypothesis(self, fixes: tuple[Fix, ...]) -> Hypothesis:
        """What the files are worth with some fixes; worked out once."""
        key = tuple(fix.text for fix in fixes)
        if key not in self._tried:
            words = listed([words_of(fix) for fix in fixes])
            self._tried[key] = Hypothesis(fixes=fixes, words=words, f1=self._f1(fixes))
        return self._tried[key]

    def _pruned(self, best: Hypothesis) -> Hypothesis:
        """The hypothesis without fixes that bring nothing."""
        for fix in best.fixes:
            fewer = tuple(each for each in best.fixes if each != fix)
            if fewer:
                without = self._hypothesis(fewer)
                if (without.f1 or 0.0) >= (best.f1 or 0.0) - _WORTH:
                    best = without
        return best

    def _mended(self, fixes: Sequence[Fix]) -> Annotations:
        """The prediction with fixes; as given when they cannot be applied."""
        try:
            return apply_fixes(self._prediction, self._truth, fixes)
        except BadInput:
            return self._prediction

    def _worthwhile(self, best: Hypothesis, given: float | None) -> Hypothesis | None:
        """The hypothesis with its documents; None where it helps too little, or moves boxes by chance."""
        if not _helps(given, best.f1):
            return None
        documents, boxes = geometry.fitting(self._mended(best.fixes), self._truth)
        if boxes < _FEWEST and any(fix.moves_boxes for fix in best.fixes):
            return None
        return msgspec.structs.replace(best, documents=documents)

    def _f1(self, fixes: Sequence[Fix]) -> float | None:
        try:
            return self._measure(self._truth, apply_fixes(self._prediction, self._truth, fixes))
        except BadInput:
            return None


def _worth(hypothesis: Hypothesis) -> float:
    """F1, a little less for each fix, so that of two equal ones the simpler wins."""
    return (hypothesis.f1 or 0.0) - _WORTH * len(hypothesis.fixes) / 2.0


def _helps(given: float | None, fixed: float | None) -> bool:
    if fixed is None:
        return False
    return fixed >= (given or 0.0) + _GAIN and fixed >= _TIMES * (given or 0.0)
