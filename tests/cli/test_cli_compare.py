"""`layoutscope compare` and `layoutscope gate`: keys, tables, exit codes, streams, and every protocol."""

import inspect
import json
import re
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evaluator import project
from evaluator.cli import evaluate as evaluate_command
from evaluator.cli.protocol_options import ProtocolOptions, given_options
from evaluator.compare.gate import EXAMPLE, parse
from evaluator.compare.metrics import METRICS
from evaluator.protocols import PROTOCOLS
from tests.building import box, snapshot_file, write_file
from tests.cli.conftest import Runner

PROJECT = Path(__file__).resolve().parents[2]
SAMPLE = PROJECT / "sample_data"
ORACLES = Path(__file__).resolve().parents[1] / "oracles"
SIDES = ("--gt", SAMPLE / "ground_truth.json", "--pred", SAMPLE / "lines.json", "--pred", SAMPLE / "blocks.json")
GATE = ("--gt", SAMPLE / "ground_truth.json", "--pred", SAMPLE / "blocks.json", "--baseline", SAMPLE / "lines.json")
# The keys of the terminal contract, then ours.
COMPARE_KEYS = {"a", "b", "ledger", "differences", "seed", "resamples"}
DIFFERENCE_KEYS = [
    "metric", "label", "a", "b", "difference", "low", "high", "documents_better", "documents_worse",
]  # fmt: skip
KEPT = {"by_document", "run", "model"}


def test_compare_json_has_the_keys_of_the_contract(run: Runner) -> None:
    value = run("compare", "snapshot", *SIDES, "--json").json()
    assert set(value) >= COMPARE_KEYS
    assert (value["seed"], value["resamples"], value["level"], value["iou"]) == (0, 2000, 0.95, 0.5)
    for row in value["ledger"].values():
        assert list(row)[:4] == ["both", "a_only", "b_only", "neither"]
    for row in value["differences"]:
        assert list(row)[: len(DIFFERENCE_KEYS)] == DIFFERENCE_KEYS
        assert row["sentence"]
    assert "NaN" not in json.dumps(value)
    assert value["signature"].endswith(" · 95 % intervals: 2,000 resamples of documents, seed 0")


def test_the_parts_of_a_comparison_agree_with_evaluate(run: Runner) -> None:
    comparison = run("compare", "snapshot", *SIDES, "--json", "--resamples", 50).json()
    for letter, name in (("a", "lines.json"), ("b", "blocks.json")):
        alone = run("evaluate", "snapshot", *SIDES[:2], "--pred", SAMPLE / name, "--json").json()
        # What a result keeps for later comparisons, a comparison need not.
        assert comparison[letter] == {key: value for key, value in alone.items() if key not in KEPT}
    a, b = (comparison[letter]["thresholds"]["0.5"]["per_class"] for letter in "ab")
    for label, row in comparison["ledger"].items():
        assert row["both"] + row["a_only"] == a[label]["tp"]
        assert row["b_only"] + row["neither"] == a[label]["fn"]
        assert row["both"] + row["b_only"] == b[label]["tp"]
        assert row["false_positives_shared"] + row["false_positives_b_only"] == b[label]["fp"]
    recall = next(row for row in comparison["differences"] if (row["metric"], row["label"]) == ("recall", "Text"))
    assert (recall["a"], recall["b"]) == (a["Text"]["recall"], b["Text"]["recall"])
    net = sum(page["net"] for page in comparison["pages"])
    assert net == sum(document["net"] for document in comparison["documents"].values())
    assert net == sum(
        sum(side[label]["fp"] + side[label]["fn"] for label in side) * sign for side, sign in ((a, 1), (b, -1))
    )
    assert comparison["mistakes"]["missed"]["a"] == comparison["a"]["thresholds"]["0.5"]["mistakes"]["missed"]


