"""COCO instances and results: the face of the format."""

from evaluator.formats.coco.reader import FORMAT, Numbers, detect, is_unresolved, read, resolve, side_of

__all__ = ["FORMAT", "Numbers", "detect", "is_unresolved", "read", "resolve", "side_of"]
