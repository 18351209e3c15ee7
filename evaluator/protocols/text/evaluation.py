"""Text of items: character and word errors of what two sides read in one place.

``cer`` is the number of edits of code points over the length of the true text, so that it may exceed 1; ``ned`` is over
the longer of the two texts, as OmniDocBench has it; ``wer`` counts words. Text without a partner counts as a whole on
the side that has it. Undefined where there is nothing to divide by: jiwer gives the number of insertions there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final, cast

import msgspec

from evaluator.data.plain_text import Normalisation, WordRule, plain, with_line_feeds, words
from evaluator.metrics.results import JsonObject, ResultTable
from evaluator.protocols.items import MOST_TEXT, Cell, ItemResult, PageNumbers, Ratio, mean, pooled, value_of
from evaluator.protocols.text.mistakes import Edit, Name, mistake_of

NAME: Final = "text"
VERSION: Final = "1"
TITLE: Final = "Text of items"
MEASURES: Final = ("cer", "wer", "ned")
FORMULAS: Final = "formulas"


class TextPair(msgspec.Struct, frozen=True, kw_only=True):
    """What two sides read in one place: positions in the files, None without a partner, and how the texts differ."""

    ground_truth: int | None
    prediction: int | None
    edits: int
    substitutions: int
    deletions: int
    insertions: int
    reference_length: int
    hypothesis_length: int
    word_edits: int
    reference_words: int
    hypothesis_words: int
    mistake: Name | None
    reference: str
    hypothesis: str

    @property
    def is_matched(self) -> bool:
        """Return whether both sides have an item here."""
        return self.ground_truth is not None and self.prediction is not None

    @property
    def ratios(self) -> Mapping[str, Ratio]:
        """Return the measures of the pair."""
        return {
            "cer": (self.edits, self.reference_length),
            "wer": (self.word_edits, self.reference_words),
            "ned": (self.edits, max(self.reference_length, self.hypothesis_length)),
        }

    def to_json(self) -> JsonObject:
        """Return the pair as plain values."""
        return {**msgspec.structs.asdict(self), **{name: value_of(ratio) for name, ratio in self.ratios.items()}}


def compare_texts(
    reference: str,
    hypothesis: str,
    *,
    normalisation: Normalisation,
    word_rule: WordRule,
    positions: tuple[int | None, int | None] = (0, 0),
) -> TextPair:
    """Return how a text differs from a true one; `positions` are those of the items, None for none."""
    form = plain if normalisation == "plain" else with_line_feeds
    true, read = form(reference), form(hypothesis)
    true_words = words(true, word_rule)
    read_words = true_words if true == read else words(read, word_rule)
    # Here, so that what has no text starts without it.
    from rapidfuzz.distance import Levenshtein

    # Tuples, whatever its stubs say: what is asked of an object for each edit takes longer than to find them.
    edits = [] if true == read else cast("list[Edit]", Levenshtein.editops(true, read).as_list())
    tags = [tag for tag, _, _ in edits]
    return TextPair(
        ground_truth=positions[0],
        prediction=positions[1],
        edits=len(edits),
        substitutions=tags.count("replace"),
        deletions=tags.count("delete"),
        insertions=tags.count("insert"),
        reference_length=len(true),
        hypothesis_length=len(read),
        word_edits=Levenshtein.distance(true_words, read_words) if edits else 0,
        reference_words=len(true_words),
        hypothesis_words=len(read_words),
        mistake=mistake_of(true, read, edits),
        reference=true,
        hypothesis=read,
    )


class TextPage(PageNumbers, frozen=True, kw_only=True):
    """The texts of a page: pairs of each side's items in file order, then what has no partner; formulas apart."""

    pairs: list[TextPair]
    formulas: list[TextPair]

    @property
    def ratios(self) -> Mapping[str, Ratio]:
        """Return the measures of the texts of the page."""
        return sums_of(self.pairs)

    @property
    def by_cost(self) -> list[TextPair]:
        """Return the pairs with a mistake, the dearest first, then such formulas."""
        groups = (sorted(group, key=lambda pair: -pair.edits) for group in (self.pairs, self.formulas))
        return [pair for group in groups for pair in group if pair.mistake]

    @property
    def costs(self) -> Sequence[tuple[str, int]]:
        """Return the mistakes; their cost is edited characters."""
        return [(pair.mistake, pair.edits) for pair in self.by_cost if pair.mistake]

    def to_json(self) -> list[JsonObject]:
        """Return every pair, the dearest first, then the formulas."""
        groups = (sorted(group, key=lambda pair: -pair.edits) for group in (self.pairs, self.formulas))
        texts, formulas = ([pair.to_json() for pair in group] for group in groups)
        return [*texts, *({**pair, "group": FORMULAS} for pair in formulas)]


