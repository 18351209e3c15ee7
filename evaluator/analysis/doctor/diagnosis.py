"""The diagnosis of two files of which little or nothing matches: hypotheses, tried on the data, with numbers.

Names come first, then coordinates and pages, then labels. `Measure` says how good two files are together, so that the
number is the one that an evaluation gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from evaluator.analysis.doctor import geometry
from evaluator.analysis.doctor.pages_apart import pages_apart
from evaluator.data import document_names, taxonomies
from evaluator.data import label_names as labels
from evaluator.data.dataset import Annotations, page_keys
from evaluator.data.fixes import (
    KINDS,
    Fix,
    apply_fixes,
    fix_description,
    fix_numbers,
    fix_options,
    fixes_for,
    pages_by_name,
)
from evaluator.data.image_ids import BY_NAMES, LIKELY
from evaluator.data.issues import BadInput, Issue, Severity, listed, plain, quote
from evaluator.data.label_names import LabelProposal
from evaluator.data.page_sizes import on_same_pages, unit_issue
from evaluator.matching.pages_apart import PagesApart
from evaluator.metrics.results import ratio_text

Measure = Callable[[Annotations, Annotations], float | None]
"""F1 of a ground truth and a prediction; None when it is undefined or the two cannot be compared."""

# A file that is this good is not looked at further, and a fix has to bring at least this much.
_GOOD: Final = 0.9
_ALL_RIGHT: Final = 0.999
GAIN: Final = 0.1
"""A fix has to bring at least so much F1."""
TIMES: Final = 1.25
"""A fix has to bring at least so many times the F1 as given."""
# Exchanged labels are plain by themselves; a fix that moves boxes has to bring so much of the side with fewer boxes.
_EXCHANGED: Final = 0.03
_OF_SMALLER: Final = 0.4
FITS_BY_CHANCE: Final = 0.3
"""Several fixes, or many labels for one another, fit any two files a little: F1 from which they are proposed."""
_GEOMETRIES: Final = 4
# With other ids of images so many boxes have to match, most of them where other coordinates are tried besides, and so
# many times those that do as given.
_MANY_MATCH: Final = 0.3
_MOST_MATCH: Final = 0.5
_RATHER: Final = 1.5
PAGES: Final = 0.05
"""Changes of some pages have to bring so much more F1 than a fix of all."""
# A fix that costs less than this when it is left out is left out.
_WORTH: Final = 0.01
_SHOWN: Final = 6
FEWEST: Final = 3
"""Fewer boxes than this lie on each other by chance with some flip or shift."""
_OWN_INVERSE: Final = ("y-flip", "x-flip", "swap-axes")
# A shift or scale that is found is estimated: so much of what was given it may miss.
_ESTIMATED: Final = 0.05
_INVERSES: Final = {("xywh", "xyxy"), ("xyxy", "xywh")}


class Hypothesis(msgspec.Struct, frozen=True, kw_only=True):
    """Some fixes and the F1 of the files with them; no fixes for the files as given.

    `words` follow "with". `documents`: in how many the fixes bring boxes together, of the winner only.
    """

    fixes: tuple[Fix, ...]
    words: str
    f1: float | None
    documents: int = 0


def _first_document(source: Annotations) -> str:
    return next((document.doc_id for document in source.documents), "")


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """What was found out about a ground truth (`against`) and a prediction (`file`).

    `as_given`: F1 without fixes, None when they cannot be compared; why not is `not_compared`. `hypotheses`: those
    tried, best first. `best`: None when nothing helps. `nothing_matches`: both have boxes, none match.
    `shared_documents` of `documents` of the ground truth are in both. `labels`: those that only the prediction has;
    `labels_f1`: with all of them mapped, beside `best` without its labels. `pages`: those that are off by themselves,
    where no fix of all helps; `pages_f1` is without that. `example`: a document of the prediction and one of the ground
    truth, empty without documents.
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
    pages: tuple[PagesApart, ...] = ()
    pages_f1: float | None = None
    example: tuple[str, str] = ("", "")

    @property
    def silent(self) -> bool:
        """Return whether nothing can be fixed: neither a fix nor other names of labels help."""
        return self.best is None and not (self.nothing_matches or self.not_compared or self.labels_help or self.pages)

    @property
    def reached(self) -> float:
        """Return the highest F1 with what is proposed, or as given; 0 when it is undefined."""
        best = self.best.f1 if self.best else None
        return max(each or 0.0 for each in (self.as_given, best, self.labels_f1, self.pages_f1))

    @property
    def labels_help(self) -> bool:
        """Return whether the files are better when the proposed labels are mapped."""
        before = self.as_given if self.best is None else self.best.f1
        return self.labels_f1 is not None and self.labels_f1 > (before or 0.0)

    @property
    def serious(self) -> bool:
        """Return whether the numbers as given cannot be right: (nearly) nothing matches that a fix would bring."""
        if self.nothing_matches or self.not_compared:
            return True
        if self.best is None or self.as_given is None or self.best.f1 is None:
            return self.best is not None
        return self.as_given < 0.2 and self.best.f1 >= 3.0 * self.as_given

    @property
    def sentence(self) -> str:
        """Return the finding in one line: ``F1 0.040. With the y axis flipped: 0.696.``"""
        given = f"F1 {ratio_text(self.as_given)}."
        if self.best is not None:
            return plain(f"{given} With {self.best.words}: {ratio_text(self.best.f1)}.")
        if self.pages:
            apart = " ".join(f"Boxes match when they are {each.words} on {each.named}." for each in self.pages)
            return plain(f"{given} {apart} With that: {ratio_text(self.pages_f1)}.")
        if self.not_compared:
            return plain(f"{given} Nothing was compared: {self.not_compared}")
        if self.nothing_matches and not self.shared_documents:
            return plain(f"{given} Nothing matches: {self.file} has no document of {self.against}.")
        return f"{given} Nothing matches, and no fix that was tried helps." if self.nothing_matches else given

    @property
    def option(self) -> str:
        """Return the options of a command that apply the best hypothesis; empty without one."""
        return fix_options(self.best.fixes) if self.best else ""

    def issue(self, given: Sequence[Fix] = (), applied: Sequence[str] = ()) -> Issue:
        """Return the diagnosis as an issue of the prediction: an error when the numbers cannot be right.

        `given`: the fixes of the command; `applied`: the texts of those that the prediction has; see `fix_advice`.
        """
        severity: Severity = "error" if self.serious else "warning"
        found = f"F1 {ratio_text(self.as_given)}"
        fix = "Check that the two files belong together; --allow-no-match evaluates them as they are."
        if self.best is not None:
            found = f"{found}; with {self.best.words}: {ratio_text(self.best.f1)}"
            fix = fix_advice(given, self.file, applied, self.best.fixes)
            fix += ", or allow the numbers as they are with --allow-no-match." if self.serious else "."
        elif self.pages:
            apart = " and ".join(f"{each.words} on {each.named}" for each in self.pages)
            found = f"{found}; with boxes that are {apart}: {ratio_text(self.pages_f1)}"
            fix = "Correct these pages in the file; --allow-no-match evaluates them as they are."
        what = "nothing does" if self.nothing_matches else "none is compared" if self.not_compared else "little does"
        rule = f"boxes should match those of {self.against}; {what}"
        if self.nothing_matches and not self.shared_documents:
            rule = f"documents should be those of {self.against}; none is"
            found += f"; {quote(self.example[0])} here, {quote(self.example[1])} there" if all(self.example) else ""
        return Issue(severity=severity, file=self.file, place="", rule=rule, found=found, fix=fix)

    def to_json(self) -> dict[str, object]:
        """Return plain values; undefined is None."""
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
            "pages": [msgspec.structs.asdict(each) for each in self.pages],
            "pages_f1": self.pages_f1,
        }


