"""The component theme: its structs."""
