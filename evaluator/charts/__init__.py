"""Charts: result columns to Altair, in one theme for light and dark; one module per family of charts."""