def not_comparable(truth: Annotations, prediction: Annotations) -> str:
    """Return why boxes in different units cannot be compared, as a sentence; empty for one unit."""
    return "".join(
        f"{issue.rule}; found {issue.found}. Evaluate them with one size for all pages (--page-size WxH), or with a "
        "folder of the images of the pages (--pdfs DIR)."
        for issue in unit_issue(truth, prediction)
    )


def diagnose(
    truth: Annotations, prediction: Annotations, measure: Measure, *, keep_unit: bool = False, units: bool = True
) -> Diagnosis:
    """Return what is probably wrong with two files of which little or nothing matches.

    They are read with `Reading.as_written` where they break the rules of their format; a results list is resolved.
    Silent when enough matches, or a file has no boxes. With `keep_unit` the unit of the prediction is what fixes say;
    without `units` its numbers are no longer those of the file, and no other unit is tried.
    """
    return _Doctor(truth, prediction, measure, keep_unit=keep_unit, units=units).diagnosis()


class _Doctor:
    def __init__(
        self, truth: Annotations, prediction: Annotations, measure: Measure, *, keep_unit: bool, units: bool
    ) -> None:  # fmt: skip
        self._keep_unit, self._units = keep_unit, units
        self._truth, self._prediction, self._measure = truth, prediction, measure
        self._tried: dict[tuple[str, ...], Hypothesis] = {}
        # Fixes of labels that stand for one another, and the words of those that are one rule.
        self._renamed: set[Fix] = set()
        self._rules: dict[frozenset[Fix], str] = {}

    def diagnosis(self) -> Diagnosis:
        truth, prediction = self._truth, self._prediction
        given = self._f1(()) if len(truth.boxes) and len(prediction.boxes) else None
        if not len(truth.boxes) or not len(prediction.boxes) or (given is not None and given >= _GOOD):
            return self._found(given, None)
        named = self._names() or self._image_ids()
        guessed = geometry.guesses(self._fixed(named), truth, units=self._units)
        in_place = given is not None and bool(guessed) and guessed[0].score >= geometry.GOOD
        fixed = self._fixed(named)
        if in_place and not named and not self._proposed(fixed) and not self._exchanged(fixed):
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
        reached = (best.f1 if best else given) or 0.0
        apart, moved = ((), prediction) if reached >= _ALL_RIGHT else pages_apart(truth, prediction)
        pages_f1 = self._measure(truth, moved) if apart else None
        # One fix of all pages is simpler, and some pages of another data set fit by chance.
        if (pages_f1 or 0.0) <= max(reached + (PAGES if best else 0.0), GAIN):
            apart, pages_f1 = (), None
        best = None if apart else best
        shared = {each.doc_id for each in truth.documents} & {each.doc_id for each in prediction.documents}
        without_labels = tuple(
            fix for fix in (best.fixes if best else ()) if fix.kind not in ("label", "labels") or fix in self._renamed
        )
        fixed = self._fixed(without_labels)
        proposed = self._proposed(fixed)
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
            example=(_first_document(prediction), _first_document(truth)),
            labels=proposed,
            labels_f1=self._f1((*without_labels, *mapped)) if mapped else None,
            pages=apart,
            pages_f1=pages_f1,
        )

    def _not_compared(self) -> str:
        truth, prediction = self._truth, self._prediction
        if not len(truth.boxes) or not len(prediction.boxes):
            return ""
        return not_comparable(truth, prediction) or "no box of the two files is counted."

    def _names(self) -> tuple[Fix, ...]:
        ours = [document.doc_id for document in self._prediction.documents]
        known = [document.doc_id for document in self._truth.documents]
        modes = document_names.best_modes(ours, known)
        if ours and not {*known}.issuperset(ours):
            before, named = page_keys(self._prediction), pages_by_name(self._prediction, self._truth)
            moved = {*named} - {*before} & {*page_keys(self._truth)}
            if len(moved) > len(document_names.match_names(ours, known, modes)):
                modes = ("pages",)
            if not modes and len(ours) == len(known) == 1:
                modes = ("only",)
        return tuple(Fix("names", mode) for mode in modes)

    def _image_ids(self) -> tuple[Fix, ...]:
        """Return what ids of images mean instead where most boxes fit then, and few as given; empty otherwise."""
        # So many boxes are in place that no other ids bring `_RATHER` times as many there.
        if _RATHER * self._in_place(()) > 1.0:
            return ()
        ways = [(Fix("image-ids", how),) for how in LIKELY]
        ways = [fixes for fixes in ways if self._applied(fixes) is not None]
        # Other ids alone come before ids beside other coordinates, which fit any two files a little; on other images
        # hardly a box is in place.
        beside = bool(ways) and self._in_place(()) < geometry.IN_PLACE
        tried = ((self._in_place, _MANY_MATCH), *([(self._fitted, _MOST_MATCH)] if beside else []))
        for share, least in tried if ways else ():
            best = max(ways, key=share)
            if share(best) >= max(least, _RATHER * share(())):
                return best
        return ()

    def _in_place(self, fixes: tuple[Fix, ...]) -> float:
        return geometry.share_in_place(self._fixed(fixes), self._truth)

    def _fitted(self, fixes: tuple[Fix, ...]) -> float:
        """Return the share of boxes that fit with some fixes, and with others of coordinates besides."""
        guessed = geometry.guesses(self._fixed(fixes), self._truth, units=self._units)
        return max((guess.score for guess in guessed), default=0.0)

    def _label_fixes(self, fixes: tuple[Fix, ...]) -> Iterator[tuple[Fix, ...]]:
        """Yield no label fix, one for spelling alone, and one for each label on another one's boxes."""
        yield ()
        fixed = self._fixed(fixes)
        proposed = self._proposed(fixed)
        spelling = (Fix("labels", "case"),) if any(each.reason == "name" for each in proposed) else ()
        moved = tuple(Fix("label", f"{each.label}={each.proposal}") for each in proposed if each.reason == "overlap")
        if spelling:
            yield spelling
        if moved:
            yield (*spelling, *moved)
        yield from ((Fix("labels", name),) for name in self._taxonomies(fixed))
        if exchanged := self._exchanged(fixed, spelling):
            yield (*spelling, *moved, *exchanged)

    def _taxonomies(self, fixed: Annotations) -> Iterator[str]:
        """Yield the taxonomies of the ground truth that have a name for each label of a prediction, of another one."""
        if {*fixed.labels} <= {*self._truth.labels} or not any(taxonomies.taxonomies_of(fixed.labels)):
            return
        for name in taxonomies.taxonomies_of(self._truth.labels):
            known_as = taxonomies.under_names_of(name, fixed.labels, fixed.format)
            if known_as.names and not known_as.left:
                yield name
                return

    def _exchanged(self, fixed: Annotations, spelling: tuple[Fix, ...] = ()) -> tuple[Fix, ...]:
        """Return fixes of labels that both files have, in some spelling, and that stand for one another."""
        spelt = apply_fixes(fixed, self._truth, spelling)
        exchanged = labels.exchanged(spelt.labels, self._truth.labels, geometry.overlaps(spelt, self._truth))
        known = labels.same_but_for_spelling(fixed.labels, self._truth.labels) if spelling else {}
        names = {label: exchanged.names.get(known.get(label, label)) for label in fixed.labels}
        fixes = tuple(Fix("label", f"{old}={new}") for old, new in names.items() if new)
        self._renamed |= set(fixes)
        if exchanged.words:
            self._rules[frozenset(fixes)] = exchanged.words
        return fixes

    def _proposed(self, fixed: Annotations) -> tuple[LabelProposal, ...]:
        if set(fixed.labels) <= set(self._truth.labels):
            # As in most files: which boxes lie on which is not looked at for nothing.
            return ()
        return labels.proposals(fixed.labels, self._truth.labels, geometry.overlaps(fixed, self._truth))

    def _hypothesis(self, fixes: tuple[Fix, ...]) -> Hypothesis:
        key = tuple(fix.text for fix in fixes)
        if key not in self._tried:
            names = frozenset(fix for fix in fixes if fix in self._renamed)
            one_rule = [self._rules[names]] if names in self._rules else []
            words = listed([*(fix_description(fix) for fix in fixes if not one_rule or fix not in names), *one_rule])
            self._tried[key] = Hypothesis(fixes=fixes, words=words, f1=self._f1(fixes))
        return self._tried[key]

    def _pruned(self, best: Hypothesis) -> Hypothesis:
        for fix in best.fixes:
            fewer = tuple(each for each in best.fixes if each != fix)
            # Labels that stand for one another are renamed together.
            if fewer and fix not in self._renamed:
                without = self._hypothesis(fewer)
                if (without.f1 or 0.0) >= (best.f1 or 0.0) - _WORTH:
                    best = without
        return best

    def _applied(self, fixes: Sequence[Fix]) -> Annotations | None:
        named = [fix for fix in fixes if fix.kind == "names"]
        try:
            fixed = apply_fixes(self._prediction, self._truth, named)
            # Sizes of pages may be known under the right names.
            fixed = on_same_pages(fixed, self._truth) if named and not self._keep_unit else fixed
            return apply_fixes(fixed, self._truth, [fix for fix in fixes if fix not in named])
        except BadInput:
            return None

    def _fixed(self, fixes: Sequence[Fix]) -> Annotations:
        fixed = self._applied(fixes)
        return self._prediction if fixed is None else fixed

    def _worthwhile(self, best: Hypothesis, given: float | None) -> Hypothesis | None:
        before = given or 0.0
        if best.f1 is None:
            return None
        moves = any(fix.moves_boxes for fix in best.fixes)
        old, new = ({fix.value.rpartition("=")[end] for fix in best.fixes} for end in (0, 2))
        # No model that is right about other labels puts some in the place of one another.
        exchanged = before >= FITS_BY_CHANCE and old == new and self._renamed >= set(best.fixes)
        gained = best.f1 - before
        # Of two files of which one has many more boxes the share of the other one tells.
        of_smaller = gained * boxes_of_smaller(self._truth, self._prediction)
        if gained < (_EXCHANGED if exchanged else GAIN) and of_smaller < (_OF_SMALLER if moves else GAIN):
            return None
        if not exchanged and best.f1 < TIMES * before:
            return None
        several = sum(fix.moves_boxes for fix in best.fixes) + any(fix.kind == "label" for fix in best.fixes) > 1
        if several and best.f1 < FITS_BY_CHANCE:
            return None
        # Where hardly a box matches as given, many labels have an order in which some do.
        if before < _EXCHANGED and of_smaller < FITS_BY_CHANCE and self._renamed.intersection(best.fixes):
            return None
        documents, boxes = geometry.fitting_counts(self._fixed(best.fixes), self._truth)
        if boxes < FEWEST and any(fix.moves_boxes for fix in best.fixes):
            return None
        return msgspec.structs.replace(best, documents=documents)

    def _f1(self, fixes: Sequence[Fix]) -> float | None:
        fixed = self._applied(fixes)
        return None if fixed is None else self._measure(self._truth, fixed)


