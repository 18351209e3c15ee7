"""The component slices: its structs and what fills them."""
