"""Type and figures of five invented research posters; their words are in `posters.toml`.

`poster_layout.py` sets them and writes the reference from them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from sample_data.generators.charts import BLUES, EARTH, TEALS, bars, flow_diagram, heat_matrix, lines, sideways_bars
from sample_data.generators.layout import Figure, Theme
from sample_data.generators.markup import blocks_of
from sample_data.generators.photos import harbour, harvest_field, photo, school_yard
from sample_data.generators.poster_layout import Part, Person, Sheet

_WINE, _OLIVE = (0.48, 0.14, 0.26), (0.30, 0.36, 0.16)
_WORDS = {
    entry.pop("name"): entry
    for entry in tomllib.loads(Path(__file__).with_name("posters.toml").read_text(encoding="utf-8"))["posters"]
}


def _sheet(
    name: str,
    theme: Theme,
    figures: Mapping[str, Figure],
    *,
    wide: bool = False,
    picture: bool = False,
    enlarged: float = 4.15,
) -> Sheet:
    """A poster with its words."""
    words = _WORDS[name]
    people = [Person(*each) for each in words["people"]]
    columns = [[_part(text, figures) for text in column.split("## ")[1:]] for column in words["columns"]]
    return Sheet(name, words["title"], people, words["event"], theme, columns, wide, picture, enlarged)


def _part(text: str, figures: Mapping[str, Figure]) -> Part:
    title, _, body = text.partition("\n")
    return Part(title, list(blocks_of(body, figures)))


TURBIDITY = _sheet(
    "tidal-turbidity",
    Theme(body="sans", heads="sans", accent=TEALS[0], size=9.4, leading=12.6, title_size=27, justify=False),
    {
        "jetty": Figure(photo(harbour(31, (520, 460))), 90),
        "tide": Figure(
            lines(
                [str(hour) for hour in range(-6, 7)],
                {
                    "North": (18, 26, 41, 52, 44, 25, 12, 21, 38, 47, 39, 27, 19),
                    "South": (11, 15, 24, 30, 26, 16, 8, 13, 22, 27, 23, 17, 12),
                },
                unit="Median turbidity (NTU)",
                colors=(TEALS[0], TEALS[2]),
            ),
            150,
        ),
        "clear-hours": Figure(
            bars(
                ("North", "Middle", "South"),
                {"Near high water": (62, 78, 73), "Other hours": (17, 25, 24)},
                unit="Hours below 19 NTU (per cent)",
                colors=(TEALS[0], TEALS[1]),
            ),
            120,
        ),
    },
)

NIGHT_BUSES = _sheet(
    "night-buses",
    Theme(body="serif", heads="sans", accent=_WINE, size=9.8, leading=13.0, title_size=30),
    {
        "interviews": Figure(
            bars(
                ("0", "1", "2", "3", "4"),
                {"Interviews": (341, 298, 224, 187, 266)},
                unit="Interviews by hour of the night",
                colors=(_WINE,),
            ),
            80,
        ),
        "purpose": Figure(
            sideways_bars(
                ("Going home from work", "Going to work", "Going out", "Visiting", "Travel"),
                (29, 19, 34, 11, 7),
                unit="Per cent of journeys",
                color=_WINE,
            ),
            110,
        ),
    },
    wide=True,
    enlarged=3.3,
)

SEED_BANK = _sheet(
    "seed-bank",
    Theme(body="serif", heads="serif", accent=_OLIVE, size=9.2, leading=12.0, title_size=25, table_size=7.8),
    {
        "field": Figure(photo(harvest_field(14, (520, 520))), 90),
        "survival": Figure(
            heat_matrix(
                ("4 degrees", "12 degrees", "20 degrees"),
                ("15 %", "33 %", "58 %"),
                ((0.97, 0.93, 0.71), (0.95, 0.88, 0.52), (0.90, 0.74, 0.19)),
            ),
            120,
        ),
        "way": Figure(
            flow_diagram(
                {
                    "in": (0.5, 0.0, "Harvest\n12 to 20 %"),
                    "dry": (0.5, 0.5, "Dry\n15 %"),
                    "bag": (0.5, 1.0, "Foil bag\ncellar"),
                },
                (("in", "dry"), ("dry", "bag")),
            ),
            120,
            grow=False,
        ),
    },
)

READING_ALOUD = _sheet(
    "reading-aloud",
    Theme(body="sans", heads="sans", accent=BLUES[0], size=10.0, leading=13.4, title_size=29, justify=False),
    {
        "minutes": Figure(
            bars(
                ("Sep", "Nov", "Jan", "Mar", "May"),
                {"Minutes": (8.1, 9.4, 10.2, 10.6, 10.3)},
                unit="Minutes of reading a day",
                colors=(BLUES[2],),
            ),
            120,
        ),
        "scores": Figure(
            lines(
                ("September", "January", "May"),
                {
                    "Usual": (41.2, 44.0, 47.1),
                    "Reading": (40.9, 45.3, 50.2),
                    "Reading and talking": (41.0, 47.9, 54.8),
                },
                unit="Mean score of 84",
                colors=(BLUES[3], BLUES[1], BLUES[0]),
            ),
            150,
        ),
    },
)

MUSEUM_LABELS = _sheet(
    "museum-labels",
    Theme(body="sans", heads="serif", accent=EARTH[0], size=10.6, leading=14.2, title_size=30, justify=False),
    {
        "museum": Figure(photo(school_yard(5, (560, 420))), 120),
        "finished": Figure(
            bars(
                ("Under 60", "60 to 90", "90 to 120", "Over 120"),
                {"Finished": (63, 44, 26, 12)},
                unit="Per cent of readers who finish",
                colors=(EARTH[0],),
            ),
            150,
        ),
    },
    picture=True,
    enlarged=4.4,
)

SHEETS = (TURBIDITY, NIGHT_BUSES, SEED_BANK, READING_ALOUD, MUSEUM_LABELS)