def boxes_of_smaller(truth: Annotations, prediction: Annotations) -> float:
    """Return what F1 is multiplied by for the share of the boxes that match of the side with fewer; 1 without any."""
    sides = len(truth.boxes), len(prediction.boxes)
    return sum(sides) / 2.0 / min(sides) if min(sides) else 1.0


def _worth(hypothesis: Hypothesis) -> float:
    """Return F1, a little less for each fix, so that of two equal ones the simpler wins."""
    return (hypothesis.f1 or 0.0) - _WORTH * len(hypothesis.fixes) / 2.0


# --- beside fixes that were given -------------------------------------------------------------------------------------


class _Advice(NamedTuple):
    """The options of a command with which what was found holds."""

    fixes: tuple[Fix, ...]
    left_out: tuple[Fix, ...] = ()
    found_together: bool = True


def _written(fixes: Sequence[Fix]) -> str:
    return " ".join(fix_options([fix], fix.file) for fix in fixes)


def fix_advice(given: Sequence[Fix], name: str, applied: Sequence[str], more: Sequence[Fix]) -> str:
    """Return what to do with the fixes of a command: ``Apply it with --fix y-flip``, without a full stop.

    `given`: those of the command, for whatever file. `name`: the prediction in which more were found. `applied`: texts
    of the fixes that it has, see `Annotations.fixes`. `more`: what it needs in addition to those.
    """
    advice = _advice(given, name, applied, more)
    option, left = _written(advice.fixes), _written(advice.left_out)
    if not advice.found_together:
        return f"Leave out {left}, and run it again to see what is found then"
    if not advice.left_out:
        return f"Apply it with {option}"
    return f"Leave out {left}, and give {option}" if advice.fixes else f"Leave out {left}"


