"""Each reported case, in Python and in the dashboard, opened as by ``layoutscope open`` and uploaded: its right value.

`Case.value`: of snapshot true positives, false positives and false negatives, of other protocols their first number;
None where the files are refused. `said`: of a sentence that both say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from streamlit.testing.v1 import AppTest

from evaluator import formats
from evaluator.data.fixes import parse_fix
from evaluator.data.issues import BadInput
from evaluator.project import evaluate
from evaluator.workspace.roles import find
from pages.app.state import State
from tests import dashboard
from tests.dashboard import (
    FILES,
    OVERVIEW,
    PIXELS,
    POSTERS,
    cards,
    go,
    html_blocks,
    issues,
    plain,
    read_html,
    start,
    table,
    texts,
    words,
    workspace,
)
from tests.reading import SHARED, needs_shared

REPORTS = Path(SHARED, "reports")
pytestmark = needs_shared


class Case(NamedTuple):
    folder: str
    truth: str
    model: str
    value: Any
    said: str = ""
    protocol: str = "snapshot"
    fix: str = ""
    size: tuple[float, float] | None = None


COCO = "coco"
STEMS, LABEL_STUDIO = "01-ultralytics-image-id-stem", "05-label-studio-ocr-template"
TURNED, YOLO, FOLDERS = "07-paddle-doc-preprocessor", "10-yolo-confidence-second", "15-same-names-in-folders"
EQUAL, SIZES, TABLES, POD = "04-equal-scores-no-confidence", "17-page-size-differs", "21-ctdar", "24-pod-name-case"
RESCALED = "both files should state one size for a page; its boxes are rescaled"
TURNED_BACK = "boxes of a page that was turned before it was read are turned back"
PAGE, SCAN = (1000.0, 1400.0), (4800.0, 3500.0)
CASES = [
    Case(STEMS, "a_gt.json", "a_stem_ids.json", 1.0, "The ids are used as names of images.", COCO),
    Case(STEMS, "a_gt.json", "a_stem_ids_with_file_name.json", 1.0, "The file names are used.", COCO),
    Case(STEMS, "b_gt.json", "b_int_of_stem.json", None, "image ids read as the numbers in file names: 1.000", COCO),
    Case(STEMS, "b_gt.json", "b_int_of_stem.json", 1.0, "", COCO, "image-ids=names"),
    Case(STEMS, "b_gt.json", "b_int_of_stem_with_file_name.json", 1.0, "The file names are used.", COCO),
    Case(EQUAL, "gt.json", "right_first.json", 0.3366, "AP is 0.337 in the best order of them and 0.084", COCO),
    Case(EQUAL, "gt.json", "right_last.json", 0.0842, "AP is 0.337 in the best order of them and 0.084", COCO),
    Case(LABEL_STUDIO, "a_rectanglelabels.json", "pred.json", (3, 0, 0)),
    Case(LABEL_STUDIO, "b_ocr_template.json", "pred.json", (3, 0, 0)),
    Case(LABEL_STUDIO, "c_ocr_template_min.json", "pred2.json", (6, 0, 0)),
    Case(LABEL_STUDIO, "d_skipped_first.json", "pred.json", (3, 0, 0)),
    Case(LABEL_STUDIO, "e_task_twice.json", "pred.json", None, "a document must be one task (Label Studio)"),
    Case(LABEL_STUDIO, "f_skipped_only.json", "pred.json", None, "a file must have a page or a box"),
    Case(LABEL_STUDIO, "g_list_in_data.json", "pred.json", (3, 0, 0)),
    Case("06-cvat-brush-mask", "gt.xml", "pred.json", (3, 0, 1)),
    Case(TURNED, "many_gt.json", "many_pred", (50, 0, 0), TURNED_BACK),
    Case(TURNED, "gt.json", "pred_turned", (3, 0, 0), TURNED_BACK),
    Case("08-azure-table-paragraphs", "gt.json", "report.json", (5, 0, 0), "17 boxes, of which 5 are read"),
    Case(YOLO, "gt", "pred", None, "the confidence read from the second column: 1.000", COCO, "", PAGE),
    Case(YOLO, "gt", "pred", 0.9466, "", COCO, "confidence-second", PAGE),
    Case(YOLO, "gt", "pred_last", 0.9466, "", COCO, "", PAGE),
    Case(FOLDERS, "gt.json", "pred_instances.json", (5, 0, 1), "a document for each folder"),
    Case(FOLDERS, "gt.json", "pred_results.json", (5, 0, 1), "a document for each folder"),
    Case(SIZES, "gt.json", "pred.json", (50, 0, 0), RESCALED),
    Case(SIZES, "gt.json", "pred.json", 1.0, RESCALED, COCO),
    Case(SIZES, "gt.json", "pred.json", 1.0, "", "pixel"),
    Case(SIZES, "gt.json", "paddle", (50, 0, 0), RESCALED),
    Case("19-roboflow-names", "gt.json", "pred", None, "document names compared without a common suffix: 1.000"),
    Case("19-roboflow-names", "gt.json", "pred", (24, 0, 0), "", "snapshot", "names=suffix"),
    Case(TABLES, "real_cTDaR_t00002.xml", "pred.json", (2, 0, 0)),
    Case(TABLES, "real_cTDaR_t00002.xml", "pred.json", 1.0, "", COCO, "", SCAN),
    Case(TABLES, "real_cTDaR_t00002.xml", "pred.json", 1.0, "", "pixel", "", SCAN),
    Case(TABLES, "icdar2013_reg.xml", "pred.json", None, "in points from the bottom left of a PDF page"),
    Case(POD, "gt.xml", "pred.json", (2, 0, 0)),
    Case(POD, "gt.xml", "pred.json", 1.0, "", "pod"),
]
"""What is no number of boxes, in cases 7, 12, 14 and 25, has a test of its own below."""


def paths(case: Case) -> tuple[Path, Path]:
    return REPORTS / case.folder / case.truth, REPORTS / case.folder / case.model


def check(case: Case, value: Any, said: str, close: float) -> None:
    counts = case.value is None or isinstance(case.value, tuple)
    assert value == (case.value if counts else pytest.approx(case.value, abs=close))
    assert case.said.casefold() in said.casefold()


OF_CASES = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.folder[:2]} {case.model} {case.protocol}")


@OF_CASES
def test_in_python(case: Case) -> None:
    truth, model = paths(case)
    try:
        fix = tuple(map(parse_fix, filter(None, [case.fix])))
        (made,) = evaluate(case.protocol, truth, [model], page_size=case.size, fix=fix)
    except BadInput as problem:
        return check(case, None, "\n".join(issue.sentence for issue in problem.issues), 0)
    held, said = made.to_json(), "\n".join(issue.sentence for issue in made.issues)
    if case.protocol == "snapshot":
        value = tuple(held["thresholds"]["0.5"]["micro"][key] for key in ("tp", "fp", "fn"))
    elif case.protocol == "pixel":
        value = held["page_mean"]["mean"]["all_classes"]["f1"]
    else:
        value = held["AP"] if case.protocol == "coco" else held["thresholds"]["0.6"]["map"]
    check(case, value, said, 5e-5)


def chosen(case: Case) -> dict[str, str]:
    """The parts of the address that choose protocol and fix."""
    return {name: text for name, text in (("protocol", case.protocol), ("fix", case.fix)) if text not in ("", "pixel")}


def opened(case: Case) -> tuple[AppTest, list[str]]:
    truth, model = paths(case)
    app = start(FILES, files=find(ground_truth=[truth], predictions=[model]).to_json(), **chosen(case))
    return app, words(app)


def uploaded(case: Case) -> tuple[AppTest, list[str]]:
    """Both sides dropped on an empty session, folders with the names in them."""
    app = start(FILES, files=workspace(None))
    for path in paths(case):
        files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
        app = dashboard.drop(app, {each.relative_to(path.parent).as_posix(): each.read_bytes() for each in files})
    said = words(app)
    said += [file["what"] for group in dashboard.component(app, "groups")["groups"] for file in group["files"]]
    if dashboard.component(app, "groups")["ready"]:
        dashboard.evaluate(app)
        app.session_state[dashboard.key_of(app, "protocol")] = chosen(case).get("protocol", "snapshot")
        app.session_state[State.fixes.key] = tuple(filter(None, [case.fix]))
        said += words(go(app, FILES))
    return app, said


@pytest.mark.parametrize("way", [opened, uploaded])
@OF_CASES
@pytest.mark.usefixtures("whole_app")
def test_in_the_dashboard(case: Case, way: Callable[[Case], tuple[AppTest, list[str]]]) -> None:
    app, said = way(case)
    value: Any = None
    if case.value is not None:
        app = go(app, PIXELS if case.protocol == "pixel" else OVERVIEW)
        seen = words(app)
        said += texts(app.caption)
        if case.protocol == "snapshot":
            value = tuple(int(cards(app)[0][key]) for key in ("TP", "FP", "FN"))
        elif case.protocol == "pixel":
            value = float(seen[seen.index("All classes") + 1])
        else:
            own = read_html(next(body for body in html_blocks(app) if 'class="ls-own' in body)).rows
            value = float(own[2][1])
    check(case, value, "\n".join(said), 5e-4)


def test_pages_that_were_unwarped_have_no_place() -> None:
    said = "boxes of a page that was unwarped before it was read have no place on the page as it was given"
    folder = REPORTS / TURNED
    assert said in [issue.rule for issue in formats.read(folder / "pred_unwarped").issues]
    files = find(ground_truth=[folder / "gt.json"], predictions=[folder / "pred_unwarped"]).to_json()
    assert said in [row["Rule"] for row in issues(start(FILES, files=files))]


@pytest.mark.parametrize(
    ("name", "labels", "counted"),
    [
        ("a_type_only.xml", {"Running Title": 1, "header": 1, "TextBlock": 1, "marginalia": 1}, ""),
        ("b_composed.xml", {"TextBlock": 3, "Running Title": 1}, "6 boxes, of which 4 are read"),
        ("c_lines_only.xml", {"Running Title": 1}, "neither"),
        (
            "real-ALTO-BnF-V2.xml",
            {"TextBlock": 113, "titre 1": 6, "GraphicalElement": 3, "manuscript": 1},
            "125 boxes, of which 123 are read",
        ),
    ],
)
def test_labels_of_alto(name: str, labels: dict[str, int], counted: str) -> None:
    path = REPORTS / "14-alto-tags" / name
    source = formats.read(path)
    assert dict(Counter(source.labels[code] for code in source.boxes.label)) == labels
    assert [issue.found for issue in source.issues] == [counted] * bool(counted)
    app = start(FILES, files=workspace(path))
    shown = table(app, "Label")
    assert dict(zip(shown["Label"], shown[name], strict=True)) == {**labels, "All": sum(labels.values())}
    assert [row["Found"] for row in issues(app)] == [counted] * bool(counted)


@pytest.mark.parametrize(
    ("folder", "profile", "passing", "said"),
    [
        ("", "documented", "5 of 6", "profile documented takes what is between blanks and punctuation for one word"),
        ("", "published", "6 of 6", "profile published reads ASCII letters and digits alone"),
        ("w", "documented", "0 of 1", "profile documented takes what is between blanks and punctuation for one word"),
        ("w", "published", "1 of 1", "profile published reads ASCII letters and digits alone"),
    ],
)
def test_posters_in_other_scripts(folder: str, profile: str, passing: str, said: str) -> None:
    truth, model = (REPORTS / "12-rouge-non-latin" / folder / name for name in ("gt", "pred"))
    (made,) = evaluate("posters", truth, [model], profile=profile)
    assert [issue.rule.startswith(said) for issue in made.issues] == [True]
    app = start(POSTERS, files=find(ground_truth=[truth], predictions=[model]).to_json(), profile=profile)
    assert passing in words(app)
    assert [row["Rule"].startswith(said) for row in issues(app)] == [True]


def test_a_password_is_asked_for() -> None:
    folder = REPORTS / "25-encrypted-pdf"
    named = find(ground_truth=[folder / "gt_s.csv"], predictions=[folder / "pred_s.csv"], pdfs=folder / "pdfs")
    app = start(FILES, files=named.to_json())
    assert [plain(each.label) for each in app.text_input] == ["Password of user-locked.pdf"]
