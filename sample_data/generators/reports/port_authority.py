"""Port authority annual report: Letter format, one-column letter, accounts with hairlines, a page on a larger sheet."""

from __future__ import annotations

from sample_data.generators.charts import TEALS, bars, flow_diagram, lines, sideways_bars
from sample_data.generators.layout import (
    Caption,
    Figure,
    Flow,
    Heading,
    Page,
    Paragraph,
    Row,
    Rule,
    Span,
    Table,
    Theme,
    Title,
    bullets,
)
from sample_data.generators.photos import harbour, photo
from sample_data.generators.report import Report

THEME = Theme(
    body="serif", heads="sans", accent=(0.04, 0.36, 0.38), size=11.2, leading=15.4, title_size=26, table_size=8.8
)

COVER = Page(
    plain=True,
    bands=[
        Span([Title("Port of Maren Authority", scale=1.2), Title("Annual Report 2023", scale=0.8), Rule(3.0)]),
        Span([Figure(photo(harbour(21)), 260)]),
        Span(
            [
                Paragraph(
                    "The Port of Maren lies at the mouth of the Ander. It has eleven berths, two "
                    "container cranes and a rail link to the interior that was doubled in 2021. The "
                    "Authority owns the quays and the land behind them; it leases both to operators and "
                    "keeps the channel open.",
                    scale=1.05,
                ),
                Paragraph("Laid before the Assembly on 18 April 2024", font="serif-italic"),
            ]
        ),
    ],
)

LETTER = Page(
    bands=[
        Span(
            [
                Title("A year of deep water", scale=0.85),
                Paragraph("Letter of the chair of the board", font="serif-italic", scale=1.1, before=0.5),
                Paragraph(
                    "For the first time in nine years every ship that called at Maren could do so at any "
                    "state of the tide. The dredging of the outer bar was finished in February, eleven "
                    "weeks late and two million under its budget. On the third of March the bulk carrier "
                    "{i:Halden} came in with fourteen metres under her keel line at low water, and the "
                    "pilots hung a wreath on the tide gauge."
                ),
                Paragraph(
                    "Traffic followed. We handled 12.4 million tonnes, a tenth more than in 2022. "
                    "Containers grew faster than bulk, which is what the board had hoped for when it "
                    "bought the second crane, and ships waited less: five hours on average, against nine. "
                    "The grain terminal had a poor autumn, as the harvest inland was moved by rail to "
                    "the south."
                ),
                Paragraph(
                    "The result is sound. Revenue rose to 148.2 million, costs to 109.6 million, and the "
                    "surplus of 31.5 million after interest goes into the renewal of quay 4, whose piles "
                    "date from 1938. We have not raised the port dues and do not intend to raise them "
                    "before 2026."
                ),
                Paragraph(
                    "Three people were hurt on the quays this year, none of them badly. That is three too "
                    "many, and fewer than ever. My thanks go to the crews of the tugs, who worked "
                    "through the January gales, and to the night shift of the signal station, who are "
                    "seldom thanked because nothing happens when they do their work well."
                ),
            ]
        ),
        Span(
            [
                Figure(
                    lines(
                        [str(year) for year in range(2010, 2024)],
                        {
                            "Bulk": (6.1, 6.3, 6.0, 6.4, 6.6, 6.5, 6.9, 7.0, 7.1, 7.3, 6.4, 6.9, 7.2, 7.4),
                            "Containers": (1.4, 1.6, 1.9, 2.0, 2.3, 2.5, 2.7, 3.0, 3.2, 3.4, 3.1, 3.6, 4.1, 5.0),
                        },
                        unit="Million tonnes",
                        colors=(TEALS[0], TEALS[2]),
                        area=True,
                        dots=False,
                    ),
                    110,
                ),
                Caption("Figure 1.", "Goods handled at Maren, 2010 to 2023"),
            ]
        ),
    ]
)

