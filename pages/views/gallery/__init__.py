"""The parts of the view gallery."""
