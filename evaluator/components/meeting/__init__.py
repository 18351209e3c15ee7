"""The component meeting: its structs and what fills them."""
