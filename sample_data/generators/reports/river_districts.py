"""Energy access in the river districts: photo, two columns, hairline tables, a map, a table over a page break."""

from __future__ import annotations

from sample_data.generators.charts import bars, district_map, lines
from sample_data.generators.layout import (
    Block,
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
    numbered,
)
from sample_data.generators.photos import photo, river_valley
from sample_data.generators.report import Report

THEME = Theme(accent=(0.10, 0.27, 0.47), size=10.5, leading=14.2)
DISTRICTS = ("Estuary", "Lowbank", "Marrow", "Middle R.", "Northb.", "Uplands")

MAPPED = (
    "Estuary", "Lowbank", "Port Ander", "Marrow", "Middle Reach", "Ostland", "Northbank", "Ferry", "Uplands",
)  # fmt: skip

COVER = Page(
    plain=True,
    bands=[
        Span([Figure(photo(river_valley(11)), 250)]),
        Span(
            [
                Title("Energy Access in the River Districts"),
                Paragraph("Third household survey, March to June 2024", scale=1.35, before=0.6),
                Rule(),
                Paragraph(
                    "This report presents the results of the third survey of household energy in the "
                    "eight river districts. It describes who is connected to the grid, who relies on "
                    "mini-grids and lanterns, what a connection costs, and why one household in five "
                    "still has none. The tables in the annex give the results for each of the twenty-six "
                    "wards.",
                    before=2.0,
                ),
                Paragraph(
                    "River Districts Statistical Office, Series E, Number 14. The figures were collected "
                    "before the flood of July 2024 and do not reflect the damage to the lines between "
                    "Marrow and Ostland.",
                ),
            ]
        ),
    ],
)

SUMMARY = Page(
    bands=[
        Span([Title("Summary", scale=0.85)]),
        Flow(
            [
                Paragraph(
                    "Four households in five now have electric light at home, against three in five in "
                    "2018. Nearly all of the gain came from the grid, which reached the last two district "
                    "capitals in 2019 and has since been drawn along the paved roads. Mini-grids added a "
                    "smaller but steady share: 214 of them serve villages that no line is likely to "
                    "reach before 2030."
                ),
                Paragraph(
                    "Progress has been uneven. In the Estuary district 92 per cent of households are "
                    "connected; in the Uplands the share is 48 per cent, and in four wards it is below "
                    "one third. Distance explains part of the gap. The fee explains more of it than we "
                    "expected."
                ),
                Paragraph(
                    "Supply has become more reliable. A connected household went without power for eleven "
                    "hours in the month before the interview, half as long as in 2018. Those who depend "
                    "on mini-grids report fewer cuts but shorter days: most plants still stop at ten in "
                    "the evening to save diesel."
                ),
                Heading("What the office recommends", 2),
                *bullets(
                    "Pay for the last pole from the national fund wherever fewer than half of the "
                    "households are connected.",
                    "Let households spread the connection fee over twenty-four monthly bills, without a deposit.",
                    "Publish the tariff and the hours of supply of every mini-grid each quarter.",
                    "Repeat the survey in 2027 with a larger sample in the Uplands.",
                ),
            ]
        ),
        Span(
            [
                Figure(
                    lines(
                        [str(year) for year in range(2012, 2025)],
                        {
                            "Any light": (44, 47, 50, 52, 55, 58, 61, 65, 68, 71, 75, 78, 81),
                            "Grid": (38, 40, 42, 43, 45, 47, 49, 53, 56, 58, 61, 63, 66),
                            "Mini-grid": (1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14),
                        },
                        unit="Per cent of households",
                        colors=((0.13, 0.33, 0.52), (0.34, 0.47, 0.25), (0.70, 0.36, 0.10)),
                    ),
                    170,
                ),
                Caption("Figure 1.", "Households with electric light at home by source, 2012 to 2024"),
            ]
        ),
    ],
)

