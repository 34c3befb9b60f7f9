"""Whoever wants to be told of a training: a logger, with any of four methods.

    on_begin(run)            before the first game; `run.method` and `run.limits` are its settings
    on_block(games, summary) after every block of games; `run.metrics[-1]` says more
    on_evaluation(told)      when fresh games were played
    on_end(run)              whatever ended it

What a logger raises ends the training, as a pruned trial of a search over settings does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tuplet.learn.training import Training

METHODS = ("on_begin", "on_block", "on_evaluation", "on_end")


@contextmanager
def logged(training: Training, loggers: Sequence[object]) -> Iterator[None]:
    """Let loggers be told of a training, besides those that it tells already."""
    for each in loggers:
        if not any(callable(getattr(each, name, None)) for name in METHODS):
            raise ValueError(f"{type(each).__name__} is no logger: it has none of {METHODS}")
    if loggers:
        training.on_block = _teller("on_block", loggers, training.on_block)
        training.on_evaluation = _teller("on_evaluation", loggers, training.on_evaluation)
    _teller("on_begin", loggers)(training.run)
    try:
        yield
    finally:
        _teller("on_end", loggers)(training.run)


def _teller(
    name: str, loggers: Sequence[object], first: Callable[..., object] | None = None
) -> Callable[..., None]:
    """What calls a method of each logger that has it."""
    methods = [first, *(getattr(each, name, None) for each in loggers)]

    def tell(*told: Any) -> None:
        for method in methods:
            if method is not None:
                method(*told)

    return tell
