"""The evaluation core of LayoutScope; imports no Streamlit and works alone."""
