"""The component pack: its structs."""
