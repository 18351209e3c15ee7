"""Rainfall atlas: landscape plates with contour maps of many strokes, station tables without rules, daily columns."""

from __future__ import annotations

import numpy as np

from sample_data.generators.charts import BLUES, TEALS, bars, contour_map, daily_columns, heat_matrix
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
from sample_data.generators.report import Report

THEME = Theme(
    body="sans", heads="sans", accent=(0.10, 0.34, 0.46), size=9.0, leading=12.8, title_size=28, table_size=7.6
)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
TOWNS = {
    "Sorrel": (0.18, 0.30),
    "Tarn Head": (0.44, 0.18),
    "Brackwater": (0.33, 0.72),
    "Fenby": (0.68, 0.55),
    "Mast": (0.86, 0.82),
}


def _daily_rain() -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return a year of daily rain with a wet winter, in millimetres."""
    rng = np.random.default_rng(2020)
    season = 0.55 + 0.35 * np.cos(2 * np.pi * np.arange(365) / 365)
    wet = rng.random(365) < season * 0.75
    return np.asarray(np.where(wet, rng.gamma(0.9, 9.0, 365) * season, 0.0).round(1))


INTRODUCTION = Page(
    bands=[
        Row(
            [
                [
                    Title("Atlas of Rainfall in the Sorrel Basin"),
                    Paragraph("Means of the thirty years 1991 to 2020", scale=1.3, before=0.6),
                    Rule(2.0),
                    Paragraph(
                        "Rain in the Sorrel basin is brought by the west wind and stopped by the Tarn ridge. "
                        "On its windward side 1,200 millimetres fall in a year; twenty kilometres further "
                        "east the fields live on half of that. This atlas shows the pattern in twelve plates, "
                        "of which the first three are printed here."
                    ),
                    Paragraph(
                        "The maps were drawn from the records of 64 gauges. A gauge was used when it had at "
                        "least 25 complete years. Between gauges the surface follows the height of the "
                        "ground, with a correction for the side of the ridge."
                    ),
                    Paragraph(
                        "Rain is taken every morning at seven by people who live beside their gauge: a "
                        "miller, two priests, eleven teachers and the keepers of the locks. Some families "
                        "have done so for three generations. Their books, bound in grey linen, are kept in "
                        "Fenby, and most of what is said here was first written there in pencil."
                    ),
                ],
                [
                    Figure(
                        contour_map(
                            seed=41, towns={"Sorrel": (0.2, 0.3), "Fenby": (0.66, 0.6)}, unit="mm a year", ramp=TEALS[0]
                        ),
                        190,
                    ),
                    Caption("Plate 1.", "Mean rain of the year, simplified"),
                ],
            ],
            shares=(1.0, 1.15),
        ),
        Flow(
            [
                Heading("How to read the plates", 2),
                *bullets(
                    "Every contour is one class of rain; heavy lines stand for every third class.",
                    "Towns are shown as dots, gauges are not shown.",
                    "Colours are the same on all plates of a season.",
                ),
                Paragraph(
                    "The gauges of Mast and Fenby were moved in 2003. Their early records were reduced by "
                    "four per cent to make them agree with the neighbours, and the sums in the tables "
                    "contain this correction."
                ),
            ],
            columns=2,
        ),
    ]
)

PLATE = Page(
    bands=[
        Span(
            [
                Heading("Plate 2 Winter, December to February"),
                Figure(contour_map(seed=8, levels=11, towns=TOWNS, unit="mm, three months", ramp=BLUES[0]), 225),
                Caption(
                    "Plate 2.",
                    "Rain of the winter months. The ridge shows as the dense bundle of contours north of "
                    "Tarn Head; the dry strip behind it reaches as far as Fenby.",
                ),
            ]
        ),
        Flow(
            [
                Paragraph(
                    "Nearly half of the year’s rain falls in these three months. In the valley of the "
                    "upper Sorrel it rains or snows on two days out of three, and the road to Tarn Head "
                    "is closed for eleven days in an ordinary winter."
                ),
                Paragraph(
                    "East of the ridge the winter is the driest season but one. The contrast is strongest "
                    "in February, when the wind is steady."
                ),
                Paragraph(
                    "Winters have become wetter by nine per cent since the sixties. The change is within "
                    "the range of chance at single gauges, but not for the basin as a whole."
                ),
            ],
            columns=3,
        ),
    ]
)

STATIONS = Page(
    bands=[
        Row(
            [
                [
                    Caption("Table 1.", "Mean rain by season at eight gauges (mm)", below=False),
                    Table(
                        "lrrrrrr",
                        [["Gauge", "Height", "Winter", "Spring", "Summer", "Autumn", "Year"]],
                        [
                            ["Brackwater", "14", "288", "171", "162", "254", "875"],
                            ["Fenby", "61", "141", "133", "150", "156", "580"],
                            ["High Stile", "612", "447", "262", "229", "391", "1,329"],
                            ["Long Moor", "405", "372", "224", "201", "330", "1,127"],
                            ["Mast", "22", "139", "129", "158", "151", "577"],
                            ["Sorrel", "98", "301", "188", "177", "268", "934"],
                            ["Tarn Head", "371", "411", "240", "214", "352", "1,217"],
                            ["Weir House", "47", "226", "160", "161", "214", "761"],
                        ],
                        rules="bare",
                        weights=(1.4, 1, 1, 1, 1, 1, 1),
                        pitch=1.85,
                    ),
                ],
                [
                    Heading("The year at eight gauges"),
                    Paragraph(
                        "Height alone explains two thirds of the differences in the table. What is left "
                        "follows the ridge: Long Moor and Weir House, which lie on opposite sides at the same "
                        "distance from its crest, differ by 366 millimetres."
                    ),
                    Paragraph(
                        "Summers are alike everywhere. Showers do not care for the wind of the season, and a "
                        "farmer at Fenby gets as much rain in August as a miller at Brackwater."
                    ),
                ],
            ],
            shares=(1.35, 1.0),
        ),
        Row(
            [
                [
                    Figure(daily_columns(_daily_rain(), MONTHS, unit="mm a day"), 120),
                    Caption("Figure 1.", "Daily rain at Sorrel in 2020: one stroke per day"),
                ],
                [
                    Figure(
                        bars(
                            MONTHS[::1],
                            {"Sorrel": (112, 91, 80, 58, 50, 55, 57, 65, 76, 92, 100, 98)},
                            unit="mm",
                            colors=(TEALS[0],),
                            heading="Months at Sorrel",
                        ),
                        120,
                    ),
                    Caption("Figure 2.", "Mean rain of the months at Sorrel"),
                ],
            ],
            shares=(1.35, 1.0),
        ),
    ],
    footnotes=[
        (
            "1",
            "Heights in metres above the mean level of the sea at Brackwater. Sums may differ "
            "from the year by rounding.",
        )
    ],
)

DRY = Page(
    bands=[
        Row(
            [
                [
                    Figure(
                        contour_map(seed=77, levels=8, towns=TOWNS, unit="mm, three months", ramp=(0.62, 0.42, 0.12)),
                        205,
                    ),
                    Caption("Plate 3.", "Rain of the summer months, June to August"),
                ],
                [
                    Figure(
                        heat_matrix(
                            ("1991-95", "1996-00", "2001-05", "2006-10", "2011-15", "2016-20"),
                            ("Winter", "Spring", "Summer", "Autumn"),
                            (
                                (4, 9, 17, 6),
                                (3, 8, 15, 7),
                                (6, 11, 21, 8),
                                (5, 9, 14, 6),
                                (7, 13, 24, 9),
                                (6, 15, 27, 8),
                            ),
                        ),
                        205,
                    ),
                    Caption("Figure 3.", "Dry spells of ten days and more at Fenby"),
                ],
            ],
            shares=(1.5, 1.0),
        ),
        Flow(
            [
                Heading("Dry spells", 2),
                Paragraph(
                    "A dry spell is a run of at least ten days with less than one millimetre in all. East "
                    "of the ridge there are five such spells in an ordinary year. Their number has grown "
                    "since 2011, mainly in spring, when the seed needs rain most."
                ),
                Paragraph(
                    "The longest spell on record lasted 43 days. It ended on 9 July 2018 with a storm "
                    "that brought 61 millimetres in two hours, of which the hard ground took in less than "
                    "a third."
                ),
                Paragraph(
                    "Reservoirs were built for winters that fail and not for springs. The water board has "
                    "begun to fill them a month earlier than the rules of 1974 foresee."
                ),
            ],
            columns=3,
        ),
    ]
)

REPORT = Report(
    name="rainfall-atlas",
    head=("Atlas of Rainfall in the Sorrel Basin", "1991-2020"),
    foot=("Basin Water Board", "", "{page}"),
    theme=THEME,
    size=(780.0, 560.0),
    margin=(54.0, 66.0, 54.0, 58.0),
    first_number=5,
    pages=[INTRODUCTION, PLATE, STATIONS, DRY],
)
