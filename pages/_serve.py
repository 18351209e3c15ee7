"""Starts the server with app.py as its main script; the terminal command runs this file.

Streamlit takes a folder named ``pages`` for its old kind of multipage app until ``st.navigation`` was called once, so
that the first link straight to a view would run the view alone, without settings and style. Said here before the first
session, app.py always runs first.
"""

import sys

from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.cli import main

if __name__ == "__main__":
    PagesManager.uses_pages_directory = False
    main(["run", *sys.argv[1:]], prog_name="streamlit")
