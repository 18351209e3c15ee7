"""What the tests of model outputs share: small files with one thing changed, and the sentences of their issues."""

import copy
import json
from pathlib import Path
from typing import Any, Final

import numpy as np

from evaluator import formats
from evaluator.data.dataset import Annotations
from tests.reading import OWN, SHARED, refusal

REAL = Path(SHARED) / "real" / "formats"
GONE: Final = object()

Box = tuple[int, str, float, float, float, float]
"""Page index, label, corners in shares of the page (in pixels for formats that keep them)."""


def own(name: str) -> Any:
    return json.loads((OWN / name).read_bytes())


def real(*parts: str) -> Any:
    return json.loads(REAL.joinpath(*parts).read_bytes())


def changed(tree: Any, *path: Any, to: object = GONE) -> Any:
    """A copy with one value replaced, or without it."""
    tree = copy.deepcopy(tree)
    inner = tree
    for key in path[:-1]:
        inner = inner[key]
    if to is GONE:
        del inner[path[-1]]
    else:
        inner[path[-1]] = to
    return tree


def read(tree: object, name: str = "f.json", **given: Any) -> Annotations:
    content = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    return formats.read_bytes(content, name, **given)


def refused(tree: object, name: str = "f.json", **given: Any) -> list[str]:
    return refusal(read, tree, name, **given)


def boxes(source: Annotations) -> list[Box]:
    held = source.boxes
    names = [source.labels[code] for code in held.label]
    return [(page, name, *box) for page, name, box in zip(held.page.tolist(), names, held.xyxy.tolist(), strict=True)]


def _rounded(box: Box) -> tuple[object, ...]:
    return (*box[:2], *(round(edge, 9) for edge in box[2:]))


def same(source: Annotations, wanted: list[Box]) -> None:
    """The boxes of a file are these, in whichever order pages and labels come."""
    seen = sorted(boxes(source), key=_rounded)
    wanted = sorted(wanted, key=_rounded)
    assert [box[:2] for box in seen] == [box[:2] for box in wanted]
    np.testing.assert_allclose(
        np.array([box[2:] for box in seen]), np.array([box[2:] for box in wanted]), rtol=0, atol=1e-12
    )


def paths(tree: object, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value of a tree."""
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path for key, value in entries for path in ((*at, key), *paths(value, (*at, key)))]


def around(points: Any) -> tuple[float, float, float, float]:
    xs, ys = [point[0] for point in points], [point[1] for point in points]
    return min(xs), min(ys), max(xs), max(ys)


def over(box: Any, width: float, height: float) -> tuple[float, float, float, float]:
    return box[0] / width, box[1] / height, box[2] / width, box[3] / height
