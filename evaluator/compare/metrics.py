"""The metrics that are compared, by name: those that the registered protocols declare, no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evaluator.metrics.metric import BOX_HEADLINE, Metric
from evaluator.protocols import PROTOCOLS


class _Declared(Mapping[str, Metric]):
    def __getitem__(self, name: str) -> Metric:
        # Asked hundreds of times for a table: no mapping of all of them is made. The last to declare it counts.
        for protocol in reversed(tuple(PROTOCOLS.values())):
            if name in protocol.metrics:
                return protocol.metrics[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for protocol in PROTOCOLS.values() for name in protocol.metrics))

    def __len__(self) -> int:
        # Not through a tuple of self: that asks for the length first.
        return sum(1 for _ in self)


METRICS: Final[Mapping[str, Metric]] = _Declared()
"""Every metric by its name in JSON."""


def headlines() -> tuple[tuple[str, ...], ...]:
    """Return the groups of metrics of a summary: the first that is compared counts; matched boxes last."""
    own = dict.fromkeys(protocol.headline for protocol in PROTOCOLS.values())
    return (*(group for group in own if group != BOX_HEADLINE), BOX_HEADLINE)
