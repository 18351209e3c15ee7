"""What only the view Reading has."""
