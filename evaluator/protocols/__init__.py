"""The evaluation systems, one file each, and the table of them.

To add one: write its file with an ``evaluate`` that takes two `Annotations` and returns a result with
``table()`` and ``to_json()``, then add a row here; the terminal, the documentation test and the shared
property tests find it by this table.
"""

from __future__ import annotations

from typing import NamedTuple

from evaluator.protocols import snapshot


class Protocol(NamedTuple):
    """One evaluation system.

    Attributes
    ----------
    name : str
        As on the command line.
    version : str
    title : str
        What people call it.
    """

    name: str
    version: str
    title: str


PROTOCOLS = {
    snapshot.NAME: Protocol(snapshot.NAME, snapshot.VERSION, "Document Snapshot Detection"),
}
