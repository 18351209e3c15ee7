"""LayoutScope's dashboard: page settings and navigation, nothing else."""

from pathlib import Path

import streamlit as st

from pages import _login as login

HERE = Path(__file__).resolve().parent

st.set_page_config(
    page_title="LayoutScope",
    # A local file: with a Material icon the browser would ask a foreign host.
    page_icon=str(HERE / "pages" / "icon.png"),
    layout="wide",
    initial_sidebar_state=248,
)
st.html(HERE / "pages" / "app.css")
st.logo(str(HERE / "pages" / "icon.png"), size="medium")
# Before the navigation: for a reader who has to log in nothing below runs.
login.enter()

st.navigation(
    [
        st.Page(HERE / "pages" / "overview.py", title="Overview", icon=":material/dashboard:", default=True),
        st.Page(HERE / "pages" / "page_browser.py", title="Page browser", icon=":material/find_in_page:"),
        st.Page(HERE / "pages" / "gallery.py", title="Gallery", icon=":material/grid_view:"),
        st.Page(HERE / "pages" / "compare.py", title="Compare", icon=":material/compare:"),
        st.Page(HERE / "pages" / "pixel_confusion.py", title="Pixel confusion", icon=":material/grid_on:"),
        st.Page(HERE / "pages" / "fields.py", title="Fields", icon=":material/ballot:"),
        st.Page(HERE / "pages" / "posters.py", title="Posters", icon=":material/article:"),
        st.Page(HERE / "pages" / "findings.py", title="Findings", icon=":material/rate_review:"),
        st.Page(HERE / "pages" / "review_pack.py", title="Review pack", icon=":material/description:"),
        st.Page(HERE / "pages" / "files.py", title="Files", icon=":material/folder_open:"),
    ]
).run()