def test_compare_shows_tables_and_a_sentence(run: Runner) -> None:
    code, out, err = run("compare", "snapshot", *SIDES)
    assert (code, err) == (0, "")
    told = " ".join(out.split("┏")[0].split())
    assert told == (
        "A lines.json, B blocks.json. Keep A. Text recall −14.0 points, more than the 5 allowed. "
        "F1 +9.9 points (−1.5 to +22.5). B finds more: recall +7.2 points, 95 % interval 1.0 to 15.1; 6 "
        "documents better, 1 worse. Precision: no clear difference. Worst loss: Text recall −14.0 points."
    )
    assert "★" in out
    assert "Ledger: A lines.json, B blocks.json" in out
    first, second = out.index("│ recall    │ Text"), out.index("│ recall    │ All labels")
    assert first < second
    markdown = run("compare", "snapshot", *SIDES, "--markdown").out
    assert "| recall | Text | 0.8671 | 0.7273 |" in markdown
    assert markdown.startswith("**A lines.json, B blocks.json. Keep A.")


def test_intervals_of_few_documents_stand_in_the_json_only(run: Runner, tmp_path: Path) -> None:
    rows = [box(0.0, 0.0, 0.5, 0.5, document=f"{number}.pdf", score=0.5) for number in range(7)]
    truth = write_file(tmp_path / "gt.json", rows, side="ground_truth")
    names = [row.document for row in rows]
    a, b = (write_file(tmp_path / f"{n}.json", some, documents=names) for n, some in (("a", rows[:1]), ("b", rows)))
    words = ("compare", "snapshot", "--gt", truth, "--pred", a, "--pred", b)
    recall = next(row for row in run(*words, "--json").json()["differences"] if row["metric"] == "recall")
    assert recall["low"] > 0.0
    assert (recall["few_documents"], recall["clear"]) == (True, False)
    out = run(*words).out
    assert "Too few documents for an interval: 7." in " ".join(out.split())
    line = next(line for line in out.splitlines() if "recall" in line and "All labels" in line)
    assert [cell.strip() for cell in line.strip("│").split("│")][4:7] == ["+85.7", "–", ""]


def test_the_seed_and_the_number_of_resamples_are_chosen(run: Runner) -> None:
    plain, again, other = (
        run("compare", "snapshot", *SIDES, "--json", *words).json()["differences"]
        for words in ((), ("--seed", 0), ("--seed", 1, "--resamples", 400))
    )
    assert plain == again
    assert plain != other


def test_more_than_two_models_stand_in_one_table(run: Runner) -> None:
    words = ("compare", "snapshot", *SIDES, "--pred", SAMPLE / "lines.json", "--resamples", 100)
    value = run(*words, "--json").json()
    assert [model["model"] for model in value["models"]] == ["A", "B", "C"]
    assert all(row["difference"] in (0.0, None) for row in value["models"][2]["differences"])
    out = run(*words).out
    assert "All models: A lines.json, B blocks.json, C lines.json" in out
    assert "c minus a" in out


USAGE: list[tuple[tuple[Any, ...], str]] = [
    (SIDES[:4], "give --pred twice or more; to evaluate one prediction use layoutscope evaluate."),
    ((*SIDES, "--json", "--markdown"), "choose one of --json and --markdown."),
    ((*SIDES, "--resamples", 0), "--resamples must be between 40 and 1,000,000; found 0."),
    ((*SIDES, "--resamples", 39), "--resamples must be between 40 and 1,000,000; found 39."),
    ((*SIDES, "--seed", -1), "--seed must be at least 0; found -1."),
    ((*SIDES, "--labels", "Tabel"), "labels not in the label map: Tabel."),
]


def test_usage_that_makes_no_sense(run: Runner) -> None:
    for words, message in USAGE:
        assert run("compare", "snapshot", *words) == (2, "", f"error: {message}\n")
    assert run("compare", "snap", *SIDES) == (
        2, "",
        "error: protocol must be one of snapshot, pixel, pod, coco, fields, posters, order, text, tables; found "
        "snap.\n",
    )  # fmt: skip


def test_an_option_of_another_protocol_is_refused(run: Runner) -> None:
    code, _, err = run("gate", "snapshot", *GATE, "--fail-if", "f1 < 0.1", "--ap", "11-point")
    assert code == 2
    assert err.startswith("error: --ap is not an option of snapshot, which has --iou")


