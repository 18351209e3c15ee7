"""Technical note on groundwater: journal-like two columns, many formulas, scatter charts, a geological section."""

from __future__ import annotations

import numpy as np

from sample_data.generators.charts import contour_map, cross_section, lines, scatter
from sample_data.generators.layout import (
    Caption,
    Figure,
    Flow,
    Formula,
    Heading,
    Page,
    Paragraph,
    Span,
    Table,
    Theme,
    Title,
    bullets,
)
from sample_data.generators.report import Report

THEME = Theme(
    body="serif",
    heads="serif",
    accent=(0.10, 0.10, 0.12),
    size=10.0,
    leading=13.0,
    title_size=20,
    head_sizes=(12.0, 10.4),
    caption_font="serif",
    caption_size=8.8,
    table_font="serif",
    table_size=8.6,
)

_RNG = np.random.default_rng(99)
_DEPTH = _RNG.uniform(2, 58, 95)
_HARD = np.clip(90 + 5.2 * _DEPTH + _RNG.normal(0, 38, 95), 40, 480)

MONTHS = (
    "Apr 21", "", "", "Jul", "", "", "Oct", "", "", "Jan 22", "", "", "Apr", "", "", "Jul", "", "", "Oct", "", "",
    "Jan 23", "", "", "Apr",
)  # fmt: skip
LEVELS = {
    "W 11": (
        8.1, 8.0, 7.8, 7.5, 7.2, 7.0, 6.9, 7.0, 7.4, 7.9, 8.2, 8.3, 8.1, 7.7, 7.2, 6.8, 6.4, 6.2, 6.2, 6.5, 7.0, 7.6,
        8.1, 8.4, 8.4,
    ),
    "W 32": (
        5.4, 5.4, 5.2, 5.0, 4.8, 4.6, 4.5, 4.5, 4.6, 4.8, 5.0, 5.1, 5.0, 4.7, 4.3, 3.9, 3.6, 3.4, 3.3, 3.3, 3.4, 3.6,
        3.8, 4.0, 4.1,
    ),
}  # fmt: skip

FIRST = Page(
    bands=[
        Span(
            [
                Title("The water under Karst Plain: a balance from forty wells and one dry summer"),
                Paragraph(
                    "A. Mirren, T. Solheim and C. Vasquez, Survey of Underground Waters, Technical Note 58",
                    font="serif-italic",
                ),
                Paragraph(
                    "{b:Abstract.} We measured the level of forty wells on Karst Plain every week from "
                    "April 2021 to October 2023 and estimated how much of the rain reaches the water "
                    "table. Recharge is 118 mm a year, about a fifth of the rain, and falls to 41 mm in a "
                    "dry year. Pumping took out 96 mm a year in the same period. The plain lives within "
                    "its means on average and beyond them in one year out of three.",
                    scale=0.94,
                    before=1.6,
                ),
            ]
        ),
        Flow(
            [
                Heading("1. Introduction"),
                Paragraph(
                    "Nobody sees the largest lake of the country. It fills the pores of the gravel under "
                    "Karst Plain, is sixty metres deep in places and feeds the taps of 180,000 people. "
                    "Until 2020 its level was known from three wells, all of them at the edge."
                ),
                Paragraph(
                    "This note describes the network that was set up in 2021, the method by which we turn "
                    "levels into amounts of water, and what we learned from the summer of 2022, when it "
                    "did not rain for seven weeks."
                ),
                Heading("2. Method"),
                Paragraph(
                    "If no water flows in or out at the sides, the rise of the water table after rain is "
                    "recharge divided by the share of the ground that can take up water. With the "
                    "specific yield {i:S} and the rise {i:h} in the interval {i:t},"
                ),
                Formula("r_{t} = S_{y}\\frac{Δh_{t}}{Δt}", "(1)"),
                Paragraph(
                    "Between rains the table falls, as water seeps to the springs. We therefore add what "
                    "would have been lost without rain. The recession is close to exponential, with a "
                    "time constant {i:k} that differs from well to well:"
                ),
                Formula("h(t) = h_{0} e^{−t / k}", "(2)"),
                Paragraph(
                    "The constant was fitted to the forty driest weeks of each well. It lies between 60 "
                    "and 210 days and is longer in the middle of the plain, where the way to the springs "
                    "is longer."
                ),
            ]
        ),
        Span(
            [
                Figure(
                    contour_map(
                        seed=14,
                        levels=8,
                        towns={
                            "W 3": (0.12, 0.62),
                            "W 11": (0.31, 0.40),
                            "W 17": (0.55, 0.52),
                            "W 32": (0.84, 0.60),
                            "Otter Bend": (0.66, 0.20),
                        },
                        unit="height of the table, decimetres",
                        ramp=(0.22, 0.44, 0.62),
                    ),
                    95,
                ),
                Caption("Map 1.", "Level of the water table in April 2021 and the wells that are named in the text"),
            ]
        ),
    ],
    footnotes=[
        (
            "1",
            "The data of all wells can be had from the Survey on request. Levels are in metres "
            "above the datum of 1956.",
        )
    ],
)

