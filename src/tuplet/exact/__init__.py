"""Exact solutions: every position of a small 2048, valued by dynamic programming."""

from tuplet.exact.solution import Solution
from tuplet.exact.solve import solve

__all__ = ["Solution", "solve"]
