"""Proposed roles: which files are merged, chosen, left out as copies, or of other documents."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.components.drop.listing import file_list
from evaluator.data.dataset import Annotations, Side
from evaluator.project import Member, Upload
from evaluator.workspace.proposal import TRUTH, UNUSED, ListedFile, Proposal, headline, merged_origin, propose
from tests.building import Box, annotations, box


def of(documents: Sequence[str], *, shift: float = 0.0, label: str = "Table") -> list[Box]:
    return [box(0.1 + shift, 0.1, 0.5, 0.5, document=f"{each}.pdf", label=label) for each in documents]


def file(name: str, rows: Sequence[Box], side: Side = "prediction", **stated: object) -> ListedFile:
    source: Annotations = replace(annotations(rows, side=side), name=name, **stated)
    return ListedFile("boxes", side, Member(name, side, source, (), Upload(name, ((name, b""),), "snapshot")))


def truth(name: str, documents: str, **given: float) -> ListedFile:
    return file(name, of(documents, **given), "ground_truth")


MODEL = file("m", of("abcd"))


@pytest.mark.parametrize(
    ("files", "roles", "sentence", "choices"),
    [
        ([truth("one", "ab"), truth("two", "cd"), MODEL], [TRUTH, TRUTH, "A"], "No document is in both.",
         ["Merge them: 4 documents", "one: 2", "two: 2"]),
        ([truth("one", "ab"), truth("two", "ab", shift=0.2), MODEL], [TRUTH, UNUSED, "A"],
         "They have the same documents: choose one. 0 of 2 boxes are equal.", ["one: 2", "two: 2"]),
        ([truth("one", "ab"), truth("two", "bc"), MODEL], [TRUTH, UNUSED, "A"],
         "They have 1 document in common: choose one.", ["one: 2", "two: 2"]),
        ([truth("one", "ab"), truth("again", "ab"), MODEL], [TRUTH, UNUSED, "A"], "", []),
        ([truth("one", "xy"), file("coco", of("ab"), "ground_truth", format="coco"), MODEL], [UNUSED, TRUTH, "A"],
         "No document is in both. They state other labels, units or formats: choose one.", ["one: 2", "coco: 2"]),
        ([truth("one", "ab"), file("m1", of("a"), model="m"), file("m2", of("b"), model="m"), file("m3", of("z"))],
         [TRUTH, "A", "A", UNUSED], "", []),
    ],
)  # fmt: skip
def test_what_several_files_are_proposed_as(
    files: list[ListedFile], roles: list[str], sentence: str, choices: list[str]
) -> None:
    proposal = propose(files)
    said, offered = proposal.truth_choices("boxes")
    assert (list(proposal.roles), said, [each.words for each in offered]) == (roles, sentence, choices)
    assert proposal.notes == ({1: "the same boxes as one"} if files[1].name == "again" else {})


def test_an_upload_and_files_of_this_machine_are_merged_as_one_upload(tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    for name in ("one.xml", "two/a.xml"):
        (tmp_path / name).write_text(name)
    merged = merged_origin([Upload("up", (("up.xml", b"up"),), "pod"), tmp_path / "one.xml", tmp_path / "two"])
    files = (("up.xml", b"up"), ("one.xml", b"one.xml"), ("two/a.xml", b"two/a.xml"))
    assert merged == Upload("3 files, up first", files, "pod")


def test_a_model_in_two_files_can_be_kept_apart_and_another_ground_truth_chosen() -> None:
    proposal = propose([truth("one", "ab"), file("m1", of("a"), model="m"), file("m2", of("b"), model="m")])
    assert proposal.elsewhere("boxes") == frozenset()
    assert proposal.with_models("boxes", apart=True).roles == (TRUTH, "A", "B")
    assert merged_origin([proposal.files[at].member.origin for at in (1, 2)]).name == "2 files, m1 first"
    both = propose([truth("one", "ab"), truth("two", "cd"), file("m", of("cd"))])
    assert both.truth_choices("boxes")[1][1].roles == (TRUTH, UNUSED, "A")
    assert headline(both) == "Ready: 1 ground truth, 1 model, 4 documents"


def test_predictions_alone_can_be_compared_with_one_of_them() -> None:
    proposal = propose([file("m1", of("ab")), file("m2", of("ab")), file("m3", of("z"))])
    assert headline(proposal, others=2) == "No ground truth among these 5 files"
    reference = proposal.as_reference()
    assert reference is not None
    assert reference.roles == (TRUTH, "A", UNUSED)
    assert headline(propose([truth("one", "ab")])) == "No prediction in this file"
    assert headline(propose([]), others=1) == "The file does not have boxes, fields or poster text"
    assert headline(propose([]), others=3) == "None of the 3 files has boxes, fields or poster text"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([truth("one", "ab"), MODEL],
         (True, "Evaluate", "No PDF or image for these 2 documents: boxes on empty sheets. Drop them here, too.")),
        ([MODEL, file("n", of("abcd"))], (True, "Compare, the first model as the reference", "")),
        ([truth("one", "ab")], (False, "Evaluate", "Drop the output of a model here, too, or change a role.")),
        ([MODEL], (False, "Evaluate", "Drop a ground truth here, too, or change a role.")),
        ([], (False, "Evaluate", "Drop a ground truth and the output of a model here, too.")),
    ],
)  # fmt: skip
def test_the_button_says_what_it_does_and_else_what_is_missing(
    files: list[ListedFile], said: tuple[bool, str, str]
) -> None:
    shown = file_list(propose(files), [], [("x.txt", "neither")], back="Back", protocol="")
    assert (shown.ready, shown.button, shown.missing) == said
    assert shown.facts.startswith("What is read: Document Snapshot Detection") == (not files)


def test_a_file_that_cannot_be_read_takes_no_other_one_away_and_results_of_coco_name_images_by_ids() -> None:
    gt = replace(annotations(of("ab"), side="ground_truth"), name="gt", format="coco", page_ids=("1", "2"))
    results = replace(annotations(of("12")), name="r", format="coco", page_ids=("1", "2"))
    files = [
        ListedFile("boxes", side, Member(name, side, source, (), Path(name)))
        for name, side, source in (("gt", "ground_truth", gt), ("r", "prediction", results), ("x", "prediction", None))
    ]
    proposal = propose([*files, file("m", of("b"))])
    assert list(proposal.roles) == [TRUTH, "A", UNUSED, "B"]
    assert proposal.shared("boxes") == {0: 2, 1: 2, 2: 0, 3: 1}
    assert list(propose([files[0], file("m", of("z")), files[2]]).roles) == [TRUTH, "A", UNUSED]


def test_one_page_on_each_side_under_two_names_is_seen() -> None:
    pair: list[ListedFile] = [truth("one", "a"), file("m", of("b"))]
    assert propose(pair).lonely_pages() == ("a.pdf", "b.pdf")
    assert propose([truth("one", "a"), file("m", of("a"))]).lonely_pages() is None
    assert propose([truth("one", "ab"), file("m", of("c"))]).lonely_pages() is None
    assert isinstance(propose(pair).with_role(1, UNUSED), Proposal)


def test_hundreds_of_files_are_listed_in_seconds_of_the_processor() -> None:
    """A file a page is usual: 100 and 100 took 25 seconds for each change of a role; now twice as many take 0.1."""
    names = [f"page {number}" for number in range(200)]
    files = [file(f"{name}.gt", of([name]), "ground_truth") for name in names]
    files += [file(name, of([name]), model="m") for name in names]
    start = time.process_time()
    listed = file_list(propose(files), [], [], back="", protocol="")
    assert time.process_time() - start < 5.0
    assert (listed.headline, len(listed.groups[0].choices)) == ("Ready: 1 ground truth, 1 model, 200 documents", 27)
    # Of files of the same documents each is compared with some.
    assert len(propose([truth(name, "ab", shift=0.002 * at) for at, name in enumerate(names)]).notes) < 200
    assert time.process_time() - start < 15.0
