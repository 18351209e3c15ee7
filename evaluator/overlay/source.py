"""The files of each component joined into one script and one style sheet.

The JavaScript is plain ES modules without a build step. Streamlit takes a component's script as one string, and the
HTML report inlines it, so the modules are laid one after the other in the order of their imports; `import` lines go,
`export` words go. That is safe because of two rules that `component_script` checks: an import stands on one line and
names a file of the component, and no name is declared twice (the browser would refuse the script). `COMPONENTS` is the
table of components.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

MODULES: Final = (
    "viewer_geometry.js",
    "viewer_elements.js",
    "viewer_keys.js",
    "viewer_layers.js",
    "viewer_pane.js",
    "viewer_list.js",
    "viewer_told.js",
    "viewer_turn.js",
    "viewer_toolbar.js",
    "viewer_visible.js",
    "viewer_verdict.js",
    "viewer_words.js",
    "viewer_marks.js",
    "viewer_choice.js",
    "viewer_print.js",
    "viewer.js",
)
"""The modules of the page viewer in an order in which each one follows what it imports."""


class Component(NamedTuple):
    """One Streamlit component.

    Attributes
    ----------
    modules : tuple of str
        Files in an order in which each one follows what it imports; the last one has the default export.
    styles : tuple of str
        Style sheets, later rules over earlier ones.
    mount : str
        The function `mount(parent, data, send)` that shows it without Streamlit.
    """

    modules: tuple[str, ...]
    styles: tuple[str, ...]
    mount: str


COMPONENTS: Final[Mapping[str, Component]] = {
    "viewer": Component(MODULES, ("viewer.css",), "mountViewer"),
    "compare": Component(
        (
            "viewer_geometry.js",
            "viewer_elements.js",
            "viewer_layers.js",
            "viewer_pane.js",
            "viewer_told.js",
            "viewer_turn.js",
            "compare_keys.js",
            "compare_layers.js",
            "compare_list.js",
            "compare_panes.js",
            "compare_place.js",
            "compare_words.js",
            "compare.js",
        ),
        ("viewer.css", "compare.css"),
        "mountComparison",
    ),
    "compare_board": Component(
        ("viewer_elements.js", "compare_board.js"), ("viewer.css", "compare_board.css"), "mountBoard"
    ),
    "gallery": Component(("viewer_elements.js", "gallery.js"), ("gallery.css",), "mountGallery"),
}
"""The components by name."""

_IMPORT = re.compile(r'^import \{ [\w, ]+ \} from "\./(?P<file>[\w.]+)";\n', re.MULTILINE)
_ANY_IMPORT = re.compile(r"^import\b.*$", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.MULTILINE)
# Streamlit sends the script with every change of the data: what only people read stays behind.
# A comment that code follows on its line stays whole: its end must not be looked for in a later one.
_COMMENT = re.compile(r"^[ \t]*/\*\*(?:(?!\*/).)*\*/[ \t]*\n", re.MULTILINE | re.DOTALL)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
_DEFAULT = re.compile(r"^export default (?=function\b)", re.MULTILINE)


@cache
def component_script(name: str, *, entry: str = "streamlit") -> str:
    """A component as one ES module, or as one classic script.

    Parameters
    ----------
    name : str
        Of `COMPONENTS`.
    entry : {"streamlit", "report"}
        "streamlit": a module whose default export Streamlit calls. "report": a classic script that leaves
        `mount(parent, data, send)` in `LayoutScopeViewer` and can stand in a `<script>` element.

    Returns
    -------
    str
        JavaScript without any import.

    Raises
    ------
    ValueError
        When a module imports a file that does not come before it, or `name` or `entry` is unknown.

    Examples
    --------
    >>> "import {" in component_script("compare")
    False
    """
    if entry not in {"streamlit", "report"}:
        raise ValueError(f'entry must be "streamlit" or "report"; found {entry!r}.')
    component = _component(name)
    folder = Path(__file__).parent
    joined = _lean(join_modules({file: (folder / file).read_text(encoding="utf-8") for file in component.modules}))
    if entry == "streamlit":
        return joined
    body = _DEFAULT.sub("", joined).replace("</script", "<\\/script")
    return f"const LayoutScopeViewer = (() => {{\n{body}\nreturn {{ mount: {component.mount} }};\n}})();\n"


@cache
def component_style(name: str) -> str:
    """The style sheet of a component.

    Parameters
    ----------
    name : str
        Of `COMPONENTS`.

    Returns
    -------
    str
        CSS.

    Raises
    ------
    ValueError
        When `name` is unknown.
    """
    folder = Path(__file__).parent
    return "\n".join((folder / file).read_text(encoding="utf-8") for file in _component(name).styles)


def _component(name: str) -> Component:
    """The entry of the table."""
    if name not in COMPONENTS:
        raise ValueError(f"name must be one of {', '.join(COMPONENTS)}; found {name!r}.")
    return COMPONENTS[name]


def viewer_script(*, entry: str = "streamlit") -> str:
    """The page viewer's script; see `component_script`.

    Examples
    --------
    >>> "import {" in viewer_script()
    False
    """
    return component_script("viewer", entry=entry)


def _lean(script: str) -> str:
    """A script without its block comments and indentation; no module has a text over several lines."""
    return _INDENT.sub("", _COMMENT.sub("", script))


def join_modules(modules: dict[str, str]) -> str:
    """Modules laid one after the other, without their imports and exports.

    Parameters
    ----------
    modules : dict of str to str
        Text by file name, each file after the ones it imports. An `export default` is kept.

    Returns
    -------
    str
        One module; empty for no modules.

    Raises
    ------
    ValueError
        When an import is not on one line or names a file that does not come before.

    Examples
    --------
    >>> first = "export const one = 1;" + chr(10)
    >>> second = 'import { one } from "./first.js";' + chr(10) + "export default function run() { return one; }"
    >>> print(join_modules({"first.js": first, "second.js": second}))
    const one = 1;
    <BLANKLINE>
    export default function run() { return one; }
    """
    parts: list[str] = []
    seen: set[str] = set()
    for name, text in modules.items():
        for found in _IMPORT.finditer(text):
            if found["file"] not in seen:
                raise ValueError(f"{name}: imports {found['file']}, which does not come before it.")
        rest = _IMPORT.sub("", text)
        odd = _ANY_IMPORT.search(rest)
        if odd:
            raise ValueError(f"{name}: an import must stand on one line and name its imports; found {odd.group()!r}.")
        parts.append(_EXPORT.sub("", rest))
        seen.add(name)
    return "\n".join(parts)


def viewer_style() -> str:
    """The page viewer's style sheet."""
    return component_style("viewer")
