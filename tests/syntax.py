"""The syntax of the project's own files, for tests that read it."""

import ast
from pathlib import Path

from evaluator.formats.json_text import garbage_collection_off


def parsed(path: Path) -> ast.Module:
    """The tree of a file."""
    with garbage_collection_off():
        return ast.parse(path.read_text(encoding="utf-8"))


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below one, without those that only say whether it is read or written."""
    below: list[ast.AST] = []
    for name in node._fields:
        if name == "ctx":
            continue
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            below.append(value)
        elif isinstance(value, list):
            below += [each for each in value if isinstance(each, ast.AST)]
    return below


def nodes(*roots: ast.AST) -> list[ast.AST]:
    """Some nodes and all below them, those nearer to the roots first."""
    every = list(roots)
    for node in every:
        every += children(node)
    return every
