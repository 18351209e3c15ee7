"""Policy brief on tram lines: network diagram, side notes, captions above figures, options in a shaded table."""

from __future__ import annotations

from sample_data.generators.charts import GREYS, bars, flow_diagram, lines, transit_map
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
    numbered,
)
from sample_data.generators.report import Report

THEME = Theme(
    body="sans",
    heads="sans",
    accent=(0.58, 0.12, 0.28),
    size=9.6,
    leading=13.8,
    title_size=26,
    justify=False,
    table_size=8.2,
)
RED, BLUE, GREEN = (0.72, 0.16, 0.24), (0.14, 0.36, 0.62), (0.20, 0.50, 0.32)

BRIEF = Page(
    bands=[
        Span(
            [
                Title("Three tram lines or one? Options for the east bank"),
                Paragraph("Brief for the transport committee, session of 6 March 2025", scale=1.15, font="sans-italic"),
                Rule(2.5),
            ]
        ),
        Row(
            [
                [
                    Paragraph(
                        "The east bank has grown by 31,000 people since the bridge was opened, and its buses "
                        "are full. In the morning one passenger in six is left at the stop. The committee "
                        "asked us to compare three ways of bringing the tram across the river."
                    ),
                    Paragraph(
                        "Option 1 extends the red line to the hospital. Option 2 adds a blue branch to the "
                        "university. Option 3 builds both and a green line along the bank that joins them. "
                        "All three use the bridge as it is."
                    ),
                    Paragraph(
                        "We find that the second option carries most passengers for its price. The third "
                        "carries more, but each of its additional passengers costs four times as much. The "
                        "first can be built soonest and does least."
                    ),
                ],
                [
                    Heading("Key points", 2),
                    *bullets(
                        "Option 2 brings 24,600 passengers a day for 212 million.",
                        "Bus traffic on the bridge falls by 38 per cent.",
                        "Work can begin in 2027 and takes three years.",
                        "The depot at Millgate is large enough until 2038.",
                    ),
                ],
            ],
            shares=(1.6, 1.0),
        ),
        Span(
            [
                Caption(
                    "Figure 1.",
                    "The network in 2032 under option 3: red line, blue branch and the green line along the bank",
                    below=False,
                ),
                Figure(
                    transit_map(
                        {
                            "R": (RED, ((0.05, 0.30), (0.38, 0.30), (0.50, 0.48), (0.80, 0.48), (0.95, 0.26))),
                            "B": (BLUE, ((0.05, 0.72), (0.32, 0.72), (0.50, 0.48), (0.62, 0.66), (0.95, 0.66))),
                            "G": (GREEN, ((0.68, 0.08), (0.68, 0.48), (0.76, 0.60), (0.76, 0.94))),
                        },
                        {
                            "Millgate": (0.16, 0.30, "above"),
                            "Town Hall": (0.32, 0.30, "above"),
                            "Station": (0.20, 0.72, "below"),
                            "Bridge": (0.50, 0.48, "below"),
                            "Bank": (0.68, 0.48, "corner"),
                            "Hospital": (0.88, 0.365, "left"),
                            "Gardens": (0.68, 0.24, "right"),
                            "University": (0.87, 0.66, "below"),
                            "Docks": (0.76, 0.84, "right"),
                        },
                    ),
                    140,
                ),
            ]
        ),
    ]
)

