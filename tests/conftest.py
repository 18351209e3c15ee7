"""For every test: findings are kept in a file of the test session, and no example of Hypothesis has a deadline."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

# A busy machine is no fault of the code: what takes too long meets the timeout of pytest.
settings.register_profile("layoutscope", deadline=None)
settings.load_profile("layoutscope")


@pytest.fixture(autouse=True, scope="session")
def findings_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The place of findings for the dashboard, in this process and in the servers that tests start."""
    before = os.environ.get("LAYOUTSCOPE_FINDINGS")
    os.environ["LAYOUTSCOPE_FINDINGS"] = str(tmp_path_factory.mktemp("findings") / "findings.sqlite")
    yield
    if before is None:
        del os.environ["LAYOUTSCOPE_FINDINGS"]
    else:
        os.environ["LAYOUTSCOPE_FINDINGS"] = before
