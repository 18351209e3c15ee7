"""Page browser: the mistakes of one model on the page itself."""

from __future__ import annotations

from typing import Any

import streamlit as st

from evaluator.errors import plain
from evaluator.overlay import layers
from evaluator.results import count_of
from pages import _frame as frame
from pages import _session as session
from pages._viewer import parse_events, viewer

_KEY = "viewer"
_STRIP_PAGES = 200
_ORDERS = {"worst": "Worst first", "page": "In order"}


def _filters(found: session.Opened) -> None:
    """Document, label, order and mistake filters, in the sidebar."""
    with st.sidebar:
        documents = ["", *(document.doc_id for document in found.dataset.documents)]
        names = {document.doc_id: plain(document.name) for document in found.dataset.documents}
        names[""] = f"All {count_of(len(documents) - 1, 'document')}"
        if session.chosen("within") not in documents:
            session.choose("within", "")
        st.selectbox("Document", documents, format_func=names.__getitem__, key="within", persist_state="session")
        labels = ["", *found.dataset.labels[: found.dataset.evaluated]]
        if session.chosen("label") not in labels:
            session.choose("label", "")
        st.selectbox(
            "Label",
            labels,
            format_func=lambda label: plain(label) if label else f"All {count_of(len(labels) - 1, 'label')}",
            key="label",
            persist_state="session",
        )
        if session.chosen("order") not in _ORDERS:
            session.choose("order", "worst")
        st.segmented_control(
            "Pages",
            list(_ORDERS),
            format_func=_ORDERS.__getitem__,
            key="order",
            required=True,
            persist_state="session",
        )
        session.choose("only", bool(session.chosen("only", False)))
        st.checkbox("Only pages with mistakes", key="only", persist_state="session")


def _order(found: session.Opened, model: session.Model) -> list[tuple[str, int]]:
    """The pages that pass the filters, in the chosen order."""
    within = session.chosen("within") or None
    label = session.chosen("label") or None
    result = session.result_of(found, model, labels=(label,) if label else None)
    counts: dict[str, int] = {}
    if within and not label:
        pages = session.page_count(found, within)
        counts = {within: pages} if pages else {}
    return layers.page_order(
        result,
        document=within,
        page_counts=counts,
        worst_first=session.chosen("order") == "worst",
        only_mistakes=bool(session.chosen("only")),
        only_with_boxes=label is not None,
    )


def _events() -> Any:  # noqa: ANN401 - ViewerEvents
    return parse_events(session.chosen(_KEY))


def _went(order: list[tuple[str, int]]) -> None:
    """A page turn, a click on the strip."""
    go = _events().go
    if go is None:
        return
    here = (go.document, go.index)
    if go.step and here in order:
        session.go_to(*order[min(max(order.index(here) + go.step, 0), len(order) - 1)])
    elif not go.step:
        session.go_to(go.document, go.index)


def _selected() -> None:
    """A box was chosen or let go."""
    selected = _events().selected
    if selected is not None:
        session.choose("box", selected.key)


def _sharper() -> None:
    """The page is zoomed beyond its picture."""
    wish = _events().sharper
    if wish is not None:
        session.choose("sharper", (wish.document, wish.index, min(wish.width, 8_000)))


def _flipped(letters: list[str]) -> None:
    """The other model."""
    letter = _events().model
    if letter in letters:
        session.choose("model", letter)


def _cleared() -> None:
    """All filters off."""
    for name, value in (("within", ""), ("label", ""), ("only", False)):
        session.choose(name, value)


def view() -> None:
    """The whole view."""
    session.begin("page_browser")
    found = session.opened()
    if found is None:
        frame.title("Page browser", "")
        frame.sidebar(None)
        frame.need_files()
        return
    chosen = session.models(found)
    model = session.model_choice(found)
    frame.title("Page browser", frame.signature(found, chosen))
    frame.banners(found)
    frame.operating_point(found, pick_model=True)
    model = session.model_choice(found)
    _filters(found)
    order = _order(found, model)
    place = session.place_in(order)
    data = _data(found, chosen, model, order, place)
    viewer(
        data,
        key=_KEY,
        on_go=lambda: _went(order),
        on_selected=_selected,
        on_sharper=_sharper,
        on_model=lambda: _flipped([other.letter for other in chosen]),
        on_clear_filter=_cleared,
    )
    frame.sidebar(found)
    if place is not None:
        session.choose("doc", place.document)
        session.choose("page", place.index)
    session.finish(
        doc=place.document if place else None,
        page=str(place.index + 1) if place else None,
        box=session.chosen("box"),
        within=session.chosen("within") or None,
        label=session.chosen("label") or None,
        order=None if session.chosen("order") == "worst" else session.chosen("order"),
        only="yes" if session.chosen("only") else None,
    )


def _data(
    found: session.Opened,
    chosen: tuple[session.Model, ...],
    model: session.Model,
    order: list[tuple[str, int]],
    place: session.Place | None,
) -> dict[str, Any]:
    """What the viewer shows."""
    models = [{"letter": other.letter, "name": plain(other.name)} for other in chosen]
    data: dict[str, Any] = {
        "page": None,
        "boxes": [],
        "mistakes": [],
        "strip": [],
        "counts": dict.fromkeys(("TP", "FP", "FN", "ground_truth", "predictions"), 0),
        "limit": None,
        "labels": [],
        "model": {"letter": model.letter, "name": plain(model.name)},
        "models": models,
        "selected": None,
        "empty": {"text": "No page passes the filter.", "action": "Clear filter"},
    }
    if place is None:
        return data
    position = order.index((place.document, place.index))
    wish = session.chosen("sharper")
    width = wish[2] if wish and wish[:2] == (place.document, place.index) else None
    name = next(document.name for document in found.dataset.documents if document.doc_id == place.document)
    first = max(0, min(position - _STRIP_PAGES // 2, len(order) - _STRIP_PAGES))
    window = order[first : first + _STRIP_PAGES]
    label = session.chosen("label") or None
    result = session.result_of(found, model, labels=(label,) if label else None)
    picture = session.page_picture(found, place, width=width)
    points = None if picture["problem"] else (picture["width"], picture["height"])
    data |= session.overlay_of(found, model, place, label, page_points=points)
    data |= {
        "page": {
            "document": place.document,
            "name": plain(name),
            "index": place.index,
            "count": session.page_count(found, place.document),
            "position": position + 1,
            "total": len(order),
            **picture,
        },
        "strip": layers.strip(result, window, position - first),
        "selected": session.chosen("box"),
        "empty": None,
    }
    return data


view()
