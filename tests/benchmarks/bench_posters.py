"""ROUGE-L of long texts against rouge-score, and how many posters a minute are evaluated.

    python -m tests.benchmarks.bench_posters [--tokens 10000] [--posters 200] [--smoke] [--json]

The peer is `rouge-score` (Google), asked for the same F-measure of the same two texts, without stemming; it is not
among the project's requirements (``pip install rouge-score``) and the benchmark says so when it is absent. It is
slow, so it runs once per pair of texts, between two halves of our runs; the F-measures must be equal. Both sides
start from tokens; ours is also timed from text, tokens included. Times are CPU seconds. The pairs are a text and
its copy in which every twentieth or tenth token was removed and others inserted, and two texts that have nothing
but their vocabulary in common. The bar is held against the first pair, which is as like as an extraction should be.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import time
from collections.abc import Callable
from typing import Any

from evaluator.data.text import lcs_f1, words
from evaluator.formats.posters import Posters, read_poster
from evaluator.protocols.posters.evaluation import evaluate
from evaluator.protocols.posters.profiles import PROFILES

try:
    from rouge_score import rouge_scorer
except ImportError:
    rouge_scorer = None

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


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of one call, and what it returned."""
    gc.collect()
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer


class Blanks:
    """A tokenizer for the peer that only splits."""

    def tokenize(self, text: str) -> list[str]:
        """The tokens of a text that was joined by blanks."""
        return text.split(" ")


def summary(seconds: list[float]) -> dict[str, float]:
    """Fastest and middle run."""
    ordered = sorted(seconds)
    return {"min": ordered[0], "median": ordered[len(ordered) // 2], "runs": len(ordered)}


def duel(tokens: int, edits: float) -> dict[str, Any]:
    """Ours before and after the peer; equal F-measures."""
    first, second = texts(tokens, edits, seed=int(edits * 100))
    sides = words(first), words(second)
    from_tokens, from_text = [], []

    def ours() -> float:
        for _ in range(ROUNDS // 2):
            from_text.append(timed(lambda: lcs_f1(words(first), words(second)))[0])
            seconds, f1 = timed(lambda: lcs_f1(*sides))
            from_tokens.append(seconds)
        return f1

    row: dict[str, Any] = {"tokens": tokens, "edits": edits, "f1": ours()}
    if rouge_scorer is not None:
        scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False, tokenizer=Blanks())
        row["peer_seconds"], score = timed(lambda: scorer.score(first, second)["rougeL"].fmeasure)
        if abs(score - row["f1"]) > 1e-12:
            raise SystemExit(f"F-measures differ: {score} and {row['f1']}")
    ours()
    row |= {"our_seconds": summary(from_tokens), "our_seconds_from_text": summary(from_text)}
    if "peer_seconds" in row:
        row |= {f"ratio_{key}": row["peer_seconds"] / row["our_seconds"][key] for key in ("min", "median")}
        row["ratio_from_text"] = row["peer_seconds"] / row["our_seconds_from_text"]["min"]
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

    return {name: count * 60 / timed(lambda name=name: run(name))[0] for name in PROFILES}


def main() -> None:
    """Run the benchmark and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=10_000)
    parser.add_argument("--posters", type=int, default=200)
    parser.add_argument("--smoke", action="store_true", help="short texts: only that it runs and results are equal")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.smoke:
        chosen.tokens, chosen.posters = 500, 5
    rows = [duel(chosen.tokens, edits) for edits in EDITS]
    speed = posters_a_minute(chosen.posters)
    if chosen.json:
        print(json.dumps({"duels": rows, "posters_a_minute": speed}, indent=2))
        return
    if rouge_scorer is None:
        print("rouge-score is not installed: its times are left out (pip install rouge-score)")
    for row in rows:
        print(f"{row['tokens']:,} tokens, {row['edits']:.0%} edited, F {row['f1']:.4f}")
        for who, key in (("from tokens", "our_seconds"), ("from text", "our_seconds_from_text")):
            least, middle, runs = row[key].values()
            print(f"  ours {who:11}  min {least * 1000:9.2f} ms  median {middle * 1000:9.2f} ms  ({runs} runs)")
        if "peer_seconds" in row:
            bar = f"; bar {row['bar']:,.0f}" if "bar" in row else ""
            print(f"  rouge-score           {row['peer_seconds'] * 1000:9.2f} ms  (1 run), results equal")
            ratios = f"{row['ratio_min']:,.0f} (min), {row['ratio_median']:,.0f} (median)"
            print(f"  ratio {ratios}, {row['ratio_from_text']:,.0f} from text{bar}")
    for name, rate in speed.items():
        print(f"posters of 900 words, profile {name}: {rate:,.0f} a minute")


if __name__ == "__main__":
    main()
