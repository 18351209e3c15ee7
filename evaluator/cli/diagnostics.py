"""The command that lists what is installed and what protects it, for a report of a problem."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Final

import msgspec

from evaluator.cli.program import INTERNAL_ERROR, OK, Json
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem
from evaluator.system.version import __version__

_PACKAGES: Final = ("streamlit", "numpy", "pyarrow", "PyMuPDF", "Pillow", "SQLAlchemy", "msgspec")
_LAYERS: Final = ("no new privileges", "no capabilities", "Landlock", "seccomp")


class Installed(msgspec.Struct, frozen=True):
    """What runs here; `renderer` is None when no page can be drawn, and `problem` is then the reason."""

    layoutscope: str
    python: str
    system: str
    packages: dict[str, str]
    renderer: str | None
    problem: str | None
    confined_by: tuple[str, ...]
    not_in_force: tuple[str, ...]


def diagnostics(*, json: Json = False) -> int:
    """Show versions and what confines the processes that read PDFs; exit 3 when they cannot be started."""
    installed = _look()
    print(msgspec.json.format(msgspec.json.encode(installed)).decode() if json else _text(installed))
    return INTERNAL_ERROR if installed.problem else OK


def _look() -> Installed:
    """Return versions from the installation, and what a worker started for it says it gave up."""
    confined: tuple[str, ...] = ()
    renderer = problem = None
    with PagePool(workers=1) as pool:
        try:
            renderer, confined = pool.renderer()
        except PageProblem as caught:
            problem = str(caught)
    return Installed(
        __version__,
        platform.python_version(),
        f"{platform.system()} {platform.release()} {platform.machine()}",
        {name: importlib.metadata.version(name) for name in _PACKAGES},
        renderer,
        problem,
        confined,
        tuple(name for name in _LAYERS if not any(layer.startswith(name) for layer in confined)),
    )


def _text(installed: Installed) -> str:
    lines = [
        f"layoutscope {installed.layoutscope}, Python {installed.python}, {installed.system}",
        "packages: " + ", ".join(f"{name} {version}" for name, version in installed.packages.items()),
        f"renderer: {installed.renderer or installed.problem}",
        f"processes that read PDFs are confined by: {', '.join(installed.confined_by) or 'their limits alone'}",
    ]
    if installed.not_in_force:
        lines.append(f"not in force here: {', '.join(installed.not_in_force)}; SECURITY.md explains it")
    return "\n".join(lines)
