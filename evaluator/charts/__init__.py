"""Charts: result columns to Vega-Lite, in one theme for light and dark; one module per family of charts."""
