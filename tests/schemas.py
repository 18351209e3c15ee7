"""Writes docs/schemas, the JSON schemas of what is written: ``python -m tests.schemas``.

What a struct writes follows from it; the rest is declared here. A test validates real files, in which no key may be
that is not declared. A key that goes or changes its meaning raises the version of its schema; one that is new does not.
"""

from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import msgspec

from evaluator.analysis.suspects.listing import Suspect
from evaluator.cli.parts import Job
from evaluator.compare.stored_results import _ByDocument
from evaluator.data.dataset import Run
from evaluator.data.issues import Issue
from evaluator.formats.columns import Kept
from evaluator.formats.corpus import _List
from evaluator.metrics.costs import PageCosts
from evaluator.metrics.results import Metrics
from evaluator.pack.diff import PackRecord
from evaluator.review.verdicts import Kind, Target, Verdict
from evaluator.workspace.project_file import _Project

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "schemas"
DRAFT = "https://json-schema.org/draft/2020-12/schema"
Ratio = float | None
Counts = dict[str, int]
Ratios = dict[str, Ratio]


class Source(TypedDict):
    name: str
    sha256: str


class OnlyIn(TypedDict):
    ground_truth: list[str]
    predictions: list[str]


class Amounts(TypedDict):
    total: Ratio
    per_page_mean: Ratio
    per_page_median: Ratio
    pages: int


class Seconds(Amounts):
    ok_mean: Ratio


class Money(Amounts):
    currency: str | None


class Costs(TypedDict):
    pages: int
    stated: int
    ok: int
    failed: int
    timeout: int
    skipped: int
    unknown: int
    seconds: Seconds
    cost: Money
    tokens: Ratios
    by_page: list[PageCosts]


class Condition(TypedDict):
    attribute: str
    op: Literal["==", "<", ">="]
    value: str | float


class Result(TypedDict):
    """What the results of all protocols have; each has more, by its own schema."""

    protocol: str
    signature: str
    ground_truth: Source
    predictions: Source
    issues: list[Issue]
    costs: NotRequired[Costs]
    by_document: NotRequired[_ByDocument]
    run: NotRequired[Run]
    model: NotRequired[str | None]
    slices: NotRequired[dict[str, dict[str, Any]]]


class Tolerant(TypedDict):
    found: int
    right: int
    precision: Ratio
    recall: Ratio
    f1: Ratio
    groups: list[dict[str, Any]]


class BoxResult(Result):
    labels: list[str]
    documents_only_in: OnlyIn
    tolerant: NotRequired[dict[str, Tolerant]]


class Ties(TypedDict):
    metric: str
    predictions: int
    tied: int
    share: float
    best: float
    worst: float


class Pooled(TypedDict):
    micro: Metrics
    per_class: dict[str, Metrics]


class MeanRatios(TypedDict):
    precision: Ratio
    recall: Ratio
    f1: Ratio
    mean_iou: Ratio
    mean_coverage: Ratio
    mean_purity: Ratio


class DocumentMeans(MeanRatios):
    documents: Counts


class LabelMeans(MeanRatios):
    labels: Counts


class SnapshotThreshold(Pooled):
    macro_documents: DocumentMeans
    macro_labels: LabelMeans
    mistakes: Counts


class SnapshotResult(BoxResult):
    thresholds: dict[str, SnapshotThreshold]
    common_documents: NotRequired[dict[str, Pooled]]


class PodMetrics(Metrics):
    ap: Ratio


class Ignored(TypedDict):
    ground_truth: int
    predictions: int


class PodThreshold(TypedDict):
    per_class: dict[str, PodMetrics]
    map: Ratio
    mean_f1: Ratio
    micro: Metrics
    ignored: Ignored


class PodResult(BoxResult):
    ap: Literal["11-point", "all-point"]
    ties: Ties | None
    thresholds: dict[str, PodThreshold]


class CocoNumbers(TypedDict):
    AP: Ratio
    AP50: Ratio
    AP75: Ratio
    APs: Ratio
    APm: Ratio
    APl: Ratio
    AR1: Ratio
    AR10: Ratio
    AR100: Ratio
    ARs: Ratio
    ARm: Ratio
    ARl: Ratio


class Tide(TypedDict):
    count: int
    delta_ap: Ratio


class CocoResult(BoxResult, CocoNumbers):
    ties: Ties | None
    per_class: dict[str, CocoNumbers]
    error_types: dict[str, Tide] | None


Matrix = list[list[Ratio]]


class PixelMatrices(TypedDict):
    confusion: Matrix
    precision: Matrix
    recall: Matrix
    f1: Matrix


class Collapsed(PixelMatrices):
    classes: list[str]
    per_class: dict[str, Ratios]


class PixelScope(PixelMatrices):
    pixels: int
    per_class: dict[str, Ratios]
    collapsed: Collapsed
    mean: dict[str, Ratios]
    pair_counts: NotRequired[list[list[int]]]


