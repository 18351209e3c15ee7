"""The values used last are kept, up to a number of them and of bytes."""

from collections import OrderedDict

from hypothesis import given, settings
from hypothesis import strategies as some

from evaluator.system.lru_cache import LRUCache

KEYS = some.sampled_from("abcde")
STEPS = some.tuples(some.sampled_from(["put", "put", "get", "drop"]), KEYS, some.integers(0, 12))


@settings(max_examples=100)
@given(some.lists(STEPS, max_size=60), some.integers(1, 4))
def test_what_was_used_longest_ago_goes_first_and_what_alone_is_too_large_is_not_kept(
    steps: list[tuple[str, str, int]], most: int
) -> None:
    kept, order = LRUCache[str, int](most=most, most_bytes=10), OrderedDict[str, int]()
    for step, key, size in steps:
        if step == "get":
            assert kept.get(key) == order.get(key)
            if key in order:
                order.move_to_end(key)
        elif step == "drop":
            kept.drop(key)
            order.pop(key, None)
        else:
            kept.put(key, size, size)
            order.pop(key, None)
            if size <= 10:
                order[key] = size
        while len(order) > most or sum(order.values()) > 10:
            order.popitem(last=False)
        assert len(kept) == len(order)
    assert {key: kept.get(key) for key in "abcde"} == {key: order.get(key) for key in "abcde"}


def test_a_value_is_made_once_and_none_is_one_too() -> None:
    kept = LRUCache[str, int | None](most=2)
    made: list[str] = []

    def make() -> None:
        made.append("a")

    assert kept.get_or_make("a", make) is kept.get_or_make("a", make) is None
    assert made == ["a"]
