"""The page viewer on made-up pages alone, for its tests, and what all components alone share: `run`.

Query parameters: `boxes` (20, 200, 1000), `scene` (see `data_of`; in ``late`` the data always hold the choice before
the last one), `selected` (a key), `visit` (another one begins anew).
"""

import base64
import functools
import io
import json
import random
from collections.abc import Callable
from typing import Any

import msgspec
import streamlit as st
from PIL import Image, ImageDraw

from evaluator.components.viewer.payload import PagePayload
from pages.app.components import viewer

WIDTH, HEIGHT = 595.0, 842.0
PAGES = 48
LABELS = ["Text", "Table", "Picture", "Caption", "Section-header", "List-item", "Page-footer"]
HOSTILE = '<img src=x onerror="window.hacked=1">![](http://example.invalid/x.png)'

Block = tuple[str, float, float, float, float]

BLOCKS: list[Block] = [
    ("Page-header", 50, 30, 545, 44),
    ("Section-header", 50, 60, 292, 82),
    ("Text", 50, 86, 292, 168),
    ("Text", 50, 172, 292, 244),
    ("Section-header", 50, 258, 292, 280),
    ("Text", 50, 294, 292, 358),
    ("Text", 304, 60, 545, 144),
    ("Picture", 304, 162, 545, 306),
    ("Caption", 304, 312, 545, 338),
    ("Caption", 50, 368, 545, 384),
    ("Table", 50, 386, 545, 552),
    ("Text", 50, 572, 292, 670),
    ("List-item", 304, 572, 545, 600),
    ("List-item", 304, 604, 545, 632),
    ("List-item", 304, 636, 545, 668),
    ("Footnote", 50, 694, 545, 724),
    ("Page-footer", 268, 740, 326, 756),
]


@functools.lru_cache(maxsize=32)
def page_image(number: int, width: int) -> str:
    """A page with a grey block for each of its boxes and a black bar as long as its number, as a data URL."""
    scale = width / WIDTH
    image = Image.new("RGB", (width, round(HEIGHT * scale)), "white")
    draw = ImageDraw.Draw(image)
    for _, *corners in BLOCKS:
        draw.rectangle([corner * scale for corner in corners], fill="#999")
    draw.rectangle([0, 0, number * scale, 10 * scale], fill="#000")
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=80, method=0)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()


def drawn_page(number: int, width: int) -> dict[str, Any]:
    """The part of a page that says how it is drawn."""
    size = {"width": WIDTH, "height": HEIGHT, "image": page_image(number, width), "image_width": width}
    return {**size, "problem": None, "notes": []}


def share(x1: float, y1: float, x2: float, y2: float) -> list[float]:
    return [x1 / WIDTH, y1 / HEIGHT, x2 / WIDTH, y2 / HEIGHT]


def box(key: str, status: str, label: str, xyxy: list[float], **more: Any) -> dict[str, Any]:
    side = "ground_truth" if status in {"FN", "truth"} else "prediction"
    nothing = dict.fromkeys(("score", "iou", "coverage", "purity", "partner", "nearest", "mistake"))
    source = f"{'truth' if side == 'ground_truth' else 'lines'}.json, object {key[1:]}"
    return {"key": key, "side": side, "status": status, "label": label, "xyxy": xyxy, "source": source} | nothing | more


# False positives of the page: key, label, corners, score, number of the mistake, the box it is nearest to, its fit.
WRONG = (
    ("p100", "Table", (50, 386, 545, 454), 0.83, 1, "g10", (0.412, 0.412, 1.0)),
    ("p102", "Caption", (305, 313, 544, 325), 0.57, 2, "g8", (0.49, 0.49, 1.0)),
    ("p101", "Title", (51, 259, 262, 279), 0.62, 3, "g4", (0.801, 0.81, 0.98)),
    ("p103", "Text", (50, 572, 292, 617), 0.71, 4, "g11", (0.46, 0.46, 1.0)),
    ("p104", "Text", (50, 620, 292, 670), 0.66, 4, "g11", (0.44, 0.44, 1.0)),
    ("p105", "Picture", (316, 170, 536, 300), 0.41, 5, "g7", (0.761, 0.76, 1.0)),
)
MISTAKES = (
    ("FP", "Cut off", "Table", ["p100", "g10"],
     ["bottom −59 %, 100 pt", "IoU 0.412 · score 0.83", "lost “Middle Reach 18 47 19 8 92 …” (39 words)"]),
    ("FP", "Cut off", "Caption", ["p102", "g8"],
     ["bottom −51 %, 12 pt", "IoU 0.490 · score 0.57", "lost “2015 and 2024 (per cent of all …” (8 words)"]),
    ("FP", "Wrong class", "Section-header", ["p101", "g4"], ["predicted as Title", "IoU 0.801 · score 0.62"]),
    ("FP", "Split", "Text", ["p103", "p104", "g11"],
     ["1 truth, 2 predictions", "IoU 0.460 · score 0.71", "no text lost, one paragraph cut in two"]),
    ("FP", "Duplicate", "Picture", ["p105"],
     ["second box on Figure 3", "IoU 0.761 · score 0.41", "first match: score 0.94, IoU 0.970"]),
    ("FN", "Missed", "Footnote", ["g15"], ["no prediction", "no match at any IoU"]),
)  # fmt: skip


