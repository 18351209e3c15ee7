"""The parts of the view models."""
