"""Posters in scripts of which a profile reads little: the share is said, and characters can be words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator.data.text import characters_apart, share_in_ascii, share_without_blanks, words
from evaluator.project import OptionError, evaluate
from pages.app.state import State
from tests.dashboard import fine, signature, start

CHINESE = (
    "村庄节水计划。五年内修建了120个池塘，修复了45公里渠道。",
    "村庄节水计戈。五年内修建了120个池唐，修复了45公里渠到。",
)
OTHER = "今天的天气很好，120只鸟飞过了45座山，我们去公园玩。"
PUBLISHED = (
    'pred: profile published reads ASCII letters and digits alone, as its program does; found 1: "zh", of whose '
    "letters and digits as little as 21.4% of the reference and 23.1% of the extraction are read; 1 of them pass. "
    "Evaluate with --profile documented, which reads every script."
)
RULE = "profile documented takes what is between blanks and punctuation for one word"
DOCUMENTED = (
    "pred: profile documented takes what is between blanks and punctuation for one word, and this script writes no "
    'blanks; found 1: "zh", of whose letters and digits as little as 21.4% of the reference and 21.4% of the '
    "extraction are in scripts that write blanks; 0 of them pass. "
    "Evaluate with --words characters, which takes each character for a word."
)


def sides(folder: Path, **texts: tuple[str, str]) -> tuple[Path, Path]:
    """Folders of references and of extractions, a poster for each pair of texts."""
    for place, side in enumerate(("gt", "pred")):
        (folder / side).mkdir()
        for name, text in texts.items():
            section = {"sectionTitle": "1", "sectionContent": text[place]}
            poster = {"posterContent": {"sections": [section]}, "imageCaptions": [], "tableCaptions": []}
            (folder / side / f"{name}.json").write_text(json.dumps(poster))
    return folder / "gt", folder / "pred"


def test_published_says_that_it_reads_little_of_another_text_that_passes(tmp_path: Path) -> None:
    gt, pred = sides(tmp_path, zh=(CHINESE[0], OTHER), en=("Bees like meadows", "Bees like meadows"))
    (evaluation,) = evaluate("posters", gt, [pred], profile="published")
    (issue,) = evaluation.issues
    assert evaluation.to_json()["aggregate"]["word_capture"] == 1.0
    assert issue.sentence == PUBLISHED
    (in_parts,) = evaluate("posters", gt, [pred], profile="published", page_ranges=1)
    assert in_parts.to_json() == evaluation.to_json()


def test_characters_are_words_where_they_are_asked_for(tmp_path: Path) -> None:
    gt, pred = sides(tmp_path, zh=CHINESE)
    (runs,) = evaluate("posters", gt, [pred])
    (characters,) = evaluate("posters", gt, [pred], words="characters")
    assert [issue.sentence for issue in runs.issues] == [DOCUMENTED]
    assert characters.issues == ()
    values = [one.to_json()["posters"][0]["metrics"]["rouge_l"] for one in (runs, characters)]
    assert values == [pytest.approx(0.25, abs=0.2), pytest.approx(0.9, abs=0.05)]
    stated = "each character a word in scripts without blanks"
    assert [stated in one.result.signature.line for one in (runs, characters)] == [False, True]


@pytest.mark.parametrize("text", ["Bees like meadows – and 45 m² of them", "Ünïcode like Größe", ""])
@pytest.mark.parametrize("profile", ["documented", "published"])
def test_nothing_is_said_of_texts_that_are_read(tmp_path: Path, profile: str, text: str) -> None:
    gt, pred = sides(tmp_path, one=(text, text))
    (evaluation,) = evaluate("posters", gt, [pred], profile=profile)
    assert evaluation.issues == ()


def test_published_has_no_other_words(tmp_path: Path) -> None:
    gt, pred = sides(tmp_path, zh=CHINESE)
    sentence = "words characters needs profile documented; published reads ASCII letters and digits alone"
    with pytest.raises(OptionError, match=f"^{sentence}$"):
        evaluate("posters", gt, [pred], profile="published", words="characters")


def test_posters_has_the_option_and_the_warning(tmp_path: Path) -> None:
    gt, pred = sides(tmp_path, zh=CHINESE)
    given = {"posters": {"ground_truth": str(gt), "predictions": [str(pred)], "pdfs": None}}
    app = start("pages/posters.py", files=json.dumps({"sides": given, "as_reference": False}))
    assert RULE in "".join(str(each.value) for each in app.main if hasattr(each, "value"))
    app = fine(app.segmented_control(key=State.poster_words.key).set_value("characters").run())
    assert "each character a word in scripts without blanks" in signature(app)


def test_letters_and_their_marks_stay_together() -> None:
    assert words(characters_apart("น้ำ 45 ก")) == ["น้ำ"[:2], "ำ", "45", "ก"]
    assert characters_apart("ภาษา ๑๒๐").split()[-1] == "๑๒๐"
    assert (share_in_ascii("12 村"), share_without_blanks("12 村"), share_without_blanks("한국어")) == (
        2 / 3,
        1 / 3,
        0.0,
    )
    assert (share_in_ascii("–"), share_without_blanks("–")) == (1.0, 0.0)
