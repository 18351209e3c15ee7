"""What the page viewer draws, and the viewer itself (JavaScript and CSS)."""