def sums_of(pairs: Iterable[TextPair]) -> dict[str, Ratio]:
    """Return the measures of some pairs, pooled."""
    every = [pair.ratios for pair in pairs]
    return {
        name: (sum(ratios[name][0] for ratios in every), sum(ratios[name][1] for ratios in every)) for name in MEASURES
    }


class TextResult(ItemResult[TextPage]):
    """The text of one prediction."""

    name = NAME
    version = VERSION
    columns: ClassVar[tuple[str, ...]] = ("pages", "pairs", "missing", "extra", *MEASURES)

    def summary(self, pages: Sequence[TextPage]) -> JsonObject:
        """Return counts, each measure pooled, over matched pairs and as means, and how often each mistake occurs."""
        formulas = [page.formulas for page in pages]
        groups = {FORMULAS: _numbers(formulas)} if any(formulas) else {}
        return {**_numbers([page.pairs for page in pages]), **groups}

    def row(self, pages: Sequence[TextPage]) -> tuple[Cell, ...]:
        """Return counts and pooled measures."""
        pairs = [pair for page in pages for pair in page.pairs]
        return (len(pages), *_counts(pairs).values(), *map(value_of, sums_of(pairs).values()))

    def csv_files(self) -> Mapping[str, ResultTable]:
        """Return the pairs, one in a row, with the beginnings of their texts."""
        rows: list[tuple[Cell, ...]] = [
            (
                page.document, page.page, pair.ground_truth, pair.prediction, pair.edits,
                *map(value_of, pair.ratios.values()), pair.mistake, pair.reference[:MOST_TEXT],
                pair.hypothesis[:MOST_TEXT],
            )
            for page in self.pages
            for pair in (*page.pairs, *page.formulas)
        ]  # fmt: skip
        places = ("document", "page", "ground_truth", "prediction", "edits")
        return {"pairs.csv": self.as_table((*places, *MEASURES, "mistake", "reference", "hypothesis"), rows)}


def _counts(pairs: Sequence[TextPair]) -> dict[str, int]:
    missing, extra = (sum(getattr(pair, side) is None for pair in pairs) for side in ("prediction", "ground_truth"))
    return {"pairs": len(pairs) - missing - extra, "missing": missing, "extra": extra}


def _numbers(pages: Sequence[Sequence[TextPair]]) -> JsonObject:
    pairs = [pair for page in pages for pair in page]
    matched = [pair for pair in pairs if pair.is_matched]
    of_pages, of_pairs = [sums_of(page) for page in pages], [pair.ratios for pair in pairs]
    mistakes = Counter(pair.mistake for pair in pairs if pair.mistake)
    return {
        **_counts(pairs),
        **{
            name: {
                "micro": pooled(ratios[name] for ratios in of_pages),
                "micro_matched": value_of(sums_of(matched)[name]),
                "page_mean": mean(value_of(ratios[name]) for ratios in of_pages),
                "item_mean": mean(value_of(ratios[name]) for ratios in of_pairs),
                "pages": sum(1 for ratios in of_pages if ratios[name][1]),
            }
            for name in MEASURES
        },
        "mistakes": dict(sorted(mistakes.items())),
    }