COSTS = Page(
    bands=[
        Flow(
            [
                Heading("2.3 Who is still off the grid"),
                Paragraph(
                    "In 2024 one household in five in the river districts still cooked and read by "
                    "kerosene. The grid reached every district capital by 2019, but the lines stop where "
                    "the paved road stops, and most villages lie beyond it. Mini-grids now serve 214 "
                    "settlements, twice as many as in 2020, yet their tariff is three times the urban one "
                    "and their supply ends at ten in the evening."
                ),
                Paragraph(
                    "The survey asked 6,120 households why they had not connected.{^:4} Distance to the "
                    "nearest pole came first, the connection fee second, and doubt about the supply "
                    "third. Where the fee was waived, two in three applied within a year, and the share "
                    "rose with the schooling of the head of household."
                ),
                Heading("2.4 What a connection costs"),
                Paragraph(
                    "Fees differ more than distances do. A connection costs 41 dollars in Estuary and 178 "
                    "in Uplands, because only the first subsidises the service drop. Wiring inside the "
                    "house doubles the bill everywhere, and the inspection is charged even where no "
                    "inspector has called."
                ),
                Paragraph(
                    "Progress is uneven. Estuary and Lowbank gained more than twenty points in nine "
                    "years, while Uplands gained six. Districts that paid for the last pole from the "
                    "national fund advanced faster than those that left it to the household, whatever "
                    "their income."
                ),
                Figure(
                    bars(
                        DISTRICTS,
                        {"2015": (31, 37, 41, 46, 52, 58), "2024": (8, 14, 22, 29, 38, 52)},
                        unit="Per cent",
                    ),
                    112,
                ),
                Caption(
                    "Figure 3.",
                    "Households without a connection, by district, 2015 and 2024 (per cent of all households)",
                ),
            ]
        ),
        Span(
            [
                Caption("Table 5.", "Cost of a household connection by district (US dollars, 2024)", below=False),
                Table(
                    "lrrrrr",
                    [["District", "Application", "Service drop", "Wiring", "Inspection", "Total"]],
                    [
                        ["Estuary", "9", "12", "14", "6", "41"],
                        ["Lowbank", "14", "31", "17", "6", "68"],
                        ["Marrow", "16", "39", "19", "8", "82"],
                        ["Middle Reach", "18", "47", "19", "8", "92"],
                        ["Northbank", "21", "58", "20", "9", "108"],
                        ["Ostland", "24", "66", "22", "9", "121"],
                        ["Port Ander", "11", "18", "16", "6", "51"],
                        ["Uplands", "38", "104", "25", "11", "178"],
                        ["=All districts", "19", "47", "19", "8", "93"],
                    ],
                    rules="hair",
                    weights=(2, 1, 1, 1, 1, 1),
                ),
            ]
        ),
    ],
    footnotes=[
        (
            "4",
            "Household survey, third round, March to June 2024; 6,120 households in 8 districts. "
            "Weights follow the census.",
        ),
        ("5", "Amounts at the mean exchange rate of 2024. Port Ander is a municipality and is counted as a district."),
    ],
)

MAP = Page(
    bands=[
        Span(
            [
                Figure(
                    district_map(
                        MAPPED,
                        (0.95, 0.82, 0.88, 0.66, 0.52, 0.36, 0.44, 0.27, 0.10),
                        across=3,
                        seed=7,
                        legend="Share connected, 45 to 95 per cent",
                    ),
                    210,
                ),
                Caption(
                    "Map 1.",
                    "Share of households with a grid connection, by district, 2024. Boundaries are drawn "
                    "for this survey.",
                ),
            ]
        ),
        Flow(
            [
                Heading("2.5 Distance, income and the order in which villages were reached by the line"),
                Paragraph(
                    "The map shows a gradient from the coast to the hills, but the gradient is broken in "
                    "two places. Ferry, which lies on the river and has a landing, is connected less "
                    "often than Northbank behind it. Ostland has more households on the line than its "
                    "distance would suggest, thanks to the quarry, which paid for eleven kilometres of it "
                    "in 2016."
                ),
                Paragraph(
                    "We compared wards with the same distance to the nearest substation. Within ten "
                    "kilometres, a ward in the richest third was reached four years before a ward in the "
                    "poorest third. Beyond thirty kilometres the difference disappears: nobody was "
                    "reached early."
                ),
                Paragraph(
                    "Two lessons follow. A programme that ranks villages by cost per connection will go "
                    "on serving those who are near and well off. And a programme that ranks them by "
                    "distance alone would overlook the poor quarters of the towns, where the pole stands "
                    "in front of the door and the fee is the only obstacle."
                ),
            ]
        ),
    ],
)

WARDS: list[list[str]] = [
    ["Estuary"],
    ["Bell Sands", "1,204", "94.1", "3.2", "1.1", "7"],
    ["Harbour East", "2,310", "96.8", "0.0", "1.9", "6"],
    ["Harbour West", "1,876", "93.0", "0.4", "3.3", "8"],
    ["Salt Pans", "642", "81.5", "9.7", "4.0", "12"],
    ["Lowbank"],
    ["Alder Bridge", "988", "88.2", "4.4", "3.9", "9"],
    ["Broadmead", "1,450", "85.0", "6.1", "4.2", "9"],
    ["Lock Street", "1,122", "90.6", "1.8", "2.7", "8"],
    ["Marrow"],
    ["Candle Hill", "734", "76.3", "8.8", "6.9", "13"],
    ["Marrow Town", "1,965", "84.9", "2.2", "5.0", "10"],
    ["Old Ferry", "511", "61.2", "17.4", "9.1", "16"],
]
MORE_WARDS: list[list[str]] = [
    ["Middle Reach"],
    ["Bend", "420", "66.0", "14.1", "8.6", "14"],
    ["Quarry Road", "873", "74.8", "9.9", "6.5", "12"],
    ["Twin Islands", "367", "41.7", "38.2", "10.4", "9"],
    ["Uplands"],
    ["Cold Spring", "298", "31.5", "22.6", "21.0", "21"],
    ["High Pasture", "254", "28.7", "19.3", "27.2", "24"],
    ["Saddle", "333", "47.9", "15.5", "16.8", "19"],
    ["Windgap", "276", "30.1", "24.9", "23.4", "22"],
    ["=All wards shown", "15,623", "78.4", "7.2", "6.1", "11"],
]
WARD_HEAD = [
    [
        "Ward",
        "Households",
        "Grid\n(per cent)",
        "Mini-grid\n(per cent)",
        "Lantern\n(per cent)",
        "Hours without\npower, month",
    ]
]
WARD_WEIGHTS = (2.0, 1.0, 1.0, 1.0, 1.0, 1.0)

