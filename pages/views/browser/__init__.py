"""What Pages shares with the views that use its filter."""
