"""Text of items: the face of the protocol."""

from evaluator.protocols.text.evaluation import NAME, VERSION, TextPage, TextPair, TextResult, compare_texts

__all__ = ["NAME", "VERSION", "TextPage", "TextPair", "TextResult", "compare_texts"]
