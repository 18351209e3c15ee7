"""Pairs that are kept for other processes: the numbers of pairs that were just made, and nothing that is damaged."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from evaluator import formats
from evaluator.data.dataset import Dataset, join
from evaluator.matching.box_results import AnyBoxPairs
from evaluator.protocols import PROTOCOLS, AnyBoxProtocol
from evaluator.system import kept_values, plain_values
from evaluator.system.cache_folder import VARIABLE
from tests.sample_part import write_part

FILES = ("truth", "model")


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Any:
    sample = write_part(tmp_path_factory.mktemp("sample"), "tram-options.pdf", "groundwater-note.pdf")
    return formats.read(sample / "ground_truth.json"), formats.read(sample / "lines.json")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def kept(name: str, sides: Any) -> tuple[AnyBoxProtocol, Any, Dataset]:
    of: Any = PROTOCOLS[name]
    options = of.options()
    return of, options, join(sides[0], of.prepare(*sides, options)[0])


def content(pairs: AnyBoxPairs) -> bytes:
    return plain_values.to_bytes(pairs.parts())


def numbers(of: AnyBoxProtocol, pairs: AnyBoxPairs, options: Any) -> Any:
    result = of.result(of.match(pairs, options, min_score=0.5), of.thresholds, options)
    return result.to_json(), result.first.corrections.tolist(), result.first.score_curve().tp.tolist()


@pytest.mark.parametrize("name", ["coco", "pod", "snapshot"])
@pytest.mark.parametrize("polygons", [False, True])
def test_kept_pairs_make_the_numbers_of_new_ones_without_work(name: str, polygons: bool, sides: Any) -> None:
    of, options, dataset = kept(name, sides)
    options = type(options)(polygons=polygons)
    new, first = of.pair(dataset, 0, options), of.kept_pair(dataset, 0, options, FILES)
    with patch.object(type(of), "pair"):
        again = of.kept_pair(dataset, 0, options, FILES)
    assert content(first) == content(again) == content(new)
    assert numbers(of, again, options) == numbers(of, new, options)
    arrays: list[Any] = []
    plain_values.to_bytes(again.parts(), arrays)
    assert {type(each.base) for each in arrays} == {np.memmap}


def test_other_files_columns_options_or_code_are_other_pairs(sides: Any, home: Path) -> None:
    of, options, dataset = kept("coco", sides)
    moved = replace(sides[1], boxes=replace(sides[1].boxes, xyxy=sides[1].boxes.xyxy * 0.99))
    changed = join(sides[0], of.prepare(sides[0], moved, options)[0])
    for count, (data, how, files) in enumerate(
        [
            (dataset, options, FILES),
            (changed, options, FILES),
            (dataset, type(options)(max_detections=3), FILES),
            (dataset, options, ("truth", "other")),
        ]
    ):
        of.kept_pair(data, 0, how, files)
        assert len([*home.iterdir()]) == count + 1
    with patch.object(kept_values, "code_digest", lambda *_: "other"):
        of.kept_pair(dataset, 0, options, FILES)
    assert len([*home.iterdir()]) == 5


def test_damaged_pairs_are_made_and_written_again(sides: Any, home: Path) -> None:
    of, options, dataset = kept("coco", sides)
    expected = content(of.kept_pair(dataset, 0, options, FILES))
    (folder,) = home.iterdir()
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        for damaged in (b"", whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1]), None):
            # Another file, because the old one is mapped.
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            assert content(of.kept_pair(dataset, 0, options, FILES)) == expected
            assert path.read_bytes() == whole


def test_without_a_folder_pairs_are_made(sides: Any, home: Path) -> None:
    home.write_text("a file")
    of, options, dataset = kept("coco", sides)
    assert content(of.kept_pair(dataset, 0, options, FILES)) == content(of.pair(dataset, 0, options))
