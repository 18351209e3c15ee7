"""What to write in a command to which fixes were given already, when the diagnosis finds others besides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from evaluator.data.fixes import KINDS, Fix, fixes_for, numbers_of, spelled

_OWN_INVERSE: Final = ("y-flip", "x-flip", "swap-axes")
# A shift or scale that is found is estimated: so much of what was given it may miss.
_ESTIMATED: Final = 0.05
_INVERSES: Final = {("xywh", "xyxy"), ("xyxy", "xywh")}


class _Advice(NamedTuple):
    """The options of a command with which what was found holds.

    `left_out`: given fixes to remove or to change. `found_together`: False where the order of the fixes matters, and
    they have to be sought without those that were given.
    """

    fixes: tuple[Fix, ...]
    left_out: tuple[Fix, ...] = ()
    found_together: bool = True


def _written(fixes: Sequence[Fix]) -> str:
    return " ".join(spelled([fix], fix.file) for fix in fixes)


def advised(given: Sequence[Fix], name: str, applied: Sequence[str], more: Sequence[Fix]) -> str:
    """Return what to do with the fixes of a command: ``Apply it with --fix y-flip``, without a full stop.

    `given`: those of the command, for whatever file. `name`: the prediction in which more were found. `applied`: texts
    of the fixes that it has, see `Annotations.fixes`. `more`: what it needs in addition to those.
    """
    told = _advice(given, name, applied, more)
    option, left = _written(told.fixes), _written(told.left_out)
    if not told.found_together:
        return f"Leave out {left}, and run it again to see what is found then"
    if not told.left_out:
        return f"Apply it with {option}"
    return f"Leave out {left}, and give {option}" if told.fixes else f"Leave out {left}"


def _advice(given: Sequence[Fix], name: str, applied: Sequence[str], more: Sequence[Fix]) -> _Advice:
    own = fixes_for(given, name)
    if not all(fix.text in applied for fix in own):
        # They could not be applied, and what was found is about the file without them.
        return _Advice((*(fix for fix in given if fix not in own), *more), own)
    kept, added = list(given), list[Fix]()
    for fix in more:
        undone = next((each for each in own if each in kept and _undoes(fix, each)), None)
        if undone is not None:
            kept.remove(undone)
        elif fix.kind == "page-offset" and (
            before := next((each for each in kept if each in own and each.kind == fix.kind), None)
        ):
            both = int(before.value) + int(fix.value)
            kept[kept.index(before)] = msgspec.structs.replace(before, value=f"{both:+d}")
        else:
            kept = [_further(each, fix) if each in own else each for each in kept]
            added.append(fix)
    # Fixes are applied in the order of their kinds, whatever their own order.
    order = list(KINDS)
    moves = [order.index(each.kind) for each in (*(each for each in kept if each in own), *added) if each.moves_boxes]
    left_out = tuple(fix for fix in given if fix not in kept)
    # One that is undone may stand before others that stay, which then do something else.
    if moves != sorted(moves) or (moves and any(each.moves_boxes for each in left_out)):
        return _Advice((), own, found_together=False)
    return _Advice((*kept, *added), left_out)


def _undoes(fix: Fix, before: Fix) -> bool:
    """Tell whether a fix takes back one that was applied before."""
    if fix.kind in _OWN_INVERSE:
        return (fix.kind, fix.value) == (before.kind, before.value)
    if fix.kind == "page-offset":
        return before.kind == fix.kind and int(fix.value) == -int(before.value)
    if fix.kind == before.kind == "shift":
        there, back = numbers_of(before), numbers_of(fix)
        return math.dist((-there[0], -there[1]), back) <= _ESTIMATED * math.hypot(*there)
    if fix.kind == before.kind == "scale":
        pairs = zip(numbers_of(before), numbers_of(fix), strict=True)
        return all(abs(there * back - 1.0) <= _ESTIMATED for there, back in pairs)
    if fix.kind == "label" and before.kind == "label":
        old, _, new = before.value.rpartition("=")
        return fix.value == f"{new}={old}"
    return (before.kind, fix.kind) in _INVERSES


def _further(before: Fix, fix: Fix) -> Fix:
    """Return a fix of a label with the last name, as labels are renamed all at once."""
    if before.kind != "label" or fix.kind != "label":
        return before
    old, _, new = before.value.rpartition("=")
    middle, _, last = fix.value.rpartition("=")
    return msgspec.structs.replace(before, value=f"{old}={last}") if new == middle else before
