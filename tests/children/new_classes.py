"""Two threads that check a value against a class that neither has seen, many times; prints how often both could."""

from __future__ import annotations

import sys
import threading
import types

from evaluator.system.decoding import convert

CLASSES = """
from __future__ import annotations
import msgspec

class Page(msgspec.Struct):
    number: int
    body: Body | None = None
    lines: list[Line] = []

class Body(msgspec.Struct):
    size: float = 0.0
    sides: list[float] = []
    lines: list[Line] = []

class Line(msgspec.Struct):
    text: str = ""
    words: dict[str, int] = {}
"""
LINE = {"text": "a", "words": {"a": 1}}
PAGE = {"number": 1, "body": {"size": 1.0, "sides": [1.0], "lines": [LINE]}, "lines": [LINE] * 50}


def main(times: int) -> None:
    sys.setswitchinterval(1e-6)
    read: list[int] = []
    for at in range(times):
        module = sys.modules[f"new_classes_{at}"] = types.ModuleType(f"new_classes_{at}")
        exec(CLASSES, vars(module))
        together = threading.Barrier(2)

        def check(kind: type = module.Page, together: threading.Barrier = together) -> None:
            together.wait()
            read.append(convert(PAGE, kind).number)

        threads = [threading.Thread(target=check) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(len(read))


if __name__ == "__main__":
    main(int(sys.argv[1]))
