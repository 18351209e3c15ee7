"""``--page-ranges``: every protocol says of parts what it says of the whole, to the last bit, but for single boxes."""

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import project
from evaluator.compare.stored_results import stored_values
from evaluator.data.dataset import Annotations
from evaluator.data.issues import BadInput
from evaluator.metrics.results import MetricColumns
from evaluator.project import OptionError
from evaluator.protocols import PROTOCOLS, sharding
from evaluator.protocols.base import Evaluation, Source
from evaluator.protocols.sharding import DocumentShards, run_in_shards
from evaluator.system.engine import processes
from tests.building import Box, annotations, ground_truth, posters, random_rows, write_file
from tests.engine_work import Lent, no_main
from tests.reading import refusal_issues
from tests.sample_part import write_part
from tests.terminal import run_command
from tests.toys.centres import Centres

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
BOXES = SAMPLES / "ground_truth.json", SAMPLES / "lines.json"
FILES: dict[str, tuple[Path, Path]] = {
    "snapshot": BOXES,
    "pod": BOXES,
    "pixel": BOXES,
    "fields": (SAMPLES / "fields" / "ground_truth", SAMPLES / "fields" / "anchors"),
    "posters": (SAMPLES / "posters" / "ground_truth", SAMPLES / "posters" / "columns"),
}
# What a result over parts does not have, by protocol.
ABSENT = {"pixel": {"documents", "pages"}}
OPTIONS: Mapping[str, Sequence[dict[str, Any]]] = {
    "snapshot": (
        {},
        {"iou": (0.3, 0.6), "min_score": 0.4, "class_weight": {"Table": 0.3}},
        {"labels": ("Table",), "min_area": 0.01},
    ),
    "pod": ({"lenient": True}, {"lenient": True, "ap": "all-point", "min_score": 0.4, "labels": ("Table",)}),
    "pixel": (
        {"page_size": (64.0, 48.0)},
        {"page_size": (64.0, 48.0), "classes": "different", "exact": True, "min_score": 0.4},
        {"page_size": (64.0, 48.0), "missing_page": "ignore", "labels": ("Table",)},
    ),
}


DOCUMENTS = 6


def rows_of(seed: int) -> tuple[list[Box], list[Box]]:
    """Both sides; the documents of the predictions take turns in their file, some have none, and scores are equal."""
    truth, predicted = random_rows(seed, documents=DOCUMENTS)
    rng = np.random.default_rng(seed)
    absent = f"{rng.integers(2 * DOCUMENTS)}.pdf"
    kept = [row._replace(score=round(row.score or 0.0, 1)) for row in predicted if row.document != absent]
    return truth, [kept[place] for place in rng.permutation(len(kept)).tolist()]


def posters_of(names: Sequence[int], rng: np.random.Generator) -> dict[str, Any]:
    words = ["rain", "soil", "2.5", "17 plots", "leaf", "error of 4", "river"]
    texts = {f"p{name}": " ".join(rng.choice(words, size=rng.integers(1, 9))) for name in names}
    return {name: {"posterContent": {"sections": [{"sectionContent": text}]}} for name, text in texts.items()}


def without_boxes(name: str, evaluation: Evaluation) -> dict[str, Any]:
    said = {key: value for key, value in evaluation.to_json().items() if key not in ABSENT.get(name, ())}
    result = evaluation.result
    tables = {"table": result.table(), "csv": result.csv_table(), "files": result.csv_files()}
    return {**said, **stored_values(result), **tables}


def assert_equal(name: str, truth: Source, predicted: Source, pages: int | bool, **chosen: Any) -> None:
    """Of parts is said what is said of the whole, or they are refused with the same issues."""
    protocol = PROTOCOLS[name]
    options = project.options_of(protocol, **chosen)
    said: list[Any] = []
    for evaluate in (
        lambda: protocol.evaluate(truth, [predicted], options)[0],
        lambda: protocol.evaluate_in_shards(truth, predicted, options, partial(run_in_shards, pages=pages)),
    ):
        try:
            said.append(without_boxes(name, evaluate()))
        except BadInput as problem:
            said.append(problem.issues)
    assert said[0] == said[1]


