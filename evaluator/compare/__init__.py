"""Two or more models against the same ground truth: who finds what, by how much they differ, and how sure that is.

``ledger`` says of every box which model found or invented it, ``confusion`` which mistakes and mix-ups came and went,
``measures`` what each metric is made of per document, ``differences`` how far two models are apart with intervals from
``resampling`` documents, ``sentences`` the same in words, ``gate`` whether a condition on it holds.
"""
