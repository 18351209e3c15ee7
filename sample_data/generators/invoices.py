"""Nine invented invoices in three layouts, with labels in several wordings and tables over one or two pages.

Owns what stands on them and where. Every firm, person, street and number is made for this project.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sample_data.generators.canvas import GREY, HAIR, Canvas
from sample_data.generators.paperwork import Paper, Sheet, plain

LEFT, RIGHT = 56.0, 539.0
ROW = 17.0
LAST_ROW = 640.0
COLUMNS = {"quantity": 372.0, "unit_price": 452.0, "amount": RIGHT}


@dataclass(frozen=True)
class Party:
    """Name, street, postal code and city of one side."""

    name: str
    street: str
    postal_code: str
    city: str


@dataclass(frozen=True)
class Item:
    """A line of the table: description in one or more lines, quantity and unit price in cents."""

    description: tuple[str, ...]
    quantity: int
    cents: int


@dataclass(frozen=True)
class Words:
    """How an invoice words its labels."""

    number: str = "Invoice no."
    date: str = "Invoice date"
    due: str = "Due date"
    to: str = "Bill to"
    heads: tuple[str, str, str, str] = ("Description", "Qty", "Unit price", "Amount")
    subtotal: str = "Subtotal"
    tax: str = "VAT"
    total: str = "Total"


@dataclass(frozen=True)
class Invoice:
    """One document; `extra` are label and value of a line that is no field, such as an order number."""

    name: str
    layout: str
    vendor: Party
    vat_id: str
    customer: Party
    number: str
    date: str
    due: str | None
    items: tuple[Item, ...]
    rate: int
    currency: str
    words: Words = Words()
    extra: tuple[tuple[str, str], ...] = ()
    note: str = ""
    scanned: bool = False


HARTWELL = Party("Hartwell Paper & Print", "14 Millrace Lane", "40213", "Harlow Bay")
NORRIS = Party("Norris Instrument Works", "Unit 7, Canal Yard", "51877", "Eastmoor")
ALDER = Party("Alder & Finch Catering", "3 Orchard Row", "40219", "Harlow Bay")
QUAYSIDE = Party("Quayside Office Supply", "220 Pier Road", "63004", "Port Ander")
LUND = Party("Lund Freight", "c/o Pilot Station, Breakwater 2", "63002", "Port Ander")
COUNCIL = Party("River Districts Council", "1 Assembly Square", "40200", "Harlow Bay")
SCHOOL = Party("Northbank School", "48 Hill Street", "51012", "Northbank")
HARBOUR = Party("Port Ander Harbour Office", "9 Customs Quay", "63001", "Port Ander")

INVOICES: tuple[Invoice, ...] = (
    Invoice(
        name="hartwell-3317",
        layout="rows",
        vendor=HARTWELL,
        vat_id="RD 4471 902",
        customer=COUNCIL,
        number="HP-2025-3317",
        date="12 March 2025",
        due="11 April 2025",
        items=(
            Item(("Annual report, 96 pages, stitched",), 400, 412),
            Item(("Leaflet, two folds",), 2500, 18),
            Item(("Proof prints",), 3, 2450),
        ),
        rate=20,
        currency="GBP ",
        extra=(("Order no.", "PO-88213"), ("Delivery date", "10 March 2025")),
    ),
    Invoice(
        name="norris-20418",
        layout="rows",
        vendor=NORRIS,
        vat_id="EM 2290 115",
        customer=SCHOOL,
        number="20418",
        date="3 April 2025",
        due="3 May 2025",
        items=(
            Item(("Bench multimeter, 5 digits",), 6, 18900),
            Item(("Calibration of six instruments,", "with certificate"), 6, 4200),
            Item(("Test leads, pair",), 12, 750),
            Item(("Carriage and insurance",), 1, 3800),
        ),
        rate=19,
        currency="",
        words=Words(number="Invoice number", date="Date", due="Payment due", subtotal="Net amount", total="Amount due"),
        extra=(("Customer no.", "10-4471"),),
    ),
    Invoice(
        name="alder-catering-0092",
        layout="letter",
        vendor=ALDER,
        vat_id="RD 7718 334",
        customer=COUNCIL,
        number="AF 0092",
        date="28 May 2025",
        due="27 June 2025",
        items=(
            Item(("Buffet for the hearing of 21 May,", "forty persons"), 40, 1650),
            Item(("Coffee and water, two sittings",), 2, 9800),
            Item(("Service staff, hours",), 12, 2400),
        ),
        rate=7,
        currency="",
        words=Words(
            number="Invoice", date="of", due="payable by", heads=("Item", "No.", "Each", "Sum"),
            subtotal="Sum of items", tax="Tax", total="To pay",
        ),
    ),
    Invoice(
        name="quayside-77120",
        layout="bar",
        vendor=QUAYSIDE,
        vat_id="PA 1183 760",
        customer=HARBOUR,
        number="QS-77120",
        date="2025-02-06",
        due=None,
        items=tuple(
            Item((text,), count, cents)
            for text, count, cents in (
                ("Copy paper A4, box of five", 24, 1890),
                ("Lever arch file, grey", 60, 245),
                ("Document wallet, green", 120, 38),
                ("Ballpoint pen, blue", 200, 31),
                ("Highlighter, set of four", 30, 420),
                ("Desk lamp, folding", 4, 3975),
                ("Whiteboard marker, black", 48, 112),
                ("Correction tape", 36, 189),
                ("Envelope C4, box of 250", 10, 1560),
                ("Stapler, 30 sheets", 8, 1235),
                ("Staples, box", 40, 96),
                ("Wall planner 2025", 12, 740),
                ("Ring binder, four rings", 50, 310),
                ("Index cards, ruled", 20, 265),
                ("Paper clips, box", 60, 74),
                ("Adhesive notes, pad", 96, 88),
                ("Archive box", 80, 195),
                ("Date stamp", 3, 2190),
                ("Ink for stamp pads", 6, 515),
                ("Drawing pins, box", 15, 82),
                ("Calculator, twelve digits", 5, 2680),
                ("Waste paper basket", 9, 1145),
                ("Shredder oil", 2, 1690),
                ("Cable tidy, set", 14, 925),
                ("Key cabinet, 48 hooks", 1, 8990),
                ("Label tape, 12 mm", 18, 1075),
            )
        ),
        rate=20,
        currency="",
        words=Words(number="Invoice number", date="Invoice date", due="Due date", total="Total due"),
        extra=(("Order number", "H-2025-019"),),
    ),
    Invoice(
        name="hartwell-3402",
        layout="rows",
        vendor=HARTWELL,
        vat_id="RD 4471 902",
        customer=SCHOOL,
        number="HP-2025-3402",
        date="30 April 2025",
        due="30 May 2025",
        items=(
            Item(("Exercise books, ruled, 48 pages",), 1200, 64),
            Item(("Certificates, foil print",), 180, 135),
        ),
        rate=20,
        currency="GBP ",
        extra=(("Order no.", "NB-0417"), ("Delivery date", "29 April 2025")),
        note="Total weight 214 kg, two pallets. Total of last year: GBP 901.20.",
    ),
    Invoice(
        name="norris-20466",
        layout="bar",
        vendor=NORRIS,
        vat_id="EM 2290 115",
        customer=HARBOUR,
        number="20466",
        date="19 June 2025",
        due="19 July 2025",
        items=(
            Item(("Tide gauge, pressure type,", "20 m cable"), 2, 164000),
            Item(("Data logger",), 2, 58500),
            Item(("Mounting set, stainless",), 2, 12750),
            Item(("Installation, days",), 3, 62000),
            Item(("Travel, flat rate",), 1, 18000),
        ),
        rate=19,
        currency="",
        scanned=True,
        words=Words(
            number="Document", date="Issued", due="Payable by", to="Customer", subtotal="Net amount",
            total="Grand total",
        ),
    ),
    Invoice(
        name="lund-freight-118",
        layout="rows",
        vendor=LUND,
        vat_id="PA 0904 218",
        customer=QUAYSIDE,
        number="118/25",
        date="24 June 2025",
        due="8 July 2025",
        items=(
            Item(("Harbour to yard, full load",), 3, 14500),
            Item(("Waiting time, quarter hours",), 5, 1850),
            Item(("Crane, per lift",), 9, 2400),
        ),
        rate=5,
        currency="",
        words=Words(
            number="Ref.", date="Dated", due="Settle by", to="Consignee", heads=("Service", "Units", "Rate", "Charge"),
            subtotal="Charges", tax="Levy", total="Balance",
        ),
        extra=(("Vessel due", "2 July 2025"),),
    ),
    Invoice(
        name="quayside-credit-77188",
        layout="bar",
        vendor=QUAYSIDE,
        vat_id="PA 1183 760",
        customer=HARBOUR,
        number="QS-77188",
        date="2025-02-20",
        due=None,
        items=(
            Item(("Lever arch file, grey, returned",), 12, -245),
            Item(("Desk lamp, folding, faulty",), 1, -3975),
        ),
        rate=20,
        currency="",
        words=Words(number="Credit note", date="Date", total="Total credit"),
        extra=(("For invoice number", "QS-77120"), ("Payment due", "none")),
    ),
    Invoice(
        name="alder-catering-0107",
        layout="letter",
        vendor=ALDER,
        vat_id="RD 7718 334",
        customer=HARBOUR,
        number="AF 0107",
        date="4 July 2025",
        due=None,
        items=(
            Item(("Launch of the pilot boat,", "lunch for twenty-five,", "served on the quay"), 25, 2890),
            Item(("Marquee, one day",), 1, 31000),
            Item(("Glass and china on loan",), 75, 60),
        ),
        rate=7,
        currency="",
        words=Words(
            number="Invoice", date="of", heads=("Item", "No.", "Each", "Sum"),
            subtotal="Sum of items", tax="Tax", total="To pay",
        ),
    ),
)  # fmt: skip


def draw(invoice: Invoice) -> Paper:
    """The pages of an invoice."""
    paper = Paper(scanned=invoice.scanned)
    items = list(enumerate(invoice.items))
    page = 0
    while items or page == 0:
        page += 1
        with paper.sheet() as sheet:
            top = HEADS[invoice.layout](sheet, invoice) if page == 1 else _next_head(sheet, invoice, page)
            items, y = _table(sheet, invoice, items, top)
            if not items:
                _totals(sheet, invoice, y)
            _foot(sheet, invoice, page)
    return paper


def money(cents: int) -> str:
    """An amount with two decimals.

    >>> money(123456), money(-245)
    ('1,234.56', '-2.45')
    """
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100:,}.{abs(cents) % 100:02}"


def _party(sheet: Sheet, path: str, party: Party, place: tuple[float, float], size: float = 10.0) -> None:
    """Name and address, one below the other."""
    x, y = place
    style = plain(size)
    sheet.put(f"{path}.name", (x, y), party.name, style.with_font("sans-bold"))
    sheet.put(f"{path}.address.street", (x, y + 14), party.street, style)
    width = sheet.put(f"{path}.address.postal_code", (x, y + 28), party.postal_code, style)
    sheet.put(f"{path}.address.city", (x + width + 4, y + 28), party.city, style)


def _rows_head(sheet: Sheet, invoice: Invoice) -> float:
    """Firm on the left, labels and values on the right, one pair per row."""
    _party(sheet, "vendor", invoice.vendor, (LEFT, 76))
    sheet.put("vendor.vat_id", (LEFT, 118), invoice.vat_id, plain(9, color=GREY), before="VAT reg. ")
    sheet.say(RIGHT, 84, "INVOICE", plain(22, "sans-bold"), "right")
    words = invoice.words
    rows = [(words.number, "invoice_number", invoice.number), (words.date, "invoice_date", invoice.date)]
    rows += [(words.due, "due_date", invoice.due)] if invoice.due else []
    for number, (label, path, text) in enumerate(rows):
        sheet.say(356, 124 + 16 * number, label, plain(9.5, color=GREY))
        sheet.put(path, (452, 124 + 16 * number), text, plain(9.5, "sans-bold"))
    for number, (label, text) in enumerate(invoice.extra, start=len(rows)):
        sheet.say(356, 124 + 16 * number, label, plain(9.5, color=GREY))
        sheet.say(452, 124 + 16 * number, text, plain(9.5))
    sheet.say(LEFT, 168, words.to, plain(9.5, color=GREY))
    _party(sheet, "customer", invoice.customer, (LEFT, 184))
    return 262


def _bar_head(sheet: Sheet, invoice: Invoice) -> float:
    """A bar of cells, each with its label above its value."""
    sheet.say(LEFT, 86, "Invoice", plain(24, "serif-bold"))
    _party(sheet, "vendor", invoice.vendor, (380, 72), 9.5)
    sheet.put("vendor.vat_id", (380, 114), invoice.vat_id, plain(8.5, color=GREY), before="VAT no. ")
    words = invoice.words
    cells = [(words.number, "invoice_number", invoice.number), (words.date, "invoice_date", invoice.date)]
    cells += [(words.due, "due_date", invoice.due)] if invoice.due else []
    cells += [(label, "", text) for label, text in invoice.extra]
    sheet.canvas.line((LEFT, 138), (RIGHT, 138), color=HAIR)
    sheet.canvas.line((LEFT, 174), (RIGHT, 174), color=HAIR)
    for number, (label, path, text) in enumerate(cells):
        x = LEFT + number * 124
        sheet.say(x, 151, label, plain(8, color=GREY))
        if path:
            sheet.put(path, (x, 166), text, plain(10.5, "serif-bold"))
        else:
            sheet.say(x, 166, text, plain(10.5, "serif"))
    sheet.say(LEFT, 200, words.to, plain(9, color=GREY))
    _party(sheet, "customer", invoice.customer, (LEFT, 216))
    return 290


def _letter_head(sheet: Sheet, invoice: Invoice) -> float:
    """A letter: number and dates stand in a sentence."""
    style = plain(10.5, "serif")
    _party(sheet, "customer", invoice.customer, (LEFT, 150), 10.5)
    sheet.put("vendor.name", (RIGHT, 76), invoice.vendor.name, plain(15, "serif-italic"), align="right")
    sheet.put("vendor.address.street", (RIGHT, 92), invoice.vendor.street, plain(9, "serif"), align="right")
    width = sheet.put("vendor.address.city", (RIGHT, 104), invoice.vendor.city, plain(9, "serif"), align="right")
    code = (RIGHT - width - 3, 104.0)
    sheet.put("vendor.address.postal_code", code, invoice.vendor.postal_code, plain(9, "serif"), align="right")
    words = invoice.words
    x, y = LEFT, 232.0
    x += sheet.say(x, y, f"{words.number} ", style.with_font("serif-bold"))
    x += sheet.put("invoice_number", (x, y), invoice.number, style.with_font("serif-bold"))
    x += sheet.say(x, y, f" {words.date} ", style)
    x += sheet.put("invoice_date", (x, y), invoice.date, style)
    if invoice.due:
        x += sheet.say(x, y, f", {words.due} ", style)
        x += sheet.put("due_date", (x, y), invoice.due, style)
    sheet.say(LEFT, 256, "Thank you for your order. We charge as agreed:", style)
    return 286


def _next_head(sheet: Sheet, invoice: Invoice, page: int) -> float:
    """The first line of a page that continues the table."""
    sheet.say(LEFT, 76, f"{invoice.vendor.name}, invoice {invoice.number}, continued", plain(9, color=GREY))
    sheet.say(RIGHT, 76, f"Sheet {page}", plain(9, color=GREY), "right")
    return 108


HEADS = {"rows": _rows_head, "bar": _bar_head, "letter": _letter_head}


def _font(invoice: Invoice) -> str:
    return "sans" if invoice.layout == "rows" else "serif"


def _table(
    sheet: Sheet, invoice: Invoice, items: Sequence[tuple[int, Item]], top: float
) -> tuple[list[tuple[int, Item]], float]:
    """Head and rows of the table as far as the page reaches; the items that are left, and where the rows end."""
    font = _font(invoice)
    head = plain(9.5, f"{font}-bold")
    sheet.say(LEFT, top, invoice.words.heads[0], head)
    for text, x in zip(invoice.words.heads[1:], COLUMNS.values(), strict=True):
        sheet.say(x, top, text, head, "right")
    sheet.canvas.line((LEFT, top + 6), (RIGHT, top + 6), width=0.8)
    y, style = top + 22, plain(10, font)
    left = list(items)
    while left and y + 13 * (len(left[0][1].description) - 1) < LAST_ROW:
        number, item = left.pop(0)
        path = f"line_items[{number}]"
        sheet.lines(f"{path}.description", (LEFT, y), item.description, style, 13)
        texts = (f"{item.quantity}", money(item.cents), money(item.quantity * item.cents))
        values = (item.quantity, item.cents / 100, item.quantity * item.cents / 100)
        for (name, x), text, value in zip(COLUMNS.items(), texts, values, strict=True):
            sheet.put(f"{path}.{name}", (x, y), text, style, align="right", value=value)
        y += ROW + 13 * (len(item.description) - 1)
    sheet.canvas.line((LEFT, y - 6), (RIGHT, y - 6), color=HAIR)
    return left, y


def _totals(sheet: Sheet, invoice: Invoice, y: float) -> None:
    """Subtotal, tax and total at the right edge, and a remark."""
    net = sum(item.quantity * item.cents for item in invoice.items)
    tax = round(net * invoice.rate / 100)
    words, font = invoice.words, _font(invoice)
    rows = (
        (words.subtotal, "subtotal", net, font),
        (f"{words.tax} {invoice.rate} %", "tax", tax, font),
        (words.total, "total", net + tax, f"{font}-bold"),
    )
    for number, (label, path, cents, weight) in enumerate(rows):
        baseline, style = y + 14 + 17 * number, plain(10.5, weight)
        sheet.say(372, baseline, label, style)
        width = sheet.put(path, (RIGHT, baseline), money(cents), style, align="right", value=cents / 100)
        if invoice.currency:
            sheet.say(RIGHT - width, baseline, invoice.currency, style, "right")
    if invoice.note:
        sheet.say(LEFT, y + 82, invoice.note, plain(9.5, font))


def _foot(sheet: Sheet, invoice: Invoice, page: int) -> None:
    """Bank and page at the foot."""
    draw_rule(sheet.canvas)
    text = f"{invoice.vendor.name} · account 00 2291 447 · please quote {invoice.number}"
    sheet.say(LEFT, 790, text, plain(8, color=GREY))
    sheet.say(RIGHT, 790, f"Page {page}", plain(8, color=GREY), "right")


def draw_rule(canvas: Canvas) -> None:
    """The line above the foot of a page."""
    canvas.line((LEFT, 776), (RIGHT, 776), color=HAIR)
