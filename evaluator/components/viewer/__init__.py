"""The component viewer: its structs and what fills them."""
