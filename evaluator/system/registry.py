"""A table of objects by name whose modules are imported when they are asked for, not before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import TypeVar

T = TypeVar("T")


class Registry(MutableMapping[str, T]):
    """Objects by name, in the order in which they were added; `places` are ``module:name``.

    >>> table = Registry({"pi": "math:pi"})
    >>> list(table), table["pi"]
    (['pi'], 3.141592653589793)
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places: dict[str, str | None] = {**places}
        self._objects: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._objects:
            place = self._places[name]
            assert place is not None
            module, _, attribute = place.partition(":")
            self._objects[name] = getattr(import_module(module), attribute)
        return self._objects[name]

    def __setitem__(self, name: str, value: T) -> None:
        self._places.setdefault(name, None)
        self._objects[name] = value

    def __delitem__(self, name: str) -> None:
        del self._places[name]
        self._objects.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
