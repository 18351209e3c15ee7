"""The first view of a reader, which has data, and muted views without data; reads no file."""

from __future__ import annotations

from typing import Any, Final

import streamlit as st

from pages.app.address import is_bare
from pages.app.session_files import BOXES, FIELDS, POSTERS, AnyKind, initial_workspace
from pages.app.state import state

# A view of several kinds is muted when none of them is there. Compare has all of them too; Findings, Review pack and
# Files always have something to do.
_VIEWS: Final[tuple[tuple[AnyKind, tuple[str, ...]], ...]] = (
    (BOXES, ("", "page_browser", "gallery", "models", "slices", "pixel_confusion", "suspects")),
    (FIELDS, ("fields", "slices")),
    (POSTERS, ("posters", "slices")),
)


def has_files(kind: AnyKind) -> bool:
    """Return whether any file of this kind is open, or will be once a view asks for it."""
    held = kind.project_field.get()
    if held is not None:
        return bool(held.members)
    sides = initial_workspace().of(kind.name)
    return sides.ground_truth is not None or bool(sides.predictions)


def open_first_view_with_data(page: Any) -> None:  # noqa: ANN401 - a page of Streamlit's navigation
    """Open the first view with data, when a new session's plain address leads to one without."""
    if state.landed:
        return
    state.landed = True
    if page.url_path or not is_bare() or has_files(BOXES):
        return
    for kind, views in _VIEWS[1:]:
        if has_files(kind):
            st.switch_page(f"pages/{views[0]}.py")


def mute_empty_views() -> None:
    """Mute the views without data in the navigation; nothing where all or none have some."""
    full = {view for kind, views in _VIEWS if has_files(kind) for view in views}
    empty = list(dict.fromkeys(view for _, views in _VIEWS for view in views if view not in full))
    if empty and full:
        links = ", ".join(f'[data-testid="stSidebarNavLink"][href$="/{view}"] > *' for view in empty)
        st.html(f"<style>{links} {{ opacity: .5; }}</style>")
