"""Commands of the terminal, run in this process."""

import pytest

from evaluator import cli


def run_command(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Return exit code, standard output and standard error of a command."""
    with pytest.raises(SystemExit) as left:
        cli.main([str(word) for word in words])
    streams = capsys.readouterr()
    return int(left.value.code or 0), streams.out, streams.err
