"""An evaluation that several runs share: one result to the last bit, and nothing of parts that do not belong to it."""

import json
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import project
from evaluator.data.issues import BadInput
from evaluator.metrics.results import MetricColumns
from evaluator.project import OptionError
from evaluator.system import plain_values
from evaluator.system.engine import Engine, Shard
from evaluator.system.parts import PartDone, Parts
from tests.building import random_rows, write_coco, write_file, write_items
from tests.terminal import run_command

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
OPTIONS: dict[str, dict[str, Any]] = {
    "snapshot": {"iou": (0.3, 0.6), "min_score": 0.2},
    "pod": {"lenient": True},
    "pixel": {"page_size": (64.0, 48.0)},
    "coco": {"iou": (0.5, 0.75)},
}


def evaluated(protocol: str, paths: tuple[Path, Path], **more: Any) -> Any:
    """What is said of two sides over parts; issues where they are refused."""
    try:
        (evaluation,) = project.evaluate(protocol, paths[0], [paths[1]], page_ranges=True, **OPTIONS[protocol], **more)
    except BadInput as problem:
        return problem.issues
    return evaluation.to_json(), evaluation.result.table()


@given(seed=st.integers(0, 10**6), count=st.integers(1, 6), data=st.data())
@pytest.mark.parametrize("protocol", OPTIONS)
def test_parts_make_the_result_of_one_run(
    protocol: str, seed: int, count: int, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    truth, predicted = random_rows(seed)
    predicted = [row._replace(score=round(row.score or 0.0, 1)) for row in predicted]
    if protocol == "coco":
        paths = write_coco(folder, truth, predicted)
    else:
        paths = write_file(folder / "gt.json", truth, side="ground_truth"), write_file(folder / "dt.json", predicted)
    expected = evaluated(protocol, paths)
    (folder / "parts").mkdir()
    for number in data.draw(st.permutations(range(1, count + 1))):
        try:
            said = evaluated(protocol, paths, parts=Parts(folder / "parts", "job", count, number))
        except PartDone:
            continue
        # What is evaluated as a whole has no parts; what is refused is refused by each run.
        assert said == expected
        return
    assert evaluated(protocol, paths, parts=Parts(folder / "parts", "job", count)) == expected


@pytest.mark.parametrize("protocol", ["order", "text", "tables"])
def test_parts_of_items_make_the_result_of_one_run(protocol: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    words = ("river", "gauge ", "ﬁve", "文書", "4.72", "upper-\nmost", "")

    def said() -> str:
        return "".join(words[at] for at in rng.integers(0, len(words), 4))

    def item(at: int) -> dict[str, Any]:
        box = None if rng.random() < 0.1 else [0, 30 * at, 90, 30 * at + int(rng.integers(15, 29))]
        row = "".join(f"<td>{said()}</td>" for _ in range(rng.integers(1, 4)))
        held = {"html": f"<table><tr>{row}</tr></table>"} if at == 0 else {"text": said()}
        return {"label": "table" if at == 0 else "text", "box": box, "order": int(rng.integers(0, 5)), **held}

    def side(name: str) -> Path:
        keys = [(f"d{document}", page) for document in range(5) for page in range(3) if rng.random() < 0.8]
        pages = [{"document": document, "page": page, "items": [*map(item, range(5))]} for document, page in keys]
        return write_items(tmp_path / name, pages)

    truth, read = side("truth.jsonl"), side("read.jsonl")
    (whole,) = project.evaluate(protocol, truth, [read])
    (tmp_path / "parts").mkdir()
    for number in (2, 3, 1):
        with pytest.raises(PartDone):
            project.evaluate(
                protocol, truth, [read], page_ranges=True, parts=Parts(tmp_path / "parts", "job", 3, number)
            )
    parts = Parts(tmp_path / "parts", "job", 3)
    (merged,) = project.evaluate(protocol, truth, [read], page_ranges=True, parts=parts)
    assert (merged.to_json(), merged.result.table()) == (whole.to_json(), whole.result.table())
    assert merged.result.csv_files() == whole.result.csv_files()


def part(capsys: pytest.CaptureFixture[str], out: Path, shard: str, *more: object) -> tuple[int, str, str]:
    files = "--gt", SAMPLES / "ground_truth.json", "--pred", SAMPLES / "lines.json"
    return run_command(capsys, "evaluate", "snapshot", *files, "--shard", shard, "--out", out, *more)


def test_the_terminal_writes_parts_and_merges_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "parts"
    for number in (2, 1):
        assert part(capsys, out, f"{number}/2", "--iou", "0.5") == (0, f"parts: part {number} of 2\n", "")
    files = "--gt", SAMPLES / "ground_truth.json", "--pred", SAMPLES / "lines.json", "--iou", "0.5"
    for form in (["--json"], ["--csv"], ["--markdown"], []):
        assert run_command(capsys, "merge", out, *form) == run_command(capsys, "evaluate", "snapshot", *files, *form)
    assert run_command(capsys, "merge", out, "--out", tmp_path / "result")[0] == 0
    assert json.loads((tmp_path / "result" / "result.json").read_text())["protocol"] == "snapshot"


def test_an_incomplete_or_mixed_folder_names_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "parts"

    def refused(change: Callable[[], object]) -> str:
        change()
        code, said, problem = run_command(capsys, "merge", out)
        assert (code, said) == (2, "")
        return problem.removeprefix("error: ").removesuffix("\n")

    part(capsys, out, "2/3")
    assert refused(lambda: None) == "2 of 3 parts are missing: 1/3, 3/3; run evaluate --shard for each of them."
    for shard in ("1/3", "3/3"):
        part(capsys, out, shard)
    whole = (out / "part-1-of-3").read_bytes()
    # Cut off; then what nobody here wrote: no values, a number, one that names no class, 1,023 lists in each other.
    strange = (b"", b"\xc1", b"\x01", b"\x94\xa6object\xa2os\xa6system\x80", b"\x92\xa4list\x91" * 1_023 + b"\x01")
    for content in (whole[:-1], *(b"%08x" % zlib.crc32(each) + each for each in strange)):
        damaged = refused(partial((out / "part-1-of-3").write_bytes, content))
        assert damaged == "part-1-of-3 is damaged; run evaluate --shard 1/3 again."
    part(capsys, tmp_path / "other", "1/3", "--iou", "0.7")
    other = (tmp_path / "other" / "part-1-of-3").read_bytes()
    assert refused(lambda: (out / "part-1-of-3").write_bytes(other)) == (
        "part-1-of-3 is of another evaluation; run evaluate --shard 1/3 again, or remove it."
    )
    (out / "part-1-of-3").write_bytes(whole)
    assert refused(lambda: (out / "part-1-of-2").write_bytes(b"")) == (
        "part-1-of-2 is of another evaluation, which has 3 parts; remove it."
    )
    assert refused(lambda: (out / "job.json").write_text("{")) == (
        "parts has no parts of an evaluation; give the --out of evaluate --shard."
    )
    assert part(capsys, tmp_path / "other", "2/3") == (
        2, "", "error: other has parts of another evaluation; choose another --out.\n",
    )  # fmt: skip
    for shard in ("4/3", "0/3", "3", "a/b"):
        assert part(capsys, out, shard) == (
            2, "", f'error: --shard must be a part and their number, such as "3/64"; found {shard}.\n',
        )  # fmt: skip
    assert part(capsys, out, "1/3", "--json") == (
        2, "", "error: --shard goes with --out alone; layoutscope merge writes the result.\n",
    )  # fmt: skip


def test_parts_of_files_that_have_changed_are_refused(tmp_path: Path) -> None:
    truth, predicted = random_rows(3)
    paths = write_file(tmp_path / "gt.json", truth, side="ground_truth"), write_file(tmp_path / "dt.json", predicted)
    with pytest.raises(PartDone):
        evaluated("snapshot", paths, parts=Parts(tmp_path, "job", 1, 1))
    write_file(paths[1], predicted[1:])
    with pytest.raises(
        OptionError, match=r"^part-1-of-1 is of files that have changed since; run evaluate --shard 1/1 "
    ):
        evaluated("snapshot", paths, parts=Parts(tmp_path, "job", 1))


def test_any_executor_does_the_work_and_stays_its_owners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.protocols.sharding.LARGE", 0)
    paths = SAMPLES / "ground_truth.json", SAMPLES / "lines.json"
    with ThreadPoolExecutor(2) as pool:
        assert evaluated("snapshot", paths, executor=pool) == evaluated("snapshot", paths)
        with Engine(pool) as engine:
            assert engine.run(str, [1, 2]) == ["1", "2"]
        assert pool.submit(int, "3").result() == 3


def test_values_come_back_as_they_were() -> None:
    sums = {"tp": np.array([1, 2]), "fp": np.array([0, 1]), "fn": np.array([3, 0])}
    plain = [Shard(1, 2), None, True, 1e-300, "a", np.float64(2)]
    given_values = {0.5: (MetricColumns(**sums, sum_of_fit=None), plain)}
    again = plain_values.from_bytes(plain_values.to_bytes(given_values))
    assert again[0.5][0].tp.tolist() == [1, 2]
    assert again[0.5][1] == plain
    for strange in (object(), Path(), print):
        with pytest.raises(TypeError):
            plain_values.to_bytes(strange)


@pytest.mark.parametrize(
    "value",
    [
        ["object", "os", "system", {}],
        ["object", "evaluator.cli.program", "run", {}],
        ["x", []],
    ],
)
def test_bytes_make_nothing_but_values(value: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"^no values of this package$"):
        plain_values.from_bytes(msgspec.msgpack.encode(value))
