"""The evaluation systems: one folder each, and the table of all."""

from evaluator.protocols.registry import (
    DEFAULT,
    PROTOCOLS,
    AnyBoxProtocol,
    AnyProtocol,
    box_protocols,
    protocol_of,
    protocols_of_boxes,
)

__all__ = [
    "DEFAULT", "PROTOCOLS", "AnyBoxProtocol", "AnyProtocol", "box_protocols", "protocol_of", "protocols_of_boxes",
]  # fmt: skip
