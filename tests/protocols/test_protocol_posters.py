"""Poster text validation: the published table to the last digit, the documented text by hand, and what must hold."""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data.issues import BadInput
from evaluator.formats.base import Reading
from evaluator.formats.posters import FORMAT, Posters, read_poster
from evaluator.metrics import export
from evaluator.protocols.posters.comparison import FieldCount, PosterComparison
from evaluator.protocols.posters.difference import columns_of
from evaluator.protocols.posters.evaluation import CRITERIA, PostersResult, evaluate, failed
from evaluator.protocols.posters.profiles import PROFILES, STOP_WORDS

SHARED = os.environ.get("LAYOUTSCOPE_SHARED", "")
ORACLES = Path(SHARED, "oracles", "poster")
REAL = Path(SHARED, "real", "posters")
needs_shared = pytest.mark.skipif(not SHARED, reason="LAYOUTSCOPE_SHARED does not name the folder of oracles/poster")
# Named here, not listed: the shared folder is looked at when a test runs, never while tests are collected.
CASES = ["10890106", "15963941", "16083265", "17268692", "4737132", "5128504", "6724771", "8228476", "8228568"]
profiles = pytest.mark.parametrize("profile", PROFILES)
close = {"rel": 0.0, "abs": 1e-9}


def side(name: str, **contents: Any) -> Posters:
    """Posters as the reader returns them."""
    made = {key: read_poster(json.dumps(value).encode(), f"{key}.json", key) for key, value in contents.items()}
    posters = {key: poster for key, (poster, _) in sorted(made.items())}
    return Posters(name, "0" * 64, posters, {}, tuple(issue for _, notes in made.values() for issue in notes))


def compare(reference: Any, generated: Any, profile: Any = "documented") -> PostersResult:
    return evaluate(side("gold", a=reference), side("run", a=generated), profile=profile)


def detail(reference: Any, generated: Any, profile: Any = "documented") -> PosterComparison:
    comparison = compare(reference, generated, profile).posters[0].comparison
    assert comparison is not None
    return comparison


def oracle(name: str) -> dict[str, Any]:
    return json.loads((ORACLES / f"{name}.json").read_text(encoding="utf-8"))


