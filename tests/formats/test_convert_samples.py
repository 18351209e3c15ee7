"""Every real sample converted to COCO: an annotation in pixels for each box of a plain count, or a refusal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from evaluator import cli
from tests.reading import needs_shared, real

_SIZE: Final = "COCO needs the width and height of every page"
_ITEMS: Final = ("texts", "tables", "pictures", "groups", "key_value_items", "form_items")
_EVERY: Final = ("blocks", "paragraphs", "tables", "visualElements")


def tree(content: bytes) -> Any:
    return json.loads(content)


def tags(*names: str) -> Callable[[bytes], int]:
    """How many elements of these names a file has."""
    return lambda content: len(re.findall(rf"<(?:\w+:)?(?:{'|'.join(names)})[\s>/]".encode(), content))


def docling(content: bytes) -> int:
    held = tree(content)
    provs = [item.get("prov", []) for key in _ITEMS for item in held.get(key, [])]
    return sum(len({json.dumps([prov["page_no"], prov["bbox"]]) for prov in of_item}) for of_item in provs)


def azure(content: bytes) -> int:
    held = tree(content)
    held = held.get("analyzeResult", held)
    if "readResults" in held:
        tables = [table for page in held.get("pageResults", []) for table in page["tables"]]
        return sum(len(page["lines"]) for page in held["readResults"]) + len(tables)
    lines = [] if held.get("paragraphs") else [line for page in held["pages"] for line in page.get("lines", [])]
    regions = [item["boundingRegions"] for key in ("paragraphs", "tables", "figures") for item in held.get(key, [])]
    return len(lines) + sum(map(len, regions))


def marker(content: bytes) -> int:
    def leaves(block: Any) -> int:
        children = block.get("children") or []
        return sum(map(leaves, children)) if block["block_type"].endswith("Group") and children else 1

    return sum(leaves(block) for page in tree(content)["children"] for block in page["children"])


def middle(content: bytes) -> int:
    def leaves(block: Any) -> int:
        return sum(map(leaves, block["blocks"])) if block.get("blocks") else 1

    return sum(leaves(block) for page in tree(content)["pdf_info"] for key in ("para_blocks", "discarded_blocks")
               for block in page.get(key, []))  # fmt: skip


def label_studio(content: bytes) -> int:
    held = tree(content)
    if any("annotations" not in task for task in held):
        return content.count(b'"rectanglelabels"') + content.count(b'"polygonlabels"')
    return sum(result["type"] in ("rectanglelabels", "polygonlabels") for task in held
               for result in (task["annotations"] or [{"result": []}])[0]["result"])  # fmt: skip


REGIONS: Final = (
    "(?:Text|Table|Image|Graphic|Separator|Maths|Chart|LineDrawing|Noise|Advert|Chem|Music|Frame|Unknown)Region",
)
COUNTS: Final[dict[str, Callable[[bytes], int]]] = {
    "alto": tags("TextBlock", "Illustration", "GraphicalElement", "ComposedBlock"),
    "azure-di": azure,
    "coco": lambda content: len(tree(content)["annotations"]),
    "cvat": tags("box", "polygon"),
    "doclaynet": lambda content: len(tree(content)["annotations"]),
    "docling": docling,
    "google-documentai": lambda content: sum(
        len(page.get(key, [])) for page in tree(content)["pages"] for key in _EVERY
    ),
    "label-studio": label_studio,
    "marker": marker,
    "omnidocbench": lambda content: sum(len(page["layout_dets"]) for page in tree(content)),
    "page-xml": tags(*REGIONS),
    "pascal-voc": tags("bndbox"),
    "publaynet": lambda content: len(tree(content)["annotations"]),
    "unstructured": lambda content: sum("coordinates" in each["metadata"] for each in tree(content)),
}
BY_FILE: Final[dict[str, Callable[[bytes], int]]] = {
    "mineru2_middle.trimmed.json": middle,
    "mineru2_model.json": lambda content: content.count(b'"poly"'),
    "activities.gt.azure.json": azure,
    # Its polygon has no label, which is said.
    "for_images_export_task_train.xml": tags("box"),
}
# VOC has the boxes of <part> elements besides, which are not read.
PARTS: Final = {"2007_000001.xml": tags("part")}
REFUSED: Final = {
    "Invoice_1.pdf.labels.json": "this is a labels file of Azure Document Intelligence",
    "hotcoco_dt.json": "is a COCO results list, which names no pages and labels",
    "hotcoco_healthcheck_bad.json": "the id of an image must occur once",
    "for_video_annotations.xml": "tracks are not read, they belong to videos",
    "DoclingDocument.schema.json": "this is a JSON schema",
    "sample.html": "this is hOCR",
    "tess.hocr": "this is hOCR",
    "detection_prediction.json": _SIZE,
    "mineru2_content_list.json": _SIZE,
    "PP-DocLayoutV2_layout_detection_docs.json": _SIZE,
    "detections.csv": _SIZE,
    "detections.json": _SIZE,
    "employmentapp.json": _SIZE,
    "layout_csv_example.json": _SIZE,
    "test_detect_document_text.json": _SIZE,
    "data.yaml": _SIZE,
    "train_001.txt": _SIZE,
}


@needs_shared
def test_every_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One annotation for each box, inside of a page with a size; else the reason why not."""
    outcomes: dict[str, int | str] = {}
    wanted: dict[str, int | str] = {}
    for path in sorted(real("formats").rglob("*")):
        if not path.is_file() or path.name == "SOURCES.txt":
            continue
        out = tmp_path / f"{path.parent.name}-{path.name}.json"
        with pytest.raises(SystemExit) as left:
            cli.main(["convert", str(path), "--to", "coco", "--out", str(out)])
        err = capsys.readouterr().err
        if path.name in REFUSED:
            wanted[path.name] = REFUSED[path.name]
            outcomes[path.name] = REFUSED[path.name] if left.value.code == 2 and REFUSED[path.name] in err else err
            continue
        content = path.read_bytes()
        count = BY_FILE.get(path.name) or COUNTS[path.parent.name]
        wanted[path.name] = count(content) - PARTS.get(path.name, tags("none"))(content)
        written = tree(out.read_bytes()) if out.exists() else {"annotations": [], "images": []}
        outcomes[path.name] = len(written["annotations"])
        sizes = {image["id"]: (image["width"], image["height"]) for image in written["images"]}
        # In shares of the page the largest edge would be 1.
        assert all(min(sizes[item["image_id"]]) > 1 for item in written["annotations"]), path.name
    assert outcomes == wanted
    assert len(outcomes) > 50


@needs_shared
def test_every_sample_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    """As many boxes as a plain count has, with or without sizes of pages; a refusal is one short sentence."""
    wanted: dict[str, int | str] = {}
    described: dict[str, int | str] = {}
    for path in sorted(real("formats").rglob("*")):
        if not path.is_file() or path.name == "SOURCES.txt":
            continue
        with pytest.raises(SystemExit) as left:
            cli.main(["describe", str(path), "--json"])
        streams = capsys.readouterr()
        if left.value.code:
            assert path.name in REFUSED, streams.err
            first = streams.err.splitlines()[0]
            assert len(first.partition("; found")[0].partition(". ")[0]) < 160, first
            continue
        described[path.name] = tree(streams.out.encode())["boxes"]
        content = path.read_bytes()
        count = BY_FILE.get(path.name) or COUNTS.get(path.parent.name)
        # Those that only lack sizes for COCO are counted by the tests of their readers.
        wanted[path.name] = described[path.name] if path.name in REFUSED or count is None else (
            count(content) - PARTS.get(path.name, tags("none"))(content)
        )  # fmt: skip
    assert described == wanted
    assert len(described) > 45