OPTIONS = Page(
    bands=[
        Span(
            [
                Heading("What each option costs and what it brings"),
                Caption("Table 1.", "Comparison of the three options (prices of 2024)", below=False),
                Table(
                    "lrrr",
                    [["", "Option 1\nRed line", "Option 2\nBlue branch", "Option 3\nBoth and green"]],
                    [
                        ["New track (km)", "4.1", "7.8", "15.2"],
                        ["Stops", "7", "13", "24"],
                        ["Cost of building (millions)", "118", "212", "489"],
                        ["Cost of running (millions a year)", "5.9", "9.7", "21.4"],
                        ["Passengers a day in 2032", "11,200", "24,600", "33,900"],
                        ["Cost per passenger", "2.31", "1.84", "2.97"],
                        ["Buses taken off the bridge (%)", "14", "38", "52"],
                        ["First day of service", "2029", "2030", "2034"],
                    ],
                    rules="zebra",
                    weights=(2.2, 1, 1, 1),
                    pitch=1.9,
                ),
            ]
        ),
        Flow(
            [
                Heading("Passengers", 2),
                Paragraph(
                    "We forecast passengers with the model of the city, which was checked against the "
                    "counts of May 2024. It was right to within five per cent at nine stops out of ten. "
                    "At the university it was too low, since it knows nothing of lectures."
                ),
                Paragraph(
                    "The hospital is a smaller goal than it looks. Its staff work in shifts and drive at "
                    "hours when no tram runs; visitors come in the afternoon, when there is room in the "
                    "buses."
                ),
                Heading("Money", 2),
                Paragraph(
                    "The state pays half of the cost of building if the benefit is at least 1.2 times the "
                    "cost. Option 1 reaches 1.05, option 2 reaches 1.48 and option 3 reaches 1.11. Only "
                    "the second qualifies."
                ),
                Paragraph(
                    "Running costs are borne by the city. Under option 2 they rise by 9.7 million a year, "
                    "of which fares return six and the buses that are no longer needed another two."
                ),
            ]
        ),
        Row(
            [
                [
                    Figure(
                        bars(
                            ("Option 1", "Option 2", "Option 3"),
                            {"From bus": (6.1, 13.2, 17.0), "From car": (2.9, 7.0, 9.4), "New": (2.2, 4.4, 7.5)},
                            unit="Thousand passengers a day",
                            colors=(RED, GREYS[1], GREYS[3]),
                            stacked=True,
                        ),
                        110,
                    ),
                    Caption("Figure 2.", "Where the passengers come from"),
                ],
                [
                    Figure(
                        lines(
                            ("2025", "", "2027", "", "2029", "", "2031", "", "2033"),
                            {
                                "Opt. 3": (0, 12, 60, 130, 215, 300, 380, 440, 489),
                                "Opt. 2": (0, 6, 40, 105, 170, 212, 212, 212, 212),
                            },
                            unit="Millions spent",
                            colors=(GREYS[0], RED),
                            dots=False,
                        ),
                        110,
                    ),
                    Caption("Figure 3.", "Money spent by the end of the year"),
                ],
            ]
        ),
    ],
    footnotes=[("1", "Cost per passenger includes building, spread over thirty years at three per cent, and running.")],
)

STEPS = Page(
    bands=[
        Flow(
            [
                Heading("What has to be decided, by whom, and in which order"),
                Paragraph(
                    "The committee need not choose the stops now. It needs to choose the option, so that "
                    "the land beside Canal Street can be kept free; a builder has asked for a permit "
                    "there and must be answered by June."
                ),
                *numbered(
                    "The committee names its option in March.",
                    "The council votes on the plan and on the land in May.",
                    "The state decides on its half within nine months.",
                    "Tenders are opened in the spring of 2026.",
                    "Work on the bridge begins in the summer holidays of 2027.",
                ),
                Paragraph(
                    "If the state declines, the plan can be cut to the first five stops of the blue "
                    "branch. These alone carry 13,000 passengers a day and cost 121 million, which the "
                    "city could borrow without raising the fares."
                ),
                Heading("Risks", 2),
                Paragraph(
                    "The bearings of the bridge were last inspected in 2011. If they must be replaced, 18 "
                    "million are added to each option and the first day of service moves by a year. An "
                    "inspection costs 90,000 and should be ordered at once."
                ),
                Paragraph(
                    "Rents near the new stops will rise. In the west they rose by seven per cent in the "
                    "three years after the red line was opened, and by two per cent elsewhere. The "
                    "housing office proposes to buy thirty houses early."
                ),
            ]
        ),
        Span(
            [
                Caption("Figure 4.", "Decisions and their dates", below=False),
                Figure(
                    flow_diagram(
                        {
                            "committee": (0.0, 0.0, "Committee\nMarch 2025"),
                            "council": (0.34, 0.0, "Council\nMay 2025"),
                            "state": (0.67, 0.0, "State\nFebruary 2026"),
                            "tender": (1.0, 0.0, "Tenders\nApril 2026"),
                            "bridge": (0.34, 1.0, "Inspection\nof the bridge"),
                            "short": (0.67, 1.0, "Short plan,\nfive stops"),
                        },
                        [
                            ("committee", "council"),
                            ("council", "state"),
                            ("state", "tender"),
                            ("committee", "bridge"),
                            ("bridge", "state"),
                            ("state", "short"),
                            ("short", "tender"),
                        ],
                        color=RED,
                    ),
                    105,
                ),
            ]
        ),
        Span(
            [
                Table(
                    "llrr",
                    [["Stop", "Street", "Passengers a day", "Bus lines met"]],
                    [
                        ["Bridge", "Quay Street", "4,900", "7"],
                        ["Canal", "Canal Street", "2,100", "2"],
                        ["Market Hall", "East Road", "3,800", "5"],
                        ["Library", "East Road", "1,700", "1"],
                        ["University", "College Green", "6,400", "3"],
                    ],
                    rules="bare",
                    weights=(1, 1, 1, 1),
                ),
                Caption("Table 2.", "The five busiest stops of the blue branch, forecast for 2032"),
            ]
        ),
    ]
)

REPORT = Report(
    name="tram-options",
    head=("Options for the east bank", "Brief 2025/03"),
    foot=("City Transport Office", "", "{page}"),
    theme=THEME,
    size=(576.0, 756.0),
    margin=(60.0, 76.0, 60.0, 68.0),
    pages=[BRIEF, OPTIONS, STEPS],
)
