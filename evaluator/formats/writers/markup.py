"""Text as XML can hold it, by the escapes of ``html``; ``xml.sax.saxutils`` imports network code."""

from __future__ import annotations

import html
import re

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A parser reads them in an attribute as blanks unless they are written so (XML 1.0, section 3.3.3).
_BLANKS = str.maketrans({blank: f"&#{ord(blank)};" for blank in "\t\n\r"})


def escaped(text: str) -> str:
    """Return the text of an element; characters that XML cannot hold are U+FFFD."""
    return html.escape(_FORBIDDEN.sub("\ufffd", text), quote=False)


def quoted(text: str) -> str:
    """Return the value of an attribute with its quotes."""
    clean = _FORBIDDEN.sub("\ufffd", text)
    return f'"{html.escape(clean).translate(_BLANKS)}"'
