"""Exact solutions: every position of a small 2048, valued by dynamic programming."""
