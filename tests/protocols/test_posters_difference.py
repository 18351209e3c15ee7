"""What a reader of posters looks at: marked passages, words found on the page, trees of fields, two models."""

from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.charts import posters as charts
from evaluator.components.viewer.page_overlay import DRAWN_BOXES
from evaluator.components.viewer.poster_page import poster_data
from evaluator.formats.posters import Section
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.protocols.posters.comparison import FieldCount
from evaluator.protocols.posters.difference import (
    Piece,
    columns_of,
    field_tree,
    paired,
    passages,
    section_name,
    worst_first,
)
from evaluator.protocols.posters.evaluation import CRITERIA, PostersResult, evaluate
from evaluator.protocols.posters.profiles import EXPLANATIONS, PROFILES, PURPOSES
from evaluator.protocols.posters.word_places import on_page
from tests.building import posters, read_by_browser
from tests.charting import specification
from tests.protocols.test_protocol_posters import detail, real_posters
from tests.reading import SHARED, needs_shared


def boxes(count: int) -> np.ndarray:
    left = np.arange(count) / count
    return np.column_stack([left, np.zeros(count), left + 0.5 / count, np.full(count, 0.1)])


def test_missing_words_and_numbers_are_marked_in_their_place() -> None:
    comparison = detail(
        {"titles": [{"title": "Bees of the valley"}], "n": 3, "text": "We saw 14.5 bees,\n12 wasps"},
        {"text": "We saw bees and 12 flies of a valley"},
    )
    title, text = passages(comparison)
    assert (title.place, title.pieces) == ("$.titles[0].title", (Piece("Bees of the valley", ""),))
    pieces = (("We saw ", ""), ("14.5", "number"), (" bees,\n12 ", ""), ("wasps", "word"))
    assert (text.place, text.pieces, text.marked) == ("$.text", tuple(Piece(*piece) for piece in pieces), 2)
    (extra,) = passages(comparison, "generated")
    assert extra.pieces == (Piece("We saw bees and 12 ", ""), Piece("flies", "word"), Piece(" of a valley", ""))
    assert passages(detail({"a": 1, "b": ["", {}]}, {"a": "x"})) == ()


def test_a_comma_joins_two_values_under_the_published_profile() -> None:
    """The program behind the table reads the values as one text, in which a comma with a blank is an apostrophe."""
    comparison = detail({"a": "Smith,", "b": "Jones left"}, {"a": "Smith Jones left"}, "published")
    assert comparison.words.missing == ("smithjones",)
    assert [passage.pieces for passage in passages(comparison)] == [
        (Piece("Smith,", "word"),),
        (Piece("Jones", "word"), Piece(" left", "")),
    ]


texts = st.text(alphabet="ab ,.1-\n'é", max_size=12)
contents = st.recursive(
    texts | st.integers(0, 9) | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("profile", PROFILES)
@given(reference=st.dictionaries(st.sampled_from("xyz"), contents), generated=st.dictionaries(st.just("x"), contents))
def test_passages_are_the_strings_and_mark_what_is_missing(profile: Any, reference: Any, generated: Any) -> None:
    comparison = detail(reference, generated, profile)
    for side, content in (("reference", reference), ("generated", generated)):
        lines = passages(comparison, side)  # type: ignore[arg-type]
        texts = ["".join(piece.text for piece in line.pieces) for line in lines]
        assert texts == [text for text in strings(content) if text]
        lost = comparison.words.missing if side == "reference" else comparison.words.extra
        numbers = comparison.numbers.missing if side == "reference" else comparison.numbers.extra
        # Everything that is missing is marked somewhere, and nothing is marked when nothing is missing.
        assert any(line.marked for line in lines) == bool(lost or numbers)
        assert all(piece.text for line in lines for piece in line.pieces)


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in strings(item)]


def test_missing_and_extra_words_are_found_on_the_page() -> None:
    comparison = detail({"a": "Turbidity falls to 12.5 NTU at night"}, {"a": "Turbidity falls legend at night"})
    page = ("Turbidity", "falls", "to", "12.5", "NTU,", "at", "night", "(legend)", "12.5")
    seen = on_page(comparison, page, boxes(len(page)))
    places_ = [(places.token, places.kind, places.boxes.tolist()) for places in seen.missing]
    assert places_ == [("12.5", "number", boxes(9)[[3, 8]].tolist()), ("ntu", "word", boxes(9)[[4]].tolist())]
    assert [(places.token, places.side) for places in seen.extra] == [("legend", "extra")]
    assert (seen.absent, seen.page_words) == ((), 9)


def test_a_word_divided_at_the_end_of_a_line_has_two_boxes() -> None:
    comparison = detail({"a": "the documentation"}, {"a": "nothing"})
    for hyphen in ("-", "\u00ad", "\u2010"):
        seen = on_page(comparison, ("docu" + hyphen, "mentation", "Docu-", "Mentation"), boxes(4))
        (places,) = seen.missing
        assert (places.token, places.boxes.tolist()) == ("documentation", boxes(4)[:2].tolist())


