"""Extractor "rules": values are found by their form, several rules vote for each, and sums are checked.

The input is the text layer of a PDF and nothing else. Each rule adds to the evidence of a candidate or takes from it:
the words before it, its weight, its place, an address around it, a sum that comes out. The confidence is logistic in
that evidence. No mistake is added and none is hidden.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sample_data.generators.canvas import padded
from sample_data.generators.labelling import confidence
from sample_data.generators.paperwork import JsonObject
from sample_data.generators.segments import AMOUNT, AMOUNTS, FieldValue, PdfText, Segment, as_tree, number, read_pdf

DATE = re.compile(r"\d{1,2} [A-Z][a-z]+ \d{4}|\d{4}-\d{2}-\d{2}|\d{2}\.\d{2}\.\d{4}")
IDENTIFIER = re.compile(r"\b(?:[A-Z]{1,3}[- ])?(?:\d{4}-)?\d{4,6}\b")
# The form of a value, and what the words before it say: the first group speaks for the field, the second against it.
SPEAKS = {
    "invoice_number": (IDENTIFIER, r"(invoice|document)( no\.?| number)?$", r"order|customer|account"),
    "invoice_date": (DATE, r"((^|invoice )date|issued|dated| of|^of)$", r"due|deliver|payable"),
    "due_date": (DATE, r"(due date|payment due|payable by|due)$", r"deliver|issued"),
    "subtotal": (AMOUNT, r"subtotal|net amount|sum of items", r"%"),
    "tax": (AMOUNT, r"(vat|tax) \d+ %$", r"total$"),
    "total": (AMOUNT, r"^(grand )?total( due)?$|amount due|to pay|balance", r"sub|net|items"),
}
TOP = 0.4  # share of the page in which the head of a document stands
TOUCH = 1.5  # points that a box of letters is widened by
FORM_LABELS = {
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


def extract_rules(pdf: bytes) -> JsonObject:
    """Return the fields of a document by extractor "rules"."""
    text = read_pdf(pdf)
    form = any("application for" in segment.text.lower() for segment in text.segments)
    return as_tree(_form(text) if form else _invoice(text), text.sizes)


def _value(path: str, segment: Segment, evidence: float, value: object = None) -> FieldValue:
    """Return a value with the box of its letters and a little air; its text unless another is given."""
    shown = segment.text if value is None else value
    return FieldValue(path, shown, padded(segment.tight, TOUCH, 0.0), segment.page, confidence(evidence))


def _invoice(text: PdfText) -> Iterator[FieldValue]:
    yield from _addresses(text)
    best = {path: value for path in SPEAKS if (value := _best(text, path))}
    rows = list(_items(text))
    yield from (value for path, value in best.items() if path not in AMOUNTS)
    yield from rows
    yield from _summed([value for path, value in best.items() if path in AMOUNTS], rows)


def _candidates(text: PdfText, form: re.Pattern[str]) -> Iterator[tuple[Segment, str, bool]]:
    """Everything of a form, with the words before it on the line, or those above it, and whether they are above."""
    for segment in text.segments:
        for matched in form.finditer(segment.text):
            value = segment.span(*matched.span())
            before = segment.text[: matched.start()].strip()
            if not before:
                left = [s for s in text.line(segment) if s.tight[2] <= segment.tight[0] + 0.5]
                before = left[-1].text if left else ""
            yield value, before.lower(), False
            over = _above(text, segment)
            if over is not None and value.runs == segment.runs:
                yield value, over.text.lower(), True


def _above(text: PdfText, segment: Segment) -> Segment | None:
    """Return the label above a value: smaller type, left edges in line."""
    near = [s for s in text.segments if s.page == segment.page and 0 < segment.baseline - s.baseline < 22]
    over = [s for s in near if abs(s.tight[0] - segment.tight[0]) < 8 and s.size < segment.size]
    return max(over, key=lambda s: s.baseline, default=None)


def _best(text: PdfText, path: str) -> FieldValue | None:
    """Return the candidate with the most evidence for a field, when that is positive."""
    form, speaks, against = SPEAKS[path]
    judged: list[tuple[float, Segment]] = []
    for segment, before, above in _candidates(text, form):
        evidence = -2.0 + 3.4 * bool(re.search(speaks, before)) - 3.0 * bool(re.search(against, before))
        evidence += 0.5 * segment.runs[0].bold - 0.4 * above
        if path not in AMOUNTS:
            evidence += 0.6 if segment.page == 0 and segment.baseline < TOP * text.sizes[0][1] else -0.8
        if evidence > 0:
            judged.append((evidence, segment))
    if not judged:
        return None
    evidence, segment = max(judged, key=lambda pair: pair[0])
    rivals = sum(other > evidence - 1.0 for other, _ in judged) - 1
    return _value(path, segment, evidence - 0.5 * rivals, number(segment.text) if path in AMOUNTS else None)


def _summed(amounts: Sequence[FieldValue], rows: Sequence[FieldValue]) -> Iterator[FieldValue]:
    """Yield the three amounts; surer when the sum of the rows, and the sum with the tax, come out."""
    values = {each.path: each.value for each in amounts if isinstance(each.value, float)}
    cells = [row.value for row in rows if row.path.endswith(".amount")]
    items = [value for value in cells if isinstance(value, float)]
    rows_fit = "subtotal" in values and len(items) == len(cells) and abs(sum(items) - values["subtotal"]) < 0.005
    sums_fit = len(values) == 3 and abs(values["subtotal"] + values["tax"] - values["total"]) < 0.005
    for each in amounts:
        evidence = math.log(each.confidence / (1 - each.confidence)) + (1.2 if sums_fit else -0.4)
        evidence += 0.6 if rows_fit and each.path == "subtotal" else 0.0
        yield replace(each, confidence=confidence(evidence))


def _addresses(text: PdfText) -> Iterator[FieldValue]:
    """Blocks of name, street, and code with town; which side a block is, its surroundings say."""
    sides: dict[str, tuple[float, list[Segment]]] = {}
    for lines in filter(None, (_address(text, segment) for segment in text.segments)):
        over = [s.text.lower() for s in text.segments if s.page == 0 and 8 < lines[0].baseline - s.baseline < 24]
        labelled = any(words in ("bill to", "customer", "to") for words in over)
        taxed = any(s.text.startswith("VAT") and 0 < s.baseline - lines[2].baseline < 20 for s in text.segments)
        vendor = 0.4 + 1.6 * taxed - 1.8 * labelled + 0.8 * (lines[0].size > 1.3 * lines[1].size)
        vendor += 0.6 if lines[0].baseline < 0.12 * text.sizes[0][1] else -0.6
        for side, evidence in (("vendor", vendor), ("customer", 0.8 - vendor)):
            if evidence > sides.get(side, (0.0,))[0]:
                sides[side] = evidence, lines
    for side, (evidence, (name, street, town)) in sides.items():
        yield _value(f"{side}.name", name, evidence + 0.3 * name.runs[0].bold)
        numbered = any(char.isdigit() for char in street.text)
        yield _value(f"{side}.address.street", street, evidence + 0.8 * numbered)
        for path, part in zip(("postal_code", "city"), town.code_and_town(), strict=True):
            yield _value(f"{side}.address.{path}", part, evidence + 0.9)
    for segment in text.segments:
        if matched := re.search(r"^VAT (?:reg|no)\.? ([A-Z]{2} [\d ]+)$", segment.text):
            yield _value("vendor.vat_id", segment.span(*matched.span(1)), 2.1)


def _address(text: PdfText, town: Segment) -> list[Segment]:
    """Name, street and a line with code and town, in line on the left or on the right; empty without all three."""
    if town.page or not town.code_and_town():
        return []
    lines = [town]
    while len(lines) < 3:
        last = lines[-1]
        near = [s for s in text.segments if s.page == 0 and 4 < last.baseline - s.baseline < 19]
        over = [s for s in near if abs(s.tight[0] - last.tight[0]) < 3 or abs(s.tight[2] - last.tight[2]) < 3]
        if not over:
            return []
        lines.append(max(over, key=lambda s: s.baseline))
    return lines[::-1]


def _items(text: PdfText) -> Iterator[FieldValue]:
    """Yield the rows of the table on every page that has its head; surer when quantity times price is the amount."""
    rows = [row for page in range(len(text.sizes)) for row in _table_rows(text, page)]
    for count, (description, cells) in enumerate(rows):
        values = [number(cell.text) for cell in cells]
        fits = None not in values and abs(float(values[0] or 0) * float(values[1] or 0) - float(values[2] or 0)) < 0.005
        evidence = 0.6 + (1.9 if fits else -1.0) - 0.3 * (len(description) - 1)
        whole = Segment(tuple(run for part in description for run in part.runs), description[0].page)
        yield _value(f"line_items[{count}].description", whole, evidence)
        for name, cell, value in zip(("quantity", "unit_price", "amount"), cells, values, strict=True):
            yield _value(f"line_items[{count}].{name}", cell, evidence + 0.3 * (value is not None), value)


def _table_rows(text: PdfText, page: int) -> list[tuple[list[Segment], list[Segment]]]:
    """Return description and three cells of each row of a page; a line without amount continues the row above."""
    segments = [s for s in text.segments if s.page == page]
    lines = [text.line(s) for s in segments if s.text.lower() in ("description", "item")]
    head = next((line for line in lines if len(line) == 4), None)
    rows: list[tuple[list[Segment], list[Segment]]] = []
    if head is None:
        return rows
    for baseline in sorted({round(s.baseline, 1) for s in segments if s.baseline > head[0].baseline + 2}):
        line = [s for s in segments if abs(s.baseline - baseline) < 2]
        first = min(line, key=lambda s: s.tight[0])
        if abs(first.tight[0] - head[0].tight[0]) > 6:
            break
        if len(line) == 1 and rows and baseline - rows[-1][0][-1].baseline < 1.5 * first.size:
            rows[-1][0].append(first)
            continue
        cells = [min(line, key=lambda s: abs(s.tight[2] - column.tight[2])) for column in head[1:]]
        if len({id(s) for s in (first, *cells)}) < 4:
            break
        rows.append(([first], cells))
    return rows


def _form(text: PdfText) -> Iterator[FieldValue]:
    for path, (label, form) in FORM_LABELS.items():
        yield from _boxed(text, path, label, form)
    yield from _days(text)
    yield from _goods(text)
    yield from _signed(text)


def _boxed(text: PdfText, path: str, label: str, form: re.Pattern[str]) -> Iterator[FieldValue]:
    """Yield the value below a label, when it has the form of the field."""
    for segment in text.segments:
        value = text.below(segment, 26) if segment.text.lower() == label else None
        if value is None or value.size <= segment.size:
            continue
        fits = form.fullmatch(value.text) is not None
        aligned = abs(value.tight[0] - segment.tight[0]) < 4
        evidence = -0.8 + 2.2 * fits + 0.8 * aligned - 0.03 * (value.baseline - segment.baseline)
        if evidence > 0:
            yield _value(path, value, evidence, number(value.text) if path.endswith("fee") else None)


def _days(text: PdfText) -> Iterator[FieldValue]:
    """Days with two slanted strokes on their left."""
    count = 0
    for segment in text.segments:
        if segment.page or segment.text not in ("Wednesday", "Friday", "Saturday"):
            continue
        x0, y0, _, y1 = segment.tight
        boxes = [box for page, box in text.ticks if page == 0 and x0 - 24 < box[0] < x0]
        crossed = sum(y0 - 4 < (box[1] + box[3]) / 2 < y1 + 4 for box in boxes)
        if crossed >= 2:
            yield _value(f"pitch.days[{count}]", segment, 0.4 + 0.8 * crossed)
            count += 1


def _goods(text: PdfText) -> Iterator[FieldValue]:
    """Texts behind a number with a full stop, on every sheet."""
    count = 0
    for segment in text.segments:
        if not re.fullmatch(r"\d+\.", segment.runs[0].text):
            continue
        value = segment.after(1) if len(segment.runs) > 1 else text.right_of(segment)
        if value is not None:
            in_order = segment.runs[0].text == f"{count + 1}."
            yield _value(f"goods[{count}]", value, 0.9 + 1.1 * in_order)
            count += 1


def _signed(text: PdfText) -> Iterator[FieldValue]:
    """Handwriting below the label; the more it rises above the line, the surer."""
    label = next((s for s in text.segments if s.text == "Signature"), None)
    for page, box in text.strokes:
        if label is not None and page == label.page and 0 < box[3] - label.baseline < 50:
            yield FieldValue("signed", True, box, page, confidence(0.2 + 0.12 * (box[3] - box[1])))