@given(data=st.data(), seed=st.integers(0, 10**6), pages=st.integers(1, 20))
@pytest.mark.parametrize("name", OPTIONS)
def test_boxes(name: str, data: st.DataObject, seed: int, pages: int) -> None:
    chosen = data.draw(st.sampled_from(OPTIONS[name]))
    truth, predicted = rows_of(seed)
    # One document has no page, another one has only an empty page, and each is on one side alone.
    sides = ground_truth(truth, documents=["no page.pdf"]), annotations(predicted, pages=[("a page.pdf", 3)])
    assert_equal(name, *sides, pages, **chosen)


@given(seed=st.integers(0, 10**6), pages=st.integers(1, 8))
@pytest.mark.parametrize("profile", ["documented", "published"])
def test_posters(profile: str, seed: int, pages: int) -> None:
    rng = np.random.default_rng(seed)
    truth, predicted = (posters_of(range(DOCUMENTS), rng) for _ in range(2))
    del predicted[f"p{rng.integers(DOCUMENTS)}"]
    assert_equal("posters", posters(truth, "gold"), posters(predicted, "run"), pages, profile=profile)


@pytest.mark.parametrize("chosen", [{}, {"min_score": 0.6, "parity": "stickler", "iou": (0.5, 0.75)}], ids=str)
def test_fields(chosen: dict[str, Any]) -> None:
    protocol = PROTOCOLS["fields"]
    options = project.options_of(protocol, **chosen)
    truth, (predicted,) = project.open_project(protocol, FILES["fields"][0], [FILES["fields"][1]], options).required()
    for pages in (1, 2, 5, 100, True):
        assert_equal("fields", truth, predicted, pages, **chosen)


def test_single_documents_of_two_names_are_one(tmp_path: Path) -> None:
    paths = []
    for name in ("a.json", "b.json"):
        paths.append(tmp_path / name)
        paths[-1].write_bytes((FILES["fields"][0] / "pitch-tan.json").read_bytes())
    whole, parts = (project.evaluate("fields", paths[0], paths[1:], page_ranges=pages)[0] for pages in (0, 1))
    assert whole.to_json() == parts.to_json()
    assert whole.to_json()["mean_ap"] > 0.999


@pytest.fixture(scope="module")
def lent() -> Iterator[Callable[[], Executor]]:
    with no_main(), processes() as owned:
        yield lambda: Lent(owned)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_part(tmp_path_factory.mktemp("few"), "tram-options.pdf", "groundwater-note.pdf", "rainfall-atlas.pdf")


@cache
def said_of_files(name: str, few: Path, **more: Any) -> dict[str, Any]:
    truth, predicted = FILES[name]
    if name == "pixel":
        truth, predicted, more = few / truth.name, few / predicted.name, {**more, "pdfs": SAMPLES / "pdf"}
    (evaluation,) = project.evaluate(name, truth, [predicted], **more)
    return without_boxes(name, evaluation)


