"""The table of the evaluation systems, imported when asked for; a package from outside adds its own to `PROTOCOLS`."""

from __future__ import annotations

from typing import Any, Final

from evaluator.protocols.base import BoxProtocol, Protocol, Result
from evaluator.system.registry import Registry

AnyProtocol = Protocol[Any, Any]
AnyBoxProtocol = BoxProtocol[Any]

DEFAULT: Final = "snapshot"

PROTOCOLS: Registry[AnyProtocol] = Registry(
    {
        name: f"evaluator.protocols.{name}.protocol:PROTOCOL"
        for name in (DEFAULT, "pixel", "pod", "coco", "fields", "posters", "order", "text", "tables")
    },
    "layoutscope.protocols",
    Protocol,
)
"""Every protocol by its name."""


def box_protocols() -> dict[str, AnyBoxProtocol]:
    """Return the protocols that match boxes one to one, by name."""
    return {name: protocol for name, protocol in PROTOCOLS.items() if isinstance(protocol, BoxProtocol)}


def protocols_of_boxes() -> dict[str, AnyProtocol]:
    """Return the protocols that evaluate boxes on pages, matched one to one or not, by name."""
    return {name: each for name, each in PROTOCOLS.items() if each.kind == "boxes" and not each.reads_items}


def protocol_of(result: Result) -> AnyProtocol:
    """Return the protocol that gave a result."""
    return PROTOCOLS[result.signature.protocol]
