"""The component suspects: its structs and what fills them."""