def test_issues_of_all_files_are_told_at_once(run: Runner, tmp_path: Path) -> None:
    paths = []
    for name in ("a.json", "b.json"):
        value = snapshot_file([box(0.0, 0.0, 0.5, 0.5)])
        value["predictions"][0]["objects"][0]["bbox"] = [0.5, 0.1, 0.4, 0.2]
        paths.append(tmp_path / name)
        paths[-1].write_bytes(msgspec.json.encode(value))
    truth = write_file(tmp_path / "gt.json", [box(0.0, 0.0, 0.5, 0.5)], side="ground_truth")
    code, out, err = run("compare", "snapshot", "--gt", truth, "--pred", paths[0], "--pred", paths[1])
    assert (code, out) == (2, "")
    assert [line.split(":")[1].strip() for line in err.splitlines()] == ["a.json", "b.json"]


def test_a_gate_that_fails_says_which_condition_by_how_much_and_how_sure(run: Runner) -> None:
    code, out, err = run(
        "gate", "snapshot", *GATE, "--fail-if", "recall[Text] < baseline - 0.5pt", "--fail-if", "f1 < 0.7",
    )  # fmt: skip
    assert (code, err) == (1, "gate failed: 1 of 2 conditions\n")
    assert "Gate failed, 1 of 2 conditions: blocks.json against lines.json" in out
    line = next(line for line in out.splitlines() if "FAILED" in line)
    assert [cell.strip() for cell in line.strip("│").split("│")] == [
        "FAILED", "recall[Text] < baseline - 0.5pt", "0.7273", "0.8671", "0.8621", "−14.0", "−27.3 to −0.9",
        "It holds by 13.49 points.",
    ]  # fmt: skip
    value = run("gate", "snapshot", *GATE, "--fail-if", "recall[Text] < baseline - 0.5pt", "--json").json(1)
    assert (value["passed"], value["conditions"][0]["failed"]) == (False, True)
    assert set(value) == {"passed", "signature", "conditions", "result", "baseline", "seed", "resamples"}


def test_a_gate_that_passes(run: Runner) -> None:
    code, out, err = run("gate", "snapshot", *GATE, "--fail-if", "recall < baseline - 0.5pt", "--markdown")
    assert (code, err) == (0, "")
    assert out.startswith("**Gate passed: blocks.json against lines.json**")
    assert run("gate", "snapshot", *GATE[:4], "--fail-if", "f1 < 0.5").code == 0
    # A prediction against itself has no loss.
    same = (*GATE[:4], "--baseline", SAMPLE / "blocks.json")
    conditions = [word for metric in ("recall", "f1", "mean_iou") for word in ("--fail-if", f"{metric} < baseline")]
    assert run("gate", "snapshot", *same, *conditions).code == 0


def test_what_is_undefined_does_not_pass(run: Runner, tmp_path: Path) -> None:
    truth = write_file(tmp_path / "gt.json", [box(0.0, 0.0, 0.5, 0.5)], side="ground_truth")
    nothing = write_file(tmp_path / "nothing.json", [], documents=["a.pdf"])
    code, out, _ = run("gate", "snapshot", "--gt", truth, "--pred", nothing, "--fail-if", "precision < 0.5")
    assert code == 1
    assert "It cannot be judged: the number is not defined for the prediction." in out


def test_a_gate_that_makes_no_sense_is_wrong_usage(run: Runner) -> None:
    metrics = "precision, recall, f1, mean_iou, mean_coverage, mean_purity"
    for condition, message in (
        ((), f"give at least one --fail-if, such as --fail-if {EXAMPLE}."),
        (("--fail-if", "recal < 1"), f"there is no metric recal; there are {metrics}."),
        (("--fail-if", "recall << 1"), f"a condition must look like {EXAMPLE}; found recall << 1."),
        (("--fail-if", "recall < baseline"), "recall < baseline needs --baseline."),
    ):
        assert run("gate", "snapshot", *GATE[:4], *condition) == (2, "", f"error: {message}\n")


