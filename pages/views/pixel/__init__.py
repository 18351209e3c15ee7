"""What the view Pixel confusion is made of."""
