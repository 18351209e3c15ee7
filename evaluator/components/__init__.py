"""The parts that run in the browser: a folder each with its structs, what fills them, its script and its style."""
