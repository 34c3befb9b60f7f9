"""Whoever wants to be told of a training: a logger, with any of four methods.

    on_begin(run)            before the first game; `run.method` and `run.options` are its settings
    on_block(games, summary) after every block of games; `run.metrics[-1]` says more
    on_evaluation(told)      when fresh games were played
    on_end(run)              whatever ended it

What a logger raises, as a pruned trial of a search over settings does, ends the training: it is
saved as if it had been told to stop, and then raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from tuplet.errors import UserError
from tuplet.learn.training import Training

METHODS = ("on_begin", "on_block", "on_evaluation", "on_end")


def check_loggers(loggers: object) -> None:
    """Raise ValueError if one of them is none."""
    if not isinstance(loggers, Sequence):
        raise UserError(f"loggers is a list of them, not {loggers!r}")
    for each in loggers:
        told = any(callable(getattr(each, name, None)) for name in METHODS)
        if isinstance(each, type) or not told:
            name = each.__name__ if isinstance(each, type) else type(each).__name__
            raise UserError(f"{name} is no logger, an object with any of {', '.join(METHODS)}")


@contextmanager
def logged(training: Training, loggers: Sequence[object]) -> Iterator[None]:
    """Let loggers be told of a training, besides those that it tells already."""
    raised: list[Exception] = []

    def teller(name: str, first: Callable[..., object] | None) -> Callable[..., None]:
        methods = [first, *(getattr(each, name, None) for each in loggers)]

        def tell(*told: Any) -> None:
            for method in filter(None, methods):
                try:
                    method(*told)
                except Exception as error:  # whatever it is, it is not the training's
                    raised.append(error)
                    training.stop.set()

        return tell

    training.on_block = teller("on_block", training.on_block)
    training.on_evaluation = teller("on_evaluation", training.on_evaluation)
    with ExitStack() as ends:
        for each in loggers:
            if hasattr(each, "on_begin"):
                each.on_begin(training.run)
            if hasattr(each, "on_end"):
                ends.callback(each.on_end, training.run)
        yield
    if raised:
        training.stop.clear()  # it may be others', too
        raise raised[0]
