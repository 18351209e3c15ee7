r"""What OmniDocBench 1.5 compares instead of what is written: letters and digits of texts, LaTeX without its commands.

``/n`` and ``/t`` go as line ends do, so that "and/then" becomes "andhen"; so it is in the published numbers.
"""

from __future__ import annotations

import html
import importlib
import logging
import re
import unicodedata
from bisect import bisect_left
from functools import lru_cache
from typing import Any, Final

from evaluator.protocols.omnidocbench.marks import Places, spans, without

NEEDED: Final = {"pylatexenc.latex2text": "pylatexenc", "bs4": "beautifulsoup4", "scipy.optimize": "scipy"}
"""What the profile needs besides, by the module that is imported."""

_INLINE: Final = re.compile(r"\$|\\\(")
_INLINE_ENDS: Final = {"$": "$", "\\(": "\\)"}
_ESCAPED: Final = re.compile(r"\\([\\_&%^])")
_LATEX: Final = re.compile(r"[\\^_]")
_GONE: Final = ("\\t", "\\n", "\t", "\n", "/t", "/n")
_SIGNS: Final = re.compile(r"[^\w\u4e00-\u9fff]")
_DISPLAY: Final = re.compile(r"\\\[")
_DISPLAY_END: Final = re.compile(r"(?<!\\)\\\]")
_ARGUMENTS: Final = tuple(map(re.compile, (r"\\tag\{", r"\\hspace\{", r"\\begin\{", r"\\end\{", r"\\arraycolsep")))
# In this order: a name goes wherever it stands, also at the beginning of a longer one.
_COMMANDS: Final = (
    "\\mathbf", "\\mathrm", "\\mathnormal", "\\mathit", "\\mathbb", "\\mathcal", "\\mathscr", "\\mathfrak",
    "\\mathsf", "\\mathtt", "\\textbf", "\\text", "\\boldmath", "\\boldsymbol", "\\operatorname", "\\bm",
    "\\symbfit", "\\mathbfcal", "\\symbf", "\\scriptscriptstyle", "\\notag", "\\setlength", "\\coloneqq",
    "\\space", "\\thickspace", "\\thinspace", "\\medspace", "\\nobreakspace", "\\negmedspace", "\\quad",
    "\\qquad", "\\enspace", "\\substackw", " ", "$$", "\\left", "\\right", "\\displaystyle", "\\text",
)  # fmt: skip
_TABLE: Final = re.compile(r"<table\b[^>]*>(.*)</table>", re.DOTALL | re.IGNORECASE)
_ATTRIBUTES: Final = tuple(re.compile(f' {name}="') for name in ("style", "height", "width", "align", "class"))
_BODY: Final = re.compile("</?tbody>")
_BLANKS: Final = re.compile(r"\s+")
_BARE: Final = tuple(f"<{mark}{tag}>" for tag in ("sup", "sub", "span", "div", "p") for mark in ("", "/"))
_COLUMNS: Final = re.compile("<colgroup>")


@lru_cache(maxsize=4)
def needed(module: str) -> Any:  # noqa: ANN401 - a module
    """Return a module of `NEEDED`; ValueError with what to install where it is not there."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        install = 'run uv pip install -e ".[omnidocbench]" in the clone'
        raise ValueError(f"--profile omnidocbench-1.5 needs {NEEDED[module]}; {install}") from None


def text_of_latex(latex: str) -> str:
    """Return some LaTeX as text."""
    # Of what it cannot read it writes a line for each.
    logging.getLogger("pylatexenc").setLevel(logging.CRITICAL)
    return str(needed("pylatexenc.latex2text").LatexNodes2Text().latex_to_text(latex))


def letters_of(text: str) -> str:
    """Return the letters, digits and low lines of a text."""
    for mark in _GONE:
        text = text.replace(mark, "")
    return _SIGNS.sub("", text)


def normal_text(text: str) -> str:
    """Return a text as it is compared: formulas in its lines as text, then its letters alone."""
    written = []
    end = 0
    for span in spans(text, _INLINE, _INLINE_ENDS, in_line=True):
        latex = _ESCAPED.sub("", text[span.inside : span.stop])
        if not _LATEX.search(latex):
            continue
        said = _as_read(f"{latex} " if latex.endswith("\\") else latex)
        if said is None:
            continue
        written += [text[end : span.start], said.strip()]
        end = span.end
    return letters_of("".join([*written, text[end:]]))


def _as_read(latex: str) -> str | None:
    try:
        return text_of_latex(latex)
    except Exception:  # noqa: BLE001 - whatever it raises
        return None


def normal_formula(latex: str) -> str:
    """Return a formula as it is compared."""
    text = latex.strip().strip("$").strip("\n")
    text = _display_in(text)
    for begin in _ARGUMENTS:
        text = without(text, begin, "}", in_line=True)
    text = text.strip(".")
    for command in _COMMANDS:
        text = text.replace(command, "")
    return text.lower()


def _display_in(text: str) -> str:
    """Return what is in the first brackets of a formula that end in their line; the whole without any."""
    ends = [match.start() for match in _DISPLAY_END.finditer(text)]
    places = Places(text)
    for begin in _DISPLAY.finditer(text):
        at = bisect_left(ends, begin.end() + 1)
        if at < len(ends) and ends[at] < places.after("\n", begin.end()):
            return text[begin.end() : ends[at]].strip()
    return text


def _soup(markup: str) -> Any:  # noqa: ANN401 - a tree of bs4, of nothing for what its parser refuses
    try:
        return needed("bs4").BeautifulSoup(markup, "html.parser")
    except Exception:  # noqa: BLE001 - whatever the parser of the standard library raises
        return needed("bs4").BeautifulSoup("", "html.parser")


def normal_table(markup: str) -> str:
    """Return the HTML of a table as it is compared; "" for what is none."""
    if "<table" not in markup.replace(" ", "").replace("'", '"'):
        return ""
    soup = _soup(markup)
    for cell in soup.find_all("th"):
        cell.name = "td"
    for head in soup.find_all("thead"):
        head.unwrap()
    for math in soup.find_all("math"):
        math.replace_with(f"${math.get('alttext', '')}$")
    for span in soup.find_all("span"):
        span.unwrap()
    text = unicodedata.normalize("NFKC", html.unescape(str(soup)).replace("\n", "")).strip()
    text = "".join(_TABLE.findall(text)) if "</table>" in text.lower() else ""
    for attribute in _ATTRIBUTES:
        text = without(text, attribute, '"', in_line=True)
    text = _BLANKS.sub(" ", _BODY.sub("", text))
    text = f'<html><body><table border="1" >{text}</table></body></html>'
    for tag in _BARE:
        text = text.replace(tag, "")
    return without(text.replace('<spandata-span-identity="">', ""), _COLUMNS, "</colgroup>", in_line=True)


def texts_of_cells(markup: str) -> list[str]:
    """Return what the cells of a table say that hold one text."""
    cells = _soup(markup).find_all("td")
    return [re.sub(r"\$\\cdot\$", "", cell.string).strip() for cell in cells if cell.string]
