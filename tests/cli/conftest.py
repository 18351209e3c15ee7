"""A command line that is run in this process."""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import pytest

from evaluator.review.store_address import FINDINGS_VARIABLE
from tests.terminal import run_command


class Run(NamedTuple):
    """How a command line ended."""

    code: int
    out: str
    err: str

    def json(self, code: int = 0) -> Any:
        """The JSON of a run that ended with a code."""
        assert (self.code, self.err) == (code, self.err)
        return msgspec.json.decode(self.out)


Runner = Callable[..., Run]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Run the words of a command line, without the findings of the environment."""
    monkeypatch.delenv(FINDINGS_VARIABLE, raising=False)
    return lambda *words: Run(*run_command(capsys, *words))
