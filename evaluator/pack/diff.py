"""What changed since an earlier review pack: the decision, the numbers of each model, and the findings.

A pack holds its values, `PackRecord`, as JSON in the HTML file. Numbers under another signature or on another ground
truth are not subtracted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from evaluator.compare.stored_results import comparable_part
from evaluator.data.issues import count_of, plain, quote, refuse
from evaluator.formats import folder
from evaluator.metrics.results import signed
from evaluator.pack.blocks import printed
from evaluator.pack.finding_rows import place_of, title_of_target, verdict_words
from evaluator.pack.options import Model
from evaluator.review.verdicts import ReviewedTarget
from evaluator.system.decoding import json_decoder

ELEMENT: Final = "pack-record"
"""Id of the element that holds the record."""
_MOST_BYTES: Final = 256 << 20
_RECORD: Final = re.compile(rf'<script type="application/json" id="{ELEMENT}">([^<]*)</script>')
_RATIOS: Final = (("f1", "F1"), ("precision", "Precision"), ("recall", "Recall"))
_COUNTS: Final = (("mistakes", "Mistakes"),)
_LISTED: Final = 12
_LAYOUT: Final = 2


class PackedModel(msgspec.Struct, frozen=True):
    """The numbers of a model; a ratio without denominator is None."""

    letter: str
    name: str
    signature: str
    f1: float | None
    precision: float | None
    recall: float | None
    mistakes: int


class PackedFinding(msgspec.Struct, frozen=True):
    """A finding by its target, what it is called and where it is."""

    target: str
    title: str
    place: str
    verdict: str


class PackRecord(msgspec.Struct, frozen=True):
    """What a later pack needs to know of this one."""

    layout: int
    date: str
    answer: str
    """the decision in words; empty with one model"""
    truth: str
    """digest of the ground truth"""
    models: tuple[PackedModel, ...]
    judged: tuple[PackedFinding, ...] | None = None
    """every finding of the store, shown or not; None in packs of layout 1, which hold those that they show"""


_packed_of: Final = json_decoder(PackRecord)


class Change(NamedTuple):
    """One line of the table: what, before, now, and the difference; empty where they cannot be compared."""

    what: str
    before: str
    now: str
    change: str


class Since(NamedTuple):
    """What changed since an earlier pack; `notes` say why some numbers are not compared.

    `findings`: how many are new, gone or judged otherwise, of all in the store, shown or not.
    """

    heading: str
    notes: tuple[str, ...]
    rows: tuple[Change, ...]
    findings: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """Return what changed as plain values."""
        return {
            "heading": self.heading,
            "notes": list(self.notes),
            "rows": [row._asdict() for row in self.rows],
            "findings": list(self.findings),
        }


def record(*, date: str, answer: str, models: Sequence[Model], judged: Sequence[ReviewedTarget]) -> PackRecord:
    """Return the record of a pack with every finding of its store; without models it has no numbers."""
    dataset = models[0].result.matching.dataset if models else None
    truth = dataset.ground_truth.source.sha256 if dataset else ""
    findings = tuple(
        PackedFinding(each.target_id, title_of_target(each.target), place_of(each.target, dataset), verdict_words(each))
        for each in judged
    )
    return PackRecord(_LAYOUT, date, answer, truth, tuple(map(_packed, models)), findings)


def _packed(model: Model) -> PackedModel:
    whole = model.result.micro.row(0)
    return PackedModel(
        model.letter,
        model.name,
        model.signature,
        whole["f1"],
        whole["precision"],
        whole["recall"],
        len(model.result.mistakes),
    )


def read(path: Path) -> PackRecord:
    """Return the record of an earlier pack; BadInput for no pack, one without a record, or a too large one."""
    return recorded(path.name, folder.load(path, _MOST_BYTES))


def recorded(name: str, content: bytes) -> PackRecord:
    """Return the record in the content of a file of some name; raises as `read`."""
    rule = "an earlier pack must be an HTML file of layoutscope report"
    fix = "Give a pack.html that this version or a later one wrote."
    record = _RECORD.search(content.decode("utf-8", "replace"))
    if record is None:
        refuse(name, "", rule, "no record of a pack in it", fix)
    try:
        packed = _packed_of(record[1].encode())
    except (msgspec.MsgspecError, RecursionError) as problem:
        refuse(name, f"#{ELEMENT}", rule, quote(str(problem)), fix)
    if not 1 <= packed.layout <= _LAYOUT:
        refuse(name, f"#{ELEMENT}", rule, f"layout {packed.layout}", fix)
    return packed


def since(then: PackRecord, now: PackRecord) -> Since:
    """Return what changed; a model is compared with the one of its name, else with that of its letter."""
    heading = f"Since the pack of {then.date}" if then.date else "Since the last pack"
    notes: list[str] = []
    rows = [Change("Decision", then.answer or "none", now.answer or "none", "" if then.answer == now.answer else "new")]
    if then.truth != now.truth:
        notes.append("The ground truth is another one, so numbers are shown side by side and not subtracted.")
    used: list[PackedModel] = []
    for model in now.models:
        by_name = [each for each in then.models if each.name == model.name]
        by_letter = [each for each in then.models if each.letter == model.letter]
        earlier = next(iter(by_name or by_letter), None)
        if earlier is None:
            notes.append(f"{model.letter} {model.name} was not in that pack.")
            continue
        used.append(earlier)
        named = f"{model.letter} {model.name}" + (f", before {earlier.name}" if earlier.name != model.name else "")
        before, after = (comparable_part(each.signature, thresholds=True) for each in (earlier, model))
        same = before == after
        if not same:
            notes.append(f"{named} was measured under another signature, {earlier.signature}.")
        rows += _rows(named, earlier, model, subtract=same and then.truth == now.truth)
    gone = (each for each in then.models if each not in used)
    notes += [f"{each.letter} {each.name} of that pack is not in this one." for each in gone]
    return Since(
        plain(heading), tuple(map(plain, notes)), tuple(Change(*map(plain, row)) for row in rows), _findings(then, now)
    )


def _rows(named: str, earlier: PackedModel, model: PackedModel, *, subtract: bool) -> list[Change]:
    rows = []
    for name, title in _RATIOS:
        before, after = getattr(earlier, name), getattr(model, name)
        known = subtract and before is not None and after is not None
        moved = f"{signed(100 * (after - before), 1)} points" if known else ""
        rows.append(Change(f"{named}: {title}", printed(before), printed(after), moved))
    for name, title in _COUNTS:
        before, after = getattr(earlier, name), getattr(model, name)
        moved = signed(after - before, 0) if subtract else ""
        rows.append(Change(f"{named}: {title}", f"{before:,}", f"{after:,}", moved))
    return rows


def _findings(then: PackRecord, now: PackRecord) -> tuple[str, ...]:
    after = {each.target: each for each in now.judged or ()}
    count = f"{count_of(len(after), 'finding')} with a verdict or note"
    verdicts = Counter(each.verdict for each in after.values())
    listed = ", ".join(f"{many:,} {verdict.lower()}" for verdict, many in sorted(verdicts.items()))
    each_verdict = [f"{listed}."] if listed else []
    if then.judged is None:
        return (f"{count} now; how many there were then cannot be told from that pack.", *each_verdict)
    before = {each.target: each for each in then.judged}
    told = [f"{count}, before {len(before):,}.", *each_verdict]
    for title, findings in (
        ("New", [each for target, each in after.items() if target not in before]),
        ("No longer among the findings", [each for target, each in before.items() if target not in after]),
        (
            "Judged otherwise",
            [each for key, each in after.items() if key in before and before[key].verdict != each.verdict],
        ),
    ):
        if findings:
            told.append(f"{title}, {len(findings):,}: {_listed(findings)}.")
    return tuple(map(plain, told))


def _listed(findings: Sequence[PackedFinding]) -> str:
    alike = sorted(Counter(f"{each.title}, {each.place}" for each in findings).items())
    listed = [words if many == 1 else f"{words} ({many:,})" for words, many in alike[:_LISTED]]
    left_out = sum(many for _, many in alike[_LISTED:])
    return "; ".join([*listed, f"and {left_out:,} more"] if left_out else listed)
