"""Where a reader starts: in a view that has something to show, with the views that have nothing muted.

Looks at what was named at the start and at what the session has opened, and reads no file.
"""

from __future__ import annotations

from typing import Any, Final

import streamlit as st

from pages.shared.address import is_bare
from pages.shared.opened import BOXES, FIELDS, POSTERS, AnyKind, workspace_named
from pages.shared.state import state

# A view of several kinds is muted when none of them is there. Compare has all of them too; Findings, Review pack and
# Files always have something to do.
_VIEWS: Final[tuple[tuple[AnyKind, tuple[str, ...]], ...]] = (
    (BOXES, ("", "page_browser", "gallery", "models", "slices", "pixel_confusion", "suspects")),
    (FIELDS, ("fields", "slices")),
    (POSTERS, ("posters", "slices")),
)


def has(kind: AnyKind) -> bool:
    """Whether any file of this kind is open, or will be once a view asks for it."""
    held = kind.held.get()
    if held is not None:
        return bool(held.members)
    sides = workspace_named().of(kind.name)
    return sides.ground_truth is not None or bool(sides.predictions)


def land(page: Any) -> None:  # noqa: ANN401 - a page of Streamlit's navigation
    """Open the first view that has data, when the first one of a new session, by the plain address, has none."""
    if state.landed:
        return
    state.landed = True
    if page.url_path or not is_bare() or has(BOXES):
        return
    for kind, views in _VIEWS[1:]:
        if has(kind):
            st.switch_page(f"pages/{views[0]}.py")


def mute_empty_views() -> None:
    """Have the navigation show which views have nothing to show; nothing where all have something."""
    full = {view for kind, views in _VIEWS if has(kind) for view in views}
    empty = list(dict.fromkeys(view for _, views in _VIEWS for view in views if view not in full))
    if empty and full:
        links = ", ".join(f'[data-testid="stSidebarNavLink"][href$="/{view}"] > *' for view in empty)
        st.html(f"<style>{links} {{ opacity: .5; }}</style>")
