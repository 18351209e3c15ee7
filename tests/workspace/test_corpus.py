"""A corpus says what its files say, to the last bit, and is whole or is not there."""

import gc
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evaluator import project
from evaluator.data.issues import BadInput, issues_text
from evaluator.formats import columns, limits
from evaluator.formats.coco import column_parts, stream
from evaluator.formats.corpus import LIST
from evaluator.protocols.coco.evaluation import CocoNumbers
from evaluator.protocols.coco.streaming import evaluate_streamed
from evaluator.workspace import corpus
from tests.building import Box, random_rows, write_coco, write_file
from tests.protocols.test_sharding import without_boxes
from tests.reading import refusal_issues
from tests.terminal import run_command

OPTIONS: dict[str, dict[str, Any]] = {
    "snapshot": {"iou": (0.3, 0.6), "min_score": 0.2},
    "pod": {"lenient": True},
    "pixel": {"page_size": (64.0, 48.0)},
    "coco": {"iou": (0.5, 0.75)},
}
SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
TRUTH, LINES, BLOCKS = SAMPLES / "ground_truth.json", SAMPLES / "lines.json", SAMPLES / "blocks.json"


def write_snapshot(folder: Path, truth: list[Box], predicted: list[Box]) -> tuple[Path, Path]:
    return write_file(folder / "gt.json", truth, side="ground_truth"), write_file(folder / "dt.json", predicted)


def said_of(protocol: str, truth: Path, predicted: Path) -> Any:
    try:
        (evaluation,) = project.evaluate(protocol, truth, [predicted], **OPTIONS[protocol])
    except BadInput as problem:
        return problem.issues
    return evaluation.to_json(), evaluation.result.table()


