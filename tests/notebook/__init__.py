"""Widgets of a notebook."""
