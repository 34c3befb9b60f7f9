"""tuplet: learning and search in two stochastic board games."""

__version__ = "0.1.0"
