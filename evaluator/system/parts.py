"""What was worked out of shards by several runs, as a folder of files: each run adds its part, the last one has all."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar, cast

from evaluator.system import plain_values
from evaluator.system.atomic_write import atomic_write

JOB: Final = "job.json"
"""The name of the file that says what is evaluated."""
_NAME: Final = re.compile(r"part-(\d+)-of-(\d+)")
_MOST_NAMED: Final = 10

T = TypeVar("T")
R = TypeVar("R")


class PartError(ValueError):
    """Raised for a folder of parts that cannot be used; one sentence with its fix."""


class PartDone(Exception):
    """Raised when the part of this run is written, so that nothing else is worked out."""


class Parts:
    """The parts of one evaluation; `number` is the one that this run works out, from 1, None when all are there.

    `job` is the digest of what is evaluated, and `count` how many parts there are.
    """

    def __init__(self, folder: Path, job: str, count: int, number: int | None = None) -> None:
        self._folder, self._job, self.count, self._number = folder, job, count, number
        if number is None:
            self._need_all()

    def run(self, shards: Sequence[T], sources: Sequence[str], work: Callable[[Sequence[T]], list[R]]) -> list[R]:
        """Return the results of all shards; PartDone when those of this run's part are written.

        `sources` are the digests of what the shards are of. PartError when a part is not of these.
        """
        known = self._job, len(shards), list(sources)
        if self._number is not None:
            results = work([shards[at] for at in range(self._number - 1, len(shards), self.count)])
            content = plain_values.to_bytes({"of": known, "results": results})
            try:
                atomic_write(self._place(self._number), [b"%08x" % zlib.crc32(content), content])
            except OSError as problem:
                raise PartError(f"{self._folder.name} must be writable; found {problem.strerror}") from problem
            raise PartDone
        every: list[R] = [None] * len(shards)  # type: ignore[list-item]
        for number in range(1, self.count + 1):
            every[number - 1 :: self.count] = self._results(number, known)
        return every

    def _results(self, number: int, known: tuple[str, int, list[str]]) -> list[R]:
        place = self._place(number)
        try:
            content = place.read_bytes()
        except OSError as problem:
            raise PartError(f"{place.name} must be readable; found {problem.strerror}") from problem
        name, again = place.name, f"run evaluate --shard {number}/{self.count} again"
        try:
            if content[:8] != b"%08x" % zlib.crc32(content[8:]):
                raise ValueError("other bytes than were written")
            part = plain_values.from_bytes(content[8:])
            of, results = part["of"], part["results"]
            job: str = of[0]
        except (LookupError, TypeError, ValueError):
            raise PartError(f"{name} is damaged; {again}") from None
        if job != self._job:
            raise PartError(f"{name} is of another evaluation; {again}, or remove it")
        if of != known:
            raise PartError(f"{name} is of files that have changed since; {again}")
        return cast(list[R], results)

    def _need_all(self) -> None:
        there = {each.name for each in self._folder.iterdir() if _NAME.fullmatch(each.name)}
        wanted = {self._place(number).name: number for number in range(1, self.count + 1)}
        if strange := sorted(there - {*wanted}):
            raise PartError(f"{strange[0]} is of another evaluation, which has {self.count} parts; remove it")
        if missing := sorted(number for name, number in wanted.items() if name not in there):
            some = ", ".join(f"{number}/{self.count}" for number in missing[:_MOST_NAMED])
            more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
            raise PartError(
                f"{len(missing)} of {self.count} parts are missing: {some}{more}; run evaluate --shard for each of them"
            )

    def _place(self, number: int) -> Path:
        return self._folder / f"part-{number:0{len(str(self.count))}}-of-{self.count}"
