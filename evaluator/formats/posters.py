"""Structured texts of posters: a folder of one JSON object per poster, one side at a time.

A broken file takes out its own poster, not the folder: its issues are kept and the other posters are read.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec

from evaluator.data.dataset import Side
from evaluator.data.issues import BadInput, Collector, Issue, quote, refuse
from evaluator.formats import folder, json_text, limits
from evaluator.formats.base import ANY_SIDE, FileGroup, Format, Reading, has_truth_name

ENDINGS: Final[Mapping[Side, tuple[str, ...]]] = {
    "ground_truth": ("_sub-json", "_reference"),
    "prediction": ("_extracted",),
}
"""What may follow the id of a poster in the name of its file, by side."""

NAMES: Final[Mapping[Side, str]] = {"ground_truth": "reference", "prediction": "extracted"}
"""What a file in the folder of a poster may be called, by side."""

_SIDES: Final[Mapping[Side | None, str]] = {"ground_truth": "ground truth", "prediction": "predictions", None: "either"}

REPORT: Final = "results.json"
"""What the reference program writes beside its extractions; it is not a poster, but names the source of each text."""

MAX_POSTER_BYTES: Final = 1 << 20
"""Bytes of the file of one poster; real ones have 10 KB."""

MAX_CHARACTERS: Final = 250_000
"""Characters of the file of one poster, compatibility forms taken apart; two such texts take seconds to compare."""

MAX_SECTIONS: Final = 500
"""Sections and captions of one poster; each is compared with each of the other side."""

_SOURCE: Final = "poster evaluation"
_MARKS: Final = (b'"sectionTitle"', b'"sectionContent"', b'"imageCaptions"', b'"tableCaptions"', b'"imageCaption"')
_TOO_LARGE: Final = "Check the file; it does not look like one poster."
CAPTIONS: Final = ("imageCaptions", "tableCaptions")
OLD_CAPTIONS: Final = ("imageCaption", "tableCaption")


class Section(msgspec.Struct, frozen=True):
    """A part of a poster that is compared on its own: the content of a section, or a part of a caption.

    `place`: JSON path. `title`: empty for captions and sections without. `value`: text in a good file, anything in a
    bad one.
    """

    place: str
    title: str
    value: object


class Poster(msgspec.Struct, frozen=True):
    """The structured text of one poster.

    `file`: name below the folder that was read. `content`: never edited. `sections`: sections, then image captions,
    then table captions, in file order.
    """

    poster_id: str
    file: str
    sha256: str
    content: dict[str, object]
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class Posters:
    """The posters of one side, by poster id, sorted.

    `sha256`: of the file, or of the digests of all files in the order of the posters. `broken`: errors of posters that
    could not be read, or whose file is not clear. `issues`: of all files. `fixes`: changes of names after reading,
    which signatures state. `sources`: where a raw text is from (``pdfalto``, ``qwen_vision``), as `REPORT` beside the
    posters states it.
    """

    name: str
    sha256: str
    posters: Mapping[str, Poster]
    broken: Mapping[str, tuple[Issue, ...]]
    issues: tuple[Issue, ...]
    format: str = "posters"
    fixes: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)


def _gathered(
    root: Path,
    files: Mapping[str, Sequence[Path]],
    load: Callable[[Path, int], bytes],
    reading: Reading,
    issues: Sequence[Issue],
) -> Posters:
    # A file that cannot be read takes out its own poster; BadInput with all issues when none is left.
    posters: dict[str, Poster] = {}
    broken: dict[str, tuple[Issue, ...]] = {}
    digests: list[str] = []
    issues = list(issues)
    room = limits.MAX_FILE_BYTES
    for poster_id, candidates in sorted(files.items()):
        try:
            file = _only(poster_id, candidates, reading.side, root)
            content = load(file, room)
            room -= len(content)
            digests.append(hashlib.sha256(content).hexdigest())
            # Nine files called reference.json need the folder to be distinguished; it is below the one that was named.
            below = file.name if file == root else file.relative_to(root).as_posix()
            posters[poster_id], notes = read_poster(content, below, poster_id, reading)
        except BadInput as bad:
            broken[poster_id] = notes = bad.issues
        issues += notes
    if not posters:
        raise BadInput(issues)
    alone = list(files.values()) == [[root]]
    whole = digests[0] if alone else hashlib.sha256("".join(digests).encode()).hexdigest()
    return Posters(root.resolve().name, whole, posters, broken, tuple(issues))


def _with_sources(posters: Posters, load: Callable[[], bytes]) -> Posters:
    """Return the posters with the text sources of the loaded `REPORT`; a warning when it states none."""
    collector = Collector(REPORT, max_per_rule=None)
    sources = _sources(load, collector)
    stated = "".join(f"{key}\0{source}\0" for key, source in sorted(sources.items()))
    whole = hashlib.sha256(f"{posters.sha256}{stated}".encode()).hexdigest() if sources else posters.sha256
    return replace(posters, sha256=whole, sources=sources, issues=(*posters.issues, *collector.issues()))


def _sources(load: Callable[[], bytes], collector: Collector) -> dict[str, str]:
    try:
        tree = json_text.parse_checked(json_text.open_source(load(), REPORT), Collector(REPORT, max_per_rule=None))
    except BadInput as bad:
        rule = f"{REPORT} beside the posters should be readable ({_SOURCE})"
        collector.warning("", rule, bad.issues[0].rule, "The posters are read, without their sources.")
        return {}
    rows = tree.get("results") if isinstance(tree, dict) else tree
    if not isinstance(rows, list):
        rule = f"{REPORT} beside the posters should be a list of results with their source ({_SOURCE})"
        collector.warning("", rule, json_text.excerpt(tree), "The posters are read, without their sources.")
        return {}
    stated = [(row.get("poster_id"), row.get("source")) for row in rows if isinstance(row, dict)]
    return {key: source for key, source in stated if isinstance(key, str) and isinstance(source, str) and source}


def read_poster(
    content: bytes, name: str, poster_id: str, reading: Reading = ANY_SIDE
) -> tuple[Poster, tuple[Issue, ...]]:
    """Return one poster from the bytes of its file, and the warnings about it, which name the file `name`.

    Raises `BadInput` with all issues: not strict JSON, not an object, or too large.
    """
    collector = Collector(name, max_per_rule=reading.max_per_rule)
    if len(content) > MAX_POSTER_BYTES:
        rule = f"the file of a poster may have {MAX_POSTER_BYTES:,} bytes"
        collector.fail("", rule, f"{len(content):,}", _TOO_LARGE)
    source = json_text.open_source(content, name)
    characters = len(unicodedata.normalize("NFKD", source.content.decode()))
    if characters > MAX_CHARACTERS:
        rule = f"the file of a poster may have {MAX_CHARACTERS:,} characters (Unicode NFKD)"
        collector.fail("", rule, f"{characters:,}", _TOO_LARGE)
    tree = json_text.parse_checked(source, collector)
    if not isinstance(tree, dict):
        fix = "Write the structured text of one poster as an object."
        collector.fail("$", f"a poster must be a JSON object ({_SOURCE})", json_text.excerpt(tree), fix)
    sections = tuple(_sections(tree, collector))
    if len(sections) > MAX_SECTIONS:
        rule = f"a poster may have {MAX_SECTIONS:,} sections and captions"
        collector.error("$", rule, f"{len(sections):,}", _TOO_LARGE)
    collector.raise_if_failed()
    digest = hashlib.sha256(content).hexdigest()
    return Poster(poster_id, name, digest, tree, sections), collector.issues()


def text_of(value: object) -> str:
    """Return every string value of a part of a poster in document order, joined by one space.

    Values that hold no text give an empty piece, so that the blanks are those of the reference program.

    >>> text_of({"title": "Bees", "pages": 3, "parts": ["one", "two"]})
    'Bees  one two'
    """
    if isinstance(value, str):
        return value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return " ".join(text_of(item) for item in inner)


def _poster_id(file: Path) -> str:
    stem = file.stem
    if stem in NAMES.values():
        return file.resolve().parent.name or stem
    endings = [ending for side in ENDINGS.values() for ending in side]
    return next((stem.removesuffix(ending) for ending in endings if stem.endswith(ending) and stem != ending), stem)


def _files(path: Path, side: Side | None, collector: Collector) -> dict[str, list[Path]]:
    try:
        entries = sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))
        inside = {entry: sorted(entry.iterdir()) for entry in entries if entry.is_dir()}
    except OSError as error:
        reason = error.strerror or str(error)
        collector.error("", "the folder must be readable", reason, "Correct the path or its permissions.")
        return {}
    candidates: dict[str, list[Path]] = {}
    for entry in entries:
        if _is_json(entry) and entry.name != REPORT:
            candidates.setdefault(_poster_id(entry), []).append(entry)
    for sub, files in inside.items():
        if own := [file for file in files if _is_json(file) and not file.name.startswith(".")]:
            candidates.setdefault(sub.name, []).extend(own)
    if not candidates:
        rule = "a folder must hold a JSON file, or a folder with one, for each poster"
        collector.error("", rule, "none", "Name the folder of the posters.")
    return _of_side(candidates, side, collector)


def _of_side(candidates: Mapping[str, list[Path]], side: Side | None, collector: Collector) -> dict[str, list[Path]]:
    """Return the files that may be meant for a side; all of them, with a warning, when none may be."""
    fitting = {poster_id: _fitting(poster_id, files, side) for poster_id, files in candidates.items()}
    if not any(fitting.values()):
        fitting = dict(candidates)
        if candidates:
            rule = f"files named for the other side are read as {_SIDES[side]}"
            collector.warning("", rule, f"{len(candidates):,}", "Nothing to do if one model is compared with another.")
    return {poster_id: files for poster_id, files in fitting.items() if files}


def _only(poster_id: str, files: Sequence[Path], side: Side | None, path: Path) -> Path:
    if len(files) == 1:
        return files[0]
    names = ", ".join(file.relative_to(path).as_posix() for file in files)
    fix = f"Leave one of them, or call it {NAMES[side]}.json." if side else "Leave one of them, or state the side."
    refuse(path.resolve().name, poster_id, "it must be clear which file is the poster's", quote(names), fix)


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json" and path.is_file()


def _fitting(poster_id: str, files: Sequence[Path], side: Side | None) -> list[Path]:
    """Return the JSON files of a poster that may be meant for a side: named for it, else plain, else any other."""
    if side is None:
        return list(files)
    stated = {file: _stated_side(file.stem, poster_id) for file in files}
    named = [file for file in files if stated[file] == side]
    plain = [file for file in files if file.stem == poster_id]
    return named or plain or [file for file in files if stated[file] is None]


def _stated_side(stem: str, poster_id: str) -> Side | None:
    for side, name in NAMES.items():
        if stem == name or any(stem == poster_id + ending for ending in ENDINGS[side]):
            return side
    return None


def _sections(content: dict[str, object], collector: Collector) -> Iterator[Section]:
    if isinstance(poster := _typed(content, "posterContent", dict, "$", collector), dict):
        place = "$.posterContent.sections"
        for index, section in _objects(
            _typed(poster, "sections", list, "$.posterContent", collector), place, collector
        ):
            title = section.get("sectionTitle")
            value = _typed(section, "sectionContent", object, f"{place}[{index}]", collector)
            if value:
                yield Section(f"{place}[{index}].sectionContent", title if isinstance(title, str) else "", value)
            elif "sectionTitle" not in section or value not in ("", None):
                rule = "a section should have sectionTitle, and sectionContent as text"
                _not_compared(f"{place}[{index}]", rule, section, collector)
    for key in CAPTIONS:
        captions = _typed(content, key, (list, dict), "$", collector)
        if isinstance(captions, dict):
            inner = _typed(captions, "captions", list, f"$.{key}", collector)
            yield from _captions(inner, f"$.{key}.captions", ("captionParts", "captions"), collector)
        else:
            yield from _captions(captions, f"$.{key}", ("captions", "captionParts"), collector)
    for key in OLD_CAPTIONS:
        place = f"$.{key}"
        for index, caption in _objects(_typed(content, key, list, "$", collector), place, collector):
            for name, value in caption.items():
                if value:
                    yield Section(json_text.step(f"{place}[{index}]", name), "", value)


def _captions(captions: object, place: str, keys: tuple[str, str], collector: Collector) -> Iterator[Section]:
    for index, caption in _objects(captions, place, collector):
        key = next((key for key in keys if key in caption), None)
        if key is None:
            continue
        inside = f"{place}[{index}]"
        parts = _typed(caption, key, (list, str), inside, collector)
        if isinstance(parts, str) and parts:
            yield Section(f"{inside}.{key}", "", parts)
        elif isinstance(parts, list):
            for number, part in enumerate(parts):
                if part:
                    yield Section(f"{inside}.{key}[{number}]", "", part)


_CALLED: Final[Mapping[type, str]] = {dict: "an object", list: "an array", str: "text"}


def _typed(
    owner: dict[str, object], key: str, wanted: type | tuple[type, ...], place: str, collector: Collector
) -> object:
    value = owner.get(key)
    if value is not None and not isinstance(value, wanted):
        kinds = " or ".join(_CALLED[kind] for kind in (wanted if isinstance(wanted, tuple) else (wanted,)))
        _not_compared(json_text.step(place, key), f"{key} should be {kinds}", value, collector)
        return None
    if (other := json_text.spelled_otherwise(owner, key)) is not None:
        _not_compared(json_text.step(place, other), f"{key} should be spelled so", other, collector)
    return value


def _objects(values: object, place: str, collector: Collector) -> Iterator[tuple[int, dict[str, object]]]:
    for index, value in enumerate(values if isinstance(values, list) else ()):
        if isinstance(value, dict):
            yield index, value
        else:
            _not_compared(f"{place}[{index}]", f"every entry of {place} should be an object", value, collector)


def _not_compared(place: str, rule: str, value: object, collector: Collector) -> None:
    fix = "Its text counts as a whole, but not section by section."
    collector.warning(place, f"{rule} ({_SOURCE})", json_text.excerpt(value), fix)


class PosterTexts(Format[Posters]):
    """Structured texts of posters. The names of the files, or of their folder, state the side."""

    name = "posters"
    title = "structured texts of posters (JSON)"
    looks_for = "the key posterContent, or two of the keys sectionTitle, sectionContent, imageCaptions, tableCaptions"
    kind = "posters"
    states_side = False

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether two of the keys of a poster are there."""
        return b'"posterContent"' in head or sum(mark in head for mark in _MARKS) >= 2

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return what the name of the file states, as ``reference`` and ``{id}_extracted`` do."""
        stem = Path(name).stem
        return next((side for side, own in NAMES.items() if stem == own or stem.endswith(ENDINGS[side])), None)

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Posters:
        """Return one poster as a side of its own; its id is what the name begins with."""
        file = Path(name)
        files = {_poster_id(Path(file.stem) / name): [file]}
        return _gathered(file, files, lambda _file, _room: content, reading, ())

    def read_path(self, path: Path, reading: Reading = ANY_SIDE) -> Posters:
        """Return the posters of a folder, or of the folder or file of one poster.

        A poster is ``{id}.json``, ``{id}_extracted.json``, ``{id}_reference.json``, ``{id}_sub-json.json`` or a folder
        ``{id}`` with one JSON file, or one called ``reference``, ``extracted`` or as above; the side of `reading`
        chooses. Other and hidden files are left alone. Raises `BadInput` with all issues: unreadable, no poster, or
        every poster is broken.
        """
        collector = Collector(path.name or path.resolve().name, max_per_rule=reading.max_per_rule)
        if not folder.is_folder(path):
            return _gathered(path, {_poster_id(path): [path]}, folder.load, reading, ())
        posters = _gathered(
            path, _files(path, reading.side, collector), folder.load, reading, collector.issues()
        )  # fmt: skip
        report = path / REPORT
        if not report.is_file():
            return posters
        return _with_sources(posters, lambda: folder.load(report, MAX_POSTER_BYTES))

    def read_files(self, files: Sequence[tuple[str, bytes]], name: str, reading: Reading = ANY_SIDE) -> Posters:
        """Return posters whose names and bytes are at hand, as if they lay in a folder; one as itself."""
        if len(files) == 1:
            return self.read(files[0][1], files[0][0], reading)
        root = Path(name)
        held = {root / file: content for file, content in files}
        files_in = Counter(file.parent for file in held)
        # The folder of one poster, below that of all, has its id.
        named = {file.parent for file in held if files_in[file.parent] == 1 or file.stem in NAMES.values()} - {root}
        candidates: dict[str, list[Path]] = {}
        for file in held:
            if file.name != REPORT:
                poster_id = file.parent.name if file.parent in named else _poster_id(file)
                candidates.setdefault(poster_id, []).append(file)
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        chosen = _of_side(candidates, reading.side, collector)
        posters = _gathered(root, chosen, lambda file, _room: held[file], reading, collector.issues())
        report = next((content for file, content in held.items() if file.name == REPORT), None)
        return posters if report is None else _with_sources(posters, lambda: report)

    def group_path(self, file: Path, given: Collection[Path]) -> Path:
        """Return the folder of the posters; a folder of one poster lies in it, unless it was given."""
        if file in given:
            return file
        in_own_folder = file.stem in NAMES.values() or _poster_id(file) == file.resolve().parent.name
        return file.parent.parent if in_own_folder and file.parent not in given else file.parent

    def file_group(self, path: Path, files: Sequence[tuple[Path, bytes]]) -> FileGroup:
        """Return the unit with the sides that the file names state, or else the name of the folder."""
        unit = super().file_group(path, files)
        by_folder: frozenset[Side] = frozenset(["ground_truth"] if has_truth_name(path) else [])
        return msgspec.structs.replace(unit, sides=unit.sides or by_folder)


FORMAT: Final = PosterTexts()
