"""Products of matrices in the thread that asks for them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import cast

import numpy as np  # noqa: F401 - the libraries of numpy are there once it is imported
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries that numpy multiplies with; finding them takes longer than a small product."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Have numpy multiply in the calling thread: in many small products threads only wait."""
    return cast("AbstractContextManager[object]", _libraries().limit(limits=1, user_api="blas"))
