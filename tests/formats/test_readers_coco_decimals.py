"""Numbers as they are read from words of eight characters: the nearest float64 of each, or a refusal."""

import struct
from collections.abc import Sequence

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evaluator.formats.coco.float_parser import PADDING, decimals

# As in records, other characters come before a number.
BEFORE = '{"category_id": '


def read(numbers: Sequence[str]) -> list[float] | None:
    """Numbers of one text; None when they are left to a decoder."""
    text, begins = BEFORE.ljust(24), []
    for number in numbers:
        begins.append(len(text))
        text += number + ", "
    sizes = np.array([len(number) for number in numbers])
    padded = np.frombuffer(text.encode() + PADDING, dtype=np.uint8)
    known = decimals(padded, np.array(begins), np.array(begins) + sizes)
    return None if known is None else known.tolist()


def bits(values: Sequence[float]) -> bytes:
    return struct.pack(f"{len(values)}d", *values)


def decoded(numbers: Sequence[str]) -> list[float]:
    return msgspec.json.decode(f"[{','.join(numbers)}]", type=list[float])


plain = st.one_of(
    st.decimals(-(10**7), 10**7, places=2).map(lambda number: format(number, "f")),
    st.integers(-(10**18), 10**18).map(str),
    st.floats(1e-4, 1e7).map(repr),
    st.floats(2**-13, 1.0, width=32).map(repr),
    st.sampled_from(["0", "-0", "0.0", "-0.0", "0.00000000000", "12345678", "1234567.8", "0.1234567", "1.0"]),
)


@given(st.lists(plain, min_size=1, max_size=40))
@example(["9007199254740993", "0.1"])
@example(["4503599627370496.5"])
def test_numbers_are_those_of_the_decoder_to_the_last_bit(numbers: list[str]) -> None:
    known = {number: read([number]) for number in numbers}
    for number, value in known.items():
        if value is not None:
            assert bits(value) == bits(decoded([number]))
    kept = [number for number, value in known.items() if value is not None]
    if kept:
        assert bits(read(kept)) == bits(decoded(kept))


@given(st.floats(1e-4, 9_999_999.0))
def test_the_shortest_spelling_of_a_number_is_always_told(value: float) -> None:
    assert read([repr(value)]) == [value]


@pytest.mark.parametrize("value", [0.613683, 60674.464799999994, 19374.593399999998, 0.9876543283081055, 1 / 3, 1e-4])
def test_what_files_have_is_not_left_to_the_decoder(value: float) -> None:
    assert read([repr(value)]) == [value]


@pytest.mark.parametrize(
    "number",
    ["01", "-01", "00", "00.5", "1.", "-", "--1", "1-2", ".5", "-.5", "1..2", "1.2.3", "123456789.", "12345.6.7890",
     "1-23456789", "012345678901", "1.23456789.1", "0.12345678.1"],
)  # fmt: skip
def test_what_is_no_number_of_json_is_refused(number: str) -> None:
    assert read([number]) is None
    assert read(["1.5", number, "2"]) is None


@pytest.mark.parametrize(
    "number", ["12345678.5", "123456789.25", "1.2345678901234567890123456", "12345678901234567890", "9007199254740993"]
)
def test_what_has_too_many_digits_is_left_to_the_decoder(number: str) -> None:
    assert read([number]) is None
