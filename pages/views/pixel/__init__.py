"""What the view Confusion is made of."""
