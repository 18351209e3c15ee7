"""Files of each family of formats: of given boxes, and large ones from a fixed seed for the benchmark of the readers.

A format is a `Text`: what is around all pages, a page, and a box, as templates that `Page` fills.
"""

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

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


class Page(NamedTuple):
    """A page of a document, counted from 0: its side in pixels, and the corners, label and score of each box."""

    document: str
    number: int
    boxes: Sequence[tuple[Sequence[int], str, float]]
    size: int = 1000

    def written(self, of: Text) -> tuple[str, str]:
        """Its text in a format, with its second entry."""
        names = {"doc": self.document, "n": self.number, "n1": self.number + 1, "size": self.size}
        boxes = (of.box % {**names, **_box(self, at)} for at in range(len(self.boxes)))
        return of.page % {**names, "boxes": of.between.join(boxes)}, of.sheet % names


def _box(page: Page, at: int) -> dict[str, Any]:
    """What a template of a box may have: its corners in pixels, and shares of the page in `r…`."""
    corners, label, score = page.boxes[at]
    x1, y1, x2, y2 = corners
    ring = [[x1, y1], [x2, y1], [x2, y2], [x1, y2]]
    shares = {"rx1": x1, "ry1": y1, "rx2": x2, "ry2": y2, "rw": x2 - x1, "rh": y2 - y1}
    shares |= {"rx": (x1 + x2) / 2, "ry": (y1 + y2) / 2}
    return {
        "x1": x1, "y1": y1, "x2": x2, "y2": y2, "w": x2 - x1, "h": y2 - y1, "area": (x2 - x1) * (y2 - y1),
        **{name: share / page.size for name, share in shares.items()}, "label": label, "LABEL": label.upper(),
        "score": score, "per_cent": 100 * score, "bbox": list(corners), "points": ring,
        "outline": [each for point in ring for each in point], "at": at, "id": page.number * _PER_PAGE + at + 1,
        "text": "word " * 20,
    }  # fmt: skip


def file_of(of: Text, pages: Sequence[tuple[str, str]], document: str = "d") -> str:
    """A file of pages that were written."""
    texts, sheets = zip(*pages, strict=True)
    listed = {"sheets": ", ".join(sheets), "doc": document}
    return of.head % listed + of.between.join(texts) + of.tail % listed


def _some(of: Text, size: int, label: str) -> list[tuple[str, str]]:
    """Pages of about so many bytes together."""
    rng, pages, total = np.random.default_rng(15), [], 0
    while total < size or not pages:
        low = rng.integers(0, 800, (_PER_PAGE, 2))
        corners = np.hstack([low, low + rng.integers(5, 200, (_PER_PAGE, 2))]).tolist()
        page = Page(f"p{len(pages)}", len(pages), [(each, label, 0.5) for each in corners])
        pages.append(page.written(of))
        total += len(pages[-1][0])
    return pages


def whole(of: Text, size: int, *, label: str = "text") -> bytes:
    """A file of about so many bytes."""
    return file_of(of, _some(of, size, label)).encode()


def folder(of: Text, size: int, *, suffix: str) -> Files:
    """Files of a page each, of about so many bytes together."""
    return {f"p{number}{suffix}": page.encode() for number, (page, _) in enumerate(_some(of, size, "text"))}