def _advice(given: Sequence[Fix], name: str, applied: Sequence[str], more: Sequence[Fix]) -> _Advice:
    own = fixes_for(given, name)
    if not all(fix.text in applied for fix in own):
        # They could not be applied, and what was found is about the file without them.
        return _Advice((*(fix for fix in given if fix not in own), *more), own)
    kept, added = list(given), list[Fix]()
    # Fixes are applied in the order of their kinds, whatever their own order.
    order = list(KINDS)
    for fix in sorted(more, key=lambda fix: order.index(fix.kind)):
        undone = next((each for each in own if each in kept and _undoes(fix, each)), None)
        if undone is not None:
            kept.remove(undone)
        elif fix.kind == "page-offset" and (
            before := next((each for each in kept if each in own and each.kind == fix.kind), None)
        ):
            both = int(before.value) + int(fix.value)
            kept[kept.index(before)] = msgspec.structs.replace(before, value=f"{both:+d}")
        else:
            kept = [_further(each, fix) if each in own else each for each in kept]
            added.append(fix)
    moves = [order.index(each.kind) for each in (*(each for each in kept if each in own), *added) if each.moves_boxes]
    left_out = tuple(fix for fix in given if fix not in kept)
    # One that is undone may stand before others that stay, which then do something else.
    if moves != sorted(moves) or (moves and any(each.moves_boxes for each in left_out)):
        return _Advice((), own, found_together=False)
    return _Advice((*kept, *added), left_out)


