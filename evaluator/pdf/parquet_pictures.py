"""Pictures in Parquet files of Hugging Face data sets: the column ``image``, by the names of its rows.

Their bytes are copied out when a page is asked for, for the processes that decode them. No path of a table is opened.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from evaluator.system.lru_cache import LRUCache

SUFFIX: Final = ".parquet"
IMAGE_NAMES: Final = ("file_name", "filename", "image_path", "image_name")
_BYTES, _PATH, _HASH = "image.bytes", "image.path", "metadata.page_hash"
# Bytes of the pictures of one group of rows, which are uncompressed here.
_GROUP_LIMIT: Final = 1 << 30


class PicturesUnreadable(Exception):
    """Raised for a Parquet file whose pictures cannot be read, with the reason."""


class _Copy:
    """A picture that was copied out of a table; its file goes with it."""

    def __init__(self, of: Path, name: str, content: bytes) -> None:
        from evaluator.pdf.worker import image_suffix  # what reads numbers alone needs no renderer

        folder = Path(tempfile.mkdtemp(prefix="layoutscope-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        # The last steps of its path are what a message shows.
        (folder / of.name).mkdir()
        base = name.rsplit("/", 1)[-1]
        suffix = image_suffix(content)
        self.path = folder / of.name / (base if base.lower().endswith((suffix, ".jpg", ".tif")) else base + suffix)
        self.path.write_bytes(content)


_rows: LRUCache[tuple[object, ...], dict[str, int]] = LRUCache(most=256)
_copies: LRUCache[tuple[object, ...], _Copy] = LRUCache(most_bytes=1 << 30)


def image_name(row: Mapping[str, Any]) -> str:
    """Return what a row of a data set calls its image; "" for nothing."""
    image, metadata = row.get("image"), row.get("metadata")
    path = image.get("path") if isinstance(image, dict) else image if isinstance(image, str) else None
    page_hash = metadata.get("page_hash") if isinstance(metadata, dict) else None
    stated = [*(row.get(key) for key in IMAGE_NAMES), path, page_hash, row.get("image_id")]
    return next((str(each) for each in stated if each not in (None, "")), "")


def has_pictures(file: Path) -> bool:
    """Return whether a file is Parquet with a column of pictures; False for one that cannot be read."""
    if file.suffix.lower() != SUFFIX or not file.is_file():
        return False
    from pyarrow import parquet  # type: ignore[import-untyped]

    try:
        with _readable():
            return _BYTES in _leaves(parquet.ParquetFile(file))
    except PicturesUnreadable:
        return False


def picture_names(file: Path) -> dict[str, int]:
    """Return the rows of a Parquet file that hold a picture, by its name, from 0; none for another table."""
    try:
        with _readable():
            return _rows.get_or_make(_identity(file), lambda: _named_rows(file))
    except PicturesUnreadable:
        return {}


def copied(file: Path, name: str) -> Path | None:
    """Return a copy of the picture of a name, which stays while it is used; None for none.

    `PicturesUnreadable` when it cannot be read or copied.
    """
    row = picture_names(file).get(name)
    if row is None:
        return None
    with _readable():
        key = (*_identity(file), row)
        if (held := _copies.get(key)) is None:
            content = _picture(file, row)
            held = _Copy(file, name, content)
            _copies.put(key, held, len(content))
        return held.path


def _identity(file: Path) -> tuple[object, ...]:
    status = file.stat()
    return str(file), status.st_ino, status.st_mtime_ns, status.st_size


def _named_rows(file: Path) -> dict[str, int]:
    from pyarrow import parquet

    table = parquet.ParquetFile(file)
    leaves = _leaves(table)
    if _BYTES not in leaves:
        return {}
    wanted = [name for name in leaves if name in (*IMAGE_NAMES, "image_id", _PATH, _HASH)]
    rows: dict[str, int] = {}
    # Without a column there are no rows to go through.
    named = (row for batch in table.iter_batches(columns=wanted) for row in batch.to_pylist()) if wanted else iter(())
    for at in range(table.metadata.num_rows):
        name = image_name(next(named, {})) or f"{file.stem} row {at + 1}"
        # They are only compared, but become a path below that of the file.
        rows.setdefault("/".join(step for step in name.replace("\\", "/").split("/") if step.strip(".")), at)
    return rows


def _picture(file: Path, row: int) -> bytes:
    from pyarrow import parquet

    table = parquet.ParquetFile(file)
    for group in range(table.num_row_groups):
        of_group = table.metadata.row_group(group)
        if row >= of_group.num_rows:
            row -= of_group.num_rows
            continue
        if of_group.column(_leaves(table).index(_BYTES)).total_uncompressed_size > _GROUP_LIMIT:
            raise PicturesUnreadable(f"A group of rows of {file.name} has more than {_GROUP_LIMIT >> 20:,} MiB.")
        batches = table.iter_batches(batch_size=1, row_groups=[group], columns=[_BYTES])
        image = next(islice(batches, row, None)).column(0)[0].as_py()
        return (image or {}).get("bytes") or b""
    return b""


def _leaves(table: Any) -> list[str]:  # noqa: ANN401 - pyarrow has no types
    return [table.schema.column(at).path for at in range(len(table.schema.names))]


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except OSError as problem:
        raise PicturesUnreadable(problem.strerror or "") from None
    except (pa.ArrowException, ValueError, OverflowError, MemoryError, StopIteration):
        raise PicturesUnreadable("") from None
