"""How all sample files are made: by programs that see the PDF only and give the same bytes on every build."""

import importlib.metadata
import inspect
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sample_data import make
from sample_data.generators import (
    anchors,
    detectors,
    labelling,
    page_reading,
    page_text,
    poster_extraction,
    rules,
    segments,
)

FOLDER = Path(make.__file__).parent
FEW = ("school-census", "port-authority-annual")  # the turned, landscape and trimmed pages
EXTRACTORS = (
    detectors.detect_lines, detectors.detect_blocks, *make.READERS.values(), *make.FIELD_EXTRACTORS.values(),
    *make.POSTER_EXTRACTORS.values(),
)  # fmt: skip
# Where the truth is, and what reads files or draws lots.
FORBIDDEN = (
    "ground_truth", "generators.report", "generators.invoices", "generators.applications", "poster_sheets",
    "sample_data import", "import json", "tomllib", "pathlib", "import random", "default_rng",
)  # fmt: skip

built_with_these = pytest.mark.skipif(
    {name: importlib.metadata.version(name) for name in make.BUILT_WITH} != make.BUILT_WITH,
    reason=f"the sample data is built with {make.BUILT_WITH}",
)


@pytest.mark.parametrize("extract", EXTRACTORS)
def test_an_extractor_gets_the_bytes_of_a_pdf(extract: Any) -> None:
    assert [str(each.annotation) for each in inspect.signature(extract).parameters.values()] == ["bytes"]


@pytest.mark.parametrize(
    "module",
    [detectors, labelling, page_reading, page_text, anchors, rules, segments, poster_extraction],
    ids=lambda each: each.__name__,
)
def test_an_extractor_knows_nothing_of_the_truth(module: ModuleType) -> None:
    source = inspect.getsource(module)
    assert [word for word in FORBIDDEN if word in source] == []


def files(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}


@built_with_these
@pytest.mark.parametrize("name", ["fields", "posters"])
def test_committed_files_are_those_of_the_script(name: str, tmp_path: Path) -> None:
    {"fields": make.build_fields, "posters": make.build_posters}[name](tmp_path)
    assert files(tmp_path) == files(FOLDER / name)


@built_with_these
def test_committed_items_are_those_of_the_script(tmp_path: Path) -> None:
    make.build_reading(tmp_path, [report for report in make.REPORTS if report.name in FEW])
    for path in tmp_path.iterdir():
        committed = (FOLDER.with_name("sample_reading") / path.name).read_text(encoding="utf-8").splitlines()
        few = [line for line in committed if json.loads(line)["document"].removesuffix(".pdf") in FEW]
        assert path.read_text(encoding="utf-8").splitlines() == few, path.name


@built_with_these
def test_committed_reports_are_those_of_the_script(tmp_path: Path) -> None:
    """Built without the other reports, they have the same bytes."""
    make.build(tmp_path, [report for report in make.REPORTS if report.name in FEW])
    pdfs = {Path(f"{name}.pdf"): (FOLDER / "pdf" / f"{name}.pdf").read_bytes() for name in FEW}
    assert files(tmp_path / "pdf") == pdfs
    assert {path.name for path in tmp_path.iterdir()} == {"pdf", "ground_truth.json", "lines.json", "blocks.json"}
    for path in tmp_path.glob("*.json"):
        built, committed = (json.loads(each.read_text(encoding="utf-8")) for each in (path, FOLDER / path.name))
        few = [page for page in committed["predictions"] if Path(page["doc_id"]).stem in FEW]
        assert built["predictions"] == few, path.name
