"""The profile omnidocbench-1.5 of order, text and tables: the end-to-end numbers of OmniDocBench."""

from evaluator.protocols.omnidocbench.evaluation import OrderProfile, TablesProfile, TextProfile

__all__ = ["OrderProfile", "TablesProfile", "TextProfile"]