SECTION = Page(
    bands=[
        Span(
            [
                Figure(
                    cross_section(
                        [
                            ("Loam", (0.86, 0.78, 0.62), 0.12),
                            ("Gravel, dry", (0.93, 0.89, 0.76), 0.22),
                            ("Gravel, water-bearing", (0.72, 0.84, 0.92), 0.28),
                            ("Clay", (0.70, 0.62, 0.55), 0.12),
                            ("Limestone", (0.85, 0.85, 0.83), 0.26),
                        ],
                        seed=5,
                        wells=[("W 3", 0.24, 0.50), ("W 11", 0.41, 0.58), ("W 17", 0.60, 0.55), ("W 32", 0.83, 0.62)],
                    ),
                    120,
                ),
                Caption(
                    "Figure 1.",
                    "Section through the plain from west to east with four of the forty wells. Height is "
                    "exaggerated twenty times.",
                ),
            ]
        ),
        Flow(
            [
                Paragraph(
                    "The recharge of a year is the sum over all weeks in which the level rose, each rise "
                    "corrected for the recession that it hides:"
                ),
                Formula("R = \\sum{t=1}{52} S_{y} (h_{t} − h_{t−1} e^{−7/k})", "(3)"),
                Paragraph(
                    "The sum is sensitive to the specific yield. We took it from pumping tests at nine "
                    "wells and from the grain of the gravel at the others; the two agree within a fifth."
                ),
                Heading("3. Results"),
                Paragraph(
                    "Recharge was 121 mm in the first year, 41 mm in the second and 192 mm in the third. "
                    "The mean of 118 mm is a fifth of the rain. Most of it arrives between November and "
                    "March; summer rain is used by the crops before it can sink."
                ),
                Paragraph(
                    "Levels fell by 1.9 metres during the summer of 2022 and had recovered by the end of "
                    "February. Wells in the east recovered later, and two of them have not recovered yet."
                ),
                Paragraph(
                    "Deep wells hold harder water (Figure 2). The trend is clear, though at any depth "
                    "there are soft wells, mostly near the stream, which loses water into the gravel "
                    "along three kilometres of its course."
                ),
                Figure(
                    scatter(
                        {"Wells and bores": (_DEPTH, _HARD)},
                        label_x="Depth (m)",
                        label_y="Hardness (mg per litre)",
                        top_x=60,
                        top_y=500,
                        slope=(90, 5.2),
                        colors=((0.18, 0.30, 0.45),),
                    ),
                    130,
                ),
                Caption("Figure 2.", "Hardness of the water and depth of the well"),
            ]
        ),
    ]
)

BALANCE = Page(
    bands=[
        Flow(
            [
                Caption("Table 1.", "Water balance of the plain (mm a year)", below=False),
                Table(
                    "lrrr",
                    [["Term", "2021", "2022", "2023"]],
                    [
                        ["Rain", "598", "402", "711"],
                        ["Evaporation", "452", "349", "489"],
                        ["Recharge", "121", "41", "192"],
                        ["Pumping", "93", "108", "87"],
                        ["Springs", "31", "18", "44"],
                        ["=Change", "−3", "−85", "+61"],
                    ],
                    rules="three",
                ),
                Paragraph(
                    "Table 1 puts the terms together. Pumping is known from the meters of the water works "
                    "and estimated for the farms from the power that their pumps used. The change of "
                    "storage follows from the levels and closes the balance to within ten millimetres."
                ),
                Heading("4. Discussion"),
                Paragraph(
                    "The estimate rests on three assumptions: that the gravel is alike within each of "
                    "five zones, that rain reaches the table within a week, and that the sides are tight. "
                    "The third fails near the stream. There we solved the balance for the flow {i:q} "
                    "through the bed instead,"
                ),
                Formula("q = K b \\frac{H − h}{d}", "(4)"),
                Paragraph(
                    "where {i:K} is the conductivity of the bed, {i:b} its width, {i:d} its thickness and "
                    "{i:H} the level of the stream. The flow adds 7 mm a year to the balance, spread "
                    "over the plain."
                ),
                Paragraph(
                    "A farmer who wishes to know what the numbers mean for the next summer may remember three things:"
                ),
                *bullets(
                    "a wet winter is worth more than a wet summer;",
                    "the level in February tells the level in August to within half a metre;",
                    "a well that falls dry once will do so again within six years.",
                ),
                Paragraph(
                    "The error of the mean recharge, {i:e}, combines those of yield and levels, which are "
                    "independent of each other:"
                ),
                Formula("e^{2} = R^{2} (\\frac{s^{2}}{S_{y}^{2}} + \\frac{u^{2}}{n})", "(5)"),
                Paragraph(
                    "With a standard error of 0.02 for the specific yield and of four centimetres for a "
                    "level, the error is 17 mm. It is large enough to hide a slow decline for a decade, "
                    "and it is the reason why we propose to test the yield at ten more wells."
                ),
            ]
        ),
        Span(
            [
                Figure(
                    lines(
                        MONTHS,
                        LEVELS,
                        unit="Metres above the base of the gravel",
                        colors=((0.18, 0.30, 0.45), (0.62, 0.30, 0.12)),
                        dots=False,
                    ),
                    105,
                ),
                Caption("Figure 3.", "Level of two wells, April 2021 to April 2023"),
            ]
        ),
    ],
    footnotes=[
        ("2", "The stream was gauged at two weirs on eleven days; the loss between them is the mean of these days.")
    ],
)

