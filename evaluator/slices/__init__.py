"""Where a model fails, found by itself: attributes of boxes and pages, conditions on them, the search, named slices."""
