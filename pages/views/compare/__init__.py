"""The parts of the view Compare."""
