"""Writes docs/errors.md from the sentences in the code: ``python -m tests.error_page``.

Every place of the core that notes an issue names its rule and its fix. They are read from the source, so that a new one
is missing from the page until it is written anew; a test compares. What is filled in later is shown as "…".
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

from evaluator.formats.coco import walk as coco
from evaluator.formats.json_text import garbage_collection_off
from evaluator.formats.json_values import Shape
from evaluator.formats.known import KNOWN
from evaluator.formats.snapshot import walk as snapshot
from evaluator.formats.writers import WRITERS
from evaluator.formats.writers import base as writers
from evaluator.model.issues import Collector
from evaluator.pdf import problems as pages
from evaluator.review import problems as store
from tests import syntax

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "errors.md"
OPEN = "…"
# Where rule and fix are among the arguments of a call that notes an issue, and how many it has.
CALLS = {
    "error": (1, 3, 4),
    "warning": (1, 3, 4),
    "fail": (1, 3, 4),
    "add": (2, 4, 5),
    "refuse": (2, 4, 5),
    "Oddity": (1, 3, 4),
}
ROOMS = {
    "formats": "Files of annotations",
    "review": "Findings",
    "slices": "Slices and page tables",
    "doctor": "Fixes of predictions",
    "model": "Everywhere",
}
REST = "Options and results"
# Exceptions whose message is the sentence that a user reads.
RAISED = ("UsageError", "OptionError", "FixError", "ConditionError", "WritingProblem", "CannotKeep", "CannotSave")
# Where a ValueError is about what a user chose: a command shows its message as an error of an option.
CHOSEN = (
    "evaluator/compare/ledger",
    "evaluator/model/dataset",
    "evaluator/protocols/coco/matching",
    "evaluator/protocols/fields/evaluation",
    "evaluator/protocols/pixel/evaluation",
    "evaluator/protocols/pixel/protocol",
    "evaluator/protocols/pixel/sides",
    "evaluator/protocols/pod/evaluation",
    "evaluator/protocols/posters/evaluation",
    "evaluator/protocols/snapshot/evaluation",
    "evaluator/slices/averages",
    "evaluator/slices/named",
    "evaluator/slices/observed",
)
# Functions that return what a command prints about bad input, without an issue.
RETURNED = {
    "evaluator/cli/program": ("_complaint",),
    "evaluator/doctor/diagnosis": ("_not_compared", "not_comparable", "sentence"),
}
HEAD = """# Every error, its sentence and its fix

