"""What the Page browser shares with the views that use its filter."""
