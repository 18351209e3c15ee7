"""The component gallery: its structs and what fills them."""
