"""Names to players: "random", "greedy", a run folder, a weight file, "module:Class"."""

from tuplet.agents.g2048 import (
    Environment,
    GreedyPlayer,
    LearnedPlayer,
    Player,
    RandomEnvironment,
    RandomPlayer,
    make_environment,
    make_player,
)

__all__ = [
    "Environment",
    "GreedyPlayer",
    "LearnedPlayer",
    "Player",
    "RandomEnvironment",
    "RandomPlayer",
    "make_environment",
    "make_player",
]
