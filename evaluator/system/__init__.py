"""Threads and whole files: what the core asks of the machine."""
