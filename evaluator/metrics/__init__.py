"""Average precision, counts, exact sums, confidence, pixels, resampling, and results as tables and text."""
