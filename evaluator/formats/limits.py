"""The sizes beyond which every reader refuses an input, far above corpora of 80,000 pages (0.25 GB)."""

from __future__ import annotations

MAX_FILE_BYTES = 1 << 30
"""Bytes of one file, and of all files of a folder together."""

MAX_EXACT_BYTES = 512 << 20
"""Bytes of a JSON file for which all issues are listed; the exact walk needs ten times the file in memory."""

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

MOST_PAGES = 100_000
"""Pages that a document may have; a larger page index is a mistake of counting, and reported as one."""

MAX_COORDINATE = 1e9
"""Largest absolute coordinate in pixels; areas stay exact enough and never overflow."""

MAX_XML_BYTES = 256 << 20
"""Bytes of one XML file; a submission for 2,000 pages has about 2 MB, a project of CVAT 100 MB."""

MAX_XML_ELEMENTS = 1_000_000
"""Elements that are held at a time, those of one page; the memory that they take does not depend on the file."""

MAX_XML_DEPTH = 32
"""Nested elements."""

MAX_ARCHIVE_ENTRIES = 4_096
"""Files and folders of a zip archive."""

MAX_ARCHIVE_BYTES = 256 << 20
"""Bytes of all files of a zip archive together, unpacked."""

MAX_ARCHIVE_RATIO = 100
"""How many times its compressed size a file of an archive may expand to, once it passes 1 MiB."""
