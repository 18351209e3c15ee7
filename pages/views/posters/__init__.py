"""What the view Posters is made of."""