TRAFFIC = Page(
    trimmed=True,
    bands=[
        Flow(
            [
                Heading("Traffic"),
                Paragraph(
                    "The port handled 2,318 calls in 2023. Fewer but larger ships carried more goods, as "
                    "in every year since the bar was first deepened. A container ship now brings 1,140 "
                    "boxes on average and takes away 1,020; the difference, mostly empty boxes, leaves by "
                    "train."
                ),
                Paragraph(
                    "Bulk trade grew by three per cent. Ore and stone are carried under long contracts "
                    "and vary little. Timber recovered after the storm of 2022. Grain fell by a fifth, "
                    "since the mills in the south paid more and the railway offered wagons that the port "
                    "could not match."
                ),
                Heading("How a box leaves the port", 2),
                Paragraph(
                    "Two thirds of all boxes leave on the day after they are landed. The figure shows the "
                    "way of a box from the ship to the gate. Customs sees the papers before the ship "
                    "ties up, so that only one box in forty is opened."
                ),
                Paragraph(
                    "The slowest step is the gate. Lorries come in the morning, trains at night, and "
                    "between ten and two the queue reaches the ring road. A booking system began in "
                    "October; it has halved the wait of those who use it, who are still a minority."
                ),
            ]
        ),
        Span(
            [
                Figure(
                    flow_diagram(
                        {
                            "ship": (0.0, 0.35, "Ship\nberths 1 to 5"),
                            "crane": (0.34, 0.35, "Crane\n31 moves an hour"),
                            "yard": (0.67, 0.35, "Yard\n9,400 places"),
                            "customs": (0.34, 1.0, "Customs\n1 box in 40"),
                            "rail": (1.0, 0.0, "Rail terminal\n14 trains a day"),
                            "gate": (1.0, 1.0, "Road gate\n1,260 lorries"),
                        },
                        [
                            ("ship", "crane"),
                            ("crane", "yard"),
                            ("crane", "customs"),
                            ("customs", "yard"),
                            ("yard", "rail"),
                            ("yard", "gate"),
                        ],
                        color=TEALS[0],
                    ),
                    125,
                    inset=8,
                ),
                Caption(
                    "Figure 2.", "The way of a container through the port, with the numbers of an ordinary day in 2023"
                ),
            ]
        ),
        Span(
            [
                Caption("Table 1.", "Goods by kind, thousand tonnes", below=False),
                Table(
                    "lrrrrr",
                    [["Kind", "2020", "2021", "2022", "2023", "Change 2022/23"]],
                    [
                        ["Ore and stone", "3,210", "3,402", "3,515", "3,660", "+4.1 %"],
                        ["Timber", "1,118", "1,240", "1,067", "1,392", "+30.5 %"],
                        ["Grain", "1,302", "1,377", "1,664", "1,331", "−20.0 %"],
                        ["Oil products", "770", "881", "954", "1,017", "+6.6 %"],
                        ["Containers", "3,100", "3,600", "4,100", "5,000", "+22.0 %"],
                        ["=Total", "9,500", "10,500", "11,300", "12,400", "+9.7 %"],
                    ],
                    rules="grid",
                    weights=(2, 1, 1, 1, 1, 1.3),
                ),
            ]
        ),
    ],
)

ACCOUNTS = Page(
    bands=[
        Span(
            [
                Heading("Accounts"),
                Paragraph(
                    "The accounts are kept on an accrual basis and have been audited.{^:1} Amounts are in "
                    "millions. The port dues are shown before rebates; rebates are part of operating "
                    "costs."
                ),
                Caption("Table 2.", "Statement of income for the year ended 31 December", below=False),
                Table(
                    "lrrr",
                    [["", "Note", "2023", "2022"]],
                    [
                        ["Revenue"],
                        ["Port dues", "3", "61.8", "56.9"],
                        ["Leases of land and quays", "4", "52.1", "48.8"],
                        ["Pilots and towage", "", "21.7", "20.4"],
                        ["Other", "5", "12.6", "11.2"],
                        ["=Total revenue", "", "148.2", "137.3"],
                        ["Costs"],
                        ["Wages and pensions", "6", "(41.3)", "(39.9)"],
                        ["Dredging and upkeep", "7", "(28.4)", "(33.0)"],
                        ["Operating costs", "", "(19.2)", "(18.1)"],
                        ["Depreciation", "8", "(20.7)", "(19.6)"],
                        ["=Total costs", "", "(109.6)", "(110.6)"],
                        ["Interest", "9", "(7.1)", "(7.4)"],
                        ["=Surplus for the year", "", "31.5", "19.3"],
                    ],
                    rules="hair",
                    weights=(4, 1, 1, 1),
                ),
            ]
        ),
        Row(
            [
                [
                    Figure(
                        sideways_bars(
                            ("Wages", "Dredging", "Depreciation", "Operations", "Interest"),
                            (41.3, 28.4, 20.7, 19.2, 7.1),
                            unit="Millions, 2023",
                            color=TEALS[0],
                        ),
                        88,
                    ),
                    Caption("Figure 3.", "Where the money goes"),
                ],
                [
                    Heading("What changed", 2),
                    *bullets(
                        "Dredging cost less, because the bar is now kept open by the Authority’s own ship.",
                        "Leases rose with the index and with the new cold store on quay 9.",
                        "Interest fell as the loan of 2009 was repaid in June.",
                    ),
                ],
            ]
        ),
    ],
    footnotes=[("1", "The report of the auditors is printed in the second volume. It contains no reservation.")],
)

