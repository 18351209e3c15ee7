"""The names of mistakes of both families, and boxes as the rules take them.

A name's position in its family is its code in columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import FloatArray, IntArray, Outlined
from evaluator.data.dataset import CodeArray, Side

KindArray = npt.NDArray[np.int8]
NONE: Final = -1
"""No mistake, no partner, no side."""

SIDES: Final = ("top", "right", "bottom", "left")


class ErrorType(NamedTuple):
    """One name for a mistake: `name` as in JSON, `title` as people read it, `sentence` about the boxes.

    `sides`: which boxes are wrong and carry the name.
    """

    family: Literal["tide", "document"]
    name: str
    title: str
    sentence: str
    sides: tuple[Side, ...]

    @property
    def chip(self) -> str:
        """Return the title where there is room for a word or two."""
        return "Extra" if self.name == "invented" else self.title

    @property
    def title_of_some(self) -> str:
        """Return the title where only some labels are counted: boxes of others may lie there."""
        return "Extra box with nothing of these labels there" if self.name == "invented" else self.title


_TRUTH: Final[tuple[Side, ...]] = ("ground_truth",)
_PREDICTION: Final[tuple[Side, ...]] = ("prediction",)
_BOTH: Final[tuple[Side, ...]] = ("ground_truth", "prediction")


def _types(family: Literal["tide", "document"], *rows: tuple[str, str, str, tuple[Side, ...]]) -> dict[str, ErrorType]:
    return {name: ErrorType(family, name, title, sentence, sides) for name, title, sentence, sides in rows}


ERROR_TYPES: Final[Mapping[str, Mapping[str, ErrorType]]] = {
    "tide": _types(
        "tide",
        ("classification", "Classification", "The place is right and the label is wrong.", _PREDICTION),
        ("localisation", "Localisation", "The label is right and the box fits poorly.", _PREDICTION),
        ("both", "Both", "The label is wrong and the box fits poorly.", _PREDICTION),
        ("duplicate", "Duplicate", "A prediction with a higher score already has this ground truth.", _PREDICTION),
        ("background", "Background", "There is nothing to find here.", _PREDICTION),
        ("missed", "Missed", "No prediction comes near, not even one with another mistake.", _TRUTH),
    ),
    "document": _types(
        "document",
        ("split", "Split", "One ground truth was found in several pieces.", _BOTH),
        ("merged", "Merged", "Several ground truths were found as one.", _BOTH),
        ("wrong_class", "Wrong class", "The place is found under another label.", _BOTH),
        ("cut_off", "Cut off", "The prediction ends before the ground truth does.", _BOTH),
        ("over_cropped", "Over-cropped", "The prediction takes in more than the ground truth.", _BOTH),
        ("near_miss", "Near miss", "The label is right and the box fits poorly.", _BOTH),
        ("duplicate", "Duplicate", "The ground truth here already has its prediction.", _PREDICTION),
        ("missed", "Missed", "No prediction belongs to this ground truth.", _TRUTH),
        ("invented", "Extra box with nothing there", "No ground truth belongs to this prediction.", _PREDICTION),
    ),
}
"""Every name by family; its position in the family is its code in columns."""

TIDE: Final = tuple(ERROR_TYPES["tide"])
DOCUMENT: Final = tuple(ERROR_TYPES["document"])


@dataclass(frozen=True, slots=True, eq=False)
class BoxColumns:
    """Boxes of one side as columns of one length N, in file order.

    `xyxy`: float64, shape (N, 4), origin top left, one unit on both sides. `label`, `page`: codes that both sides
    share. `score`: needed by `tide`, for predictions. `area`: float64, width times height of a source that states these
    instead of the second corner, else None. `regions`: where outlines are compared, what these boxes are of and the row
    of each in it; the corners are then those of what the outlines reach.
    """

    xyxy: FloatArray
    label: CodeArray
    page: IntArray
    score: FloatArray | None = None
    area: FloatArray | None = None
    regions: tuple[Outlined, IntArray] | None = None

    def __len__(self) -> int:
        return len(self.label)