@given(data=st.data(), seed=st.integers(0, 10**6))
@pytest.mark.parametrize("protocol", OPTIONS)
def test_numbers_and_issues_are_those_of_the_files(
    protocol: str, data: st.DataObject, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, rng = tmp_path_factory.mktemp("corpus"), np.random.default_rng(seed)
    truth, predicted = random_rows(seed)
    # Documents take turns, and scores are equal.
    predicted = [row._replace(score=round(row.score or 0.0, 1)) for row in predicted]
    predicted = [predicted[place] for place in rng.permutation(len(predicted)).tolist()]
    write = data.draw(st.sampled_from([write_coco] if protocol == "coco" else [write_coco, write_snapshot]))
    paths = write(folder, truth, predicted)
    try:
        corpus.make(folder / "kept", paths[0], [paths[1]])
    except BadInput as problem:
        refused = {*problem.issues}
    else:
        refused = set()
    # What cannot be kept says what the evaluation says.
    said = said_of(protocol, *paths)
    if refused:
        assert refused <= {*said}
        return
    sides = folder / "kept" / "ground_truth" / "gt.json", folder / "kept" / "predictions" / "dt.json"
    assert said_of(protocol, *sides) == said


@given(seed=st.integers(0, 10**6), pages=st.integers(1, 12))
def test_coco_takes_the_boxes_of_a_shard_from_the_columns(
    seed: int, pages: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What it says is what it says of the files, read in shards or at once."""
    folder = tmp_path_factory.mktemp("corpus")
    truth, predicted = random_rows(seed)
    paths = write_coco(folder, truth, [row._replace(score=round(row.score or 0.0, 1)) for row in predicted])
    try:
        corpus.make(folder / "kept", paths[0], [paths[1]])
    except BadInput:
        return
    sides = folder / "kept" / "ground_truth" / "gt.json", folder / "kept" / "predictions" / "dt.json"
    of_columns, of_files = (evaluate_streamed(*each, pages=pages, error_types=True) for each in (sides, paths))
    assert (of_columns is None) == (of_files is None)
    if of_columns is None or of_files is None:
        return
    assert of_columns.to_json() == of_files.to_json()
    assert of_columns.own_issues("a") == of_files.own_issues("a")
    (whole,) = project.evaluate("coco", sides[0], [sides[1]], allow_no_match=True)
    assert of_columns.numbers == cast(CocoNumbers, whole.result).numbers


@given(data=st.data(), seed=st.integers(0, 10**6), pages=st.integers(1, 12))
@pytest.mark.parametrize("protocol", ["snapshot", "pod", "pixel"])
def test_parts_of_a_corpus_say_what_the_whole_says(
    protocol: str, data: st.DataObject, seed: int, pages: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It has no boxes, or the whole was read because something about boxes has to be said."""
    # Each part ends with a collection, which takes long after the thousands of tests of a worker.
    gc.freeze()
    folder, rng = tmp_path_factory.mktemp("corpus"), np.random.default_rng(seed)
    # Many boxes are found, so that nobody looks for the reason.
    truth = [row for row in random_rows(seed, documents=6)[0] if row.document != "3.pdf"]
    predicted = [row._replace(score=round(rng.random(), 1)) for row in truth if rng.random() < 0.8]
    predicted = [predicted[place] for place in rng.permutation(len(predicted)).tolist()]
    more = data.draw(st.sampled_from([[], truth[:1], [truth[0]._replace(label="Other")]]))
    write = data.draw(st.sampled_from([write_coco, write_snapshot]))
    kept = folder / "kept"
    try:
        paths = write(folder, [*truth, *more], predicted)
        corpus.make(kept, paths[0], [paths[1]])
        (whole,) = project.evaluate(protocol, kept, [kept], **OPTIONS[protocol])
    except BadInput:
        return
    (parts,) = project.evaluate(protocol, kept, [kept], boxes=False, page_ranges=pages, **OPTIONS[protocol])
    said = [without_boxes(protocol, each) for each in (parts, whole)]
    for each in said:
        # Rankings of the boxes are kept of the whole alone.
        each.get("by_document", {}).pop("own", None)
    assert said[0] == said[1]
    # A crowd, a box that is listed again and a label without a place in the matrix are said of the whole.
    if protocol != "pixel" and write is write_snapshot and not more:
        assert not parts.has_boxes


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_interrupted_run_is_no_corpus_and_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.make(tmp_path / "whole", TRUTH, [LINES, BLOCKS])
    write, written = columns.write, []

    def stopped(folder: Path, *given: Any) -> None:
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(folder.name)
        write(folder, *given)

    with monkeypatch.context() as patch:
        patch.setattr(columns, "write", stopped)
        with pytest.raises(KeyboardInterrupt):
            corpus.make(tmp_path / "begun", TRUTH, [LINES, BLOCKS])
    assert issues_text(refusal_issues(project.evaluate, "snapshot", tmp_path / "begun", [LINES])) == (
        f"error: begun: a corpus must be whole; found no {LIST}. Run the same layoutscope corpus again, which goes on "
        "where it was.\n"
    )
    made = corpus.make(tmp_path / "begun", TRUTH, [LINES, BLOCKS])
    assert [side.name for side in made if side.boxes is not None] == ["blocks.json"]
    assert content(tmp_path / "begun") == content(tmp_path / "whole")


@given(seed=st.integers(0, 10**6), step=st.sampled_from([1 << 20, 200]))
def test_a_plain_coco_file_of_any_size_is_written_by_parts_in_the_bytes_of_all_at_once(
    seed: int, step: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, rng = tmp_path_factory.mktemp("corpus"), np.random.default_rng(seed)
    rows = [[side[at] for at in rng.permutation(len(side)).tolist()] for side in random_rows(seed, per_page=4.0)]
    assume(all(rows))
    paths = write_coco(folder, rows[0], rows[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "_is_coco", lambda *_: False)
        corpus.make(folder / "at once", paths[0], [paths[1]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_parts, "_PAGES", 5)
        patch.setattr(corpus, "_read", None)
        patch.setattr(stream, "_STEP", step)
        # What is around the records is in memory as a whole.
        patch.setattr(limits, "MAX_FILE_BYTES", 2_000)
        corpus.make(folder / "by parts", paths[0], [paths[1]])
        with pytest.raises(BadInput):
            project.evaluate("coco", *paths[:1], [paths[1]])
    assert content(folder / "by parts") == content(folder / "at once")


@pytest.mark.parametrize("limit", [limits.MAX_FILE_BYTES, 2_000])
def test_a_coco_file_of_which_something_is_to_be_said_is_written_with_it(
    limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, predicted = random_rows(4)
    paths = write_coco(tmp_path, truth, predicted)
    paths[1].write_text(paths[1].read_text().replace('"score": 0', '"score": 1', 1))
    monkeypatch.setattr(limits, "MAX_FILE_BYTES", limit)
    _, made = corpus.make(tmp_path / "kept", paths[0], [paths[1]])
    assert [issue.rule for issue in made.issues] == ["scores are expected to be in [0, 1]"]
    # What is no plain COCO has the limit that it has everywhere.
    if limit == 2_000:
        assert "may have 2,000 bytes" in issues_text(refusal_issues(corpus.make, tmp_path / "other", TRUTH, []))


def test_models_are_added_without_touching_the_others(tmp_path: Path) -> None:
    corpus.make(tmp_path / "kept", TRUTH, [LINES])
    before = content(tmp_path / "kept")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "lines.json").write_bytes(BLOCKS.read_bytes())
    with pytest.raises(BadInput) as refused:
        corpus.make(tmp_path / "kept", None, [tmp_path / "other" / "lines.json"])
    assert issues_text(refused.value.issues) == (
        "error: lines.json: a side of a corpus is made once; found another lines.json in kept. Rename the file, or "
        "choose another --out.\n"
    )
    assert content(tmp_path / "kept") == before
    corpus.make(tmp_path / "kept", None, [BLOCKS])
    after = content(tmp_path / "kept")
    assert {name: after[name] for name in before if name != LIST} == {
        name: each for name, each in before.items() if name != LIST
    }
    assert "predictions/blocks.json/xyxy.npy" in {*after} - {*before}
    with pytest.raises(BadInput) as refused:
        corpus.make(tmp_path / "kept", BLOCKS, [])
    assert issues_text(refused.value.issues) == (
        "error: blocks.json: a corpus has one ground truth; found ground_truth.json in kept. Choose another --out.\n"
    )


def test_every_command_takes_a_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "kept"
    assert run_command(capsys, "corpus", TRUTH, LINES, BLOCKS, "--out", kept) == (
        0, "ground_truth.json: 458 boxes\nlines.json: 534 boxes\nblocks.json: 494 boxes\n", "",
    )  # fmt: skip
    models = kept / "predictions" / "lines.json", kept / "predictions" / "blocks.json"
    files = ["--gt", TRUTH, "--pred", LINES, "--pred", BLOCKS]
    sides = ["--gt", kept, "--pred", models[0], "--pred", models[1]]
    for words in (
        ["evaluate", "snapshot", "--json"],
        ["compare", "snapshot", "--json", "--resamples", "50"],
        ["slices", "snapshot", "--json"],
        ["suspects", "snapshot", "--json"],
    ):
        assert run_command(capsys, *words, *sides) == run_command(capsys, *words, *files), words
    for words in (["gate", "snapshot", "--fail-if", "recall < 0.99"],):
        assert run_command(capsys, *words, *sides[:4]) == run_command(capsys, *words, *files[:4])
    written = []
    for place, (truth, out) in enumerate(((kept / "ground_truth" / TRUTH.name, "a.json"), (TRUTH, "b.json"))):
        code, _, _ = run_command(capsys, "convert", truth, "--to", "snapshot", "--out", tmp_path / out)
        written.append((code, (tmp_path / out).read_bytes()))
        assert place or code == 0
    assert written[0] == written[1]
    assert run_command(capsys, "check", kept)[1].splitlines()[-1] == "3 checked: 0 errors, 1 warning"


def test_what_a_corpus_cannot_be_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "kept"
    corpus.make(kept, TRUTH, [LINES, BLOCKS])
    lines, blocks = (kept / "predictions" / name for name in ("lines.json", "blocks.json"))
    with (lines / "xyxy.npy").open("r+b") as file:
        file.seek(200)
        file.write(b"\1")

    def refused(*words: object) -> str:
        code, out, said = run_command(capsys, *words)
        assert (code, out) == (2, "")
        return said.splitlines()[0].removeprefix("error: ")

    evaluate = "evaluate", "snapshot", "--gt"
    assert refused(*evaluate, kept, "--pred", kept) == (
        'kept: a corpus is read as its only prediction; found 2: "predictions/lines.json", "predictions/blocks.json". '
        "Name one of them below the corpus, or add it."
    )
    assert refused(*evaluate, kept, "--pred", lines) == (
        "lines.json: xyxy: the columns of a corpus must be as they were written; found others. Make it again with "
        "layoutscope corpus."
    )
    as_made = "blocks.json: a side of a corpus is read as what it was made as; found "
    assert refused(*evaluate, blocks, "--pred", LINES) == (
        f'{as_made}side "prediction", and "ground_truth" is asked for. Give the file itself.'
    )
    assert refused(*evaluate, TRUTH, "--pred", blocks, "--level", "inner") == (
        f'{as_made}level null, and "inner" is asked for. Give the file itself.'
    )
    listed = (kept / LIST).read_text()
    (kept / LIST).write_text(listed.replace("ground_truth/", "../"))
    assert refused(*evaluate, kept, "--pred", LINES) == (
        f'kept: {LIST}: the sides of a corpus must lie in it; found "../ground_truth.json". Make it again with '
        "layoutscope corpus."
    )
    (kept / LIST).write_text(listed.replace('"version": 1', '"version": 2'))
    assert refused(*evaluate, kept, "--pred", LINES) == (
        f"kept: {LIST}: a corpus must be of version 1; found 2. Make it again with layoutscope corpus."
    )
    (kept / LIST).write_text(listed.replace("predictions/blocks.json", "predictions/other.json"))
    assert refused(*evaluate, TRUTH, "--pred", blocks) == (
        "blocks.json: a side must be one that its corpus lists; found one that is not there. Make it again with "
        "layoutscope corpus."
    )
    (kept / LIST).write_text("{")
    assert refused(*evaluate, TRUTH, "--pred", blocks) == (
        f"kept: {LIST}: the list of a corpus must be as it was written; found Input data was truncated. Make it again "
        "with layoutscope corpus."
    )
    assert refused("corpus", "--pred", LINES, "--out", tmp_path / "new") == (
        "a corpus begins with a ground truth, and new has none; name it with --gt."
    )
    assert refused("corpus", LINES, "--out", tmp_path) == (
        f"{tmp_path.name}: a corpus has a folder of its own; found kept. Choose another --out, or move what is in it."
    )
