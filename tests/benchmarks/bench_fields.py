"""Extracted fields: mAP, coverage and confidence metrics against stickler-eval, interleaved in one process.

    python -m tests.benchmarks.bench_fields [--documents N] [--peer-documents N] [--smoke] [--json]

The corpus is made here, from a fixed seed: invoices of six fields, a nested vendor and a table of up to thirty line
items in shuffled order, with boxes and confidences. Ours is timed from the bytes of two files of JSON lines to every
number and row, with the schema; the peer from parsed JSON to its two accumulators, on fewer documents. Under
``parity="stickler"`` both must say the same to 1e-12. Times are CPU seconds, the best of the turns. Without the peer
(``uv pip install stickler-eval==1.0.0``) only ours is timed, and a line says so.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from evaluator.data.fields import Rule, Schema, schema_of
from evaluator.formats.base import Reading
from evaluator.formats.fields import FORMAT
from evaluator.protocols.fields.evaluation import FieldsResult, evaluate

Documents = list[dict[str, Any]]

ROUNDS = 3
# Thousands of documents a minute is what the product promises; one CPU, both files read.
BAR_PER_MINUTE = 5_000
WORDS = (
    "bolt",
    "nut",
    "washer",
    "bracket",
    "hinge",
    "cable",
    "sensor",
    "valve",
    "gasket",
    "bearing",
    "housing",
    "panel",
)
TEXT = ("vendor_name", "invoice_number", "currency", "note")
NUMBERS = ("total_amount", "tax_amount")
ITEM = {"description": "text", "code": "text", "quantity": "number", "amount": "number"}


def make_corpus(documents: int, *, items: int, seed: int = 20261121) -> Documents:
    """Documents with both sides, ``{"doc_id", "ground_truth", "prediction"}``; the same for the same seed."""
    dice = random.Random(seed)
    return [one_document(dice, f"doc-{index:06d}", items) for index in range(documents)]


def one_document(dice: random.Random, doc_id: str, items: int) -> dict[str, Any]:
    """An invoice, and what a model with some faults makes of it."""
    truth: dict[str, Any] = {name: rich(dice, f"{name} {dice.randrange(10**6)}") for name in TEXT}
    truth |= {name: rich(dice, round(dice.random() * 1000, 2)) for name in NUMBERS}
    truth["vendor"] = {"street": rich(dice, f"street {dice.randrange(999)}"), "city": rich(dice, dice.choice(WORDS))}
    truth["items"] = [
        {
            "description": rich(dice, " ".join(dice.sample(WORDS, 3))),
            "code": rich(dice, f"{row:02d}-{dice.randrange(10**8):08d}"),
            "quantity": rich(dice, float(dice.randrange(1, 50))),
            "amount": rich(dice, round(dice.random() * 500, 2)),
        }
        for row in range(dice.randrange(1, items + 1))
    ]
    predicted = guess(dice, truth)
    dice.shuffle(predicted["items"])
    return {"doc_id": doc_id, "ground_truth": truth, "prediction": predicted}


def rich(dice: random.Random, value: object) -> dict[str, Any]:
    """A value with a box on a grid."""
    x, y = dice.randrange(60) * 10, dice.randrange(80) * 10
    return {"_value": value, "_bbox": [x, y, x + dice.randrange(40, 120), y + dice.randrange(10, 30)]}


def guess(dice: random.Random, tree: Any) -> Any:
    """A tree as a model would extract it: values changed, boxes moved, some fields gone, confidences added."""
    if isinstance(tree, list):
        return [guess(dice, item) for item in tree if dice.random() < 0.97]
    if "_value" not in tree:
        kept = {name: inner for name, inner in tree.items() if "_value" not in inner or dice.random() < 0.97}
        return {name: guess(dice, inner) for name, inner in kept.items()}
    x1, y1, x2, y2 = tree["_bbox"]
    shift = dice.choice([0, 0, 1, 2, 5])
    value = tree["_value"]
    if dice.random() < 0.1:
        value = f"{value[:-1]}x" if isinstance(value, str) else value + 1
    box = [x1 + shift, y1, x2 + shift, y2 + dice.choice([0, 1, 3])]
    return {"_value": value, "_bbox": box, "_confidence": round(dice.random(), 4)}


def schema() -> Schema:
    """How the values are compared, on our side."""
    rules = {name: Rule("text", 0.8) for name in (*TEXT, "vendor.street", "vendor.city")}
    rules |= {name: Rule("number", 0.95) for name in NUMBERS}
    rules |= {f"items[].{name}": Rule(comparator, 0.8) for name, comparator in ITEM.items()}  # type: ignore[arg-type]
    return schema_of(rules, {"items": 0.7})


def as_lines(documents: Documents, key: str) -> bytes:
    """One side as JSON lines."""
    return "\n".join(json.dumps({"doc_id": row["doc_id"], "fields": row[key]}) for row in documents).encode()


def ours(truth: bytes, predicted: bytes, rules: Schema, parity: Any) -> FieldsResult:
    """From bytes to every number and row."""
    sides = (
        FORMAT.read(truth, "gt.jsonl", Reading(side="ground_truth")),
        FORMAT.read(predicted, "pred.jsonl", Reading(side="prediction")),
    )
    result = evaluate(*sides, schema=rules, parity=parity)
    result.to_json()
    result.status(0.5)
    return result


def peer_model() -> Any:
    """The same schema on the peer's side; None when it is not installed."""
    try:
        from stickler import StructuredModel  # type: ignore[import-not-found]
    except ImportError:
        return None

    def field(comparator: str, threshold: float) -> dict[str, Any]:
        kind, name = ("str", "LevenshteinComparator") if comparator == "text" else ("float", "NumericComparator")
        return {"type": kind, "comparator": name, "threshold": threshold, "required": False, "default": None}

    vendor = {"street": field("text", 0.8), "city": field("text", 0.8)}
    rows = {name: field(comparator, 0.8) for name, comparator in ITEM.items()}
    fields = {name: field("text", 0.8) for name in TEXT} | {name: field("number", 0.95) for name in NUMBERS}
    fields["vendor"] = {"type": "structured_model", "fields": vendor, "required": False}
    fields["items"] = {"type": "list_structured_model", "match_threshold": 0.7, "fields": rows, "required": False}
    return StructuredModel.model_from_json({"model_name": "Invoice", "match_threshold": 0.7, "fields": fields})