class PixelPage(PixelScope):
    document: str
    page: int


class PixelMean(TypedDict):
    pages: int
    per_class: dict[str, Ratios]
    collapsed: dict[str, Matrix]
    mean: dict[str, Ratios]


class PixelResult(Result):
    classes: list[str]
    same_classes: bool
    notes: list[str]
    page_mean: PixelMean
    dataset: PixelScope
    documents: NotRequired[dict[str, PixelScope]]
    pages: NotRequired[list[PixelPage]]


class FieldNumbers(TypedDict):
    ap: Ratio
    ap_50: Ratio
    ap_75: Ratio
    mean_iou: float
    num_gt: int
    num_detections: int


class FieldConfidence(TypedDict):
    auroc: Ratio
    brier: Ratio
    ece: Ratio
    bins: list[dict[str, Any]]
    review_budget: dict[str, Ratios]
    coverage: Ratios


class FieldsResult(Result):
    mean_ap: Ratio
    map_50: Ratio
    map_75: Ratio
    ties: Ties | None
    iou_thresholds: list[float]
    fields: dict[str, FieldNumbers]
    coverage: Ratios
    confidence: FieldConfidence


class PosterNumbers(TypedDict):
    word_capture: Ratio
    rouge_l: Ratio
    number_capture: Ratio
    field_proportion: Ratio


class Poster(TypedDict):
    poster_id: str
    metrics: PosterNumbers
    passes: bool
    failed: list[str]
    missing_words: list[str]
    extra_words: list[str]
    missing_numbers: list[str]
    extra_numbers: list[str]
    left_out_numbers: list[str]
    rouge_l: dict[str, Any] | None
    fields: dict[str, Any] | None
    error: str | None
    source: str | None


class PosterMeans(PosterNumbers):
    posters: int
    compared: int
    passed: int
    errors: int


class PostersResult(Result):
    profile: str
    posters: list[Poster]
    aggregate: PosterMeans
    documents_only_in: OnlyIn


class ReadingResult(Result):
    """Of reading order, text and tables; the measures have the names of the documentation."""

    dataset: dict[str, Any]
    documents: dict[str, dict[str, Any]]
    pages: list[dict[str, Any]]
    documents_only_in: OnlyIn
    omnidocbench: NotRequired[dict[str, Any]]


class Difference(TypedDict):
    metric: str
    label: str
    a: Ratio
    b: Ratio
    difference: Ratio
    low: Ratio
    high: Ratio
    documents_better: int
    documents_worse: int


class FullDifference(Difference):
    documents: int
    documents_with: int | None
    few_documents: bool
    clear: bool
    undefined_resamples: int
    sentence: str


class Moved(TypedDict):
    metric: str
    label: str
    difference: Ratio
    low: Ratio
    high: Ratio


class Rule(TypedDict):
    metric: str | None
    least: float
    loss: float


class Decision(TypedDict):
    answer: str
    headline: str
    sentence: str
    rule: Rule
    difference: Ratio
    low: Ratio
    high: Ratio
    losses: list[Moved]
    gains: list[Moved]
    not_judged: list[Any]
    documents: int
    documents_needed: int | None
    corrected_boxes_per_100_pages: Ratios | None


class ItemChange(TypedDict):
    document: str
    page: int | None
    place: str | None
    spurious: bool
    outcome: Literal["a_better", "b_better"]
    a: float
    b: float


class ItemLedger(TypedDict):
    item: str
    criterion: str
    rows: dict[str, Counts]
    changed: list[ItemChange]


class Standing(TypedDict):
    model: str
    value: Ratio
    low: Ratio
    high: Ratio
    rank: list[int] | None
    boxes_to_correct_per_100_pages: Ratio
    created_at: str | None
    run_id: str | None
    boxes: bool


class ModelPair(TypedDict):
    row: str
    column: str
    difference: Ratio
    low: Ratio
    high: Ratio
    clear: bool


class Standings(TypedDict):
    metric: str
    label: str
    sentence: str
    documents: int
    level: float
    seed: int
    resamples: int
    models: list[Standing]
    cannot_be_told_apart: list[list[str]]
    pairs: list[ModelPair]


class ComparedModel(TypedDict):
    model: str
    result: Result
    differences: list[FullDifference]


class Comparison(TypedDict):
    protocol: str
    signature: str
    decision: Decision
    summary: str
    a: Result
    b: Result
    iou: float | None
    ledger: dict[str, Counts] | None
    item_ledgers: list[ItemLedger]
    false_positives: Counts | None
    differences: list[FullDifference]
    mistakes: dict[str, Counts] | None
    documents: dict[str, Counts] | None
    pages: list[dict[str, Any]] | None
    labels: dict[str, Any]
    seed: int
    resamples: int
    level: float
    standings: NotRequired[Standings]
    models: NotRequired[list[ComparedModel]]


