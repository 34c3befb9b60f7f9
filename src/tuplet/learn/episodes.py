"""Learning from a recorded game."""

from __future__ import annotations

import numpy as np

from tuplet.games.g2048.episode import Episode, Slide
from tuplet.games.g2048.rules import view
from tuplet.learn.settings import Learning, Settings
from tuplet.learn.td import AHEAD, Learner, learn_backward, learn_forward
from tuplet.values.network import Network


def learn_from(
    net: Network, episode: Episode | str, *, alpha: float = 0.1, order: Learning = "backward"
) -> None:
    """Update a network by one finished episode (or its text), as training does after a game."""
    if isinstance(episode, str):
        episode = Episode.parse(episode)
    Settings(alpha=alpha, order=order, games=1)  # refuses what makes no sense
    states = net.target == "state"
    boards, rewards = [], []
    for board, action in episode.replay():
        if isinstance(action, Slide):
            boards.append(view(*(board if states else board.move(action.move)[0]).words))
            rewards.append(action.reward)
    path, gains = np.array(boards, np.uint64), np.array(rewards, np.uint32)
    learner = Learner(np.float32(alpha), np.float32(net.gamma), order == "forward")
    if order == "forward":
        learn_forward(net.tables, learner, states, path, gains, len(path))
    else:
        ring = np.zeros(AHEAD * net.m, np.uint64)
        learn_backward(net.tables, learner, states, path, gains, len(path), ring)
