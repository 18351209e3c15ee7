"""Extractor "anchors": a known label, and what follows it on the line or stands below it, is taken as it is.

The input is the text layer of a PDF and nothing else. The confidence comes from its own evidence: how far the value is
from its label, whether the label is exact, how complete a line is. No mistake is added and none is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from sample_data.generators.labelling import confidence
from sample_data.generators.paperwork import JsonObject
from sample_data.generators.segments import AMOUNTS, FieldValue, PdfText, Segment, as_tree, number, read_pdf

ANCHORS: Mapping[str, tuple[str, ...]] = {
    "invoice_number": ("invoice no", "invoice number", "invoice"),
    "invoice_date": ("invoice date", "date"),
    "due_date": ("due date", "due", "delivery date"),
    "subtotal": ("subtotal", "net"),
    "tax": ("vat", "tax"),
    "total": ("total", "amount due"),
    "applicant.name": ("name",),
    "applicant.birth_date": ("date of birth",),
    "applicant.address.street": ("street",),
    "applicant.address.postal_code": ("postal code",),
    "applicant.address.city": ("town",),
    "contact.phone": ("telephone",),
    "contact.email": ("e-mail",),
    "pitch.length": ("length",),
    "pitch.fee": ("fee",),
    "date": ("date",),
    "signed": ("signature",),
}
FORM_FIELDS = ("applicant.", "contact.", "pitch.", "date", "signed")


def extract_anchors(pdf: bytes) -> JsonObject:
    """Return the fields of a document by extractor "anchors": a label, and what follows it."""
    text = read_pdf(pdf)
    form = any("application" in segment.text.lower() for segment in text.segments)
    fields: list[FieldValue] = []
    for path, labels in ANCHORS.items():
        if path.startswith(FORM_FIELDS) == form:
            fields += _anchored(text, path, labels)
    if form:
        fields += _listed_below(text, "goods", "goods")
        fields += _listed_below(text, "pitch.days", "market days")
    else:
        fields += _parties(text)
        fields += _cells(text)
    return as_tree(fields, text.sizes)


def _value(path: str, segment: Segment, sure: float, value: object = None) -> FieldValue:
    """Return a value with the box of its font; its text unless another is given."""
    return FieldValue(path, segment.text if value is None else value, segment.loose, segment.page, sure)


def _anchored(text: PdfText, path: str, labels: Sequence[str]) -> Iterator[FieldValue]:
    """Yield the values behind the segments that begin with a label: the longer the way, the less sure."""
    for label in labels:
        for segment in text.segments:
            if not segment.text.lower().startswith(label):
                continue
            value: Segment | None = segment.after(len(label.split()))
            if value is None or path in AMOUNTS or not any(char.isdigit() for char in value.text):
                value = text.right_of(segment) or text.below(segment, 26)
            if value is not None:
                way = abs(value.tight[0] - segment.tight[2]) + 3 * abs(value.baseline - segment.baseline)
                exact = segment.text.lower().rstrip(".:") == label
                sure = confidence(1.4 + 1.2 * exact - way / 60)
                yield _value(path, value, sure, number(value.text) if path in AMOUNTS else None)


def _parties(text: PdfText) -> Iterator[FieldValue]:
    """Vendor from the first lines, customer from those below "Bill to"; three lines each."""
    starts = {"vendor": text.segments[0]}
    head = next((s for s in text.segments if s.text.lower() in ("bill to", "customer")), None)
    if head is not None and (under := text.below(head, 30)):
        starts["customer"] = under
    for side, first in starts.items():
        lines = [first]
        while len(lines) < 4 and (after := text.below(lines[-1], 1.6 * first.size)):
            lines.append(after)
        sure = confidence(0.4 + 0.5 * len(lines))
        yield _value(f"{side}.name", first, sure)
        if len(lines) > 1:
            yield _value(f"{side}.address.street", lines[1], sure)
        if len(lines) > 2:
            for path, part in zip(("postal_code", "city"), lines[2].code_and_town(), strict=False):
                yield _value(f"{side}.address.{path}", part, sure)
        if side == "vendor" and len(lines) > 3:
            yield _value("vendor.vat_id", lines[3], confidence(0.2))


def _cells(text: PdfText) -> Iterator[FieldValue]:
    """Every line below the head of the table is an item, until one begins with "sub" or "total"."""
    names = ("description", "quantity", "unit_price", "amount")
    head = next((s for s in text.segments if s.text.lower() in ("description", "item")), None)
    if head is None:
        return
    item = 0
    for segment in text.segments:
        if segment.page != head.page or segment.baseline <= head.baseline + 2 or segment.tight[0] > head.tight[0] + 20:
            continue
        cells = text.line(segment)
        if segment.text.lower().startswith(("sub", "total", "net", "sum")) or segment.size < 0.9 * head.size:
            return
        # A line with all cells is surer than one with some.
        sure = confidence(-1.0 + 0.8 * len(cells))
        for name, cell in zip(names, cells, strict=False):
            yield _value(f"line_items[{item}].{name}", cell, sure, None if name == "description" else number(cell.text))
        item += 1


def _listed_below(text: PdfText, path: str, label: str) -> Iterator[FieldValue]:
    """All segments between a heading and the next one, without numbers in front."""
    head = next((s for s in text.segments if s.text.lower().endswith(label)), None)
    if head is None:
        return
    count = 0
    for segment in text.segments:
        below = segment.baseline - head.baseline
        if segment.page != head.page or below <= 2:
            continue
        if below > 170 or (segment.size >= head.size and re.match(r"\d ", segment.text)):
            return
        marked = re.match(r"\d+\. ?", segment.text)
        value = segment.span(marked.end() if marked else 0, len(segment.text))
        if value.runs:
            yield _value(f"{path}[{count}]", value, confidence(1.6 - below / 80))
            count += 1
