"""The component matrix: its structs and what fills them."""
