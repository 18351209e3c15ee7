"""Good files of formats that have places in an order, texts and cells of tables beside their boxes."""

import json
from typing import Any, Final

_COORDS: Final = '<Coords points="1,1 5,1 5,5"/>'
_SAID: Final = "<TextEquiv><Unicode>a</Unicode></TextEquiv>"
_PAGE_XML: Final = f"""<PcGts><Page imageFilename="a.png" imageWidth="9" imageHeight="9">
<ReadingOrder><OrderedGroup id="o"><RegionRefIndexed index="0" regionRef="b"/>
<RegionRefIndexed index="1" regionRef="c"/></OrderedGroup></ReadingOrder>
<TextRegion id="b" type="paragraph">{_COORDS}<TextLine id="l">{_COORDS}{_SAID}</TextLine></TextRegion>
<TextRegion id="c" type="heading">{_COORDS}{_SAID}</TextRegion>
<TableRegion id="t">{_COORDS}<TextRegion id="d">{_COORDS}<Roles><TableCellRole rowIndex="0" columnIndex="0"
rowSpan="1" colSpan="1" header="true"/></Roles>{_SAID}</TextRegion></TableRegion></Page></PcGts>"""

_BOX: Final = 'HPOS="1" VPOS="1" WIDTH="5" HEIGHT="5"'
_LINE: Final = '<TextLine><String CONTENT="a"/></TextLine>'
_PARTED: Final = """<TextLine><String CONTENT="a" SUBS_TYPE="HypPart1" SUBS_CONTENT="aa"/><HYP CONTENT="-"/></TextLine>
<TextLine><String CONTENT="a" SUBS_TYPE="HypPart2" SUBS_CONTENT="aa"/><SP/><String CONTENT="b"/></TextLine>"""


def _alto(order: str, following: str, lines: str) -> str:
    return f"""<alto>{order}<Layout><Page ID="p" WIDTH="9" HEIGHT="9"><PrintSpace>
<TextBlock ID="b"{following} {_BOX}>{_LINE}</TextBlock><TextBlock ID="c" {_BOX}>{lines}</TextBlock>
</PrintSpace></Page></Layout></alto>"""


_REFERENCES: Final = """<ReadingOrder><OrderedGroup ID="o"><ElementRef ID="r" REF="b"/><ElementRef ID="s" REF="c"/>
</OrderedGroup></ReadingOrder>"""
_CELL: Final = {"row": 0, "col": 0, "row_span": 1, "col_span": 1, "header": True, "text": "a", "box": [1, 6, 2, 7]}
_PAGE: Final[dict[str, Any]] = {"document": "a", "page": 0}
_ITEMS: Final = {
    "width": 9, "height": 9, "items": [
        {"label": "t", "box": [1, 1, 5, 5], "order": 1, "text": "a"},
        {"label": "T", "box": [1, 6, 5, 8], "order": 2, "cells": [_CELL]},
    ],
}  # fmt: skip
_GROUPED: Final = {
    "items": [{"label": "t", "id": "b", "text": "a"}, {"label": "T", "id": "c", "html": "<table><td>a</table>"}],
    "groups": {"ordered": ["b", {"unordered": ["c"]}]},
}


def item_files() -> dict[str, list[tuple[str, str]]]:
    """Name and text of files by the name of the reader."""
    return {
        "items": [("a.jsonl", json.dumps(_PAGE | _ITEMS)), ("b.jsonl", json.dumps(_PAGE | _GROUPED))],
        "page-xml": [("a.xml", _PAGE_XML)],
        "alto": [("a.xml", _alto(_REFERENCES, "", _LINE)), ("b.xml", _alto("", ' IDNEXT="c"', _PARTED))],
    }
