"""Characters of every kind, for the texts of properties: `st.text()` alone makes tables of all of Unicode first."""

import string
from typing import Final

from hypothesis import strategies as st

CHARACTERS: Final = (
    string.printable
    # Controls, blanks and ends of lines, the last ones of C1, of ASCII and of the basic plane.
    + "\0\x1b\x1c\x1f\x7f\x80\x85\x9b\xa0\u1680\u2003\u2028\u2029\u3000\uffff"
    # Marks of direction and joiners, and what is assigned to nobody or private.
    + "\xad\u061c\u200b\u200d\u202e\u2066\ufeff\ufffd\U000e0001\u0378\ue000\U0010ffff"
    # Letters that change with their case or their form, with accents, from right to left, and outside of the plane.
    + "ÄäßéİıſŁΣςǅﬁ\u0301\u0308\u20ddעבاب٣५表漢가𝔘😀👩🏽"
    + "²½Ⅷ‘’“”–—−×€…"
)
character = st.sampled_from(CHARACTERS)
