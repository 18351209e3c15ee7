"""What a stranger can hand over beside annotations, from a project file to a condition: good ones, and their readers.
`tests.attacks` changes them; what may come of one is the same sentence as for annotations.
"""

import functools
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from evaluator.analysis.slices.attributes import attributes_of, page_attributes
from evaluator.analysis.slices.conditions import condition_mask
from evaluator.analysis.slices.named_slices import read_named
from evaluator.analysis.slices.page_table import read_page_table
from evaluator.compare import gate, stored_results
from evaluator.compare.models import standings
from evaluator.data.dataset import Dataset, join
from evaluator.data.fixes import FixError, parse_fix
from evaluator.data.issues import BadInput, refuse
from evaluator.formats.fields.schema import schema_from
from evaluator.matching.box_results import ALL_LABELS
from evaluator.metrics import export
from evaluator.metrics.measures import Key
from evaluator.pack import diff
from evaluator.pack.html_pack import _in_script
from evaluator.project import evaluate
from evaluator.review import findings_import
from evaluator.workspace import project_file, uploads
from evaluator.workspace.store import STATE_FILE, WorkspaceFolder
from tests.building import annotations, box, ground_truth, write_file

Files = list[tuple[str, bytes]]
_ROWS: Final = (
    box(0.1, 0.1, 0.4, 0.4, score=0.5),
    box(0.5, 0.1, 0.9, 0.4, label="Table", page=1, score=0.25),
    box(0.5, 0.1, 0.9, 0.4, document="b.pdf", score=0.125),
)


class Reader(NamedTuple):
    """Good files to begin with, and what is done with one; raises `BadInput` with issues and nothing else."""

    good: Callable[[], Files]
    read: Callable[[bytes, str], object]


@functools.cache
def _folder() -> Path:
    """A folder of this process with a ground truth and a prediction, gone when the process ends."""
    # The object ends with the process, and the folder with it.
    _folder.held = held = tempfile.TemporaryDirectory()  # type: ignore[attr-defined]
    place = Path(held.name)
    (place / "pdf").mkdir()
    write_file(place / "gt.json", _ROWS, side="ground_truth")
    write_file(place / "p.json", _ROWS)
    return place


def _on_disk(name: str, content: bytes) -> Path:
    path = _folder() / name
    path.write_bytes(content)
    return path


@functools.cache
def _dataset() -> Dataset:
    return join(ground_truth(_ROWS), annotations(_ROWS))


_PROJECT: Final = b"""ground_truth = "gt.json"
models = ["p.json"]
pdfs = "pdf"
protocol = "coco"
fix = ["p.json:y-flip"]
as_reference = true
[fields]
ground_truth = "gt.json"
models = []
[posters]
models = ["p.json"]
[filters]
"label" = "Table"
"iou" = "0.6"
"""
_SLICES: Final = b"""{"tables": [{"attribute": "label", "op": "==", "value": "Table"}],
"small": {"conditions": [{"attribute": "area", "op": "<", "value": 0.2},
                         {"attribute": "score", "op": ">=", "value": 0.5}], "recall": 0.5}}"""
_SCHEMA: Final = b"""{"total": {"comparator": "number", "threshold": 0.95}, "LineItems": {"match_threshold": 0.7},
"LineItems[].Desc": {"comparator": "text", "threshold": 0.7}}"""
_PAGE_TABLES: Final = (
    b'document,page_no,quality,source\na.pdf,1,0.5,"scan, old"\na.pdf,2,0.25,\nb.pdf,,1,web\n',
    b"doc_id,page_index,scan\na,0,yes\nb,0,no\n",
)
_STATE: Final = b"""{"layout": 1, "filters": {"label": "Table"}, "pages": [{"name": "a.pdf", "sha256": "%(sha)s"}],
"sides": [{"kind": "boxes", "side": "prediction", "name": "p", "files": [{"name": "p.json", "sha256": "%(sha)s"}]}]}"""
_FINDINGS: Final = (
    b"verdict,author,time,kind,document,page_index\nignore,Ann,2026-01-31T12:00:00Z,page,a.pdf,0\n",
    b'{"events": [{"verdict": "ignore", "author": "Ann", "time": "2026-01-31T12:00:00Z", "kind": "page", '
    b'"document": "a.pdf", "page_index": 0, "tags": "x,y", "note": "n"}]}',
)
_CONDITIONS: Final = (
    b"recall[Table] < baseline - 0.5pt and significant", b'f1["a \\"b\\""] <= 95%',
    b"precision[all] >= baseline + 2 %", b"map < 0.5",
)  # fmt: skip
_FIXES: Final = (
    b"p.json:y-flip", b"page-offset=+1", b"label=Fig=Figure", b"units=percent", b"a:b.json:x-flip=612"
)  # fmt: skip


def _as(name: str, *contents: bytes) -> Callable[[], Files]:
    """Good files that are the same every time."""
    return lambda: [(name, content) for content in contents]


