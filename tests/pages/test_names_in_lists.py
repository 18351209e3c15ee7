"""A document is named one way: without ".pdf" in lists, tables and choices, whole in the head of an open page."""

import pytest

from tests.dashboard import (
    CLASSES,
    COMPARE,
    FINDINGS,
    GALLERY,
    OVERVIEW,
    PACK,
    PAGE_BROWSER,
    PIXELS,
    QUEUE,
    SLICES,
    start,
)
from tests.pages.test_minus import read

# What identifies a document, and the links of the minutes.
IDENTITIES = {"address", "document", "key", "minutes"}
HEADS = {PAGE_BROWSER: {"name"}, PIXELS: {"name", "caption"}}
VIEWS = [(view, {}) for view in (PAGE_BROWSER, GALLERY, COMPARE, SLICES, PIXELS, CLASSES, FINDINGS, QUEUE, PACK)]
VIEWS += [(OVERVIEW, {"charts": "documents"}), (FINDINGS, {"meeting": "yes"})]


@pytest.mark.usefixtures("store_path")
@pytest.mark.parametrize(("view", "address"), VIEWS)
def test_no_list_names_a_document_with_its_ending(view: str, address: dict[str, str]) -> None:
    whole = {(place, text) for place, text in read(start(view, **address)) if ".pdf" in text.replace("\\", "")}
    assert {place for place, _ in whole} - IDENTITIES == HEADS.get(view, set())
