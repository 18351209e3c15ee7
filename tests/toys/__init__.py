"""A protocol and a format that are not in the product, each one file: what adding one takes."""
