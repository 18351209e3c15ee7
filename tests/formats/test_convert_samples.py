"""Every real sample converted to COCO: an annotation in pixels for each box that its reader has, or a refusal."""

import json
from pathlib import Path
from typing import Final

import pytest

from evaluator import formats
from tests.reading import needs_shared, real
from tests.terminal import run_command

_SIZE: Final = "COCO needs the width and height of every page"


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
    """One annotation in a page with a size for each box, as many as are described; else the reason why not."""
    samples = [path for path in sorted(real("formats").rglob("*")) if path.is_file() and path.name != "SOURCES.txt"]
    assert len(samples) > 50
    for path in samples:
        out = tmp_path / f"{path.parent.name}-{path.name}.json"
        code, _, said = run_command(capsys, "convert", path, "--to", "coco", "--out", out)
        of_describe, described, problem = run_command(capsys, "describe", path, "--json")
        if reason := REFUSED.get(path.name):
            assert (code, reason in said) == (2, True), path.name
            # Those that only lack sizes for COCO are described; of the others one short sentence is said.
            assert len(problem.partition("; found")[0].partition(". ")[0]) < 160
            continue
        assert (code, of_describe) == (0, 0), path.name
        value = json.loads(out.read_bytes())
        assert len(value["annotations"]) == len(formats.read(path).boxes) == json.loads(described)["boxes"], path.name
        if path.parent.name in ("coco", "doclaynet", "publaynet"):
            assert len(value["annotations"]) == len(json.loads(path.read_bytes())["annotations"]), path.name
        sizes = {image["id"]: (image["width"], image["height"]) for image in value["images"]}
        # In shares of the page the largest edge would be 1.
        assert all(min(sizes[item["image_id"]]) > 1 for item in value["annotations"]), path.name
