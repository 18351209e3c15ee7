"""The components of the front end: the one table of them, and their files joined into one script and one style sheet.

Sources are plain ES modules without a build step; Streamlit and the HTML pack take each component as one string, so an
entry and its imports are concatenated. Checked rules make that safe: an import is on one line and names its imports,
imports form no circle, no name is declared at the top of two modules.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).parent
"""Where the sources are; paths of the table are relative to it."""


class Component(NamedTuple):
    """One part of the front end."""

    entry: str
    """The module that it begins with; everything that it imports comes along."""
    styles: tuple[str, ...]
    """Style sheets, later rules over earlier ones."""
    inline: bool = False
    """False: an ES module whose default export Streamlit calls, or in a notebook anywidget. True: a classic script for
    a `<script>` element."""


_BASE: Final = ("shared/base.css",)
_PAGE: Final = (*_BASE, "shared/page.css")

COMPONENTS: Final[Mapping[str, Component]] = {
    "viewer": Component("viewer/viewer.js", (*_PAGE, "viewer/verdict.css", "viewer/viewer.css")),
    "compare": Component("compare/compare.js", (*_PAGE, "viewer/verdict.css", "compare/compare.css")),
    "compare_board": Component("compare/board.js", (*_PAGE, "compare/board.css")),
    "slices": Component("slices/slices.js", (*_PAGE, "gallery/gallery.css", "slices/slices.css")),
    "suspects": Component(
        "suspects/suspects.js", (*_PAGE, "gallery/gallery.css", "viewer/verdict.css", "suspects/suspects.css")
    ),
    "gallery": Component("gallery/gallery.js", (*_BASE, "gallery/gallery.css")),
    "overview": Component("overview/overview.js", (*_BASE, "overview/overview.css")),
    "decisions": Component("decisions/decisions.js", (*_BASE, "gallery/gallery.css", "decisions/decisions.css")),
    "meeting": Component("meeting/meeting.js", (*_BASE, "meeting/meeting.css")),
    "reviewer": Component("meeting/reviewer.js", ("meeting/reviewer.css",)),
    "drop": Component("drop/drop.js", ("drop/drop.css",)),
    "file_list": Component("drop/file_list.js", (*_BASE, "drop/file_list.css")),
    "theme": Component("theme/theme.js", ("meeting/reviewer.css",)),
    "matrix": Component("matrix/matrix.js", (*_BASE, "matrix/matrix.css")),
    "tint": Component("tint/tint.js", (*_BASE, "tint/tint.css")),
    "notebook_viewer": Component("viewer/notebook.js", (*_PAGE, "viewer/verdict.css", "viewer/viewer.css")),
    "notebook_compare": Component("compare/notebook.js", (*_PAGE, "viewer/verdict.css", "compare/compare.css")),
    "pack": Component("pack/pack.js", ("pack/pack.css",), inline=True),
}
"""The components by name."""

_IMPORT: Final = re.compile(r'^import \{ [\w, ]+ \} from "(?P<file>\.\.?/[\w./]+)";\n', re.MULTILINE)
_ANY_IMPORT: Final = re.compile(r"^import\b.*$", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.MULTILINE)
_DEFAULT: Final = re.compile(r"^export default .*\n", re.MULTILINE)
_DECLARED: Final = re.compile(
    r"^(?:export )?(?:default )?(?:async )?(?:function|const|let|class)\*? (?P<name>\w+)", re.MULTILINE
)
# Streamlit sends the script with every change of the data: what only people read stays behind.
# A comment that code follows on its line stays whole: its end must not be looked for in a later one.
_COMMENT: Final = re.compile(r"^[ \t]*/\*\*(?:(?!\*/).)*\*/[ \t]*\n", re.MULTILINE | re.DOTALL)
_INDENT: Final = re.compile(r"^[ \t]+", re.MULTILINE)


@cache
def component_script(name: str) -> str:
    """Return the JavaScript of a component of `COMPONENTS`, without any import.

    An ES module with one default export, or, `inline`, a classic script for a `<script>` element that declares nothing
    outside of itself. ValueError: an unknown name, or modules that break a rule of `modules_of` or `join_modules`.

    >>> "import {" in component_script("compare")
    False
    """
    component = _component(name)
    joined = join_modules({file: _read(file) for file in modules_of(component.entry)})
    # Lines have no text over several of them, so their indentation means nothing.
    lean = _INDENT.sub("", _COMMENT.sub("", joined))
    if not component.inline:
        return lean
    body = _DEFAULT.sub("", lean).replace("</script", "<\\/script")
    return f"(() => {{\n{body}\n}})();\n"


@cache
def component_style(name: str) -> str:
    """Return the style sheet of a component; ValueError for a name not in `COMPONENTS`."""
    return "\n".join(_read(file) for file in _component(name).styles)


_LOADER: Final = """const at = (path) => new URL(path, window.location.origin).href;
const fetched = fetch(at(%(style)s)).then((answer) => answer.text());
const [{ default: run }, style] = await Promise.all([import(at(%(script)s)), fetched]);
export default function load(component) {
  const parent = component.parentElement;
  if (!parent.querySelector("style[data-own]")) {
    const node = document.createElement("style");
    node.dataset.own = "";
    node.textContent = style;
    parent.prepend(node);
  }
  return run(component);
}
"""


def loader_script(script: str, style: str) -> str:
    """Return an ES module, below 1 KB, that fetches a component and has its default export.

    `script`, `style`: paths on the server of the page. Both are there before the component is built.

    >>> "/a/b.js" in loader_script("/a/b.js", "/a/b.css")
    True
    """
    return _LOADER % {"script": json.dumps(script), "style": json.dumps(style)}


def _component(name: str) -> Component:
    if name not in COMPONENTS:
        raise ValueError(f"name must be one of {', '.join(COMPONENTS)}; found {name!r}.")
    return COMPONENTS[name]


def _read(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")


def modules_of(entry: str) -> tuple[str, ...]:
    """Return the paths of a module and everything that it imports, each once, after its own imports.

    ValueError: an import that is not on one line of the form `import { a, b } from "./file.js";`, or a circle of
    imports.

    >>> modules_of("gallery/gallery.js")[-1]
    'gallery/gallery.js'
    """
    order: list[str] = []

    def visit(file: str, path: tuple[str, ...]) -> None:
        if file in path:
            raise ValueError(f"modules must not import each other in a circle; found {' -> '.join((*path, file))}.")
        if file in order:
            return
        for imported in _imports(file, _read(file)):
            visit(imported, (*path, file))
        order.append(file)

    visit(entry, ())
    return tuple(order)


def _imports(file: str, text: str) -> list[str]:
    odd = _ANY_IMPORT.search(_IMPORT.sub("", text))
    if odd:
        raise ValueError(f"{file}: an import must be on one line and name its imports; found {odd.group()!r}.")
    folder = posixpath.dirname(file)
    return [posixpath.normpath(posixpath.join(folder, each["file"])) for each in _IMPORT.finditer(text)]


def join_modules(modules: Mapping[str, str]) -> str:
    """Return modules concatenated into one, without their imports and exports.

    Each module must come after the ones that it imports; the `export default` of the last one is kept. ValueError: two
    modules declare the same name at their top, as they share one scope.

    >>> first = "export const one = 1;" + chr(10)
    >>> second = 'import { one } from "./first.js";' + chr(10) + "export default function run() { return one; }"
    >>> print(join_modules({"first.js": first, "second.js": second}))
    const one = 1;
    <BLANKLINE>
    export default function run() { return one; }
    """
    owners: dict[str, str] = {}
    for file, text in modules.items():
        for declared in _DECLARED.finditer(text):
            owner = owners.setdefault(declared["name"], file)
            if owner != file:
                raise ValueError(f"{file}: {declared['name']} is already declared in {owner}; find another name.")
    *imported, last = (_EXPORT.sub("", _IMPORT.sub("", text)) for text in modules.values())
    return "\n".join([*(_DEFAULT.sub("", text) for text in imported), last])
