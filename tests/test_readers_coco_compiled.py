"""Numbers as the compiled reader of plain records reads them: the nearest float64, or a refusal."""

from __future__ import annotations

import importlib
import importlib.util
import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluator.formats.coco import pieces as coco_pieces
from evaluator.formats.coco import uniform as coco_uniform

pytest.importorskip("numba", reason="the extra fast is not installed")
from evaluator.formats.coco import compiled as coco_compiled


def read(number: str) -> float | None:
    """A number as the score of a record; None when the piece is left to the decoder."""
    text = f'{{"image_id":1,"category_id":2,"bbox":[0,0,1,1],"score":{number}}}'.encode()
    columns: dict[str, Any] = {"image_id": np.empty(1, np.int64), "category_id": np.empty(1, np.int64)}
    columns |= {"bbox": np.empty((1, 4)), "score": np.empty(1)}
    known = coco_compiled.read(np.frombuffer(text, dtype=np.uint8), columns)
    return float(columns["score"][0]) if known else None


def bits(value: float) -> bytes:
    return struct.pack("d", value)


@settings(max_examples=1_000, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
@example(0.1)
@example(-0.0)
@example(9007199254740993.0)
@example(1.7976931348623157e308)
@example(2.2250738585072014e-308)
def test_the_shortest_spelling_of_a_number_is_read_as_that_number(value: float) -> None:
    ours = read(repr(value))
    # Numbers with fewer than 53 bits are left to the decoder, and nothing else is.
    if value and abs(value) < 2.2250738585072014e-308:
        assert ours is None
    else:
        assert ours is not None
        assert bits(ours) == bits(value)


@settings(max_examples=1_000, deadline=None)
@given(
    digits=st.integers(0, 10**19 - 1),
    point=st.integers(0, 25),
    exponent=st.one_of(st.none(), st.integers(-330, 300)),
    mark=st.sampled_from(["e", "E", "e+", "E-", "e-0"]),
    sign=st.sampled_from(["", "-"]),
)
def test_any_spelling_is_read_as_python_reads_it(
    digits: int, point: int, exponent: int | None, mark: str, sign: str
) -> None:
    text = str(digits).rjust(point + 1, "0")
    text = sign + (f"{text[:-point]}.{text[-point:]}" if point else text)
    text += "" if exponent is None else mark.rstrip("+-0") + str(exponent) if exponent < 0 else f"{mark}{exponent}"
    ours, wanted = read(text), float(text)
    if ours is None:
        assert not math.isfinite(wanted) or abs(wanted) < 2.3e-308
    else:
        assert bits(ours) == bits(wanted)


@settings(max_examples=1_000, deadline=None)
@given(mantissa=st.integers(1 << 52, (1 << 53) - 1), power=st.integers(-4, 22))
def test_half_way_between_two_numbers_the_even_one_is_taken(mantissa: int, power: int) -> None:
    text = f"{2 * mantissa + 1}e{power}"
    assert read(text) == float(text)
    halves = f"{mantissa}.5"
    assert read(halves) == float(halves)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0), ("-0", -0.0), ("0e5", 0.0), ("0.000e-400", 0.0), ("1e0", 1.0), ("1E+2", 100.0), ("10e-1", 1.0),
        ("9999999999999999999", 1e19), ("0.0000000000000000000000001", 1e-25), ("1e22", 1e22), ("1e23", 1e23),
        ("9007199254740993", 9007199254740992.0), ("9007199254740995", 9007199254740996.0),
        ("1.7976931348623157e308", 1.7976931348623157e308),
    ],
)  # fmt: skip
def test_known_numbers(text: str, value: float) -> None:
    ours = read(text)
    assert ours is not None
    assert bits(ours) == bits(value)


@pytest.mark.parametrize(
    "text",
    [
        "", "-", "+1", "01", "-01", "1.", ".5", "1.e5", "1e", "1e+", "1e-", "0x1", "1_0", "NaN", "Infinity",
        "-Infinity", "null", "true", '"1"', "1 2", "1e309", "1.8e308", "1e99999999999999999999", "[1]", "--1", "1-",
        # Right, and left to the decoder.
        "5e-324", "12345678901234567890", "0.10000000000000000000",
    ],
)  # fmt: skip
def test_what_is_no_number_or_not_sure_is_left_to_the_decoder(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("-0", 0), ("7", 7), ("-7", -7), ("999999999999999999", 10**18 - 1)],
)
def test_known_integers(text: str, value: int) -> None:
    assert read_integer(text) == value


@pytest.mark.parametrize(
    "text", ["", "-", "00", "01", "1.0", "1e2", "1E2", "1000000000000000000", "null", "true", '"1"', "+1", "1 1"]
)
def test_what_is_no_integer_or_not_sure_is_left_to_the_decoder(text: str) -> None:
    assert read_integer(text) is None


def read_integer(number: str) -> int | None:
    """A number as the image of a record; None when the piece is left to the decoder."""
    text = f'{{"image_id":{number},"category_id":2,"bbox":[0,0,1,1]}}'.encode()
    columns = {"image_id": np.empty(1, np.int64), "category_id": np.empty(1, np.int64), "bbox": np.empty((1, 4))}
    known = coco_compiled.read(np.frombuffer(text, dtype=np.uint8), columns)
    return int(columns["image_id"][0]) if known else None


def test_every_cut_of_a_record_is_refused() -> None:
    """No byte beyond the end is looked at: the text is the last part of its memory page or not, and never known."""
    text = b' {"image_id" : 1 , "category_id":2,"bbox":[0, -1.5e0,1,1 ],"score":0.5} '
    columns: dict[str, Any] = {"image_id": np.empty(1, np.int64), "category_id": np.empty(1, np.int64)}
    columns |= {"bbox": np.empty((1, 4)), "score": np.empty(1)}
    whole = np.frombuffer(text, dtype=np.uint8)
    assert coco_compiled.read(whole, columns)
    last = text.index(b"}")
    for stop in range(len(text)):
        # What is behind the cut would complete the record.
        assert coco_compiled.read(whole[:stop], columns) == (stop > last)


def test_the_number_of_records_must_be_right() -> None:
    record = b'{"image_id":1,"category_id":2,"bbox":[0,0,1,1]}'
    for rows, text in ((1, record * 1), (2, record + b"," + record)):
        for claimed in range(4):
            columns = {name: np.empty(claimed, np.int64) for name in ("image_id", "category_id")}
            columns |= {"bbox": np.empty((claimed, 4))}
            assert coco_compiled.read(np.frombuffer(text, dtype=np.uint8), columns) == (claimed == rows)


def test_big_arrays_are_read_by_compiled_code_and_others_until_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert coco_pieces.reader_for(0) is coco_compiled.read
    monkeypatch.delitem(coco_pieces.sys.modules, coco_compiled.__name__)
    assert coco_pieces.reader_for(1 << 25) is coco_uniform.read
    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda _name: None)
        assert coco_pieces.reader_for(1 << 30) is coco_uniform.read


def test_without_a_place_for_compiled_code_numbers_are_read_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_name: str) -> Any:
        raise RuntimeError("cannot cache function '_records': no locator available")

    monkeypatch.setattr(coco_pieces.importlib, "import_module", refused)
    assert coco_pieces.reader_for(1 << 30) is coco_uniform.read
