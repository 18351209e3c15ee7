"""Extracted fields: mAP, coverage and confidence metrics against stickler-eval, interleaved in one process.

    python -m tests.benchmarks.bench_fields [--documents N] [--peer-documents N] [--smoke] [--json]

The corpus is made here, from a fixed seed: invoices of six fields, a nested vendor and a table of up to thirty line
items in shuffled order, with boxes and confidences. Ours is timed from the bytes of two files of JSON lines to every
number and row, with the schema; the peer from parsed JSON to its two accumulators, on fewer documents. Under
``parity="stickler"`` both must say the same to 1e-12. Times are CPU seconds, the least of the turns.
"""

import json
import random
import warnings
from typing import Any

from evaluator.data.fields import Rule, Schema, schema_of
from evaluator.formats.base import Reading
from evaluator.formats.fields import FORMAT
from evaluator.protocols.fields.evaluation import FieldsResult, evaluate
from tests.benchmarks.measuring import OURS, against, in_turns, installed, parsed, parser_of, tell

Documents = list[dict[str, Any]]

ROUNDS = 3
# Thousands of documents a minute is what the product promises; one CPU, both files read.
BAR_PER_MINUTE = 5_000
WORDS = ("bolt", "nut", "washer", "bracket", "hinge", "cable", "sensor", "valve", "gasket", "bearing", "housing",
         "panel")  # fmt: skip
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
    """The same schema on the peer's side."""
    from stickler import StructuredModel  # type: ignore[import-not-found]

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
    """What the peer's two accumulators say of parsed documents, in our words."""
    from stickler.structured_object_evaluator import bulk_structured_model_evaluator as bulk
    from stickler.structured_object_evaluator.models.bbox import BBoxMAPAccumulator
    from stickler.structured_object_evaluator.models.confidence.accumulator import ConfidenceAccumulator

    evaluator = bulk.BulkStructuredModelEvaluator(accumulators=[ConfidenceAccumulator(), BBoxMAPAccumulator()])
    for row in documents:
        evaluator.update(model.from_json(row["ground_truth"]), model.from_json(row["prediction"]), doc_id=row["doc_id"])
    metrics = evaluator.compute().accumulator_metrics
    auroc = metrics["confidence_metrics"]["overall"]["auroc"]["value"]
    return {**metrics["bbox_map_metrics"], "confidence": {"auroc": auroc}}


def agrees(theirs: Any, result: FieldsResult) -> bool:
    """Whether ours says what the peer says; a later turn of ours says what the first did."""
    if isinstance(theirs, FieldsResult):
        return True
    written = result.to_json()
    own = {name: written[name] for name in theirs}
    return same(theirs, {**own, "confidence": {"auroc": own["confidence"]["auroc"]}})


def same(expected: Any, ours: Any) -> bool:
    """Equal in structure, numbers to 1e-12."""
    if isinstance(expected, dict):
        return ours.keys() == expected.keys() and all(same(expected[key], ours[key]) for key in expected)
    if isinstance(expected, list):
        return len(ours) == len(expected) and all(map(same, expected, ours))
    if expected is None or ours is None:
        return ours is expected
    return bool(abs(ours - expected) <= 1e-12)


def duel(documents: int, peer_documents: int, items: int) -> dict[str, Any]:
    """Both in turns; the peer's share of the corpus is also where the numbers are compared."""
    corpus, rules = make_corpus(documents, items=items), schema()
    part = corpus[:peer_documents]
    sides = [[as_lines(rows, side) for side in ("ground_truth", "prediction")] for rows in (corpus, part)]
    whole = in_turns({"whole": lambda: ours(*sides[0], rules, "none")}, ROUNDS)["whole"]
    works = {OURS: lambda: ours(*sides[1], rules, "stickler")}
    if installed("stickler"):
        model = peer_model()
        works["stickler-eval"] = lambda: peer(model, part)
    seconds = in_turns(works, ROUNDS, same=agrees)
    rate = 60 * documents / whole["cpu"]
    report = {"documents": documents, "whole": whole, "documents_per_minute": rate, "bar": BAR_PER_MINUTE}
    report |= {"peer_documents": peer_documents, "seconds": seconds}
    return report | (against(seconds, "stickler-eval") if len(works) > 1 else {})


def main() -> None:
    """Run the benchmark and print it."""
    parser = parser_of(__doc__, documents=2_000, peer_documents=40, items=30)
    given = parsed(parser, documents=30, peer_documents=5, items=4)
    # The peer warns about its own deprecations.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tell(duel(given.documents, given.peer_documents, given.items), as_json=given.json)


if __name__ == "__main__":
    main()
