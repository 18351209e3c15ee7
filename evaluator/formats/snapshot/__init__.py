"""Document Snapshot Detection, schema 1.3: the face of the format."""

from evaluator.formats.snapshot.reader import FORMAT, check_pair, detect, read, side_of

__all__ = ["FORMAT", "check_pair", "detect", "read", "side_of"]
