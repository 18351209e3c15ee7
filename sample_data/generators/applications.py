"""Five invented applications for a market pitch: a form in boxes, with an address, lists and a signature.

Owns what stands on them and where. Two of them have a second sheet for the list of goods.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sample_data.generators.canvas import GREY, HAIR, INK, Canvas, Style
from sample_data.generators.invoices import LEFT, RIGHT, draw_rule
from sample_data.generators.paperwork import Paper, Sheet, plain

# Typed into the boxes of the form.
TYPED = "mono"
GOODS_ON_FIRST = 4
# Path and text of a box; None leaves it empty.
Typed = tuple[str, str | None]


@dataclass(frozen=True)
class Application:
    """One form; None leaves a box empty."""

    name: str
    applicant: str
    birth_date: str
    street: str
    postal_code: str
    city: str
    phone: str | None
    email: str | None
    days: tuple[str, ...]
    length: str
    goods: tuple[str, ...]
    fee: str
    date: str
    signed: bool
    size: float = 11.0
    scanned: bool = False


APPLICATIONS: tuple[Application, ...] = (
    Application(
        name="pitch-ruiz", applicant="Marta Ruiz", birth_date="14.08.1979", street="Ferry Steps 12",
        postal_code="63008", city="Port Ander", phone="0711 40 22 91", email="marta@ruiz-honey.example",
        days=("Saturday",), length="3.5 m", goods=("Honey", "Candles", "Pollen"), fee="84.00", date="02.03.2025",
        signed=True,
    ),
    Application(
        name="pitch-okafor", applicant="Daniel Okafor", birth_date="02.11.1988", street="Upper Hill 4",
        postal_code="51012", city="Northbank", phone="0744 18 30 05", email=None, days=("Wednesday", "Saturday"),
        length="6 m", goods=("Potatoes", "Carrots", "Leeks", "Onions", "Apples", "Pears", "Cider"), fee="211.50",
        date="27.02.2025", signed=True,
    ),
    Application(
        name="pitch-lindqvist", applicant="Elsa Lindqvist", birth_date="30.05.1964",
        street="Garden Walk, the yellow house", postal_code="40233", city="Harlow Bay", phone=None,
        email="elsa at lindqvist.example", days=("Friday", "Saturday"), length="about 4 m",
        goods=("Bread", "Rolls", "Rye cake"), fee="156.00", date="11.03.2025", signed=False, size=9.5,
    ),
    Application(
        name="pitch-tan", applicant="Wei Tan", birth_date="9 Jan 1991", street="Tram Depot Road 3 b",
        postal_code="51877", city="Eastmoor", phone="0722-901477", email="stall@tan-noodles.example",
        days=("Saturday",), length="5 m", goods=("Noodle soup", "Dumplings"), fee="132,-", date="05.03.2025",
        signed=True,
    ),
    Application(
        name="pitch-moreau", applicant="Claire Moreau", birth_date="21.12.1972", street="Old Customs House 1",
        postal_code="63001", city="Port Ander", phone="0710 02 66 13", email="claire@moreau.example",
        days=("Wednesday", "Friday", "Saturday"), length="8 m",
        goods=("Goat cheese", "Butter", "Quark", "Cream", "Yoghurt", "Eggs"), fee="344.00", date="19.02.2025",
        signed=True, size=12.0, scanned=True,
    ),
)  # fmt: skip


def draw(form: Application) -> Paper:
    """The pages of an application."""
    paper = Paper(scanned=form.scanned)
    with paper.sheet() as sheet:
        _head(sheet)
        _person(sheet, form)
        _pitch(sheet, form)
        _goods(sheet, form, range(min(len(form.goods), GOODS_ON_FIRST)), 470)
        if len(form.goods) > GOODS_ON_FIRST:
            sheet.say(LEFT + 6, 470 + 20 * GOODS_ON_FIRST + 2, "continued on sheet 2", plain(8.5, color=GREY))
        _end(sheet, form)
        draw_rule(sheet.canvas)
    if len(form.goods) > GOODS_ON_FIRST:
        with paper.sheet() as sheet:
            sheet.say(LEFT, 76, "Application for a market pitch, sheet 2", plain(11, "sans-bold"))
            sheet.say(LEFT, 108, "5  Goods, continued", plain(9, color=GREY))
            _goods(sheet, form, range(GOODS_ON_FIRST, len(form.goods)), 128)
            draw_rule(sheet.canvas)
    return paper


def _head(sheet: Sheet) -> None:
    sheet.say(LEFT, 74, "Application for a market pitch", plain(18, "sans-bold"))
    sheet.say(LEFT, 92, "Market office, 1 Assembly Square, 40200 Harlow Bay", plain(9, color=GREY))
    sheet.say(RIGHT, 92, "Form M 12", plain(9, color=GREY), "right")


def _box(typed: Style, sheet: Sheet, place: tuple[float, float, float], label: str, field: Typed) -> None:
    """A box of the form at (x, y) and so wide, with its label in the corner and its value typed below."""
    (x, y, width), (path, text) = place, field
    sheet.canvas.rect((x, y, x + width, y + 38), color=HAIR)
    sheet.say(x + 5, y + 11, label, plain(7.5, color=GREY))
    if text is not None:
        sheet.put(path, (x + 6, y + 29), text, typed)


def _person(sheet: Sheet, form: Application) -> None:
    typed = plain(form.size, TYPED)
    sheet.say(LEFT, 126, "1  Applicant", plain(11, "sans-bold"))
    _box(typed, sheet, (LEFT, 134, 300), "Name", ("applicant.name", form.applicant))
    _box(typed, sheet, (366, 134, 173), "Date of birth", ("applicant.birth_date", form.birth_date))
    sheet.say(LEFT, 198, "2  Address", plain(11, "sans-bold"))
    _box(typed, sheet, (LEFT, 206, 230), "Street and number", ("applicant.address.street", form.street))
    _box(typed, sheet, (296, 206, 92), "Postal code", ("applicant.address.postal_code", form.postal_code))
    _box(typed, sheet, (398, 206, 141), "Town", ("applicant.address.city", form.city))
    _box(typed, sheet, (LEFT, 254, 230), "Telephone", ("contact.phone", form.phone))
    _box(typed, sheet, (296, 254, 243), "E-mail", ("contact.email", form.email))


def _pitch(sheet: Sheet, form: Application) -> None:
    sheet.say(LEFT, 322, "3  Market days", plain(11, "sans-bold"))
    for number, day in enumerate(("Wednesday", "Friday", "Saturday")):
        x = LEFT + 120 * number
        sheet.canvas.rect((x, 334, x + 11, 345), color=INK)
        if day in form.days:
            sheet.canvas.line((x + 2, 336), (x + 9, 343), width=1.2)
            sheet.canvas.line((x + 9, 336), (x + 2, 343), width=1.2)
            sheet.put(f"pitch.days[{form.days.index(day)}]", (x + 18, 343), day, plain(10.5))
        else:
            sheet.say(x + 18, 343, day, plain(10.5))
    typed = plain(form.size, TYPED)
    sheet.say(LEFT, 376, "4  Pitch", plain(11, "sans-bold"))
    _box(typed, sheet, (LEFT, 384, 150), "Length of the front", ("pitch.length", form.length))
    _box(typed, sheet, (216, 384, 150), "Fee for the season", ("pitch.fee", form.fee))
    sheet.say(LEFT, 450, "5  Goods", plain(11, "sans-bold"))


def _goods(sheet: Sheet, form: Application, numbers: Sequence[int], top: float) -> None:
    """One line for each kind of goods."""
    for row, number in enumerate(numbers):
        y = top + 20 * row
        sheet.say(LEFT + 6, y, f"{number + 1}.", plain(9, color=GREY))
        sheet.put(f"goods[{number}]", (LEFT + 26, y), form.goods[number], plain(form.size, TYPED))
        sheet.canvas.line((LEFT + 22, y + 4), (330, y + 4), color=HAIR)


def _end(sheet: Sheet, form: Application) -> None:
    """Date and signature."""
    sheet.say(LEFT, 640, "Date", plain(8, color=GREY))
    sheet.put("date", (LEFT, 660), form.date, plain(form.size, TYPED))
    sheet.canvas.line((LEFT, 666), (200, 666), color=HAIR)
    sheet.say(270, 640, "Signature", plain(8, color=GREY))
    sheet.canvas.line((270, 666), (RIGHT, 666), color=HAIR)
    if form.signed:
        sheet.drawn("signed", True, lambda canvas: _signature(canvas, form.applicant))


def _signature(canvas: Canvas, name: str) -> None:
    """A stroke that the letters of the name shape."""
    points = []
    for step in range(20 * len(name)):
        at = step / 20
        height = 4.0 + (ord(name[int(at)]) % 7) * 1.1
        points.append((284 + 9.0 * at + 3.2 * math.cos(2 * math.pi * at), 658 - height * math.sin(2 * math.pi * at)))
    canvas.polyline(points, color=(0.10, 0.20, 0.52), width=1.1)