def peer(model: Any, documents: Documents) -> dict[str, Any]:
    """The peer's two accumulators over parsed documents."""
    from stickler.structured_object_evaluator.bulk_structured_model_evaluator import (  # type: ignore[import-not-found]
        BulkStructuredModelEvaluator,
    )
    from stickler.structured_object_evaluator.models.bbox import BBoxMAPAccumulator  # type: ignore[import-not-found]
    from stickler.structured_object_evaluator.models.confidence.accumulator import (  # type: ignore[import-not-found]
        ConfidenceAccumulator,
    )

    evaluator = BulkStructuredModelEvaluator(accumulators=[ConfidenceAccumulator(), BBoxMAPAccumulator()])
    for row in documents:
        evaluator.update(model.from_json(row["ground_truth"]), model.from_json(row["prediction"]), doc_id=row["doc_id"])
    metrics: dict[str, Any] = evaluator.compute().accumulator_metrics
    return metrics


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of one call, and what it returned."""
    gc.collect()
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer


def same(ours: Any, expected: Any) -> bool:
    """Equal in structure, numbers to 1e-12."""
    if isinstance(expected, dict):
        return ours.keys() == expected.keys() and all(same(ours[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(ours) == len(expected) and all(map(same, ours, expected))
    if expected is None or ours is None:
        return ours is expected
    return abs(ours - expected) <= 1e-12


def duel(documents: int, peer_documents: int, items: int) -> dict[str, Any]:
    """Both in turns; the peer's share of the corpus is also where the numbers are compared."""
    corpus = make_corpus(documents, items=items)
    part = corpus[:peer_documents]
    rules, model = schema(), peer_model()
    lines = as_lines(corpus, "ground_truth"), as_lines(corpus, "prediction")
    part_lines = as_lines(part, "ground_truth"), as_lines(part, "prediction")
    whole, small, theirs, metrics = [], [], [], {}
    for _ in range(ROUNDS):
        whole.append(timed(lambda: ours(*lines, rules, "none"))[0])
        seconds, result = timed(lambda: ours(*part_lines, rules, "stickler"))
        small.append(seconds)
        if model is not None and len(theirs) < ROUNDS:
            seconds, metrics = timed(lambda: peer(model, part))
            theirs.append(seconds)
    written = result.to_json()
    equal = bool(metrics) and same(
        {key: written[key] for key in metrics["bbox_map_metrics"]}, metrics["bbox_map_metrics"]
    )
    if metrics:
        equal = equal and same(
            written["confidence"]["auroc"], metrics["confidence_metrics"]["overall"]["auroc"]["value"]
        )
    return {
        "documents": documents,
        "fields": len(result.compared) * documents // max(peer_documents, 1),
        "seconds": min(whole),
        "documents_per_minute": 60 * documents / min(whole),
        "bar": BAR_PER_MINUTE,
        "peer": "stickler-eval" if metrics else None,
        "peer_documents": peer_documents,
        "peer_seconds": min(theirs, default=None),
        "our_seconds_there": min(small),
        "ratio": min(theirs) / min(small) if theirs else None,
        "equal": equal,
    }


def main() -> None:
    """Run the benchmark and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=2_000)
    parser.add_argument("--peer-documents", type=int, default=40)
    parser.add_argument("--items", type=int, default=30)
    parser.add_argument(
        "--smoke", action="store_true", help="small corpus: only that it runs and the numbers are equal"
    )
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.smoke:
        chosen.documents, chosen.peer_documents, chosen.items = 30, 5, 4
    # The peer warns about its own deprecations.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figures = duel(chosen.documents, chosen.peer_documents, chosen.items)
    if figures["peer"] and not figures["equal"]:
        raise SystemExit("the numbers differ from those of stickler-eval")
    if chosen.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"{figures['documents']:,} documents, about {figures['fields']:,} compared fields, both files read")
    print(f"  layoutscope   {figures['seconds']:8.2f} s CPU: {figures['documents_per_minute']:,.0f} documents a "
          f"minute; bar {figures['bar']:,}")  # fmt: skip
    if not figures["peer"]:
        print("  stickler-eval is not installed; nothing to compare with", file=sys.stderr)
        return
    print(f"  on {figures['peer_documents']} of them, numbers equal: stickler-eval {figures['peer_seconds']:.2f} s, "
          f"layoutscope {figures['our_seconds_there']:.3f} s, ratio {figures['ratio']:.0f}")  # fmt: skip


if __name__ == "__main__":
    main()
