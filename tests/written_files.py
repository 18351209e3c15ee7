"""One of each file that is written: ``python -m tests.written_files`` keeps those that later versions must open.

They are in tests/fixtures, in a folder of the version that wrote them.
"""

import contextlib
import io
import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

from evaluator import cli
from evaluator.review.identity import page_target
from evaluator.system.version import __version__
from evaluator.workspace import project_file
from evaluator.workspace.roles import Sides
from tests.building import box, write_file
from tests.judging import opinion, store

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
# What a later version opens, by its name; the rest is made again from the files.
KEPT = (
    "result-snapshot.json", "result-coco.json", "layoutscope.toml", "layoutscope-slices.json", "findings.db",
    "findings.json", "findings.csv", "findings.parquet", "pack.html", "corpus",
)  # fmt: skip
# From 20 on slices are searched.
DOCUMENTS = 20
TRUTH = [
    box(0.1, top, 0.9, top + 0.2, label=label, document=f"{number}.pdf")
    for number in range(DOCUMENTS)
    for label, top in (("Figure", 0.1), ("Table", 0.5))
]
MODELS = {
    "a": [row._replace(score=0.9) for row in TRUTH],
    "b": [row._replace(score=0.8) for row in TRUTH if row.label == "Figure"],
}


def said(*words: object) -> str:
    """What a command writes to standard output."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        cli.main([str(word) for word in words])
    return out.getvalue()


def write_kept(folder: Path) -> None:
    """Write `KEPT`, and the files that they are of, into a folder that is there."""
    truth = write_file(folder / "truth.json", TRUTH, side="ground_truth")
    a, b = (write_file(folder / f"{name}.json", rows) for name, rows in MODELS.items())
    sides = ("--gt", truth, "--pred", a)
    for protocol in ("snapshot", "coco"):
        (folder / f"result-{protocol}.json").write_text(said("evaluate", protocol, *sides, "--json"), encoding="utf-8")
    project_file.save({"boxes": Sides(truth, (a, b), None)}, {"protocol": "coco", "iou": "0.6"})
    named = [{"attribute": "label", "op": "==", "value": "Table"}]
    (folder / "layoutscope-slices.json").write_text(json.dumps({"tables": named}), encoding="utf-8")
    store(folder / "findings.db", opinion(page_target("1.pdf", 0), note="=A table is missing", tags=("later",)))
    for form in ("json", "csv", "parquet"):
        said("findings", "export", "--findings", folder / "findings.db", "--format", form,
             "--out", folder / f"findings.{form}")  # fmt: skip
    said("report", "snapshot", *sides, "--pred", b, "--out", folder / "whole.html")
    # Of a pack a later one reads the record alone.
    record = re.search(r"<script[^>]*pack-record.*?</script>", (folder / "whole.html").read_text(encoding="utf-8"))
    assert record is not None
    (folder / "pack.html").write_text(record[0], encoding="utf-8")
    (folder / "whole.html").unlink()
    said("corpus", *sides, "--out", folder / "corpus")


def values(folder: Path) -> dict[str, list[Any]]:
    """What is written, as plain values by the name of its schema; `write_kept` has been there."""
    truth, a, b = (folder / f"{name}.json" for name in ("truth", "a", "b"))
    sides = ("--gt", truth, "--pred", a, "--pred", b)
    baseline = ("--gt", truth, "--pred", b, "--baseline", a)
    costs = folder / "costs.csv"
    costs.write_text("document,page,status,seconds\n1.pdf,0,ok,2\n", encoding="utf-8")
    sample, reading = ROOT / "sample_data", ROOT / "sample_reading"
    of_sample = ("--gt", sample / "ground_truth.json", "--pred", sample / "lines.json")
    fields, posters = sample / "fields", sample / "posters"

    def result(protocol: str, *words: object) -> list[Any]:
        value = json.loads(said("evaluate", protocol, *words, "--json"))
        return value if isinstance(value, list) else [value]

    def decoded(*words: object) -> Any:
        return json.loads(said(*words, "--json"))

    def compared(protocol: str, truth: Path, *models: Path) -> Any:
        named = [word for model in models for word in ("--pred", model)]
        return decoded("compare", protocol, "--gt", truth, *named, "--resamples", 50)

    pages = [reading / f"{name}.jsonl" for name in ("ground_truth", "lines", "blocks")]
    said("evaluate", "snapshot", *sides[:4], "--shard", "1/2", "--out", folder / "parts")
    said("report", "snapshot", *sides, "--out", folder / "pack")
    record = (folder / "pack.html").read_text(encoding="utf-8").partition(">")[2].partition("<")[0]
    manifest = (folder / "corpus" / "ground_truth" / "truth.json" / "manifest").read_bytes()
    return {
        "result-snapshot": [
            *result("snapshot", *sides[:4], "--costs", costs, "--tolerant"),
            *result("snapshot", *of_sample),
        ],
        "result-pod": result("pod", *sides),
        "result-coco": result("coco", *sides),
        "result-pixel": result("pixel", *sides, "--page-size", "64x48", "--exact"),
        "result-fields": result("fields", "--gt", fields / "ground_truth", "--pred", fields / "anchors"),
        "result-posters": result("posters", "--gt", posters / "ground_truth", "--pred", posters / "across"),
        "result-reading": [
            each for name in ("order", "text", "tables") for each in result(name, "--gt", pages[0], "--pred", pages[1])
        ],
        "comparison": [
            compared("snapshot", truth, a, b),
            compared("coco", truth, a, b, a),
            compared("text", *pages),
            compared("fields", fields / "ground_truth", fields / "anchors", fields / "rules"),
        ],
        "gate": [
            decoded("gate", "snapshot", *baseline, "--fail-if", "recall[Table] < baseline"),
            decoded("gate", "coco", *baseline[:4], "--fail-if", "AP < 0.5"),
        ],
        "slices": [decoded("slices", "snapshot", *sides), decoded("slices", "snapshot", *sides[:2], *sides[4:])],
        "named-slices": [json.loads((folder / "layoutscope-slices.json").read_bytes())],
        "suspects": [decoded("suspects", "snapshot", *of_sample)],
        "review-plan": [decoded("suspects", "snapshot", *sides, "--plan", "0.2")],
        "findings": [json.loads((folder / "findings.json").read_bytes())],
        "project": [tomllib.loads((folder / "layoutscope.toml").read_text(encoding="utf-8"))],
        "pack-record": [json.loads(record)],
        "pack-results": [json.loads((folder / "pack" / "results.json").read_bytes())],
        "part-job": [json.loads((folder / "parts" / "job.json").read_bytes())],
        "corpus": [json.loads((folder / "corpus" / "layoutscope-corpus.json").read_bytes())],
        "corpus-manifest": [json.loads(manifest.partition(b"\n")[2])],
    }


if __name__ == "__main__":
    kept = FIXTURES / __version__
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    write_kept(kept)
