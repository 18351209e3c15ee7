"""The views of the dashboard, one thin file each."""
