"""The version of this package, in the one place that the build, the signature and the terminal read."""

__version__ = "0.2.0"
