"""Benchmarks: run by hand, with everything they need made on the spot from a seed."""
