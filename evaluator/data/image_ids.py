"""Which image of a ground truth the ids of results mean, where they are not its ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from evaluator.data.boxes import IntArray

_WHOLE: Final = re.compile(r"-?[0-9]+")
_NUMBER: Final = re.compile(r"[0-9]+")

BY_NAMES: Final = "names"
LIKELY: Final = (BY_NAMES, "+1", "-1")
"""What the doctor tries of what `image_rows` takes."""


def image_rows(ids: Sequence[str], known: Sequence[str], images: Sequence[str], how: str) -> IntArray:
    """Return the row of the image that each id means, int64, shape (N,); -1 for none.

    `known` and `images` are ids and file names of the ground truth. With `how` "names" an id is the last number in the
    name of a file, which no other one has; else `how` is a number to add to it.
    """
    if how == BY_NAMES:
        numbers = list(map(_number, images))
        often = Counter(numbers)
        rows = {number: row for row, number in enumerate(numbers) if number and often[number] == 1}
        keys = [number_of(key) for key in ids]
    else:
        rows = {key: row for row, key in enumerate(known)}
        keys = [str(int(key) + int(how)) if _WHOLE.fullmatch(key) else "" for key in ids]
    return np.array([rows.get(key, -1) for key in keys], dtype=np.int64)


def number_of(text: str) -> str:
    """Return digits without the zeros before them: ``7`` for ``007``."""
    return text.lstrip("0") or "0"


def _number(image: str) -> str:
    numbers = _NUMBER.findall(PurePosixPath(image.replace("\\", "/")).stem)
    return number_of(numbers[-1]) if numbers else ""
