"""Benchmarks: run by hand, with everything they need made on the spot from a seed."""

import os

# What is measured is the reading of files, unless a benchmark says otherwise.
os.environ.setdefault("LAYOUTSCOPE_CACHE", "off")
