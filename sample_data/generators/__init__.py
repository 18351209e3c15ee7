"""How the sample data was made."""
