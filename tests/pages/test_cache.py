"""What is computed once for all sessions."""

import gc
import threading
import weakref
from functools import partial

import pytest

from pages.app import cache as module
from pages.app.cache import Cached


def test_a_value_is_computed_once_for_equal_keys() -> None:
    made: list[str] = []
    values = Cached[str](2)

    def value(name: str, size: int, text: str) -> str:
        def make() -> str:
            made.append(text)
            return f"{name}{size}{text}"

        return values.of((name, size), make)

    assert [value("a", 1, "x"), value("a", 1, "y"), value("a", 2, "z")] == ["a1x", "a1x", "a2z"]
    assert made == ["x", "z"]


def test_the_values_that_were_asked_for_last_are_kept_and_none_is_one() -> None:
    made: list[str] = []
    values = Cached[None](2)
    for name in ("a", "b", "a", "c", "a", "b"):
        values.of(name, partial(made.append, name))
    assert made == ["a", "b", "c", "b"]


def test_fewer_are_kept_where_a_value_says_so() -> None:
    made: list[str] = []
    values = Cached[None](9)
    for name, most in (("a", None), ("b", None), ("a", None), ("c", 2), ("a", None), ("b", None)):
        values.of(name, partial(made.append, name), most=most)
    assert made == ["a", "b", "c", "b"]


def test_what_gives_way_to_a_value_of_many_boxes_is_gone_at_once() -> None:
    class Result:
        def __init__(self) -> None:
            self.own = lambda: self

    values = Cached[Result](9)
    gc.disable()
    try:
        before = weakref.ref(values.of("a", Result, most=1))
        values.of("b", Result, most=1)
        assert before() is None
    finally:
        gc.enable()


def test_who_asks_while_a_value_is_computed_waits_for_it() -> None:
    began, may_end = threading.Event(), threading.Event()
    made: list[str] = []
    values = Cached[None](2)

    def make() -> None:
        made.append("a")
        began.set()
        assert may_end.wait(30)

    threads = [threading.Thread(target=values.of, args=("a", make)) for _ in range(3)]
    for each in threads:
        each.start()
    assert began.wait(30)
    may_end.set()
    for each in threads:
        each.join(30)
    assert made == ["a"]


def test_what_fails_is_tried_again() -> None:
    values = Cached[str](2)

    def fail() -> str:
        raise RuntimeError("not yet")

    with pytest.raises(RuntimeError, match="not yet"):
        values.of("a", fail)
    assert values.of("a", lambda: "made") == "made"


def test_of_values_that_need_each_other_the_outermost_has_the_spinner(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Spinner:
        def __init__(self, words: str) -> None:
            self.words = words

        def __enter__(self) -> None:
            shown.append(self.words)

        def __exit__(self, *error: object) -> None:
            shown.append("")

    monkeypatch.setattr(module.st, "spinner", Spinner)

    inner, outer = Cached[str](2, spinner="Inside"), Cached[str](2, spinner="Outside")
    for _ in range(2):
        outer.of("a", lambda: inner.of("a", str))
    inner.of("b", str)
    assert shown == ["Outside", "", "Inside", ""]


@pytest.mark.parametrize("much", [False, True])
def test_few_values_are_kept_where_the_process_holds_much_memory(much: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.system.memory_limit.is_exceeded", lambda: much)
    made: list[int] = []
    values = Cached[None](32)
    for number in range(20):
        values.of(number, partial(made.append, number))
    assert made == list(range(20))
    for number in reversed(range(20)):
        values.of(number, partial(made.append, number))
    assert made[20:] == (list(reversed(range(20 - module.FEW))) if much else [])
