"""Text as XML can hold it."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escaped(text: str, *, attribute: bool = False) -> str:
    """Text without the characters that XML cannot hold; escaped for an element unless it is for an attribute."""
    clean = _FORBIDDEN.sub("\ufffd", text)
    return clean if attribute else escape(clean)
