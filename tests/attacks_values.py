"""Good files with one value changed, and what readers make of them: no box may leave without an issue.

Nor may a place in the order, a text or a cell of a table, in those of `item_files`.
"""

import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree

from evaluator import formats
from evaluator.data.fields import FieldDocuments, leaves
from evaluator.data.issues import BadInput, Issue
from evaluator.formats.posters import Posters
from tests.attacks import good_files, read
from tests.item_files import item_files

# Numbers that no parser of JSON may accept are put in as text, and bared.
_BARE: Final = ("NaN", "1e400")
_VALUES: Final = (0, -1, None, "", "x", True, [], [None], {}, {"x": 1}, 10**30, 1e308, 5e-324, *_BARE)
_CELLS: Final = ("", " ", "0", "-1", "x", "nan", "1e400", "1e308", "9" * 31, "null", "true", "[]")
_NONE: Final = ("None", "[]", "without")
# Keys that a file need not have: null, an empty list or no key at all says in the words of the format that there is
# nothing. A poster is text of any shape, of which these parts are compared alone.
_OPTIONAL: Final[Mapping[str, str]] = {
    "docling": "texts tables", "mineru": "para_blocks preproc_blocks discarded_blocks blocks",
    "paddle": "layout_det_res", "marker": "children", "azure": "tables figures pageResults lines",
    "documentai": "blocks paragraphs tables visualElements", "image-folder": "objects", "fields": "_bbox",
    "items": "order text html cells box groups id ordered unordered",
    "alto": "CONTENT SUBS_CONTENT IDNEXT", "page-xml": "Unicode",
    "posters": "$ posterContent sections sectionContent",
}  # fmt: skip
# What kind a block is, and a column of any name in a record of JSON_MIN: another value has another meaning.
_MEANINGS: Final = frozenset([("marker", "block_type"), ("label-studio", "label")])


class Change(NamedTuple):
    """A file with one value changed: its place, its last key, what it became."""

    place: str
    key: str
    to: str
    content: bytes


def losses(reader: str, *, step: int = 1) -> Iterator[tuple[str, bool]]:
    """Every `step`-th change of the good files of a reader, and whether a box left in silence.

    A box may leave when there is an issue that the good file does not have, and that tells of the change.
    """
    files = [(name, content, False) for name, content in good_files()[reader]]
    files += [(name, text.encode(), True) for name, text in item_files().get(reader, ())]
    for name, content, items in files:
        before, known = _outcome(reader, name, content, items=items)
        for at, change in enumerate(changes(content) if any(before) else ()):
            if at % step or _says_less(reader, change):
                continue
            after, issues = _outcome(reader, name, change.content, items=items)
            less = any(now < then for now, then in zip(after, before, strict=True))
            told = any(issue not in known and _tells(issue, change.place) for issue in issues)
            yield f"{name}{' with items' * items}: {change.place} {change.to}", less and not told


def changes(content: bytes) -> Iterator[Change]:
    """Every change of one value of JSON, XML or lines of cells; of lists the first, middle and last entry."""
    try:
        tree = json.loads(content)
    except ValueError:
        yield from _in_xml(content) if content.lstrip().startswith(b"<") else _in_lines(content)
    else:
        yield from _in_json(tree)


def _says_less(reader: str, change: Change) -> bool:
    """Whether a change says in the words of the format that there is less."""
    if reader == "fields" and not change.key.startswith("_"):
        return True  # a document has the keys and values that it likes
    nothing = (*_NONE, "''", "{}", "{'x': 1}") if reader == "posters" else _NONE
    if reader in ("alto", "page-xml"):
        nothing = _CELLS
    elif change.key in ("text", "html"):
        nothing = (*nothing, "''")
    optional = change.key in _OPTIONAL.get(reader, "").split()
    return (reader, change.key) in _MEANINGS or (optional and change.to in nothing)


def _tells(issue: Issue, changed: str) -> bool:
    """Whether an issue tells of a change: an error, for nothing is read; a warning that names the object around it.

    So does one that counts all boxes: which of them lie in others follows from the places of all.
    """
    if "should not both be counted" in issue.rule:
        return True
    where, around = re.sub(r'\["([^"]*)"\]', r".\1", issue.place), re.sub(r"\.[^.\[]*\Z", "", changed)
    by_path = changed.startswith("$") and where.startswith("$")
    return issue.severity == "error" or not by_path or where.startswith(around) or around.startswith(where)


