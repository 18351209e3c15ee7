"""The parts of the view suspects."""
