"""Temporal-difference learning: the kernels, the training loop, the run folder."""
