"""Large files of each family of formats, made from a fixed seed, for the benchmarks of the readers.

A format is a `Text`: what is around all pages, a page, and a box, as templates that `_box` and `_pages` fill.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

_SIZE: Final = 1000
_PER_PAGE: Final = 20

Files = dict[str, bytes]
"""The files of a folder by their names, for formats of which a file is one page."""


class Text(NamedTuple):
    """The templates of a format; `sheet` is a second entry of each page, which head or tail may list."""

    head: str
    page: str
    box: str
    tail: str = ""
    between: str = ", "
    sheet: str = ""


def _box(corners: list[int], at: int, page: int) -> dict[str, Any]:
    """What a template of a box may have: its corners in pixels, and `shares` of the page in `r…`."""
    x1, y1, x2, y2 = corners
    ring = [[x1, y1], [x2, y1], [x2, y2], [x1, y2]]
    return {
        "x1": x1, "y1": y1, "x2": x2, "y2": y2, "w": x2 - x1, "h": y2 - y1, "area": (x2 - x1) * (y2 - y1),
        "rx1": x1 / _SIZE, "ry1": y1 / _SIZE, "rx2": x2 / _SIZE, "ry2": y2 / _SIZE,
        "rw": (x2 - x1) / _SIZE, "rh": (y2 - y1) / _SIZE, "rx": (x1 + x2) / 2 / _SIZE, "ry": (y1 + y2) / 2 / _SIZE,
        "bbox": corners, "points": ring, "outline": [each for point in ring for each in point],
        "at": at, "id": page * _PER_PAGE + at + 1, "n": page, "n1": page + 1, "text": "word " * 20,
    }  # fmt: skip


def _pages(of: Text) -> Iterator[tuple[str, str]]:
    """One page after the other, with its second entry."""
    rng = np.random.default_rng(15)
    number = 0
    while True:
        low = rng.integers(0, 800, (_PER_PAGE, 2))
        corners = np.hstack([low, low + rng.integers(5, 200, (_PER_PAGE, 2))]).tolist()
        boxes = of.between.join(of.box % _box(each, at, number) for at, each in enumerate(corners))
        names = {"n": number, "n1": number + 1}
        yield of.page % {**names, "boxes": boxes}, of.sheet % names
        number += 1


def _some(of: Text, size: int) -> list[tuple[str, str]]:
    """Pages of about so many bytes together."""
    total, pages = 0, []
    for page in _pages(of):
        pages.append(page)
        total += len(page[0])
        if total >= size:
            break
    return pages


def whole(of: Text, size: int) -> bytes:
    """A file of about so many bytes."""
    pages, sheets = zip(*_some(of, size), strict=True)
    listed = {"sheets": ", ".join(sheets)}
    return (of.head % listed + of.between.join(pages) + of.tail % listed).encode()


def folder(of: Text, size: int, *, suffix: str) -> Files:
    """Files of a page each, of about so many bytes together."""
    return {f"p{number}{suffix}": page.encode() for number, (page, _) in enumerate(_some(of, size))}


def archive(of: Text, size: int) -> bytes:
    """A zip archive of such files, by the size of what is in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in folder(of, size, suffix=".xml").items():
            packed.writestr(name, content)
    return out.getvalue()