def files_of(protocol: str, folder: Path) -> tuple[Path, Path, Path, str]:
    if protocol == "pod":
        case = ORACLES / "pod" / "p01_basic"
        return case / "gt", case / "submission.xml", case / "submission.xml", "map"
    sides: list[Any]
    if protocol in ("coco", "pixel"):
        at = [{"image_id": image, "category_id": 1, "bbox": [10, 10, 40, 40]} for image in (1, 2)]
        instances = {
            "images": [{"id": number, "width": 100, "height": 100, "file_name": f"{number}.png"} for number in (1, 2)],
            "categories": [{"id": 1, "name": "Table"}],
            "annotations": [{**box, "id": box["image_id"], "area": 1600, "iscrowd": 0} for box in at],
        }
        sides = [instances, [{**at[0], "score": 0.9}], [{**at[0], "score": 0.9}, {**at[1], "score": 0.8}]]
    elif protocol == "fields":
        right, far = ({"Total": {"_value": "x", "_bbox": [0.1 + by, 0.1, 0.3 + by, 0.3]}} for by in (0.0, 0.5))
        sides = [{"doc_id": "1", "fields": tree} for tree in (right, far, right)]
    else:
        sides = [{"content": {"text": text}} for text in ("alpha beta 12", "alpha", "alpha beta 12")]
    ending, metric = {
        "coco": (".json", "AP"), "pixel": (".json", "iou"), "fields": (".jsonl", "mean_ap"),
        "posters": ("/1.json", "word_capture"),
    }[protocol]  # fmt: skip
    paths = [folder / f"{name}{ending}" for name in ("gt", "a", "b")]
    for path, value in zip(paths, sides, strict=True):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(value))
    truth, a, b = (path.parent if protocol == "posters" else path for path in paths)
    return truth, a, b, metric


@pytest.mark.parametrize("protocol", ["pod", "coco", "pixel", "fields", "posters"])
def test_every_protocol_is_compared_and_gated(run: Runner, tmp_path: Path, protocol: str) -> None:
    truth, a, b, metric = files_of(protocol, tmp_path)
    sides = ("--gt", truth, "--pred", a, "--pred", b, "--resamples", 40)
    value = run("compare", protocol, *sides, "--json").json()
    assert set(value) >= COMPARE_KEYS
    assert (value["ledger"] is None) == (protocol in ("pixel", "fields", "posters"))
    assert value["differences"][0]["sentence"]
    overall = [row for row in value["differences"] if row["metric"] == metric and row["difference"] is not None]
    assert overall
    assert run("compare", protocol, *sides).code == 0
    gate = ("gate", protocol, "--gt", truth, "--resamples", 40)
    assert run(*gate, "--baseline", a, "--pred", b, "--fail-if", f"{metric} < baseline").code == 0
    if protocol != "pod":
        assert overall[0]["difference"] > 0.0
        code, out, err = run(*gate, "--baseline", b, "--pred", a, "--fail-if", f"{metric} < baseline - 1pt")
        assert (code, err.splitlines()[-1]) == (1, "gate failed: 1 of 1 condition")
        assert "FAILED" in out


@pytest.mark.parametrize("protocol", ["pod", "coco", "pixel"])
def test_a_model_that_found_nothing_is_evaluated_and_compared(run: Runner, tmp_path: Path, protocol: str) -> None:
    """A list without results is a legal file of COCO."""
    truth, model, *_ = files_of(protocol, tmp_path)
    nothing = tmp_path / "none.json"
    nothing.write_text("[]")
    alone = run("evaluate", protocol, "--gt", truth, "--pred", nothing, "--json").json()
    assert [issue["file"] for issue in alone["issues"] if issue["found"] == "an empty list"] == ["none.json"]
    sides = ("--gt", truth, "--pred", model, "--pred", nothing)
    value = run("compare", protocol, *sides, "--resamples", "50", "--json").json()
    worst = {row["metric"]: (row["b"], row["documents_better"]) for row in value["differences"] if row["a"]}
    assert worst
    if protocol != "pixel":  # where nothing is the background is right
        assert {number for number, _ in worst.values()} <= {0.0, None}
    if protocol == "coco":
        table = run("evaluate", protocol, "--gt", truth, "--pred", nothing, "--csv")
        assert (table.code, table.out.splitlines()[1].split(",")[2:5]) == (0, ["0.0"] * 3)
        assert (alone["AP"], alone["AR100"], worst["AP"]) == (0.0, 0.0, (0.0, 0))


