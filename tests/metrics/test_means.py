"""Means on the Overview: those of the terminal, to the last shown digit, with weights of labels in the address."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from evaluator import project
from evaluator.data.dataset import join
from evaluator.protocols import coco
from pages.app import address
from tests import dashboard
from tests.building import annotations, box, ground_truth
from tests.dashboard import SAMPLE_DATA, start

FILES = (SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / "lines.json", SAMPLE_DATA / "blocks.json"])


def shown(app: AppTest) -> tuple[list[str], list[list[str]]]:
    """Titles of the groups, and the numbers of each model as they are written."""
    body = next(body for body in dashboard.html_blocks(app) if "ls-means" in body)
    titles = dashboard.read_html(body[: body.index("</tr>")]).words
    rows = [row.split("<td")[1:] for row in body.split("<tr")[3:]]
    return titles, [[dashboard.read_html("<td" + cell).words[0] for cell in row] for row in rows]


def three(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def expected(class_weight: dict[str, float]) -> list[list[str]]:
    """The same numbers from the terminal's way."""
    evaluation = project.evaluate("snapshot", *FILES, class_weight=class_weight)
    ranked = project.evaluate("coco", *FILES)
    rows = []
    for one, other in zip(evaluation, ranked, strict=True):
        at: dict[str, Any] = one.to_json()["thresholds"]["0.5"]
        groups = (at["micro"], at["macro_documents"], at["macro_labels"])
        values = [group[key] for group in groups for key in ("precision", "recall", "f1")]
        rows.append([three(value) for value in (*values, *(other.to_json()[name] for name in ("AP", "AP50", "AP75")))])
    return rows


def test_the_means_are_those_of_the_terminal() -> None:
    titles, rows = shown(start())
    assert titles == ["All boxes pooled", "Mean over documents", "Mean over labels", "mAP (COCO)"]
    assert rows == expected({})


def test_class_weights_are_in_the_address_and_move_the_mean_over_labels_alone() -> None:
    label = json.loads(FILES[0].read_text())["label_map"].popitem()[1]
    app = start(weights=json.dumps([[label, 3.0]]))
    titles, rows = shown(app)
    assert titles[2] == "Weighted mean over labels"
    assert rows == expected({label: 3.0})
    plain = expected({})
    assert [row[:6] + row[9:] for row in rows] == [row[:6] + row[9:] for row in plain]
    assert rows != plain
    said = " ".join(each.value for each in app.caption).replace("\\", "").replace("\u2060", "")
    assert f"Weights: {label}=3;" in said
    assert f"class weight {label}=3" in dashboard.signature(app)


def test_weights_that_make_no_sense_are_refused() -> None:
    (entry,) = [each for each in address.TABLE if each.name == "weights"]
    for text in ("[", "3", '[["Table", -1]]', '[["Table", 1e9]]', '[["Table"]]', '{"Table": 2}'):
        with pytest.raises(ValueError):  # noqa: PT011 - each has a reason of its own
            entry.codec.read(text)
    app = start(weights=text)
    assert any("could not be followed" in each.value for each in app.caption)
    assert shown(app)[1] == expected({})


def test_a_protocol_without_weights_has_no_control_and_one_with_average_precision_no_other() -> None:
    titles, _ = shown(start(protocol="coco", weights='[["Table", 2]]'))
    assert titles == ["All boxes pooled", "Mean over documents", "Mean over labels"]


def test_there_is_no_average_precision_without_scores() -> None:
    truth = ground_truth([box(0.1, 0.1, 0.4, 0.4)])
    bare = annotations([box(0.1, 0.1, 0.4, 0.4, score=None)], side="prediction")
    assert coco.coco_numbers(join(truth, bare)) is None
    scored = annotations([box(0.1, 0.1, 0.4, 0.4, score=0.5)], side="prediction")
    numbers = coco.coco_numbers(join(truth, scored))
    assert numbers is not None
    # COCO adds 2**-52 to each denominator.
    assert numbers["AP"] == pytest.approx(1.0, abs=1e-12)
    assert (numbers["AR100"], numbers["APs"]) == (1.0, None)