def archive(of: Text, size: int) -> bytes:
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
DOCLING: Final = Text(
    '{"schema_name": "DoclingDocument", "version": "1.0.0", "name": "%(doc)s", "pages": {%(sheets)s}, "texts": [',
    "%(boxes)s",
    '{"self_ref": "#/texts/%(at)d", "children": [], "label": "%(label)s", "orig": "%(text)s", "text": "%(text)s", '
    '"prov": [{"page_no": %(n1)d, "charspan": [0, 9], '
    '"bbox": {"l": %(x1)d, "t": %(y1)d, "r": %(x2)d, "b": %(y2)d, "coord_origin": "TOPLEFT"}}]}',
    "]}", sheet='"%(n1)d": {"page_no": %(n1)d, "size": {"width": %(size)d, "height": %(size)d}}',
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
MINERU_MIDDLE: Final = Text(
    '{"pdf_info": [', '{"page_idx": %(n)d, "page_size": [%(size)d, %(size)d], "para_blocks": [%(boxes)s]}',
    '{"type": "%(label)s", "score": %(score)s, "bbox": %(bbox)s, "lines": [{"bbox": %(bbox)s, '
    '"spans": [{"bbox": %(bbox)s, "content": "%(text)s"}]}]}', "]}",
)  # fmt: skip
_MINERU_MODEL: Final = Text(
    "[", '{"layout_dets": [%(boxes)s], "page_info": {"page_no": %(n)d, "width": 1000, "height": 1000}}',
    '{"category_id": 1, "poly": %(outline)s, "score": 0.5}', "]",
)  # fmt: skip
_MINERU_CONTENT_LIST: Final = Text(
    "[", "%(boxes)s", '{"type": "text", "text": "%(text)s", "bbox": %(bbox)s, "page_idx": %(n)d}', "]"
)
PADDLE: Final = Text(
    "[", '{"input_path": "%(doc)s.pdf", "page_index": %(n)d, "width": %(size)d, "height": %(size)d, '
    '"boxes": [%(boxes)s]}',
    '{"cls_id": 2, "label": "%(label)s", "score": %(score)s, "coordinate": %(bbox)s}', "]",
)  # fmt: skip
MARKER: Final = Text(
    '{"children": [', '{"id": "/page/%(n)d/Page/0", "block_type": "Page", "html": "", '
    '"bbox": [0, 0, %(size)d, %(size)d], "polygon": [[0, 0], [%(size)d, 0], [%(size)d, %(size)d], [0, %(size)d]], '
    '"children": [%(boxes)s]}',
    '{"id": "/page/%(n)d/Text/%(at)d", "block_type": "%(label)s", "html": "%(text)s", "polygon": %(points)s, '
    '"bbox": %(bbox)s, "children": null}', '], "block_type": "Document"}',
)  # fmt: skip
# Paragraphs before pages.
AZURE: Final = Text(
    '{"status": "succeeded", "analyzeResult": {"apiVersion": "2024-11-30", "modelId": "prebuilt-layout", '
    '"paragraphs": [', "%(boxes)s",
    '{"content": "%(text)s", "role": "%(label)s", "boundingRegions": [{"pageNumber": %(n1)d, "polygon": %(outline)s}]}',
    '], "pages": [%(sheets)s]}}',
    sheet='{"pageNumber": %(n1)d, "width": %(size)d, "height": %(size)d, "unit": "pixel"}',
)  # fmt: skip
TEXTRACT: Final = Text(
    '{"DocumentMetadata": {"Pages": 1}, "Blocks": [', '{"BlockType": "PAGE", "Id": "%(n)d", "Page": %(n1)d, '
    '"Geometry": {"BoundingBox": {"Width": 1, "Height": 1, "Left": 0, "Top": 0}}}, %(boxes)s',
    '{"BlockType": "LAYOUT_%(LABEL)s", "Id": "%(n)d-%(at)d", "Page": %(n1)d, "Confidence": %(per_cent)s, '
    '"Geometry": {"BoundingBox": {"Width": %(rw)g, "Height": %(rh)g, "Left": %(rx1)g, "Top": %(ry1)g}, '
    '"Polygon": [{"X": %(rx1)g, "Y": %(ry1)g}, {"X": %(rx2)g, "Y": %(ry1)g}, '
    '{"X": %(rx2)g, "Y": %(ry2)g}, {"X": %(rx1)g, "Y": %(ry2)g}]}}', "]}",
)  # fmt: skip
_DOCUMENTAI: Final = Text(
    '{"mimeType": "application/pdf", "text": "x", "pages": [', '{"pageNumber": %(n1)d, '
    '"dimension": {"width": 1000, "height": 1000, "unit": "pixels"}, "blocks": [%(boxes)s]}',
    '{"layout": {"textAnchor": {"textSegments": [{"startIndex": "1", "endIndex": "9"}]}, "confidence": 0.5, '
    '"boundingPoly": {"normalizedVertices": [{"x": %(rx1)g, "y": %(ry1)g}, {"x": %(rx2)g, "y": %(ry1)g}, '
    '{"x": %(rx2)g, "y": %(ry2)g}, {"x": %(rx1)g, "y": %(ry2)g}]}}}', "]}",
)  # fmt: skip
UNSTRUCTURED: Final = Text(
    "[", "%(boxes)s", '{"type": "%(label)s", "element_id": "%(n)d-%(at)d", "text": "%(text)s", "metadata": '
    '{"page_number": %(n1)d, "filename": "%(doc)s.png", "detection_class_prob": %(score)s, '
    '"coordinates": {"points": %(points)s, "system": "PixelSpace", '
    '"layout_width": %(size)d, "layout_height": %(size)d}}}', "]",
)  # fmt: skip
SUPERVISION: Final = Text(
    "x_min,y_min,x_max,y_max,class_id,confidence,tracker_id,class_name,file_name\n", "%(boxes)s",
    "%(x1)d,%(y1)d,%(x2)d,%(y2)d,1,%(score)s,,%(label)s,%(doc)s.png", "\n", "\n",
)  # fmt: skip
# Documents of ICDAR 2017, one after the other.
POD: Final = Text(
    "", '<document filename="%(doc)s.png">%(boxes)s</document>',
    '<%(label)sRegion prob="%(score)s"><Coords points="%(x1)d,%(y1)d %(x2)d,%(y1)d %(x1)d,%(y2)d %(x2)d,%(y2)d"/>'
    "</%(label)sRegion>",
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
ALTO: Final = Text(
    '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout>',
    '<Page WIDTH="%(size)d" HEIGHT="%(size)d" PHYSICAL_IMG_NR="%(n1)d"><PrintSpace>%(boxes)s</PrintSpace></Page>',
    f'<TextBlock ID="b%(n)d-%(at)d" TYPE="%(label)s" {_PLACE}><TextLine {_PLACE}>'
    '<String CONTENT="%(text)s"/></TextLine></TextBlock>',
    "</Layout></alto>", "\n",
)  # fmt: skip
_ALTO_PAGE: Final = ALTO._replace(
    page=f"<alto><Layout>{ALTO.page}</Layout></alto>", box=ALTO.box.replace("%(text)s", "%(text)s" * 15)
)
VOC: Final = Text(
    "", "<annotation><filename>%(doc)s.jpg</filename><size><width>%(size)d</width><height>%(size)d</height>"
    "<depth>3</depth></size>%(boxes)s</annotation>",
    "<object><name>%(label)s</name><difficult>0</difficult><bndbox><xmin>%(x1)d</xmin>"
    "<ymin>%(y1)d</ymin><xmax>%(x2)d</xmax><ymax>%(y2)d</ymax></bndbox></object>", between="\n",
)  # fmt: skip
_YOLO: Final = Text("", "%(boxes)s\n", "0 %(rx)g %(ry)g %(rw)g %(rh)g 0.5", between="\n")
ITEMS: Final = Text(
    "", '{"document": "%(doc)s", "page": %(n)d, "width": %(size)d, "height": %(size)d, "items": [%(boxes)s]}',
    '{"label": "%(label)s", "box": %(bbox)s, "score": %(score)s}',
)  # fmt: skip


class Family(NamedTuple):
    """What makes about so many bytes, the ending of the file (a folder has none), and the side to read."""

    make: Callable[[int], bytes | Files]
    suffix: str = ".json"
    side: str = ""


_JSON: Final = {
    "coco": _COCO, "snapshot": _SNAPSHOT, "docling": DOCLING, "label-studio": _LABEL_STUDIO,
    "omnidocbench": _OMNIDOCBENCH, "mineru-middle": MINERU_MIDDLE, "mineru-model": _MINERU_MODEL,
    "mineru-content-list": _MINERU_CONTENT_LIST, "paddle": PADDLE, "marker": MARKER, "azure": AZURE,
    "textract": TEXTRACT, "documentai": _DOCUMENTAI, "unstructured": UNSTRUCTURED,
}  # fmt: skip
FAMILIES: Final = {name: Family(partial(whole, of)) for name, of in _JSON.items()} | {
    "cvat": Family(partial(whole, _CVAT), ".xml"),
    "table": Family(partial(whole, _TABLE), ".csv"),
    "zip": Family(partial(archive, _ALTO_PAGE), ".zip", "ground_truth"),
    "supervision": Family(partial(whole, SUPERVISION), ".csv"),
    "pod": Family(partial(whole, POD, label="table"), ".xml"),
    "page-xml": Family(partial(folder, _PAGE_XML, suffix=".xml"), "", "ground_truth"),
    "alto": Family(partial(whole, ALTO), ".xml", "ground_truth"),
    "voc": Family(partial(folder, VOC, suffix=".xml"), "", "ground_truth"),
    "yolo": Family(partial(folder, _YOLO, suffix=".txt"), ""),
}
