"""Results of a page as what the components draw."""
