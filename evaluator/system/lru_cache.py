"""Values by key, of which those used last are kept: up to a number of values, up to a number of bytes."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LRUCache(Generic[K, V]):
    """The values used last, safe for all threads; None for `most` or `most_bytes` is no limit.

    A value that alone is larger than `most_bytes` is not kept.

    >>> kept = LRUCache[str, int](most=2)
    >>> for key, value in (("a", 1), ("b", 2)):
    ...     kept.put(key, value)
    >>> kept.get("a"), kept.put("c", 3), kept.get("b")
    (1, None, None)
    """

    def __init__(self, *, most: int | None = None, most_bytes: int | None = None) -> None:
        self._most: float = math.inf if most is None else most
        self._most_bytes: float = math.inf if most_bytes is None else most_bytes
        self._lock = threading.Lock()
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        """Return the value of a key; None when there is none, or no longer."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: K, value: V, size: int = 0) -> None:
        """Keep a value of so many bytes; it replaces an earlier one of the same key, also where it is not kept."""
        with self._lock:
            self._take(key)
            if size > self._most_bytes:
                return
            self._values[key] = (value, size)
            self._bytes += size
            while len(self._values) > self._most or self._bytes > self._most_bytes:
                self._take(next(iter(self._values)))

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key, made if missing; two threads at the same time may both make it."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
        value = make()
        self.put(key, value)
        return value

    def shorten(self, most: int) -> bool:
        """Keep at most `most` values, those used last; return whether any was dropped."""
        with self._lock:
            before = len(self._values)
            while len(self._values) > most:
                self._take(next(iter(self._values)))
            return len(self._values) < before

    def drop(self, key: K) -> None:
        """Forget a key, if it is there."""
        with self._lock:
            self._take(key)

    def _take(self, key: K) -> None:
        if key in self._values:
            self._bytes -= self._values.pop(key)[1]