Written by `python -m tests.error_page` from the code; a test fails when it is not up to date. An issue of a file is
shown as file, place, rule, what was found, fix; here are the rules with their fixes. "…" is what is filled in:
a name, a number, a place.
"""
Function = ast.FunctionDef | ast.AsyncFunctionDef
# What a name is bound to: an expression, and where it is written.
Bound = dict[str, tuple[ast.expr, "Place"]]
# Functions that take the issues themselves; who calls them is what is looked for.
_SINKS = "evaluator/model/issues.py"
_DEPTH = 6


class Module:
    """A source file: what encloses each node, the values of its names, its functions and imports."""

    def __init__(self, path: Path) -> None:
        self.name = path.relative_to(ROOT).as_posix()
        self.tree = syntax.parsed(path)
        self.above: dict[ast.AST, ast.AST] = {}
        nodes: list[ast.AST] = [self.tree]
        for node in nodes:
            below = syntax.children(node)
            self.above.update(dict.fromkeys(below, node))
            nodes += below
        by_type: dict[type[ast.AST], list[Any]] = defaultdict(list)
        for node in nodes:
            by_type[type(node)].append(node)
        self.returns: list[ast.Return] = by_type[ast.Return]
        self.names = {node.id for node in by_type[ast.Name]}
        self.calls: list[ast.Call] = by_type[ast.Call]
        self.functions: list[Function] = [*by_type[ast.FunctionDef], *by_type[ast.AsyncFunctionDef]]
        self.given: dict[tuple[ast.AST, str], list[tuple[ast.expr, ast.AST]]] = defaultdict(list)
        for node in chain.from_iterable(by_type[each] for each in (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            pairs: list[tuple[str, ast.expr]] = []
            if isinstance(node, ast.Assign):
                pairs = [pair for target in node.targets for pair in bindings(target, node.value)]
            elif node.value is not None:
                pairs = list(bindings(node.target, node.value))
            if pairs:
                scopes = (each for each in self.enclosing(node) if isinstance(each, Function | ast.Lambda | ast.Module))
                scope = next(scopes)
                for name, value in pairs:
                    self.given[scope, name].append((value, node))
        self.imports = {
            alias.asname or alias.name: (f"{node.module.replace('.', '/')}", alias.name)
            for node in by_type[ast.ImportFrom] if node.module
            for alias in node.names
        }  # fmt: skip

    def enclosing(self, node: ast.AST) -> list[ast.AST]:
        """What a node is in, from the inside out."""
        nodes = []
        while (node := self.above.get(node, self.tree)) is not self.tree:
            nodes.append(node)
        return [*nodes, self.tree]


@cache
def modules() -> dict[str, Module]:
    """Every module of the core, by its path without the ending."""
    paths = [path for path in sorted((ROOT / "evaluator").rglob("*.py")) if "node_modules" not in path.parts]
    with garbage_collection_off():
        made = [Module(path) for path in paths]
    return {each.name.removesuffix(".py").removesuffix("/__init__"): each for each in made}


class Place(NamedTuple):
    """Where an expression is written, and what the names of the functions around it are given there."""

    module: Module
    node: ast.AST
    given: Bound

    def texts(self, node: ast.expr, depth: int = 0) -> list[str]:
        """What an expression may say, each way once."""
        if depth > _DEPTH:
            return [OPEN]
        here = Place(self.module, node if node in self.module.above else self.node, self.given)
        if isinstance(node, ast.Constant):
            return [node.value if isinstance(node.value, str) else OPEN]
        if isinstance(node, ast.JoinedStr):
            ways = product(*(here.texts(part, depth) for part in node.values))
            return list(dict.fromkeys("".join(way) for way in ways))
        if isinstance(node, ast.FormattedValue):
            # A number or a quoted value; a text that is put in as it is may be known.
            return here.texts(node.value, depth + 1) if isinstance(node.value, ast.Name | ast.IfExp) else [OPEN]
        if isinstance(node, ast.IfExp):
            return [*here.texts(node.body, depth), *here.texts(node.orelse, depth)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return [a + b for a in here.texts(node.left, depth) for b in here.texts(node.right, depth)]
        if isinstance(node, ast.Lambda):
            # Of place, found and fix of a row, the fix.
            row = isinstance(node.body, ast.Tuple) and len(node.body.elts) == 3
            return here.texts(node.body.elts[2] if row else node.body, depth)
        if isinstance(node, ast.Name):
            values = here.values(node.id)
            return [text for value, place in values for text in place.texts(value, depth + 1)] or [OPEN]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return here.returned(node, depth) or [OPEN]
        return [OPEN]

    def returned(self, call: ast.Call, depth: int) -> list[str]:
        """What a call of a function of the core may say."""
        texts = []
        for value, place in self.values(call.func.id) if isinstance(call.func, ast.Name) else ():
            if isinstance(value, ast.Lambda):
                texts += place.texts(value.body, depth + 1)
        for function, module in self.named(call.func.id) if isinstance(call.func, ast.Name) else ():
            given = arguments(function, call, self) or {}
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    texts += Place(module, node, given).texts(node.value, depth + 1)
        return texts

    def named(self, name: str) -> list[tuple[Function, Module]]:
        """The functions that a name stands for here, itself or through what it is bound to."""
        for value, place in self.values(name):
            if isinstance(value, ast.Name) and value.id != name:
                return place.named(value.id)
        own = [(each, self.module) for each in self.module.functions if each.name == name]
        source = modules().get(self.module.imports.get(name, ("", ""))[0])
        return own or [(each, source) for each in (source.functions if source else ()) if each.name == name]

    def values(self, name: str) -> list[tuple[ast.expr, Place]]:
        """The expressions that a name may be bound to here."""
        if name in self.given:
            return [self.given[name]]
        for around in self.module.enclosing(self.node):
            if isinstance(around, Function | ast.Module) and (values := reaching(self.module, around, name, self.node)):
                return [(value, Place(self.module, value, self.given)) for value, _ in values]
            if isinstance(around, Function) and name in {
                each.arg for each in ast.walk(around.args) if isinstance(each, ast.arg)
            }:
                return []
        source, there = self.module.imports.get(name, ("", ""))
        if source in modules():
            module = modules()[source]
            return [(value, Place(module, value, {})) for value, _ in reaching(module, module.tree, there, None)]
        return []


def bindings(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names of a target with what each is given."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for part, given in zip(target.elts, value.elts, strict=False):
            yield from bindings(part, given)


@cache
def reaching(module: Module, scope: ast.AST, name: str, use: ast.AST | None) -> list[tuple[ast.expr, ast.AST]]:
    """The values of a name that may reach a place of its scope, each with the block that it is given in."""
    around = set(module.enclosing(use)) if use is not None else set()
    line = getattr(use, "lineno", 0) if scope in around and not isinstance(scope, ast.Module) else 0
    values = [(value, node) for value, node in module.given.get((scope, name), ()) if not line or node.lineno < line]
    kept = []
    for value, node in sorted(values, key=lambda each: -each[1].lineno):
        # A branch that the place is not in may have been left out; what is before it counts as well.
        if not any(branch(module, node) == branch(module, other) for _, other in kept):
            kept.append((value, node))
        if (
            line
            and all(one in around for one in module.enclosing(node))
            and branch(module, node) in branches(module, use)
        ):
            break
    return kept


def branch(module: Module, node: ast.AST) -> tuple[int, str]:
    """The block of statements that a node is in."""
    while not isinstance(node, ast.stmt):
        node = module.above[node]
    above = module.above[node]
    return id(above), next(key for key, value in ast.iter_fields(above) if isinstance(value, list) and node in value)


def branches(module: Module, node: ast.AST | None) -> set[tuple[int, str]]:
    """The blocks of statements that a node is in, from the inside out."""
    around = [] if node is None else [node, *module.enclosing(node)]
    return {branch(module, each) for each in around if isinstance(each, ast.stmt)}


def arguments(function: Function, call: ast.Call, place: Place) -> Bound | None:
    """What a call gives to the parameters of a function; None where it is no call of it."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if names[:1] == ["self"]:
        names = names[1:]
    keywords = {each.arg: each.value for each in call.keywords if each.arg}
    known = {*names, *(each.arg for each in function.args.kwonlyargs)}
    if len(call.args) > len(names) or not keywords.keys() <= known:
        return None
    given = {**dict(zip(names, call.args, strict=False)), **keywords}
    defaults = dict(zip(reversed(names), reversed(function.args.defaults), strict=False))
    only = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    defaults |= {each.arg: value for each, value in only if value is not None}
    if not set(names) <= {*given, *defaults}:
        return None
    left = {
        name: (value, Place(home_of(function), function, {})) for name, value in defaults.items() if name not in given
    }
    return {name: (value, place) for name, value in given.items()} | left


