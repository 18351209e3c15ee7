"""Every sentence that a reader or writer makes is stated whole by a test: its rule, and its fix behind it.
What is put in at run time is a gap that may be filled with anything; the source of a rule in brackets is left out.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from evaluator.formats.json_text import garbage_collection_off
from tests import syntax

ROOT: Final = Path(__file__).resolve().parent.parent
GAP: Final = "\0"
"""What a text has at run time only."""
SHORTEST: Final = 20
"""Letters of a text of a test that may be a sentence."""
ROOM: Final = 700
"""Letters that what was found, and what fills a gap, may have."""
BRACKETS: Final = re.compile(r" \([^()]*\)")
TEXTS: Final = (ast.Constant, ast.JoinedStr, ast.BinOp)
"""What a text is made of."""
PARTS: Final[Mapping[tuple[str, int], tuple[int, int]]] = {
    ("error", 4): (1, 3), ("warning", 4): (1, 3), ("refuse", 5): (2, 4), ("refuse", 2): (0, 1), ("refuse", 3): (0, 1),
    ("refuse", 4): (0, 1), ("_refuse", 4): (1, 3), ("errors", 3): (0, 2), ("fail", 4): (1, 3),
}  # fmt: skip
"""Where rule and fix are among the arguments of what makes an issue, by its name and how many there are."""


class Made(NamedTuple):
    """A call that makes an issue: where it is, and the texts of its rule and fix as far as they are written there."""

    place: str
    rule: str
    fix: str


def text_of(node: ast.expr | None, names: Mapping[str, str]) -> str | None:
    """A text that is written down, with gaps; None for what is no text, or comes from elsewhere."""
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=values):
            return "".join(text_of(each, names) or GAP for each in values)
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return text_of(value, names)
        case ast.Name(id=name):
            return names.get(name)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = text_of(left, names), text_of(right, names)
            return None if parts == (None, None) else "".join(part or GAP for part in parts)
    return None


def named(nodes: Iterable[ast.AST], names: Mapping[str, str], until: int = 1 << 30) -> dict[str, str]:
    """The texts that have names, by the last assignment before a line."""
    held = dict(names)
    pairs: list[tuple[int, ast.expr, ast.expr]] = []
    for node in nodes:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Tuple)
            and isinstance(node.targets[0], ast.Tuple)
        ):
            pairs += [(node.lineno, *pair) for pair in zip(node.targets[0].elts, node.value.elts, strict=False)]
        elif isinstance(node, ast.Assign):
            pairs.append((node.lineno, node.targets[0], node.value))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs.append((node.lineno, node.target, node.value))
    for line, target, value in sorted(pairs, key=lambda pair: pair[0]):
        if line <= until and isinstance(target, ast.Name):
            text = text_of(value, held)
            held.pop(target.id, None)
            if text is not None:
                held[target.id] = text
    return held


def by_scope(tree: ast.Module) -> dict[ast.AST, list[ast.AST]]:
    scopes: dict[ast.AST, list[ast.AST]] = defaultdict(list)
    waiting: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(tree, (tree,))]
    for node, around in waiting:
        # Nothing is below them, and most nodes are of these.
        if type(node) is ast.Name or (type(node) is ast.Constant and not isinstance(node.value, str)):
            continue
        within = (*around, node) if isinstance(node, ast.FunctionDef) else around
        if isinstance(node, (*TEXTS, ast.Assign, ast.AnnAssign, ast.Call)):
            for scope in within:
                scopes[scope].append(node)
        waiting += [(child, within) for child in syntax.children(node)]
    return scopes


def made() -> Iterator[Made]:
    """Every call of the readers and writers that makes an issue."""
    files = sorted((ROOT / "evaluator" / "formats").rglob("*.py"))
    trees = {path: syntax.parsed(path) for path in files}
    shared: dict[str, str] = {}
    for tree in trees.values():
        shared |= {name: text for name, text in named(tree.body, {}).items() if name.strip("_").isupper()}
    for path, tree in trees.items():
        own = named(tree.body, shared)
        for function, nodes in by_scope(tree).items():
            for call in nodes if function is not tree else ():
                if isinstance(call, ast.Call) and (parts := _parts(call)):
                    names = named(nodes, own, call.lineno)
                    rule, fix = (text_of(part, names) or GAP for part in parts)
                    yield Made(f"{path.relative_to(ROOT)}:{call.lineno}", rule, fix)


def _parts(call: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """Rule and fix of a call that makes an issue; None for another one."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    keywords = {each.arg: each.value for each in call.keywords}
    if name == "Issue" and {"rule", "fix"} <= keywords.keys():
        return keywords["rule"], keywords["fix"]
    # The function of this name has five arguments or four, the method its rule first.
    if (name, len(call.args)) == ("_refuse", 4) or name != "_refuse":
        at = PARTS.get((name, len(call.args)))
        return at and (call.args[at[0]], call.args[at[1]])
    return None


def stated() -> list[str]:
    texts: set[str] = set()
    for path in sorted((ROOT / "tests").rglob("*.py")):
        with garbage_collection_off():
            tree = syntax.parsed(path)
            own = named(tree.body, {})
            for scope, nodes in by_scope(tree).items():
                names = own if scope is tree else named(nodes, own)
                texts.update(text_of(node, names) or "" for node in nodes if isinstance(node, TEXTS))
    return [BRACKETS.sub("", text).replace("\n", " ") for text in texts if len(text) > SHORTEST]


def is_stated(sentence: Made, texts: list[str]) -> bool:
    """Whether a text has the rule of a sentence, and its fix behind it; one whose rule is made elsewhere has."""
    if not sentence.rule.strip(GAP + " "):
        return True
    parts = [part for text in (sentence.rule, sentence.fix) for part in BRACKETS.sub("", text).split(GAP)]
    # The longest first: it is in the fewest texts, and what is not there needs no search for the whole.
    parts.sort(key=len, reverse=True)
    longest = parts[0]
    near = [text for text in texts if longest in text]
    whole = re.compile(f"{pattern(sentence.rule)}[^\n]{{0,{ROOM}}}?{pattern(sentence.fix)}")
    return any(all(part in text for part in parts) and whole.search(text) for text in near)


def pattern(text: str) -> str:
    return f"[^\n]{{0,{ROOM}}}?".join(map(re.escape, BRACKETS.sub("", text).split(GAP)))


def test_every_sentence_is_stated_whole_by_a_test() -> None:
    texts = stated()
    every = list(made())
    assert len(every) > 350
    missing = [
        f"{each.place}: {each.rule.replace(GAP, '…')} | {each.fix.replace(GAP, '…')}"
        for each in every
        if not is_stated(each, texts)
    ]
    assert missing == [], "\n".join(missing)


def test_a_sentence_that_no_test_states_is_noticed() -> None:
    texts = [BRACKETS.sub("", "a.json: $[0]: a box must have 4 numbers (Marker); found [1]. Export the file again.")]
    again = "Export the file again."
    assert is_stated(Made("", f"a box must have {GAP} numbers ({GAP})", again), texts)
    assert not is_stated(Made("", "a box must have 5 numbers", again), texts)
    assert not is_stated(Made("", f"a box must have {GAP} numbers", "Correct it."), texts)