def unit_rows(key: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = oracle("_units")[key]
    assert rows
    return rows


# --- oracles: what the program behind the printed table computes --------------------------------------------------


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
    assert comparison is not None
    metrics = result.results_json()["results"][0]["metrics"]
    assert metrics == pytest.approx(expected["metrics"], **close)
    assert poster.passes == expected["passes"]
    assert {key: round(poster.metrics[key], 2) for key in CRITERIA} == expected["rounded"]  # type: ignore[literal-required]
    assert (len(comparison.words.reference), len(comparison.words.generated)) == (
        inside["n_ref_words"],
        inside["n_gen_words"],
    )
    assert list(comparison.words.missing) == inside["missing_words"]
    assert list(comparison.words.extra) == inside["extra_words"]
    assert sorted(comparison.numbers.reference) == inside["ref_numbers_kept"]
    assert list(comparison.numbers.left_out) == inside["ref_numbers_dropped"]
    assert list(comparison.numbers.missing) == inside["missing_numbers"]
    reference, generated = (comparison.profile.tokens(normal) for normal in comparison.texts)
    whole = inside["global_rouge"]
    assert (len(reference), len(generated)) == (whole["ref_tokens"], whole["gen_tokens"])
    assert comparison.global_f1 == pytest.approx(whole["f"], **close)
    assert comparison.sections.mean == pytest.approx(inside["section_mean"], **close)
    assert comparison.sections.best.tolist() == [section["best_gen_index"] for section in inside["sections"]]
    assert comparison.sections.best_f1.tolist() == pytest.approx(
        [section["f"] for section in inside["sections"]], **close
    )
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
    result = evaluate(
        FORMAT.read_path(REAL, Reading(side="ground_truth")),
        FORMAT.read_path(REAL, Reading(side="prediction")),
        profile="published",
    )
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
    truth, prediction = (
        FORMAT.read_path(REAL, Reading(side="ground_truth")),
        FORMAT.read_path(REAL, Reading(side="prediction")),
    )
    documented, published = (evaluate(truth, prediction, profile=name) for name in ("documented", "published"))
    assert all(poster.passes for poster in documented.posters)
    # What differs is words and numbers; the whole texts compare almost alike, and fields exactly so.
    assert documented.column("field_proportion").tolist() == published.column("field_proportion").tolist()
    assert np.abs(documented.column("rouge_l") - published.column("rouge_l")).max() < 0.01
    assert documented.column("word_capture").tolist() != published.column("word_capture").tolist()


# --- documented, by hand --------------------------------------------------------------------------------------


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


def test_reordered_sections_win_over_the_whole_text() -> None:
    details = detail(sections("alpha beta gamma", "delta epsilon"), sections("delta epsilon", "alpha beta zeta"))
    # Pairs: 2 of 3 + 3 words, nothing, nothing, 2 of 2 + 2 words.
    assert details.sections.f1.tolist() == [[0.0, 2 / 3], [1.0, 0.0]]
    assert details.sections.best.tolist() == [1, 0]
    assert details.sections.mean == pytest.approx((2 / 3 + 1) / 2)
    # T alpha beta gamma T delta epsilon against T delta epsilon T alpha beta zeta: T, alpha, beta.
    assert details.global_f1 == 2 * 3 / 14
    assert details.rouge_winner == "sections"
    assert details.metrics["rouge_l"] == details.sections.mean


def test_the_whole_text_wins_when_sections_are_cut_otherwise() -> None:
    details = detail(sections("alpha beta", "gamma delta"), sections("alpha beta gamma delta"))
    assert details.sections.best_f1.tolist() == [4 / 6, 4 / 6]
    assert details.global_f1 == 2 * 5 / 11
    assert details.rouge_winner == "global"


def test_a_section_that_nothing_matches_has_no_best_one() -> None:
    details = detail(sections("alpha", "beta"), sections("beta"))
    assert details.sections.best.tolist() == [-1, 0]
    assert details.sections.mean == 0.5


def test_sections_of_one_side_only_count_nothing() -> None:
    details = detail(sections("alpha beta"), {"a": "T alpha beta"})
    assert (details.sections.f1.shape, details.sections.mean, details.sections.best.tolist()) == ((1, 0), 0.0, [-1])
    assert details.metrics["rouge_l"] == details.global_f1 == 1.0


def test_fields_are_counted_by_path_and_empty_ones_not_at_all() -> None:
    reference = {"titles": [{"title": "A"}, {"title": "B"}], "n": 0, "empty": [], "x y": True}
    generated = {"titles": [{"title": "A", "lang": "en"}], "extra": {"deep": {"er": 1}}}
    details = detail(reference, generated)
    assert [(field.path, field.reference, field.generated) for field in details.fields] == [
        ("$.extra", 0, 1),
        ("$.extra.deep", 0, 1),
        ("$.extra.deep.er", 0, 1),
        ("$.titles", 1, 1),
        ("$.titles[*].lang", 0, 1),
        ("$.titles[*].title", 2, 1),
        ('$["x y"]', 1, 0),
    ]
    assert [field.path for field in details.only_in_reference] == ['$["x y"]']
    assert [field.path for field in details.only_in_generated] == [
        "$.extra", "$.extra.deep", "$.extra.deep.er", "$.titles[*].lang"
    ]  # fmt: skip
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


# --- results ----------------------------------------------------------------------------------------------------


def two_and_a_half() -> PostersResult:
    """One poster that passes, one that fails, one that only the ground truth has and one broken prediction."""
    truth = side("gold", a={"t": "one bee 7"}, b={"t": "one bee", "u": "two"}, c={"t": "x"}, d={"t": "y"})
    prediction = side("run", a={"t": "one bee 7"}, b={"t": "wasp", "error": "cut"}, e={"t": "z"})
    with pytest.raises(BadInput) as caught:
        read_poster(b"[", "d.json", "d")
    broken = caught.value.issues
    return evaluate(truth, Posters("run", "0" * 64, prediction.posters, {"d": broken}, broken))


def test_a_poster_without_its_other_side_is_an_error_and_the_others_count() -> None:
    result = two_and_a_half()
    assert [(poster.poster_id, poster.passes, poster.error) for poster in result.posters] == [
        ("a", True, None),
        ("b", False, None),
        ("c", False, "run has no such poster."),
        (
            "d",
            False,
            "d.json: line 1, column 2: the text must be well-formed JSON (RFC 8259); found the end of the text. "
            "The file is cut off; copy or export it again.",
        ),
        ("e", False, "gold has no such poster."),
    ]
    assert [issue.sentence for issue in result.issues if issue.severity == "warning"] == [
        'gold: every poster needs a ground truth; without one it is not evaluated; found none for 1: "e". '
        "Add the files, or read the means as those of the other posters.",
        'run: every poster needs a prediction; without one it is not evaluated; found none for 1: "c". '
        "Add the files, or read the means as those of the other posters.",
    ]
    assert np.isnan(result.column("rouge_l")).tolist() == [False, False, True, True, True]
    assert result.aggregate["word_capture"] == 0.5


def test_the_json_has_the_keys_of_the_contract() -> None:
    result = two_and_a_half()
    value = result.to_json()
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
    stated = replace(result.prediction, sources={"a": "pdfalto"})
    table = evaluate(result.ground_truth, stated).table()
    assert table.columns[-1] == "source"
    assert [row[-1] for row in table.rows] == ["", "pdfalto", *[""] * (len(table.rows) - 2)]
    sourced = evaluate(result.ground_truth, stated)
    assert [row["source"] for row in sourced.to_json()["posters"]][:2] == ["pdfalto", None]
    assert [row["source"] for row in sourced.results_json()["results"]][:2] == ["pdfalto", None]
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


def test_the_signature_names_the_profile_and_its_choices() -> None:
    documented, published = (compare({}, {}, name).signature.line for name in PROFILES)
    assert documented.startswith(
        "posters 1 · profile documented · stop words layoutscope-en-1 · numbers without DOIs and years 1900–2099 · "
        "pass ≥ 0.75, fields 0.50–2.00 · 1 document, 1 page · layoutscope "
    )
    assert published.startswith(
        "posters 1 · profile published · no stop words · Porter stems · numbers without 2010–2030 and from 100000 · "
    )


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^profile must be one of documented, published; found strict$"):
        compare({}, {}, "strict")


def test_stop_words_are_words() -> None:
    assert len(STOP_WORDS) == 157
    assert {word for stop in STOP_WORDS for word in [stop, *re.split(r"[^a-z]", stop)]} == STOP_WORDS


def test_no_poster_on_both_sides_leaves_the_means_undefined() -> None:
    result = evaluate(side("gold", a={"t": "x"}), side("run", b={"t": "x"}))
    assert set(result.aggregate.values()) == {None}
    assert result.table().rows[0] == ("All posters", None, None, None, None, "0 of 2", "")
    assert "NaN" not in export.to_json(result.to_json())


# --- properties -------------------------------------------------------------------------------------------------

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
    for criterion, value in details.metrics.items():
        assert value is None or value >= 0.0
        assert value is None or value <= 1.0 or criterion == "field_proportion"
    metrics = details.metrics
    assert (metrics["word_capture"] is None) == (profile == "documented" and not details.words.reference)
    assert metrics["rouge_l"] == max(details.global_f1, details.sections.mean)
    assert (
        sum(field.generated for field in details.fields)
        == pytest.approx(
            (metrics["field_proportion"] or 0.0) * max(sum(field.reference for field in details.fields), 1)
        )
        or metrics["field_proportion"] is None
    )


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
    first = evaluate(side("gold", **truths), side("run", **predictions))
    second = evaluate(
        side("gold", **{key: truths[key] for key in mixed}),
        side("run", **{key: predictions[key] for key in mixed[::-1]}),
    )
    assert [poster.to_json() for poster in first.posters] == [poster.to_json() for poster in second.posters]
    assert first.aggregate == second.aggregate
    for poster in first.posters:
        alone = compare(truths[poster.poster_id], predictions[poster.poster_id]).posters[0]
        assert alone.to_json() == {**poster.to_json(), "poster_id": "a"}


@given(reference=content, generated=content, profile=st.sampled_from(list(PROFILES)))
def test_evaluating_edits_nothing_and_writes_no_nan(reference: Any, generated: Any, profile: Any) -> None:
    truth, prediction = side("gold", a=reference), side("run", a=generated)
    first = evaluate(truth, prediction, profile=profile).to_json()
    assert truth.posters["a"].content == reference
    assert prediction.posters["a"].content == generated
    assert evaluate(truth, prediction, profile=profile).to_json() == first

    def refuse(value: Any) -> None:
        assert not (isinstance(value, float) and math.isnan(value))
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            refuse(inner)

    refuse(first)
