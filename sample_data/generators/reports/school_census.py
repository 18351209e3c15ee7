"""School census: definitions with formulas, lists, a wide table on a page stored with /Rotate 90."""

from __future__ import annotations

import numpy as np

from sample_data.generators.charts import BLUES, bars, district_map, lines, scatter
from sample_data.generators.layout import (
    Caption,
    Figure,
    Flow,
    Formula,
    Heading,
    Page,
    Paragraph,
    Row,
    Span,
    Table,
    Theme,
    Title,
    bullets,
    numbered,
)
from sample_data.generators.photos import photo, school_yard
from sample_data.generators.report import Report

THEME = Theme(
    body="serif", heads="serif", accent=(0.45, 0.12, 0.14), size=11.2, leading=15.2, title_size=26, table_size=8.2
)

HEAD = (
    "District", "Schools", "Pupils", "of these\ngirls", "Teachers", "Pupils per\nteacher", "Rooms",
    "Pupils per\nroom", "Tap\n(%)", "Latrine\n(%)", "Light\n(%)",
)  # fmt: skip
DISTRICTS = (
    "Cold Valley", "Three Lakes", "East Border", "Capital", "Ring", "Old Province", "Coast", "Delta", "Islands",
)  # fmt: skip
PARITY = {
    "South": (
        0.71, 0.74, 0.77, 0.80, 0.84, 0.87, 0.89, 0.92, 0.95, 0.98, 1.01, 1.02, 1.02, 1.03, 1.04, 1.05,
    ),
    "North": (
        0.58, 0.60, 0.63, 0.66, 0.70, 0.73, 0.77, 0.80, 0.83, 0.86, 0.88, 0.90, 0.92, 0.93, 0.93, 0.93,
    ),
}  # fmt: skip

OPENING = Page(
    bands=[
        Span(
            [
                Title("School Census 2022: Pupils, Teachers and Rooms in the Five Provinces"),
                Paragraph("Statistical bulletin, number 31", font="serif-italic", scale=1.1),
            ]
        ),
        Row(
            [
                [
                    Paragraph(
                        "On 12 October 2022 every head teacher in the country counted pupils, teachers, "
                        "benches and taps. The forms of 4,118 schools came back, all but nineteen. This "
                        "bulletin gives the results by province; the results by school can be read at the "
                        "office of every district."
                    ),
                    Paragraph(
                        "There were 1,204,300 pupils on that day, 31,000 more than at the count of 2019. The "
                        "number of teachers grew faster, from 33,900 to 37,200, so that a class is now "
                        "smaller by three pupils than it was before the new colleges opened."
                    ),
                    Paragraph(
                        "Rooms have not kept pace. One class in eight is taught under a tree, in a church or "
                        "in the open passage between two buildings, and in the north it is one in five."
                    ),
                ],
                [
                    Figure(photo(school_yard(3)), 128, grow=False),
                    Caption("Photo 1.", "The school of Lower Wells, built by the parents in 2020"),
                ],
            ]
        ),
        Span(
            [
                Caption("Table 1.", "The census at a glance", below=False),
                Table(
                    "lrrr",
                    [["", "2016", "2019", "2022"]],
                    [
                        ["Schools", "3,890", "4,012", "4,137"],
                        ["Pupils (thousands)", "1,121.6", "1,173.2", "1,204.3"],
                        ["Teachers (thousands)", "31.0", "33.9", "37.2"],
                        ["Classes without a room (per cent)", "15.1", "13.4", "12.6"],
                    ],
                    rules="three",
                    weights=(2, 1, 1, 1),
                ),
                Heading("What is new in this census", 2),
                *bullets(
                    "Pupils are counted by the distance they walk, in four classes.",
                    "Teachers are counted by the subject they teach, and not only by the grade.",
                    "Benches are counted as seats; a bench for three on which five children sit has three seats.",
                ),
            ]
        ),
    ],
    footnotes=[
        (
            "1",
            "Nineteen schools could not be reached because of the flood. Their pupils are "
            "estimated from the count of 2019.",
        )
    ],
)

_NOISE = np.random.default_rng(31)
_WALK = _NOISE.uniform(0.3, 9.5, 130)
_AWAY = np.clip(2.2 + 1.55 * _WALK + _NOISE.normal(0, 2.1, 130), 0.4, 24.5)
_TOWN = _NOISE.uniform(0.2, 3.5, 60)
_TOWN_AWAY = np.clip(2.6 + 0.7 * _TOWN + _NOISE.normal(0, 1.1, 60), 0.3, 24)

