"""The parts of the view pack."""