def mistake(number: int, *of: Any) -> dict[str, Any]:
    row = dict(zip(("status", "title", "label", "keys", "lines"), of, strict=True))
    return {"number": number, **row, "tags": ["FN" if key.startswith("g") else "FP" for key in row["keys"]]}


def plain_boxes() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The page of the design picture: 17 ground-truth boxes, six mistakes."""
    nearest = {of: {"key": key, "iou": fit[0]} for key, *_, of, fit in reversed(WRONG)}
    number_of = {row[5]: row[4] for row in WRONG if row[5] != "g7"} | {"g15": 6}
    boxes: list[dict[str, Any]] = []
    for number, (label, *corners) in enumerate(BLOCKS):
        truth, at, fit = f"g{number}", share(*corners), {"iou": 0.968, "coverage": 1.0, "purity": 0.968}
        if truth in number_of:
            boxes.append(box(truth, "FN", label, at, mistake=number_of[truth], nearest=nearest.get(truth)))
            continue
        x1, y1, x2, y2 = corners
        moved, score = share(x1 - 0.6, y1 - 0.4, x2 + 0.7, y2 + 0.5), 0.9 + number / 200
        boxes.append(box(f"p{number}", "TP", label, moved, partner=truth, score=score, **fit))
        boxes.append(box(truth, "truth", label, at, partner=f"p{number}", **fit))
    for key, label, corners, score, number, of, fit in WRONG:
        fits = dict(zip(("iou", "coverage", "purity"), fit, strict=True)) | {"nearest": {"key": of, "iou": fit[0]}}
        boxes.append(box(key, "FP", label, share(*corners), score=score, mistake=number, **fits))
    mistakes = [mistake(number, *row) for number, row in enumerate(MISTAKES, 1)]
    mistakes[0]["cut"] = {"side": "bottom", "share": 0.59, "points": 100}
    mistakes[1]["cut"] = {"side": "bottom", "share": 0.51, "points": 12}
    return boxes, mistakes


def lost_words() -> list[list[float]]:
    """Words of the lower part of the table and of the last line of the caption."""
    table = [
        share(x, 390 + 14.6 * row, x + wide, 401 + 14.6 * row)
        for row in range(5, 11)
        for x, wide in ((58, 36), (190, 14), (280, 14), (500, 14))
    ]
    return [*table, share(306, 326, 530, 336)]


def many_boxes(total: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A page crowded like a newspaper or a form."""
    random_box = random.Random(total)
    boxes: list[dict[str, Any]] = []
    mistakes: list[dict[str, Any]] = []
    columns = 8 if total > 400 else 4
    rows = total // columns
    for number in range(total):
        x = 30 + (number % columns) * (535 / columns)
        y = 30 + (number // columns) * (780 / rows)
        corners = share(x, y, x + 480 / columns, y + 640 / rows)
        label = LABELS[random_box.randrange(len(LABELS))]
        status = random_box.choice(["TP", "TP", "TP", "TP", "TP", "FP", "FN"])
        key = f"{'g' if status == 'FN' else 'p'}{number}"
        if status != "TP":
            title = "False positive" if status == "FP" else "Missed"
            mistakes.append(mistake(len(mistakes) + 1, status, title, label, [key], ["no match", f"object {number}"]))
        score = None if status == "FN" else round(random_box.random(), 2)
        boxes.append(box(key, status, label, corners, score=score, mistake=len(mistakes) if status != "TP" else None))
    return boxes, mistakes


def strip_of(order: list[int], position: int) -> list[dict[str, Any]]:
    kinds = [[x1 / WIDTH, y1 / HEIGHT, x2 / WIDTH, y2 / HEIGHT, label] for label, x1, y1, x2, y2 in BLOCKS]
    faults = [6, 1, 3, 0, 1, 4, 0, 2]
    return [
        {
            "document": "river-districts.pdf",
            "index": index,
            "mistakes": faults[(place + len(faults) - 4) % 8] if place != 4 else 6,
            "blocks": kinds[index % 3 :],
            "current": place == position,
        }
        for place, index in enumerate(order)
    ]


def data_of(scene: str, total: int, state: Any) -> dict[str, Any]:
    order = list(range(22, 22 + 20))
    boxes, mistakes = plain_boxes() if total == 20 else many_boxes(total)
    plain = total == 20
    page: dict[str, Any] = {
        "document": "river-districts.pdf", "index": order[state.position], "count": PAGES,
        "position": state.position + 1, "total": len(order), "lost": lost_words() if plain else [],
        "lost_words": 47 if plain else None, **drawn_page(order[state.position] + 1, state.image_width),
    }  # fmt: skip
    data: dict[str, Any] = {"page": page, "boxes": boxes, "mistakes": mistakes, "limit": None, "empty": None}
    data["strip"] = strip_of(order, state.position)
    if scene == "problem":
        note = "/Rotate is 45, which the PDF standard does not allow: boxes may be out of place."
        page |= {"image": None, "notes": [note]}
        page["problem"] = {
            "title": "This page cannot be drawn",
            "text": "river-districts.pdf, page 27: the renderer stopped after 5 s.",
            "fix": "Open the PDF elsewhere and save it again.",
        }
        data["limit"] = {"drawn": 23, "total": 1312}
    elif scene in ("empty", "none"):
        data |= {"boxes": [each for each in boxes if each["status"] in {"TP", "truth"}], "mistakes": []}
        if scene == "empty":
            data["empty"] = {"text": "No mistake passes the filter.", "action": "Clear filter"}
    elif scene == "hostile":
        long = "A-very-long-label-that-somebody-wrote-to-see-what-a-list-of-mistakes-does-with-it"
        for each in boxes:
            if each["mistake"] in {1, 3}:
                each |= {"label": HOSTILE if each["mistake"] == 1 else long, "source": HOSTILE}
        mistakes[0] |= {"label": HOSTILE, "title": HOSTILE, "lines": [HOSTILE, HOSTILE]}
        mistakes[2]["label"] = long
        page |= {"document": HOSTILE, "notes": [HOSTILE]}
        data["strip"][state.position]["document"] = HOSTILE
    elif scene in ("verdicts", "nameless", "causes"):
        judge_scene(data, state)
        if scene == "nameless":
            data["reviewer"] = ""
        if scene == "causes":
            family = ["parts", "", "Table", "", ""]
            title = "Table read as 22 boxes"
            data["causes"] = [{"title": title, "numbers": [1, 2, 3], "boxes": 23, "alike": 47, "family": family}]
            for each in mistakes[:3]:
                each |= {"alike": 47, "family": family}
    elif scene == "filtered":
        # The filter keeps the first two mistakes; the page itself is not in the list.
        data["mistakes"] = mistakes[:2]
        for each in boxes:
            if (each["mistake"] or 0) > 2:
                each |= {"mistake": None, "faded": True}
        data |= {"filtered": True, "hidden_mistakes": 4, "walk": {"before": False, "after": True, "total": 9}}
        page["position"] = 0
    elif scene == "long":
        # Of pages without a text layer.
        page |= {"position": 301, "total": 500, "lost_words": None, "lost_ink": 0.042}
        mistakes[0]["foreign"] = lost_words()[:4]
        data["strip"] = [
            {"document": "long.pdf", "index": place, "mistakes": place % 7, "blocks": [], "current": place == 300}
            for place in range(270, 390)
        ]
        data["strip_first"] = 270
    shown = data["boxes"]
    status = {name: sum(each["status"] == name for each in shown) for name in ("TP", "FP", "FN", "truth")}
    matched, of_truth = status["TP"] + status["FP"], status["FN"] + status.pop("truth")
    models = [{"letter": "A", "name": "lines"}, {"letter": "B", "name": "blocks"}]
    return data | {
        "counts": {**status, "ground_truth": of_truth, "predictions": matched},
        "model": models[state.letter == "B"], "models": models, "selected": state.selected,
        "signature": "snapshot 1.3 · IoU ≥ 0.50 · 1 document", "labels": sorted({each["label"] for each in shown}),
    }  # fmt: skip


def judge_scene(data: dict[str, Any], state: Any) -> None:
    """Mistake 1 is judged by somebody, mistake 2 by the reader, mistake 3 could not be saved, mistake 6 takes none."""
    for each in data["mistakes"]:
        each |= {"target": f"t{each['number']}", "verdict": None, "unsaved": None}
    said = {"author": "ada", "verified": False, "verdict": "ambiguous", "note": "", "tags": []}
    opinion: dict[str, Any] = {**said, "time": "2026-01-02T03:04"}
    data["mistakes"][0]["verdict"] = {"agreed": "ambiguous", "conflict": False, "opinions": [opinion]}
    own = opinion | {"author": "me", "verdict": "model_wrong", "note": "half of it"}
    data["mistakes"][1]["verdict"] = {"agreed": "model_wrong", "conflict": False, "opinions": [own]}
    data["mistakes"][2]["unsaved"] = {"verdict": "ignore", "note": "keep me", "problem": "The disk is full."}
    data["mistakes"][5]["target"] = None
    for target, (verdict, note) in state.verdicts.items():
        mistake = next(each for each in data["mistakes"] if each["target"] == target)
        said = own | {"verdict": verdict, "note": note}
        mistake["verdict"] = {"agreed": verdict, "conflict": False, "opinions": [said]} if verdict or note else None
    data |= {"verdicts": True, "reviewer": "me", "answered": state.answered}


def record(name: str, value: Any, state: Any) -> None:
    """What the viewer reported changes what it is given next."""
    if name == "go":
        state.position = max(0, min(19, value.index - 22 + value.step))
        state.selected = None
    elif name == "selected":
        late = st.query_params.get("scene") == "late"
        state.selected = state.told if late else value.key
        state.told = value.key
    elif name == "model":
        state.letter = value
    elif name == "verdict":
        for each in value:
            state.answered = each.id
            if each.target:
                state.verdicts[each.target] = (each.verdict, each.note)


def run(
    start: dict[str, Any],
    read: Callable[[Any], Any],
    record: Callable[[str, Any, Any], None],
    show: Callable[[str, dict[str, Any]], object],
    *names: str,
) -> None:
    """A component alone: it is shown with a callback for each event, and what it reported is written above it.

    The session begins with `start` and counts its runs; a turn leads to the first picture again, and `sharper` to a
    larger one, in every component.
    """
    st.set_page_config(page_title="Harness", layout="wide", initial_sidebar_state="collapsed")
    st.html(
        "<style>.stApp .stMainBlockContainer{padding:.7rem 1.4rem 10px}"
        ".stApp [data-testid='stHeader']{background:transparent;pointer-events:none}</style>"
    )
    state = st.session_state
    if state.get("visit", "") != (visit := st.query_params.get("visit")):
        state.clear()
        state.visit = visit
    for name, value in {"runs": 0, "log": [], "heard": [], "position": 4, "image_width": 900, **start}.items():
        state.setdefault(name, value)
    state.runs += 1
    with st.container(border=True, height=76):
        st.text(json.dumps({"runs": state.runs, "log": state.log}))
    key = f"component {state.visit}"

    def callback(name: str) -> None:
        value = getattr(read(state[key]), name)
        said = value or () if name == "verdict" else (value,)
        if name == "verdict":
            # Each once, as every message has what is not answered; its id is another one in each run of a test.
            said = [msgspec.structs.replace(each, id="") for each in said if each.id not in state.heard]
            state.heard += [each.id for each in value or ()]
        state.log += [[name, repr(each)] for each in said]
        if value and name in ("go", "sharper"):
            state.image_width = 900 if name == "go" else min(2400, value.width)
        if value:
            record(name, value, state)

    show(key, {f"on_{name}": functools.partial(callback, name) for name in names})


def show(key: str, callbacks: dict[str, Any]) -> None:
    scene, total = st.query_params.get("scene", "plain"), int(st.query_params.get("boxes", "20"))
    viewer(msgspec.convert(data_of(scene, total, st.session_state), PagePayload), key=key, **callbacks)


if __name__ == "__main__":
    chosen = st.query_params.get("selected")
    begun = {"selected": chosen, "told": chosen, "letter": "A", "verdicts": {}, "answered": ""}
    run(begun, viewer.events, record, show, "go", "selected", "sharper", "model", "clear_filter", "verdict", "alike")
