"""Poster text validation: the published table to the last digit, the documented text by hand, and what must hold."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.formats.base import Reading
from evaluator.formats.posters import FORMAT, read_poster
from evaluator.metrics import export
from evaluator.protocols.posters.comparison import FieldCount, PosterComparison
from evaluator.protocols.posters.difference import columns_of
from evaluator.protocols.posters.evaluation import CRITERIA, PostersResult, evaluate, failed
from evaluator.protocols.posters.profiles import PROFILES, STOP_WORDS
from tests.building import posters
from tests.reading import SHARED, needs_shared, refusal_issues

ORACLES = Path(SHARED, "oracles", "poster")
# Named here, not listed: the shared folder is looked at when a test runs, never while tests are collected.
CASES = ["10890106", "15963941", "16083265", "17268692", "4737132", "5128504", "6724771", "8228476", "8228568"]
close = {"rel": 0.0, "abs": 1e-9}


def compare(reference: Any, generated: Any, profile: Any = "documented") -> PostersResult:
    return evaluate(posters({"a": reference}, "gold"), posters({"a": generated}, "run"), profile=profile)


def detail(reference: Any, generated: Any, profile: Any = "documented") -> PosterComparison:
    return compare(reference, generated, profile).posters[0].comparison


def oracle(name: str) -> dict[str, Any]:
    return json.loads((ORACLES / f"{name}.json").read_text(encoding="utf-8"))


def unit_rows(key: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = oracle("_units")[key]
    assert rows
    return rows


def real_posters(profile: Any) -> PostersResult:
    folder = Path(SHARED, "real", "posters")
    sides = (FORMAT.read_path(folder, Reading(side=side)) for side in ("ground_truth", "prediction"))
    return evaluate(*sides, profile=profile)


@needs_shared
def test_every_poster_of_the_oracle_is_tested() -> None:
    assert sorted(path.stem for path in ORACLES.glob("[0-9]*.json")) == CASES


@needs_shared
@pytest.mark.parametrize("poster_id", CASES)
def test_every_number_of_the_reference_program(poster_id: str) -> None:
    case = oracle(poster_id)
    expected, inside = case["expected"], case["intermediates"]
    result = compare(case["reference"], case["generated"], "published")
    poster = result.posters[0]
    comparison = poster.comparison
    assert result.results_json()["results"][0]["metrics"] == pytest.approx(expected["metrics"], **close)
    assert poster.passes == expected["passes"]
    assert {key: round(poster.metrics[key], 2) for key in CRITERIA} == expected["rounded"]  # type: ignore[literal-required]
    words, figures = comparison.words, comparison.numbers
    assert (len(words.reference), len(words.generated)) == (inside["n_ref_words"], inside["n_gen_words"])
    assert [[*words.missing], [*words.extra]] == [inside["missing_words"], inside["extra_words"]]
    assert sorted(figures.reference) == inside["ref_numbers_kept"]
    assert [[*figures.left_out], [*figures.missing]] == [inside["ref_numbers_dropped"], inside["missing_numbers"]]
    reference, generated = (comparison.profile.tokens(normal) for normal in comparison.texts)
    whole = inside["global_rouge"]
    assert (len(reference), len(generated)) == (whole["ref_tokens"], whole["gen_tokens"])
    assert comparison.global_f1 == pytest.approx(whole["f"], **close)
    assert comparison.sections.mean == pytest.approx(inside["section_mean"], **close)
    sections = comparison.sections
    assert sections.best.tolist() == [section["best_gen_index"] for section in inside["sections"]]
    assert sections.best_f1.tolist() == pytest.approx([section["f"] for section in inside["sections"]], **close)
    assert comparison.rouge_winner == ("global" if whole["f"] >= inside["section_mean"] else "sections")


@needs_shared
def test_the_published_spelling_and_its_words() -> None:
    for row in unit_rows("normalize"):
        profile = PROFILES["published"]
        assert profile.normalised(profile.section_text(row["in"]) or "") == row["out"]
        if "words" in row:
            assert sorted(profile.words(profile.normalised(row["in"]))) == row["words"]


@needs_shared
def test_the_published_numbers() -> None:
    for row in unit_rows("numbers"):
        kept, left_out = PROFILES["published"].numbers(PROFILES["published"].normalised(row["in"]))
        assert sorted(kept) == row["kept"]
        assert sorted(kept | left_out) == row["all"]
        for generated, expected in (({}, "capture_vs_empty"), ({"a": row["in"]}, "capture_vs_self")):
            assert detail({"a": row["in"]}, generated, "published").metrics["number_capture"] == row[expected]


@needs_shared
def test_small_published_posters() -> None:
    for row in unit_rows("documents"):
        result = compare(row["reference"], row["generated"], "published").results_json()["results"][0]
        assert result["metrics"] == pytest.approx(row["metrics"], **close)
        assert result["passes"] == row["passes"]
        assert result["error"] == ("error" in row["generated"])


@needs_shared
def test_the_pass_rule_looks_at_unrounded_values() -> None:
    for row in unit_rows("pass_rule"):
        assert (not failed(row["metrics"])) == row["passes"]


@needs_shared
def test_the_printed_table_from_the_real_files() -> None:
    printed = {}
    for line in (Path(SHARED) / "seeds" / "poster-validation.md").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| \w+ \| ✅ \|", line):
            printed[match[1]] = match.groups()[1:]
    result = real_posters("published")
    # Poster 42 is not among the files; its row is in the oracles only.
    assert sorted(printed) == sorted([*(poster.poster_id for poster in result.posters), "42"])
    for poster in result.posters:
        assert tuple(f"{value:.2f}" for value in poster.metrics.values()) == printed[poster.poster_id]
        assert poster.passes
    expected = oracle("_results")
    theirs = {row["poster_id"]: row for row in expected["results_json"]}
    sources = {poster_id: row["source"] for poster_id, row in theirs.items()}
    ours = result.results_json(sources)["results"]
    assert ours == [
        {**theirs[row["poster_id"]], "metrics": pytest.approx(theirs[row["poster_id"]]["metrics"], **close)}
        for row in ours
    ]
    for criterion in CRITERIA:
        values = [*result.column(criterion).tolist(), theirs["42"]["metrics"][criterion]]
        assert np.mean(values) == pytest.approx(expected["aggregate"][criterion], **close)
        assert result.aggregate[criterion] == pytest.approx(np.mean(values[:-1]), **close)  # type: ignore[literal-required]


@needs_shared
def test_the_documented_profile_on_the_real_files() -> None:
    documented, published = real_posters("documented"), real_posters("published")
    assert all(poster.passes for poster in documented.posters)
    # What differs is words and numbers; the whole texts compare almost alike, and fields exactly so.
    assert documented.column("field_proportion").tolist() == published.column("field_proportion").tolist()
    assert np.abs(documented.column("rouge_l") - published.column("rouge_l")).max() < 0.01
    assert documented.column("word_capture").tolist() != published.column("word_capture").tolist()


def test_words_without_stop_words_split_at_punctuation() -> None:
    details = detail({"a": "The bees, and the well-known “Apis mellifera”"}, {"a": 'bees "apis" and known: the Wasps'})
    assert details.words.reference == {"bees", "well", "known", "apis", "mellifera"}
    assert details.words.missing == ("mellifera", "well")
    assert details.words.extra == ("wasps",)
    assert details.metrics["word_capture"] == 3 / 5


def test_the_profiles_differ_where_the_table_of_the_specification_says() -> None:
    reference, generated = {"a": "Smith, J., and Doe"}, {"a": "Smith J. and Doe"}
    assert detail(reference, generated).metrics["word_capture"] == 1.0
    published = detail(reference, generated, "published")
    assert published.words.missing == ("smithjand",)
    assert published.metrics["word_capture"] == 1 / 2


@pytest.mark.parametrize(
    ("written", "kept", "left_out"),
    [
        ("n = 5. and 12.5 of 100000", {"5", "12.5", "100000"}, ()),
        ("https://doi.org/10.5281/zenodo.10890106 and 7", {"7"}, ("10.5281", "10890106")),
        ("10.5281/zenodo.42 with 42 bees", {"42"}, ("10.5281",)),
        ("Smith (2016), in 1899 and 2100, 12.2021", {"1899", "2100", "12.2021"}, ("2016",)),
        ("02016 and 20160", {"02016", "20160"}, ()),
        ("none", set(), ()),
    ],
)
def test_numbers_without_dois_and_years(written: str, kept: set[str], left_out: tuple[str, ...]) -> None:
    numbers = detail({"a": written}, {"a": written}).numbers
    assert numbers.reference == kept
    assert numbers.left_out == left_out


def test_number_capture_counts_different_numbers_once() -> None:
    details = detail({"a": "3 bees, 3 wasps, 4.0 and 7"}, {"a": "3 and 4 and 8"})
    assert (details.numbers.missing, details.numbers.extra) == (("4.0", "7"), ("4", "8"))
    assert details.metrics["number_capture"] == 1 / 3
    assert detail({"a": "none"}, {"a": "9"}).metrics["number_capture"] == 1.0


def sections(*contents: str) -> dict[str, Any]:
    return {"posterContent": {"sections": [{"sectionTitle": "T", "sectionContent": text} for text in contents]}}


@pytest.mark.parametrize(
    ("reference", "generated", "f1", "best", "whole"),
    [
        # Pairs: 2 of 3 + 3 words, nothing, nothing, 2 of 2 + 2 words. Of the whole text T, alpha and beta, of 7 + 7.
        (("alpha beta gamma", "delta epsilon"), ("delta epsilon", "alpha beta zeta"),
         [[0.0, 2 / 3], [1.0, 0.0]], [1, 0], 2 * 3 / 14),
        (("alpha beta", "gamma delta"), ("alpha beta gamma delta",), [[4 / 6], [4 / 6]], [0, 0], 2 * 5 / 11),
        (("alpha", "beta"), ("beta",), [[0.0], [1.0]], [-1, 0], 4 / 6),
        (("alpha beta",), (), [[]], [-1], 1.0),
    ],
)  # fmt: skip
def test_sections_win_over_the_whole_text_when_they_fit_better(
    reference: tuple[str, ...], generated: tuple[str, ...], f1: list[list[float]], best: list[int], whole: float
) -> None:
    details = detail(sections(*reference), sections(*generated) if generated else {"a": "T alpha beta"})
    mean = np.mean([max(row, default=0.0) for row in f1])
    assert (details.sections.f1.tolist(), details.sections.best.tolist(), details.global_f1) == (f1, best, whole)
    assert details.sections.mean == pytest.approx(mean)
    assert details.metrics["rouge_l"] == max(details.sections.mean, whole)
    assert details.rouge_winner == ("global" if whole >= mean else "sections")


def test_fields_are_counted_by_path_and_empty_ones_not_at_all() -> None:
    reference = {"titles": [{"title": "A"}, {"title": "B"}], "n": 0, "empty": [], "x y": True}
    generated = {"titles": [{"title": "A", "lang": "en"}], "extra": {"deep": {"er": 1}}}
    details = detail(reference, generated)
    assert {field.path: (field.reference, field.generated) for field in details.fields} == {
        "$.extra": (0, 1), "$.extra.deep": (0, 1), "$.extra.deep.er": (0, 1), "$.titles": (1, 1),
        "$.titles[*].lang": (0, 1), "$.titles[*].title": (2, 1), '$["x y"]': (1, 0),
    }  # fmt: skip
    assert [field.path for field in details.only_in_reference] == ['$["x y"]']
    extra = ["$.extra", "$.extra.deep", "$.extra.deep.er", "$.titles[*].lang"]
    assert [field.path for field in details.only_in_generated] == extra
    assert details.metrics["field_proportion"] == 6 / 4


def test_an_empty_reference_leaves_words_and_fields_undefined() -> None:
    for generated in ({}, {"a": "x"}):
        poster = compare({}, generated).posters[0]
        assert poster.metrics == {
            "word_capture": None, "rouge_l": 0.0, "number_capture": 1.0, "field_proportion": None,
        }  # fmt: skip
        assert poster.failed == ("word_capture", "rouge_l", "field_proportion")
        assert not poster.passes


@pytest.mark.parametrize("script", ["Пчёлы и мёд 7", "ミツバチの巣", "नमस्ते दुनिया", "مرحبا بالعالم"])
def test_a_poster_in_any_script_equals_itself(script: str) -> None:
    assert set(detail({"a": script}, {"a": script}).metrics.values()) == {1.0}


def two_and_a_half() -> PostersResult:
    """One poster that passes, one that fails, one that only the ground truth has and one broken prediction."""
    gold = {"a": {"t": "one bee 7"}, "b": {"t": "one bee", "u": "two"}, "c": {"t": "x"}, "d": {"t": "y"}}
    run = {"a": {"t": "one bee 7"}, "b": {"t": "wasp", "error": "cut"}, "e": {"t": "z"}}
    broken = tuple(refusal_issues(read_poster, b"[", "d.json", "d"))
    return evaluate(posters(gold, "gold"), replace(posters(run, "run"), broken={"d": broken}, issues=broken))


def test_a_poster_without_its_other_side_is_an_error_and_the_others_count() -> None:
    result = two_and_a_half()
    broken = (
        "d.json: line 1, column 2: the text must be well-formed JSON (RFC 8259); found the end of the text. "
        "The file is cut off; copy or export it again."
    )
    assert {poster.poster_id: (poster.passes, poster.error) for poster in result.posters} == {
        "a": (True, None), "b": (False, None), "c": (False, "run has no such poster."), "d": (False, broken),
        "e": (False, "gold has no such poster."),
    }  # fmt: skip
    assert [issue.sentence for issue in result.issues if issue.severity == "warning"] == [
        'gold: every poster needs a ground truth; without one it is not evaluated; found none for 1: "e". '
        "Add the files, or read the means as those of the other posters.",
        'run: every poster needs a prediction; without one it is not evaluated; found none for 1: "c". '
        "Add the files, or read the means as those of the other posters.",
    ]
    assert np.isnan(result.column("rouge_l")).tolist() == [False, False, True, True, True]
    assert result.aggregate["word_capture"] == 0.5


def test_the_json_has_the_keys_of_the_contract() -> None:
    value = two_and_a_half().to_json()
    assert json.loads(export.to_json(value))["aggregate"] == value["aggregate"]
    assert {"protocol", "signature", "ground_truth", "predictions", "issues", "profile", "posters"} <= value.keys()
    assert value["ground_truth"] == {"name": "gold", "sha256": "0" * 64}
    assert value["documents_only_in"] == {"ground_truth": ["c"], "predictions": ["e"]}
    assert value["aggregate"] == {
        "word_capture": 0.5, "rouge_l": 0.5, "number_capture": 1.0, "field_proportion": 1.0,
        "posters": 5, "compared": 2, "passed": 1, "errors": 3,
    }  # fmt: skip
    assert value["posters"][1] == {
        "poster_id": "b",
        "metrics": {"word_capture": 0.0, "rouge_l": 0.0, "number_capture": 1.0, "field_proportion": 1.0},
        "passes": False,
        "failed": ["word_capture", "rouge_l"],
        "missing_words": ["bee", "one", "two"],
        "extra_words": ["cut", "wasp"],
        "missing_numbers": [],
        "extra_numbers": [],
        "left_out_numbers": [],
        "rouge_l": {"global": 0.0, "sections": 0.0, "won": "global", "best_sections": []},
        "fields": {
            "reference": 2, "generated": 2, "only_in_reference": {"$.u": 1}, "only_in_generated": {"$.error": 1}
        },
        "error": None, "source": None,
    }  # fmt: skip
    assert value["posters"][2]["metrics"] == dict.fromkeys(CRITERIA)
    assert value["posters"][2]["failed"] == []


def test_results_json_is_that_of_the_source_document() -> None:
    value = two_and_a_half().results_json({"a": "pdfalto"})
    assert [tuple(row) for row in value["results"]] == [("poster_id", "metrics", "passes", "error", "source")] * 5
    assert value["results"][0] == {
        "poster_id": "a",
        "metrics": {
            "word_capture": 1.0, "rouge_l": 1.0, "number_capture": 1.0, "field_proportion": 1.0,
            "gen_sections": 0, "ref_sections": 0,
        },
        "passes": True,
        "error": False,
        "source": "pdfalto",
    }  # fmt: skip
    assert value["results"][1]["error"] is True
    assert (value["results"][2]["metrics"], value["results"][2]["error"]) == (None, "run has no such poster.")
    assert value["aggregate"]["field_proportion"] == 1.0


def test_the_source_of_a_text_is_a_column_where_the_files_state_it() -> None:
    result = two_and_a_half()
    sourced = evaluate(result.ground_truth, replace(result.prediction, sources={"a": "pdfalto"}))
    table = sourced.table()
    assert table.columns[-1] == "source"
    assert [row[-1] for row in table.rows] == ["", "pdfalto", *[""] * 4]
    for rows in (sourced.to_json()["posters"], sourced.results_json()["results"]):
        assert [row["source"] for row in rows] == ["pdfalto", *[None] * 4]
    assert columns_of(sourced).sources[:2] == ("pdfalto", "")


def test_the_table_has_a_row_per_poster_under_the_means() -> None:
    table = two_and_a_half().table()
    assert table.columns == (*("poster_id", *CRITERIA), "passes", "failed")
    assert table.rows[:4] == (
        ("All posters", 0.5, 0.5, 1.0, 1.0, "1 of 5", ""),
        ("a", 1.0, 1.0, 1.0, 1.0, "yes", ""),
        ("b", 0.0, 0.0, 1.0, 1.0, "no", "word_capture, rouge_l"),
        ("c", None, None, None, None, "error", "run has no such poster."),
    )
    assert "n/a" in export.to_markdown([table])


def test_stop_words_are_words() -> None:
    assert len(STOP_WORDS) == 157
    assert {word for stop in STOP_WORDS for word in [stop, *re.split(r"[^a-z]", stop)]} == STOP_WORDS


def test_no_poster_on_both_sides_leaves_the_means_undefined() -> None:
    result = evaluate(posters({"a": {"t": "x"}}), posters({"b": {"t": "x"}}))
    assert set(result.aggregate.values()) == {None}
    assert result.table().rows[0] == ("All posters", None, None, None, None, "0 of 2", "")
    assert "NaN" not in export.to_json(result.to_json())


pieces = st.sampled_from(["alpha", "Beta,", "gamma-ray", "7", "3.5", "2016", "the", "“quoted”", "über", "10.5281/z.1"])
written = st.lists(pieces, max_size=8).map(" ".join)
content = st.fixed_dictionaries(
    {},
    optional={
        "titles": st.lists(st.fixed_dictionaries({"title": written}), max_size=2),
        "posterContent": st.fixed_dictionaries(
            {"sections": st.lists(st.fixed_dictionaries({"sectionContent": written}), max_size=4)}
        ),
        "imageCaptions": st.lists(st.fixed_dictionaries({"captions": st.lists(written, max_size=2)}), max_size=2),
        "year": st.integers(0, 2030),
    },
)


@given(reference=content, generated=content, profile=st.sampled_from(list(PROFILES)))
def test_metrics_are_in_range_or_undefined(reference: Any, generated: Any, profile: Any) -> None:
    details = detail(reference, generated, profile)
    metrics = details.metrics
    for criterion, value in metrics.items():
        assert value is None or 0.0 <= value <= (math.inf if criterion == "field_proportion" else 1.0)
    assert (metrics["word_capture"] is None) == (profile == "documented" and not details.words.reference)
    assert metrics["rouge_l"] == max(details.global_f1, details.sections.mean)
    if (proportion := metrics["field_proportion"]) is not None:
        both = (sum(field.generated for field in details.fields), sum(field.reference for field in details.fields))
        assert both[0] == pytest.approx(proportion * max(both[1], 1))


@given(value=content, profile=st.sampled_from(list(PROFILES)))
def test_identity_is_perfect(value: Any, profile: Any) -> None:
    details = detail(value, value, profile)
    words = bool(details.profile.words(details.texts[0]))
    assert details.metrics["number_capture"] == 1.0
    assert details.metrics["word_capture"] in ((1.0,) if words else (None, 0.0))
    assert details.metrics["rouge_l"] == (1.0 if details.profile.tokens(details.texts[0]) else 0.0)
    assert details.metrics["field_proportion"] in ((1.0,) if details.fields else (None, 0.0))
    assert (details.words.missing, details.words.extra, details.only_in_reference) == ((), (), ())


@given(reference=content, generated=content)
def test_swapping_the_sides_swaps_missing_and_extra(reference: Any, generated: Any) -> None:
    forth, back = detail(reference, generated), detail(generated, reference)
    assert forth.words.missing == back.words.extra
    assert forth.numbers.missing == back.numbers.extra
    assert forth.global_f1 == back.global_f1
    assert (forth.sections.f1 == back.sections.f1.T).all()
    assert forth.only_in_reference == tuple(
        FieldCount(field.path, field.generated, field.reference) for field in back.only_in_generated
    )


@given(reference=content, generated=content, extra=written)
def test_more_generated_text_never_captures_less(reference: Any, generated: Any, extra: str) -> None:
    before, after = detail(reference, generated), detail(reference, {**generated, "more": extra})
    assert set(after.words.missing) <= set(before.words.missing)
    assert set(after.numbers.missing) <= set(before.numbers.missing)


@given(values=st.lists(st.tuples(content, content), min_size=1, max_size=4), data=st.data())
def test_the_order_of_posters_does_not_matter(values: list[tuple[Any, Any]], data: st.DataObject) -> None:
    ids = [f"p{index}" for index in range(len(values))]
    mixed = data.draw(st.permutations(ids))
    truths = {key: value for key, (value, _) in zip(ids, values, strict=True)}
    predictions = {key: value for key, (_, value) in zip(ids, values, strict=True)}
    first = evaluate(posters(truths), posters(predictions))
    turned = {key: truths[key] for key in mixed}, {key: predictions[key] for key in mixed[::-1]}
    second = evaluate(*map(posters, turned))
    assert [poster.to_json() for poster in first.posters] == [poster.to_json() for poster in second.posters]
    assert first.aggregate == second.aggregate
    for poster in first.posters:
        alone = compare(truths[poster.poster_id], predictions[poster.poster_id]).posters[0]
        assert alone.to_json() == {**poster.to_json(), "poster_id": "a"}


@given(reference=content, generated=content, profile=st.sampled_from(list(PROFILES)))
def test_evaluating_edits_nothing_and_writes_no_nan(reference: Any, generated: Any, profile: Any) -> None:
    truth, prediction = posters({"a": reference}), posters({"a": generated})
    first = evaluate(truth, prediction, profile=profile).to_json()
    assert [truth.posters["a"].content, prediction.posters["a"].content] == [reference, generated]
    assert evaluate(truth, prediction, profile=profile).to_json() == first
    assert json.dumps(msgspec.to_builtins(first), allow_nan=False)
