"""tuplet: learning and search in two stochastic board games.

>>> import tuplet
>>> net = tuplet.Network("5x4")
>>> run = tuplet.train(net, games=200, progress=False)
>>> net.best_move([2, 2, 0, 0] + 12 * [0]) in tuplet.MOVES
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tuplet.agents import (
        GreedyPlayer,
        LearnedPlayer,
        RandomEnvironment,
        RandomPlayer,
        make_player,
    )
    from tuplet.agents.ewn import make_agent
    from tuplet.arena.ewn import match, play_game, tournament
    from tuplet.arena.g2048 import Evaluation, evaluate, play_episode
    from tuplet.arena.review import Review, review
    from tuplet.exact import Solution, solve
    from tuplet.games.ewn import Position, Record
    from tuplet.games.g2048 import MOVES, Board, Episode
    from tuplet.learn.episodes import learn_from
    from tuplet.learn.run import Run
    from tuplet.learn.train import train
    from tuplet.values import NETWORKS, Network

# Where each name lives. They are imported when first used: `tuplet --help` must not wait for
# the compiler.
_HOMES = {
    "games.g2048": ["MOVES", "Board", "Episode"],
    "values": ["NETWORKS", "Network"],
    "learn.train": ["train"],
    "learn.run": ["Run"],
    "learn.episodes": ["learn_from"],
    "exact": ["Solution", "solve"],
    "agents": [
        "GreedyPlayer", "LearnedPlayer", "RandomEnvironment", "RandomPlayer", "make_player",
    ],
    "arena.g2048": ["Evaluation", "evaluate", "play_episode"],
    "arena.review": ["Review", "review"],
    "games.ewn": ["Position", "Record"],
    "agents.ewn": ["make_agent"],
    "arena.ewn": ["match", "play_game", "tournament"],
}  # fmt: skip

__all__ = [
    "MOVES",
    "NETWORKS",
    "Board",
    "Episode",
    "Evaluation",
    "GreedyPlayer",
    "LearnedPlayer",
    "Network",
    "Position",
    "RandomEnvironment",
    "RandomPlayer",
    "Record",
    "Review",
    "Run",
    "Solution",
    "evaluate",
    "learn_from",
    "make_agent",
    "make_player",
    "match",
    "play_episode",
    "play_game",
    "review",
    "solve",
    "tournament",
    "train",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"tuplet.{home}"), name)
    raise AttributeError(f"module 'tuplet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
