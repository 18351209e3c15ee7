"""Average precision of named slices: that of the pages and labels in them alone, in every command that takes slices."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import formats
from evaluator.metrics.measures import Key
from evaluator.protocols import PROTOCOLS, coco, pod
from evaluator.slices.conditions import Condition
from evaluator.slices.named import NamedSlice, numbers_of, slices_json, slices_part
from tests.test_slices import ended

CATEGORIES = [{"id": 1, "name": "Text"}, {"id": 2, "name": "Table"}]


def files(folder: Path, pages: Callable[[int], bool] = lambda _page: True, label: int | None = None) -> list[Path]:
    """Twelve documents of two pages of two kinds, of which some pages or one label are written."""
    rng = np.random.default_rng(7)
    images: list[dict[str, Any]] = []
    truth: list[dict[str, Any]] = []
    predicted: list[list[dict[str, Any]]] = [[], []]
    for page in range(24):
        kind = "scan" if page % 3 == 0 else "digital"
        image = {"id": page, "file_name": f"d{page // 2}_{page % 2}.png", "width": 1000, "height": 1000,
                 "doc_category": kind, "doc_name": f"d{page // 2}.pdf", "page_no": page % 2}  # fmt: skip
        images.append(image)
        for place in range(6):
            category = 1 + int(rng.random() < 0.3)
            box = [50.0 + 10 * place, 20.0 + 150 * place, 400.0, 90.0]
            wanted = pages(page) and label in (None, category)
            if wanted:
                truth.append({"id": len(truth), "image_id": page, "category_id": category, "bbox": box, "iscrowd": 0,
                              "area": box[2] * box[3]})  # fmt: skip
            for model, shaking in enumerate((20.0, 8.0)):
                shaken = [value + move for value, move in zip(box, rng.normal(0, shaking, 4), strict=True)]
                score, seen = float(rng.random()), rng.random() < (0.6 if kind == "scan" else 0.9)
                if wanted and seen:
                    predicted[model].append({"image_id": page, "category_id": category, "bbox": shaken, "score": score})
    folder.mkdir(exist_ok=True)
    paths = [folder / "truth.json", folder / "a.json", folder / "b.json"]
    paths[0].write_text(json.dumps({"images": images, "annotations": truth, "categories": CATEGORIES}))
    for path, items in zip(paths[1:], predicted, strict=True):
        path.write_text(json.dumps(items))
    return paths


SCANS = NamedSlice("scans", (Condition("doc_category", "==", "scan"),))
TABLES = NamedSlice("tables", (Condition("label", "==", "Table"),))
SMALL = NamedSlice("small", (Condition("area", "<", 0.5),))
NONE = NamedSlice("none", (Condition("doc_category", "==", "digital"), Condition("doc_category", "==", "scan")))


@pytest.mark.parametrize("protocol", [coco, pod])
@pytest.mark.parametrize(
    ("named", "kept"), [(SCANS, {"pages": lambda page: page % 3 == 0}), (TABLES, {"label": 2})], ids=["scans", "tables"]
)
def test_it_is_that_of_files_with_only_these_boxes(
    tmp_path: Path, protocol: Any, named: NamedSlice, kept: dict[str, Any]
) -> None:
    values = []
    for folder, given in (("all", {}), ("some", kept)):
        paths = files(tmp_path / folder, **given)
        truth, prediction = (formats.read(path) for path in paths[:2])
        values.append(protocol.evaluate(truth, prediction))
    everything, alone = values
    name = everything.signature.protocol
    of_slice = slices_json(numbers_of(everything, [named]))[named.name]
    expected = {
        key.metric: value
        for part in PROTOCOLS[name].measures(alone).parts
        for key, value in zip(part.keys, part.values.tolist(), strict=True)
        if key.label == "All labels"
    }
    of_protocol = {"coco": {"AP", "AP50", "AP75", "AR100"}, "pod": {"AP"}}[name]
    assert of_protocol <= set(of_slice) & set(expected) or name == "pod"
    shared = [metric for metric in expected if metric in of_slice]
    assert len(shared) > 6
    for metric in shared:
        assert of_slice[metric] == pytest.approx(expected[metric], abs=1e-12), metric


def test_a_slice_that_splits_a_page_has_none_and_an_empty_one_is_missing(tmp_path: Path) -> None:
    truth, prediction = (formats.read(path) for path in files(tmp_path)[:2])
    numbers = numbers_of(coco.evaluate(truth, prediction), [SMALL, NONE])
    of_slice = slices_json(numbers)
    assert "AP" not in of_slice["small"]
    assert of_slice["none"]["AP"] is None
    keys = [key for part in slices_part(numbers) for key in part.keys]
    assert Key("AP", "slice:none") in keys
    assert Key("AP", "slice:small") not in keys


def test_every_command_takes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth, a, b = files(tmp_path)
    named = tmp_path / "named.json"
    named.write_text('{"scans": [{"attribute": "doc_category", "op": "==", "value": "scan"}]}')
    code, out, err = ended(capsys, "evaluate", "coco", "--gt", truth, "--pred", a, "--json", "--slices", named)
    assert code == 0, err
    average = json.loads(out)["slices"]["scans"]["AP"]
    assert 0.0 < average < json.loads(out)["AP"]
    gate = ("gate", "coco", "--gt", truth, "--pred", a, "--slices", named, "--fail-if")
    assert ended(capsys, *gate, f"AP[slice:scans] < {average + 0.001:.4f}")[0] == 1
    assert ended(capsys, *gate, f"AP[slice:scans] < {average - 0.001:.4f}")[0] == 0
    assert ended(capsys, *gate, "AP[slice:scans] < baseline", "--baseline", b)[0] == 1
    code, out, err = ended(
        capsys, "compare", "coco", "--gt", truth, "--pred", a, "--pred", b, "--slices", named, "--json",
        "--resamples", 100,
    )  # fmt: skip
    assert code == 0, err
    (one,) = [
        each
        for each in json.loads(out)["differences"]
        if (each["label"], each["metric"]) == ("slice:scans", "AP")
    ]  # fmt: skip
    assert one["a"] == pytest.approx(average)
    assert one["difference"] == pytest.approx(one["b"] - one["a"])
    assert one["low"] < one["difference"] < one["high"]
    code, out, err = ended(capsys, "evaluate", "coco", "--gt", truth, "--pred", a, "--slices", named)
    assert "AP50" in out.split("Named slices")[1]
