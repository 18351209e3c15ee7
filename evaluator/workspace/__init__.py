"""What is open: files and their roles, uploads, the project file, and what outlives a session."""
