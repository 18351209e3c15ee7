"""LayoutScope's dashboard: page settings, navigation and theme, nothing else."""

import base64
from pathlib import Path

import streamlit as st

from pages.app import ended_sessions, frame, login, navigation
from pages.app.state import state

HERE = Path(__file__).resolve().parent
# In the page itself: a file of it is taken away for a moment when a run is cut short, and the logo stays broken. And
# with a Material icon the browser would ask a foreign host.
ICON = f"data:image/png;base64,{base64.b64encode((HERE / 'pages' / 'icon.png').read_bytes()).decode()}"

ended_sessions.mark_connected()
st.set_page_config(
    page_title="LayoutScope",
    page_icon=ICON,
    layout="wide",
    initial_sidebar_state=248,
)
st.html(HERE / "pages" / "app.css")
st.logo(ICON, size="medium")
# Before the navigation: for a reader who has to log in nothing below runs.
login.require_access()

page = st.navigation(
    [
        st.Page(HERE / "pages" / "overview.py", title="Overview", icon=":material/dashboard:", default=True),
        st.Page(HERE / "pages" / "page_browser.py", title="Page browser", icon=":material/find_in_page:"),
        st.Page(HERE / "pages" / "gallery.py", title="Gallery", icon=":material/grid_view:"),
        st.Page(HERE / "pages" / "compare.py", title="Compare", icon=":material/compare:"),
        st.Page(HERE / "pages" / "models.py", title="Models", icon=":material/leaderboard:"),
        st.Page(HERE / "pages" / "slices.py", title="Slices", icon=":material/troubleshoot:"),
        st.Page(HERE / "pages" / "pixel_confusion.py", title="Pixel confusion", icon=":material/grid_on:"),
        st.Page(HERE / "pages" / "fields.py", title="Fields", icon=":material/ballot:"),
        st.Page(HERE / "pages" / "posters.py", title="Posters", icon=":material/article:"),
        st.Page(HERE / "pages" / "suspects.py", title="Suspected ground truth", icon=":material/fact_check:"),
        st.Page(HERE / "pages" / "findings.py", title="Findings", icon=":material/rate_review:"),
        st.Page(HERE / "pages" / "review_pack.py", title="Review pack", icon=":material/description:"),
        st.Page(HERE / "pages" / "files.py", title="Files", icon=":material/folder_open:"),
    ],
    # All of them: Streamlit folds the last ones away when there are more than twelve.
    expanded=True,
)
navigation.open_first_view_with_data(page)
navigation.mute_empty_views()
place = st.empty()
page.run()
if state.said_of_findings:
    # Read while the view was drawn.
    place.warning(frame.escaped(state.said_of_findings), icon=":material/warning:")
frame.follow_theme()
