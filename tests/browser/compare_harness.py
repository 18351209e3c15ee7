"""A small Streamlit app with one made-up page and two models, for the tests of the linked panes.

Query parameters: `boxes` (ground truth on the page), `show` (a filter), `scene` (plain, problem, hostile, one),
`visit` (another one begins anew). Boxes, kinds and sentences come from the core. It counts its runs and writes what the
panes reported where the tests read it.
"""

from __future__ import annotations

import functools
import json
import random
from typing import Any

import msgspec
import streamlit as st

from evaluator.compare import ledger
from evaluator.components.compare import pair
from evaluator.components.compare.payload import ComparePayload
from evaluator.components.payload import ModelItem
from evaluator.data.dataset import Dataset, join
from evaluator.protocols import snapshot
from pages.app.components import panes
from tests.browser.viewer_harness import BLOCKS, HEIGHT, HOSTILE, LABELS, WIDTH, page_image, share
from tests.building import Box, ground_truth, read_by_browser
from tests.building import annotations as prediction_of

MODELS = (ModelItem("A", ""), ModelItem("B", ""))

DOCUMENT = "river-districts.pdf"
FIRST_PAGE, PAGES = 22, 8


def blocks_of(total: int) -> list[tuple[str, list[float]]]:
    """Label and place of the ground truth: the page of the viewer's harness, or a grid."""
    if total <= 20:
        return [(label, share(*corners)) for label, *corners in BLOCKS]
    columns, chosen = (8 if total > 400 else 4), random.Random(total)
    rows = total // columns
    return [
        (
            LABELS[chosen.randrange(len(LABELS))],
            share(x, y, x + 480 / columns, y + 640 / rows),
        )
        for number in range(total)
        for x, y in [(30 + (number % columns) * (535 / columns), 30 + (number // columns) * (780 / rows))]
    ]


def model_rows(blocks: list[tuple[str, list[float]]], seed: int, hostile: bool) -> list[Box]:
    """Predictions of one model: most fit, some stop short, some are missed; every tenth is invented beside."""
    chosen, rows = random.Random(seed), []
    for number, (label, (x1, y1, x2, y2)) in enumerate(blocks):
        fate = chosen.choice(["fit"] * 7 + ["short", "missed", "short"])
        named = HOSTILE if hostile and number == 1 else label
        score = round(chosen.uniform(0.3, 0.99), 2)
        if fate == "fit":
            rows.append(Box(DOCUMENT, 0, named, (x1, y1, min(1.0, x2 + 0.002), y2), score))
        elif fate == "short":
            rows.append(Box(DOCUMENT, 0, named, (x1, y1, x2, y1 + 0.42 * (y2 - y1)), score))
        if number % 10 == 4:
            rows.append(Box(DOCUMENT, 0, "Caption", (x1, y1, x1 + 0.5 * (x2 - x1), y1 + 0.5 * (y2 - y1)), score))
    return rows


@functools.cache
def results(total: int, hostile: bool) -> tuple[snapshot.ThresholdResult, snapshot.ThresholdResult]:
    """Both models at IoU 0.5."""
    blocks = blocks_of(total)
    labels = [*dict.fromkeys(label for label, _ in blocks), "Caption"]
    labels = list(dict.fromkeys([*labels, *([HOSTILE] if hostile else [])]))
    named = [(HOSTILE if hostile and number == 1 else label, at) for number, (label, at) in enumerate(blocks)]
    truth = ground_truth([Box(DOCUMENT, 0, label, (at[0], at[1], at[2], at[3])) for label, at in named], labels=labels)
    dataset: Dataset = join(
        truth,
        *(prediction_of(model_rows(blocks, seed, hostile), labels=labels, name=f"m{seed}.json") for seed in (1, 2)),
    )
    first, second = (snapshot.pair(dataset, model, iou_floor=snapshot.IOU_FLOOR).match().at(0.5) for model in (0, 1))
    return first, second


def data_of(scene: str, total: int, position: int, image_width: int, show: str) -> dict[str, Any]:
    """What the panes are given."""
    first, second = results(total, scene == "hostile")
    both = ledger.ledger(first, second)
    drawn = read_by_browser(
        pair.pair_data(first, second, both, 0, models=MODELS, show=show, page_points=(WIDTH, HEIGHT))
    )
    name = HOSTILE if scene == "hostile" else "river-districts"
    for pane, model in zip(drawn["panes"], ("lines 1.0", "blocks 1.0"), strict=True):
        pane["name"] = HOSTILE if scene == "hostile" else model
    page: dict[str, Any] = {
        "document": DOCUMENT,
        "index": FIRST_PAGE + position,
        "position": position + 1,
        "total": PAGES,
        "width": WIDTH,
        "height": HEIGHT,
        "image": page_image(FIRST_PAGE + position, image_width),
        "image_width": image_width,
        "problem": None,
        "notes": [HOSTILE] if scene == "hostile" else [],
    }
    if scene == "problem":
        page |= {"image": None, "image_width": 0, "notes": ["/Rotate is 45: boxes may be out of place."]}
        page["problem"] = {
            "title": "This page cannot be drawn",
            "text": "The renderer stopped.",
            "fix": "Save it again.",
        }
    strip = [
        {
            "document": DOCUMENT,
            "name": name,
            "index": FIRST_PAGE + place,
            "lost": max(0, 4 - place),
            "gained": place,
            "number": f"{2 * place - 4:+d}".replace("-", "−") if place < 4 else f"+{place}",
            "words": f"fixes {place}, breaks {max(0, 4 - place)}",
            "above": "298 pages unchanged" if place == 3 else None,
            "current": place == position,
        }
        for place in range(PAGES)
    ]
    empty = {"text": "No page passes the filter.", "action": "Clear filter"} if scene == "none" else None
    return {
        **drawn,
        "page": None if empty else page,
        "panes": [] if empty else drawn["panes"],
        "strip": [] if empty else strip,
        "look": {"title": "net change, worst first", "words": "fixed minus broken", "scale": 8, "diverging": True},
        "filters": [
            {"name": each, "title": title, "pages": 10 * place + 3, "words": f"{title}, pages"}
            for place, (each, kind) in enumerate(pair.PAGE_FILTERS.items())
            if kind.main and (title := kind.title(("A", "B")))
        ],
        "show": show,
        "mode": st.query_params.get("mode", "side"),
        "selected": st.query_params.get("selected"),
        "summoned": False,
        "visit": "",
        "empty": empty,
    }


def record(key: str, name: str) -> None:
    """A callback: what the panes reported goes into the session and the log that the tests read."""
    events = panes.events(st.session_state[key])
    value = getattr(events, name)
    st.session_state.log.append([name, repr(value)])
    if name == "go" and events.go:
        st.session_state.position = max(0, min(PAGES - 1, events.go.index - FIRST_PAGE + events.go.step))
        st.session_state.image_width = 900
    elif name == "sharper" and events.sharper:
        st.session_state.image_width = min(2400, events.sharper.width)
    elif name == "show" and events.show:
        st.session_state.show = events.show


def main() -> None:
    st.set_page_config(page_title="Compare harness", layout="wide", initial_sidebar_state="collapsed")
    st.html(
        "<style>.stApp .stMainBlockContainer{padding:.7rem 1.4rem 1rem}"
        ".stApp [data-testid='stHeader']{background:transparent;pointer-events:none}</style>"
    )
    state = st.session_state
    if state.get("visit", "") != (visit := st.query_params.get("visit")):
        state.clear()
        state.visit = visit
    start = {"runs": 0, "log": [], "position": 4, "image_width": 900, "show": st.query_params.get("show", "changed")}
    for name, value in start.items():
        state.setdefault(name, value)
    state.runs += 1
    with st.container(border=True, height=76):
        st.text(json.dumps({"runs": state.runs, "log": state.log}))
    data = data_of(
        st.query_params.get("scene", "plain"),
        int(st.query_params.get("boxes", "20")),
        state.position,
        state.image_width,
        state.show,
    )
    names = ("go", "selected", "sharper", "show", "mode", "clear_filter")
    payload = msgspec.convert(data, ComparePayload)
    key = f"panes {state.visit}"
    drawn = panes(payload, key=key, **{f"on_{name}": functools.partial(record, key, name) for name in names})
    if drawn.open:
        state.log.append(["open", repr(drawn.open)])


if __name__ == "__main__":
    main()
