"""The review pack: what a meeting needs in one file, as HTML, as PDF, as tables, and as marked documents."""
