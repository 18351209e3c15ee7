"""The house keeps its shape: who may import whom, what may not be written, and what the documentation names."""

import ast
import functools
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

from evaluator.cli.registered import app
from evaluator.formats import FORMATS
from evaluator.protocols import PROTOCOLS
from pages.app.state import WORDS
from tests import syntax

PROJECT = Path(__file__).resolve().parent.parent
ROOMS = (
    "data", "system", "metrics", "matching", "pdf", "formats", "protocols", "compare", "review", "analysis",
    "project", "workspace", "charts", "components", "notebook", "opened", "pack", "cli",
)  # fmt: skip
CORE = sorted(path for path in (PROJECT / "evaluator").rglob("*.py") if "node_modules" not in path.parts)
VIEWS = [PROJECT / "app.py", *sorted((PROJECT / "pages").rglob("*.py"))]
SAMPLES = sorted((PROJECT / "sample_data").rglob("*.py"))
TESTS = sorted((PROJECT / "tests").rglob("*.py"))
SCRIPTS = sorted(path for path in (PROJECT / "evaluator").rglob("*.js") if "node_modules" not in path.parts)
# Who may import what is nowhere else.
OWNERS = {
    "streamlit": ("app.py", "pages/"),
    "pymupdf": ("evaluator/pdf/worker.py", "evaluator/pdf/writer.py", "sample_data/"),
    "fitz": (),
    "altair": ("evaluator/charts/",),
    "anywidget": ("evaluator/notebook/",),
    "sqlalchemy": ("evaluator/review/",),
    "sqlite3": ("evaluator/review/",),
    "psycopg": (),
}
FORBIDDEN = re.compile(r"unsafe_allow_html|\bpickle\b|\beval\(|yaml\.load|innerHTML")


def name_of(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


class Function(NamedTuple):
    name: str
    documented: str
    parameters: frozenset[str]
    lines: int
    """How many it has below its docstring."""


class Source(NamedTuple):
    """What is asked of a file; it is read once, because that takes most of the time of these tests."""

    imports: tuple[str, ...]
    """Every module that it imports, anywhere in it, with the names taken from it: ``data.boxes.area``."""
    says: bool
    """Whether it has a docstring."""
    functions: tuple[Function, ...]
    misnamed: tuple[str, ...]
    """Its functions with a variable `found` that is no text of an issue."""


# The text of an issue, in the words that a function about one has.
ISSUE = {"rule", "fix", "refuse", "error", "warning", "Issue"}
# Where it may be a variable: it is no attribute, no whole text and not in the middle of a sentence.
FOUND = re.compile(r"""(?<![."'])(?<!; )\bfound\b""")


@functools.cache
def source(path: Path) -> Source:
    tree = syntax.parsed(path)
    imports: list[str] = []
    functions, misnamed = [], []
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in statements(tree):
        if isinstance(node, ast.Import):
            imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}: imports are absolute"
            imports += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.append(function_of(node))
            if FOUND.search("\n".join(lines[node.lineno - 1 : node.end_lineno])) and is_misnamed(node):
                misnamed.append(node.name)
    return Source(tuple(imports), bool(ast.get_docstring(tree)), tuple(functions), tuple(misnamed))


