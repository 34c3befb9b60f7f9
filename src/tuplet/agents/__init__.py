"""Names to players: "random", "greedy", "small", a run folder, a weight file, "mcts:sims=100",
"expectimax:depth=2,values=RUN", "module:Class".
"""

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
