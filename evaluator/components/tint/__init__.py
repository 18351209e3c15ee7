"""The component tint: its structs and what fills them."""
