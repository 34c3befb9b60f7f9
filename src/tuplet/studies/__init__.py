"""Experiments that can be rerun by name: a study is a module whose `run` returns a `Report`."""
