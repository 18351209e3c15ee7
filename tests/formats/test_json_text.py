"""JSON to a tree by the compiled decoder and by the exact one: the same tree, and every repeated key is found."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data.issues import Collector
from evaluator.formats import json_text, limits
from tests.reading import refusal

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.sampled_from('ab:{}[]"\\/é\n '), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.sampled_from('a:"\\'), max_size=3), inner),
    max_leaves=12,
)  # fmt: skip


def checked(text: str) -> tuple[object, list[str]]:
    collector = Collector("a.json", max_per_rule=None)
    tree = json_text.parse_checked(json_text.open_source(text.encode(), "a.json"), collector)
    return tree, [issue.sentence for issue in collector.issues()]


@given(value=VALUES)
def test_the_tree_is_that_of_the_standard_library(value: object) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        assert checked(text) == (json.loads(text), [])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a": ":", "a": 1}', '$.a: a key must not be repeated in one object (RFC 8259, section 4); found "a" 2 '
         "times. Keep one of them."),
        ('[{"\\\\": {"b": 1, "b": "\\""}}]', '$[0]["\\\\"].b: a key must not be repeated in one object (RFC 8259, '
         'section 4); found "b" 2 times. Keep one of them.'),
        (f"[{'9' * 400}]", "$[0]: numbers must be finite and fit float64 (RFC 8259, section 6); found "
         "99999999999999999999… (400 characters). Correct it."),
    ],
)  # fmt: skip
def test_what_the_compiled_decoder_does_not_name_is_named(text: str, sentence: str) -> None:
    assert checked(text)[1] == [f"a.json: {sentence}"]


def test_brackets_in_strings_are_no_nesting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "_DECODE_STEP", 3)
    deep = limits.MAX_DEPTH
    assert checked(json.dumps(["[" * 500, '"' + "{" * 500, "\\"]))[1] == []
    assert checked("[" * deep + "]" * deep)[1] == []
    assert refusal(checked, "[" * (deep + 1) + "]" * (deep + 1)) == [
        f"a.json: line 1, column {deep + 1}: arrays and objects may be nested {deep} deep; found level {deep + 1}. "
        "Flatten the value, or remove it."
    ]
