"""Council minutes of 1997: a digital cover sheet of the archive and three scanned pages from a typewriter."""

from __future__ import annotations

import math

from sample_data.generators.canvas import GREY, INK, Canvas, Style
from sample_data.generators.charts import GREYS, sideways_bars
from sample_data.generators.layout import (
    Caption,
    Figure,
    Heading,
    Item,
    Page,
    Paragraph,
    Rule,
    Span,
    Table,
    Theme,
    Title,
    numbered,
)
from sample_data.generators.report import Report

THEME = Theme(
    body="mono",
    heads="mono",
    accent=INK,
    size=10.8,
    leading=18.4,
    title_size=16.5,
    head_sizes=(11.4, 10.8),
    table_font="mono",
    table_size=10.4,
    caption_font="mono",
    caption_size=10.0,
    gap=10.5,
    justify=False,
)


def _stamp(canvas: Canvas) -> None:
    """Draw the entry stamp of the archive: part of the sheet, not of its layout."""
    x, y = canvas.width - 176, canvas.height - 150
    canvas.rect((x, y, x + 88, y + 40), color=GREY, width=1.4)
    canvas.text(x + 44, y + 14, "RECEIVED", Style(9.5, "sans-bold", GREY), "center")
    canvas.text(x + 44, y + 25, "2 OCT 1997", Style(8.5, "sans", GREY), "center")
    canvas.text(x + 44, y + 35, "TOWN CLERK", Style(7.0, "sans", GREY), "center")
    signature = [(x - 8 + 1.1 * t, y + 62 + 7 * math.sin(t / 4.2) * math.cos(t / 11)) for t in range(84)]
    canvas.polyline(signature, color=GREY, width=0.9)


SHEET = Page(
    bands=[
        Span(
            [
                Title("Town Council of Ambleford: Minutes of 1997", scale=1.1),
                Rule(),
                Paragraph(
                    "Archive sheet. The minutes were typed by the clerk and kept in a wooden box in the "
                    "cellar of the town hall. They were scanned in 2009 at low resolution; the originals "
                    "were lost when the cellar was flooded in the following winter."
                ),
                Heading("Contents of this file"),
                *numbered(
                    "Minutes of the meeting of 30 September 1997, pages 1 and 2.",
                    "Statement of the town account for the third quarter, page 3.",
                    hang=24.0,
                ),
                Heading("Description"),
                Table(
                    "ll",
                    [["Field", "Entry"]],
                    [
                        ["Call number", "AMB 4/1997/09"],
                        ["Extent", "3 sheets, one side"],
                        ["Language", "English"],
                        ["Scanned", "14 May 2009"],
                        ["Text layer", "none"],
                        ["Access", "open"],
                    ],
                    rules="grid",
                    weights=(0.4, 1),
                ),
                Paragraph(
                    "Names of private persons who spoke at the meeting are given as in the original. The "
                    "page numbers are those of the minute book and do not agree with the order of the "
                    "sheets in the box."
                ),
                Heading("Condition of the sheets"),
                Paragraph(
                    "All three sheets were folded once. The left margin is darkened where they lay "
                    "against the spine of the binder. There are small stains on the second sheet, "
                    "probably of tea."
                ),
            ]
        )
    ]
)

MINUTES = Page(
    backdrop=_stamp,
    bands=[
        Span(
            [
                Title("MINUTES OF THE TOWN COUNCIL"),
                Paragraph("Meeting of Tuesday, 30 September 1997, 7.30 p.m."),
                Paragraph(
                    "Present: the mayor, Mrs Hale; councillors Birch, Dunmore, Ives, Okafor, Pell, Strand "
                    "and Wetherby; the clerk. Apologies were received from councillor Lorne, who was at "
                    "sea."
                ),
                Heading("1. MINUTES OF THE LAST MEETING"),
                Paragraph(
                    "The minutes of 26 August were read and approved with one correction: the cost of the "
                    "new pump is 4,310 and not 3,410 pounds."
                ),
                Heading("2. THE FOOTBRIDGE"),
                Paragraph(
                    "The surveyor reported that the deck of the footbridge at Mill Lane is sound but that "
                    "two of the nine posts on the east side have rotted below the water line. He "
                    "recommended that the bridge be closed to carts at once and to everybody from the "
                    "first of November."
                ),
                Paragraph(
                    "Councillor Pell asked whether the posts could be replaced one at a time. The "
                    "surveyor said that they could, at twice the price. After discussion it was resolved:"
                ),
                Item("that the bridge be closed to carts from tomorrow;", "(a)", 24.0),
                Item("that three tenders be invited for nine oak posts;", "(b)", 24.0),
                Item(
                    "that the ferryman be paid 12 pounds a day while the bridge is closed to persons on foot.",
                    "(c)",
                    24.0,
                ),
                Heading("3. WINTER HOURS OF THE LIBRARY"),
                Paragraph(
                    "A letter from forty-one readers was laid on the table. They ask that the library "
                    "stay open until eight on Thursdays. The librarian is willing if the stove is lit at "
                    "four."
                ),
            ]
        )
    ],
)

