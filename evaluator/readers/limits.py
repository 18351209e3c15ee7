"""The sizes beyond which an input is refused, by name, for every reader.

Owns numbers only. They are far above real corpora (80,000 pages are 0.25 GB and 1.3 million boxes) and far
below what would take a machine down.
"""

from __future__ import annotations

MAX_FILE_BYTES = 1 << 30
"""Bytes of one file, and of all files of a folder together."""

MAX_EXACT_BYTES = 512 << 20
"""Bytes of a JSON file for which all findings are listed; the exact walk needs ten times the file in memory."""

MAX_DEPTH = 64
"""Nested arrays and objects."""

MAX_OBJECTS_PER_PAGE = 10_000
"""Boxes in one page entry."""

MAX_BOXES = 20_000_000
"""Boxes of one file, or of a folder."""

MAX_LABELS = 4_096
"""Different labels of one file."""

MAX_PAGE_INDEX = 2**31 - 1
"""Largest page index; above it a (document, page) pair no longer fits one 64-bit key."""