RATIOS = Page(
    bands=[
        Flow(
            [
                Heading("1 How many pupils has a teacher?"),
                Paragraph(
                    "The ratio of pupils to teachers is the most quoted number of a census and the least "
                    "understood. We use the teachers who stood in a classroom on the day of the count. "
                    "With {i:P} pupils, {i:T} teachers on the list and a share {i:a} of them absent, the "
                    "ratio is"
                ),
                Formula("R = \\frac{P}{T (1 − a)}", "(1)"),
                Paragraph(
                    "An absent teacher is thus no teacher. On the list there are 32 pupils to a teacher; "
                    "in the classroom there are 37. The gap is widest in the weeks of the harvest, which "
                    "is why the census is held after it."
                ),
                Heading("2 How far is the school?"),
                Paragraph(
                    "Six pupils in ten walk less than two kilometres. One in twelve walks more than six, "
                    "mostly in the north and along the eastern border, where the villages are small and "
                    "the river has few bridges."
                ),
                Paragraph(
                    "Absence grows with the walk. Each additional kilometre costs a rural school one and "
                    "a half days of attendance in a hundred, and the relation is close to a straight "
                    "line. In towns the walk matters less, as the children who live far away take the "
                    "bus."
                ),
            ]
        ),
        Span(
            [
                Figure(
                    scatter(
                        {"Rural schools": (_WALK, _AWAY), "Town schools": (_TOWN, _TOWN_AWAY)},
                        label_x="Mean walk to school (kilometres)",
                        label_y="Absence (per cent)",
                        top_x=10,
                        top_y=25,
                        slope=(2.2, 1.55),
                        colors=((0.45, 0.12, 0.14), (0.24, 0.42, 0.60)),
                    ),
                    150,
                ),
                Caption(
                    "Figure 1.",
                    "Absence and the length of the walk to school, sample of 190 schools. The dashed line "
                    "is fitted to the rural schools.",
                ),
            ]
        ),
    ]
)

WIDE_ROWS = [
    ["North"],
    ["Cold Valley", "212", "48,310", "23,190", "1,288", "37.5", "1,402", "34.5", "78", "31", "12"],
    ["Three Lakes", "187", "39,775", "19,420", "1,099", "36.2", "1,187", "33.5", "81", "38", "15"],
    ["East Border", "240", "61,902", "28,950", "1,497", "41.4", "1,433", "43.2", "66", "22", "9"],
    ["Centre"],
    ["Capital", "498", "214,660", "107,020", "7,244", "29.6", "6,120", "35.1", "99", "94", "71"],
    ["Ring", "433", "158,204", "78,590", "5,012", "31.6", "4,471", "35.4", "96", "83", "44"],
    ["Old Province", "391", "117,330", "57,116", "3,620", "32.4", "3,409", "34.4", "92", "71", "33"],
    ["South"],
    ["Coast", "377", "121,540", "60,204", "3,815", "31.9", "3,702", "32.8", "95", "80", "41"],
    ["Delta", "512", "173,418", "84,330", "5,090", "34.1", "4,655", "37.3", "88", "64", "25"],
    ["Islands", "96", "14,021", "6,930", "577", "24.3", "601", "23.3", "97", "89", "52"],
    ["=All districts shown", "2,946", "949,160", "465,750", "29,242", "32.5", "26,980", "35.2", "90", "66", "35"],
]

