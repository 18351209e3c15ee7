"""A command line that is run in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from evaluator import cli
from evaluator.review.store_address import FINDINGS_VARIABLE


class Run(NamedTuple):
    """How a command line ended."""

    code: int
    out: str
    err: str


Runner = Callable[..., Run]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Run the words of a command line, without the findings of the environment."""
    monkeypatch.delenv(FINDINGS_VARIABLE, raising=False)

    def run_main(*words: object) -> Run:
        with pytest.raises(SystemExit) as left:
            cli.main([str(word) for word in words])
        streams = capsys.readouterr()
        code = left.value.code or 0
        assert isinstance(code, int)
        return Run(code, streams.out, streams.err)

    return run_main
