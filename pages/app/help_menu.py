"""What is behind the question mark of every view: keys, version, documentation, and a tour of five steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import streamlit as st

from evaluator.system.version import __version__
from pages.app.state import state

DOCUMENTATION_VIEW = "pages/documentation.py"
MANUAL: Final[Mapping[str, str]] = {
    "ten-minutes": "Ten minutes",
    "tour": "The views",
    "own-files": "Your own files",
    "compare-models": "Compare two models",
    "meeting": "A review meeting",
    "evaluation": "Evaluation systems",
    "formats": "Files and formats",
    "model-outputs": "Outputs of models",
    "terminal": "Terminal and Python",
    "slices": "Slices",
    "suspects": "Suspected ground truth",
    "errors": "Errors and their fixes",
    "ci-gate": "A gate in continuous integration",
    "deploy": "Deployment behind a proxy",
    "login": "Login and reverse proxy",
    "scale": "Many pages",
    "extend": "What can be extended",
    "new-format": "A new annotation format",
    "speed": "Speed beside other tools",
    "promises": "What you can rely on",
    "limits": "Decisions and limits",
    "architecture": "Architecture",
}
"""The pages of the documentation by the name of their file."""
KEYS: Final = (
    ("N P", "next and previous mistake"),
    ("← →", "page"),
    ("F", "the other model"),
    ("1 2 3 4", "verdict"),
    ("V", "note"),
    ("U", "undo"),
    ("?", "all keys of a view"),
)
"""The keys of most views, and what they do."""
STEPS: Final = (
    (
        "overview",
        "What was found",
        "The sentence and the bars say what each model finds. A picture opens its cause.",
    ),
    ("page_browser", "What is wrong on a page", "Each mistake is on the page and in the list. N goes to the next one."),
    ("compare", "Is the new model better", "The answer follows from a rule. Below, both models on the same page."),
    ("findings", "What was decided", "Verdicts, owners and due dates; a meeting goes through the causes by keys."),
    ("files", "Your own files", "Drop ground truth, predictions and PDFs; formats are recognised by content."),
)
"""The steps of the tour: view, title and text of each."""


def menu() -> None:
    """Draw keys, version, and the ways to the documentation and the tour."""
    rows = "".join(
        f"<tr><th scope='row'>{''.join(f'<kbd>{key}</kbd> ' for key in keys.split())}</th><td>{words}</td></tr>"
        for keys, words in KEYS
    )
    st.html(f'<table class="ls-keys"><tbody>{rows}</tbody></table>')
    st.page_link(DOCUMENTATION_VIEW, label="Documentation", icon=":material/menu_book:")
    st.button("Tour of five steps", key="tour_begin", icon=":material/tour:", on_click=_go, args=(1,), type="tertiary")
    st.html(f'<p class="ls-version">LayoutScope {__version__}</p>')


def tour() -> None:
    """Draw the step of the tour that the reader is at; nothing outside of it."""
    at = state.tour
    if not at:
        return
    _, title, text = STEPS[at - 1]
    with st.container(key="tour", gap="small"):
        st.html(f'<b>{at} of {len(STEPS)}: {title}</b><p class="ls-step">{text}</p>')
        with st.container(horizontal=True, gap="small"):
            if at > 1:
                st.button("Back", key="tour_back", on_click=_go, args=(at - 1,))
            if at < len(STEPS):
                st.button("Next", key="tour_next", type="primary", on_click=_go, args=(at + 1,))
            st.button("Leave the tour", key="tour_leave", on_click=_go, args=(0,))


def _go(step: int) -> None:
    """Show a step of the tour with its view; 0 leaves the tour where the reader is."""
    state.tour = step
    if step:
        state.next_view = f"pages/{STEPS[step - 1][0]}.py"