def test_two_annotators_are_compared_also_under_two_spellings_of_a_label(run: Runner, tmp_path: Path) -> None:
    truth, *_ = files_of("coco", tmp_path)
    same = run("compare", "pixel", "--gt", truth, "--pred", truth, "--pred", truth, "--json").json()
    assert all(row["difference"] in (0.0, None) for row in same["differences"])
    # Labels in two spellings are told with a proposal.
    value = json.loads(truth.read_text())
    value["categories"][0]["name"] = "TABLE"
    other = tmp_path / "other.json"
    other.write_text(json.dumps(value))
    words = ("compare", "pixel", "--gt", truth, "--pred", truth, "--pred", other, "--resamples", 40, "--allow-no-match")
    assert run(*words, "--json").json()["labels"]["map_label"] == {"TABLE": "Table"}
    _, _, err = run(*words)
    assert err.splitlines()[-3:] == [
        "note: Table: only in A.",
        "note: TABLE: only in B.",
        'note: Equal but for case and punctuation; to compare them as one label: --map-label "TABLE=Table".',
    ]
    mapped = run(*words, "--json", "--map-label", "TABLE=Table").json()
    assert mapped["labels"] == {"notes": [], "map_label": {}}
    assert all(row["difference"] in (0.0, None) for row in mapped["differences"])


def test_lenient_reaches_the_protocol(run: Runner, tmp_path: Path) -> None:
    gt, pred = tmp_path / "gt.xml", tmp_path / "pred.xml"
    region = '<tableRegion{0}><Coords points="10,10 90,10 10,90 90,90"/></tableRegion>'
    page = '<document filename="{0}.bmp">{1}</document>'
    gt.write_text(page.format("POD_1", region.format("")))
    pred.write_text("".join(page.format(name, region.format(' prob_conf="0.9"')) for name in ("POD_1", "POD_2")))
    words = ("evaluate", "pod", "--gt", gt, "--pred", pred, "--json")
    assert run(*words).code == 2
    assert "lenient" in run(*words, "--lenient").json()["signature"]


def test_the_document_names_every_metric_and_its_conditions_can_be_read(run: Runner) -> None:
    text = (PROJECT / "docs" / "ci-gate.md").read_text(encoding="utf-8")
    conditions = re.findall(r'--fail-if "([^"]+)"', text) + re.findall(r"^ {12}(.+ < .+)$", text, re.MULTILINE)
    assert len(conditions) >= 8
    for condition in conditions:
        parse(condition)
    assert set(METRICS) <= set(re.findall(r"`(\w+)`", text))
    for protocol in PROTOCOLS:
        assert f"| `{protocol}` |" in text
    words = [word for condition in conditions[:3] for word in ("--fail-if", condition)]
    code, out, _ = run("gate", "snapshot", *GATE, *words)
    assert (code, out.count("passed │")) == (0, 3)


def test_the_options_are_those_of_evaluate() -> None:
    names = {field.name for field in dataclass_fields(ProtocolOptions)}
    # A fix under a name of its own.
    names.remove("labels_of")
    assert names == {name for protocol in PROTOCOLS.values() for name in protocol.options.__struct_fields__}
    given = set(inspect.signature(evaluate_command.evaluate).parameters)
    assert names <= given or "options" in given
    assert given_options(ProtocolOptions()) == {}
    given = ProtocolOptions(iou=("0.5:0.6:0.05",), page_size="10x20", labels="a,b")  # type: ignore[call-arg]
    assert given_options(given) == {"iou": (0.5, 0.55, 0.6), "page_size": (10.0, 20.0), "labels": ("a", "b")}


def test_models_of_boxes_share_one_dataset() -> None:
    a, b = project.evaluate_together(
        "snapshot", SAMPLE / "ground_truth.json", [SAMPLE / "lines.json", SAMPLE / "blocks.json"]
    )
    assert a.result.matching.dataset is b.result.matching.dataset  # type: ignore[attr-defined]
    assert (a.result.matching.model, b.result.matching.model) == (0, 1)  # type: ignore[attr-defined]