OUTLOOK = Page(
    bands=[
        Flow(
            [
                Heading("Safety, people and the water of the harbour basin"),
                Paragraph(
                    "The Authority employs 612 people, 41 more than a year ago. Nineteen apprentices "
                    "began in September, eight of them on the tugs. Staff were absent for 4.1 per cent of "
                    "working days. For the first time more than a quarter of the new pilots are women."
                ),
                Paragraph(
                    "Accidents with lost days fell from seven to three. All of them happened on foot: two "
                    "on wet ladders and one on a rail crossing that has since been fenced. The walkways "
                    "of quays 2 and 3 will be rebuilt in 2024."
                ),
                Paragraph(
                    "The water of the basin is sampled every week at six points. Oil was found in two of "
                    "312 samples, in both cases below the limit. Mussels have settled on the piles of "
                    "quay 6, which the biologists take for a compliment and the engineers do not."
                ),
                Heading("Outlook for 2024", 2),
                Paragraph(
                    "We expect 12.9 million tonnes. The largest risk is the lock at Upper Ander, which "
                    "closes for repairs from May to July and carries a sixth of our bulk trade. Quay 4 "
                    "will be closed in parts, so that three berths remain for bulk at any time."
                ),
                *bullets(
                    "Shore power at berths 1 to 3 from September.",
                    "Bookings required for all lorries from October.",
                    "A third pilot boat, ordered in 2023, for the winter.",
                ),
            ]
        ),
        Span(
            [
                Figure(
                    bars(
                        ("2017", "2018", "2019", "2020", "2021", "2022", "2023"),
                        {
                            "Lost days": (412, 371, 390, 240, 265, 198, 74),
                            "Near misses reported": (88, 120, 161, 140, 222, 305, 341),
                        },
                        unit="Number",
                        colors=(TEALS[0], TEALS[2]),
                        values=True,
                    ),
                    130,
                ),
                Caption(
                    "Figure 4.",
                    "Lost days after accidents, and near misses reported. More reports are a good sign: "
                    "they come before the accident and not after it.",
                ),
            ]
        ),
        Span(
            [
                Table(
                    "llr",
                    [["Member of the board", "Named by", "Meetings"]],
                    [
                        ["I. Sandvik (chair)", "Assembly", "9 of 9"],
                        ["P. Ambury", "City of Maren", "8 of 9"],
                        ["L. Torvald", "Chamber of shipping", "9 of 9"],
                        ["R. Okonjo", "Staff of the port", "9 of 9"],
                        ["F. Dellacourt", "Railway", "6 of 9"],
                    ],
                    rules="bare",
                    weights=(1, 1, 0.4),
                ),
                Caption("Table 3.", "Members of the board and their attendance in 2023"),
            ]
        ),
    ]
)

REPORT = Report(
    name="port-authority-annual",
    head=("Port of Maren Authority", "Annual Report 2023"),
    foot=("", "", "{page}"),
    theme=THEME,
    size=(612.0, 792.0),
    margin=(66.0, 82.0, 66.0, 74.0),
    pages=[COVER, LETTER, TRAFFIC, ACCOUNTS, OUTLOOK],
)
