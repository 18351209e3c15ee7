"""The filter of the view of findings, pictures of findings, and the way to the page of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evaluator.components.gallery.payload import CropItem
from evaluator.components.payload import Rect
from evaluator.review.finding_groups import FindingGroup
from evaluator.review.status import FindingStatus
from evaluator.review.verdicts import Target
from pages.app.session_files import LoadedBoxes
from pages.app.state import go_to_page, state
from pages.views.gallery.gallery_items import crop

# Of the picture of a finding, in pixels.
_CROP_WIDTH: Final = 900


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which findings are shown, empty for all; `state` is "applies" or "past" (what no longer applies)."""

    verdicts: tuple[str, ...] = ()
    author: str = ""
    tag: str = ""
    state: str = ""

    def passes(self, entry: FindingStatus) -> bool:
        """Return whether a finding is shown."""
        judged = entry.judged
        kind = "conflict" if judged.conflict else judged.verdict or "note"
        return (
            (not self.verdicts or kind in self.verdicts)
            and (not self.author or self.author in judged.authors)
            and (not self.tag or self.tag in judged.tags)
            and (not self.state or (entry.state == "applies") == (self.state == "applies"))
        )


def chosen_filter() -> Chosen:
    """Return the filter of this session."""
    return Chosen(
        verdicts=tuple(state.finding_verdicts),
        author=state.finding_author,
        tag=state.finding_tag,
        state=state.finding_state,
    )


def clear_filter() -> None:
    """Show all findings again."""
    state.finding_verdicts = []
    state.finding_author = state.finding_tag = state.finding_state = ""


def boxes_of_group(group: FindingGroup) -> list[Rect]:
    """Return the boxes of a group as judged, as shares of the page; those in pixels are left out."""
    targets = [entry.judged.target for entry in group.entries]
    return [box.xyxy for target in targets if target.unit == "page" for box in target.boxes]


def crop_of(loaded: LoadedBoxes | None, target: Target, boxes: Sequence[Rect]) -> CropItem | None:
    """Return a target's page around some boxes, or all of it; None without a place in the open files."""
    if loaded is None or target.page is None or target.document not in loaded.dataset.document_code:
        return None
    if target.unit != "page":
        return None
    return crop(loaded, target.document or "", target.page, boxes, width=_CROP_WIDTH)


def whole_page(loaded: LoadedBoxes, document: str, index: int) -> CropItem:
    """Return the picture of a whole page."""
    return crop(loaded, document, index, [], width=_CROP_WIDTH)


def show_on_page(loaded: LoadedBoxes, entry: FindingStatus) -> None:
    """Make the page browser open the page of a finding, with its box chosen."""
    target = entry.judged.target
    go_to_page(target.document or "", target.page or 0)
    if entry.model is not None and entry.model < len(loaded.models):
        state.model, state.box = entry.model, entry.box_key
