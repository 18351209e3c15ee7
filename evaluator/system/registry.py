"""A table of objects by name whose modules are imported when they are asked for, not before.

Installed packages add to it by entry points; one that cannot be used is left out and named.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, TypeVar

T = TypeVar("T")
LEFT_OUT: Final[list[str]] = []
"""What was said by entry points that cannot be used, a sentence each."""


class Registry(MutableMapping[str, T]):
    """Objects by name, in the order in which they were added; `places` are ``module:name``.

    With a `group`, the entry points of that name add theirs: objects of `kind`, whose own ``name`` is that of the entry
    point.

    >>> table = Registry({"pi": "math:pi"})
    >>> list(table), table["pi"]
    (['pi'], 3.141592653589793)
    """

    def __init__(self, places: Mapping[str, str], group: str = "", kind: type[Any] = object) -> None:
        self._places: dict[str, str | None] = {**places}
        self._objects: dict[str, T] = {}
        self._group, self._kind = group, kind
        # One thread adds the plugins; what it imports may ask for the table.
        self._adding = threading.RLock()

    def _add_plugins(self) -> None:
        with self._adding:
            group, self._group = self._group, ""
            for point in entry_points(group=group) if group else ():
                try:
                    self[point.name] = self._loaded(point)
                except Exception as problem:  # noqa: BLE001 - code of others: whatever it does, the rest works
                    package = point.dist.name if point.dist else point.module
                    why = f"{type(problem).__name__}: {problem}".rstrip(".")
                    LEFT_OUT.append(f"The plugin {point.name} ({group}) of {package} is left out: {why}.")

    def _loaded(self, point: EntryPoint) -> Any:  # noqa: ANN401 - what it is is looked at here
        if point.name in self._places:
            raise ValueError("the name is taken")
        made = point.load()
        if not isinstance(made, self._kind):
            raise TypeError(f"{point.value} must be a {self._kind.__name__}, not a {type(made).__name__}")
        if made.name != point.name:
            raise ValueError(f"{point.value} has the name {made.name}")
        return made

    def __getitem__(self, name: str) -> T:
        if name not in self._places:
            self._add_plugins()
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
        if name not in self._places:
            self._add_plugins()
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        self._add_plugins()
        return iter(self._places)

    def __len__(self) -> int:
        self._add_plugins()
        return len(self._places)
