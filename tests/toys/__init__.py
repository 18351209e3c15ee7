"""A format, a protocol and a view that are not in the product, each one file: templates of what adding one takes."""