class GateCondition(TypedDict):
    condition: str
    metric: str
    label: str
    failed: bool
    value: Ratio
    baseline: Ratio
    limit: Ratio
    difference: Ratio
    low: Ratio
    high: Ratio
    documents: int | None
    reason: str


class Gate(TypedDict):
    passed: bool
    signature: str
    conditions: list[GateCondition]
    result: Result
    baseline: Result | None
    seed: int
    resamples: int


class Slice(TypedDict):
    conditions: list[Condition]
    measure: str
    value: Ratio
    rest: Ratio
    difference: Ratio
    boxes: int
    documents: int
    lost: Ratio
    p: Ratio
    confirmed: bool
    sentence: str
    a: NotRequired[Ratio]
    b: NotRequired[Ratio]
    also: NotRequired[list[str]]


class PlannedPage(TypedDict):
    document: str
    page: int
    boxes: int
    expected_errors: float


class ReviewPlan(TypedDict):
    margin: float
    level: float
    pages: int
    of: int
    models: list[dict[str, Any]]
    queue: list[PlannedPage]


class Finding(TypedDict):
    event: str
    target: str
    kind: Kind
    document: str | None
    page_index: int | None
    label: str | None
    mistake: str | None
    verdict: Verdict | None
    note: str
    tags: list[str]
    author: str
    verified: bool
    time: str
    source: str
    snapshot: Target
    owner: str
    due: str
    status: str


class Findings(TypedDict):
    format: Literal["layoutscope findings 1"]
    events: list[Finding]


class PackModel(TypedDict):
    model: str
    signature: str
    labels: list[dict[str, Any]]


class PackChapter(TypedDict):
    protocol: str
    signature: str
    decision: Decision | None
    differences: list[Difference]


class PackResults(TypedDict):
    """``results.json`` of a review pack that is a folder or an archive."""

    title: str
    signature: str
    models: list[PackModel]
    decision: Decision | None
    since: dict[str, Any] | None
    differences: list[Difference]
    decisions: list[dict[str, Any]]
    ledger: dict[str, Counts] | None
    marked: list[dict[str, Any]]
    slices: list[dict[str, Any]]
    chapters: list[PackChapter]


class Manifest(TypedDict):
    """The manifest of a side of a corpus, after the line with its checksum; the arrays are files of their own."""

    key: str
    columns: dict[str, Kept]
    id_texts: list[str] | None
    sized: bool
    source: dict[str, Any]


# By the name of the schema: its version, what is written so, and its type.
WRITTEN: dict[str, tuple[int, str, Any]] = {
    "result-snapshot": (1, "A result of layoutscope evaluate snapshot --json", SnapshotResult),
    "result-pixel": (1, "A result of layoutscope evaluate pixel --json", PixelResult),
    "result-pod": (1, "A result of layoutscope evaluate pod --json", PodResult),
    "result-coco": (1, "A result of layoutscope evaluate coco --json", CocoResult),
    "result-fields": (1, "A result of layoutscope evaluate fields --json", FieldsResult),
    "result-posters": (1, "A result of layoutscope evaluate posters --json", PostersResult),
    "result-reading": (1, "A result of layoutscope evaluate order, text or tables --json", ReadingResult),
    "comparison": (1, "The output of layoutscope compare --json", Comparison),
    "gate": (1, "The output of layoutscope gate --json", Gate),
    "slices": (1, "The output of layoutscope slices --json", list[Slice]),
    "named-slices": (1, "A file of named slices, layoutscope-slices.json", dict[str, list[Condition]]),
    "suspects": (1, "The output of layoutscope suspects --json", list[Suspect]),
    "review-plan": (1, "The output of layoutscope suspects --plan --json", ReviewPlan),
    "findings": (1, "Findings as layoutscope findings export --format json writes them", Findings),
    "project": (1, "A project file, layoutscope.toml", _Project),
    "pack-record": (2, "The record in the HTML file of a review pack", PackRecord),
    "pack-results": (1, "results.json of a review pack", PackResults),
    "part-job": (1, "job.json of an evaluation in parts", Job),
    "corpus": (1, "The list of a corpus, layoutscope-corpus.json", _List),
    "corpus-manifest": (1, "The manifest of a side of a corpus", Manifest),
}


def schema(name: str) -> dict[str, Any]:
    """The JSON schema of what is written under a name."""
    version, title, kind = WRITTEN[name]
    made = msgspec.json.schema(kind)
    return {"$schema": DRAFT, "$id": f"urn:layoutscope:{name}:{version}", "title": title, **made}


def text(name: str) -> str:
    """The content of the file of a schema."""
    return msgspec.json.format(msgspec.json.encode(schema(name)), indent=2).decode() + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in FOLDER.glob("*.json"):
        each.unlink()
    for each in WRITTEN:
        (FOLDER / f"{each}.schema.json").write_text(text(each), encoding="utf-8")
