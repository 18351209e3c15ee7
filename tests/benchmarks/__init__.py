"""Benchmarks: run by hand, with everything they need made on the spot from a seed."""

import os

from evaluator.system import instructions

# What is measured is the reading of files, unless a benchmark says otherwise.
os.environ.setdefault("LAYOUTSCOPE_CACHE", "off")
# As the command does: numpy, which is imported after this, sorts in the way that users get.
instructions.choose(os.environ)
