"""Loading a schema-1.3 file to columns: the reader against peers, interleaved in one run on the same bytes.

    python -m tests.benchmarks.bench_load [--megabytes N] [--rounds N] [--smoke] [--json]

Peers turn the same bytes into the same box columns: the standard library's parser, and msgspec without a schema.
Neither checks a rule, computes a digest or refuses repeated keys, so the reader does more work than they. Each time is
the least of the rounds, in CPU seconds of one process.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np

from evaluator.formats import snapshot
from tests.benchmarks import large_files
from tests.benchmarks.measuring import OURS, against, in_turns, parsed, parser_of, tell


def columns_of(tree: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Corners and scores of a parsed file, float64, shape (N, 5), and its codes: what a peer must build at least."""
    documents = {document["doc_id"]: code for code, document in enumerate(tree["documents"])}
    labels = {label: code for code, label in enumerate(tree["label_map"].values())}
    pages = tree["predictions"]
    objects = [item for page in pages for item in page["objects"]]
    counts = [len(page["objects"]) for page in pages]
    np.repeat(np.array([documents[page["doc_id"]] for page in pages], dtype=np.int32), counts)
    np.repeat(np.array([page["page_index"] for page in pages], dtype=np.int64), counts)
    np.array([labels[item["label"]] for item in objects], dtype=np.int32)
    return np.array([(*item["bbox"], item["score"]) for item in objects], dtype=np.float64)


def reader(content: bytes) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The reader under test: all rules, digest, columns."""
    boxes = snapshot.FORMAT.read(content, "bench.json").boxes
    return np.column_stack([boxes.xyxy, boxes.score])


def main() -> None:
    """Print the rates; stops with a message when the peers disagree."""
    given = parsed(parser_of(__doc__, megabytes=60, rounds=3), megabytes=1, rounds=1)
    content = large_files.FAMILIES["snapshot"].make(given.megabytes * 1_000_000)
    assert isinstance(content, bytes)
    peers = {
        OURS: lambda: reader(content),
        "msgspec, no schema": lambda: columns_of(msgspec.json.decode(content)),
        "json": lambda: columns_of(json.loads(content)),
    }
    seconds = in_turns(peers, given.rounds, same=np.array_equal)
    megabytes = len(content) / 1e6
    report = {
        name: {"mb_per_s": megabytes / row["cpu"], "times_slower": against(seconds, name)["ratio_min"]}
        for name, row in seconds.items()
    }
    tell({"megabytes": megabytes, "seconds": seconds, "peers": report}, as_json=given.json)


if __name__ == "__main__":
    main()