def issues_of(module: Module) -> set[tuple[str, str]]:
    """Rule and fix of every issue that a module notes; the fix is open where it is made elsewhere."""
    seen: set[tuple[str, str]] = set()
    for call in module.calls:
        if (pair := rule_and_fix(call)) is not None:
            for place in places(module, call, names_in(module, *pair)):
                seen.update((rule.replace("{}", OPEN), fix) for rule, fix in said(*pair, place))
    for node in module.returns:
        if isinstance(node.value, ast.Tuple) and len(node.value.elts) == 3:
            # A rule that is worked out apart, as rule, found and fix.
            rule, _, fix = node.value.elts
            seen.update(pair for pair in said(rule, fix, Place(module, node, {})) if pair[1].endswith("."))
    # Rules that several modules share are beside their fixes.
    for name in {each for each in module.names if each.endswith("_RULE")}:
        fix = ast.Name(f"{name.removesuffix('_RULE')}_FIX")
        seen.update(said(ast.Name(name), fix, Place(module, module.tree, {})))
    return {(rule, fix) for rule, fix in seen if rule.strip(f"{OPEN} ") and len(rule) > 8}


def said(rule: ast.expr, fix: ast.expr, place: Place) -> set[tuple[str, str]]:
    """A rule with its fixes; where both are given in the same branches, each with its own."""
    if isinstance(rule, ast.Name) and isinstance(fix, ast.Name):
        ways = [place.values(each.id) for each in (rule, fix)]
        blocks = [
            [branch(one.module, value) if value in one.module.above else None for value, one in way] for way in ways
        ]
        if len(ways[0]) > 1 and blocks[0] == blocks[1]:
            return {
                pair
                for (one, here), (other, there) in zip(*ways, strict=True)
                for pair in product(here.texts(one), there.texts(other))
            }
    return set(product(place.texts(rule), place.texts(fix)))


