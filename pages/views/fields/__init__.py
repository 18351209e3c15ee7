"""What the view Fields is made of."""
