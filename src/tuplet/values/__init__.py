"""Learned values: n-tuple networks, their patterns, symmetries and tables."""

from tuplet.values.network import Network
from tuplet.values.patterns import NETWORKS

__all__ = ["NETWORKS", "Network"]
