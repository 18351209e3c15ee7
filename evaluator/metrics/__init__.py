"""Matching, average precision, pixel counts, confidence, names of mistakes, and their causes."""
