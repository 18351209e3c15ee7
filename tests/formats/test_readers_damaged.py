"""Files that are cut off, spoilt or hostile: finite numbers, or issues that say all there is to say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import formats
from tests.broken import snapshot as broken
from tests.formats.test_readers_pod import WANTED
from tests.reading import HOSTILE, OWN, assert_survives, cut_short, read, refused

CVAT = b"""<annotations><version>1.1</version>
<image id="0" name="a.png" width="300" height="400"><box label="T" xtl="1" ytl="2" xbr="9" ybr="8" rotation="5"/>
<polygon label="T" points="10,10;90,10;50,60"/></image>
<image id="1" name="b.png" width="300" height="400"><box label="T" xtl="1" ytl="2" xbr="9" ybr="8"/></image>
</annotations>
"""
POD = b"""<?xml version="1.0" encoding="UTF-8"?>
<document filename="a.bmp"><tableRegion prob="0.5"><Coords points="1,2 3,4"/></tableRegion></document>
"""


SAMPLES = {
    **{f"{name}.xml": (row, (OWN / f"{name}.xml").read_bytes()) for name, row in (
        ("alto_4", "alto"), ("alto_mm10", "alto"), ("page_2010", "page-xml"), ("page_2019", "page-xml"), ("voc", "voc"),
    )},
    **{f"{name}.json": (row, (OWN / f"{name}.json").read_bytes()) for name, row in (
        ("label_studio", "label-studio"), ("label_studio_min", "label-studio"), ("omnidocbench", "omnidocbench"),
        ("omnidocbench_results", "omnidocbench"),
    )},
    "cvat.xml": ("cvat", CVAT),
    "pod.xml": ("pod", POD),
    "snapshot.json": ("snapshot", broken.VALID["prediction"].encode()),
    "p1.txt": ("yolo", (OWN / "yolo" / "labels" / "train" / "p1.txt").read_bytes()),
}  # fmt: skip
"""Format and content of small files by their names."""


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "p1.txt"])
def test_a_file_that_is_cut_off_is_refused_and_says_so(name: str) -> None:
    format, content = SAMPLES[name]
    for piece in cut_short(content):
        (first, *_) = refused(formats.FORMATS[format], piece, name)
        assert "the file is cut off" in first.lower()


@pytest.mark.parametrize("name", SAMPLES)
@given(data=st.data())
def test_a_spoilt_file_never_ends_in_another_error(name: str, data: st.DataObject) -> None:
    format, content = SAMPLES[name]
    assert_survives(formats.FORMATS[format], content, name, data)


@pytest.mark.parametrize("format", ["alto", "page-xml", "voc", "cvat"])
@pytest.mark.parametrize("name", WANTED)
def test_hostile_xml_is_refused(name: str, format: str) -> None:
    assert refused(formats.FORMATS[format], (HOSTILE / "xml" / name).read_bytes(), name)


@pytest.mark.parametrize("name", ["alto_4.xml", "page_2010.xml", "voc.xml"])
def test_a_file_without_scores_is_read_as_either_side(name: str) -> None:
    format, content = SAMPLES[name]
    row = formats.FORMATS[format]
    assert row.side_of(content) is None
    assert [read(row, content, name, side=side).side for side in (None, "prediction")] == ["ground_truth", "prediction"]