def _packs() -> Files:
    model = {"name": "lines", "signature": "snapshot 1.3 · IoU ≥ 0.50", "f1": 0.5, "precision": None, "recall": 0.25}
    models = tuple(diff.PackedModel(letter=each, mistakes=3, **model) for each in "AB")  # type: ignore[arg-type]
    findings = (diff.PackedFinding("t1", "Missed · Table", "a.pdf, page 1", "Model wrong"),)
    record = diff.PackRecord(1, "1 May 2026", "Ship B", "t", models, findings)
    html = f'<html><script type="application/json" id="{diff.ELEMENT}">{_in_script(record)}</script></html>'
    return [("pack.html", html.encode())]


def _results() -> Files:
    files = []
    for protocol in ("snapshot", "coco", "pod"):
        (one,) = evaluate(protocol, _folder() / "gt.json", [_folder() / "p.json"])
        value = {**one.to_json(), **stored_results.stored_values(one.result)}
        # Those that are read; the rest of a result is hundreds of numbers that nobody reads again.
        read = ("protocol", "signature", "ground_truth", "predictions", "by_document", "run", "model")
        files.append(("result.json", export.to_json({name: value[name] for name in read}).encode()))
    return files


def _dropped() -> Files:
    given = [("pages.csv", table) for table in _PAGE_TABLES]
    return [
        ("gt.json", (_folder() / "gt.json").read_bytes()),
        *given,
        ("layoutscope.toml", _PROJECT),
        ("a.pdf", b"%PDF-1.4\n"),
    ]


def _read_project(content: bytes, name: str) -> object:
    return project_file.read(_on_disk("layoutscope.toml", content))


def _read_pack(content: bytes, name: str) -> object:
    then = diff.recorded(name, content)
    ((_, good),) = _packs()
    return [diff.since(then, then), diff.since(then, diff.recorded(name, good))]


def _read_result(content: bytes, name: str) -> object:
    models = []
    for one in stored_results.read_results(content, name):
        words = {"protocol": "snapshot", "signature": one.signature, "truth_sha256": one.truth_sha256, "iou": 0.5}
        own = [one.against(**words, own=own) for own in (False, True)]  # type: ignore[arg-type]
        if "" in own:
            models.append(one.model_entry(0.5))
    return [standings(models, Key(metric, ALL_LABELS), resamples=40) for metric in ("f1", "AP")]


@functools.cache
def _attributes() -> Mapping[str, Any]:
    side = _dataset().predictions[0]
    return {each.name: each for each in attributes_of(_dataset(), side, score=True)}


def _read_slices(content: bytes, name: str) -> object:
    named = read_named(_on_disk("layoutscope-slices.json", content))
    known = _attributes()
    for each in named:
        msgspec.json.encode([condition.to_json() for condition in each.conditions])
        if all(condition.attribute in known for condition in each.conditions):
            condition_mask(each.conditions, known)
    return named


def _read_page_table(content: bytes, name: str) -> object:
    dataset = _dataset()
    of_pages, _issues = read_page_table(_on_disk("pages.csv", content), dataset.document_ids, list)
    return page_attributes(dataset, of_pages)


@functools.cache
def _workspace() -> WorkspaceFolder:
    return WorkspaceFolder(_folder() / "workspace")


def _read_state(content: bytes, name: str) -> object:
    folder = _workspace()
    (folder.root / STATE_FILE).write_bytes(content)
    kept = folder.read()
    if kept.issues:
        raise BadInput(kept.issues)
    return kept


def _read_dropped(content: bytes, name: str) -> object:
    dropped = uploads.sort_dropped_files([(name, content), ("p.json", (_folder() / "p.json").read_bytes())])
    if dropped.issues:
        raise BadInput(dropped.issues)
    return dropped


def _read_condition(content: bytes, name: str) -> object:
    try:
        condition = gate.parse(content.decode("utf-8", "surrogateescape"))
    except gate.ConditionError as problem:
        refuse(name, "", str(problem), "", "")
    return [condition.holds(0.5, limit) for limit in [condition.limit.value(0.5)] if limit is not None]


def _read_fix(content: bytes, name: str) -> object:
    try:
        return parse_fix(content.decode("utf-8", "surrogateescape"))
    except FixError as problem:
        refuse(name, "", str(problem), "", "")


READERS: Final[dict[str, Reader]] = {
    "conditions": Reader(_as("condition", *_CONDITIONS), _read_condition),
    "dropped": Reader(_dropped, _read_dropped),
    "earlier-result": Reader(_results, _read_result),
    "findings": Reader(lambda: [("f.csv", _FINDINGS[0]), ("f.json", _FINDINGS[1])], findings_import.read),
    "fixes": Reader(_as("fix", *_FIXES), _read_fix),
    "named-slices": Reader(_as("layoutscope-slices.json", _SLICES), _read_slices),
    "page-table": Reader(_as("pages.csv", *_PAGE_TABLES), _read_page_table),
    "pack": Reader(_packs, _read_pack),
    "project": Reader(_as("layoutscope.toml", _PROJECT), _read_project),
    "schema": Reader(_as("schema.json", _SCHEMA), schema_from),
    "workspace": Reader(_as(STATE_FILE, _STATE % {b"sha": b"0" * 64}), _read_state),
}
