"""Loading a schema-1.3 file to columns: the reader against peers, interleaved in one run on the same bytes.

    python -m tests.benchmarks.bench_load [--pages N] [--repeats N] [--smoke] [--json]

The corpus is made here, from a fixed seed: 20 pages a document and about 15 boxes a page. Peers turn the same
bytes into the same box columns: the standard library's parser, and msgspec without a schema. Neither checks a
rule, computes a digest or refuses repeated keys, so the reader does more work than they. Each time is the best
of the repeats, in CPU seconds of one process.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from evaluator.formats import snapshot

LABELS = ("Caption", "Footnote", "Formula", "List-item", "Page-footer", "Page-header", "Picture", "Section-header",
          "Table", "Text", "Title")  # fmt: skip
PAGES_PER_DOCUMENT = 20


def make_corpus(pages: int, seed: int = 20261121) -> bytes:
    """A prediction file of that many pages.

    Returns
    -------
    bytes
        The same for the same numpy version; about 3 kB a page.
    """
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(3.0, 5.0, pages))
    total = int(counts.sum())
    low = rng.random((total, 2)) * 0.8
    corners = np.hstack([low, low + rng.uniform(0.01, 0.2, (total, 2))]).tolist()
    labels = rng.integers(0, len(LABELS), total).tolist()
    scores = rng.beta(8, 1.6, total).round(6).tolist()
    entries, row = [], 0
    for page, count in enumerate(counts.tolist()):
        document = f"{page // PAGES_PER_DOCUMENT:06d}_multi-page-document-name.pdf"
        page_id = f"{document}::p{page % PAGES_PER_DOCUMENT:03d}"
        objects = [
            {"id": f"{page_id}:{i}", "label": LABELS[labels[k]], "bbox": corners[k], "score": scores[k]}
            for i, k in enumerate(range(row, row + count))
        ]
        row += count
        index = page % PAGES_PER_DOCUMENT
        entries.append({"page_id": page_id, "doc_id": document, "page_index": index, "objects": objects})
    names = list(dict.fromkeys(entry["doc_id"] for entry in entries))
    info = {
        "schema_version": "1.3",
        "type": "prediction",
        "run_id": "bench",
        "model": {"name": "bench"},
        "coordinate_system": {"type": "normalized_xyxy", "range": [0.0, 1.0], "origin": "top_left"},
    }
    tree = {
        "label_map": {str(index + 1): label for index, label in enumerate(LABELS)},
        "info": info,
        "documents": [{"doc_id": name, "doc_name": name, "doc_path": name} for name in names],
        "predictions": entries,
    }
    return json.dumps(tree).encode()


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


PEERS: dict[str, Callable[[bytes], np.ndarray[Any, np.dtype[np.float64]]]] = {
    "layoutscope": reader,
    "msgspec, no schema": lambda content: columns_of(msgspec.json.decode(content)),
    "json": lambda content: columns_of(json.loads(content)),
}


def measure(content: bytes, repeats: int) -> dict[str, float]:
    """Best CPU seconds of each peer, interleaved; every peer must give the same numbers.

    Returns
    -------
    dict of str to float
    """
    best = dict.fromkeys(PEERS, float("inf"))
    expected = columns_of(json.loads(content))
    for _ in range(repeats):
        for name, load in PEERS.items():
            gc.collect()
            start = time.process_time()
            annotations = load(content)
            best[name] = min(best[name], time.process_time() - start)
            if not np.array_equal(annotations, expected):
                raise SystemExit(f"{name} gives other columns")
    return best


def main(arguments: list[str] | None = None) -> int:
    """Print the rates, as text or JSON.

    Returns
    -------
    int
        0; the run stops with a message when the peers disagree.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--smoke", action="store_true", help="300 pages, one repeat: only shows that it runs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    pages, repeats = (300, 1) if options.smoke else (options.pages, options.repeats)
    content = make_corpus(pages)
    megabytes = len(content) / 1e6
    best = measure(content, repeats)
    ours = best["layoutscope"]
    peers = {
        name: {"seconds": seconds, "mb_per_s": megabytes / seconds, "times_slower": seconds / ours}
        for name, seconds in best.items()
    }
    if options.json:
        print(json.dumps({"pages": pages, "megabytes": round(megabytes, 1), "peers": peers}))
        return 0
    print(f"{pages:,} pages, {megabytes:,.1f} MB, bytes to columns, best of {repeats}, CPU time")
    for name, row in peers.items():
        print(f"{name:20} {row['seconds']:7.2f} s {row['mb_per_s']:7.1f} MB/s   {row['times_slower']:5.2f} x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
