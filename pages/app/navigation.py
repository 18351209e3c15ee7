"""The views in the navigation: which words it has, what each leads to, and where a reader begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import streamlit as st

from evaluator.formats import FORMATS, search
from evaluator.project import paths_of
from evaluator.system.registry import Registry
from pages.app.address import is_bare
from pages.app.session_files import (
    BOXES,
    FIELDS,
    POSTERS,
    AnyKind,
    has_files,
    initial_workspace,
    is_bundled,
    open_kinds,
    sample_is_open,
)
from pages.app.state import WORDS, modes_of, state

# The kinds of files that a word shows; the others always have something to do.
_KINDS: Final[Mapping[str, tuple[AnyKind, ...]]] = {
    "Overview": (BOXES,),
    "Pages": (BOXES,),
    "Confusion": (BOXES,),
    "Reading": (BOXES,),
    "Slices": (BOXES, FIELDS, POSTERS),
    "Fields": (FIELDS,),
    "Posters": (POSTERS,),
    # Behind the question mark.
    "Help": (),
}


@dataclass(frozen=True)
class PluginView:
    """A view of an installed package: its address, its word in the navigation, and what draws it."""

    name: str
    title: str
    draw: Callable[[], None]


PLUGINS: Final[Registry[PluginView]] = Registry({}, "layoutscope.views", PluginView)


def holds_items() -> bool:
    """Return whether an open file may have the order, text or tables of its items, or cannot be read as boxes."""
    held = BOXES.project_field.get()
    if held is not None:
        return any(each.source is None or FORMATS[each.source.format].holds_items for each in held.members)
    sides = initial_workspace().of(BOXES.name)
    if is_bundled(sides.ground_truth):
        return False
    paths = [path for side in (sides.ground_truth, *sides.predictions) for path in paths_of(side)]
    return any(known is not None and known.holds_items for known in map(search.format_at, paths))


def pages(folder: Path) -> list[Any]:
    """Return the pages of Streamlit's navigation: words that have something to show, and what answers by address."""
    full = open_kinds()
    shown = {word: word not in _KINDS or any(kind in full for kind in _KINDS[word]) for word in WORDS}
    shown["Reading"] = shown["Reading"] and (sample_is_open() or holds_items())
    views = [
        st.Page(
            folder / f"{view}.py",
            title=word,
            default=view == "overview",
            visibility="hidden" if place or not shown[word] else "visible",
        )
        for word, views in WORDS.items()
        for place, view in enumerate(views)
    ]
    return views + [st.Page(each.draw, title=each.title, url_path=each.name) for each in PLUGINS.values()]


def open_first_view_with_data(page: Any) -> None:  # noqa: ANN401 - a page of Streamlit's navigation
    """Open the first view with data, when a new session's plain address leads to one without."""
    if state.landed:
        return
    state.landed = True
    if page.url_path or not is_bare() or has_files(BOXES):
        return
    for kind, view in ((FIELDS, "fields"), (POSTERS, "posters")):
        if has_files(kind):
            st.switch_page(f"pages/{view}.py")


def mark_shown(page: Any) -> None:  # noqa: ANN401 - a page of Streamlit's navigation
    """Mark the word of a view that has none of its own: Streamlit marks the page alone that a word leads to."""
    first = next(iter(modes_of(page.url_path)), "")
    if first and first != page.url_path:
        link = f'.stApp [data-testid="stTopNavLink"][href$="/{first}"]'
        st.html(
            f"<style>{link} * {{ color: var(--ls-accent); -webkit-text-stroke: .4px currentColor; }} "
            f'{link}::after {{ content: ""; }}</style>'
        )