def function_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    documented = ast.get_docstring(node)
    first = node.body[documented is not None :]
    lines = (node.end_lineno or 0) - first[0].lineno + 1 if first else 0
    parameters = frozenset(each.arg for each in syntax.nodes(node.args) if isinstance(each, ast.arg))
    return Function(node.name, documented or "", parameters, lines)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Every statement below a node; no expression is gone through."""
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, block, ()):
            yield child
            yield from statements(child)


def is_misnamed(function: ast.AST) -> bool:
    nodes = syntax.nodes(function)
    variables = {node.id for node in nodes if isinstance(node, ast.Name)}
    variables |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return "found" in variables and not (variables | attributes) & ISSUE


def test_a_room_imports_only_rooms_above_it() -> None:
    wrong = []
    for path in CORE:
        room = path.relative_to(PROJECT / "evaluator").parts[0].removesuffix(".py")
        # The package itself hands one name on when it is asked for, and comes before all rooms.
        above = ROOMS[: ROOMS.index(room) + 1] if room != "__init__" else ("opened",)
        for name in source(path).imports:
            package, _, rest = name.partition(".")
            upward = package == "evaluator" and rest.split(".")[0] not in above
            if upward or package in ("pages", "app", "tests", "sample_data"):
                wrong.append(f"{name_of(path)} imports {name}")
    assert wrong == []


def test_no_imports_run_in_a_circle() -> None:
    """Neither inside functions nor for types alone; that a module needs the package around it does not count."""
    paths = {path: path.relative_to(PROJECT).with_suffix("") for path in CORE + VIEWS}
    modules = {".".join((each.parent if path.stem == "__init__" else each).parts): path for path, each in paths.items()}
    imported = {
        module: {name if name in modules else name.rpartition(".")[0] for name in source(path).imports}
        for module, path in modules.items()
    }
    circle: list[str] = []
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as problem:
        # Its first is its last, and each is imported by the next one.
        circle = problem.args[1][::-1]
    assert " imports ".join(circle) == ""


def test_only_the_owner_imports_a_library() -> None:
    wrong = [
        f"{name_of(path)} imports {package}"
        for path in CORE + VIEWS + SAMPLES
        for package in {name.split(".")[0] for name in source(path).imports} & OWNERS.keys()
        if not name_of(path).startswith(OWNERS[package] or "-")
    ]
    assert wrong == []


def test_nothing_dangerous_is_called() -> None:
    called = [(name_of(path), FORBIDDEN.findall(path.read_text("utf-8"))) for path in CORE + VIEWS + SAMPLES + SCRIPTS]
    assert [each for each in called if each[1]] == []


def test_a_module_says_what_it_owns() -> None:
    assert [name_of(path) for path in CORE + VIEWS if not source(path).says] == []


def test_types_are_prepared_for_decoding_by_one_module() -> None:
    """Built-in types need no preparation."""
    prepares = re.compile(r"msgspec\.convert\(|\.Decoder\(|\.decode\([^\n]*type=(?!dict|list|tuple)")
    owners = {name_of(path) for path in CORE + VIEWS if prepares.search(path.read_text(encoding="utf-8"))}
    assert owners == {"evaluator/system/decoding.py"}


def test_the_first_file_of_a_package_only_hands_names_on() -> None:
    for path in [*CORE, *VIEWS]:
        # The package itself imports `open`, and all the rest with it, when it is asked for.
        if path.name == "__init__.py" and path.parent.name != "evaluator":
            for node in syntax.parsed(path).body:
                names = (
                    [each.id for each in node.targets if isinstance(each, ast.Name)]
                    if isinstance(node, ast.Assign)
                    else []
                )
                handed_on = isinstance(node, ast.ImportFrom | ast.Expr) or names == ["__all__"]
                assert handed_on, f"{name_of(path)}:{node.lineno} belongs into a module"


def test_a_variable_is_named_for_what_it_holds() -> None:
    """``found`` is the text of an issue, so it is bound only beside its rule or fix, or where an issue is made."""
    every = [*CORE, *VIEWS, *SAMPLES, *(path for path in TESTS if FOUND.search(path.read_text(encoding="utf-8")))]
    assert [f"{name_of(path)}: {name}" for path in every for name in source(path).misnamed] == []


@pytest.mark.parametrize(
    ("text", "misnamed"),
    [
        ("def f():\n    found = 1\n", True),
        ("def f(found):\n    return 1\n", True),
        ("def f():\n    return [found for found in ()]\n", True),
        ("def f():\n    found, fix = 1, 2\n", False),
        ("def f(issue):\n    return f'a box; found {issue.found}'\n", False),
    ],
)
def test_a_name_without_its_rule_is_noticed(tmp_path: Path, text: str, *, misnamed: bool) -> None:
    path = tmp_path / "a.py"
    path.write_text(text)
    assert source(path).misnamed == ("f",) * misnamed


def test_a_docstring_names_the_parameters_that_are_there() -> None:
    section = re.compile(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}|\Z)", re.MULTILINE | re.DOTALL)
    for path in [*CORE, *VIEWS, *SAMPLES]:
        for function in source(path).functions:
            documented = section.search(function.documented)
            heads = (
                [line.split(" : ")[0] for line in documented[1].splitlines() if line[:1].strip()] if documented else ()
            )
            named = {name.strip().lstrip("*") for head in heads for name in head.split(",")}
            assert named <= function.parameters, f"{name_of(path)}: {function.name}"


def test_a_function_fits_on_a_screen() -> None:
    """At most 60 lines below its docstring; what is longer has a second function inside."""
    for path in [*CORE, *VIEWS, *SAMPLES]:
        for function in source(path).functions:
            assert function.lines <= 60, f"{name_of(path)}: {function.name} has {function.lines} lines"


def test_no_room_is_a_drawer() -> None:
    everything = [*CORE, *VIEWS, *SAMPLES, *SCRIPTS, *(PROJECT / "tests").rglob("*.py")]
    for path in everything:
        assert not re.search(r"utils|helpers?|common|manager", path.stem), name_of(path)


def test_a_view_uses_streamlit_as_the_house_does() -> None:
    """Only the state touches the session, only the address the address bar, and a button acts in a callback.

    What is done where a button is drawn is lost when another message of the browser ends the run before.
    """
    for path in VIEWS:
        nodes, name = syntax.nodes(syntax.parsed(path)), name_of(path)
        touched = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        assert "session_state" not in touched or name == "pages/app/state.py", name
        assert "query_params" not in touched or name == "pages/app/address.py", name
        assert not touched & {"cache_data", "cache_resource"} or name.startswith(("pages/app/", "pages/views/")), name
        alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr not in {"button", "form_submit_button"}:
                    continue
                where = f"{name}:{node.lineno}"
                assert id(node) in alone, f"{where}: the answer of a button is not asked for"
                assert "on_click" in {each.arg for each in node.keywords}, f"{where}: a button without on_click"


def test_the_documentation_names_every_protocol_format_command_and_view() -> None:
    readme, formats, terminal, tour, architecture = (
        (PROJECT / name).read_text(encoding="utf-8")
        for name in ("README.md", "docs/formats.md", "docs/terminal.md", "docs/tour.md", "docs/architecture.md")
    )
    commands = [name for name in app if not name.startswith("-")]
    assert {"open", "check", "evaluate"} <= set(commands)
    for command in commands:
        assert f"layoutscope {command}" in terminal, f"docs/terminal.md does not show layoutscope {command}"
    for protocol in PROTOCOLS.values():
        assert f"`{protocol.name}`" in readme, f"README.md does not name the protocol {protocol.name}"
        assert protocol.title in readme
    for name in FORMATS:
        assert f"`{name}`" in readme, f"README.md does not name the format {name}"
        assert f"`{name}`" in formats, f"docs/formats.md does not name the format {name}"
    for word, views in WORDS.items():
        assert f"\n## {word}\n" in tour, f"docs/tour.md does not describe the view {word}"
        for mode in filter(None, views.values()):
            assert f"\n### {mode}\n" in tour, f"docs/tour.md does not describe the mode {mode} of {word}"
    for room in ROOMS:
        assert re.search(rf"^  {room}(\.py|/) ", architecture, re.MULTILINE), f"docs/architecture.md lacks {room}"


def test_every_link_of_the_documentation_leads_somewhere() -> None:
    pages = [*PROJECT.glob("*.md"), *(PROJECT / "docs").glob("*.md"), PROJECT / "sample_data" / "README.md"]
    for page in pages:
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if link.startswith(("https://", "http://")):
                continue
            file, _, heading = link.partition("#")
            target = page.parent / file if file else page
            assert target.is_file(), f"{name_of(page)} links to {link}"
            if heading:
                titles = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
                anchors = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
                assert heading in anchors, f"{name_of(page)} links to {link}"


def test_a_module_of_browser_tests_is_marked() -> None:
    marked = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.browser", re.MULTILINE)
    modules = sorted(Path(__file__).with_name("browser").glob("test_*.py"))
    assert modules
    assert [path.name for path in modules if not marked.search(path.read_text(encoding="utf-8"))] == []
