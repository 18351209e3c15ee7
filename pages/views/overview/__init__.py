"""The parts of the view overview."""