def test_words_joined_by_a_comma_are_boxed_together_under_the_published_profile() -> None:
    comparison = detail({"a": "Smith, J., and others"}, {"a": "others"}, "published")
    seen = on_page(comparison, ("Smith,", "J.,", "and", "others"), boxes(4))
    assert [(places.token, len(places.boxes)) for places in seen.missing] == [("smithjand", 3)]


def test_a_page_without_words_holds_nothing() -> None:
    seen = on_page(detail({"a": "one 2"}, {"a": "three"}), (), np.zeros((0, 4)))
    assert (seen.missing, seen.extra, seen.absent, seen.page_words) == ((), (), ("2", "one"), 0)
    data = read_by_browser(poster_data(seen))
    assert (data["boxes"], data["mistakes"], data["limit"]) == ([], [], None)


@needs_shared
def test_most_missing_words_of_the_real_posters_stand_on_their_pages() -> None:
    """The specification counts 67 of 92; the words of a number, and of ids, are told apart otherwise there."""
    result = real_posters("published")
    folder, missing, placed = PdfFolder(Path(SHARED, "real", "posters")), 0, 0
    with PagePool(time_limit=20.0) as pool:
        for poster in result.posters:
            words = pool.words(folder.find(poster.poster_id), 0)
            seen = on_page(poster.comparison, words.texts, words.boxes)
            lost = set(poster.comparison.words.missing)
            missing += len(lost)
            placed += len(lost - set(seen.absent))
            assert all(bool(np.all((places.boxes >= 0) & (places.boxes <= 1))) for places in seen.missing)
            assert (seen.page_words == 0) == (poster.poster_id == "4737132")  # the poster that is a JPEG
    assert (missing, placed) == (96, 71)


def test_the_viewer_gets_missing_words_before_extra_ones() -> None:
    comparison = detail({"a": "lost words 7"}, {"a": "made words up"})
    page = ("made", "lost", "words", "7", "lost")
    data = read_by_browser(poster_data(on_page(comparison, page, boxes(5))))
    assert [(each["title"], each["label"], each["tags"]) for each in data["mistakes"]] == [
        ("Missing word", "lost", ["FN"]),
        ("Missing number", "7", ["FN"]),
        ("Extra word", "made", ["FP"]),
    ]
    assert data["mistakes"][0]["lines"] == ["in the reference, not in the extraction", "2 places on the page"]
    assert data["mistakes"][0]["keys"] == ["w0", "w1"]
    assert [box["mistake"] for box in data["boxes"]] == [1, 1, 2, 3]
    assert (data["counts"]["FN"], data["counts"]["FP"], data["counts"]["TP"]) == (2, 1, 0)
    assert data["head"] == "2 missing, 1 extra on the page"
    assert read_by_browser(poster_data(on_page(comparison, page, boxes(5)), extra=False))["statuses"] == ["FN"]


def test_no_more_boxes_are_drawn_than_a_page_can_show() -> None:
    count = DRAWN_BOXES + 20
    data = read_by_browser(poster_data(on_page(detail({"a": "lost"}, {"a": "x"}), ("lost",) * count, boxes(count))))
    assert len(data["boxes"]) == DRAWN_BOXES
    assert data["limit"] == {"drawn": DRAWN_BOXES, "total": count}


@pytest.mark.parametrize(
    ("place", "title", "name"),
    [
        ("$.posterContent.sections[0].sectionContent", "Aim", "Aim"),
        ("$.posterContent.sections[2].sectionContent", " ", "Section 3"),
        ("$.tableCaptions.captions[0].captionParts[1]", "", "Table caption 1, part 2"),
        ("$.imageCaption[3].text", "", "Image caption 4"),
        ("$.imageCaptions[1].captions", "", "Image caption 2"),
    ],
)
def test_sections_have_names(place: str, title: str, name: str) -> None:
    assert section_name(Section(place, title, "text")) == name


def test_the_tree_of_fields_keeps_children_under_their_parents() -> None:
    comparison = detail(
        {"a": {"b": 1, "c": [{"d": 1}, {"d": 2}]}, "aB": 1, "gone": 1, 'odd "key"': 1},
        {"a": {"c": [{"d": 1}], "new": 5}, "aB": 1, 'odd "key"': 2},
    )
    columns = attrgetter("depth", "name", "reference", "generated", "state")
    assert [columns(node) for node in field_tree(comparison.fields)] == [
        (0, "a", 1, 1, "both"),
        (1, "b", 1, 0, "missing"),
        (1, "c", 1, 1, "both"),
        (2, "d", 2, 1, "fewer"),
        (1, "new", 0, 1, "extra"),
        (0, "aB", 1, 1, "both"),
        (0, "gone", 1, 0, "missing"),
        (0, '["odd \\"key\\""]', 1, 1, "both"),
    ]
    assert field_tree(()) == ()
    assert field_tree([FieldCount("$.x", 1, 3)])[0].state == "more"


