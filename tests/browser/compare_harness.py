"""The linked panes of one made-up page and two models alone, for their tests; boxes and sentences come from the core.
Query parameters: `boxes` (ground truth on the page), `show` (a filter), `scene` (plain, problem, hostile), `visit`.
"""

import functools
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
from tests.browser.viewer_harness import BLOCKS, HEIGHT, HOSTILE, LABELS, WIDTH, drawn_page, run, share
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


def data_of(scene: str, total: int, state: Any) -> dict[str, Any]:
    first, second = results(total, scene == "hostile")
    position, show = state.position, state.show
    both = ledger.ledger(first, second)
    drawn = read_by_browser(
        pair.pair_data(first, second, both, 0, models=MODELS, show=show, page_points=(WIDTH, HEIGHT))
    )
    name = HOSTILE if scene == "hostile" else "river-districts"
    for pane, model in zip(drawn["panes"], ("lines 1.0", "blocks 1.0"), strict=True):
        pane["name"] = HOSTILE if scene == "hostile" else model
    index = FIRST_PAGE + position
    page: dict[str, Any] = {"document": DOCUMENT, "index": index, "position": position + 1, "total": PAGES}
    page |= drawn_page(index, state.image_width)
    if scene == "hostile":
        page["notes"] = [HOSTILE]
    if scene == "problem":
        page |= {"image": None, "image_width": 0, "notes": ["/Rotate is 45: boxes may be out of place."]}
        problem = {"title": "This page cannot be drawn", "text": "The renderer stopped.", "fix": "Save it again."}
        page["problem"] = problem
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
    return {
        **drawn,
        "page": page,
        "strip": strip,
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
        "empty": None,
    }


def record(name: str, value: Any, state: Any) -> None:
    """What the panes reported changes what they are given next."""
    if name == "go":
        state.position = max(0, min(PAGES - 1, value.index - FIRST_PAGE + value.step))
    elif name == "show":
        state.show = value


def show(key: str, callbacks: dict[str, Any]) -> None:
    state, query = st.session_state, st.query_params
    data = data_of(query.get("scene", "plain"), int(query.get("boxes", "20")), state)
    drawn = panes(msgspec.convert(data, ComparePayload), key=key, **callbacks)
    if drawn.open:
        state.log.append(["open", repr(drawn.open)])


if __name__ == "__main__":
    begun = {"show": st.query_params.get("show", "changed")}
    run(begun, panes.events, record, show, "go", "selected", "sharper", "show", "mode", "clear_filter")
