"""YOLO: text files of boxes or outlines in shares of the page, origin top left, one for each image.

The document is the file's name without folders and ending. Class names come from the ``data.yaml`` (or ``classes.txt``)
in the folder or up to three folders above; its paths are not looked at.
"""

from __future__ import annotations

import codecs
import hashlib
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from evaluator.data.dataset import Annotations, Side, map_labels
from evaluator.data.issues import BadInput, Collector, count_of, examples, quote, refuse
from evaluator.formats import folder, limits
from evaluator.formats.base import ANY_SIDE, BoxFormat, FileGroup, Reading, has_truth_name
from evaluator.formats.build import FEWEST_POINTS, Builder, Shape, listed
from evaluator.formats.image_paths import need_one_side
from evaluator.formats.xml_text import is_number

if TYPE_CHECKING:
    from yaml import Node  # type: ignore[import-untyped]

_SOURCE: Final = "YOLO"
# What YAML calls its nodes.
_SEQUENCE: Final = "sequence"
_SCALAR: Final = "scalar"
_YAML: Final = (".yaml", ".yml")
_NAME_FILES: Final = ("classes.txt", "obj.names")
_SPLIT: Final = re.compile(r"labels|(train|training|val|valid|validation|test|testing|dev)(\d{4})?", re.IGNORECASE)
"""What the folders of a data set are called."""
_MAX_YAML_BYTES: Final = 1 << 20
_ABOVE: Final = 3
_BELOW: Final = 4
_MAX_FILES: Final = 200_000
# How many text files of a folder are looked at to tell whether it is one of labels.
_SAMPLE: Final = 64
_HEAD: Final = 1 << 16
_BOX: Final = 5
# A box with a confidence and the number of a track; as a corner of an outline it would be far off the page.
_TRACKED: Final = 7
_TRACK = re.compile(rb"^[ \t]*\d+(?:\.0*)?(?:[ \t]+[0-9.eE+-]+){5}[ \t]+(\d+)(?:\.0*)?[ \t\r]*$", re.MULTILINE)


class _Names(NamedTuple):
    """The names of the classes by their numbers, the columns of keypoints behind a box, and the file."""

    names: Mapping[int, str]
    keypoints: int
    file: str


_NO_NAMES: Final = _Names({}, 0, "")


