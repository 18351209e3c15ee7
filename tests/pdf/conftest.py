"""Fixtures of the tests of pages: a pool of renderers, and documents written to a folder of the test."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evaluator.pdf.pool import PagePool

Write = Callable[[str, bytes], Path]


@pytest.fixture(scope="module")
def compiled_modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    # Some fifty processes start here: 0.6 s each where compiled modules may not be kept, else 0.1 s.
    with pytest.MonkeyPatch.context() as patch:
        if "PYTHONDONTWRITEBYTECODE" in os.environ:
            patch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.mktemp("compiled")))
            patch.delenv("PYTHONDONTWRITEBYTECODE")
        yield


@pytest.fixture(scope="module")
def pool(compiled_modules: None) -> Iterator[PagePool]:
    # Generous: a slow machine must not turn a good page into a slow one.
    with PagePool(time_limit=20.0) as shared:
        yield shared


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write_file
