"""The viewer's files joined into one script and one style sheet.

The JavaScript is plain ES modules without a build step. Streamlit takes a component's script as one string, and the
HTML report inlines it, so the modules are laid one after the other in the order of their imports; `import` lines go,
`export` words go. That is safe because of two rules that `viewer_script` checks: an import stands on one line and
names a file of `MODULES`, and no name is declared twice (the browser would refuse the script).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

MODULES: Final = (
    "viewer_geometry.js",
    "viewer_elements.js",
    "viewer_keys.js",
    "viewer_layers.js",
    "viewer_pane.js",
    "viewer_list.js",
    "viewer_turn.js",
    "viewer_toolbar.js",
    "viewer_visible.js",
    "viewer_words.js",
    "viewer_marks.js",
    "viewer_choice.js",
    "viewer.js",
)
"""The modules in an order in which each one follows what it imports."""

_IMPORT = re.compile(r'^import \{ [\w, ]+ \} from "\./(?P<file>[\w.]+)";\n', re.MULTILINE)
_ANY_IMPORT = re.compile(r"^import\b.*$", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.MULTILINE)
_DEFAULT = re.compile(r"^export default (?=function\b)", re.MULTILINE)


@cache
def viewer_script(*, entry: str = "streamlit") -> str:
    """The viewer as one ES module, or as one classic script.

    Parameters
    ----------
    entry : {"streamlit", "report"}
        "streamlit": a module whose default export Streamlit calls. "report": a classic script that leaves
        `mountViewer(parent, data, send)` as `LayoutScopeViewer.mount` and can stand in a `<script>` element.

    Returns
    -------
    str
        JavaScript without any import.

    Raises
    ------
    ValueError
        When a module imports a file that does not come before it, or `entry` is unknown.

    Examples
    --------
    >>> "import {" in viewer_script()
    False
    """
    if entry not in {"streamlit", "report"}:
        raise ValueError(f'entry must be "streamlit" or "report"; found {entry!r}.')
    folder = Path(__file__).parent
    joined = join_modules({name: (folder / name).read_text(encoding="utf-8") for name in MODULES})
    if entry == "streamlit":
        return joined
    body = _DEFAULT.sub("", joined).replace("</script", "<\\/script")
    return f"const LayoutScopeViewer = (() => {{\n{body}\nreturn {{ mount: mountViewer }};\n}})();\n"


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


@cache
def viewer_style() -> str:
    """The viewer's style sheet.

    Returns
    -------
    str
        CSS.
    """
    return (Path(__file__).parent / "viewer.css").read_text(encoding="utf-8")
