"""Where two texts differ, as people read it: pieces of one text and of the other, laid on each other."""

from __future__ import annotations

from typing import Final, Literal

Mark = Literal["", "out", "in", "was", "now", "gap"]
Piece = tuple[str, Mark]
MOST_PIECES: Final = 300
"""Of a pair of texts; what follows is left out."""
# Of a stretch that is the same on both sides so much stays at each of its ends.
_AROUND: Final = 60


def pieces_of(reference: str, hypothesis: str) -> list[Piece]:
    """Return the pieces of two plain texts with what each is.

    "" is the same on both sides, "out" in the true text alone, "in" in the other alone; "was" is followed by "now",
    what it has become; "gap" takes the place of more that is the same. Texts of which more than half is edited are two
    whole pieces: laid on each other letter by letter nobody could read them.

    >>> pieces_of("4.72 m", "4.12 mm")
    [('4.', ''), ('7', 'was'), ('1', 'now'), ('2 ', ''), ('m', 'in'), ('m', '')]
    >>> pieces_of("upper", "4.72"), pieces_of("", "4.72")
    ([('upper', 'was'), ('4.72', 'now')], [('4.72', 'in')])
    """
    # Here, so that what has no text starts without it.
    from rapidfuzz.distance import Levenshtein

    if not reference or not hypothesis:
        alone: list[Piece] = [(reference, "out"), (hypothesis, "in")]
        return [piece for piece in alone if piece[0]]
    if 2 * Levenshtein.distance(reference, hypothesis) > max(len(reference), len(hypothesis)):
        return [(reference, "was"), (hypothesis, "now")]
    pieces: list[Piece] = []
    for step in Levenshtein.opcodes(reference, hypothesis):
        old = reference[step.src_start : step.src_end]
        new = hypothesis[step.dest_start : step.dest_end]
        if step.tag == "equal":
            pieces += _shortened(old)
        elif step.tag == "replace":
            pieces += [(old, "was"), (new, "now")]
        else:
            pieces.append((old, "out") if step.tag == "delete" else (new, "in"))
        if len(pieces) >= MOST_PIECES:
            return [*pieces[:MOST_PIECES], ("…", "gap")]
    return pieces


def _shortened(text: str) -> list[Piece]:
    if len(text) <= 2 * _AROUND + 10:
        return [(text, "")]
    return [(text[:_AROUND], ""), ("…", "gap"), (text[-_AROUND:], "")]
