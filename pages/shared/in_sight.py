"""Parts of a view that are made only near the window: out of sight they cost nothing, whatever the reader changes.

In the place of a part that is not made stands its name, in as much room as the part takes, so that nothing moves when
it comes. The browser says when it comes near and when it has been far for a while; that runs the part alone. Without a
browser that can say so, everything is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from evaluator.drawing.payloads import SightPayload
from pages.shared import by_digest, components
from pages.shared.state import Field, report

_REPORTED: Final = Field(False, "sight_reported")


def part(name: str, title: str, draw: Callable[[], None], *, height: int, alone: bool = False) -> None:
    """A part of a view that is made when it is near the window.

    Parameters
    ----------
    name : str
        One for each part of all views.
    title : str
        What stands in its place.
    draw : callable
        Makes it, in a container.
    height : int
        Pixels that it takes, about; the browser remembers it exactly.
    alone : bool
        Its widgets run this part alone; else the whole view, as they do elsewhere.
    """
    _part(name, title, draw, height, alone=alone)


@st.fragment
def _part(name: str, title: str, draw: Callable[[], None], height: int, *, alone: bool) -> None:
    reported, run = _REPORTED.of(name).take(), get_script_run_ctx()
    if run is not None and run.fragment_ids_this_run and not (alone or reported):
        # A widget of the part was used.
        st.rerun()
    if not by_digest.routed():
        draw()
        return
    key = f"sight-{name}"
    near = components.is_near(report(key))
    with st.container(key=f"part-{name}"):
        payload = SightPayload(name, title, height, drawn=near)
        components.sight(payload, key=key, on_near=lambda: _REPORTED.of(name).set(True))
        if near:
            draw()