VOTES = Page(
    bands=[
        Span(
            [
                Paragraph(
                    "Councillor Ives moved that the hours be extended for a trial of three months. "
                    "Councillor Birch moved as an amendment that the coal be paid for by the readers. The "
                    "amendment was lost and the motion carried. The votes were as follows."
                ),
                Caption("Table 1.", "Votes on item 3", below=False),
                Table(
                    "lccc",
                    [["Councillor", "Amendment", "Motion", "Trial report"]],
                    [
                        ["Birch", "for", "against", "for"],
                        ["Dunmore", "against", "for", "for"],
                        ["Ives", "against", "for", "for"],
                        ["Okafor", "against", "for", "abstained"],
                        ["Pell", "for", "against", "for"],
                        ["Strand", "against", "for", "for"],
                        ["Wetherby", "abstained", "for", "for"],
                    ],
                    rules="grid",
                ),
                Heading("4. ANY OTHER BUSINESS"),
                Paragraph(
                    "The clerk reported that the clock of the town hall has lost eleven minutes since "
                    "Easter. The clockmaker asks for 85 pounds. Councillor Strand thought that the town "
                    "had got used to it. Agreed to repair it after the harvest fair, so that nobody "
                    "should miss the train."
                ),
                Paragraph(
                    "The mayor thanked the members of the brass band for playing at the opening of the "
                    "pump house on 6 September."
                ),
                Heading("5. NEXT MEETING"),
                Paragraph("Tuesday, 28 October 1997, at the same hour. The meeting closed at 9.50 p.m."),
                Paragraph("Signed as a true record: E. Hale, mayor; J. Carver, clerk."),
            ]
        )
    ],
    footnotes=[("*", "The trial report was asked for by councillor Okafor before the vote and is due in January.")],
)

ACCOUNT = Page(
    bands=[
        Span(
            [
                Heading("STATEMENT OF THE TOWN ACCOUNT, THIRD QUARTER 1997"),
                Table(
                    "lrrr",
                    [["", "Budget", "Spent", "Left"]],
                    [
                        ["Roads and bridges", "41,000", "36,240", "4,760"],
                        ["Water and pump house", "28,500", "27,915", "585"],
                        ["Library", "6,200", "4,110", "2,090"],
                        ["Parks and fair", "3,900", "3,320", "580"],
                        ["Town hall", "9,400", "6,875", "2,525"],
                        ["=Total", "89,000", "78,460", "10,540"],
                    ],
                    rules="bare",
                    weights=(2, 1, 1, 1),
                ),
                Caption("Table 2.", "Account at 30 September 1997, in pounds"),
                Paragraph(
                    "The account of the water works is nearly exhausted because the pump was paid in one "
                    "sum. The treasurer proposes to move 2,000 pounds from the roads, provided that the "
                    "posts of the footbridge are not delivered before the new year."
                ),
                Figure(
                    sideways_bars(
                        ("Roads", "Water", "Town hall", "Library", "Parks"),
                        (36240, 27915, 6875, 4110, 3320),
                        unit="Pounds spent by 30 September",
                        color=GREYS[1],
                    ),
                    170,
                    grow=False,
                    inset=20,
                ),
                Caption("Figure 1.", "Money spent by purpose"),
                Paragraph("Laid before the council by the treasurer, M. Quill, on 30 September 1997."),
            ]
        )
    ]
)

REPORT = Report(
    name="scanned-minutes-1997",
    head=("TOWN COUNCIL OF AMBLEFORD", "Minute book 1997"),
    foot=("", "- {page} -", ""),
    theme=THEME,
    margin=(78.0, 88.0, 74.0, 84.0),
    pages=[SHEET, MINUTES, VOTES, ACCOUNT],
    first_number=211,
    scanned={1: 0.55, 2: -0.7, 3: 0.35},
)
