"""Good annotations, and ways to change files at random as an attacker would; those that are no annotations are in
`attacks_files`. A reader gives columns or raises `BadInput` with issues; ``bench_attack`` runs large counts.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import json
import random
import re
import sys
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree

import numpy as np

import evaluator
from evaluator import formats
from evaluator.data.issues import BadInput
from evaluator.formats.base import Reading
from evaluator.formats.writers import WRITERS
from tests import attacks_files
from tests.building import box, ground_truth, snapshot_file

OWN: Final = Path(__file__).with_name("oracles") / "formats"
SAMPLE: Final = Path(__file__).resolve().parents[1] / "sample_data"
# What is followed to see how far a file came.
_READERS: Final = tuple(
    str(Path(evaluator.__file__).parent / place)
    for place in (
        "formats", "data", "review", "compare", "analysis", "workspace", str(Path("pack", "diff.py")),
    )
)  # fmt: skip
# Values that a page of HTML carries: what is around them is not changed, so that they are reached.
_CARRIED: Final = re.compile(rb'(<script type="application/json"[^>]*>)([^<]*)(</script>)')
# A file that grew by its changes is not changed again: the next would only be larger.
_MOST_CHANGED: Final = 50_000
# What numbers, names and brackets are exchanged for.
ODD: Final = (
    b"null", b"true", b"[]", b"{}", b'""', b"-1", b"0", b"1e400", b"NaN", b"1e-320", b"99999999999999999999",
    b'"\\ud800"', b"[[[[", b"}}", b"\x00", b"\xff\xfe", b"&x;", b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>",
    b"../../etc", b"a" * 3000, b'["x"]', b'{"a": 1}', "\u202e".encode(),
)  # fmt: skip


# What values of well-formed files are exchanged for.
_ODD_VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 0.5, 1e308, -1e308, 5e-324, 2**31, 2**53 + 1, -(2**63), 2**64,
    "", " ", "0", "1.0", "-1", "nan", "a\u0000b", "\u202ea", "\U0001f4c4" * 40, "x" * 3000,
    "../../etc/passwd", "C:\\a", "//host/a", [], {}, [[]], [None], ["x"], {"": None}, {"x": 1, "y": 1},
    [0], [0, 0], [1, 1, 1, 1], [1, 2, 3, 4, 5], [0.0] * 8, [[0, 0], [1, 0], [1, 1]],
)  # fmt: skip
_ODD_CELLS: Final = (
    "", " ", "0", "-1", "1", "0.5", "1e308", "1e400", "nan", "inf", "2147483648", "18446744073709551616", "true", "a",
    "1,1", "1,1 5,5", "5,5 1,1 1,1", "-1,-1 2,2 3,3", "\u202ea", "../../etc/passwd", "//host/a", "x" * 3000,
    "\u0661", "0x10", "1_0",
)  # fmt: skip


# A good file of formats that nobody writes, or writes in another way.
_BY_HAND: Final = {
    "pod": ("xml", b'<document filename="a.png"><tableRegion><Coords points="1,1 5,5"/></tableRegion></document>'),
    "table": ("csv", b"document,page_index,label,x1,y1,x2,y2,score\na.pdf,0,Table,0.1,0.1,0.4,0.4,0.5\n"),
    "voc": ("xml", b"<annotation><filename>a.png</filename><size><width>9</width><height>9</height></size><object>"
            b"<name>T</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>5</ymax></bndbox></object>"
            b"</annotation>"),
    "alto": ("xml", b'<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page ID="p" WIDTH="9" HEIGHT="9" '
             b'PHYSICAL_IMG_NR="1"><PrintSpace><TextBlock ID="b" HPOS="1" VPOS="1" WIDTH="5" HEIGHT="5"/></PrintSpace>'
             b"</Page></Layout></alto>"),
    "ctdar": ("xml", b'<document filename="a.png"><table><Coords points="1,1 1,5 5,5 5,1"/></table></document>'),
    "image-folder": ("jsonl", b'{"file_name": "a.png", "objects": {"bbox": [[1, 1, 5, 5]], "categories": ["T"]}}\n'),
    "fields": ("json", b'{"total": {"_value": "1.50", "_confidence": 0.5, "_bbox": [1, 1, 5, 5], "_page": 0}, "lines": '
               b'[{"n": {"_value": 1, "_bbox": [[1, 1], [5, 5]]}}], "date": "1 May"}'),
}  # fmt: skip


class Attempt(NamedTuple):
    """What a reader did with one file: the error that was no `BadInput`, empty for none, and processor seconds."""

    reader: str
    name: str
    content: bytes
    uncaught: str
    seconds: float


def good_files() -> dict[str, list[tuple[str, bytes]]]:
    """Name and content of good files by the name of the reader: every format, and what is no annotations besides."""
    return {reader: list(files) for reader, files in _good_files().items()}


@functools.cache
def _good_files() -> dict[str, list[tuple[str, bytes]]]:
    rows = [box(0.1, 0.1, 0.4, 0.4), box(0.5, 0.1, 0.9, 0.4, label="Table", page=1)]
    sized = replace(ground_truth(rows), page_size=np.array([[600.0, 800.0], [600.0, 800.0]]))
    files: dict[str, list[tuple[str, bytes]]] = {name: [] for name in formats.FORMATS if name != "markdown"}
    for name, writer in WRITERS.items():
        files[name] += [(path.rsplit("/", 1)[-1], content) for path, content in writer.convert(sized).files.items()]
    files["snapshot"].append(("p.json", json.dumps(snapshot_file([row._replace(score=0.5) for row in rows])).encode()))
    for name, (ending, content) in _BY_HAND.items():
        files[name].append((f"a.{ending}", content))
    for path in sorted((SAMPLE / "posters").rglob("*.json"))[:2]:
        files["posters"].append((path.name, path.read_bytes()))
    for path in sorted(OWN.glob("*")):
        if path.suffix in (".json", ".xml", ".csv") and path.stat().st_size < 200_000:
            content = path.read_bytes()
            try:
                files[formats.detect_bytes(content, path.name)].append((path.name, content))
            except BadInput:
                continue
    return files | {name: list(reader.good()) for name, reader in attacks_files.READERS.items()}


def changed(content: bytes, chance: random.Random) -> bytes:
    """A file with one to four changes: bytes, words, pieces that are missing, twice or somewhere else.

    Half of the files stay well-formed, so that they pass the parser and reach the rules of the format.
    """
    if chance.random() < 0.5 and (well_formed := _reshaped(content, chance)) is not None:
        return well_formed
    for _ in range(chance.randint(1, 4)):
        content = once(content, chance)
    return content


def _reshaped(content: bytes, chance: random.Random) -> bytes | None:
    """A file of JSON, XML, TOML or lines with one to three values, elements or cells changed; None for others."""
    times = chance.randint(1, 3)
    if (carried := _CARRIED.search(content)) is not None:
        inner = (_reshaped(carried[2], chance) or b"").replace(b"<", b"\\u003c")
        return content[: carried.start(2)] + inner + content[carried.end(2) :]
    with contextlib.suppress(ValueError):
        value = json.loads(content)
        for _ in range(times):
            value = _reshaped_json(value, chance)
        return json.dumps(value).encode()
    with contextlib.suppress(ValueError):
        rows = list(map(json.loads, content.splitlines()))
        for _ in range(times if rows else 0):
            place = chance.randrange(len(rows))
            rows[place] = _reshaped_json(rows[place], chance)
        return b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    # The last two are about the name of the encoding.
    with contextlib.suppress(ElementTree.ParseError, LookupError, ValueError):
        root = ElementTree.fromstring(content)
        for _ in range(times):
            _reshape_xml(root, chance)
        return ElementTree.tostring(root)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    # A file without values, and a number with thousands of digits, are lines like others.
    with contextlib.suppress(ValueError):
        value = tomllib.loads(text)
        for _ in range(times if value else 0):
            value = _reshaped_json(value, chance)
        if value and isinstance(value, dict):
            return "".join(f"{json.dumps(key)} = {_toml(each)}\n" for key, each in value.items()).encode()
    lines = text.splitlines()
    separator = "," if any("," in line for line in lines) else " "
    for _ in range(times if lines else 0):
        place = chance.randrange(len(lines))
        cells = lines[place].split(separator)
        cells[chance.randrange(len(cells))] = chance.choice(_ODD_CELLS)
        lines[place] = separator.join(cells)
        if chance.random() < 0.2:
            lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    return "\n".join(lines).encode()


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return '"null"' if value is None else json.dumps(value, default=str)


def _reshaped_json(value: Any, chance: random.Random) -> Any:
    """The value with one of the values in it exchanged, left out, doubled or wrapped."""
    holders: list[tuple[Any, Any]] = [(None, None)]
    waiting: list[Any] = [value]
    while waiting:
        inner = waiting.pop()
        keys: Any = list(inner) if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ()
        holders += [(inner, key) for key in keys]
        waiting += [inner[key] for key in keys]
    holder, key = chance.choice(holders[1:] or holders)
    # A copy: what is put in may be changed next.
    odd = copy.deepcopy(chance.choice(_ODD_VALUES))
    if holder is None:
        return odd
    match chance.randrange(6):
        case 0:
            del holder[key]
        case 1:
            holder[key] = [holder[key]]
        case 2:
            holder[key] = {str(odd): holder[key]}
        case 3 if isinstance(holder, list):
            holder.insert(chance.randrange(len(holder) + 1), holder[key])
        case 4:
            # A value of somewhere else in the same file: the right type in the wrong place, as often as not.
            other, place = chance.choice(holders[1:])
            holder[key] = copy.deepcopy(other[place])
        case _:
            holder[key] = odd
    return value


def _reshape_xml(root: ElementTree.Element, chance: random.Random) -> None:
    """Change one element: an attribute, its text, its name, its children."""
    element = chance.choice(list(root.iter()))
    match chance.randrange(6):
        case 0 if element.attrib:
            del element.attrib[chance.choice(sorted(element.attrib))]
        case 1 | 2 if element.attrib:
            element.set(chance.choice(sorted(element.attrib)), chance.choice(_ODD_CELLS))
        case 3 if len(element):
            element.remove(chance.choice(list(element)))
        case 4 if len(element):
            element.append(copy.deepcopy(chance.choice(list(element))))
        case _:
            element.text = chance.choice(_ODD_CELLS)


def once(
    content: bytes,
    chance: random.Random,
    odd: Sequence[bytes] = ODD,
    *,
    before: bytes = b':,[> "=',
    after: bytes = b',]}<"\n',
    cuts: float = 1.0,
) -> bytes:
    """A file with one change: a byte, a piece that is missing, twice or odd, its end, or a value between two marks.

    Of those changes that would cut off the end only a share does.
    """
    first, second = sorted((chance.randrange(len(content) + 1), chance.randrange(len(content) + 1)))
    second = min(second, first + chance.choice([1, 8, 64, 4096]))
    match chance.randrange(7):
        case 0:
            return content[:first] + bytes([chance.randrange(256)]) + content[first + 1 :]
        case 1:
            return content[:first] + content[second:]
        case 2:
            return content[:second] + content[first:]
        case 3 if cuts == 1.0 or chance.random() < cuts:
            return content[:first]
        case 4:
            return content[:first] + chance.choice(odd) + content[second:]
    # Whole values are exchanged, so that the file stays well-formed and the rules on values are reached.
    starts = [at for at, byte in enumerate(content) if byte in before]
    if not starts:
        return content
    start = chance.choice(starts) + 1
    stop = start
    while stop < len(content) and content[stop] not in after:
        stop += 1
    return content[:start] + chance.choice(odd) + content[stop:]


def zipped(files: list[tuple[str, bytes]], chance: random.Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(chance.choice(["", "", "", "../", "/", "a\\", "a/"]) + name, content)
    return out.getvalue()


class Reached:
    """The lines of the readers that were run so far; what reached a new one is worth changing again.

    Functions whose every line was run are not followed any more, so that following costs less and less.
    """

    def __init__(self) -> None:
        self._left: dict[CodeType, set[int]] = {}
        self.new = False

    def __enter__(self) -> Reached:
        self.new = False
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _called(self, frame: FrameType, event: str, _: object) -> Callable[[FrameType, str, object], Any] | None:
        code = frame.f_code
        left = self._left.get(code)
        if left is None:
            ours = code.co_filename.startswith(_READERS)
            left = self._left[code] = {line for *_, line in code.co_lines() if line} if ours else set()
            # The head of a function is no line of its body.
            left.discard(code.co_firstlineno)
        return self._ran if left else None

    def _ran(self, frame: FrameType, event: str, _: object) -> Callable[[FrameType, str, object], Any] | None:
        left = self._left[frame.f_code]
        if frame.f_lineno in left:
            left.discard(frame.f_lineno)
            self.new = True
        return self._ran


def attempts(reader: str, count: int, seed: int) -> Iterator[Attempt]:
    """What a reader does with changed files; every eighth is an archive of them.

    Guided by coverage: a file that reached a line which no file before it had reached is changed as well.
    """
    chance, files = random.Random(f"{reader}/{seed}"), good_files()[reader]
    reached = Reached()
    # The lines that good files reach are no finds.
    for name, content in files:
        with reached:
            _tried(reader, name, content)
    for number in range(count if files else 0):
        name, content = chance.choice(files)
        content = plain = changed(content, chance)
        if number % 8 == 7 and reader not in attacks_files.READERS.keys() - {"dropped"}:
            name, content = "a.zip", zipped([(name, content)], chance)
            content = changed(content, chance) if chance.random() < 0.5 else content
        with reached:
            uncaught, seconds = _tried(reader, name, content)
        if reached.new and name != "a.zip" and len(plain) <= _MOST_CHANGED:
            files.append((name, plain))
        yield Attempt(reader, name, content, uncaught, seconds)


def _tried(reader: str, name: str, content: bytes) -> tuple[str, float]:
    """The error that was none of ours, and the seconds of the processor, which following makes longer."""
    start, uncaught = time.process_time(), ""
    try:
        read(reader, name, content)
    except BadInput as problem:
        uncaught = "" if problem.issues else "BadInput without issues"
    except Exception as problem:  # noqa: BLE001 - what is looked for
        uncaught = f"{type(problem).__name__}: {problem}"
    return uncaught, time.process_time() - start


def read(reader: str, name: str, content: bytes) -> Any:
    """What a reader makes of a file; raises `BadInput`."""
    if reader in attacks_files.READERS:
        return attacks_files.READERS[reader].read(content, name)
    row = formats.FORMATS[reader]
    if row.kind == "boxes":
        return formats.read_bytes(content, name, format=reader if name != "a.zip" else None)
    return row.read_files(((name, content),), name, Reading(side="prediction"))