_INFO: Final = {
    "schema_version": "1.3", "type": "prediction", "run_id": "r", "model": {"name": "m"},
    "coordinate_system": {"type": "normalized_xyxy", "range": [0.0, 1.0], "origin": "top_left"},
}  # fmt: skip
_COCO: Final = Text(
    '{"images": [%(sheets)s], "categories": [{"id": 1, "name": "Text"}], "annotations": [', "%(boxes)s",
    '{"id": %(id)d, "image_id": %(n)d, "category_id": 1, "bbox": [%(x1)d, %(y1)d, %(w)d, %(h)d], "area": %(area)d, '
    '"iscrowd": 0, "segmentation": [[%(x1)d, %(y1)d, %(x2)d, %(y1)d, %(x2)d, %(y2)d]]}', "]}",
    sheet='{"id": %(n)d, "file_name": "p%(n)d.png", "width": 1000, "height": 1000}',
)  # fmt: skip
_SNAPSHOT: Final = Text(
    '{"label_map": {"1": "Text"}, "info": ' + json.dumps(_INFO) + ', "documents": [%(sheets)s], "predictions": [',
    '{"page_id": "d%(n)d.pdf::p000", "doc_id": "d%(n)d.pdf", "page_index": 0, "objects": [%(boxes)s]}',
    '{"id": "d%(n)d.pdf::p000:%(at)d", "label": "Text", "bbox": [%(rx1)g, %(ry1)g, %(rx2)g, %(ry2)g], "score": 0.5}',
    "]}", sheet='{"doc_id": "d%(n)d.pdf", "doc_name": "d%(n)d.pdf", "doc_path": "d%(n)d.pdf"}',
)  # fmt: skip
_DOCLING: Final = Text(
    '{"schema_name": "DoclingDocument", "version": "1.0.0", "name": "d", "pages": {%(sheets)s}, "texts": [',
    "%(boxes)s",
    '{"self_ref": "#/texts/%(at)d", "children": [], "label": "text", "orig": "%(text)s", "text": "%(text)s", '
    '"prov": [{"page_no": %(n1)d, "charspan": [0, 9], '
    '"bbox": {"l": %(x1)d, "t": %(y1)d, "r": %(x2)d, "b": %(y2)d, "coord_origin": "TOPLEFT"}}]}',
    "]}", sheet='"%(n1)d": {"page_no": %(n1)d, "size": {"width": 1000, "height": 1000}}',
)  # fmt: skip
_CVAT: Final = Text(
    "<annotations>", '<image id="%(n)d" name="p%(n)d.png" width="1000" height="1000">%(boxes)s</image>',
    '<box label="Text" xtl="%(x1)d" ytl="%(y1)d" xbr="%(x2)d" ybr="%(y2)d" occluded="0"/>', "</annotations>", "\n",
)  # fmt: skip
_TABLE: Final = Text(
    "document,label,x1,y1,x2,y2,score\n", "%(boxes)s", "p%(n)d.png,Text,%(x1)d,%(y1)d,%(x2)d,%(y2)d,0.5", "\n", "\n"
)
_LABEL_STUDIO: Final = Text(
    "[", '{"id": %(n)d, "data": {"image": "p%(n)d.png"}, "annotations": [], "predictions": '
    '[{"id": %(n)d, "model_version": "m", "score": 0.5, "result": [%(boxes)s]}]}',
    '{"id": "r%(at)d", "type": "rectanglelabels", "from_name": "label", "to_name": "image", "original_width": 1000, '
    '"original_height": 1000, "image_rotation": 0, "value": {"x": %(rx1)ge2, "y": %(ry1)ge2, "width": %(rw)ge2, '
    '"height": %(rh)ge2, "rotation": 0, "rectanglelabels": ["Text"]}}', "]",
)  # fmt: skip
_OMNIDOCBENCH: Final = Text(
    "[", '{"layout_dets": [%(boxes)s], '
    '"page_info": {"page_no": %(n)d, "height": 1000, "width": 1000, "image_path": "p%(n)d.jpg"}}',
    '{"category_type": "text_block", "poly": %(outline)s, "ignore": false, "order": %(at)d, "anno_id": %(at)d, '
    '"text": "%(text)s"}', "]",
)  # fmt: skip
_MINERU_MIDDLE: Final = Text(
    '{"pdf_info": [', '{"page_idx": %(n)d, "page_size": [1000, 1000], "para_blocks": [%(boxes)s]}',
    '{"type": "text", "bbox": %(bbox)s, "lines": [{"bbox": %(bbox)s, '
    '"spans": [{"bbox": %(bbox)s, "content": "%(text)s"}]}]}', "]}",
)  # fmt: skip
_MINERU_MODEL: Final = Text(
    "[", '{"layout_dets": [%(boxes)s], "page_info": {"page_no": %(n)d, "width": 1000, "height": 1000}}',
    '{"category_id": 1, "poly": %(outline)s, "score": 0.5}', "]",
)  # fmt: skip
_MINERU_CONTENT_LIST: Final = Text(
    "[", "%(boxes)s", '{"type": "text", "text": "%(text)s", "bbox": %(bbox)s, "page_idx": %(n)d}', "]"
)
_PADDLE: Final = Text(
    "[", '{"input_path": "a.pdf", "page_index": %(n)d, "width": 1000, "height": 1000, "boxes": [%(boxes)s]}',
    '{"cls_id": 2, "label": "text", "score": 0.5, "coordinate": %(bbox)s}', "]",
)  # fmt: skip
_MARKER: Final = Text(
    '{"children": [', '{"id": "/page/%(n)d/Page/0", "block_type": "Page", "html": "", "bbox": [0, 0, 1000, 1000], '
    '"polygon": [[0, 0], [1000, 0], [1000, 1000], [0, 1000]], "children": [%(boxes)s]}',
    '{"id": "/page/%(n)d/Text/%(at)d", "block_type": "Text", "html": "%(text)s", "polygon": %(points)s, '
    '"bbox": %(bbox)s, "children": null}', '], "block_type": "Document"}',
)  # fmt: skip
# Paragraphs before pages.
_AZURE: Final = Text(
    '{"status": "succeeded", "analyzeResult": {"apiVersion": "2024-11-30", "modelId": "prebuilt-layout", '
    '"paragraphs": [', "%(boxes)s",
    '{"content": "%(text)s", "boundingRegions": [{"pageNumber": %(n1)d, "polygon": %(outline)s}]}',
    '], "pages": [%(sheets)s]}}', sheet='{"pageNumber": %(n1)d, "width": 1000, "height": 1000, "unit": "pixel"}',
)  # fmt: skip
_TEXTRACT: Final = Text(
    '{"DocumentMetadata": {"Pages": 1}, "Blocks": [', '{"BlockType": "PAGE", "Id": "%(n)d", "Page": %(n1)d, '
    '"Geometry": {"BoundingBox": {"Width": 1, "Height": 1, "Left": 0, "Top": 0}}}, %(boxes)s',
    '{"BlockType": "LAYOUT_TEXT", "Id": "%(n)d-%(at)d", "Page": %(n1)d, "Confidence": 99.5, "Geometry": {"BoundingBox":'
    ' {"Width": %(rw)g, "Height": %(rh)g, "Left": %(rx1)g, "Top": %(ry1)g}, "Polygon": [{"X": %(rx1)g, "Y": %(ry1)g}, '
    '{"X": %(rx2)g, "Y": %(ry1)g}, {"X": %(rx2)g, "Y": %(ry2)g}, {"X": %(rx1)g, "Y": %(ry2)g}]}}', "]}",
)  # fmt: skip
_DOCUMENTAI: Final = Text(
    '{"mimeType": "application/pdf", "text": "x", "pages": [', '{"pageNumber": %(n1)d, '
    '"dimension": {"width": 1000, "height": 1000, "unit": "pixels"}, "blocks": [%(boxes)s]}',
    '{"layout": {"textAnchor": {"textSegments": [{"startIndex": "1", "endIndex": "9"}]}, "confidence": 0.5, '
    '"boundingPoly": {"normalizedVertices": [{"x": %(rx1)g, "y": %(ry1)g}, {"x": %(rx2)g, "y": %(ry1)g}, '
    '{"x": %(rx2)g, "y": %(ry2)g}, {"x": %(rx1)g, "y": %(ry2)g}]}}}', "]}",
)  # fmt: skip
_UNSTRUCTURED: Final = Text(
    "[", "%(boxes)s", '{"type": "NarrativeText", "element_id": "%(n)d-%(at)d", "text": "%(text)s", "metadata": '
    '{"page_number": %(n1)d, "filename": "a.pdf", "coordinates": {"points": %(points)s, "system": "PixelSpace", '
    '"layout_width": 1000, "layout_height": 1000}}}', "]",
)  # fmt: skip
_SUPERVISION: Final = Text(
    "x_min,y_min,x_max,y_max,class_id,confidence,tracker_id,class_name,file_name\n", "%(boxes)s",
    "%(x1)d,%(y1)d,%(x2)d,%(y2)d,1,0.5,,text,p%(n)d.png", "\n", "\n",
)  # fmt: skip
# Documents of ICDAR 2017, one after the other.
_POD: Final = Text(
    "", '<document filename="POD_%(n)d.bmp">%(boxes)s</document>',
    '<tableRegion prob="0.9"><Coords points="%(x1)d,%(y1)d %(x2)d,%(y1)d %(x1)d,%(y2)d %(x2)d,%(y2)d"/></tableRegion>',
    "\n", "\n",
)  # fmt: skip
_RING: Final = '<Coords points="%(x1)d,%(y1)d %(x2)d,%(y1)d %(x2)d,%(y2)d %(x1)d,%(y2)d"/>'
_PAGE_XML: Final = Text(
    "", '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">'
    '<Page imageFilename="p%(n)d.png" imageWidth="1000" imageHeight="1000">%(boxes)s</Page></PcGts>',
    f'<TextRegion id="r%(n)d-%(at)d" type="paragraph">{_RING}<TextLine id="l%(n)d-%(at)d">{_RING}'
    "<TextEquiv><Unicode>%(text)s</Unicode></TextEquiv></TextLine></TextRegion>", between="\n",
)  # fmt: skip
_PLACE: Final = 'HPOS="%(x1)d" VPOS="%(y1)d" WIDTH="%(w)d" HEIGHT="%(h)d"'
_ALTO: Final = Text(
    '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout>',
    '<Page WIDTH="1000" HEIGHT="1000" PHYSICAL_IMG_NR="%(n1)d"><PrintSpace>%(boxes)s</PrintSpace></Page>',
    f'<TextBlock ID="b%(n)d-%(at)d" {_PLACE}><TextLine {_PLACE}><String CONTENT="%(text)s"/></TextLine></TextBlock>',
    "</Layout></alto>", "\n",
)  # fmt: skip
_ALTO_PAGE: Final = _ALTO._replace(
    page=f"<alto><Layout>{_ALTO.page}</Layout></alto>", box=_ALTO.box.replace("%(text)s", "%(text)s" * 15)
)
_VOC: Final = Text(
    "", "<annotation><filename>p%(n)d.jpg</filename><size><width>1000</width><height>1000</height><depth>3</depth>"
    "</size>%(boxes)s</annotation>", "<object><name>Text</name><difficult>0</difficult><bndbox><xmin>%(x1)d</xmin>"
    "<ymin>%(y1)d</ymin><xmax>%(x2)d</xmax><ymax>%(y2)d</ymax></bndbox></object>", between="\n",
)  # fmt: skip
_YOLO: Final = Text("", "%(boxes)s\n", "0 %(rx)g %(ry)g %(rw)g %(rh)g 0.5", between="\n")


