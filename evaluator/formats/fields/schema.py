"""Schemas of extracted fields: how the values of each field are compared, from a JSON file."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from evaluator.data.fields import Comparator, Rule, Schema, schema_of
from evaluator.data.issues import Collector, quote
from evaluator.formats import folder, json_text, limits
from evaluator.formats.json_text import excerpt, step


def read_schema(path: str | Path) -> Schema:
    """Return the rules for comparing values, from a JSON file.

    ``{"total": {"comparator": "number", "threshold": 0.95}, "LineItems": {"match_threshold": 0.7}, "LineItems[].Desc":
    ...}``. Raises `BadInput` with all issues: unknown keys, a comparator that is not text, exact, number or date, a
    threshold outside [0, 1], an empty path.
    """
    path = Path(path)
    return schema_from(folder.load(path, limits.MAX_FILE_BYTES), path.name)


def schema_from(content: bytes, name: str) -> Schema:
    """Return the rules for comparing values, from the bytes of a file; as `read_schema`."""
    source = json_text.open_source(content, name)
    collector = Collector(name, max_per_rule=None)
    tree = json_text.parse_checked(source, collector)
    rules: dict[str, Rule] = {}
    thresholds: dict[str, float] = {}
    if not isinstance(tree, dict):
        rule = "a schema must be an object of rules by field path (fields, schema)"
        collector.error("$", rule, excerpt(tree), 'Write {"total": {"comparator": "number", "threshold": 1}}.')
    for key, entry in tree.items() if isinstance(tree, dict) else ():
        _check_rule(key, entry, collector, rules, thresholds)
    collector.raise_if_failed()
    return schema_of(rules, thresholds, name=name, sha256=source.sha256)


def _check_rule(
    path: str, entry: object, collector: Collector, rules: dict[str, Rule], thresholds: dict[str, float]
) -> None:
    place = step("$", path)
    if not path.strip("."):
        collector.error(place, "a rule must name a field (fields, schema)", quote(path), "Write the path of the field.")
    if not isinstance(entry, dict):
        rule = "a rule must be an object (fields, schema)"
        collector.error(place, rule, excerpt(entry), 'Write {"comparator": "text", "threshold": 0.8}.')
        return
    known = {"comparator", "threshold", "match_threshold"}
    for key in (key for key in entry if key not in known):
        rule = "a rule may have comparator, threshold and match_threshold (fields, schema)"
        collector.error(step(place, key), rule, quote(key), "Remove or rename it.")
    if not entry.keys() & {"comparator", "match_threshold"}:
        rule = "a rule must have comparator or match_threshold (fields, schema)"
        collector.error(place, rule, quote(list(entry)), "Name a comparator.")
    if "match_threshold" in entry:
        thresholds[path] = _share(entry["match_threshold"], f"{place}.match_threshold", collector)
    if "comparator" in entry:
        comparator = entry["comparator"]
        if comparator not in get_args(Comparator):
            rule = f"comparator must be one of {', '.join(get_args(Comparator))} (fields, schema)"
            collector.error(f"{place}.comparator", rule, excerpt(comparator), "Choose one of them.")
            return
        default = 0.8 if comparator == "text" else 1.0
        rules[path] = Rule(comparator, _share(entry.get("threshold", default), f"{place}.threshold", collector))


def _share(value: object, place: str, collector: Collector) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value <= 1.0:
        return float(value)
    collector.error(place, "a threshold must be a number in [0, 1] (fields, schema)", excerpt(value), "Correct it.")
    return 0.0
