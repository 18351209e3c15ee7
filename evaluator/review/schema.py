"""The tables of the findings store, and the way from each older layout to the present one.

Owns names, columns and versions. Layout 1 was that of the first design: no workspaces, no tags, no word on whether an
author is verified, no file of origin; layout 2 had no owner, due date and status; layout 3 no meeting, layout 4 nobody
who follows it. A new one adds a function to `_UPGRADES`; a store is upgraded in one transaction together with its
version number, so a crash leaves the old layout or the new one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    insert,
    inspect,
    text,
    update,
)

VERSION: Final = 5

metadata: Final = MetaData()
version_table: Final = Table("layoutscope_version", metadata, Column("version", Integer, nullable=False))
event_table: Final = Table(
    "layoutscope_event",
    metadata,
    # The order in which events were acknowledged.
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("workspace", String(200), nullable=False, server_default=""),
    Column("target", String(64), nullable=False),
    Column("kind", String(20), nullable=False),
    # What it looked like, as JSON.
    Column("snapshot", Text, nullable=False),
    Column("action", String(20), nullable=False),
    Column("verdict", String(40)),
    Column("note", Text, nullable=False),
    # A JSON array.
    Column("tags", Text, nullable=False, server_default="[]"),
    Column("author", Text, nullable=False),
    Column("verified", Boolean, nullable=False, server_default=text("false")),
    # UTC, as text that sorts: the same on every database.
    Column("time", String(40), nullable=False),
    Column("source", Text, nullable=False, server_default=""),
    Column("owner", Text, nullable=False, server_default=""),
    # A day as text: 2026-01-31.
    Column("due", String(10), nullable=False, server_default=""),
    Column("status", String(20), nullable=False, server_default=""),
    Index("layoutscope_event_workspace", "workspace", "seq"),
    # Numbers of rows are never used again, so that "newer than row n" stays true.
    sqlite_autoincrement=True,
)
# The meeting of each workspace: what is presented now. Nothing of it is history.
meeting_table: Final = Table(
    "layoutscope_meeting",
    metadata,
    Column("workspace", String(200), primary_key=True),
    Column("session", String(64), nullable=False),
    Column("presenter", Text, nullable=False),
    Column("verified", Boolean, nullable=False),
    Column("files", String(64), nullable=False),
    Column("item", String(64), nullable=False),
    Column("example", Integer, nullable=False),
    # JSON.
    Column("thresholds", Text, nullable=False),
    Column("number", Integer, nullable=False),
    # UTC, as text that sorts.
    Column("time", String(40), nullable=False),
    Column("open", Boolean, nullable=False),
)
# Who follows the meeting of each workspace.
follower_table: Final = Table(
    "layoutscope_follower",
    metadata,
    Column("session", String(64), primary_key=True),
    Column("workspace", String(200), nullable=False),
    Column("name", Text, nullable=False),
    Column("verified", Boolean, nullable=False),
    # UTC, as text that sorts.
    Column("time", String(40), nullable=False),
)


def stored_version(connection: Connection) -> int | None:
    """Return the layout of a store: 0 for an empty database, None for a file that other programs use and we do not.

    -1 where it has our tables and no sound number.
    """
    if connection.dialect.name == "postgresql":
        # The general question takes a new connection as long as ten verdicts.
        ours = "SELECT to_regclass(quote_ident(current_schema()) || '.layoutscope_version')"
        names = {version_table.name} if connection.execute(text(ours)).scalar() else set()
    else:
        names = set(inspect(connection).get_table_names())
    if version_table.name in names:
        versions = connection.execute(text("SELECT version FROM layoutscope_version")).scalars().all()
        return max(versions) if versions and all(isinstance(each, int) and each > 0 for each in versions) else -1
    return None if names else 0


def create(connection: Connection) -> None:
    """Make the tables of the present layout in a database without them."""
    metadata.create_all(connection)
    connection.execute(insert(version_table).values(version=VERSION))


def upgrade(connection: Connection, version: int) -> None:
    """Bring an older layout, from 1 on, to the present one, inside the transaction of the connection."""
    for step in range(version, VERSION):
        _UPGRADES[step](connection)
    connection.execute(update(version_table).values(version=VERSION))


def _from_1(connection: Connection) -> None:
    """Layout 1 to 2: workspaces, tags, verified authors, origin of imports. Every old event keeps its row."""
    name = event_table.name
    for column in (
        "workspace VARCHAR(200) NOT NULL DEFAULT ''",
        "tags TEXT NOT NULL DEFAULT '[]'",
        "verified BOOLEAN NOT NULL DEFAULT false",
        "source TEXT NOT NULL DEFAULT ''",
    ):
        connection.execute(text(f"ALTER TABLE {name} ADD COLUMN {column}"))
    connection.execute(text(f"CREATE INDEX layoutscope_event_workspace ON {name} (workspace, seq)"))


def _from_2(connection: Connection) -> None:
    """Layout 2 to 3: owner, due date and status. Every old event has none."""
    for column in ("owner TEXT", "due VARCHAR(10)", "status VARCHAR(20)"):
        connection.execute(text(f"ALTER TABLE {event_table.name} ADD COLUMN {column} NOT NULL DEFAULT ''"))


def _from_3(connection: Connection) -> None:
    """Layout 3 to 4: the meeting."""
    meeting_table.create(connection)


def _from_4(connection: Connection) -> None:
    """Layout 4 to 5: who follows the meeting."""
    follower_table.create(connection)


_UPGRADES: Final[dict[int, Callable[[Connection], None]]] = {1: _from_1, 2: _from_2, 3: _from_3, 4: _from_4}
