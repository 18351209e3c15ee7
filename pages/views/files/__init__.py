"""The parts of the view files."""
