"""A small Streamlit app with made-up pages, for the tests of the page viewer.

Query parameters: `boxes` (20, 200, 1000), `scene` (plain, problem, empty, none, hostile, verdicts, filtered,
long, late), `selected` (a key), `visit` (another one begins anew). In the scene `late` the data always hold
the choice before the last one. It counts its runs and writes what the viewer reported into the page, where the tests
read it.
"""

from __future__ import annotations

import base64
import functools
import io
import json
import random
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


def share(x1: float, y1: float, x2: float, y2: float) -> list[float]:
    return [x1 / WIDTH, y1 / HEIGHT, x2 / WIDTH, y2 / HEIGHT]


def box(key: str, status: str, label: str, xyxy: list[float], **more: Any) -> dict[str, Any]:
    side = "ground_truth" if status in {"FN", "truth"} else "prediction"
    row = {
        "key": key,
        "side": side,
        "status": status,
        "label": label,
        "xyxy": xyxy,
        "score": None,
        "iou": None,
        "coverage": None,
        "purity": None,
    }
    return {**row, "partner": None, "nearest": None, "mistake": None, "source": f"lines.json, object {key[1:]}", **more}


def plain_boxes() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The page of the design picture: 17 ground-truth boxes, six mistakes."""
    boxes: list[dict[str, Any]] = []
    wrong = {4: 3, 8: 2, 10: 1, 11: 4, 15: 6}
    for number, (label, *corners) in enumerate(BLOCKS):
        truth = f"g{number}"
        if number in wrong:
            nearest = {
                3: {"key": "p101", "iou": 0.801},
                2: {"key": "p102", "iou": 0.49},
                1: {"key": "p100", "iou": 0.412},
                4: {"key": "p103", "iou": 0.46},
            }.get(wrong[number])
            boxes.append(
                box(
                    truth,
                    "FN",
                    label,
                    share(*corners),
                    mistake=wrong[number],
                    nearest=nearest,
                    source=f"truth.json, object {number}",
                )
            )
            continue
        x1, y1, x2, y2 = corners
        moved = share(x1 - 0.6, y1 - 0.4, x2 + 0.7, y2 + 0.5)
        boxes.append(
            box(
                f"p{number}",
                "TP",
                label,
                moved,
                partner=truth,
                score=0.9 + number / 200,
                iou=0.968,
                coverage=1.0,
                purity=0.968,
            )
        )
        boxes.append(
            box(
                truth,
                "truth",
                label,
                share(*corners),
                partner=f"p{number}",
                iou=0.968,
                coverage=1.0,
                purity=0.968,
                source=f"truth.json, object {number}",
            )
        )
    boxes += [
        box(
            "p100",
            "FP",
            "Table",
            share(50, 386, 545, 454),
            score=0.83,
            mistake=1,
            nearest={"key": "g10", "iou": 0.412},
            iou=0.412,
            coverage=0.412,
            purity=1.0,
        ),
        box(
            "p102",
            "FP",
            "Caption",
            share(305, 313, 544, 325),
            score=0.57,
            mistake=2,
            nearest={"key": "g8", "iou": 0.49},
            iou=0.49,
            coverage=0.49,
            purity=1.0,
        ),
        box(
            "p101",
            "FP",
            "Title",
            share(51, 259, 262, 279),
            score=0.62,
            mistake=3,
            nearest={"key": "g4", "iou": 0.801},
            iou=0.801,
            coverage=0.81,
            purity=0.98,
        ),
        box(
            "p103",
            "FP",
            "Text",
            share(50, 572, 292, 617),
            score=0.71,
            mistake=4,
            nearest={"key": "g11", "iou": 0.46},
            iou=0.46,
            coverage=0.46,
            purity=1.0,
        ),
        box(
            "p104",
            "FP",
            "Text",
            share(50, 620, 292, 670),
            score=0.66,
            mistake=4,
            nearest={"key": "g11", "iou": 0.44},
            iou=0.44,
            coverage=0.44,
            purity=1.0,
        ),
        box(
            "p105",
            "FP",
            "Picture",
            share(316, 170, 536, 300),
            score=0.41,
            mistake=5,
            nearest={"key": "g7", "iou": 0.761},
            iou=0.761,
            coverage=0.76,
            purity=1.0,
        ),
    ]
    rows = [
        (
            1,
            "FP",
            "Cut off",
            "Table",
            ["bottom −59 %, 100 pt", "IoU 0.412 · score 0.83", "lost “Middle Reach 18 47 19 8 92 …” (39 words)"],
            ["FP", "FN"],
            ["p100", "g10"],
        ),
        (
            2,
            "FP",
            "Cut off",
            "Caption",
            ["bottom −51 %, 12 pt", "IoU 0.490 · score 0.57", "lost “2015 and 2024 (per cent of all …” (8 words)"],
            ["FP", "FN"],
            ["p102", "g8"],
        ),
        (
            3,
            "FP",
            "Wrong class",
            "Section-header",
            ["predicted as Title", "IoU 0.801 · score 0.62"],
            ["FP", "FN"],
            ["p101", "g4"],
        ),
        (
            4,
            "FP",
            "Split",
            "Text",
            ["1 truth, 2 predictions", "IoU 0.460 · score 0.71", "no text lost, one paragraph cut in two"],
            ["FP", "FP", "FN"],
            ["p103", "p104", "g11"],
        ),
        (
            5,
            "FP",
            "Duplicate",
            "Picture",
            ["second box on Figure 3", "IoU 0.761 · score 0.41", "first match: score 0.94, IoU 0.970"],
            ["FP"],
            ["p105"],
        ),
        (6, "FN", "Missed", "Footnote", ["no prediction", "no match at any IoU"], ["FN"], ["g15"]),
    ]
    names = ("number", "status", "title", "label", "lines", "tags", "keys")
    mistakes = [dict(zip(names, row, strict=True)) for row in rows]
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
        mistake = None
        if status != "TP":
            mistake = len(mistakes) + 1
            title = "False positive" if status == "FP" else "Missed"
            mistakes.append(
                {
                    "number": mistake,
                    "status": status,
                    "title": title,
                    "label": label,
                    "lines": ["no match", f"object {number}"],
                    "tags": [status],
                    "keys": [key],
                }
            )
        score = None if status == "FN" else round(random_box.random(), 2)
        boxes.append(box(key, status, label, corners, score=score, mistake=mistake))
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


def data_of(
    *, scene: str, total: int, position: int, image_width: int, letter: str, selected: str | None
) -> dict[str, Any]:
    order = list(range(22, 22 + 20))
    index = order[position]
    boxes, mistakes = plain_boxes() if total == 20 else many_boxes(total)
    page: dict[str, Any] = {
        "document": "river-districts.pdf",
        "index": index,
        "count": PAGES,
        "position": position + 1,
        "total": len(order),
        "lost": lost_words() if total == 20 else [],
        "lost_words": 47 if total == 20 else None,
        "width": WIDTH,
        "height": HEIGHT,
        "image": page_image(index + 1, image_width),
        "image_width": image_width,
        "problem": None,
        "notes": [],
    }
    data: dict[str, Any] = {
        "page": page,
        "boxes": boxes,
        "mistakes": mistakes,
        "strip": strip_of(order, position),
        "limit": None,
        "empty": None,
    }
    if scene == "problem":
        page |= {
            "image": None,
            "notes": ["/Rotate is 45, which the PDF standard does not allow: boxes may be out of place."],
        }
        page["problem"] = {
            "title": "This page cannot be drawn",
            "text": "river-districts.pdf, page 27: the renderer stopped after 5 s.",
            "fix": "Open the PDF elsewhere and save it again.",
        }
        data["limit"] = {"drawn": 23, "total": 1312}
    elif scene == "empty":
        data |= {"boxes": [each for each in boxes if each["status"] in {"TP", "truth"}], "mistakes": []}
        data["empty"] = {"text": "No mistake passes the filter.", "action": "Clear filter"}
    elif scene == "none":
        data |= {"boxes": [each for each in boxes if each["status"] in {"TP", "truth"}], "mistakes": []}
    elif scene == "hostile":
        for each in boxes:
            if each["mistake"] in {1, 3}:
                each["label"] = (
                    HOSTILE
                    if each["mistake"] == 1
                    else "A-very-long-label-that-somebody-wrote-to-see-what-a-list-of-mistakes-does-with-it"
                )
                each["source"] = HOSTILE
        mistakes[0] |= {"label": HOSTILE, "title": HOSTILE, "lines": [HOSTILE, HOSTILE]}
        mistakes[2]["label"] = boxes[-4]["label"]
        page |= {"document": HOSTILE, "notes": [HOSTILE]}
        data["strip"] = [
            {**each, "document": HOSTILE if each["current"] else each["document"]} for each in data["strip"]
        ]
    elif scene in ("verdicts", "nameless", "causes"):
        judge_scene(data)
        if scene == "nameless":
            data["reviewer"] = ""
        if scene == "causes":
            family = ["parts", "", "Table", "", ""]
            title = "Table read as 22 boxes"
            data["causes"] = [{"title": title, "numbers": [1, 2, 3], "cost": 23, "alike": 47, "family": family}]
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
    data["counts"] = {
        "TP": status["TP"],
        "FP": status["FP"],
        "FN": status["FN"],
        "ground_truth": status["FN"] + status["truth"],
        "predictions": status["TP"] + status["FP"],
    }
    models = [{"letter": "A", "name": "lines"}, {"letter": "B", "name": "blocks"}]
    data |= {
        "model": models[letter == "B"],
        "models": models,
        "signature": "snapshot 1.3 · IoU ≥ 0.50 · 1 document",
        "selected": selected,
        "labels": sorted({each["label"] for each in shown}),
    }
    return data


def judge_scene(data: dict[str, Any]) -> None:
    """Mistake 1 is judged by somebody, mistake 2 by the reader, mistake 3 could not be saved, mistake 6 takes none."""
    state = st.session_state
    for each in data["mistakes"]:
        each |= {"target": f"t{each['number']}", "verdict": None, "unsaved": None}
    opinion = {
        "author": "ada",
        "verified": False,
        "verdict": "ambiguous",
        "note": "",
        "tags": [],
        "time": "2026-01-02T03:04",
    }
    data["mistakes"][0]["verdict"] = {"agreed": "ambiguous", "conflict": False, "opinions": [opinion]}
    own = opinion | {"author": "me", "verdict": "model_wrong", "note": "half of it"}
    data["mistakes"][1]["verdict"] = {"agreed": "model_wrong", "conflict": False, "opinions": [own]}
    data["mistakes"][2]["unsaved"] = {"verdict": "ignore", "note": "keep me", "problem": "The disk is full."}
    data["mistakes"][5]["target"] = None
    for target, (message, verdict, note) in state.verdicts.items():
        mistake = next(each for each in data["mistakes"] if each["target"] == target)
        mistake["answered"] = message
        said = own | {"verdict": verdict, "note": note}
        mistake["verdict"] = {"agreed": verdict, "conflict": False, "opinions": [said]} if verdict or note else None
    data |= {"verdicts": True, "reviewer": "me"}


def record(key: str, name: str) -> None:
    """A callback: what the viewer reported goes into the session and the log that the tests read."""
    events = viewer.events(st.session_state[key])
    value = getattr(events, name)
    # The id of a verdict is another one in each run of a test.
    shown = msgspec.structs.replace(value, id="") if name == "verdict" and value else value
    st.session_state.log.append([name, repr(shown)])
    if name == "go" and events.go:
        st.session_state.position = max(0, min(19, events.go.index - 22 + events.go.step))
        st.session_state.selected = None
        st.session_state.image_width = 900
    elif name == "selected" and events.selected:
        late = st.query_params.get("scene") == "late"
        st.session_state.selected = st.session_state.told if late else events.selected.key
        st.session_state.told = events.selected.key
    elif name == "sharper" and events.sharper:
        st.session_state.image_width = min(2400, events.sharper.width)
    elif name == "model" and events.model:
        st.session_state.letter = events.model
    elif name == "verdict" and events.verdict and events.verdict.target:
        sent = events.verdict
        st.session_state.verdicts[sent.target] = (sent.id, sent.verdict, sent.note)


def main() -> None:
    st.set_page_config(page_title="Viewer harness", layout="wide", initial_sidebar_state="collapsed")
    st.html(
        "<style>.stApp .stMainBlockContainer{padding:.7rem 1.4rem 1rem}"
        ".stApp [data-testid='stHeader']{background:transparent;pointer-events:none}</style>"
    )
    state = st.session_state
    if state.get("visit", "") != (visit := st.query_params.get("visit")):
        state.clear()
        state.visit = visit
    for name, value in {
        "runs": 0,
        "log": [],
        "position": 4,
        "selected": st.query_params.get("selected"),
        "told": st.query_params.get("selected"),
        "image_width": 900,
        "letter": "A",
        "verdicts": {},
    }.items():
        state.setdefault(name, value)
    state.runs += 1
    scene, total = st.query_params.get("scene", "plain"), int(st.query_params.get("boxes", "20"))
    with st.container(border=True, height=76):
        st.text(json.dumps({"runs": state.runs, "log": state.log}))
    data = data_of(
        scene=scene,
        total=total,
        position=state.position,
        image_width=state.image_width,
        letter=state.letter,
        selected=state.selected,
    )
    names = ("go", "selected", "sharper", "model", "clear_filter", "verdict", "alike")
    payload = msgspec.convert(data, PagePayload)
    key = f"viewer {state.visit}"
    viewer(payload, key=key, **{f"on_{name}": functools.partial(record, key, name) for name in names})


if __name__ == "__main__":
    main()
