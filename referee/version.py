"""The version of the referee, as it stands in the package, in hello and in --version."""

__version__ = "0.1.0"
