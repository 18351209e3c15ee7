"""Links come from strangers: whatever is in an address, a view opens and names the part that it cannot follow."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.app import address
from pages.app.address import Entry
from tests.dashboard import FIELDS, GALLERY, OVERVIEW, PIXELS, POSTERS, start, words
from tests.texts import character

# What is text to a link and a trap to a parser: lists in lists, numbers of thousands of digits, other digits, no text.
TRAPS = (
    "[" * 100_000, '{"a":' * 50_000, '[["a",' + "[" * 50_000, '{"cell": ' + "[" * 50_000, "9" * 5_000,
    "-" + "9" * 5_000, "1e999", "nan", "inf-inf", "nan-nan", "nanxnan", "\u0663", "\u00b2", "\x00", "\u202e", "\ud800",
    "%", ";" * 10_000, ":" * 50_000, "," * 10_000, "=" * 10_000, " " * 50_000, "x" * 100_000,
)  # fmt: skip


def test_a_part_of_an_address_is_taken_or_refused() -> None:
    for entry, text in itertools.product(address.TABLE, TRAPS):
        taken_or_refused(entry, text)


@given(st.sampled_from(address.TABLE), st.text(character) | st.text('[]{}",:0123456789.x;=-', max_size=40))
def test_a_part_of_an_address_is_taken_or_refused_whatever_it_is(entry: Entry, text: str) -> None:
    taken_or_refused(entry, text)


def taken_or_refused(entry: Entry, text: str) -> None:
    """Read a part as a view does; anything but a ValueError is a fault."""
    if entry.codec.known is not None:
        entry.codec.known(text, {entry.name: text, "doc": text})
    try:
        value = entry.codec.read(text)
    except ValueError:
        return
    except Exception as fault:
        fault.add_note(f"{entry.name}: {text[:80]!r}")
        raise
    assert isinstance(entry.codec.write(value), str), (entry.name, text[:80])


# Each view and each kind of trap once; that every part refuses every trap is asserted above.
@pytest.mark.parametrize(
    ("view", "trap"),
    [
        (OVERVIEW, "[" * 10_000), (GALLERY, "9" * 5_000), (FIELDS, "\u00b2"), (PIXELS, "[" * 10_000),
        (POSTERS, "9" * 5_000),
    ],
)  # fmt: skip
def test_a_view_opens_whatever_is_in_the_link(view: str, trap: str) -> None:
    assert words(start(view, **{entry.name: trap for entry in address.TABLE}))


def test_every_codec_is_of_one_part_and_every_name_is_there_once() -> None:
    names = [entry.name for entry in address.TABLE]
    assert len(names) == len(set(names))
    assert [entry.name for entry in address.TABLE if entry.part.codec is None] == list(address.CODECS)