def _undoes(fix: Fix, before: Fix) -> bool:
    if fix.kind in _OWN_INVERSE:
        return (fix.kind, fix.value) == (before.kind, before.value)
    if fix.kind in ("page-offset", "image-ids") and BY_NAMES not in (fix.value, before.value):
        return before.kind == fix.kind and int(fix.value) == -int(before.value)
    if fix.kind == before.kind == "shift" and ("%" in fix.value) == ("%" in before.value):
        there, back = fix_numbers(before), fix_numbers(fix)
        return math.dist((-there[0], -there[1]), back) <= _ESTIMATED * math.hypot(*there)
    if fix.kind == before.kind == "scale":
        pairs = zip(fix_numbers(before), fix_numbers(fix), strict=True)
        return all(abs(there * back - 1.0) <= _ESTIMATED for there, back in pairs)
    if fix.kind == "label" and before.kind == "label":
        old, _, new = before.value.rpartition("=")
        return fix.value == f"{new}={old}"
    return (before.kind, fix.kind) in _INVERSES


def _further(before: Fix, fix: Fix) -> Fix:
    """Return a fix of a label with the last name, as labels are renamed all at once."""
    if before.kind != "label" or fix.kind != "label":
        return before
    old, _, new = before.value.rpartition("=")
    middle, _, last = fix.value.rpartition("=")
    return msgspec.structs.replace(before, value=f"{old}={last}") if new == middle else before
