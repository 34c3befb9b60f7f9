"""Learned values of 2048: n-tuple networks, their patterns and tables, and files of weights."""
