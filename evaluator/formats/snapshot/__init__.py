"""Document Snapshot Detection, schema 1.3: the face of the format."""

from evaluator.formats.snapshot.pair import check_pair
from evaluator.formats.snapshot.reader import FORMAT, Snapshot
from evaluator.formats.snapshot.writer import ground_truth_file

__all__ = ["FORMAT", "Snapshot", "check_pair", "ground_truth_file"]
