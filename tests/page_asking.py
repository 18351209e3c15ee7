"""How tests ask for pages: refused ones, pictures as files, and a program of its own."""

import io
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from evaluator.pdf.problems import PageProblem
from tests import network

PROJECT = Path(__file__).resolve().parent.parent


def refused(ask: Callable[..., object], *given: Any, **more: Any) -> PageProblem:
    """The problem that an answer is refused with."""
    with pytest.raises(PageProblem) as caught:
        ask(*given, **more)
    return caught.value


def picture_of(image: Image.Image, format_name: str, **more: Any) -> bytes:
    sheet = io.BytesIO()
    image.save(sheet, format_name, **more)
    return sheet.getvalue()


def run_python(code: str, *arguments: str, timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *arguments],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": network.python_path(PROJECT)},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
