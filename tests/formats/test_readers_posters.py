"""Posters from disk: which file is whose, what a broken one costs, and every sentence about it."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data.issues import BadInput
from evaluator.formats import posters
from evaluator.formats.base import Reading
from evaluator.formats.posters import FORMAT, Poster, Posters, read_poster, text_of
from tests.reading import needs_shared, real, refusal
from tests.texts import character

GOOD: dict[str, Any] = {"titles": [{"title": "Bees"}]}


def write(folder: Path, name: str, value: object = GOOD) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def poster(value: object) -> Poster:
    return read_poster(json.dumps(value).encode(), "a.json", "a")[0]


def sentences(value: object) -> list[str]:
    return [issue.sentence for issue in read_poster(json.dumps(value).encode(), "a.json", "a")[1]]


def complaint(content: bytes | str) -> str:
    content = content if isinstance(content, bytes) else content.encode()
    return "\n".join(refusal(read_poster, content, "a.json", "a"))


def files(posters: Posters) -> dict[str, str]:
    return {poster_id: poster.file for poster_id, poster in posters.posters.items()}


@pytest.mark.parametrize(
    "name",
    ["7.json", "7_extracted.json", "7_sub-json.json", "7_reference.json", "7/7.json", "7/extracted.json", "7/any.json"],
)
def test_one_file_per_poster_is_found_under_each_name(tmp_path: Path, name: str) -> None:
    write(tmp_path, name)
    assert files(FORMAT.read_path(tmp_path)) == {"7": name}
    assert files(FORMAT.read_path(tmp_path, Reading(side="ground_truth"))) == {"7": name}
    assert files(FORMAT.read_path(tmp_path, Reading(side="prediction"))) == {"7": name}


def test_a_file_of_one_poster_is_read_too(tmp_path: Path) -> None:
    path = write(tmp_path, "7_extracted.json")
    posters = FORMAT.read_path(path, Reading(side="prediction"))
    assert (posters.name, posters.sha256) == ("7_extracted.json", hashlib.sha256(path.read_bytes()).hexdigest())
    assert files(posters) == {"7": "7_extracted.json"}


def test_both_sides_in_one_folder_are_told_by_name(tmp_path: Path) -> None:
    for name in (
        "1/reference.json", "1/extracted.json", "2/2_sub-json.json", "2/2_extracted.json", "3.json", "3_extracted.json",
        "4/extracted.json",
    ):  # fmt: skip
        write(tmp_path, name)
    truth, prediction = (FORMAT.read_path(tmp_path, Reading(side=side)) for side in ("ground_truth", "prediction"))
    assert files(truth) == {"1": "1/reference.json", "2": "2/2_sub-json.json", "3": "3.json"}
    assert files(prediction) == {
        "1": "1/extracted.json", "2": "2/2_extracted.json", "3": "3_extracted.json", "4": "4/extracted.json",
    }  # fmt: skip
    assert truth.sha256 != hashlib.sha256(b"").hexdigest()
    assert not truth.issues


def test_a_folder_of_extractions_only_can_be_the_ground_truth_and_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    for name in ("1_extracted.json", "2_extracted.json"):
        write(folder, name)
    posters = FORMAT.read_path(folder, Reading(side="ground_truth"))
    assert list(posters.posters) == ["1", "2"]
    assert [issue.sentence for issue in posters.issues] == [
        "run: files named for the other side are read as ground truth; found 2. "
        "Nothing to do if one model is compared with another."
    ]


def test_what_is_no_poster_is_left_alone(tmp_path: Path) -> None:
    for name in ("7.json", "results.json", ".hidden.json", "notes.txt", "pictures/7.png", ".git/config.json"):
        write(tmp_path, name)
    assert files(FORMAT.read_path(tmp_path)) == {"7": "7.json"}


def test_two_files_that_may_be_meant_take_out_their_poster_only(tmp_path: Path) -> None:
    folder = tmp_path / "gold"
    for name in ("1.json", "2/a.json", "2/b.json"):
        write(folder, name)
    posters = FORMAT.read_path(folder, Reading(side="ground_truth"))
    assert list(posters.posters) == ["1"]
    assert [issue.sentence for issue in posters.broken["2"]] == [
        'gold: 2: it must be clear which file is the poster\'s; found "2/a.json, 2/b.json". '
        "Leave one of them, or call it reference.json."
    ]
    for name in ("both/1/extracted.json", "both/1/reference.json"):
        write(tmp_path, name)
    with pytest.raises(BadInput, match=r"both: 1: .* Leave one of them, or state the side\.$"):
        FORMAT.read_path(tmp_path / "both")


def test_the_folder_of_one_poster_and_its_files_have_the_id_of_the_folder(tmp_path: Path) -> None:
    for name in ("7/extracted.json", "7/reference.json"):
        write(tmp_path, name)
    for path in (tmp_path / "7", tmp_path / "7" / "reference.json"):
        assert files(FORMAT.read_path(path, Reading(side="ground_truth"))) == {"7": "reference.json"}
    assert files(FORMAT.read_path(tmp_path / "7", Reading(side="prediction"))) == {"7": "extracted.json"}


def test_a_broken_file_takes_out_its_poster_only(tmp_path: Path) -> None:
    write(tmp_path, "1.json")
    write(tmp_path, "2/extracted.json", "[1]")
    posters = FORMAT.read_path(tmp_path)
    rule = "a poster must be a JSON object (poster evaluation); found"
    fix = "Write the structured text of one poster as an object."
    broken = f"2/extracted.json: $: {rule} [1]. {fix}"
    assert (list(posters.posters), posters.broken) == (["1"], {"2": posters.issues})
    assert [issue.sentence for issue in posters.issues] == [broken]
    write(tmp_path, "1.json", "[]")
    assert refusal(FORMAT.read_path, tmp_path) == [f"1.json: $: {rule} []. {fix}", broken]


def test_a_folder_without_posters(tmp_path: Path) -> None:
    assert refusal(FORMAT.read_path, tmp_path) == [
        f"{tmp_path.name}: a folder must hold a JSON file, or a folder with one, for each poster; found none. "
        "Name the folder of the posters."
    ]


def test_all_issues_of_a_poster_come_together() -> None:
    assert complaint('{"a": NaN, "b": 1, "b": 2, "posterContent": []}').splitlines() == [
        'a.json: $.b: a key must not be repeated in one object (RFC 8259, section 4); found "b" 2 times. Keep one of '
        "them.",
        "a.json: $.a: numbers must be finite and fit float64 (RFC 8259, section 6); found NaN. Correct it.",
        "a.json: $.posterContent: posterContent should be an object (poster evaluation); found []. Its text counts as "
        "a whole, but not section by section.",
    ]


def test_what_cannot_be_one_poster_is_refused() -> None:
    fix = "Check the file; it does not look like one poster."
    assert complaint(b" " * (posters.MAX_POSTER_BYTES + 1)) == (
        f"a.json: the file of a poster may have 1,048,576 bytes; found 1,048,577. {fix}"
    )
    assert complaint(json.dumps({"a": "\ufdfa" * 20_000}, ensure_ascii=False)) == (
        f"a.json: the file of a poster may have 250,000 characters (Unicode NFKD); found 360,009. {fix}"
    )
    sections = [{"sectionContent": "x"}] * 501
    assert complaint(json.dumps({"posterContent": {"sections": sections}})) == (
        f"a.json: $: a poster may have 500 sections and captions; found 501. {fix}"
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            {"posterContent": {"sections": [
                {"sectionTitle": "A", "sectionContent": "one"}, {"sectionTitle": "no"}, {"sectionContent": ["two"]}]}},
            [("$.posterContent.sections[0].sectionContent", "A", "one"),
             ("$.posterContent.sections[2].sectionContent", "", ["two"])],
        ),
        ({"imageCaptions": [{"captions": ["Fig. 1", "", "shows"]}]},
         [("$.imageCaptions[0].captions[0]", "", "Fig. 1"), ("$.imageCaptions[0].captions[2]", "", "shows")]),
        ({"tableCaptions": [{"captionParts": ["Tab. 1"]}]}, [("$.tableCaptions[0].captionParts[0]", "", "Tab. 1")]),
        ({"imageCaptions": {"captions": [{"captionParts": ["Fig. 1"]}]}},
         [("$.imageCaptions.captions[0].captionParts[0]", "", "Fig. 1")]),
        ({"imageCaptions": [{"captions": "Fig. 1"}]}, [("$.imageCaptions[0].captions", "", "Fig. 1")]),
        ({"imageCaption": [{"caption1": "Fig. 1", "caption 2": ""}]}, [("$.imageCaption[0].caption1", "", "Fig. 1")]),
        ({"tableCaption": [{"caption 2": "x"}]}, [('$.tableCaption[0]["caption 2"]', "", "x")]),
        ({"posterContent": None, "imageCaptions": None}, []),
        ({}, []),
    ],
)  # fmt: skip
def test_sections_are_contents_and_each_part_of_a_caption(value: object, expected: list[tuple[str, str, Any]]) -> None:
    assert [(section.place, section.title, section.value) for section in poster(value).sections] == expected
    assert sentences(value) == []


@pytest.mark.parametrize(
    ("value", "rule", "found"),
    [
        ({"posterContent": "all of it"}, "$.posterContent: posterContent should be an object", '"all of it"'),
        ({"posterContent": {"sections": {"a": "b"}}},
         "$.posterContent.sections: sections should be an array", '{"a":"b"}'),
        ({"posterContent": {"sections": ["a"]}},
         "$.posterContent.sections[0]: every entry of $.posterContent.sections should be an object", '"a"'),
        ({"posterContent": {"sections": [{"x": 1}]}},
         "$.posterContent.sections[0]: a section should have sectionTitle, and sectionContent as text", '{"x":1}'),
        ({"posterContent": {"Sections": []}}, "$.posterContent.Sections: sections should be spelled so", '"Sections"'),
        ({"imageCaptions": "Fig."}, "$.imageCaptions: imageCaptions should be an array or an object", '"Fig."'),
        ({"tableCaptions": ["Tab."]},
         "$.tableCaptions[0]: every entry of $.tableCaptions should be an object", '"Tab."'),
        ({"imageCaptions": [{"captions": 3}]}, "$.imageCaptions[0].captions: captions should be an array or text", "3"),
        ({"tableCaption": {"a": "b"}}, "$.tableCaption: tableCaption should be an array", '{"a":"b"}'),
    ],
)  # fmt: skip
def test_what_is_not_compared_section_by_section_is_said(value: object, rule: str, found: str) -> None:
    assert sentences(value) == [
        f"a.json: {rule} (poster evaluation); found {found}. Its text counts as a whole, but not section by section."
    ]
    assert poster(value).sections == ()


def test_text_is_every_string_in_document_order() -> None:
    value = {"b": ["one", {"c": "two"}], "n": 3, "empty": {}, "a": "three"}
    assert text_of(value) == "one two   three"
    assert text_of({}) == text_of(7) == text_of(None) == ""


@needs_shared
def test_the_real_posters_are_read_without_a_issue() -> None:
    folder = real("posters")
    for side, name, sections in (("ground_truth", "reference", 83), ("prediction", "extracted", 107)):
        posters = FORMAT.read_path(folder, Reading(side=side))  # type: ignore[arg-type]
        assert files(posters) == {poster_id: f"{poster_id}/{name}.json" for poster_id in posters.posters}
        assert (len(posters.posters), posters.issues, dict(posters.broken)) == (9, (), {})
        assert sum(len(poster.sections) for poster in posters.posters.values()) == sections


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(character, max_size=6),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["posterContent", "sections", "sectionContent", "imageCaptions", "captions", "captionParts",
                         "tableCaption", "error", "x y"]), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


@given(value=json_values)
def test_any_json_object_is_a_poster_and_nothing_else_is(value: object) -> None:
    if not isinstance(value, dict):
        with pytest.raises(BadInput, match="a poster must be a JSON object"):
            poster(value)
        return
    extracted, notes = read_poster(json.dumps(value).encode(), "a.json", "a")
    assert extracted.content == value
    assert all(issue.severity == "warning" for issue in notes)


REPORT: list[object] = [
    {"poster_id": "7", "source": "pdfalto"},
    {"poster_id": "8", "source": None},
    {"poster_id": 9, "source": "x"},
    3,
]


def test_uploads_of_a_folder_with_a_folder_for_each_poster_are_read_as_on_disk(tmp_path: Path) -> None:
    for number in ("11", "12", "13"):
        write(tmp_path / "side" / number, "reference.json")
        write(tmp_path / "side" / number, "extracted.json" if number != "13" else "other.json")
    write(tmp_path / "side" / "14", "poster.json")
    paths = sorted((tmp_path / "side").rglob("*.json"))
    uploaded = [(path.relative_to(tmp_path / "side").as_posix(), path.read_bytes()) for path in paths]
    for reading in (Reading(side="ground_truth"), Reading(side="prediction")):
        on_disk, again = FORMAT.read_path(tmp_path / "side", reading), FORMAT.read_files(uploaded, "side", reading)
        assert list(again.posters) == list(on_disk.posters)
        assert [each.file for each in again.posters.values()] == [each.file for each in on_disk.posters.values()]
        assert list(on_disk.posters) == ["11", "12", "13", "14"]


@pytest.mark.parametrize("content", [REPORT, {"results": REPORT, "aggregate": {}}])
def test_the_report_of_the_extraction_program_states_the_sources(tmp_path: Path, content: object) -> None:
    write(tmp_path, "7_extracted.json")
    alone = FORMAT.read_path(tmp_path)
    write(tmp_path, "results.json", content)
    posters_read = FORMAT.read_path(tmp_path)
    assert dict(posters_read.sources) == {"7": "pdfalto"}
    assert (posters_read.issues, list(posters_read.posters)) == ((), ["7"])
    assert posters_read.sha256 != alone.sha256
    uploaded = [(path.name, path.read_bytes()) for path in sorted(tmp_path.iterdir())]
    write(tmp_path, "8_extracted.json")
    uploaded.append(("8_extracted.json", (tmp_path / "8_extracted.json").read_bytes()))
    assert dict(FORMAT.read_files(uploaded, "run").sources) == {"7": "pdfalto"}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{",
         "results.json: results.json beside the posters should be readable (poster evaluation); found the text must be "
         "well-formed JSON (RFC 8259). The posters are read, without their sources."),
        ({"means": 3}, "results.json: results.json beside the posters should be a list of results with their source "
         "(poster " 'evaluation); found {"means":3}. The posters are read, without their sources.'),
    ],
)  # fmt: skip
def test_another_results_json_is_a_warning(tmp_path: Path, content: object, sentence: str) -> None:
    write(tmp_path, "7_extracted.json")
    write(tmp_path, "results.json", content)
    posters_read = FORMAT.read_path(tmp_path)
    assert [issue.sentence for issue in posters_read.issues] == [sentence]
    assert (list(posters_read.posters), dict(posters_read.sources)) == (["7"], {})
