"""What the view of findings has chosen: its filter, the finding that is open, the meeting, and pictures of findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evaluator.drawing.payloads import CropItem
from evaluator.review.status import FindingStatus
from evaluator.review.verdicts import Target
from pages.shared import pictures
from pages.shared.gallery import crop
from pages.shared.opened import OpenedBoxes
from pages.shared.state import go_to, state

# Of the picture of a finding, in pixels.
_CROP_WIDTH: Final = 1_200


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which findings are shown.

    Attributes
    ----------
    verdicts : tuple of str
        Keys of `VERDICTS`, "conflict" and "note"; empty for all.
    author, tag : str
        Empty for all.
    state : str
        "applies", "past" (what no longer applies) or empty for both.
    """

    verdicts: tuple[str, ...] = ()
    author: str = ""
    tag: str = ""
    state: str = ""

    def passes(self, entry: FindingStatus) -> bool:
        """Whether a finding is shown."""
        judged = entry.judged
        kind = "conflict" if judged.conflict else judged.verdict or "note"
        return (
            (not self.verdicts or kind in self.verdicts)
            and (not self.author or self.author in judged.authors)
            and (not self.tag or self.tag in judged.tags)
            and (not self.state or (entry.state == "applies") == (self.state == "applies"))
        )


def chosen_filter() -> Chosen:
    """The filter of this session."""
    return Chosen(
        verdicts=tuple(state.finding_verdicts),
        author=state.finding_author,
        tag=state.finding_tag,
        state=state.finding_state,
    )


def clear_filter() -> None:
    """Everything shows again."""
    state.finding_verdicts = []
    state.finding_author = state.finding_tag = state.finding_state = ""


def start_meeting(targets: Sequence[str], position: int = 0) -> None:
    """Go through some findings one by one, from a position in them; no targets end the meeting."""
    state.finding_meeting = (tuple(targets), min(max(position, 0), len(targets) - 1)) if targets else None


def crop_of(found: OpenedBoxes | None, target: Target, *, large: bool = False) -> CropItem | None:
    """The part of a page around a judged mistake, or the whole page.

    Parameters
    ----------
    large : bool
        Drawn for a whole screen.

    Returns
    -------
    CropItem or None
        None for what has no place on a page of the open documents.
    """
    if found is None or target.page is None or target.document is None:
        return None
    if target.document not in found.dataset.document_code:
        return None
    if target.unit != "page":
        return None
    boxes = [box.xyxy for box in target.boxes]
    dpi = pictures.FIRST_DPI * (2 if large else 1)
    return crop(found, target.document, target.page, boxes, width=_CROP_WIDTH, dpi=dpi)


def show_on_page(found: OpenedBoxes, entry: FindingStatus) -> None:
    """Make the page browser open the page of a finding, with its box chosen."""
    target = entry.judged.target
    go_to(target.document or "", target.page or 0)
    if entry.model is not None and entry.model < len(found.models):
        state.model, state.box = entry.model, entry.box_key