def _in_json(tree: Any) -> Iterator[Change]:
    root = [tree]
    waiting: list[tuple[Any, str]] = [(root, "")]
    while waiting:
        holder, at = waiting.pop(0)
        few = sorted({0, len(holder) // 2, len(holder) - 1}) if holder else []
        for key in list(holder) if isinstance(holder, dict) else few:
            held = holder[key]
            place = "$" if holder is root else f"{at}.{key}" if isinstance(holder, dict) else f"{at}[{key}]"
            if isinstance(held, dict | list):
                waiting.append((held, place))
            # A list without its objects is a file without these boxes.
            objects = isinstance(held, list) and all(isinstance(each, dict) for each in held)
            for value in _VALUES:
                if value != held and not (objects and value == []):
                    holder[key] = value
                    yield Change(place, str(key) if at else "$", repr(value), _json(root[0]))
            holder[key] = held
            if isinstance(holder, dict):
                yield from _without(holder, key, place, tree)


def _without(holder: dict[str, Any], key: str, place: str, tree: Any) -> Iterator[Change]:
    """No key, and two other spellings of it."""
    kept = dict(holder)
    for name in ("", f"{key}_", key.swapcase()):
        holder.clear()
        holder.update({name if each == key else each: held for each, held in kept.items() if name or each != key})
        if name != key:
            yield Change(place, key, f"spelled {name}" if name else "without", _json(tree))
    holder.clear()
    holder.update(kept)


def _json(tree: Any) -> bytes:
    text = json.dumps(tree)
    for bare in _BARE:
        text = text.replace(f'"{bare}"', bare)
    return text.encode()


def _in_xml(content: bytes) -> Iterator[Change]:
    for _, (prefix, address) in ElementTree.iterparse(io.BytesIO(content), ["start-ns"]):
        ElementTree.register_namespace(prefix, address)
    root = ElementTree.fromstring(content)
    for number, element in enumerate(root.iter()):
        tag, text, attributes = element.tag, element.text, dict(element.attrib)
        place = f"element {number}, <{tag.rpartition('}')[2]}>"
        element.tag = f"{tag}_"
        yield Change(place, "", "spelled otherwise", ElementTree.tostring(root))
        element.tag = tag
        for cell in _CELLS if text and text.strip() else ():
            element.text = cell
            yield Change(place, tag.rpartition("}")[2], cell, ElementTree.tostring(root))
        element.text = text
        for name in attributes:
            others = {key: value for key, value in attributes.items() if key != name}
            for to in (None, *_CELLS):
                element.attrib = others if to is None else {**others, name: to}
                yield Change(f"{place} {name}", name, "without" if to is None else to, ElementTree.tostring(root))
        element.attrib = attributes


def _in_lines(content: bytes) -> Iterator[Change]:
    lines = content.decode().split("\n")
    separator = "," if "," in lines[0] else " "
    for row, line in enumerate(lines):
        cells = line.split(separator)
        for column in range(len(cells)) if line else ():
            for to in (None, *_CELLS):
                changed = separator.join([*cells[:column], *([] if to is None else [to]), *cells[column + 1 :]])
                text = "\n".join([*lines[:row], changed, *lines[row + 1 :]])
                yield Change(f"line {row + 1}, cell {column + 1}", "", "without" if to is None else to, text.encode())


def _outcome(reader: str, name: str, content: bytes, *, items: bool) -> tuple[list[int], tuple[Issue, ...]]:
    """How many boxes or sections a reader finds, with `items` also places, letters and cells; and its issues."""
    try:
        held = formats.read_bytes(content, name, format=reader, items=True) if items else read(reader, name, content)
    except BadInput as refused:
        return [0] * (4 if items else 1), refused.issues
    if isinstance(held, FieldDocuments):
        return [sum(each.box is not None for tree in held.documents.values() for _, each in leaves(tree))], held.issues
    if isinstance(held, Posters):
        return [sum(len(poster.sections) for poster in held.posters.values())], held.issues
    if not items:
        return [len(held.boxes)], held.issues
    order, texts, tables = (column or () for column in (held.boxes.order, held.boxes.text, held.boxes.cells))
    letters = sum(len(text or "") for text in texts)
    cells = sum(each is not None if isinstance(each, str) else len(each or ()) for each in tables)
    return [len(held.boxes), sum(each is not None for each in order), letters, cells], held.issues
