"""Parts of a work in threads: answers in order, few parts at a time; products of matrices in one thread."""

import ast
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import threadpoolctl

from evaluator.system.one_thread import one_thread
from evaluator.system.threads import in_threads


@pytest.mark.parametrize("processors", [1, 2, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 50])
def test_answers_come_in_the_order_of_the_parts(count: int, processors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.system.threads.os.cpu_count", lambda: processors)
    assert list(in_threads(lambda part: part * part, iter(range(count)))) == [part * part for part in range(count)]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_part_is_taken_long_before_its_turn(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.system.threads.os.cpu_count", lambda: 8)
    taken = answered = 0

    def parts() -> Iterator[int]:
        nonlocal taken
        for part in range(40):
            taken += 1
            # One in each thread, one that waits, and the one that is being taken.
            assert taken - answered <= most + 2
            yield part

    for _ in in_threads(lambda part: part, parts(), most=most):
        answered += 1
    assert answered == taken == 40


def test_several_parts_are_worked_on_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.system.threads.os.cpu_count", lambda: 2)
    both = threading.Barrier(2, timeout=60)
    assert sorted(in_threads(lambda _part: both.wait(), range(2))) == [0, 1]


def test_few_rows_start_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.system.threads.os.cpu_count", lambda: 8)
    here = threading.get_ident()
    assert set(in_threads(lambda _part: threading.get_ident(), range(9), rows=9_999)) == {here}
    assert here not in set(in_threads(lambda _part: threading.get_ident(), range(9), rows=10_000))


def test_what_goes_wrong_is_raised_in_its_place() -> None:
    answers = in_threads(lambda part: 1 // (3 - part), range(6))
    assert [next(answers), next(answers), next(answers)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(answers)


def test_numpy_multiplies_in_one_thread_for_as_long_as_it_is_said() -> None:
    def threads() -> set[int]:
        return {each["num_threads"] for each in threadpoolctl.threadpool_info() if each["user_api"] == "blas"}

    with threadpoolctl.threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        for _ in range(2):
            with one_thread():
                assert threads() == {1}
            assert threads() == before


def test_no_function_lets_msgspec_learn_a_class() -> None:
    """Two threads that decode a class at the same time, which nothing has decoded yet, end the process."""
    root = Path(__file__).resolve().parents[2]
    plain = {"str", "int", "float", "bool", "object", "dict", "list", "tuple"}
    learned = []
    for path in (*(root / "evaluator").rglob("*.py"), *(root / "pages").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "msgspec" not in text or "decode(" not in text:
            continue
        for call in ast.walk(ast.parse(text)):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in (
                "msgspec.json.decode",
                "msgspec.msgpack.decode",
            ):
                kinds = [ast.walk(each.value) for each in call.keywords if each.arg == "type"]
                names = {node.id for kind in kinds for node in kind if isinstance(node, ast.Name)}
                learned += [
                    f"{path.relative_to(root)}:{call.lineno} {name}"
                    for name in names - plain
                    if f"\nmsgspec.json.Decoder({name})" not in text
                ]
    assert learned == []
