"""Values of options as they are typed: thresholds, sizes, names; each refused in one sentence."""

from __future__ import annotations

import contextlib
import string
from collections.abc import Iterator

from evaluator.cli.program import UsageError


def letters(count: int) -> list[str]:
    """Return what the terminal calls so many models: A, B, C, ..., from the start again after Z."""
    return [string.ascii_uppercase[place % len(string.ascii_uppercase)] for place in range(count)]


def thresholds(text: str) -> Iterator[float]:
    """Return the IoU thresholds of one option: a number, or start:stop:step with both ends."""
    try:
        start, *rest = (float(part) for part in text.split(":"))
    except ValueError:
        raise UsageError(f'--iou must be a number or a range such as "0.50:0.95:0.05"; found {text}.') from None
    if len(rest) not in (0, 2):
        raise UsageError(f'--iou must be a number or a range such as "0.50:0.95:0.05"; found {text}.')
    stop, step = rest or (start, 1.0)
    for value in (start, stop):
        need_iou(value)
    if not (step >= 0.001 and start <= stop):
        raise UsageError(f"--iou must rise from start to stop in steps of at least 0.001; found {text}.")
    for place in range(int(round((stop - start) / step, 6)) + 1):
        # Rounded, so that the third of 0.50:0.95:0.05 is 0.6 and not 0.6000000000000001.
        yield round(start + place * step, 12)


def need_iou(value: float) -> None:
    """Refuse an IoU threshold that is not in (0, 1]."""
    if not 0.0 < value <= 1.0:
        raise UsageError(f"--iou must be above 0 and at most 1; found {value:g}.")


def size(text: str | None) -> tuple[float, float] | None:
    """Return a page size such as 612x792."""
    if text is None:
        return None
    with contextlib.suppress(ValueError):
        width, height = (float(part) for part in text.lower().split("x"))
        if 0.0 < width < float("inf") and 0.0 < height < float("inf"):
            return width, height
    raise UsageError(f'--page-size must look like "612x792"; found {text}.')


def names(option: str, text: str | None) -> tuple[str, ...] | None:
    """Return names separated by commas; None when none were asked for."""
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise UsageError(f"{option} must name at least one {option.removeprefix('--').removesuffix('s')}.")
    return names


def need_ratio(option: str, value: float | None) -> None:
    """Refuse a share that is not in [0, 1]."""
    if value is not None and not 0.0 <= value <= 1.0:
        raise UsageError(f"{option} must be between 0 and 1; found {value:g}.")


def assignment(option: str, text: str) -> tuple[str, str]:
    """Return ``name=value`` in two parts."""
    name, equals, value = text.rpartition("=")
    if not (name and equals and value):
        raise UsageError(f'{option} must look like "name=value"; found {text}.')
    return name, value


def weight(label: str, text: str) -> float:
    """Return a weight as a number, at least 0 and finite."""
    with contextlib.suppress(ValueError):
        weight = float(text)
        if 0.0 <= weight < float("inf"):
            return weight
    raise UsageError(f"--class-weight of {label} must be a number of at least 0; found {text}.")
