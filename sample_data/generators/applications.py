"""Five invented applications for a market pitch: a form in boxes, with an address, lists and a signature.

Owns how they are set; what stands on them is in `applications.toml`. One has a second sheet for the list of goods.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sample_data.generators.canvas import GREY, HAIR, INK, Style
from sample_data.generators.invoices import LEFT, RIGHT, draw_rule
from sample_data.generators.paperwork import Paper, Sheet

GOODS_ON_FIRST = 4


@dataclass(frozen=True)
class Application:
    """One form: the texts in its boxes by the path of their field, and what is in its lists."""

    name: str
    texts: Mapping[str, str]
    days: Sequence[str]
    goods: Sequence[str]
    signed: bool
    size: float = 11.0
    scanned: bool = False


CONTENT = tomllib.loads(Path(__file__).with_name("applications.toml").read_text(encoding="utf-8"))
APPLICATIONS = [Application(**entry) for entry in CONTENT["applications"]]


def draw(form: Application) -> Paper:
    """Return the pages of an application."""
    paper = Paper(scanned=form.scanned)
    with paper.sheet() as sheet:
        sheet.text(LEFT, 74, "Application for a market pitch", Style(18, "sans-bold"))
        sheet.text(LEFT, 92, "Market office, 1 Assembly Square, 40200 Harlow Bay", Style(9, color=GREY))
        sheet.text(RIGHT, 92, "Form M 12", Style(9, color=GREY), "right")
        _boxes(sheet, form)
        _goods(sheet, form, range(min(len(form.goods), GOODS_ON_FIRST)), 470)
        if len(form.goods) > GOODS_ON_FIRST:
            sheet.text(LEFT + 6, 470 + 20 * GOODS_ON_FIRST + 2, "continued on sheet 2", Style(8.5, color=GREY))
        _end(sheet, form)
        draw_rule(sheet)
    if len(form.goods) > GOODS_ON_FIRST:
        with paper.sheet() as sheet:
            sheet.text(LEFT, 76, "Application for a market pitch, sheet 2", Style(11, "sans-bold"))
            sheet.text(LEFT, 108, "5  Goods, continued", Style(9, color=GREY))
            _goods(sheet, form, range(GOODS_ON_FIRST, len(form.goods)), 128)
            draw_rule(sheet)
    return paper


def _boxes(sheet: Sheet, form: Application) -> None:
    """Headings, and boxes with their label in the corner and their value typed below; the days below their heading."""
    for x, y, label, *box in CONTENT["form"]:
        if not box:
            sheet.text(x, y, label, Style(11, "sans-bold"))
        else:
            width, path = box
            sheet.rect((x, y, x + width, y + 38), color=HAIR)
            sheet.text(x + 5, y + 11, label, Style(7.5, color=GREY))
            if path in form.texts:
                sheet.put(path, (x + 6, y + 29), form.texts[path], Style(form.size, "mono"))
        if label.endswith("Market days"):
            _days(sheet, form)


def _days(sheet: Sheet, form: Application) -> None:
    """Draw the market days, those of the form crossed."""
    for number, day in enumerate(("Wednesday", "Friday", "Saturday")):
        x = LEFT + 120 * number
        sheet.rect((x, 334, x + 11, 345), color=INK)
        if day in form.days:
            sheet.line((x + 2, 336), (x + 9, 343), width=1.2)
            sheet.line((x + 9, 336), (x + 2, 343), width=1.2)
            sheet.put(f"pitch.days[{form.days.index(day)}]", (x + 18, 343), day, Style(10.5))
        else:
            sheet.text(x + 18, 343, day, Style(10.5))


def _goods(sheet: Sheet, form: Application, numbers: Sequence[int], top: float) -> None:
    """One line for each kind of goods."""
    for row, number in enumerate(numbers):
        y = top + 20 * row
        sheet.text(LEFT + 6, y, f"{number + 1}.", Style(9, color=GREY))
        sheet.put(f"goods[{number}]", (LEFT + 26, y), form.goods[number], Style(form.size, "mono"))
        sheet.line((LEFT + 22, y + 4), (330, y + 4), color=HAIR)


def _end(sheet: Sheet, form: Application) -> None:
    """Date and signature, a stroke that the letters of the name shape."""
    sheet.text(LEFT, 640, "Date", Style(8, color=GREY))
    sheet.put("date", (LEFT, 660), form.texts["date"], Style(form.size, "mono"))
    sheet.line((LEFT, 666), (200, 666), color=HAIR)
    sheet.text(270, 640, "Signature", Style(8, color=GREY))
    sheet.line((270, 666), (RIGHT, 666), color=HAIR)
    points, name = [], form.texts["applicant.name"]
    for step in range(20 * len(name)):
        at = step / 20
        height = 4.0 + (ord(name[int(at)]) % 7) * 1.1
        points.append((284 + 9.0 * at + 3.2 * math.cos(2 * math.pi * at), 658 - height * math.sin(2 * math.pi * at)))
    if form.signed:
        with sheet.field("signed", True):
            sheet.polyline(points, color=(0.10, 0.20, 0.52), width=1.1)
