"""Two or more models against one ground truth: who finds what, how far they differ, how sure that is."""
