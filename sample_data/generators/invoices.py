"""Nine invented invoices in three layouts, with labels in several wordings and tables over one or two pages.

Owns how they are set; what stands on them is in `invoices.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from sample_data.generators.canvas import GREY, HAIR, Point, Style
from sample_data.generators.paperwork import Paper, Sheet

LEFT, RIGHT = 56.0, 539.0
ROW, LINE = 17.0, 13.0  # points from item to item, and within one
LAST_ROW = 640.0
COLUMNS = {"quantity": 372.0, "unit_price": 452.0, "amount": RIGHT}


class Party(NamedTuple):
    """One side of an invoice; the one that sells has a number for its tax."""

    name: str
    street: str
    postal_code: str
    city: str
    vat_id: str = ""


class Item(NamedTuple):
    """A line of the table: description in one or more lines, quantity and unit price in cents."""

    description: str
    quantity: int
    cents: int


@dataclass(frozen=True)
class Invoice:
    """One document; `words` are its labels, `extra` label and value of a line that is no field."""

    name: str
    layout: str
    vendor: Party
    customer: Party
    number: str
    date: str
    items: Sequence[Item]
    rate: int
    words: Mapping[str, str]
    heads: Sequence[str] = ("Description", "Qty", "Unit price", "Amount")
    due: str = ""
    currency: str = ""
    extra: Sequence[tuple[str, str]] = ()
    note: str = ""
    scanned: bool = False

    @property
    def head(self) -> list[tuple[str, str, str]]:
        """Label, path and text of the lines at the head; those that are no field have no path."""
        fields = (
            (self.words["number"], "invoice_number", self.number),
            (self.words["date"], "invoice_date", self.date),
            (self.words["due"], "due_date", self.due),
        )
        return [each for each in fields if each[2]] + [(label, "", text) for label, text in self.extra]

    @property
    def font(self) -> str:
        """The font of the table."""
        return "sans" if self.layout == "rows" else "serif"


def read_invoices() -> list[Invoice]:
    """Return the invoices of `invoices.toml`."""
    content = tomllib.loads(Path(__file__).with_name("invoices.toml").read_text(encoding="utf-8"))
    parties = {key: Party(*texts) for key, texts in content["parties"].items()}
    for entry in content["invoices"]:
        entry |= {side: parties[entry[side]] for side in ("vendor", "customer")}
        entry |= {"items": [Item(*each) for each in entry["items"]], "words": content["words"] | entry.get("words", {})}
    return [Invoice(**entry) for entry in content["invoices"]]


def draw(invoice: Invoice) -> Paper:
    """Return the pages of an invoice."""
    paper = Paper(scanned=invoice.scanned)
    items = list(enumerate(invoice.items))
    page = 0
    while items:
        page += 1
        with paper.sheet() as sheet:
            top = HEADS[invoice.layout](sheet, invoice) if page == 1 else _next_head(sheet, invoice, page)
            items, y = _table(sheet, invoice, items, top)
            if not items:
                _totals(sheet, invoice, y)
            foot = f"{invoice.vendor.name} · account 00 2291 447 · please quote {invoice.number}"
            draw_rule(sheet)
            sheet.text(LEFT, 790, foot, Style(8, color=GREY))
            sheet.text(RIGHT, 790, f"Page {page}", Style(8, color=GREY), "right")
    return paper


def draw_rule(sheet: Sheet) -> None:
    """Draw the line above the foot of a page."""
    sheet.line((LEFT, 776), (RIGHT, 776), color=HAIR)


def _party(sheet: Sheet, path: str, party: Party, place: Point, size: float = 10.0, *, tax: str = "") -> None:
    """Name and address, one below the other, and behind a word for it the tax number."""
    x, y = place
    style = Style(size)
    sheet.put(f"{path}.name", (x, y), party.name, replace(style, font="sans-bold"))
    sheet.put(f"{path}.address.street", (x, y + 14), party.street, style)
    width = sheet.put(f"{path}.address.postal_code", (x, y + 28), party.postal_code, style)
    sheet.put(f"{path}.address.city", (x + width + 4, y + 28), party.city, style)
    if tax:
        small = Style(size - 1, color=GREY)
        sheet.put(f"{path}.vat_id", (x + sheet.text(x, y + 42, tax, small), y + 42), party.vat_id, small)


def _rows_head(sheet: Sheet, invoice: Invoice) -> float:
    """Firm on the left, labels and values on the right, one pair per row."""
    _party(sheet, "vendor", invoice.vendor, (LEFT, 76), tax="VAT reg. ")
    sheet.text(RIGHT, 84, "INVOICE", Style(22, "sans-bold"), "right")
    for number, (label, path, text) in enumerate(invoice.head):
        y = 124.0 + 16 * number
        sheet.text(356, y, label, Style(9.5, color=GREY))
        sheet.put(path, (452, y), text, Style(9.5, "sans-bold" if path else "sans"))
    sheet.text(LEFT, 168, invoice.words["to"], Style(9.5, color=GREY))
    _party(sheet, "customer", invoice.customer, (LEFT, 184))
    return 262


def _bar_head(sheet: Sheet, invoice: Invoice) -> float:
    """Return a bar of cells, each with its label above its value."""
    sheet.text(LEFT, 86, "Invoice", Style(24, "serif-bold"))
    _party(sheet, "vendor", invoice.vendor, (380, 72), 9.5, tax="VAT no. ")
    for y in (138, 174):
        sheet.line((LEFT, y), (RIGHT, y), color=HAIR)
    for number, (label, path, text) in enumerate(invoice.head):
        x = LEFT + number * 124
        sheet.text(x, 151, label, Style(8, color=GREY))
        sheet.put(path, (x, 166), text, Style(10.5, "serif-bold" if path else "serif"))
    sheet.text(LEFT, 200, invoice.words["to"], Style(9, color=GREY))
    _party(sheet, "customer", invoice.customer, (LEFT, 216))
    return 290


def _letter_head(sheet: Sheet, invoice: Invoice) -> float:
    """Return a letter: number and dates stand in a sentence."""
    small, style = Style(9, "serif"), Style(10.5, "serif")
    vendor, words = invoice.vendor, invoice.words
    _party(sheet, "customer", invoice.customer, (LEFT, 150), 10.5)
    sheet.put("vendor.name", (RIGHT, 76), vendor.name, Style(15, "serif-italic"), align="right")
    sheet.put("vendor.address.street", (RIGHT, 92), vendor.street, small, align="right")
    x = RIGHT - sheet.put("vendor.address.city", (RIGHT, 104), vendor.city, small, align="right") - 3
    sheet.put("vendor.address.postal_code", (x, 104), vendor.postal_code, small, align="right")
    x, y, bold = LEFT, 232.0, replace(style, font="serif-bold")
    x += sheet.text(x, y, words["number"] + " ", bold)
    x += sheet.put("invoice_number", (x, y), invoice.number, bold)
    x += sheet.text(x, y, f" {words['date']} ", style)
    x += sheet.put("invoice_date", (x, y), invoice.date, style)
    if invoice.due:
        x += sheet.text(x, y, f", {words['due']} ", style)
        sheet.put("due_date", (x, y), invoice.due, style)
    sheet.text(LEFT, 256, "Thank you for your order. We charge as agreed:", style)
    return 286


def _next_head(sheet: Sheet, invoice: Invoice, page: int) -> float:
    """Return the first line of a page that continues the table."""
    sheet.text(LEFT, 76, f"{invoice.vendor.name}, invoice {invoice.number}, continued", Style(9, color=GREY))
    sheet.text(RIGHT, 76, f"Sheet {page}", Style(9, color=GREY), "right")
    return 108


HEADS = {"rows": _rows_head, "bar": _bar_head, "letter": _letter_head}


def _table(
    sheet: Sheet, invoice: Invoice, items: Sequence[tuple[int, Item]], top: float
) -> tuple[list[tuple[int, Item]], float]:
    """Head and rows of the table as far as the page reaches; the items that are left, and where the rows end."""
    head, style = Style(9.5, f"{invoice.font}-bold"), Style(10, invoice.font)
    sheet.text(LEFT, top, invoice.heads[0], head)
    for text, x in zip(invoice.heads[1:], COLUMNS.values(), strict=True):
        sheet.text(x, top, text, head, "right")
    sheet.line((LEFT, top + 6), (RIGHT, top + 6), width=0.8)
    y, left = top + 22, list(items)
    while left and y + LINE * left[0][1].description.count("\n") < LAST_ROW:
        number, item = left.pop(0)
        path, lines = f"line_items[{number}]", item.description.split("\n")
        with sheet.field(f"{path}.description", " ".join(lines)):
            for below, line in enumerate(lines):
                sheet.text(LEFT, y + LINE * below, line, style)
        amount = item.quantity * item.cents
        texts = (f"{item.quantity}", f"{item.cents / 100:,.2f}", f"{amount / 100:,.2f}")
        values = (item.quantity, item.cents / 100, amount / 100)
        for (name, x), text, value in zip(COLUMNS.items(), texts, values, strict=True):
            sheet.put(f"{path}.{name}", (x, y), text, style, align="right", value=value)
        y += ROW + LINE * (len(lines) - 1)
    sheet.line((LEFT, y - 6), (RIGHT, y - 6), color=HAIR)
    return left, y


def _totals(sheet: Sheet, invoice: Invoice, y: float) -> None:
    """Subtotal, tax and total at the right edge, and a remark."""
    net = sum(item.quantity * item.cents for item in invoice.items)
    tax = round(net * invoice.rate / 100)
    words, font = invoice.words, invoice.font
    rows = (
        (words["subtotal"], "subtotal", net, font),
        (f"{words['tax']} {invoice.rate} %", "tax", tax, font),
        (words["total"], "total", net + tax, f"{font}-bold"),
    )
    for number, (label, path, cents, weight) in enumerate(rows):
        baseline, style = y + 14 + 17 * number, Style(10.5, weight)
        sheet.text(372, baseline, label, style)
        width = sheet.put(path, (RIGHT, baseline), f"{cents / 100:,.2f}", style, align="right", value=cents / 100)
        if invoice.currency:
            sheet.text(RIGHT - width, baseline, invoice.currency, style, "right")
    if invoice.note:
        sheet.text(LEFT, y + 82, invoice.note, Style(9.5, font))
