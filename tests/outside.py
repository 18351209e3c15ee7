"""Which tests depend on what is outside of the repository: the shared folder, a PostgreSQL, a proxy, or axe-core.
They are found in the syntax: a name depends on it when what it uses reads one of the variables, in any module.
"""

import ast
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
VARIABLES: Final = (
    "LAYOUTSCOPE_SHARED", "LAYOUTSCOPE_POSTGRES_URL", "LAYOUTSCOPE_REQUIRE_PROXIES", "LAYOUTSCOPE_AXE",
)  # fmt: skip


@cache
def dependent(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tests":
            for alias in node.names:
                names |= _imported(node.module or "", alias)
    uses = [(_bound(node), _used(node)) for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    while True:
        more = {name for bound, used in uses if used & names or used & {*VARIABLES} for name in bound} - names
        if not more:
            return frozenset(names)
        names |= more


def _imported(module: str, alias: ast.alias) -> set[str]:
    whole, part = (ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in (f"{module}.{alias.name}", module))
    if whole.is_file():
        return set(dependent(whole))
    return {alias.asname or alias.name} if part.is_file() and alias.name in dependent(part) else set()


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module gives a meaning."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in stored if isinstance(node.ctx, ast.Store)}


def _used(statement: ast.stmt) -> set[str]:
    """The names that a statement uses; fixtures are parameters, or texts of a mark, and variables are texts."""
    words = set()
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.Constant(value=str(name)):
                words.add(name)
    return words


def depends(path: Path, test: str) -> bool:
    """Whether a test of a module, named by its function or its class, depends on the outside."""
    if not path.is_relative_to(ROOT / "tests"):
        return False
    names = dependent(path)
    # What all tests of a module use, and fixtures that pytest runs without being asked, count for each of them.
    return test in names or "pytestmark" in names
