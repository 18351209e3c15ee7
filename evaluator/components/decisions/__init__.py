"""The component decisions: its structs and what fills them."""
