"""The sample posters: what their reference says is on the sheet, and the models fail in different ways."""

import json
import re
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from evaluator.formats import posters
from evaluator.formats.base import Reading
from evaluator.protocols.posters.evaluation import evaluate
from sample_data import make
from sample_data.generators import poster_layout
from sample_data.generators.poster_sheets import SHEETS

FOLDER = Path(make.__file__).parent / "posters"
MODELS = ("across", "columns")
A0 = (2384, 3370)


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.lower()))


def test_each_poster_has_a_page_a_reference_and_two_extractions() -> None:
    names = {sheet.name for sheet in SHEETS}
    assert {path.stem for path in (FOLDER / "pdf").iterdir()} == names
    assert {path.stem for path in (FOLDER / "ground_truth").iterdir()} == names
    for model in MODELS:
        assert {path.name for path in (FOLDER / model).iterdir()} == {f"{name}_extracted.json" for name in names}
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 2**20


def test_pages_are_as_large_as_posters() -> None:
    sizes = []
    for path in sorted((FOLDER / "pdf").glob("*.pdf")):
        with pymupdf.open(path) as document:
            assert len(document) == 1
            sizes.append((round(document[0].rect.width), round(document[0].rect.height)))
    assert sorted(set(sizes)) == [(2384, 1684), A0]
    with Image.open(FOLDER / "pdf" / "museum-labels.jpg") as picture:
        assert picture.format == "JPEG"
        assert picture.width == poster_layout.PICTURE_WIDTH


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_nothing_runs_over_the_sheet_and_every_word_of_its_reference_is_on_it(sheet: poster_layout.Sheet) -> None:
    content, left = poster_layout.write_pdf(sheet)
    assert left >= 0
    with pymupdf.open(stream=content, filetype="pdf") as document:
        page = words(document[0].get_text().replace("-\n", ""))
    # The kind of a name is a term of the schema, and "6,7" a matter of where a line ends.
    assert words(posters.text_of(poster_layout.reference(sheet))) - page <= {"personal"}


def test_the_models_fail_in_different_ways() -> None:
    truth = posters.FORMAT.read_path(FOLDER / "ground_truth", Reading(side="ground_truth"))
    assert not truth.issues
    failed = {}
    for model in MODELS:
        result = evaluate(truth, posters.FORMAT.read_path(FOLDER / model, Reading(side="prediction")))
        assert not result.issues
        failed[model] = {name for poster in result.posters for name in poster.failed}
        assert 0 < sum(poster.passes for poster in result.posters) < len(SHEETS)
    assert failed == {"across": {"rouge_l", "field_proportion"}, "columns": {"number_capture"}}


def test_references_follow_the_schema_of_the_reader() -> None:
    for path in sorted((FOLDER / "ground_truth").iterdir()):
        content = json.loads(path.read_text(encoding="utf-8"))
        keys = ["titles", "creators", "conference", "posterContent", "imageCaptions", "tableCaptions"]
        assert list(content) == keys
        assert all(section["sectionContent"] for section in content["posterContent"]["sections"])
