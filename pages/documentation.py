"""Documentation: the pages of docs/, as they come with the package, so that they open without a network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import streamlit as st

from pages.app import frame, help_menu, widgets
from pages.app.address import read_url, write_url
from pages.app.state import State, state

_FOLDER: Final = Path(__file__).resolve().parents[1] / "docs"
# Pictures are not part of the package; links to other pages stay in the dashboard, those to files of the repository go.
_PICTURE: Final = re.compile(r"^!\[[^\]]*\]\([^)]*\)$", re.MULTILINE)
_PAGE: Final = re.compile(r"\]\((?:docs/)?([a-z-]+)\.md(#[\w-]*)?\)")
_FILE: Final = re.compile(r"\[([^\]]*)\]\(\.\./[^)]*\)")


def page_of(name: str) -> str:
    """Return the Markdown of a page, with links that lead to this view."""
    text = _PICTURE.sub("", (_FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    text = _PAGE.sub(lambda match: f"](documentation?manual={match[1]}{match[2] or ''})", text)
    return _FILE.sub(r"\1", text)


def view() -> None:
    """Draw the whole view."""
    read_url("documentation")
    frame.title("Documentation")
    names = {name: title for name, title in help_menu.MANUAL.items() if (_FOLDER / f"{name}.md").is_file()}
    if not names:
        st.html('<div class="ls-empty"><p>The documentation is not part of this installation.</p></div>')
        return
    if state.manual not in names:
        state.manual = next(iter(names))
    widgets.choice("Page", names, State.manual, width=320)
    with st.container(key="manual_text"):
        st.markdown(page_of(state.manual))
    write_url("documentation")


view()
