"""LayoutScope's dashboard: page settings, navigation and theme, nothing else."""

from pathlib import Path

import streamlit as st

from pages.app import address, ended_sessions, frame, help_menu, login, navigation, own_files, page_style
from pages.views.findings import findings

HERE = Path(__file__).resolve().parent

ended_sessions.mark_connected()
# The icon is in the page itself: a file of it is taken away for a moment when a run is cut short, and it stays broken.
# And with a Material icon the browser would ask a foreign host.
st.set_page_config(page_title="LayoutScope", page_icon=page_style.ICON, layout="wide")
# Before the navigation: for a reader who has to log in nothing below runs.
login.require_access()

page = st.navigation(navigation.pages(HERE / "pages"), position="top", expanded=True)
navigation.open_first_view_with_data(page)
navigation.mark_shown(page)
own_files.follow(page.url_path)
frame.sample_bar(lost=address.loses_uploads())
own_files.uploader()
with st.container(key="help"):
    with st.popover("?", key="help_popover"):
        help_menu.menu()
        login.foot()
    help_menu.tour()
place = st.empty()
if own_files.is_shown():
    own_files.draw()
else:
    page.run()
    own_files.said(page.url_path)
# Findings are read and saved while the view is drawn.
findings.draw_notices(place)
frame.follow_theme()
