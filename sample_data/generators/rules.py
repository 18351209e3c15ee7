"""Extractor "rules": values are found by their form, several rules vote for each, and sums are checked.

The input is the text layer of a PDF and nothing else. Each rule adds to the evidence of a candidate or takes from it:
the words before it, its weight, its place, an address around it, a sum that comes out. The confidence is logistic in
that evidence. No mistake is added and none is hidden.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sample_data.generators.canvas import Box, union
from sample_data.generators.labelling import confidence
from sample_data.generators.paperwork import JsonObject
from sample_data.generators.segments import (
    AMOUNT,
    CODE_AND_TOWN,
    FieldValue,
    PdfText,
    Segment,
    as_tree,
    number,
    read_pdf,
)

DATE = re.compile(r"\d{1,2} [A-Z][a-z]+ \d{4}|\d{4}-\d{2}-\d{2}|\d{2}\.\d{2}\.\d{4}")
IDENTIFIER = re.compile(r"\b(?:[A-Z]{1,3}[- ])?(?:\d{4}-)?\d{4,6}\b")
# What the words before a value say about it; the first group speaks for the field, the second against it.
SPEAKS: Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]] = {
    "invoice_number": (re.compile(r"(invoice|document)( no\.?| number)?$"), re.compile(r"order|customer|account")),
    "invoice_date": (re.compile(r"((^|invoice )date|issued|dated| of|^of)$"), re.compile(r"due|deliver|payable")),
    "due_date": (re.compile(r"(due date|payment due|payable by|due)$"), re.compile(r"deliver|issued")),
    "subtotal": (re.compile(r"subtotal|net amount|sum of items"), re.compile(r"%")),
    "tax": (re.compile(r"(vat|tax) \d+ %$"), re.compile(r"total$")),
    "total": (re.compile(r"^(grand )?total( due)?$|amount due|to pay|balance"), re.compile(r"sub|net|items")),
}
TOP = 0.4  # share of the page in which the head of a document stands
TOUCH = 1.5  # points that a box of letters is widened by
FORM_LABELS: Mapping[str, tuple[str, re.Pattern[str]]] = {
    "applicant.name": ("name", re.compile(r"[^\d@]+")),
    "applicant.birth_date": ("date of birth", DATE),
    "applicant.address.street": ("street and number", re.compile(r".*\d.*")),
    "applicant.address.postal_code": ("postal code", re.compile(r"\d{5}")),
    "applicant.address.city": ("town", re.compile(r"[^\d@]+")),
    "contact.phone": ("telephone", re.compile(r"[\d ]{7,}")),
    "contact.email": ("e-mail", re.compile(r"\S+@\S+")),
    "pitch.length": ("length of the front", re.compile(r"[\d.]+ m")),
    "pitch.fee": ("fee for the season", AMOUNT),
    "date": ("date", DATE),
}


@dataclass(frozen=True)
class Candidate:
    """A text that could be a value, the words before it, and whether those stand above it."""

    segment: Segment
    before: str
    above: bool


def extract_rules(pdf: bytes) -> JsonObject:
    """The fields of a document by extractor "rules"."""
    text = read_pdf(pdf)
    form = any("application for" in segment.text.lower() for segment in text.segments)
    fields = list(_form(text) if form else _invoice(text))
    return as_tree(fields, text.sizes)


def tight(segment: Segment) -> Box:
    """The box of the letters with a little air."""
    x0, y0, x1, y1 = segment.tight
    return x0 - TOUCH, y0, x1 + TOUCH, y1


# --- invoices ------------------------------------------------------------------------------------------------


def _invoice(text: PdfText) -> Iterator[FieldValue]:
    yield from _addresses(text)
    for path, form in (("invoice_number", IDENTIFIER), ("invoice_date", DATE), ("due_date", DATE)):
        yield from _best(path, _candidates(text, form), text)
    rows = list(_items(text))
    yield from rows
    amounts = {path: list(_best(path, _candidates(text, AMOUNT), text)) for path in ("subtotal", "tax", "total")}
    yield from _summed(amounts, rows)


def _candidates(text: PdfText, form: re.Pattern[str]) -> Iterator[Candidate]:
    """Everything of a form, with the words before it on the line, or those above it."""
    for segment in text.segments:
        for matched in form.finditer(segment.text):
            value = segment.span(*matched.span())
            before = segment.text[: matched.start()].strip()
            if not before:
                left = [s for s in text.line(segment) if s.tight[2] <= segment.tight[0] + 0.5]
                before = left[-1].text if left else ""
            yield Candidate(value, before.lower(), False)
            over = _above(text, segment)
            if over is not None and value.runs == segment.runs:
                yield Candidate(value, over.text.lower(), True)


def _above(text: PdfText, segment: Segment) -> Segment | None:
    """The label above a value: smaller type, left edges in line."""
    over = [
        s
        for s in text.segments
        if s.page == segment.page
        and 0 < segment.baseline - s.baseline < 22
        and abs(s.tight[0] - segment.tight[0]) < 8
        and s.size < segment.size
    ]
    return max(over, key=lambda s: s.baseline, default=None)


def _best(path: str, candidates: Iterator[Candidate], text: PdfText) -> Iterator[FieldValue]:
    """The candidate with the most evidence for a field, when that is positive."""
    speaks, against = SPEAKS[path]
    judged: list[tuple[float, Candidate]] = []
    for candidate in candidates:
        segment = candidate.segment
        evidence = -2.0
        evidence += 3.4 if speaks.search(candidate.before) else 0.0
        evidence -= 3.0 if against.search(candidate.before) else 0.0
        evidence += 0.5 if segment.runs[0].bold else 0.0
        evidence -= 0.4 if candidate.above else 0.0
        if path in ("invoice_number", "invoice_date", "due_date"):
            evidence += 0.6 if segment.page == 0 and segment.baseline < TOP * text.sizes[0][1] else -0.8
        judged.append((evidence, candidate))
    if not judged:
        return
    evidence, best = max(judged, key=lambda pair: pair[0])
    rivals = sum(other > evidence - 1.0 for other, _ in judged) - 1
    if evidence > 0:
        value = number(best.segment.text) if path in ("subtotal", "tax", "total") else best.segment.text
        sure = confidence(evidence - 0.5 * rivals)
        yield FieldValue(path, value, tight(best.segment), best.segment.page, sure)


def _summed(amounts: dict[str, list[FieldValue]], rows: Sequence[FieldValue]) -> Iterator[FieldValue]:
    """The three amounts; surer when the sum of the rows, and the sum with the tax, come out."""
    values = {
        path: value
        for path, candidates in amounts.items()
        for each in candidates
        if isinstance(value := each.value, float)
    }
    cells = [row.value for row in rows if row.path.endswith(".amount")]
    items = [value for value in cells if isinstance(value, float)]
    rows_fit = "subtotal" in values and len(items) == len(cells) and abs(sum(items) - values["subtotal"]) < 0.005
    sums_fit = len(values) == 3 and abs(values["subtotal"] + values["tax"] - values["total"]) < 0.005
    for path, candidates in amounts.items():
        for each in candidates:
            evidence = math.log(each.confidence / (1 - each.confidence))
            evidence += 1.2 if sums_fit else -0.4
            evidence += 0.6 if rows_fit and path == "subtotal" else 0.0
            yield replace(each, confidence=confidence(evidence))


def _addresses(text: PdfText) -> Iterator[FieldValue]:
    """Blocks of name, street, and code with town; which side a block is, its surroundings say."""
    blocks = [block for segment in text.segments if (block := _address(text, segment))]
    sides: dict[str, tuple[float, tuple[Segment, Segment, Segment]]] = {}
    for lines in blocks:
        over = [s.text.lower() for s in text.segments if s.page == 0 and 8 < lines[0].baseline - s.baseline < 24]
        labelled = any(words in ("bill to", "customer", "to") for words in over)
        taxed = any(s.text.startswith("VAT") and 0 < s.baseline - lines[2].baseline < 20 for s in text.segments)
        vendor = 0.4 + 1.6 * taxed - 1.8 * labelled + 0.8 * (lines[0].size > 1.3 * lines[1].size)
        vendor += 0.6 if lines[0].baseline < 0.12 * text.sizes[0][1] else -0.6
        for side, evidence in (("vendor", vendor), ("customer", 0.8 - vendor)):
            if evidence > sides.get(side, (0.0,))[0]:
                sides[side] = evidence, lines
    for side, (evidence, (name, street, town)) in sides.items():
        yield FieldValue(f"{side}.name", name.text, tight(name), 0, confidence(evidence + 0.3 * name.runs[0].bold))
        numbered = any(char.isdigit() for char in street.text)
        yield FieldValue(f"{side}.address.street", street.text, tight(street), 0, confidence(evidence + 0.8 * numbered))
        matched = CODE_AND_TOWN.fullmatch(town.text)
        assert matched is not None
        for path, group in (("postal_code", 1), ("city", 2)):
            part = town.span(*matched.span(group))
            yield FieldValue(f"{side}.address.{path}", part.text, tight(part), 0, confidence(evidence + 0.9))
    yield from _vat_id(text)


def _address(text: PdfText, town: Segment) -> tuple[Segment, Segment, Segment] | None:
    """Name and street above a line with code and town, in line with it on the left or on the right."""
    if town.page or not CODE_AND_TOWN.fullmatch(town.text):
        return None
    lines = [town]
    for _ in range(2):
        last = lines[-1]
        over = [
            s
            for s in text.segments
            if s.page == 0
            and 4 < last.baseline - s.baseline < 19
            and (abs(s.tight[0] - last.tight[0]) < 3 or abs(s.tight[2] - last.tight[2]) < 3)
        ]
        if not over:
            return None
        lines.append(max(over, key=lambda s: s.baseline))
    return lines[2], lines[1], lines[0]


def _vat_id(text: PdfText) -> Iterator[FieldValue]:
    for segment in text.segments:
        matched = re.search(r"^VAT (?:reg|no)\.? ([A-Z]{2} [\d ]+)$", segment.text)
        if matched:
            value = segment.span(*matched.span(1))
            yield FieldValue("vendor.vat_id", value.text, tight(value), value.page, confidence(2.1))
            return


def _items(text: PdfText) -> Iterator[FieldValue]:
    """The rows of the table on every page that has its head; a line without amount continues the row above."""
    count = 0
    for page in range(len(text.sizes)):
        head = _table_head(text, page)
        if head is None:
            continue
        last: list[Segment] = []
        cells: list[Segment] = []
        below = sorted(
            {round(s.baseline, 1) for s in text.segments if s.page == page and s.baseline > head[0].baseline + 2}
        )
        for baseline in below:
            line = [s for s in text.segments if s.page == page and abs(s.baseline - baseline) < 2]
            first = min(line, key=lambda s: s.tight[0])
            if abs(first.tight[0] - head[0].tight[0]) > 6:
                break
            if len(line) == 1 and last and baseline - last[-1].baseline < 1.5 * first.size:
                last.append(first)
                continue
            if last:
                yield from _row(count, last, cells)
                count += 1
            cells = [min(line, key=lambda s: abs(s.tight[2] - column.tight[2])) for column in head[1:]]
            last = [first] if len({id(s) for s in (first, *cells)}) == 4 else []
            if not last:
                break
        if last:
            yield from _row(count, last, cells)
            count += 1


def _table_head(text: PdfText, page: int) -> list[Segment] | None:
    """The four heads of a table, in the order of its columns; None when the page has none."""
    for segment in text.segments:
        if segment.page == page and segment.text.lower() in ("description", "item"):
            line = text.line(segment)
            if len(line) == 4:
                return line
    return None


def _row(count: int, description: Sequence[Segment], cells: Sequence[Segment]) -> Iterator[FieldValue]:
    """One item; surer when quantity times price is the amount."""
    values = [number(cell.text) for cell in cells]
    fits = None not in values and abs(float(values[0] or 0) * float(values[1] or 0) - float(values[2] or 0)) < 0.005
    evidence = 0.6 + (1.9 if fits else -1.0) - 0.3 * (len(description) - 1)
    page = description[0].page
    text = " ".join(part.text for part in description)
    path = f"line_items[{count}]"
    yield FieldValue(
        f"{path}.description", text, union(tight(part) for part in description), page, confidence(evidence)
    )
    for name, cell, value in zip(("quantity", "unit_price", "amount"), cells, values, strict=True):
        shown = cell.text if value is None else value
        yield FieldValue(f"{path}.{name}", shown, tight(cell), page, confidence(evidence + 0.3 * (value is not None)))


# --- applications --------------------------------------------------------------------------------------------


def _form(text: PdfText) -> Iterator[FieldValue]:
    for path, (label, form) in FORM_LABELS.items():
        yield from _boxed(text, path, label, form)
    yield from _days(text)
    yield from _goods(text)
    yield from _signed(text)


def _boxed(text: PdfText, path: str, label: str, form: re.Pattern[str]) -> Iterator[FieldValue]:
    """The value below a label, when it has the form of the field."""
    for segment in text.segments:
        if segment.text.lower() != label:
            continue
        value = text.below(segment, 26)
        if value is None or value.size <= segment.size:
            continue
        fits = form.fullmatch(value.text) is not None
        aligned = abs(value.tight[0] - segment.tight[0]) < 4
        evidence = -0.8 + 2.2 * fits + 0.8 * aligned - 0.03 * (value.baseline - segment.baseline)
        if evidence > 0:
            taken = number(value.text) if path.endswith("fee") else value.text
            yield FieldValue(path, taken, tight(value), value.page, confidence(evidence))
            return


def _days(text: PdfText) -> Iterator[FieldValue]:
    """Days with two slanted strokes on their left."""
    count = 0
    for segment in text.segments:
        if segment.page or segment.text not in ("Wednesday", "Friday", "Saturday"):
            continue
        x0, y0, _, y1 = segment.tight
        crossed = sum(
            page == 0 and x0 - 24 < box[0] < x0 and y0 - 4 < (box[1] + box[3]) / 2 < y1 + 4 for page, box in text.ticks
        )
        if crossed >= 2:
            yield FieldValue(f"pitch.days[{count}]", segment.text, tight(segment), 0, confidence(0.4 + 0.8 * crossed))
            count += 1


def _goods(text: PdfText) -> Iterator[FieldValue]:
    """Texts behind a number with a full stop, on every sheet."""
    count = 0
    for segment in text.segments:
        if not re.fullmatch(r"\d+\.", segment.runs[0].text):
            continue
        value = segment.part(1, len(segment.runs)) if len(segment.runs) > 1 else text.right_of(segment)
        if value is None or not value.runs:
            continue
        in_order = segment.runs[0].text == f"{count + 1}."
        yield FieldValue(f"goods[{count}]", value.text, tight(value), value.page, confidence(0.9 + 1.1 * in_order))
        count += 1


def _signed(text: PdfText) -> Iterator[FieldValue]:
    """Handwriting below the label; the more it rises above the line, the surer."""
    label = next((s for s in text.segments if s.text == "Signature"), None)
    for page, box in text.strokes:
        if label is not None and page == label.page and 0 < box[3] - label.baseline < 50:
            yield FieldValue("signed", True, box, page, confidence(0.2 + 0.12 * (box[3] - box[1])))
            return
