"""Learning from a recorded game."""

from __future__ import annotations

from typing import Any

import numpy as np

from tuplet.games.g2048.episode import Episode, Slide
from tuplet.games.g2048.rules import view
from tuplet.learn.learners import learner_named
from tuplet.learn.settings import Method
from tuplet.learn.td import AHEAD, learn_backward, learn_forward
from tuplet.values.network import Network


def learn_from(net: Network, episode: Episode | str, **settings: Any) -> None:
    """Update a network by one finished episode (or its text), as training does after a game.

    By TD(0) with alpha 0.1, from the end, unless `Method` says otherwise: learner, alpha, lam,
    steps, order.
    """
    if isinstance(episode, str):
        episode = Episode.parse(episode)
    learner = learner_named(str(settings.pop("learner", "td")), trusted=True)
    method = Method(**{"learner": learner.name, "gamma": net.gamma, **settings})
    rule = method.hyperparameters_at(0.0)
    tables = net.tables_with_memory(learner.memory, learner.memory_per_weight)
    states = net.target == "state"
    boards, rewards = [], []
    for board, action in episode.replay():
        if isinstance(action, Slide):
            boards.append(view(*(board if states else board.move(action.move)[0]).packed))
            rewards.append(action.reward)
    path, gains = np.array(boards, np.uint64), np.array(rewards, np.uint32)
    if rule.forward:
        learn_forward(tables, rule, states, path, gains, len(path))
    else:
        ring = np.zeros(AHEAD * net.m, np.uint64)
        learn_backward(tables, rule, states, path, gains, len(path), ring)
