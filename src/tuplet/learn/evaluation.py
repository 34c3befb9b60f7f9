"""Fresh games during training: how good is what was learned so far, played without learning?

They are no part of the training: it learns the same with and without them, and its clock stands
meanwhile. Their luck depends on the run's seed and on how many games it has learned from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tuplet.errors import UserError
from tuplet.games.g2048.rules import rules_for
from tuplet.games.g2048.statistics import Results, account, score_interval
from tuplet.kernel import stream
from tuplet.learn.self_play import play_greedily
from tuplet.system.blocks import ordered_map
from tuplet.system.progress import Progress, Watcher
from tuplet.system.settings import parse_duration
from tuplet.system.stop import Stop
from tuplet.values.network import Network

T = TypeVar("T")
BLOCK = 25  # games that a thread plays before it looks whether to stop
MOST = 10**7


class EvaluationPlan(NamedTuple):
    """How many fresh games are played, and how often."""

    games: int
    every: float
    timed: bool  # every so many seconds, not games

    def turn(self, games: int, elapsed_s: float) -> int:
        """How many times they should have been played by then."""
        return int((elapsed_s if self.timed else games) // self.every)


def parse_evaluate(text: str) -> EvaluationPlan | None:
    """What `--evaluate` says; None for nothing.

    >>> parse_evaluate("1000@10m")
    EvaluationPlan(games=1000, every=600.0, timed=True)
    >>> parse_evaluate("200@5000")
    EvaluationPlan(games=200, every=5000.0, timed=False)
    """
    if not text:
        return None
    many, _, often = (part.strip().replace("_", "") for part in text.partition("@"))
    timed = not often.isdecimal()
    try:
        every = parse_duration(often) if timed else float(often)
        if 2 <= int(many) <= MOST and 0 < every < math.inf:
            return EvaluationPlan(int(many), every, timed)
    except ValueError:
        pass
    raise UserError(
        "fresh games are asked for as 1000@10m, a thousand every ten minutes, or 200@5000, two "
        f"hundred every 5,000 games, not {text!r}"
    )


def fresh_games(
    net: Network, games: int, *, seed: int, learned: int, threads: int, stop: Stop, watch: Watcher
) -> dict[str, Any] | None:
    """Play so many games on what was learned so far; None if told to stop before the last.

    Returns what a line of metrics says of them: how many, mean score and its 95 % interval, the
    best, and shares by tile.
    """
    luck = np.uint64(stream(~np.uint64(seed), np.uint64(learned)))  # not that of training
    return greedy_statistics(net, games, luck, threads=threads, stop=stop, watch=watch)


def greedy_statistics(
    net: Network, games: int, luck: np.uint64, *, threads: int, stop: Stop, watch: Watcher
) -> dict[str, Any] | None:
    """The same for games of this seed: those that `evaluate` plays with it."""
    rules = rules_for(*net.size, net.spawn4)
    unread = np.isnan(net.weights) if net.stages else None
    blocks = ((net, rules, luck, n, min(BLOCK, games - n)) for n in range(0, games, BLOCK))
    parts: list[Results] = []

    def look(_: object) -> None:
        done = sum(len(part.scores) for part in parts)
        watch(Progress("fresh games", done, games))

    for part in ordered_map(play_greedily, blocks, threads=threads, stop=stop, on_tick=look):
        parts.append(part)
    if unread is not None:
        net.weights[unread] = np.nan  # a stage that is read takes over weights: too early
    if sum(len(part.scores) for part in parts) < games:
        return None
    results = Results(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    ci95 = score_interval([float(score) for score in results.scores])
    return {"games": games, **account(results), "ci95": list(ci95)}


def latest(told: Sequence[T], metrics: Sequence[Mapping[str, Any]]) -> T | None:
    """The last fresh games: of those that no line of metrics tells of yet, or of the lines."""
    lines = (line["evaluations"] for line in reversed(metrics) if line.get("evaluations"))
    found: Sequence[T] = told or next(lines, ())
    return found[-1] if found else None
