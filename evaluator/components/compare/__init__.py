"""The component compare: its structs and what fills them."""
