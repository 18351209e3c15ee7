"""Large files of each family of formats, made from a fixed seed, for the benchmark of the readers."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

_SIZE: Final = 1000
_PER_PAGE: Final = 20
_TEXT: Final = "word " * 20

Boxes = list[tuple[int, int, int, int]]
Files = dict[str, bytes]
"""The files of a folder by their names, for formats of which a file is one page."""


def pages(seed: int = 15) -> Iterator[Boxes]:
    """The boxes of one page after the other."""
    rng = np.random.default_rng(seed)
    while True:
        low = rng.integers(0, 800, (_PER_PAGE, 2))
        corners = np.hstack([low, low + rng.integers(5, 200, (_PER_PAGE, 2))])
        yield [tuple(row) for row in corners.tolist()]


def filled(size: int, head: str, page: Callable[[int, Boxes], str], between: str, tail: str) -> bytes:
    """A text of about so many bytes, a page after the other."""
    out = io.StringIO()
    out.write(head)
    for number, boxes in enumerate(pages()):
        out.write(between if number else "")
        out.write(page(number, boxes))
        if out.tell() >= size:
            break
    out.write(tail)
    return out.getvalue().encode()


def in_files(size: int, page: Callable[[int, Boxes], str], suffix: str) -> Files:
    """Files of a page each, of about so many bytes together."""
    files: Files = {}
    total = 0
    for number, boxes in enumerate(pages()):
        content = files[f"p{number}{suffix}"] = page(number, boxes).encode()
        total += len(content)
        if total >= size:
            break
    return files


def coco(size: int) -> bytes:
    """Instances with ids, areas and outlines."""
    items: list[str] = []

    def page(number: int, boxes: Boxes) -> str:
        for x1, y1, x2, y2 in boxes:
            box = [x1, y1, x2 - x1, y2 - y1]
            value = {"id": len(items) + 1, "image_id": number, "category_id": 1, "bbox": box,
                     "area": box[2] * box[3], "iscrowd": 0, "segmentation": [[x1, y1, x2, y1, x2, y2]]}  # fmt: skip
            items.append(json.dumps(value))
        return " " * sum(map(len, items[-len(boxes) :]))

    count = len(filled(size, "", page, "", "")) and len(items) // _PER_PAGE
    images = [{"id": at, "file_name": f"p{at}.png", "width": _SIZE, "height": _SIZE} for at in range(count)]
    head = json.dumps({"images": images, "categories": [{"id": 1, "name": "Text"}]})
    return f'{head[:-1]}, "annotations": [{", ".join(items)}]}}'.encode()


def snapshot(size: int) -> bytes:
    """Schema 1.3, predictions."""

    def page(number: int, boxes: Boxes) -> str:
        page_id = f"d{number}.pdf::p000"
        objects = [
            {"id": f"{page_id}:{at}", "label": "Text", "bbox": [value / _SIZE for value in box], "score": 0.5}
            for at, box in enumerate(boxes)
        ]
        return json.dumps({"page_id": page_id, "doc_id": f"d{number}.pdf", "page_index": 0, "objects": objects})

    body = filled(size, "", page, ", ", "").decode()
    count = body.count('"page_id"')
    documents = [{"doc_id": f"d{at}.pdf", "doc_name": f"d{at}.pdf", "doc_path": f"d{at}.pdf"} for at in range(count)]
    space = {"type": "normalized_xyxy", "range": [0.0, 1.0], "origin": "top_left"}
    info = {"schema_version": "1.3", "type": "prediction", "run_id": "r", "model": {"name": "m"},
            "coordinate_system": space}  # fmt: skip
    head = json.dumps({"label_map": {"1": "Text"}, "info": info, "documents": documents})
    return f'{head[:-1]}, "predictions": [{body}]}}'.encode()


def docling(size: int) -> bytes:
    """A DoclingDocument with the text of each item."""
    sizes: list[int] = []

    def page(number: int, boxes: Boxes) -> str:
        sizes.append(number + 1)
        items = [
            {"self_ref": f"#/texts/{at}", "children": [], "label": "text", "orig": "word " * 20, "text": "word " * 20,
             "prov": [{"page_no": number + 1, "charspan": [0, 9],
                       "bbox": {"l": x1, "t": y1, "r": x2, "b": y2, "coord_origin": "TOPLEFT"}}]}
            for at, (x1, y1, x2, y2) in enumerate(boxes)
        ]  # fmt: skip
        return json.dumps(items)[1:-1]

    body = filled(size, "", page, ", ", "").decode()
    sheets = {str(at): {"page_no": at, "size": {"width": _SIZE, "height": _SIZE}} for at in sizes}
    head = json.dumps({"schema_name": "DoclingDocument", "version": "1.0.0", "name": "d", "pages": sheets})
    return f'{head[:-1]}, "texts": [{body}]}}'.encode()


def cvat(size: int) -> bytes:
    """CVAT for images."""

    def page(number: int, boxes: Boxes) -> str:
        shapes = "".join(
            f'<box label="Text" xtl="{x1}" ytl="{y1}" xbr="{x2}" ybr="{y2}" occluded="0"/>\n'
            for x1, y1, x2, y2 in boxes
        )
        return f'<image id="{number}" name="p{number}.png" width="{_SIZE}" height="{_SIZE}">{shapes}</image>\n'

    return filled(size, "<annotations>", page, "", "</annotations>")


def table(size: int) -> bytes:
    """A CSV file."""

    def page(number: int, boxes: Boxes) -> str:
        return "".join(f"p{number}.png,Text,{x1},{y1},{x2},{y2},0.5\n" for x1, y1, x2, y2 in boxes)

    return filled(size, "document,label,x1,y1,x2,y2,score\n", page, "", "")


def archive(size: int) -> bytes:
    """A zip archive of ALTO files, by the size of what is in it."""
    out = io.BytesIO()
    total = 0
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for number, boxes in enumerate(pages()):
            blocks = "".join(
                f'<TextBlock ID="b{at}" HPOS="{x1}" VPOS="{y1}" WIDTH="{x2 - x1}" HEIGHT="{y2 - y1}">'
                f'<TextLine><String CONTENT="{"word " * 300}"/></TextLine></TextBlock>\n'
                for at, (x1, y1, x2, y2) in enumerate(boxes)
            )
            sheet = f'<Page WIDTH="1000" HEIGHT="1000"><PrintSpace>{blocks}</PrintSpace></Page>'
            text = f"<alto><Layout>{sheet}</Layout></alto>"
            packed.writestr(f"p{number}.xml", text)
            total += len(text)
            if total >= size:
                break
    return out.getvalue()


def _outline(x1: int, y1: int, x2: int, y2: int) -> list[int]:
    """The corners of a box as x, y, x, y..."""
    return [x1, y1, x2, y1, x2, y2, x1, y2]


def _points(x1: int, y1: int, x2: int, y2: int) -> list[list[int]]:
    """The corners of a box as pairs."""
    return [[x1, y1], [x2, y1], [x2, y2], [x1, y2]]


def label_studio(size: int) -> bytes:
    """Tasks with a prediction each."""

    def page(number: int, boxes: Boxes) -> str:
        results = [
            {"id": f"r{at}", "type": "rectanglelabels", "from_name": "label", "to_name": "image",
             "original_width": _SIZE, "original_height": _SIZE, "image_rotation": 0,
             "value": {"x": x1 / 10, "y": y1 / 10, "width": (x2 - x1) / 10, "height": (y2 - y1) / 10, "rotation": 0,
                       "rectanglelabels": ["Text"]}}
            for at, (x1, y1, x2, y2) in enumerate(boxes)
        ]  # fmt: skip
        held = {"id": number, "model_version": "m", "score": 0.5, "result": results}
        return json.dumps({"id": number, "data": {"image": f"p{number}.png"}, "annotations": [], "predictions": [held]})

    return filled(size, "[", page, ", ", "]")


def omnidocbench(size: int) -> bytes:
    """Ground truth of OmniDocBench."""

    def page(number: int, boxes: Boxes) -> str:
        regions = [
            {"category_type": "text_block", "poly": _outline(*box), "ignore": False, "order": at, "anno_id": at,
             "text": _TEXT}
            for at, box in enumerate(boxes)
        ]  # fmt: skip
        sheet = {"page_no": number, "height": _SIZE, "width": _SIZE, "image_path": f"p{number}.jpg"}
        return json.dumps({"layout_dets": regions, "page_info": sheet})

    return filled(size, "[", page, ", ", "]")


def mineru_middle(size: int) -> bytes:
    """The middle file of MinerU."""

    def page(number: int, boxes: Boxes) -> str:
        blocks = [
            {"type": "text", "bbox": box, "lines": [{"bbox": box, "spans": [{"bbox": box, "content": _TEXT}]}]}
            for box in boxes
        ]
        return json.dumps({"page_idx": number, "page_size": [_SIZE, _SIZE], "para_blocks": blocks})

    return filled(size, '{"pdf_info": [', page, ", ", "]}")


def mineru_model(size: int) -> bytes:
    """The model file of MinerU."""

    def page(number: int, boxes: Boxes) -> str:
        regions = [{"category_id": 1, "poly": _outline(*box), "score": 0.5} for box in boxes]
        sheet = {"page_no": number, "width": _SIZE, "height": _SIZE}
        return json.dumps({"layout_dets": regions, "page_info": sheet})

    return filled(size, "[", page, ", ", "]")


def mineru_content_list(size: int) -> bytes:
    """The content list of MinerU."""

    def page(number: int, boxes: Boxes) -> str:
        return ", ".join(json.dumps({"type": "text", "text": _TEXT, "bbox": box, "page_idx": number}) for box in boxes)

    return filled(size, "[", page, ", ", "]")


def paddle(size: int) -> bytes:
    """Results of PP-DocLayout, an array of pages."""

    def page(number: int, boxes: Boxes) -> str:
        regions = [{"cls_id": 2, "label": "text", "score": 0.5, "coordinate": box} for box in boxes]
        return json.dumps(
            {"input_path": "a.pdf", "page_index": number, "width": _SIZE, "height": _SIZE, "boxes": regions}
        )

    return filled(size, "[", page, ", ", "]")


def marker(size: int) -> bytes:
    """The JSON of Marker."""

    def page(number: int, boxes: Boxes) -> str:
        children = [
            {"id": f"/page/{number}/Text/{at}", "block_type": "Text", "html": _TEXT, "polygon": _points(*box),
             "bbox": box, "children": None}
            for at, box in enumerate(boxes)
        ]  # fmt: skip
        whole = (0, 0, _SIZE, _SIZE)
        sheet = {"id": f"/page/{number}/Page/0", "block_type": "Page", "html": "", "polygon": _points(*whole)}
        return json.dumps({**sheet, "bbox": whole, "children": children})

    return filled(size, '{"children": [', page, ", ", '], "block_type": "Document"}')


def azure(size: int) -> bytes:
    """A result of Document Intelligence, its paragraphs before its pages."""
    sheets: list[str] = []

    def page(number: int, boxes: Boxes) -> str:
        sheets.append(json.dumps({"pageNumber": number + 1, "width": _SIZE, "height": _SIZE, "unit": "pixel"}))
        return ", ".join(
            json.dumps({"content": _TEXT, "boundingRegions": [{"pageNumber": number + 1, "polygon": _outline(*box)}]})
            for box in boxes
        )

    body = filled(size, "", page, ", ", "").decode()
    head = '{"status": "succeeded", "analyzeResult": {"apiVersion": "2024-11-30", "modelId": "prebuilt-layout", '
    return f'{head}"paragraphs": [{body}], "pages": [{", ".join(sheets)}]}}}}'.encode()


def textract(size: int) -> bytes:
    """Blocks of Textract."""

    def page(number: int, boxes: Boxes) -> str:
        def block(kind: str, at: int, box: tuple[int, int, int, int]) -> str:
            x1, y1, x2, y2 = box
            place = {"Width": (x2 - x1) / _SIZE, "Height": (y2 - y1) / _SIZE, "Left": x1 / _SIZE, "Top": y1 / _SIZE}
            points = [{"X": x / _SIZE, "Y": y / _SIZE} for x, y in ((x1, y1), (x2, y1), (x2, y2), (x1, y2))]
            return json.dumps(
                {"BlockType": kind, "Id": f"{number}-{at}", "Page": number + 1, "Confidence": 99.5,
                 "Geometry": {"BoundingBox": place, "Polygon": points}}
            )  # fmt: skip

        whole = block("PAGE", -1, (0, 0, _SIZE, _SIZE))
        return ", ".join([whole, *(block("LAYOUT_TEXT", at, box) for at, box in enumerate(boxes))])

    return filled(size, '{"DocumentMetadata": {"Pages": 1}, "Blocks": [', page, ", ", "]}")


def documentai(size: int) -> bytes:
    """A document of Document AI."""

    def page(number: int, boxes: Boxes) -> str:
        blocks = [
            {"layout": {"textAnchor": {"textSegments": [{"startIndex": "1", "endIndex": "9"}]}, "confidence": 0.5,
                        "boundingPoly": {"normalizedVertices": [
                            {"x": x / _SIZE, "y": y / _SIZE} for x, y in _points(*box)]}}}
            for box in boxes
        ]  # fmt: skip
        sheet = {"pageNumber": number + 1, "dimension": {"width": _SIZE, "height": _SIZE, "unit": "pixels"}}
        return json.dumps({**sheet, "blocks": blocks})

    return filled(size, '{"mimeType": "application/pdf", "text": "x", "pages": [', page, ", ", "]}")


def unstructured(size: int) -> bytes:
    """Elements of unstructured."""

    def page(number: int, boxes: Boxes) -> str:
        space = {"system": "PixelSpace", "layout_width": _SIZE, "layout_height": _SIZE}
        return ", ".join(
            json.dumps(
                {"type": "NarrativeText", "element_id": f"{number}-{at}", "text": _TEXT,
                 "metadata": {"page_number": number + 1, "filename": "a.pdf",
                              "coordinates": {"points": _points(*box), **space}}}
            )
            for at, box in enumerate(boxes)
        )  # fmt: skip

    return filled(size, "[", page, ", ", "]")


def supervision(size: int) -> bytes:
    """The CSV sink of supervision."""

    def page(number: int, boxes: Boxes) -> str:
        return "".join(f"{x1},{y1},{x2},{y2},1,0.5,,text,p{number}.png\n" for x1, y1, x2, y2 in boxes)

    return filled(size, "x_min,y_min,x_max,y_max,class_id,confidence,tracker_id,class_name,file_name\n", page, "", "")


def pod(size: int) -> bytes:
    """Documents of ICDAR 2017 POD, one after the other."""

    def page(number: int, boxes: Boxes) -> str:
        regions = "".join(
            f'<tableRegion prob="0.9"><Coords points="{x1},{y1} {x2},{y1} {x1},{y2} {x2},{y2}"/></tableRegion>\n'
            for x1, y1, x2, y2 in boxes
        )
        return f'<document filename="POD_{number}.bmp">{regions}</document>\n'

    return filled(size, "", page, "", "")


def page_xml(size: int) -> Files:
    """A folder of PAGE XML, with lines in each region."""
    space = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"

    def page(number: int, boxes: Boxes) -> str:
        regions = []
        for at, (x1, y1, x2, y2) in enumerate(boxes):
            ring = f'<Coords points="{x1},{y1} {x2},{y1} {x2},{y2} {x1},{y2}"/>'
            line = f'<TextLine id="l{number}-{at}">{ring}<TextEquiv><Unicode>{_TEXT}</Unicode></TextEquiv></TextLine>'
            regions.append(f'<TextRegion id="r{number}-{at}" type="paragraph">{ring}{line}</TextRegion>\n')
        sheet = f'<Page imageFilename="p{number}.png" imageWidth="{_SIZE}" imageHeight="{_SIZE}">'
        return f'<PcGts xmlns="{space}">{sheet}{"".join(regions)}</Page></PcGts>'

    return in_files(size, page, ".xml")


def alto(size: int) -> bytes:
    """Pages of one ALTO file, with a line in each block."""

    def page(number: int, boxes: Boxes) -> str:
        blocks = []
        for at, (x1, y1, x2, y2) in enumerate(boxes):
            place = f'HPOS="{x1}" VPOS="{y1}" WIDTH="{x2 - x1}" HEIGHT="{y2 - y1}"'
            line = f'<TextLine {place}><String CONTENT="{_TEXT}"/></TextLine>'
            blocks.append(f'<TextBlock ID="b{number}-{at}" {place}>{line}</TextBlock>\n')
        sheet = f'<Page WIDTH="{_SIZE}" HEIGHT="{_SIZE}" PHYSICAL_IMG_NR="{number + 1}">'
        return f"{sheet}<PrintSpace>{''.join(blocks)}</PrintSpace></Page>"

    return filled(size, '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout>', page, "", "</Layout></alto>")


def voc(size: int) -> Files:
    """A folder of Pascal VOC."""
    extent = f"<size><width>{_SIZE}</width><height>{_SIZE}</height><depth>3</depth></size>"

    def page(number: int, boxes: Boxes) -> str:
        objects = "".join(
            f"<object><name>Text</name><difficult>0</difficult><bndbox><xmin>{x1}</xmin><ymin>{y1}</ymin>"
            f"<xmax>{x2}</xmax><ymax>{y2}</ymax></bndbox></object>\n"
            for x1, y1, x2, y2 in boxes
        )
        return f"<annotation><filename>p{number}.jpg</filename>{extent}{objects}</annotation>"

    return in_files(size, page, ".xml")


def yolo(size: int) -> Files:
    """A folder of YOLO labels."""

    def page(number: int, boxes: Boxes) -> str:
        return "".join(
            f"0 {(x1 + x2) / 2000} {(y1 + y2) / 2000} {(x2 - x1) / 1000} {(y2 - y1) / 1000} 0.5\n"
            for x1, y1, x2, y2 in boxes
        )

    return in_files(size, page, ".txt")


FAMILIES: Final[dict[str, tuple[Callable[[int], bytes | Files], str, str]]] = {
    "coco": (coco, ".json", ""),
    "snapshot": (snapshot, ".json", ""),
    "docling": (docling, ".json", ""),
    "cvat": (cvat, ".xml", ""),
    "table": (table, ".csv", ""),
    "zip": (archive, ".zip", "ground_truth"),
    "label-studio": (label_studio, ".json", ""),
    "omnidocbench": (omnidocbench, ".json", ""),
    "mineru-middle": (mineru_middle, ".json", ""),
    "mineru-model": (mineru_model, ".json", ""),
    "mineru-content-list": (mineru_content_list, ".json", ""),
    "paddle": (paddle, ".json", ""),
    "marker": (marker, ".json", ""),
    "azure": (azure, ".json", ""),
    "textract": (textract, ".json", ""),
    "documentai": (documentai, ".json", ""),
    "unstructured": (unstructured, ".json", ""),
    "supervision": (supervision, ".csv", ""),
    "pod": (pod, ".xml", ""),
    "page-xml": (page_xml, "", "ground_truth"),
    "alto": (alto, ".xml", "ground_truth"),
    "voc": (voc, "", "ground_truth"),
    "yolo": (yolo, "", ""),
}
"""Of each family what makes about so many bytes, the ending of the file (a folder has none), and the side to read."""
