"""The values used last are kept, up to a number of them and of bytes."""

from __future__ import annotations

from collections import OrderedDict

from hypothesis import given
from hypothesis import strategies as some

from evaluator.system.lru_cache import LRUCache


def test_what_was_used_longest_ago_goes_first() -> None:
    kept = LRUCache[str, int](most=2)
    for key, value in (("a", 1), ("b", 2)):
        kept.put(key, value)
    assert kept.get("a") == 1
    kept.put("c", 3)
    assert [kept.get(key) for key in "abc"] == [1, None, 3]


def test_bytes_are_counted_and_what_alone_is_too_large_is_not_kept() -> None:
    kept = LRUCache[str, str](most_bytes=10)
    kept.put("a", "small", 4)
    kept.put("b", "small", 4)
    kept.put("a", "larger", 6)
    assert [kept.get(key) for key in "ab"] == ["larger", "small"]
    kept.put("c", "small", 4)
    assert [kept.get(key) for key in "abc"] == [None, "small", "small"]
    kept.put("d", "too large", 11)
    assert [kept.get(key) for key in "bcd"] == ["small", "small", None]
    kept.drop("b")
    kept.drop("nobody has it")
    kept.put("e", "six", 6)
    assert [kept.get(key) for key in "bce"] == [None, "small", "six"]


def test_a_value_is_made_once_and_none_is_one_too() -> None:
    kept = LRUCache[str, int | None](most=2)
    made: list[str] = []

    def make() -> None:
        made.append("a")

    assert kept.get_or_make("a", make) is kept.get_or_make("a", make) is None
    assert made == ["a"]


@given(some.lists(some.tuples(some.sampled_from("abcde"), some.integers(0, 6)), max_size=40), some.integers(1, 4))
def test_it_never_holds_more_than_it_may_and_always_the_newest(puts: list[tuple[str, int]], most: int) -> None:
    kept, order = LRUCache[str, int](most=most, most_bytes=10), OrderedDict[str, int]()
    for key, size in puts:
        kept.put(key, size, size)
        order.pop(key, None)
        order[key] = size
        while len(order) > most or sum(order.values()) > 10:
            order.popitem(last=False)
        assert len(kept) == len(order)
    assert {key: kept.get(key) for key in "abcde"} == {key: order.get(key) for key in "abcde"}
