"""Text: spellings made one, words and numbers by hand, stems, and the common subsequence against the textbook."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data import text
from evaluator.data.text import lcs_f1, lcs_f1s, lcs_length, lcs_lengths, normalised, numbers, stem, words

tokens = st.text("abcdefg", max_size=40).map(list)
sequences = st.lists(tokens, max_size=5)


def by_the_textbook(first: list[str], second: list[str]) -> int:
    """The table of Wagner and Fischer, row by row."""
    row = [0] * (len(second) + 1)
    for one in first:
        above, row = row, [0]
        for column, other in enumerate(second):
            row.append(above[column] + 1 if one == other else max(above[column + 1], row[column]))
    return row[-1]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("“curly” ‘single’", "\"curly\" 'single'"),
        ("‹a› «b» „c‟ ‚d‛ ′", "'a' \"b\" \"c' 'd' '"),
        ("a–b—c−d‐e", "a-b-c-d-e"),
        ("10⁻⁵ m² CO₂", "10-5 m2 CO2"),
        ("ﬁnding ½", "finding 1⁄2"),
        ("é", "e\u0301"),
        (" a\u00a0b\u2009c\u3000d\t\n e ", "a b c d e"),
        ("MiXeD", "MiXeD"),
        ("", ""),
    ],
)
def test_text_gets_one_spelling(written: str, expected: str) -> None:
    assert normalised(written) == expected
    assert normalised(expected) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Smith, J., and Doe", ["smith", "j", "and", "doe"]),
        ("well-known, e.g. 3.5", ["well", "known", "e", "g", "3", "5"]),
        ("snake_case and (n=35/37)", ["snake", "case", "and", "n", "35", "37"]),
        ("Schlüsselstellen größer", ["schlüsselstellen", "größer"]),
        ("Пчёлы и мёд", ["пчёлы", "и", "мёд"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("• … — ", []),
        ("", []),
    ],
)
def test_words_stand_between_punctuation_in_any_script(written: str, expected: list[str]) -> None:
    assert words(normalised(written)) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("3.14 2.0 5.", ["3.14", "2.0", "5"]),
        ("1,000.5 and -7 of 50%", ["1", "000.5", "7", "50"]),
        ("v1.2.3 1e5 p<0.05", ["1.2", "3", "1", "5", "0.05"]),
        ("٣", ["٣"]),
        ("none", []),
    ],
)
def test_numbers_are_digits_with_a_point_between_digits(written: str, expected: list[str]) -> None:
    assert numbers(written) == expected


# Porter 1980, the examples of its steps; the last row are rules that NLTK adds.
STEMS = (
    ("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("feed", "feed"), ("agreed", "agre"),
    ("plastered", "plaster"), ("bled", "bled"), ("motoring", "motor"), ("sing", "sing"), ("conflated", "conflat"),
    ("troubled", "troubl"), ("sized", "size"), ("hopping", "hop"), ("tanned", "tan"), ("falling", "fall"),
    ("hissing", "hiss"), ("fizzed", "fizz"), ("failing", "fail"), ("filing", "file"), ("happy", "happi"),
    ("sky", "sky"), ("relational", "relat"), ("conditional", "condit"), ("rational", "ration"),
    ("digitizer", "digit"), ("vietnamization", "vietnam"), ("hopefulness", "hope"), ("formality", "formal"),
    ("triplicate", "triplic"), ("electrical", "electr"), ("goodness", "good"), ("revival", "reviv"),
    ("allowance", "allow"), ("replacement", "replac"), ("adoption", "adopt"), ("extension", "extens"),
    ("probate", "probat"), ("rate", "rate"), ("cease", "ceas"), ("controll", "control"), ("roll", "roll"),
    ("dying", "die"), ("ties", "tie"), ("tied", "tie"), ("enjoy", "enjoy"), ("radically", "radic"),
    ("hopefully", "hope"), ("geologi", "geolog"), ("is", "is"), ("", ""),
)  # fmt: skip


def test_stems_are_porters() -> None:
    assert [(word, stem(word)) for word, _ in STEMS] == list(STEMS)


@given(word=st.text("abceilnosty", max_size=12))
def test_a_stem_is_never_longer_by_more_than_its_mended_e(word: str) -> None:
    assert len(stem(word)) <= len(word)
    assert bool(stem(word)) == bool(word)


@given(first=tokens, second=tokens)
def test_the_length_is_that_of_the_textbook(first: list[str], second: list[str]) -> None:
    expected = by_the_textbook(first, second)
    assert lcs_length(first, second) == lcs_length(second, first) == expected
    assert lcs_length(first[::-1], second[::-1]) == expected
    f1 = lcs_f1(first, second)
    assert f1 == (2 * expected / (len(first) + len(second)) if first and second else 0.0)
    assert 0.0 <= f1 <= 1.0


@given(first=sequences, second=sequences)
def test_all_pairs_at_once_equal_each_pair_alone(first: list[list[str]], second: list[list[str]]) -> None:
    lengths, f1s = lcs_lengths(first, second), lcs_f1s(first, second)
    assert lengths.shape == f1s.shape == (len(first), len(second))
    assert lengths.dtype == "int64"
    assert f1s.dtype == "float64"
    for row, one in enumerate(first):
        for column, other in enumerate(second):
            assert lengths[row, column] == by_the_textbook(one, other)
            assert f1s[row, column] == lcs_f1(one, other)


@given(first=tokens, second=tokens)
def test_more_tokens_than_characters_change_no_answer(first: list[str], second: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_MOST_CHARACTERS", 2)
        assert lcs_length(first, second) == by_the_textbook(first, second)


def test_every_token_is_itself() -> None:
    # More tokens than are before the surrogates, which are characters like others here.
    numbered = [str(index) for index in range(70_000)]
    assert lcs_length(numbered, [*numbered[1:], "0"]) == 69_999
    assert lcs_length(numbered[50_000:], [*numbered[60_000:], *numbered[50_000:60_000]]) == 10_000
    assert lcs_length(["a", "b"], ["ab"]) == 0
    assert lcs_length(["", "a"], ["a", ""]) == 1


def test_long_sequences_are_right_where_the_answer_is_known() -> None:
    numbered = [str(index) for index in range(6_000)]
    kept = [token for index, token in enumerate(numbered) if index % 20]
    moved = numbered[3_000:] + numbered[:3_000]
    assert lcs_length(numbered, kept) == len(kept)
    assert lcs_length(numbered, moved) == 3_000
    assert lcs_length(numbered, numbered[::-1]) == 1
    assert lcs_length(numbered, numbered) == 6_000
    assert lcs_length(numbered, ["none"] * 5_000) == 0
