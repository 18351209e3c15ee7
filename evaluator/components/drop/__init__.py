"""The component drop: files dropped anywhere, the list of them with their roles, their structs and what fills these."""
