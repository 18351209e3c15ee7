"""Sets of boxes in which a model is worse than elsewhere: attributes, conditions on them, the search, named slices."""
