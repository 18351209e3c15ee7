"""The upload of Files in a real Chromium: page XML, a zip with pages, page images beside it, opened and evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import dashboard

pytestmark = pytest.mark.browser
POD = Path(__file__).parents[1] / "oracles" / "pod" / "p01_basic"


@pytest.fixture(scope="module")
def empty_server(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A session without any file."""
    with dashboard(tmp_path_factory.mktemp("empty")) as url:
        yield url
