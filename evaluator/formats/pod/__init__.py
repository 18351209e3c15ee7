"""Files of the ICDAR 2017 page object detection competition (POD): the face of the format."""

from evaluator.formats.pod.pair import check_pair
from evaluator.formats.pod.reader import FORMAT, LABELS, SUFFIXES, Pod

__all__ = ["FORMAT", "LABELS", "SUFFIXES", "Pod", "check_pair"]
