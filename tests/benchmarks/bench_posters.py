"""ROUGE-L of long texts against rouge-score, and how many posters a minute are evaluated.

    python -m tests.benchmarks.bench_posters [--tokens 10000] [--posters 200] [--smoke] [--json]

The peer is `rouge-score` (Google), asked for the same F-measure of the same two texts, without stemming. It is slow, so
it runs once per pair of texts, between two halves of our runs; the F-measures must be equal. Both sides start from
tokens; ours is also timed from text, tokens included. Times are CPU seconds. The pairs are a text and its copy in which
every twentieth or tenth token was removed and others inserted, and two texts that have nothing but their vocabulary in
common. The bar is held against the first pair, which is as like as an extraction should be.
"""

import json
import random
from typing import Any

from evaluator.data.text import lcs_f1, words
from evaluator.formats.posters import Posters, read_poster
from evaluator.protocols.posters.evaluation import evaluate
from evaluator.protocols.posters.profiles import PROFILES
from tests.benchmarks.measuring import OURS, Run, against, installed, parsed, parser_of, spread, tell, timed

# The pair that is like an extraction: one token in twenty is wrong.
BAR, BAR_EDITS = 3_000.0, 0.05
EDITS = (BAR_EDITS, 0.10, 1.0)
VOCABULARY = 3_000
ROUNDS = 10


def texts(tokens: int, edits: float, seed: int) -> tuple[str, str]:
    """Two texts of one length; `edits` is the share of tokens that were replaced elsewhere, 1 for unrelated ones."""
    draw = random.Random(seed)
    # Zipf's law as Mandelbrot shifted it: the usual picture of words in text.
    frequency = [1.0 / (rank + 2.7) for rank in range(VOCABULARY)]
    vocabulary = [f"w{rank}" for rank in range(VOCABULARY)]
    first = draw.choices(vocabulary, frequency, k=tokens)
    second = [token for token in first if draw.random() >= edits]
    for token in draw.choices(vocabulary, frequency, k=tokens - len(second)):
        second.insert(draw.randrange(len(second) + 1), token)
    return " ".join(first), " ".join(second)


class Blanks:
    """A tokenizer for the peer that only splits."""

    def tokenize(self, text: str) -> list[str]:
        """The tokens of a text that was joined by blanks."""
        return text.split(" ")


def duel(tokens: int, edits: float, *, peer: bool) -> dict[str, Any]:
    """Ours before and after the peer; equal F-measures."""
    first, second = texts(tokens, edits, seed=int(edits * 100))
    sides = words(first), words(second)
    runs: dict[str, list[Run]] = {OURS: [], "from text": []}

    def ours() -> float:
        for _ in range(ROUNDS // 2):
            runs["from text"].append(timed(lambda: lcs_f1(words(first), words(second))))
            runs[OURS].append(timed(lcs_f1, *sides))
        return float(runs[OURS][-1].answer)

    row: dict[str, Any] = {"tokens": tokens, "edits": edits, "f1": ours()}
    if peer:
        from rouge_score import rouge_scorer

        scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False, tokenizer=Blanks())
        runs["rouge-score"] = [timed(lambda: scorer.score(first, second)["rougeL"].fmeasure)]
        score = runs["rouge-score"][0].answer
        if abs(score - row["f1"]) > 1e-12:
            raise SystemExit(f"F-measures differ: {score} and {row['f1']}")
    ours()
    row["seconds"] = seconds = {name: spread(of) for name, of in runs.items()}
    if peer:
        row |= against(seconds, "rouge-score")
        row["ratio_from_text"] = seconds["rouge-score"]["cpu"] / seconds["from text"]["cpu"]
        if edits == BAR_EDITS:
            row |= {"bar": BAR, "reached": row["ratio_min"] >= BAR}
    return row


def poster(seed: int) -> tuple[bytes, bytes]:
    """A poster of about 900 words in twelve sections and its extraction, as files."""
    sides: list[list[str]] = [[], []]
    for section in range(12):
        for side, written in zip(sides, texts(75, 0.1, seed=100 * seed + section), strict=True):
            side.append(written)
    objects = [
        {"titles": [{"title": "A poster"}], "posterContent": {"sections": [{"sectionContent": s} for s in side]}}
        for side in sides
    ]
    return json.dumps(objects[0]).encode(), json.dumps(objects[1]).encode()


def posters_a_minute(count: int) -> dict[str, float]:
    """Posters a minute by profile, from bytes to plain values."""
    made = [poster(seed) for seed in range(count)]

    def run(profile: Any) -> None:
        sides = []
        for side in (0, 1):
            posters = {str(index): read_poster(pair[side], "p.json", str(index))[0] for index, pair in enumerate(made)}
            sides.append(Posters("posters", "", posters, {}, ()))
        evaluate(*sides, profile=profile).to_json()

    return {name: count * 60 / timed(run, name).cpu for name in PROFILES}


def main() -> None:
    """Run the benchmark and print it."""
    given = parsed(parser_of(__doc__, tokens=10_000, posters=200), tokens=500, posters=5)
    peer = installed("rouge_score")
    duels = [duel(given.tokens, edits, peer=peer) for edits in EDITS]
    tell({"duels": duels, "posters_a_minute": posters_a_minute(given.posters)}, as_json=given.json)


if __name__ == "__main__":
    main()