@given(reference=st.dictionaries(st.sampled_from("xyz"), contents), generated=st.dictionaries(st.just("x"), contents))
def test_every_field_stands_once_in_the_tree(reference: Any, generated: Any) -> None:
    comparison = detail(reference, generated)
    tree = field_tree(comparison.fields)
    assert sorted(node.path for node in tree) == [field.path for field in comparison.fields]
    for node in tree:
        assert node.path.endswith(node.name)


GOOD = {"a": "alpha beta gamma delta 1 2 3 4"}


def of(truth: dict[str, Any], **extractions: Any) -> PostersResult:
    return evaluate(posters(truth), posters(extractions))


def test_columns_hold_what_the_result_says() -> None:
    result = of({"one": GOOD, "two": GOOD, "three": GOOD}, one=GOOD, two={"a": "alpha"})
    columns = columns_of(result)
    assert (columns.ids, columns.passes.tolist()) == (("one", "three", "two"), [True, False, False])
    assert columns.errors == ("", "side has no such poster.", "")
    assert columns.failed == ((), (), ("word_capture", "rouge_l", "number_capture"))
    assert np.isnan(columns.values[1]).all()
    for place, criterion in enumerate(CRITERIA):
        assert np.array_equal(columns.values[:, place], result.column(criterion), equal_nan=True)
    assert (columns.of("two"), columns.of("none")) == (2, None)
    assert worst_first([columns]) == ("three", "two", "one")


def test_worst_first_counts_the_failures_of_all_models() -> None:
    truth = {"one": GOOD, "two": GOOD}
    a = columns_of(of(truth, one=GOOD, two={"a": "alpha beta gamma delta 9"}))
    b = columns_of(of(truth, one={"a": "x"}, two=GOOD))
    assert worst_first([a]) == ("two", "one")
    assert worst_first([a, b]) == ("one", "two")
    assert worst_first([]) == ()


def test_two_models_side_by_side() -> None:
    truth = {"one": GOOD, "two": GOOD, "three": GOOD}
    a = columns_of(of(truth, one=GOOD, two={"a": "x"}))
    pairs = paired(a, columns_of(of(truth, one={"a": "alpha"}, two=GOOD, four=GOOD)))
    assert pairs.ids == ("four", "one", "three", "two")
    assert pairs.verdicts == ("both fail", "A only", "both fail", "B only")
    assert pairs.difference[1].tolist() == (pairs.b[1] - pairs.a[1]).tolist()
    assert np.isnan(pairs.difference[0]).all()
    empty = paired(*(columns_of(of({})) for _ in "ab"))
    assert (empty.ids, empty.difference.shape) == ((), (0, 4))


def test_the_profiles_are_explained() -> None:
    assert set(PURPOSES) == set(PROFILES)
    assert all(documented != published for _, documented, published in EXPLANATIONS)


@pytest.mark.parametrize("dark", [False, True])
def test_the_chart_of_criteria_draws_dots_and_thresholds(dark: bool) -> None:
    chart = charts.criteria(
        {"A": [np.array([0.9, np.nan]), np.array([3.0, 0.4])]},
        ["Words", "Fields"],
        [(0.75, np.inf), (0.5, 2.0)],
        names={"A": ["one", "a:b[c]"]},
        chosen="one",
        baseline="A",
        dark=dark,
    )
    spec = specification(chart)
    rows = [row for data in spec["datasets"].values() for row in data if "verdict" in row]
    assert [(row["poster"], row["criterion"], row["verdict"], row["shown"]) for row in rows] == [
        ("one", "Words", "meets", 0.9),
        ("one", "Fields", "fails", 2.1),
        ("a:b[c]", "Fields", "fails", 0.4),
    ]
    limits = [row["limit"] for data in spec["datasets"].values() for row in data if "limit" in row]
    assert limits == [0.75, 0.5, 2.0]


@pytest.mark.parametrize("dark", [False, True])
def test_the_section_matrix_frames_the_best_of_each_row(dark: bool) -> None:
    f1 = np.array([[0.9, 0.1], [0.0, 0.0]])
    chart = charts.section_matrix(["Aim", "a:b"], ["Aim", "x" * 60], f1, np.array([0, -1]), dark=dark)
    rows = next(data for data in specification(chart)["datasets"].values() if data and "best" in data[0])
    assert [(row["text"], row["best"]) for row in rows] == [
        ("0.90", True), ("0.10", False), ("0", False), ("0", False),
    ]  # fmt: skip
    many = [str(number) for number in range(charts.DRAWN_SECTIONS + 9)]
    chart = charts.section_matrix(many, many, np.eye(len(many)), np.arange(len(many)), dark=dark)
    rows = next(data for data in specification(chart)["datasets"].values() if data and "best" in data[0])
    assert len(rows) == charts.DRAWN_SECTIONS**2
