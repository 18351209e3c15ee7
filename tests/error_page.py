"""Writes docs/errors.md from the sentences in the code: ``python -m tests.error_page``.

Every place of the core that notes an issue names its rule and its fix. They are read from the source, so that a new one
is missing from the page until it is written anew; a test compares. What is filled in later is shown as "…".
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from itertools import product
from pathlib import Path

from evaluator.pdf import problems as pages
from evaluator.review import problems as store

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "errors.md"
OPEN = "…"
# Where rule and fix are among the arguments of a call that notes an issue, and how many it has.
CALLS = {"error": (1, 3, 4), "warning": (1, 3, 4), "add": (2, 4, 5), "refuse": (2, 4, 5), "Oddity": (1, 3, 4)}
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
HEAD = """# Every error, its sentence and its fix

Written by `python -m tests.error_page` from the code; a test fails when it is not up to date. An issue of a file is
shown as file, place, rule, what was found, fix; here are the rules with their fixes. "…" stands for what is filled in:
a name, a number, a place. A fix that is only "…" is said with the issue.
"""
Texts = dict[str, list[ast.expr]]


def texts_of(node: ast.expr, names: Texts, depth: int = 0) -> list[str]:
    """What an expression may say, each way once; names are looked up where they are given a value."""
    if isinstance(node, ast.Constant):
        return [node.value if isinstance(node.value, str) else OPEN]
    if isinstance(node, ast.JoinedStr):
        parts = [texts_of(part, names, depth) for part in node.values]
        return ["".join(way) for way in product(*parts)]
    if isinstance(node, ast.IfExp):
        return [*texts_of(node.body, names, depth), *texts_of(node.orelse, names, depth)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [a + b for a in texts_of(node.left, names, depth) for b in texts_of(node.right, names, depth)]
    if isinstance(node, ast.Name) and depth < 3 and node.id in names:
        return [text for value in names[node.id] for text in texts_of(value, names, depth + 1)]
    return [OPEN]


def assigned(tree: ast.AST) -> Texts:
    """What is given to each name below a node."""
    names: Texts = defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Name):
                names[target.id].append(value)
            elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                for name, part in zip(target.elts, value.elts, strict=False):
                    if isinstance(name, ast.Name):
                        names[name.id].append(part)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            names[node.target.id].append(node.value)
    return names


def issues_of(tree: ast.Module) -> set[tuple[str, str]]:
    """Rule and fix of every issue that a module notes; the fix is open where it is made elsewhere."""
    module = assigned(ast.Module([node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)], []))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    seen: set[tuple[str, str]] = set()
    # Rules that several modules share are beside their fixes.
    for name in [name for name in module if name.endswith("_RULE")]:
        for fix in module.get(f"{name.removesuffix('_RULE')}_FIX", [ast.Constant(OPEN)]):
            seen.update(product(texts_of(module[name][0], module), texts_of(fix, module)))
    for function in functions:
        names = {**module, **assigned(function)}
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and (pair := rule_and_fix(node)) is not None:
                rule, fix = pair
                if isinstance(rule, ast.Name) and len(names.get(rule.id, ())) > 1 and is_for_rows(node):
                    # Which of several rules is meant is not known here, so neither is its fix.
                    fix = ast.Constant(OPEN)
                rules, fixes = texts_of(rule, names), texts_of(fix, names)
                seen.update(product(rules, fixes))
            elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 3:
                # A rule that is worked out apart, as rule, found and fix.
                rule, _, fix = node.value.elts
                seen.update((a, b) for a in texts_of(rule, names) for b in texts_of(fix, names) if b.endswith("."))
    return {(rule, fix) for rule, fix in seen if rule.strip(f"{OPEN} ") and len(rule) > 8}


def is_for_rows(call: ast.Call) -> bool:
    """Whether a call notes an issue for each of some rows."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in ("errors", "report") and bool(call.args)


def rule_and_fix(call: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """The two arguments of a call that notes an issue; None for any other call."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name == "Issue":
        named = {word.arg: word.value for word in call.keywords}
        return (named["rule"], named["fix"]) if {"rule", "fix"} <= named.keys() else None
    if is_for_rows(call):
        # What is stated about each row is a function that gives place, found and fix.
        told = [each.body.elts[2] for each in call.args if isinstance(each, ast.Lambda)
                and isinstance(each.body, ast.Tuple) and len(each.body.elts) == 3]  # fmt: skip
        return call.args[0], told[0] if told else ast.Constant(OPEN)
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


def page() -> str:
    """The whole page."""
    by_room: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for path in sorted((ROOT / "evaluator").rglob("*.py")):
        if "node_modules" in path.parts:
            continue
        room = path.relative_to(ROOT / "evaluator").parts[0]
        by_room[ROOMS.get(room, REST)] |= issues_of(ast.parse(path.read_text(encoding="utf-8")))
    parts = [HEAD]
    titles = [title for title in (*ROOMS.values(), REST) if by_room[title]]
    parts += [f"\n## {title}\n\n{table(('rule', 'fix'), by_room[title])}" for title in titles]
    parts.append(f"\n## Commands, options and documents that are written\n\n{table(('sentence',), sentences_raised())}")
    for title, sentences in (("Pages and documents", pages._SENTENCES), ("The store of findings", store._SENTENCES)):
        rows = [tuple(" ".join(blanked(text).split()) for text in each) for each in sentences.values()]
        parts.append(f"\n## {title}\n\n{table(('what is said', 'why', 'fix'), rows)}")
    return "".join(parts)


def sentences_raised() -> set[tuple[str]]:
    """The messages of the exceptions that reach a user as they are."""
    seen: set[tuple[str]] = set()
    for path in (ROOT / "evaluator").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8")) if "node_modules" not in path.parts else ast.Module([], [])
        names = assigned(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RAISED and node.args:
                seen.update((text,) for text in texts_of(node.args[0], names) if len(text.strip(f"{OPEN} ")) > 8)
    return seen


def blanked(text: str) -> str:
    """A sentence without what it leaves open."""
    for name in ("document", "folder", "page", "index", "store"):
        text = text.replace(f"{{{name}}}", OPEN)
    return text.removesuffix(" {detail}").replace("{detail}", OPEN)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