ANNEX_TEXT: list[Block] = [
    Heading("Annex A. Results by ward"),
    Paragraph(
        "Table A.1 lists the wards in which at least 250 households were on the sample frame. "
        "Wards with fewer are included in the totals of their district but are not shown, "
        "because a single household would move their shares by more than one point. A "
        "household that uses two sources is counted under the one that gives light on most "
        "evenings."
    ),
    Paragraph(
        "Hours without power refer to the thirty days before the interview and to connected "
        "households only. Respondents gave the number of cuts and the length of the longest "
        "one; interviewers worked out the total with them and read it back. In the wards with "
        "smart meters the reported total was within two hours of the metered one in nine "
        "cases out of ten."
    ),
    Paragraph(
        "Shares are weighted. The weight of a household is the inverse of its chance of "
        "selection, adjusted for the households that could not be found at home after three "
        "visits. Rounding means that some rows do not add up to one hundred.",
    ),
]

ANNEX = Page(
    bands=[
        Flow(ANNEX_TEXT),
        Span(
            [
                Figure(
                    bars(
                        (
                            "Estuary",
                            "Lowbank",
                            "Marrow",
                            "Middle Reach",
                            "Northbank",
                            "Ostland",
                            "Port Ander",
                            "Uplands",
                        ),
                        {
                            "Fewer cuts than in 2018": (61, 58, 52, 44, 39, 35, 57, 22),
                            "More cuts": (9, 12, 15, 19, 24, 22, 11, 31),
                        },
                        unit="Per cent of connected households",
                        heading="Has your supply become better or worse?",
                    ),
                    130,
                ),
                Caption("Figure A.1.", "Connected households that report fewer or more power cuts than in 2018"),
            ]
        ),
        Span(
            [
                Caption("Table A.1.", "Source of light and reliability of supply by ward, 2024", below=False),
                Table("lrrrrr", WARD_HEAD, WARDS, rules="three", weights=WARD_WEIGHTS),
            ]
        ),
    ],
    footnotes=[
        ("a", "Lantern includes solar lanterns, kerosene lamps and candles; torches with batteries are not counted.")
    ],
)

ANNEX_END = Page(
    bands=[
        Span(
            [
                Caption(
                    "Table A.1 (continued).", "Source of light and reliability of supply by ward, 2024", below=False
                ),
                Table("lrrrrr", WARD_HEAD, MORE_WARDS, rules="three", weights=WARD_WEIGHTS),
            ]
        ),
        Flow(
            [
                Heading("Annex B. How the survey was done"),
                Paragraph(
                    "The sample was drawn in two stages. In the first, 306 enumeration areas were "
                    "selected with a chance proportional to their number of households at the census of "
                    "2021. In the second, twenty households were selected in each area from a list that "
                    "the team had made on the day before."
                ),
                Paragraph(
                    "Interviews took thirty-five minutes on average and were held in four languages. "
                    "Every tenth household was visited again by a supervisor, who repeated six of the "
                    "questions. The answers agreed in 97 per cent of cases."
                ),
                Heading("Steps of the field work", 2),
                *numbered(
                    "Listing of all dwellings in the area, with a sketch map and the height of the nearest pole.",
                    "Selection of households by the supervisor, never by the interviewer.",
                    "Interview with the person who pays for light, or with the person who buys the fuel.",
                    "Reading of the meter, where there was one, and a photograph of the dial.",
                    "Second visit to one household in ten within five days.",
                ),
                Paragraph(
                    "The response rate was 94 per cent. It was lowest in Harbour East, where many people "
                    "work at night, and highest in High Pasture, where the teams were offered tea in "
                    "every single house."
                ),
            ]
        ),
        Row(
            [
                [
                    Figure(
                        bars(
                            ("Grid", "Mini-grid", "Solar", "Kerosene"),
                            {"Hours": (21, 13, 6, 4)},
                            unit="Hours of light per day",
                            values=True,
                        ),
                        95,
                    ),
                    Caption("Figure B.1.", "Hours of light per day by source"),
                ],
                [
                    Heading("Limits of the survey", 2),
                    Paragraph(
                        "People who live on boats are not on the frame. They are few, perhaps two in a "
                        "hundred along the lower river, but nearly all of them use kerosene. The shares for "
                        "Estuary and Ferry are therefore a little too favourable. We will include the "
                        "moorings in 2027, when the harbour office completes its register."
                    ),
                ],
            ]
        ),
    ],
)

REPORT = Report(
    name="river-districts",
    head=("Energy Access in the River Districts", "Third household survey"),
    foot=("", "{page}", ""),
    theme=THEME,
    size=(540.0, 720.0),
    margin=(56.0, 72.0, 56.0, 64.0),
    pages=[COVER, SUMMARY, COSTS, MAP, ANNEX, ANNEX_END],
)