class Family(NamedTuple):
    """What makes about so many bytes, the ending of the file (a folder has none), and the side to read."""

    make: Callable[[int], bytes | Files]
    suffix: str = ".json"
    side: str = ""


_JSON: Final = {
    "coco": _COCO, "snapshot": _SNAPSHOT, "docling": _DOCLING, "label-studio": _LABEL_STUDIO,
    "omnidocbench": _OMNIDOCBENCH, "mineru-middle": _MINERU_MIDDLE, "mineru-model": _MINERU_MODEL,
    "mineru-content-list": _MINERU_CONTENT_LIST, "paddle": _PADDLE, "marker": _MARKER, "azure": _AZURE,
    "textract": _TEXTRACT, "documentai": _DOCUMENTAI, "unstructured": _UNSTRUCTURED,
}  # fmt: skip
FAMILIES: Final = {name: Family(partial(whole, of)) for name, of in _JSON.items()} | {
    "cvat": Family(partial(whole, _CVAT), ".xml"),
    "table": Family(partial(whole, _TABLE), ".csv"),
    "zip": Family(partial(archive, _ALTO_PAGE), ".zip", "ground_truth"),
    "supervision": Family(partial(whole, _SUPERVISION), ".csv"),
    "pod": Family(partial(whole, _POD), ".xml"),
    "page-xml": Family(partial(folder, _PAGE_XML, suffix=".xml"), "", "ground_truth"),
    "alto": Family(partial(whole, _ALTO), ".xml", "ground_truth"),
    "voc": Family(partial(folder, _VOC, suffix=".xml"), "", "ground_truth"),
    "yolo": Family(partial(folder, _YOLO, suffix=".txt"), ""),
}