class Yolo(BoxFormat):
    """Ultralytics, "Object Detection Datasets" and "Instance Segmentation Datasets".

    A line is the number of a class with centre, width and height, or the points of an outline, then a confidence where
    a model wrote it (``save_conf``). Keypoints (``kpt_shape``, or three and more with a visibility) are left out, with
    an issue. Without names of classes the labels are their numbers, until `resolve` takes the names of a ground truth.
    """

    name = "yolo"
    title = "YOLO labels (text, with data.yaml)"
    looks_for = "lines of a class and its numbers, or a data.yaml with names"
    suffixes = of_all_kinds = (".txt", *_YAML)
    beside = (".names",)
    states_side = False

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether lines of a class and four numbers or more, or in YAML names of classes, are there."""
        if name.lower().endswith(_YAML):
            return b"\nnames:" in b"\n" + head.removeprefix(codecs.BOM_UTF8)
        return _is_labels(head)

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return "prediction" when the first line has a confidence; None otherwise."""
        return _side(content, tracked=_is_tracked([content[:_HEAD]]))

    def reads_whole(self, path: Path) -> bool:
        """Return whether a path is a label file or ``data.yaml``, read with what lies beside, or their folder."""
        if not folder.is_folder(path):
            return path.suffix.lower() in self.suffixes and self.detect(folder.head(path), path.name)
        # Beside names of classes, other files go along with the labels, as the notes.json of Label Studio does.
        others = any(file.suffix.lower() in (".json", ".xml") for file in folder.list_files(path))
        if others and _names_in(path) is None:
            return False
        texts = [file for file in _below(path) if file.suffix.lower() == ".txt"]
        return any(_is_labels(folder.head(file)) for file in texts[:_SAMPLE])

    def group_path(self, file: Path, given: Collection[Path]) -> Path:
        """Return the folder of ``data.yaml``, or else that of the file."""
        if file.suffix.lower() in _YAML:
            return file.parent
        if file in given:
            return file
        above = [file.parent, *file.parent.parents][: _ABOVE + 1]
        with_names = (path for path in above if _names_in(path) is not None)
        return next(with_names, file.parent)

    def merged_groups(
        self, groups: Mapping[Path, Sequence[tuple[Path, bytes]]], given: Collection[Path]
    ) -> dict[Path, Path]:
        """Return the data set of each folder that is a part of one where no file names the classes.

        Folders are joined when their files have different names and all of them have confidences, or none. A folder in
        `given` is one data set only when those in it are called labels or as splits are.
        """
        whole = {path: path for path in groups if path not in given and _names_in(path) is None}
        roots = {above for path in given for above in (path, *path.parents)}
        above = {each for path in whole for each in path.parents if each in given or each not in roots}
        for parent in sorted(above, key=lambda path: len(path.parts), reverse=True):
            below = [path for path in groups if path == parent or parent in path.parents]
            parts: dict[Path, list[tuple[Path, bytes]]] = {}
            for path in below:
                parts.setdefault(whole.get(path, path), []).extend(groups[path])
            if whole.keys() >= set(below) and self._is_one(parent, parts, named=parent in given):
                whole |= dict.fromkeys(below, parent)
        return {path: at for path, at in whole.items() if at != path}

    def _is_one(self, parent: Path, parts: Mapping[Path, Sequence[tuple[Path, bytes]]], *, named: bool) -> bool:
        splits = all(path == parent or (path.parent == parent and _SPLIT.fullmatch(path.name)) for path in parts)
        inner = [path for path in parts if path != parent]
        if not splits and (named or len(parts) == 1 or any(map(has_truth_name, inner))):
            return False
        names = [{file.name for file, _ in files} for files in parts.values()]
        scored = {any(self.side_of(content) for _, content in files) for files in parts.values()}
        return len(set().union(*names)) == sum(map(len, names)) and len(scored) == 1 and self.reads_whole(parent)

    def file_group(self, path: Path, files: Sequence[tuple[Path, bytes]]) -> FileGroup:
        """Return the group: a prediction when a file has confidences, a ground truth when its folder says so."""
        tracked: frozenset[Side] = frozenset(["prediction"] if _is_tracked([content for _, content in files]) else [])
        sides = super().file_group(path, files).sides or tracked
        scored = bool(sides)
        if not sides and has_truth_name(path):
            sides = frozenset(["ground_truth"])
        return FileGroup(path=path, format=self.name, sides=sides, unscored=not sides and not scored)

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of one text file in unit page, ids by line; an empty file is a page without boxes."""
        if name.lower().endswith(_YAML):
            rule = f"names of classes are not boxes ({_SOURCE})"
            refuse(name, "", rule, "", "Give the folder of the labels, or a zip archive of it.")
        return _read(folder.in_memory([(name, content)]), name, reading, one=True)

    def read_path(self, path: Path, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of a text file, or of a folder or its ``data.yaml``; see `Format.read_path`."""
        if path.suffix.lower() in _YAML and not folder.is_folder(path):
            return _read(_files(path.parent, only=path), path.resolve().parent.name, reading)
        if folder.is_folder(path):
            return _read(_files(path), path.resolve().name, reading)
        return _read([*_above(path.parent), *folder.on_disk([path])], path.name, reading, one=True)

    def read_files(self, files: Sequence[tuple[str, bytes]], name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of several files whose bytes are at hand, names of classes among them."""
        return _read(folder.in_memory(files), name, reading)

    def resolve(self, prediction: Annotations, truth: Annotations) -> Annotations:
        """Return a prediction without names of classes under those of its ground truth.

        The same object when it has names, or when the ground truth is of another format or has none. `BadInput` when a
        class has a number that the ground truth does not name.
        """
        if prediction.label_map or truth.format != self.name or not truth.label_map:
            return prediction
        unknown = [label for label in prediction.labels if label not in truth.label_map]
        if unknown:
            rule = f"the number of a class must be one that {truth.name} names ({_SOURCE})"
            refuse(prediction.name, "", rule, examples(unknown), "Give the data.yaml of the model.")
        return replace(map_labels(prediction, truth.label_map), label_map=truth.label_map)


FORMAT: Final = Yolo()


# --- files -----------------------------------------------------------------------------------------------------


def _below(path: Path, depth: int = 0) -> list[Path]:
    entries = folder.list_files(path)
    if depth < _BELOW:
        for inner in sorted(each for each in path.iterdir() if each.is_dir() and not each.name.startswith(".")):
            entries += _below(inner, depth + 1)
            if len(entries) > _MAX_FILES:
                break
    return entries


def _names_in(path: Path) -> Path | None:
    try:
        files = folder.list_files(path)
    except BadInput:
        return None
    by_kind = sorted(
        (file for file in files if file.suffix.lower() in _YAML and FORMAT.detect(folder.head(file), file.name)),
        key=lambda file: (file.stem != "data", file.name),
    )
    return next(iter([*by_kind, *(file for file in files if file.name in _NAME_FILES)]), None)


def _above(path: Path) -> list[folder.File]:
    name_files = (
        names for each in [path, *path.resolve().parents][: _ABOVE + 1] if (names := _names_in(each)) is not None
    )
    return folder.on_disk(names for names in [next(name_files, None)] if names is not None)


def _files(path: Path, only: Path | None = None) -> list[folder.File]:
    texts = [file for file in _below(path) if file.suffix.lower() == ".txt" and file.name not in _NAME_FILES]
    names = folder.on_disk([only]) if only is not None else _above(path)
    return [*names, *folder.on_disk(texts, path)]


# --- text to boxes -----------------------------------------------------------------------------------------------


def _is_labels(head: bytes) -> bool:
    """Return whether a line is a class with at least four numbers, in what is neither JSON nor XML."""
    if head[:_HEAD].removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"[", b"<"):
        return False
    return any(_is_label(line.split()) for line in head[:_HEAD].decode(errors="replace").splitlines())


def _is_label(words: Sequence[str]) -> bool:
    return len(words) >= _BOX and all(map(is_number, words)) and float(words[0]).is_integer()


def _is_tracked(texts: Sequence[bytes]) -> bool | None:
    """Return whether lines of seven numbers are boxes with a confidence and a track, in the text files of a data set.

    So they are where one ends in a number from 2 on. Where none does, and no line is longer, in two lines or more, or
    beside boxes with a confidence: outlines of three points would all end on the edge of the page. None for one line
    alone, which may be either.
    """
    tracks = [track for text in texts for track in _TRACK.findall(text)]
    if any(track.lstrip(b"0") not in (b"", b"1") for track in tracks):
        return True
    words = Counter(len(line.split()) for text in texts if tracks for line in text.splitlines())
    if not tracks or words[_TRACKED] > len(tracks) or max(words) > _TRACKED:
        return False
    return True if len(tracks) > 1 or words[_TRACKED - 1] else None


def _side(content: bytes, *, tracked: bool | None) -> Side | None:
    words = next((line.split() for line in content[:_HEAD].splitlines() if line.strip()), [])
    scored = len(words) > _BOX and (len(words) % 2 == 0 or tracked)
    return "prediction" if scored and _is_labels(content) else None


def _read(files: Sequence[folder.File], name: str, reading: Reading, *, one: bool = False) -> Annotations:
    """Return several text files as one; `one` for a file that is read alone, and is meant."""
    collector = Collector(name, max_per_rule=reading.max_per_rule)
    room, digests, names, texts, others = limits.MAX_FILE_BYTES, [], _NO_NAMES, [], []
    for file in files:
        try:
            content = file.load(room)
        except BadInput as bad:
            for issue in bad.issues:
                collector.error(file.name, issue.rule, issue.found, issue.fix)
            continue
        room -= len(content)
        key = PurePosixPath(file.name)
        if key.suffix.lower() in _YAML or key.name in _NAME_FILES:
            names = names if names.file else _names(content, file.name, collector)
        elif one or not content.strip() or _is_labels(content):
            digests.append(hashlib.sha256(content).hexdigest())
            texts.append((file.name, content))
        else:
            others.append(file.name)
    if others:
        rule = f"text files without boxes are left out ({_SOURCE})"
        collector.warning("", rule, examples(others), "Nothing to do if they hold no labels.")
    if not texts and not collector.failed:
        collector.error("", f"a folder must hold text files of boxes ({_SOURCE})", "none", "Name the folder of labels.")
    labels = [names.names[key] for key in sorted(names.names)]
    builder = Builder(collector, format=Yolo.name, source=_SOURCE, unit="page", labels=labels, score="confidence")
    tracked = _is_tracked([content for _, content in texts])
    for file_name, content in texts:
        text = _Text(builder, collector, names, "" if one else f"{file_name}, ", tracked=tracked)
        text.read(file_name, content)
    sides = ((_side(content, tracked=tracked) or "ground_truth") if content.strip() else None for _, content in texts)
    need_one_side(zip((path for path, _ in texts), sides, strict=True), collector)
    if not names.names and not collector.failed:
        rule = f"the names of the classes should be in data.yaml or classes.txt ({_SOURCE})"
        collector.warning("", rule, "none", "Labels are the numbers of the classes, or the names of the ground truth.")
    digest = digests[0] if one and digests else hashlib.sha256("".join(digests).encode()).hexdigest()
    annotations = builder.annotations(digest, reading)
    return replace(annotations, label_map={str(key): names.names[key] for key in sorted(names.names)})


class _Text:
    def __init__(
        self, builder: Builder, collector: Collector, names: _Names, prefix: str, *, tracked: bool | None = False
    ) -> None:
        self._builder, self._collector, self._names, self._prefix = builder, collector, names, prefix
        self._keypoints = 0
        self._tracked, self._tracks = tracked, 0

    def read(self, name: str, content: bytes) -> None:
        """Add all lines; a file without any is a page without boxes."""
        text = _decoded(content, self._place(0), self._collector)
        if text is None:
            return
        page = self._builder.image(name, self._place(0))
        for number, line in enumerate(text.splitlines(), start=1):
            if words := line.split():
                self._line(page, number, words)
        for count, what, of, each in (
            (self._keypoints, "keypoints", "kpt_shape", "them"),
            (self._tracks, "numbers of tracks", "save_txt of a tracker", "one"),
        ):
            if count:
                rule, found = f"{what} are not read ({_SOURCE}, {of})", f"{count_of(count, 'box')} with {each}"
                self._collector.warning(self._place(0), rule, found, "They are left out.")

    def _place(self, line: int) -> str:
        return f"{self._prefix}line {line}" if line else self._prefix.removesuffix(", ")

    def _line(self, page: int, number: int, words: list[str]) -> None:
        place, error = self._place(number), self._collector.error
        wrong = next((word for word in words if not is_number(word)), None)
        if wrong is not None:
            rule = f"a line must be a class and finite numbers ({_SOURCE})"
            error(place, rule, f"{quote(wrong)} in {quote(' '.join(words))}", "Correct the line, or remove it.")
            return
        if len(words) < _BOX:
            rule = f"a line must be a class with centre, width and height, or with at least 3 points ({_SOURCE})"
            error(place, rule, quote(" ".join(words)), "Correct the line, or remove it.")
            return
        key, values = float(words[0]), list(map(float, words[1:]))
        if key < 0.0 or not key.is_integer():
            rule = f"a class must be a whole number from 0 ({_SOURCE})"
            error(place, rule, words[0], "Correct the class.")
            return
        if self._names.names and int(key) not in self._names.names:
            rule = f"a class must be one of the {len(self._names.names)} that {self._names.file} names ({_SOURCE})"
            error(place, rule, words[0], "Correct the class, or name it.")
            return
        label = self._names.names.get(int(key), str(int(key)))
        score = math.nan
        columns = self._names.keypoints or _keypoints(values)
        if columns and len(values) >= columns + _BOX - 1:
            self._keypoints += 1
            values = [*values[: _BOX - 1], *values[_BOX - 1 + columns :]]
        if self._tracked and len(words) == _TRACKED and values[-1].is_integer():
            values.pop()
            self._tracks += 1
        elif self._tracked is None and len(words) == _TRACKED:
            rule = f"seven numbers are an outline of three points, or a box with a confidence and a track ({_SOURCE})"
            fix = "It is read as an outline; leave out the track if it is a box."
            self._collector.warning(place, rule, quote(" ".join(words)), fix)
        if len(values) % 2:
            score = values.pop()
        if shape := _shape(values, place, self._collector):
            self._builder.box(page, label, shape.xyxy, place, score=score, rings=shape.rings)


def _decoded(content: bytes, place: str, collector: Collector) -> str | None:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"0x{content[error.start]:02X} at byte {error.start}"
        collector.error(place, f"text must be UTF-8 ({_SOURCE})", what, "Save the file as UTF-8.")
        return None


def _keypoints(values: Sequence[float]) -> int:
    """Return how many numbers behind a box are keypoints with a visibility; 0 for an outline or plain box."""
    # A visibility is 0, 1 or 2, and no coordinate of an outline is 2; with less than three of them it could be chance.
    points, rest = divmod(len(values) - (_BOX - 1), 3)
    visible = values[_BOX + 1 : _BOX - 1 + 3 * points : 3]
    return 3 * points if points >= 3 and rest <= 1 and 2.0 in visible and {0.0, 1.0, 2.0}.issuperset(visible) else 0


def _shape(values: list[float], place: str, collector: Collector) -> Shape | None:
    if len(values) >= 2 * FEWEST_POINTS:
        return Shape.of(np.array(values, dtype=np.float64).reshape(-1, 2))
    x, y, width, height = values
    if width < 0.0 or height < 0.0:
        rule = f"width and height must not be negative ({_SOURCE})"
        collector.error(place, rule, listed((width, height)), "Correct the line, or remove it.")
        return None
    return Shape((x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0))


# --- names of classes --------------------------------------------------------------------------------------------


def _names(content: bytes, file: str, collector: Collector) -> _Names:
    if len(content) > _MAX_YAML_BYTES:
        rule = f"a file of names may have {_MAX_YAML_BYTES:,} bytes"
        collector.error(file, rule, f"{len(content):,}", "Keep only the names in it.")
        return _NO_NAMES
    text = _decoded(content, file, collector)
    if text is None:
        return _NO_NAMES
    if PurePosixPath(file).suffix.lower() not in _YAML:
        lines = [line.strip() for line in text.splitlines()]
        return _Names(dict(enumerate(line for line in lines if line)), 0, file)
    import yaml  # here, because every command imports this module

    try:
        # Nodes keep names as they are written: "no" and "1.0" stay text. Aliases are shared, not copied.
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{file}, line {mark.line + 1}" if mark is not None else file
        reason = str(getattr(error, "problem", None) or type(error).__name__)
        collector.error(place, "the text must be well-formed YAML (YAML 1.2)", reason, "Correct the text.")
        return _NO_NAMES
    keys = {key.value: value for key, value in _entries(root)}
    names = _class_names(keys.get("names"), file, collector)
    shape = keys.get("kpt_shape")
    sizes = [each.value for each in shape.value] if shape is not None and shape.id == _SEQUENCE else []
    counted = len(sizes) == 2 and all(isinstance(size, str) and size.isdecimal() for size in sizes)
    return _Names(names, int(sizes[0]) * int(sizes[1]) if counted else 0, file)


def _entries(node: Node | None) -> Iterator[tuple[Node, Node]]:
    if node is not None and node.id == "mapping":
        yield from ((key, value) for key, value in node.value if key.id == _SCALAR)


def _class_names(node: Node | None, file: str, collector: Collector) -> dict[int, str]:
    if node is not None and node.id == _SEQUENCE:
        rows = list(enumerate(node.value))
    else:
        entries = list(_entries(node))
        rows = [(int(key.value) if key.value.isdecimal() else -1, value) for key, value in entries]
    plain = all(value.id == _SCALAR and value.value.strip() for _, value in rows)
    numbers = [number for number, _ in rows]
    if not rows or not plain or min(numbers) < 0 or len({*numbers}) < len(numbers):
        place = file if node is None else f"{file}, line {node.start_mark.line + 1}"
        rule = f"names must be a list of names, or a name for each number of a class ({_SOURCE})"
        collector.error(place, rule, "" if node is None else "another value", "Write it as names: [Text, Table].")
        return {}
    return {number: str(value.value) for number, value in rows}
