"""A disk of its own for a test: small, so that it fills up, and made unwritable or taken away at will."""

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


class SmallDisk:
    """A mounted disk. What uses it lives in `place`."""

    def __init__(self, root: Path) -> None:
        self.place = root / "place"
        self.place.mkdir()
        self._root, self._away, self._filling = root, root / "away", root / "filling"

    @contextlib.contextmanager
    def full(self) -> Iterator[None]:
        """No byte more is taken."""
        with self._filling.open("wb", buffering=0) as filling, contextlib.suppress(OSError):
            while True:
                filling.write(b"x" * 4096)
        yield
        self._filling.unlink()

    def grow(self) -> None:
        """There is room again."""
        subprocess.run(["mount", "-o", "remount,size=3m", str(self._root)], check=True)

    @contextlib.contextmanager
    def read_only(self) -> Iterator[None]:
        """Nothing is taken, also of root."""
        subprocess.run(["mount", "-o", "remount,ro", str(self._root)], check=True)
        yield
        subprocess.run(["mount", "-o", "remount,rw", str(self._root)], check=True)

    @contextlib.contextmanager
    def gone(self) -> Iterator[None]:
        """The folder is not there."""
        self.place.rename(self._away)
        yield
        self._away.rename(self.place)


@contextlib.contextmanager
def small_disk(size: str = "2m") -> Iterator[SmallDisk]:
    """A disk that is there until the block ends; the test is skipped where none can be mounted."""
    # pytest's own folders are closed to other users, as whom some processes run.
    root = Path(tempfile.mkdtemp())
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(root)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        root.rmdir()
        pytest.skip("a small disk cannot be mounted here: that takes the rights of root")
    try:
        yield SmallDisk(root)
    finally:
        subprocess.run(["umount", "-l", str(root)], check=True)
        root.rmdir()
