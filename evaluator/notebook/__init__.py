"""The page viewer and the comparison in Jupyter, VS Code and Colab; the extra ``notebook`` installs what it needs."""
