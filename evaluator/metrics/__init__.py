"""Matching, average precision, pixel counts, confidence, names of mistakes, and what follows from a matching."""