WIDE = Page(
    turned=True,
    wide=True,
    bands=[
        Span(
            [
                Caption("Table 2.", "Schools, pupils, teachers and rooms by district, 12 October 2022", below=False),
                Table(
                    "lrrrrrrrrrr",
                    [HEAD],
                    WIDE_ROWS,
                    rules="three",
                    spans=[
                        (1, 3, "Schools and pupils"),
                        (4, 7, "Teachers and rooms"),
                        (8, 10, "Equipment, share of schools"),
                    ],
                    weights=(2.4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
                    pitch=2.35,
                ),
            ]
        ),
        Row(
            [
                [
                    Paragraph(
                        "A room counts when it has a roof, four walls and a door. Rooms that are shared by "
                        "two schools, one in the morning and one in the afternoon, are counted once, for the "
                        "school that sweeps them."
                    )
                ],
                [
                    Paragraph(
                        "Equipment refers to the day of the count. A tap without water is not a tap; a lamp "
                        "without a bulb is a lamp, because bulbs are lent and come back on Monday."
                    )
                ],
            ]
        ),
    ],
)

MAP = Page(
    bands=[
        Span(
            [
                Heading(
                    "3 Where the rooms are missing, and what it would cost to build them within one term "
                    "of the assembly"
                ),
                Paragraph(
                    "The map shows the share of classes without a room of their own. To give each class a "
                    "room, 3,240 rooms would have to be built, four fifths of them in Cold Valley, East "
                    "Border and Delta. At the price of 2022 this is 97 million, about what the ministry "
                    "spends on the final examinations in six years."
                ),
                Figure(
                    district_map(
                        DISTRICTS,
                        (0.78, 0.62, 1.0, 0.12, 0.24, 0.30, 0.26, 0.55, 0.05),
                        across=3,
                        seed=19,
                        legend="Classes without a room, 2 to 22 per cent",
                        ramp=(0.45, 0.12, 0.14),
                    ),
                    170,
                ),
                Caption("Map 1.", "Classes without a room of their own, by district, 2022"),
            ]
        ),
        Flow(
            [
                Paragraph(
                    "A room built by the ministry costs twice as much as a room built by the parents, and "
                    "it lasts twice as long. The figures do not settle which is better. They do show "
                    "that a school with a room of its own keeps its teachers longer, whoever built it."
                ),
                Paragraph("The order of building should follow three simple rules:"),
                *numbered(
                    "first the schools in which a grade is taught in the open;",
                    "then those with more than sixty pupils to a room;",
                    "last those that share a room between morning and afternoon.",
                ),
            ]
        ),
    ]
)

TRENDS = Page(
    bands=[
        Flow(
            [
                Heading("4 Girls and boys"),
                Paragraph(
                    "Girls are 49 per cent of all pupils and 53 per cent of those in the last two grades. "
                    "Twenty years ago they were a third. The turn came with the district schools of "
                    "2008, which a girl can reach and return from by daylight."
                ),
                Paragraph(
                    "The index of parity divides the share of girls in school, {i:g}, by the share of boys, {i:b}:"
                ),
                Formula("I_{t} = \\frac{g_{t}}{b_{t}}", "(2)"),
                Paragraph(
                    "A value of one means parity. The index passed one in 2017 in the south and in 2021 "
                    "in the centre. In the north it stands at 0.93 and has hardly moved for three years."
                ),
                Paragraph(
                    "Boys now leave earlier. In the islands one boy in four goes to sea before the final "
                    "grade, and the schools have begun to hold the examinations in the season when the "
                    "boats are on land."
                ),
            ]
        ),
        Row(
            [
                [
                    Figure(
                        lines(
                            ("2007", "", "", "2010", "", "", "2013", "", "", "2016", "", "", "2019", "", "", "2022"),
                            PARITY,
                            unit="Girls per boy",
                            colors=((0.45, 0.12, 0.14), (0.24, 0.42, 0.60)),
                            dots=False,
                        ),
                        130,
                    ),
                    Caption("Figure 2.", "Index of parity, 2007 to 2022"),
                ],
                [
                    Figure(
                        bars(
                            ("1-2", "3-4", "5-6", "7-8", "9-10"),
                            {"Girls": (142, 131, 118, 96, 81), "Boys": (150, 137, 120, 88, 72)},
                            unit="Thousand pupils",
                            colors=((0.45, 0.12, 0.14), BLUES[1]),
                        ),
                        130,
                    ),
                    Caption("Figure 3.", "Pupils by grade and sex, 2022"),
                ],
            ]
        ),
    ],
    footnotes=[
        ("2", "Shares refer to children of six to fifteen years at the projection of the population for 2022."),
        (
            "3",
            "Grades 9 and 10 include the pupils of the technical schools, who are counted by the ministry of labour.",
        ),
    ],
)

REPORT = Report(
    name="school-census",
    head=("School Census 2022", "Bulletin 31"),
    foot=("Ministry of Education, Statistics", "", "page {page}"),
    theme=THEME,
    size=(552.0, 720.0),
    margin=(58.0, 74.0, 58.0, 66.0),
    pages=[OPENING, RATIOS, WIDE, MAP, TRENDS],
)
