"""Writes docs/errors.md from the sentences in the code: ``python -m tests.error_page``.

A rule is a clause about what must be, a fix a sentence that follows it among the arguments of a call, or in a tuple.
They are read from the source, so that a new one is missing from the page until it is written anew; a test compares.
What is filled in later is shown as "…". Rules that differ in a name only are one row, without the source in brackets.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

from evaluator.data.issues import Collector
from evaluator.formats import FORMATS
from evaluator.formats.coco import validate as coco
from evaluator.formats.json_values import Shape
from evaluator.formats.snapshot import validate as snapshot
from evaluator.formats.unsupported import UNSUPPORTED_FORMATS
from evaluator.pdf import problems as pages
from evaluator.review import problems as store
from tests import syntax

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "errors.md"
OPEN = "…"
HEAD = """# Errors and their fixes

Written by `python -m tests.error_page` from the code; a test fails when it is not up to date.

An issue of a file is shown as file, place, rule, what was found, fix. Search for a part of the rule; "…" is what is
filled in: a name, a number, a place. Not listed are warnings whose second sentence states what was done ("They are left
out."), rules whose fix says no more than the rule ("Correct it.", "Split the file.", "Export the file again.") or is
put together for the file, and errors of options, which name the option, what it must be and what was found.
"""
# Modules by the beginning of their path, and the section in which their rules are; those of formats have their titles.
OF_FILES = {
    "formats/json_": "Every JSON file",
    "formats/xml_": "Every XML file",
    "formats/archive": "Zip archives",
    "formats/model_output": "Every output of a model",
    "formats/writers": "Files that are written",
    "formats": "Every file or folder of annotations",
}
OF_THE_REST = {
    "analysis/doctor": "Files that do not match, and --fix",
    "data/fixes": "Files that do not match, and --fix",
    "data": "Boxes and outlines",
    "matching": "Boxes and outlines",
    "protocols": "Evaluation",
    "compare": "Results of evaluations",
    "analysis/slices": "Slices and page tables",
    "review": "Findings and verdicts",
    "": "Projects, workspace folders and packs",
}
# Formats whose modules have another name than `FORMATS` gives them.
_TITLES = {name: each.title.split(" (")[0] for name, each in FORMATS.items()}
_FORMATS = {name.replace("-", "_"): title[0].upper() + title[1:] for name, title in _TITLES.items()}
_VERB = re.compile(r"\b(must|should|may|is|are|has|have|needs?|counts?|takes?|replaces|does|holds?|will)\b")
_SOURCE = re.compile(r" \([^()]*\)")
# Second sentences that say what was done, and fixes that say no more than the rule.
_DONE = re.compile(r"(They|Its?|Their|Nothing|All|Both|Each|Labels|Read|This|Without|What|Width|The \w+ (is|are|of)) ")
_PLAIN = re.compile(r"([A-Za-z]+ ?){1,4}(, or (correct|remove) (it|the \w+))?\.")
# The name at the beginning of a rule, which may be another one, and what stands for it while rules are compared.
_NAME = re.compile(r"[\w$.…]+(?= (?:must|should|may|is required))")
_ANY = "\0"
_DEPTH = 5
Function = ast.FunctionDef | ast.AsyncFunctionDef
# The blocks of statements around a place, from the outside in: what each belongs to, and as what.
Blocks = tuple[tuple[ast.AST, str], ...]


class Given(NamedTuple):
    value: ast.expr
    line: int
    blocks: Blocks


class Said(NamedTuple):
    """One way in which an expression may read, and the block in which its name got it."""

    text: str
    block: object


class Module:
    """A source file: its expressions with the blocks around them, and what its names are given."""

    def __init__(self, path: Path) -> None:
        self.name = path.relative_to(ROOT / "evaluator").with_suffix("").as_posix()
        self.given: dict[str, list[Given]] = defaultdict(list)
        self.pairs: list[tuple[list[ast.expr], Blocks]] = []
        self.returned: dict[str, list[tuple[ast.expr, Blocks]]] = defaultdict(list)
        self._look(syntax.parsed(path), ())

    def _look(self, node: ast.AST, blocks: Blocks) -> None:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Shape":
            # What is said of objects with keys is asked of them, key by key: `of_shapes`.
            return
        for name, value in bindings(node):
            self.given[name].append(Given(value, value.lineno, blocks))
        if isinstance(node, ast.Call):
            # What should be is only warned of.
            self.pairs.append(([*node.args, *(each.value for each in node.keywords if each.arg != "should")], blocks))
        elif isinstance(node, ast.Tuple):
            self.pairs.append((node.elts, blocks))
        elif isinstance(node, ast.Return) and node.value is not None:
            self.returned[functions(blocks)[-1].name].append((node.value, blocks))
        for field, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self._look(child, (*blocks, (node, field)) if isinstance(child, ast.stmt) else blocks)

    def values(self, name: str, line: int, blocks: Blocks) -> Iterator[Given]:
        """The values of a name that may reach a line."""
        own = [each for each in self.given.get(name, ()) if each.blocks == each.blocks[:1] or each.line <= line]
        own = [each for each in own if functions(each.blocks) == functions(blocks)[: len(functions(each.blocks))]]
        for each in sorted(own, key=lambda each: (-len(functions(each.blocks)), -each.line)):
            yield each
            if each.blocks == blocks[: len(each.blocks)]:
                return
        if not own:
            yield from constants().get(name, ())

    def texts(self, node: ast.expr, blocks: Blocks, depth: int = 0) -> list[Said]:
        """What an expression may say."""
        here = blocks[-1:]
        match node:
            case ast.Constant(value=str(text)):
                return [Said(text, here)]
            case ast.JoinedStr(values=parts):
                ways = product(*(self.texts(part, blocks, depth) for part in parts))
                return [Said("".join(each.text for each in way), here) for way in ways]
            case ast.FormattedValue(value=ast.Name() | ast.IfExp() as value):
                return self.texts(value, blocks, depth + 1)
            case ast.IfExp(body=body, orelse=orelse):
                return [*self.texts(body, blocks, depth), *self.texts(orelse, blocks, depth)]
            case ast.Lambda(body=ast.Tuple(elts=parts)):
                return [each for part in parts for each in self.texts(part, blocks, depth)]
            case ast.Lambda(body=body):
                return self.texts(body, blocks, depth)
            case ast.Call(func=ast.Name(id=name)) if name in self.returned and depth < _DEPTH:
                return self.answers(name, here, depth)
            case ast.Name(id=name) if name in self.returned and depth < _DEPTH:
                return self.answers(name, here, depth)
            case ast.Name(id=name) if depth < _DEPTH:
                given = self.values(name, node.lineno, blocks)
                return [
                    Said(each.text, value.blocks[-1:])
                    for value in given
                    for each in self.texts(value.value, value.blocks, depth + 1)
                ] or [Said(OPEN, here)]
        return [Said(OPEN, here)]

    def answers(self, name: str, here: Blocks, depth: int) -> list[Said]:
        """What a function of this module may return."""
        said = [each for value, blocks in self.returned[name] for each in self.texts(value, blocks, depth + 1)]
        return [Said(each.text, here) for each in said]

    def rules(self) -> Iterator[tuple[str, str]]:
        for nodes, blocks in self.pairs:
            said = [self.texts(node, blocks) for node in nodes] if len(nodes) > 1 else []
            for at, fixes in enumerate(said):
                mended = [each for each in fixes if re.fullmatch(r"(?=.*[a-z]{3})[A-Z][^\n]*\.", each.text)]
                rules = next((way for way in said[:at] if mended and any(is_rule(each.text) for each in way)), [])
                together = {each.block for each in mended} == {each.block for each in rules}
                for rule, fix in product(rules, mended):
                    if is_rule(rule.text) and (not together or rule.block == fix.block):
                        yield rule.text, fix.text


def bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement gives values to, with these."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    value = getattr(node, "value", None)
    for target in targets:
        if isinstance(target, ast.Name) and isinstance(value, ast.expr):
            yield target.id, value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = zip(target.elts, value.elts, strict=False)
            yield from ((name.id, given) for name, given in pairs if isinstance(name, ast.Name))


def functions(blocks: Blocks) -> list[Function]:
    """The functions around a place, from the outside in."""
    return [node for node, _ in blocks if isinstance(node, Function)]


def is_listed(fix: str) -> bool:
    """Whether a fix says what can be done, and more than its rule."""
    return not _DONE.match(fix) and not _PLAIN.fullmatch(fix)


def is_rule(text: str) -> bool:
    """Whether a text is a clause about what must be."""
    letters = re.sub("[^a-z]", "", text)
    return len(letters) > 5 and not text.rstrip().endswith((".", ":")) and _VERB.search(text) is not None


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the core but those whose sentences are on the page in another way."""
    paths = [path for path in sorted((ROOT / "evaluator").rglob("*.py")) if "node_modules" not in path.parts]
    return tuple(Module(path) for path in paths if path.stem not in ("known", "problems"))


@cache
def constants() -> dict[str, list[Given]]:
    every: dict[str, list[Given]] = defaultdict(list)
    for module in modules():
        for name, given in module.given.items():
            every[name] += [each for each in given if name.strip("_").isupper() and not functions(each.blocks)]
    return every


def section(module: str) -> str:
    """Where the rules of a module stand."""
    room, _, name = module.partition("/")
    if room == "formats" and (title := _FORMATS.get(name.split("/")[0])):
        return title
    return next(title for start, title in (OF_FILES | OF_THE_REST).items() if module.startswith(start))


def of_shapes() -> Iterator[tuple[str, str, str]]:
    """Module, rule and fix of what the objects of a format say, asked with values that do not fit."""
    odd: tuple[object, ...] = (None, True, 0.5, 2**70, 1, "x", "\ud800", [], [1], {})
    for name, module in (("formats/coco", coco), ("formats/snapshot", snapshot)):
        collector = Collector("", max_per_rule=None)
        for shape in (each for each in vars(module).values() if isinstance(each, Shape)):
            for value in ([], {}, {OPEN: 1}, *({key: value} for key in shape.checks for value in odd)):
                shape.fields(value, "$", collector)
        yield from ((name, each.rule, each.fix) for each in collector.issues() if each.rule)


def merged(rows: Iterable[tuple[str, str]]) -> dict[tuple[str, ...], set[str]]:
    """The rules of a section by their fixes; those that differ in a name only are one."""
    named: dict[tuple[str, str], set[str]] = defaultdict(set)
    for sourced, fix in rows:
        rule = blanked(_SOURCE.sub("", sourced)).strip()
        name = first[0] if (first := _NAME.match(rule)) else _ANY
        named[rule.replace(name, _ANY, 1), fix.replace(f" {name}", f" {_ANY}")].add(name)
    fixes: dict[str, set[str]] = defaultdict(set)
    for (rule, fix), names in named.items():
        name = OPEN if len(names) > 1 else min(names)
        fixes[rule.replace(_ANY, name)].add(fix.replace(_ANY, name))
    groups: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for rule, own in fixes.items():
        if left := tuple(sorted(filter(is_listed, own))):
            groups[left].add(rule)
    for rules in groups.values():
        like = {rule: ".+".join(map(re.escape, rule.split(OPEN))) for rule in rules if OPEN in rule}
        rules -= {one for one in rules for rule, way in like.items() if one != rule and re.fullmatch(way, one)}
    return groups


def table(head: str, rows: Iterable[tuple[str, str]]) -> str:
    """A table of Markdown."""
    lines = [tuple(head.split(" | ")), ("---", "---"), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in lines)


def shown(text: str) -> str:
    """Text as it is in Markdown."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\n", " ")


def page() -> str:
    """The whole page."""
    by_section: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for module in modules():
        by_section[section(module.name)].update(module.rules())
    for name, rule, fix in of_shapes():
        by_section[section(name)].add((rule, fix))
    parts, of_json = [HEAD], by_section["Every JSON file"].copy()
    for title in dict.fromkeys((*OF_FILES.values(), *_FORMATS.values(), *OF_THE_REST.values())):
        of_section = by_section[title] if title == "Every JSON file" else by_section[title] - of_json
        rows = [
            ("<br>".join(sorted(map(shown, rules))), "<br>".join(map(shown, fixes)))
            for fixes, rules in merged(of_section).items()
        ]
        if rows:
            parts.append(f"\n## {title}\n\n{table('rule | fix', sorted(rows))}")
    known = [(each.title, shown(each.instead)) for each in UNSUPPORTED_FORMATS]
    parts.append(f"\n## Formats that are recognised and not read\n\n{table('this is | fix', known)}")
    for title, sentences in (("Pages and documents", pages._SENTENCES), ("The store of findings", store._SENTENCES)):
        rows = [(blanked(first), blanked(fix)) for first, _, fix in sentences.values()]
        parts.append(f"\n## {title}\n\n{table('message | fix', rows)}")
    return "".join(parts)


def blanked(text: str) -> str:
    """A sentence without what it leaves open."""
    return re.sub(r"\{\w*\}", OPEN, text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
