"""Issues: the sentence as a whole, text that no terminal obeys, excerpts that stay short."""

import sys
import unicodedata

import pytest

from evaluator.data.issues import BadInput, Collector, Issue, has_errors, issue_count, plain, quote


def issue(**given: str) -> Issue:
    said = {"severity": "error", "file": "p.json", "place": "$.info", "rule": "info is required"}
    return Issue(**{**said, "found": "", "fix": "Add it.", **given})


def test_the_sentence_names_file_place_rule_found_and_fix_in_that_order() -> None:
    assert issue(found="[0.42, 0.31]").sentence == "p.json: $.info: info is required; found [0.42, 0.31]. Add it."
    assert issue(place="").sentence == "p.json: info is required. Add it."
    assert issue(place="", found='"1.2"').sentence == 'p.json: info is required; found "1.2". Add it.'


@pytest.mark.parametrize("part", ["file", "place", "rule", "found", "fix"])
def test_every_part_of_the_sentence_is_made_plain(part: str) -> None:
    assert "\\x1b[31m\\n\\u202e" in issue(**{part: "\x1b[31m\n\u202e"}).sentence


HARMFUL = ("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn")


def test_no_control_or_format_character_stays() -> None:
    seen = dict.fromkeys(HARMFUL, 0)
    for char in map(chr, range(sys.maxunicode + 1)):
        kind = unicodedata.category(char)
        # Of the surrogates, of what is private and of what is assigned to nothing, every 997th.
        if kind in HARMFUL and (kind not in ("Cs", "Co", "Cn") or seen[kind] % 997 == 0):
            shown = plain(f"a{char}b")
            assert shown.isascii()
            assert shown.isprintable()
            assert shown == f"a{ascii(char)[1:-1]}b"
        if kind in HARMFUL:
            seen[kind] += 1
    assert all(seen.values())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("Table 3, Größe 5 µm — 表", "Table 3, Größe 5 µm — 表"),
        ("a\tb\nc\rd\0e\x7f", "a\\tb\\nc\\rd\\x00e\\x7f"),
        ("\ud800", "\\ud800"),
        ("C:\\new", "C:\\new"),
    ],
)
def test_plain(text: str, shown: str) -> None:
    assert plain(text) == shown
    shown.encode()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ([0.42, 0.1], "[0.42,0.1]"),
        ("1.2", '"1.2"'),
        (None, "null"),
        ({"a": True}, '{"a":true}'),
        (float("nan"), "null"),
        ("\ud800", "'\\ud800'"),
        (10**400, str(10**400)[:159] + "…"),
        ({1, 2}, "[1,2]"),
        (object, "<class 'object'>"),
    ],
)
def test_quote(value: object, shown: str) -> None:
    assert quote(value) == shown


@pytest.mark.parametrize("length", [157, 158, 159, 1_000_000])
def test_quotes_are_at_most_160_characters(length: int) -> None:
    shown = quote("x" * length)
    if length <= 158:
        assert shown == '"' + "x" * length + '"'
    else:
        assert (len(shown), shown[0], shown[-1]) == (160, '"', "…")


def test_a_value_that_contains_itself_can_be_quoted() -> None:
    value: list[object] = []
    value.append(value)
    assert len(quote(value)) <= 160


def test_bad_input_puts_errors_first_and_keeps_all() -> None:
    warning, first, second = issue(severity="warning", rule="w"), issue(rule="e1"), issue(rule="e2")
    raised = BadInput([warning, first, second])
    assert raised.issues == (first, second, warning)
    assert str(raised) == "p.json: $.info: e1. Add it.\np.json: $.info: e2. Add it.\np.json: $.info: w. Add it."
    assert [has_errors(issues) for issues in ([], [warning], [warning, first])] == [False, False, True]


def test_a_collector_spells_out_a_rule_only_so_often() -> None:
    collector = Collector("p.json", max_per_rule=2)
    described: list[int] = []

    def describe(row: int) -> tuple[str, str, str]:
        described.append(row)
        return f"$[{row}]", "0", "Mend it."

    collector.errors("no zero", range(5), describe)
    collector.errors("no zero", range(1000), describe)
    collector.error("$.a", "other", "1", "Fix.")
    collector.warning("$.b", "no zero", "0", "A warning of that rule counts apart.")
    assert described == [0, 1]
    assert [entry.sentence for entry in collector.issues()] == [
        "p.json: $[0]: no zero; found 0. Mend it.",
        "p.json: $[1]: no zero; found 0. Mend it.",
        "p.json: $.a: other; found 1. Fix.",
        "p.json: $.b: no zero; found 0. A warning of that rule counts apart.",
        "p.json: no zero; found the same 1,003 more times. layoutscope check lists them all.",
    ]
    assert collector.failed


def test_a_collector_without_bound_spells_out_everything() -> None:
    collector = Collector("p.json", max_per_rule=None)
    assert not collector.failed
    assert collector.issues() == ()
    collector.errors("rule", range(1000), lambda row: (f"$[{row}]", "", "Fix."))
    assert len(collector.issues()) == 1000


def test_a_count_of_issues_has_those_that_are_not_spelled_out_and_warnings_do_not_fail_a_file() -> None:
    collector = Collector("f.json", max_per_rule=2)
    for place in range(1_500):
        collector.warning(f"$[{place}]", "a rule", "", "Mend it.")
    assert (collector.failed, [each.severity for each in collector.issues()]) == (False, ["warning"] * 3)
    collector.error("", "another rule", "", "Mend it.")
    assert (len(collector.issues()), issue_count(collector.issues()), issue_count([])) == (4, 1_501, 0)