def names_in(module: Module, *nodes: ast.AST) -> set[str]:
    """The names that expressions are made of, through what they are given in their functions."""
    waiting, names = list(nodes), set()
    while waiting:
        node = waiting.pop()
        for name in {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} - names:
            names.add(name)
            for around in module.enclosing(node) if node in module.above else ():
                if isinstance(around, Function):
                    waiting += [value for value, _ in reaching(module, around, name, node)]
    return names


@cache
def every_call() -> dict[str, list[tuple[Module, ast.Call]]]:
    """The calls of the core by the name of what they call."""
    calls = defaultdict(list)
    for module in modules().values():
        for call in module.calls:
            calls[called(call)].append((module, call))
    return calls


@cache
def home_of(function: Function) -> Module:
    """The module that a function is in."""
    return next(module for module in modules().values() if function in module.functions)


def places(module: Module, node: ast.AST, wanted: set[str], depth: int = 0) -> list[Place]:
    """A node with each way in which the loops and the functions around it give values to some names."""
    ways: list[Bound] = [{}]
    for around in module.enclosing(node):
        if isinstance(around, ast.For) and wanted & {
            each.id for each in ast.walk(around.target) if isinstance(each, ast.Name)
        }:
            rows = [dict(bindings(around.target, row)) for row in rows_of(Place(module, around, {}), around.iter)]
            loops = [{name: (value, Place(module, around, {})) for name, value in row.items()} for row in rows]
            ways = [{**loop, **way} for way in ways for loop in loops or [{}]]
        elif isinstance(around, Function) and depth < 3 and module.name != _SINKS and wanted & parameters(around):
            private = around.name.startswith("_") or nested(module, around)
            callers: list[Bound] = []
            for other, call in every_call()[around.name]:
                bound = arguments(around, call, Place(other, call, {})) if other is module or not private else None
                if bound is None or around in other.enclosing(call):
                    continue
                given = {name: value for name, value in bound.items() if name in wanted}
                needs = names_in(other, *(value for value, _ in given.values()))
                callers += [
                    {name: (value, Place(place.module, call, place.given)) for name, (value, _) in given.items()}
                    for place in places(other, call, needs, depth + 1)
                ]
            ways = [{**caller, **way} for way in ways for caller in callers or [{}]]
    return [Place(module, node, way) for way in ways]


def parameters(function: Function) -> set[str]:
    """The names of the parameters of a function."""
    return {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}


def nested(module: Module, function: Function) -> bool:
    """Whether a function is inside of another."""
    return any(isinstance(each, Function) for each in module.enclosing(function))


def rows_of(place: Place, iterated: ast.expr) -> list[ast.expr]:
    """What a loop goes through where that is written down."""
    if isinstance(iterated, ast.Tuple | ast.List):
        return list(iterated.elts)
    if isinstance(iterated, ast.Name):
        return [row for value, there in place.values(iterated.id) for row in rows_of(there, value)]
    if isinstance(iterated, ast.Call) and called(iterated) == "items" and isinstance(iterated.func, ast.Attribute):
        held = iterated.func.value
        known = place.values(held.id) if isinstance(held, ast.Name) else []
        tables = [value for value, _ in known if isinstance(value, ast.Dict)]
        return [
            ast.Tuple([key, value])
            for table in tables
            for key, value in zip(table.keys, table.values, strict=True)
            if key
        ]
    return []


def called(call: ast.Call) -> str:
    """The name of what a call calls."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def rule_and_fix(call: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """The two arguments of a call that notes an issue; None for any other call."""
    name = called(call)
    if name == "Issue":
        named = {word.arg: word.value for word in call.keywords}
        return (named["rule"], named["fix"]) if {"rule", "fix"} <= named.keys() else None
    if name == "leave_out":
        named = {word.arg: word.value for word in call.keywords}
        return named["without"], named["fix"]
    if name == "errors" and len(call.args) == 3:
        return call.args[0], call.args[2]
    if name in CALLS and len(call.args) == CALLS[name][2]:
        return call.args[CALLS[name][0]], call.args[CALLS[name][1]]
    return None


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of Markdown."""
    lines = [heads, tuple("---" for _ in heads), *sorted(set(rows))]
    return "".join("| " + " | ".join(shown(cell) for cell in row) + " |\n" for row in lines)


