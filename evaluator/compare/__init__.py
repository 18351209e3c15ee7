"""Two or more models against the same ground truth: who finds what, by how much they differ, and how sure that is.

``ledger`` records for every box which model has it, ``mistakes`` counts the named mistakes of both, ``differences`` are
how far two models are apart with intervals from ``resampling`` documents, ``sentences`` the same in words, ``gate``
whether a condition on it holds.
"""
