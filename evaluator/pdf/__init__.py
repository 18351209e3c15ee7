"""Pages and PDF files: the only room that knows of PyMuPDF."""
