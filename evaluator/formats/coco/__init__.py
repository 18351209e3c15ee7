"""COCO instances and results: the face of the format."""

from evaluator.formats.coco.reader import FORMAT, Coco, Numbers, is_unresolved, resolve

__all__ = ["FORMAT", "Coco", "Numbers", "is_unresolved", "resolve"]
