"""What the view of findings has chosen: its filter, the finding that is open, the meeting, and pictures of findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from evaluator.drawing.payloads import CropItem
from evaluator.review.status import Standing
from evaluator.review.verdicts import Target
from pages.shared import session
from pages.shared.session_gallery import crop

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

    def passes(self, entry: Standing) -> bool:
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
        verdicts=tuple(st.session_state.get("finding_verdicts") or ()),
        author=st.session_state.get("finding_author") or "",
        tag=st.session_state.get("finding_tag") or "",
        state=st.session_state.get("finding_state") or "",
    )


def clear_filter() -> None:
    """Everything shows again."""
    for name, value in (("finding_verdicts", []), ("finding_author", ""), ("finding_tag", ""), ("finding_state", "")):
        st.session_state[name] = value


def meeting() -> tuple[tuple[str, ...], int] | None:
    """The findings of a running meeting, by target id, and the position in them; None without a meeting."""
    held: tuple[tuple[str, ...], int] | None = st.session_state.get("finding_meeting")
    return held


def start_meeting(targets: Sequence[str], position: int = 0) -> None:
    """Go through some findings one by one; no targets end the meeting."""
    st.session_state["finding_meeting"] = (tuple(targets), min(max(position, 0), len(targets) - 1)) if targets else None


def crop_of(found: session.Opened | None, target: Target, *, large: bool = False) -> CropItem | None:
    """The part of a page around a judged mistake, or the whole page.

    Parameters
    ----------
    found : Opened or None
    target : Target
    large : bool
        Drawn for a whole screen.

    Returns
    -------
    CropItem or None
        None for what has no place on a page of
        the open documents.
    """
    known = {document.doc_id for document in found.dataset.documents} if found else set()
    if found is None or target.page is None or target.document not in known or target.unit != "page":
        return None
    boxes = [box.xyxy for box in target.boxes]
    dpi = session.FIRST_DPI * (2 if large else 1)
    return crop(found, target.document, target.page, boxes, width=_CROP_WIDTH, dpi=dpi)


def show_on_page(found: session.Opened, entry: Standing) -> None:
    """Make the page browser open the page of a finding, with its box chosen."""
    target = entry.judged.target
    session.go_to(target.document or "", target.page or 0)
    model = next((model for model in session.models(found) if model.index == entry.model), None)
    if model is not None:
        session.choose("model", model.letter)
        session.choose("box", entry.box_key)