@pytest.mark.parametrize("in_processes", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_files(
    name: str, in_processes: bool, few: Path, lent: Callable[[], Executor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharding, "LARGE", 0)
    given: list[Executor] = []

    def noted() -> Executor:
        given.append(lent())
        return given[-1]

    parts = said_of_files(name, few, page_ranges=4, **({"executor": noted} if in_processes else {}))
    assert parts == said_of_files(name, few)
    assert len(given) == in_processes


@given(seed=st.integers(0, 10**6), pages=st.integers(1, 20))
def test_every_box_and_document_is_in_one_part(seed: int, pages: int) -> None:
    truth, predicted = rows_of(seed)
    sides = ground_truth(truth, documents=["no page.pdf"]), annotations(predicted)
    cuts = list(DocumentShards(*sides, pages))
    places = np.concatenate([predicted.boxes.row for _, predicted in cuts])
    assert sorted(places.tolist()) == list(range(len(predicted)))
    for at, whole in enumerate(sides):
        parts: list[Annotations] = [cut[at] for cut in cuts]
        names = [document.doc_id for part in parts for document in part.documents]
        assert sorted(names) == sorted(document.doc_id for document in whole.documents)
        assert sum(len(part.page_index) for part in parts) == len(whole.page_index)
    for _, part in cuts:
        assert part.boxes.xyxy.tolist() == sides[1].boxes.xyxy[part.boxes.row].tolist()
        doc_ids = [document.doc_id for document in part.documents]
        assert [doc_ids[code] for code in part.boxes.document] == [predicted[at].document for at in part.boxes.row]


def test_columns_that_know_no_fit_are_sent_as_they_are() -> None:
    counts = np.array([1, 2])
    again = pickle.loads(pickle.dumps(MetricColumns(counts, counts, counts, sum_of_fit=None)))
    assert again.f1.tolist() == [0.5, 0.5]
    assert np.isnan(again.mean_iou).all()


def test_two_sides_without_a_page_are_one_part() -> None:
    assert len(DocumentShards(ground_truth([]), annotations([]), 3)) == 1
    assert_equal("snapshot", ground_truth([]), annotations([]), 3)


def test_a_protocol_without_partials_evaluates_the_whole() -> None:
    truth, predicted = ([row for row in rows if row.document < "2"] for rows in rows_of(1))
    protocol = Centres()
    options = project.options_of(protocol, page_ranges=2)
    (evaluation,) = project.evaluate_read(protocol, ground_truth(truth), [annotations(predicted)], options)
    (whole,) = project.evaluate_read(protocol, ground_truth(truth), [annotations(predicted)], protocol.options())
    assert evaluation.to_json() == whole.to_json()


def test_boxes_are_there_when_they_are_asked_for() -> None:
    truth, predicted = rows_of(4)
    sides = ground_truth(truth), annotations(predicted)
    for name in ("snapshot", "pod", "pixel"):
        protocol = PROTOCOLS[name]
        options = project.options_of(protocol, page_size=(64.0, 48.0))
        (whole,) = protocol.evaluate(sides[0], [sides[1]], options)
        parts = protocol.evaluate_in_shards(*sides, options, partial(run_in_shards, pages=2))
        dataset = whole.result.evaluated
        assert parts.result.on(dataset).to_json() == whole.result.on(dataset).to_json()
        assert parts.result.pairing_on(dataset).micro.row(0) == whole.result.pairing_on(dataset).micro.row(0)
        if name != "pixel":
            assert parts.result.first.micro.row(0) == whole.result.first.micro.row(0)


def test_what_does_not_match_is_told_as_ever(tmp_path: Path) -> None:
    truth, predicted = ([row for row in rows if row.document in ("1.pdf", "2.pdf")] for rows in rows_of(3))
    paths = [
        write_file(tmp_path / "gt.json", truth, side="ground_truth"),
        write_file(tmp_path / "dt.json", [row._replace(document=f"other {row.document}") for row in predicted]),
    ]
    refused = partial(refusal_issues, project.evaluate, "snapshot", paths[0], paths[1:])
    issues = [refused(page_ranges=page_ranges) for page_ranges in (0, 2)]
    assert issues[0] == issues[1]
    assert issues[0][-1].severity == "error"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    return run_command(capsys, "evaluate", "snapshot", "--gt", BOXES[0], "--pred", BOXES[1], *words)


def test_the_flag_takes_a_number_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    expected = run(capsys, "--csv")
    assert expected[0] == 0
    for words in (["--page-ranges"], ["--page-ranges", "1"], ["--page-ranges=7"], ["--page-ranges=0"]):
        assert run(capsys, *words, "--csv") == expected, words
    words = ["--page-ranges", "snapshot", "--gt", BOXES[0], "--pred", BOXES[1], "--csv"]
    assert run_command(capsys, "evaluate", *words)[:2] == expected[:2]
    sentence = "error: --page-ranges leaves no boxes that --findings could correct; choose one of them.\n"
    assert run(capsys, "--page-ranges", "3", "--findings", "file") == (2, "", sentence)
    refused = "error: --page-ranges must be a number of 0 or more; found -2.\n"
    assert run(capsys, "--page-ranges=-2") == (2, "", refused)
    with pytest.raises(OptionError, match=r"^--page-ranges must be a whole number; found 2\.5$"):
        project.options_of(project.protocol_named("snapshot"), page_ranges=2.5)


def test_models_are_not_compared_without_boxes() -> None:
    sentence = r"^--page-ranges leaves no boxes to compare; it belongs to layoutscope evaluate$"
    for name, (truth, predicted) in FILES.items():
        with pytest.raises(OptionError, match=sentence):
            project.evaluate_together(name, truth, [predicted], page_ranges=3)
