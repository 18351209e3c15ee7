"""Harvest survey: sans-serif two-column text, unruled tables, tables side by side, a landscape page, a matrix."""

from __future__ import annotations

from sample_data.generators.charts import EARTH, bars, heat_matrix, lines, sideways_bars
from sample_data.generators.layout import (
    Caption,
    Figure,
    Flow,
    Formula,
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
from sample_data.generators.photos import harvest_field, photo
from sample_data.generators.report import Report

THEME = Theme(
    body="sans", heads="serif", accent=(0.42, 0.28, 0.08), size=9.5, leading=13.5, title_size=27, table_size=7.8
)

OPENING = Page(
    bands=[
        Span(
            [
                Title("Harvest Survey 2024: Lake and Upland Provinces"),
                Rule(2.0),
                Figure(photo(harvest_field(5)), 130),
                Caption("Photo 1.", "Second cutting of lucerne above Lake Torren, 9 August 2024"),
            ]
        ),
        Flow(
            [
                Paragraph(
                    "The rains came late and stopped early, yet the harvest of 2024 was larger than the "
                    "one before it. Farmers in the lake provinces gathered 1.86 million tonnes of "
                    "cereals, four per cent more than in 2023. The uplands lost a tenth of their barley "
                    "to frost in May and made up for it with potatoes."
                ),
                Paragraph(
                    "This survey is based on 2,940 holdings that were visited twice, once when the crop "
                    "stood in the field and once after threshing. In 412 of them the yield was measured "
                    "by cutting and weighing sample squares; in the others it was reported by the farmer."
                ),
                Heading("Main results", 2),
                *bullets(
                    "Maize rose by 9 per cent to 812 thousand tonnes, the best result since the survey began.",
                    "Barley fell by 11 per cent; four fifths of the loss is in the two highest districts.",
                    "Stocks on the farm cover 5.2 months, against 4.1 months a year ago.",
                    "The price of seed potatoes doubled between January and April.",
                ),
                Paragraph(
                    "Reported yields are higher than measured ones by six per cent on average. The gap is "
                    "largest on small plots, where a farmer counts sacks and not all sacks are full. All "
                    "figures in this report are adjusted for it."
                ),
            ]
        ),
    ]
)

CROPS = Page(
    bands=[
        Flow(
            [
                Heading("1 Production by crop"),
                Paragraph(
                    "Maize has displaced millet on the lower terraces within ten years. The change began "
                    "with a road: once the mill at Torren could be reached by lorry, the crop that mills "
                    "well was worth more than the crop that keeps well. Millet is still grown for the "
                    "household on one holding in three."
                ),
                Paragraph(
                    "Wheat is stable. It is sown on the heavy soils along the lake, where nothing else "
                    "does as well, and its area has not changed by more than two per cent since 2016. "
                    "Yields follow the rain of March almost exactly."
                ),
                Paragraph(
                    "Beans are sown between the rows of maize and are easily missed by a survey of areas. "
                    "We count them by weight at the threshing floor, which is why the table gives no "
                    "area for them."
                ),
            ]
        ),
        Span(
            [
                Figure(
                    bars(
                        [str(year) for year in range(2016, 2025)],
                        {
                            "Maize": (520, 548, 590, 571, 640, 688, 702, 745, 812),
                            "Wheat": (401, 396, 410, 388, 405, 412, 398, 407, 411),
                            "Barley": (322, 310, 334, 301, 318, 327, 309, 340, 303),
                            "Millet": (290, 271, 262, 240, 221, 214, 190, 187, 176),
                        },
                        unit="Thousand tonnes",
                        colors=EARTH,
                        stacked=True,
                    ),
                    120,
                ),
                Caption("Figure 1.", "Cereal production by crop, 2016 to 2024"),
            ]
        ),
        Span(
            [
                Caption("Table 1.", "Area, yield and production of the main crops, 2023 and 2024", below=False),
                Table(
                    "lrrrrrr",
                    [["Crop", "2023", "2024", "2023", "2024", "2023", "2024"]],
                    [
                        ["Maize", "231.4", "238.0", "3.22", "3.41", "745", "812"],
                        ["Wheat", "148.9", "149.6", "2.73", "2.75", "407", "411"],
                        ["Barley", "159.7", "160.2", "2.13", "1.89", "340", "303"],
                        ["Millet", "171.0", "163.3", "1.09", "1.08", "187", "176"],
                        ["Beans", "-", "-", "-", "-", "94", "101"],
                        ["Potatoes", "22.8", "27.5", "14.60", "15.90", "333", "437"],
                    ],
                    rules="bare",
                    spans=[(1, 2, "Area (1,000 ha)"), (3, 4, "Yield (t per ha)"), (5, 6, "Production (1,000 t)")],
                    weights=(2, 1, 1, 1, 1, 1, 1),
                ),
            ]
        ),
    ],
    footnotes=[
        ("1", "A dash means that the area is not measured, because the crop is sown between the rows of another.")
    ],
)

STOCKS = Page(
    bands=[
        Row(
            [
                [
                    Caption("Table 2.", "Stocks on the farm, months of use", below=False),
                    Table(
                        "lrr",
                        [["Province", "2023", "2024"]],
                        [
                            ["Lakeside", "4.8", "6.0"],
                            ["Torren", "4.4", "5.7"],
                            ["Lower Terraces", "4.1", "5.1"],
                            ["Upper Terraces", "3.6", "4.6"],
                            ["High Uplands", "3.1", "3.0"],
                            ["=All provinces", "4.1", "5.2"],
                        ],
                        rules="hair",
                    ),
                ],
                [
                    Caption("Table 3.", "Seed price at the market, per sack", below=False),
                    Table(
                        "lrrr",
                        [["Crop", "Jan", "Apr", "Change"]],
                        [
                            ["Maize", "18.0", "19.5", "+8 %"],
                            ["Wheat", "15.2", "15.9", "+5 %"],
                            ["Barley", "13.1", "16.4", "+25 %"],
                            ["Millet", "11.7", "11.5", "−2 %"],
                            ["Potatoes", "9.8", "19.7", "+101 %"],
                        ],
                        rules="bare",
                    ),
                ],
            ]
        ),
        Flow(
            [
                Heading("2 Stocks and prices"),
                Paragraph(
                    "A household in the lake provinces had grain for just over five months when the "
                    "survey team called, one month more than in the year before. The High Uplands are the "
                    "exception. There the barley froze on the nights of 11 and 12 May, and many families "
                    "ate in September what they would have sown in the spring."
                ),
                Paragraph(
                    "Prices did not follow the harvest. Seed potatoes doubled, because the wholesaler in "
                    "Torren closed in February and the nearest other one is 160 kilometres away. Maize "
                    "seed rose with the cost of transport. Only millet, which nobody wants to buy, became "
                    "cheaper."
                ),
                Heading("2.1 How a yield is measured", 2),
                Paragraph(
                    "In each plot the team throws a frame of two by two metres at three points. What "
                    "stands inside is cut, dried for a week and weighed. With the weights the yield per "
                    "hectare is"
                ),
                Formula("y = \\frac{10}{n a}\\sum{i=1}{n} w_{i} (1 − m_{i})", "(1)"),
                Paragraph(
                    "where {i:n} is the number of frames, {i:a} the area of one frame in square metres, "
                    "{i:w} the weight in kilograms and {i:m} the moisture as a share. The factor of ten "
                    "turns kilograms per square metre into tonnes per hectare."
                ),
            ]
        ),
        Span(
            [
                Figure(
                    sideways_bars(
                        ("Lakeside", "Torren", "Lower Terraces", "Upper Terraces", "High Uplands"),
                        (14, 17, 23, 31, 46),
                        unit="Per cent of holdings that bought grain before the harvest",
                        color=EARTH[0],
                    ),
                    90,
                ),
                Caption("Figure 2.", "Holdings that had to buy grain in the three months before the harvest"),
            ]
        ),
    ]
)

BALANCE = Page(
    wide=True,
    bands=[
        Span(
            [
                Heading("Annex 1 Grain balance of the provinces"),
                Caption(
                    "Table A1.",
                    "Supply and use of cereals in the marketing year 2023/24 (thousand tonnes)",
                    below=False,
                ),
                Table(
                    "lrrrrrrrr",
                    [
                        [
                            "Province",
                            "Opening\nstock",
                            "Harvest",
                            "Bought",
                            "Total\nsupply",
                            "Food",
                            "Feed",
                            "Seed",
                            "Closing\nstock",
                        ]
                    ],
                    [
                        ["Lake provinces"],
                        ["Lakeside", "61.2", "488.0", "12.4", "561.6", "302.1", "118.8", "31.0", "109.7"],
                        ["Torren", "48.0", "402.5", "9.1", "459.6", "251.7", "96.2", "26.4", "85.3"],
                        ["Lower Terraces", "33.7", "371.9", "15.6", "421.2", "247.0", "71.5", "24.9", "77.8"],
                        ["Upland provinces"],
                        ["Upper Terraces", "21.5", "286.3", "22.8", "330.6", "214.4", "48.0", "20.7", "47.5"],
                        ["High Uplands", "14.9", "153.6", "38.3", "206.8", "152.2", "22.1", "14.8", "17.7"],
                        ["=All provinces", "179.3", "1,702.3", "98.2", "1,979.8", "1,167.4", "356.6", "117.8", "338.0"],
                    ],
                    rules="zebra",
                    weights=(2, 1, 1, 1, 1, 1, 1, 1, 1),
                ),
            ]
        ),
        Row(
            [
                [
                    Figure(
                        lines(
                            ("Sep", "Oct", "Nov", "Dec", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug"),
                            {
                                "Lake": (6.1, 5.8, 5.3, 4.9, 4.4, 3.9, 3.3, 2.8, 2.2, 1.6, 1.1, 0.8),
                                "Upland": (4.2, 4.0, 3.5, 3.1, 2.6, 2.1, 1.6, 1.1, 0.7, 0.4, 0.3, 0.3),
                            },
                            unit="Months of use",
                            colors=(EARTH[0], EARTH[2]),
                        ),
                        110,
                    ),
                    Caption("Figure A1.", "Stocks on the farm by month, 2023/24"),
                ],
                [
                    Paragraph(
                        "The balance starts from the stocks of 1 September and ends with those of 31 August. "
                        "Losses in the store are part of feed, because what is spoiled for people is given to "
                        "animals."
                    ),
                    Paragraph(
                        "The High Uplands bought more grain than in any year since 2011. Most of it came from "
                        "Lakeside over the pass, which stayed open all winter. Food use per head is the same "
                        "in all provinces within the error of the survey, at about 190 kilograms a year."
                    ),
                ],
            ],
            shares=(1.3, 1.0),
        ),
    ],
)

LOSSES = Page(
    bands=[
        Span(
            [
                Heading("3 Losses after the harvest"),
                Paragraph(
                    "One sack in nine is lost between the field and the pot. The matrix shows where, in "
                    "per cent of the grain that enters each step. Threshing on the road is fast and "
                    "costly: wheels break the grain, and the broken grain does not keep. Losses in the "
                    "store depend on the store more than on the crop, and a tin bin pays for itself in "
                    "three years."
                ),
                Figure(
                    heat_matrix(
                        ("Maize", "Wheat", "Barley", "Millet", "Beans"),
                        ("Cutting", "Drying", "Threshing", "Transport", "Store", "Milling"),
                        (
                            (1.2, 1.9, 2.4, 0.8, 5.6, 1.1),
                            (0.9, 0.7, 3.1, 0.6, 2.9, 0.8),
                            (1.1, 0.8, 3.4, 0.7, 3.3, 0.9),
                            (2.2, 0.5, 4.8, 0.9, 1.7, 2.6),
                            (1.6, 1.2, 2.0, 0.5, 4.1, 0.4),
                        ),
                    ),
                    115,
                    inset=10,
                ),
                Caption("Figure 3.", "Losses by crop and step, per cent of the grain that enters the step"),
            ]
        ),
        Flow(
            [
                Paragraph(
                    "Farmers know these losses well. Asked where they would spend a hundred dollars, six "
                    "in ten named the store, two the threshing floor, and one the road. The provinces "
                    "spend in the opposite order, since a road can be opened with a ribbon and a tin bin "
                    "cannot."
                ),
                Heading("3.1 What we propose", 2),
                *numbered(
                    "Lend each village association the price of forty tin bins, to be paid back in grain "
                    "over three harvests.",
                    "Pave one common threshing floor per village before any further metre of road.",
                    "Weigh the grain at the mill gate in both directions and post the weights.",
                    "Test seed stores for moisture in the first week of November.",
                ),
                Heading("3.2 Next survey", 2),
                Paragraph(
                    "The next round will measure losses in the store by weighing the same bin every "
                    "month. A trial with thirty bins has shown that the farmers do not mind, provided the "
                    "team brings its own scale and leaves before the meal."
                ),
            ]
        ),
    ],
    footnotes=[
        (
            "2",
            "Losses are multiplied, not added: a loss of two per cent at two steps leaves 96.04 per cent of the grain.",
        )
    ],
)

REPORT = Report(
    name="harvest-survey-2024",
    head=("Harvest Survey 2024", "Lake and Upland Provinces"),
    foot=("Office of Agricultural Statistics", "", "{page}"),
    theme=THEME,
    size=(540.0, 720.0),
    margin=(54.0, 72.0, 54.0, 64.0),
    first_number=3,
    pages=[OPENING, CROPS, STOCKS, BALANCE, LOSSES],
)