def shown(cell: str) -> str:
    """Text in a cell of Markdown, as it is."""
    return cell.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")


def issues_of_shapes() -> set[tuple[str, str]]:
    """Rule and fix of what the objects say that are stated as keys with checks, asked with values that do not fit."""
    odd = (None, True, 0.5, 2**70, 1, "x", "\ud800", [], [1], {})
    collector = Collector("", max_per_rule=None)
    for shape in (each for module in (coco, snapshot) for each in vars(module).values() if isinstance(each, Shape)):
        for value in ([], {}, {OPEN: 1}, *({key: value} for key in shape.checks for value in odd)):
            shape.fields(value, "$", collector)
    # The objects without a sentence of their own are not checked by themselves.
    return {(issue.rule, issue.fix) for issue in collector.issues() if issue.rule}


def issues_of_writers() -> set[tuple[str, str]]:
    """Rule and fix of what is said of what each format cannot hold."""
    module, told = modules()["evaluator/formats/writers/base"], {}
    for function in module.functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and isinstance(node.value, ast.IfExp):
                rule, _, fix = node.value.body.elts if isinstance(node.value.body, ast.Tuple) else (None,) * 3
                told[function.name] = said(rule, fix, Place(module, node, {})) if rule and fix else set()
    return {
        (f"{writer.target} {rule}", fix)
        for writer in WRITERS.values()
        for lack in writer.lacks
        for rule, fix in told[writers._LACKS[lack].__name__]
    }


def page() -> str:
    """The whole page."""
    by_room: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for module in modules().values():
        room = module.name.split("/")[1]
        by_room[ROOMS.get(room, REST)] |= issues_of(module)
    by_room[ROOMS["formats"]] |= issues_of_shapes() | issues_of_writers()
    by_room[ROOMS["formats"]] |= {(f"this is {each.title}, which is not read", each.instead) for each in KNOWN}
    by_room[ROOMS["formats"]].discard((f"this is {OPEN}, which is not read", OPEN))
    explained = "\n".join(rule for rows in by_room.values() for rule, fix in rows if fix != OPEN)
    for rows in by_room.values():
        unknown = {rule: re.escape(rule).replace(OPEN, ".*") for rule, fix in rows if fix == OPEN}
        rows -= {(rule, OPEN) for rule, like in unknown.items() if re.search(f"^{like}$", explained, re.MULTILINE)}
    parts = [HEAD]
    titles = [title for title in (*ROOMS.values(), REST) if by_room[title]]
    parts += [f"\n## {title}\n\n{table(('rule', 'fix'), by_room[title])}" for title in titles]
    told = sentences_raised() | sentences_returned()
    parts.append(f"\n## Commands, options and documents that are written\n\n{table(('sentence',), told)}")
    for title, sentences in (("Pages and documents", pages._SENTENCES), ("The store of findings", store._SENTENCES)):
        rows = [tuple(" ".join(blanked(text).split()) for text in each) for each in sentences.values()]
        parts.append(f"\n## {title}\n\n{table(('message', 'why', 'fix'), rows)}")
    return "".join(parts)


def sentences_raised() -> set[tuple[str]]:
    """The messages of the exceptions that reach a user as they are."""
    return {
        (text,)
        for name, module in modules().items()
        for call in module.calls
        if isinstance(call.func, ast.Name) and call.args
        if call.func.id in RAISED or (call.func.id == "ValueError" and name in CHOSEN)
        for place in places(module, call, names_in(module, call.args[0]))
        for text in place.texts(call.args[0])
        if len(text.strip(f"{OPEN} ")) > 8
    }


def sentences_returned() -> set[tuple[str]]:
    """What commands print about bad input that no exception and no issue says."""
    made: set[tuple[str]] = set()
    for name, functions in RETURNED.items():
        module = modules()[name]
        for function in module.functions:
            if function.name in functions:
                for node in ast.walk(function):
                    if isinstance(node, ast.JoinedStr):
                        texts = Place(module, node, {}).texts(node)
                        made |= {(text.strip(),) for text in texts if len(text.replace(OPEN, "").strip(" .:;")) > 8}
    return made


def blanked(text: str) -> str:
    """A sentence without what it leaves open."""
    for name in ("document", "folder", "page", "index", "store"):
        text = text.replace(f"{{{name}}}", OPEN)
    return text.removesuffix(" {detail}").replace("{detail}", OPEN)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