CLOSING = Page(
    bands=[
        Flow(
            [
                Heading("5. Conclusions"),
                Paragraph(
                    "Karst Plain receives as much water as is taken from it, taken over several years. "
                    "There is no room for more. A second dry summer in a row would lower the eastern "
                    "wells below their pumps, and about 9,000 people would have to be supplied by pipe."
                ),
                Paragraph(
                    "Two measures would help at once. The farms could water at night, which saves an "
                    "eighth, and the gravel pit at Otter Bend could be filled with stream water in "
                    "winter, which adds four millimetres to the recharge of the whole plain."
                ),
                Heading("Thanks", 2),
                Paragraph(
                    "Forty families let us drop a tape into their wells each week and gave us coffee. Two "
                    "referees improved the section on errors."
                ),
                Heading("Notation", 2),
                Table(
                    "lll",
                    [["Sign", "Meaning", "Unit"]],
                    [
                        ["h", "level of the water table", "m"],
                        ["S", "specific yield", "-"],
                        ["k", "time constant of recession", "day"],
                        ["R", "recharge of a year", "mm"],
                        ["K", "conductivity of the bed", "m per day"],
                        ["q", "flow through the bed", "m² per day"],
                    ],
                    rules="bare",
                    weights=(0.4, 1, 0.6),
                ),
                Heading("References", 2),
                Paragraph(
                    "Brandt, O. and Mirren, A. (2019). Gravel and its water. Survey of Underground "
                    "Waters, Technical Note 41.",
                    scale=0.9,
                ),
                Paragraph("Ilves, K. (2014). Reading wells. Journal of the Dry Valleys 7, pages 20 to 33.", scale=0.9),
                Paragraph(
                    "Solheim, T. (2022). A summer without rain. Bulletin of the Water Board 118, pages 2 to 9.",
                    scale=0.9,
                ),
                Paragraph(
                    "Vasquez, C. (2020). Recession curves of shallow wells and what they hide. Technical Note 46.",
                    scale=0.9,
                ),
            ]
        ),
        Span(
            [
                Figure(
                    cross_section(
                        [
                            ("Loam", (0.86, 0.78, 0.62), 0.10),
                            ("Gravel", (0.93, 0.89, 0.76), 0.34),
                            ("Water", (0.72, 0.84, 0.92), 0.26),
                            ("Clay", (0.70, 0.62, 0.55), 0.30),
                        ],
                        seed=12,
                        wells=[("Stream gauge", 0.30, 0.2), ("Pit, Otter Bend", 0.58, 0.34), ("W 32", 0.85, 0.6)],
                    ),
                    130,
                ),
                Caption(
                    "Figure 4.",
                    "The gravel pit at Otter Bend and the stream, in section. Filling the pit in winter "
                    "would raise the table by up to half a metre within two kilometres.",
                ),
            ]
        ),
    ]
)

REPORT = Report(
    name="groundwater-note",
    head=("Mirren, Solheim and Vasquez", "The water under Karst Plain"),
    foot=("", "58-{page}", ""),
    theme=THEME,
    size=(540.0, 740.0),
    margin=(50.0, 70.0, 50.0, 64.0),
    pages=[FIRST, SECTION, BALANCE, CLOSING],
)
