"""Predictions without scores: every view and command shows what needs none, and says why the rest is missing."""

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from evaluator import formats
from evaluator.analysis.doctor.match_check import diagnosis_of
from evaluator.data.dataset import join
from evaluator.formats.fields import FORMAT
from evaluator.formats.writers import WRITERS
from evaluator.protocols import PROTOCOLS, fields, snapshot
from tests import dashboard
from tests.building import annotations, box, ground_truth
from tests.dashboard import SAMPLE_DATA, start
from tests.terminal import run_command

TRUTH = SAMPLE_DATA / "ground_truth.json"
MODELS = ("lines", "blocks")
BOX_VIEWS = (
    "pages/overview.py", "pages/page_browser.py", "pages/gallery.py", "pages/compare.py", "pages/models.py",
    "pages/slices.py", "pages/suspects.py", "pages/findings.py", "pages/review_pack.py",
)  # fmt: skip
NEEDS_SCORES = {
    "coco": "average precision needs a score for every prediction",
    "pod": "every prediction must have a score",
}


Files = dict[str, tuple[Path, list[Path]]]


def without(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without(each) for key, each in value.items() if key not in ("score", "confidence")}
    return [without(each) for each in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("bare")
    for name in ("ground_truth", *MODELS):
        source = formats.read(SAMPLE_DATA / f"{name}.json")
        source = replace(source, page_size=np.full((len(source.page_index), 2), (612.0, 792.0)))
        bare = replace(source, boxes=replace(source.boxes, score=np.full(len(source.boxes), np.nan)))
        for kind, ending, boxes in (("coco", "coco.json", bare), ("coco", "scored.json", source), ("yolo", "", bare)):
            for file, content in WRITERS[kind].convert(boxes).files.items():
                path = folder / (f"{name}.{ending}" if ending else f"{name}.yolo/{file}")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        given = json.loads((SAMPLE_DATA / f"{name}.json").read_text())
        (folder / f"{name}.json").write_text(json.dumps(without(given)))
    return {
        "coco": (folder / "ground_truth.coco.json", [folder / f"{name}.coco.json" for name in MODELS]),
        "yolo": (folder / "ground_truth.yolo", [folder / f"{name}.yolo" for name in MODELS]),
        "snapshot": (TRUTH, [folder / f"{name}.json" for name in MODELS]),
    }


def session(view: str, sides: tuple[Path, list[Path]], **address: str) -> tuple[AppTest, str]:
    """A session on a view of these files; what its captions, warnings and own blocks say as one text."""
    app = start(view, files=dashboard.workspace(*sides, SAMPLE_DATA / "pdf"), **address)
    said = [each.value for kind in ("caption", "warning", "error", "info") for each in getattr(app, kind)]
    said += [str(value) for each in app.dataframe for value in each.value.to_numpy().ravel().tolist()]
    return app, " ".join([*said, *dashboard.words(app)])


# In turns: what the readers make of both is the same, boxes without a score.
@pytest.mark.parametrize(("view", "kind"), list(zip(BOX_VIEWS, itertools.cycle(["coco", "yolo"]))))
def test_every_view_of_boxes_shows_what_needs_no_score(files: Files, view: str, kind: str) -> None:
    app, said = session(view, files[kind], charts="scores,means")
    assert not app.error
    assert dashboard.signature(app)
    assert "nan" not in " ".join(dashboard.words(app)).lower().split()
    for slider in app.slider:
        if slider.label.startswith("Minimum score"):
            assert slider.disabled, slider.label
            assert slider.proto.help == "All scores of this model are equal or missing."
    if "overview" in view:
        assert "Scores are missing or not between 0 and 1" in said
        table = next(body for body in dashboard.html_blocks(app) if "mAP (COCO)" in body)
        assert dashboard.read_html(table).words.count("n/a") == 3 * len(MODELS), "AP, AP50 and AP75 of each model"


def test_one_model_of_two_without_scores_has_no_map(files: Files) -> None:
    truth, (a, b) = files["coco"]
    app, _ = session("pages/overview.py", (truth, [a.with_name("lines.scored.json"), b]), charts="means")
    table = next(body for body in dashboard.html_blocks(app) if "mAP (COCO)" in body)
    assert dashboard.read_html(table).words.count("n/a") == 3
    assert [app.slider(key=f"score_{model}").disabled for model in (0, 1)] == [False, True]


@pytest.mark.parametrize(
    ("view", "protocol"),
    list(zip([view for view in BOX_VIEWS if view != "pages/findings.py"], itertools.cycle(NEEDS_SCORES))),
)
def test_a_protocol_that_needs_scores_says_so_in_every_view(files: Files, view: str, protocol: str) -> None:
    _, said = session(view, files["coco"], protocol=protocol)
    assert NEEDS_SCORES[protocol] in said


def test_pixels_need_no_score(files: Files) -> None:
    app, said = session("pages/pixel_confusion.py", files["snapshot"])
    assert not app.error
    assert "B against A" in said
    assert dashboard.signature(app).startswith("pixel 2020")


def test_snapshot_files_say_what_their_specification_asks_for(files: Files) -> None:
    _, said = session("pages/files.py", files["snapshot"])
    assert "every object of a prediction file must have a score (snapshot 1.3, section 9.5)" in said


COMMANDS = {
    "check": ("check", "GT", "A"),
    "describe": ("describe", "A"),
    "evaluate snapshot": ("evaluate", "snapshot", "--gt", "GT", "--pred", "A"),
    "evaluate coco": ("evaluate", "coco", "--gt", "GT", "--pred", "A"),
    "evaluate pod": ("evaluate", "pod", "--gt", "GT", "--pred", "A"),
    "compare snapshot": ("compare", "snapshot", "--gt", "GT", "--pred", "A", "--pred", "B", "--resamples", 40),
    "compare coco": ("compare", "coco", "--gt", "GT", "--pred", "A", "--pred", "B", "--resamples", 40),
    "compare pod": ("compare", "pod", "--gt", "GT", "--pred", "A", "--pred", "B", "--resamples", 40),
    "gate snapshot": ("gate", "snapshot", "--gt", "GT", "--pred", "A", "--fail-if", "f1 < 0.1"),
    "slices snapshot": ("slices", "snapshot", "--gt", "GT", "--pred", "A"),
    "suspects snapshot": ("suspects", "snapshot", "--gt", "GT", "--pred", "A"),
    "report": ("report", "--gt", "GT", "--pred", "A", "--pages", 1, "--out", "OUT"),
}


@pytest.mark.parametrize(("name", "kind"), list(zip(COMMANDS, itertools.cycle(["coco", "yolo"]))))
def test_commands_show_what_needs_no_score_and_refuse_the_rest_with_the_reason(
    capsys: pytest.CaptureFixture[str], files: Files, tmp_path: Path, name: str, kind: str
) -> None:
    truth, (a, b) = files[kind]
    places = {"GT": truth, "A": a, "B": b, "OUT": tmp_path / "pack.html"}
    code, _, said = run_command(capsys, *(places.get(str(word), word) for word in COMMANDS[name]))
    assert "Traceback" not in said
    needed = NEEDS_SCORES.get(name.rpartition(" ")[2])
    assert code == (2 if needed else 0), said
    if needed:
        assert needed in " ".join(said.split())


@pytest.mark.parametrize(
    ("protocol", "kind", "stated"),
    [
        ("snapshot", "yolo", "score ≥ 0.00 · no scores: minimum score 0.50 does not apply · "),
        ("pixel", "coco", " · no scores: minimum score 0.50 does not apply · same classes"),
    ],
)
def test_a_minimum_score_without_scores_is_said_not_to_apply(
    capsys: pytest.CaptureFixture[str], files: Files, protocol: str, kind: str, stated: str
) -> None:
    truth, (a, _) = files[kind]
    words = ("evaluate", protocol, "--gt", truth, "--pred", a, "--json")
    plain, asked = (json.loads(run_command(capsys, *words, *more)[1]) for more in ((), ("--min-score", "0.5")))
    assert "NaN" not in json.dumps(plain)
    assert stated in asked["signature"]
    assert "does not apply" not in plain["signature"]
    assert {**asked, "signature": ""} == {**plain, "signature": ""}


def test_fields_without_confidence_say_that_a_minimum_score_does_not_apply() -> None:
    truth, predicted = ({"total": {"_value": 1, "_bbox": [0, 0, 9, 9]}} for _ in range(2))
    read = [FORMAT.read(json.dumps(side).encode(), "a.json") for side in (truth, predicted)]
    result = fields.evaluate(read[0], read[1], min_score=0.5)
    assert "score ≥ 0.00" in result.signature.line
    assert "no scores: minimum score 0.50 does not apply" in result.signature.line


def test_predictions_of_which_some_have_no_score_say_that_these_stay() -> None:
    rows = [box(0.1, 0.1, 0.3, 0.3, score=0.2), box(0.5, 0.5, 0.7, 0.7)]
    dataset = join(ground_truth(rows[:1]), annotations(rows))
    matching = snapshot.pair(dataset).match(min_score=0.5)
    assert matching.prediction_counts.tolist() == [False, True]
    assert " · score ≥ 0.50 · predictions without a score stay · " in matching.signature(0.5).line
    assert "stay" not in snapshot.pair(dataset).match().signature(0.5).line


@pytest.mark.parametrize(
    "view", ["pages/overview.py", "pages/compare.py", "pages/models.py", "pages/pixel_confusion.py"]
)
def test_a_link_with_a_minimum_score_states_none_where_there_are_no_scores(files: Files, view: str) -> None:
    app, said = session(view, files["coco"], scores="0.5,0.5")
    assert not app.error
    assert "0.50" not in dashboard.signature(app).replace("IoU ≥ 0.50", "")
    assert "score ≥ 0.5" not in said


@pytest.mark.parametrize("protocol", ["pod", "coco"])
def test_nobody_says_that_nothing_matches(protocol: str) -> None:
    """A system that needs scores has no F1 of these files, but their boxes are in place."""
    truth = formats.read(TRUTH)
    source = formats.read(SAMPLE_DATA / "lines.json")
    bare = replace(source, boxes=replace(source.boxes, score=np.full(len(source.boxes), np.nan)))
    assert diagnosis_of(truth, bare, PROTOCOLS[protocol]).silent
