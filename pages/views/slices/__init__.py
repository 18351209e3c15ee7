"""The parts of the view slices."""
