"""One part of an evaluation that several runs share, and what is evaluated, for those that merge the parts."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any, Final, get_type_hints

import msgspec

from evaluator.cli.from_project import ComparedFiles
from evaluator.cli.program import OK, UsageError, in_one_sentence, writing
from evaluator.cli.progress import progress
from evaluator.data.issues import plain
from evaluator.project import MergedFiles, OptionError, evaluate, one_input, paths_of
from evaluator.protocols import PROTOCOLS
from evaluator.protocols.base import Evaluation
from evaluator.system.atomic_write import atomic_write
from evaluator.system.clusters import executor_of
from evaluator.system.decoding import convert, json_decoder
from evaluator.system.parts import JOB, PartDone, PartError, Parts
from evaluator.system.version import __version__

_SHARD: Final = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What is evaluated, and in how many parts; `options` as JSON has them."""

    version: str
    protocol: str
    ground_truth: tuple[str, ...]
    prediction: tuple[str, ...]
    options: dict[str, Any]
    parts: int

    @property
    def sides(self) -> tuple[Path | MergedFiles, Path | MergedFiles]:
        """Return what is compared."""
        return one_input([*map(Path, self.ground_truth)]), one_input([*map(Path, self.prediction)])

    @property
    def chosen(self) -> dict[str, Any]:
        """Return the options as the protocol takes them."""
        hints = get_type_hints(PROTOCOLS[self.protocol].options)
        # One folder of those that the option may have.
        return {
            name: Path(value) if name == "pdfs" else convert(value, hints[name]) for name, value in self.options.items()
        }


_job_of: Final = json_decoder(Job)


def write_part(compared: ComparedFiles, shard: str, out: Path) -> int:
    """Evaluate one part, "3/64", and write it into a folder."""
    numbers = _SHARD.fullmatch(shard)
    number, count = (int(each) for each in numbers.groups()) if numbers else (1, 0)
    if number > count:
        raise UsageError(f'--shard must be a part and their number, such as "3/64"; found {shard}.')
    if len(compared.pred) != 1:
        raise UsageError("--shard takes one --pred; run each model by itself, into a folder of its own.")
    options = {name: value for name, value in compared.options.items() if name != "page_ranges"}
    truth, prediction = (
        tuple(str(path.resolve()) for path in paths_of(side)) for side in (compared.gt, compared.pred[0])
    )
    job = Job(
        version=__version__,
        protocol=compared.protocol,
        ground_truth=truth,
        prediction=prediction,
        options=msgspec.to_builtins(options, enc_hook=str),
        parts=count,
    )
    content = msgspec.json.format(msgspec.json.encode(job)) + b"\n"
    with writing("--out", out):
        out.mkdir(parents=True, exist_ok=True)
        if not (out / JOB).exists():
            atomic_write(out / JOB, [content])
    if (out / JOB).read_bytes() != content:
        raise UsageError(f"{plain(out.name)} has parts of another evaluation; choose another --out.")
    try:
        evaluated_in(out, job, content, number)
    except PartDone:
        print(f"{plain(out.name)}: part {number} of {count}")
        return OK
    raise UsageError(f"{job.protocol} evaluates these files, with these options, as a whole; leave out --shard.")


def read_job(folder: Path) -> tuple[Job, bytes]:
    """Return what is evaluated in a folder of parts, and its bytes; UsageError where that is not clear."""
    try:
        content = (folder / JOB).read_bytes()
        job = _job_of(content)
    except (OSError, ValueError):
        name = plain(folder.name)
        raise UsageError(f"{name} has no parts of an evaluation; give the --out of evaluate --shard.") from None
    if job.version != __version__:
        raise UsageError(f"the parts are of layoutscope {plain(job.version)}; merge them with that version.")
    return job, content


def evaluated_in(folder: Path, job: Job, content: bytes, number: int | None = None) -> list[Evaluation]:
    """Return the evaluation of all parts; PartDone when one, from 1, is written."""
    truth, prediction = job.sides
    with progress("Reading") as say, in_one_sentence(OptionError, PartError):
        parts = Parts(folder, hashlib.sha256(content).hexdigest(), job.parts, number)
        return evaluate(
            job.protocol,
            truth,
            [prediction],
            say,
            say.count,
            executor=executor_of("local"),
            parts=parts,
            page_ranges=True,
            **job.chosen,
        )
