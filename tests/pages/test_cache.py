"""What is computed once for all sessions."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from pages.app import cache as module
from pages.app.cache import cached


def test_a_value_is_computed_once_for_equal_arguments() -> None:
    made: list[tuple[str, int]] = []

    @cached(2)
    def value(name: str, size: int, *, _text: str) -> str:
        made.append((name, size))
        return f"{name}{size}{_text}"

    assert [value("a", 1, _text="x"), value("a", 1, _text="y")] == ["a1x", "a1x"]
    assert value("a", 2, _text="y") == "a2y"
    assert made == [("a", 1), ("a", 2)]


def test_the_values_that_were_asked_for_last_are_kept_and_none_is_one() -> None:
    made: list[str] = []
    # What it gives is None.
    value = cached(2)(made.append)
    for name in ("a", "b", "a", "c", "a", "b"):
        value(name)
    assert made == ["a", "b", "c", "b"]


def test_who_asks_while_a_value_is_computed_waits_for_it() -> None:
    began, may_end = threading.Event(), threading.Event()
    made: list[str] = []

    @cached(2)
    def value(name: str) -> str:
        made.append(name)
        began.set()
        assert may_end.wait(30)
        return name

    threads = [threading.Thread(target=value, args=("a",)) for _ in range(3)]
    for each in threads:
        each.start()
    assert began.wait(30)
    may_end.set()
    for each in threads:
        each.join(30)
    assert made == ["a"]


def test_what_fails_is_tried_again() -> None:
    made: list[str] = []

    @cached(2)
    def value(name: str) -> str:
        made.append(name)
        if len(made) == 1:
            raise RuntimeError("not yet")
        return name

    with pytest.raises(RuntimeError, match="not yet"):
        value("a")
    assert value("a") == "a"


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

    @cached(2, spinner="Inside")
    def inner(name: str) -> str:
        return name

    @cached(2, spinner="Outside")
    def outer(name: str) -> str:
        return inner(name)

    outer("a")
    outer("a")
    inner("b")
    assert shown == ["Outside", "", "Inside", ""]


def test_arguments_that_are_neither_key_nor_named_as_none_are_refused() -> None:
    def value(name: str, *, text: str) -> str:
        return name + text

    def hidden(_name: str) -> str:
        return _name

    refused: Any = cached(2)
    with pytest.raises(TypeError, match="value: text is neither a part of the key nor named as none"):
        refused(value)
    with pytest.raises(TypeError, match="hidden: _name is neither"):
        refused(hidden)


@pytest.mark.parametrize("much", [False, True])
def test_few_values_are_kept_where_the_process_holds_much_memory(much: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.system.memory_limit.is_exceeded", lambda: much)
    made: list[int] = []
    value = cached(32)(made.append)
    for number in range(20):
        value(number)
    assert made == list(range(20))
    for number in reversed(range(20)):
        value(number)
    assert made[20:] == (list(reversed(range(20 - module.FEW))) if much else [])
