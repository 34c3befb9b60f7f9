#!/usr/bin/env python3
"""What is an n-tuple network worth? A deep network learns 2048 by PPO, then tuplet by TD, for equal time.

    pip install 'tuplet[gym,pictures]' stable-baselines3 sb3-contrib
    python examples/ppo.py --minutes 10

PPO is MaskablePPO of sb3-contrib, on 256 boards of tuplet at once, as one-hot planes, legal moves only.
Its network is two layers of 2x2 convolutions and one of 128 units. It prints a table, and draws
the learning curves to ppo.svg (--out). docs/gymnasium.md has the results of five minutes.
"""

import argparse
import time

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

import tuplet


class Boards(VecEnv):
    """tuplet's vector environment in the interface of stable-baselines3: lists of infos, masks by name."""

    def __init__(self, count, seed):
        self.envs = gymnasium.make_vec(
            "tuplet.adapters.gym:tuplet/2048-v1", count, observation="onehot", reward="log", autoreset_mode="SameStep"
        )
        super().__init__(count, self.envs.single_observation_space, self.envs.single_action_space)
        self.first, self.scores = seed, []

    def reset(self):
        """New games on all boards."""
        seen, infos = self.envs.reset(seed=self.first)
        self.masks = infos["action_mask"]
        return seen

    def step_async(self, actions):
        """Keep the moves for `step_wait`."""
        self.actions = actions

    def step_wait(self):
        """Make the moves, and record the scores of finished games."""
        seen, rewards, ended, _, infos = self.envs.step(self.actions)
        self.masks, told = infos["action_mask"], [{} for _ in ended]
        for board in np.flatnonzero(ended):
            told[board]["terminal_observation"] = infos["final_obs"][board]
            self.scores.append(int(infos["final_info"]["score"][board]))
        return seen, rewards, ended, told

    def env_method(self, name, *_, indices=None, **__):
        """The masks of legal moves, for MaskablePPO."""
        if name != "action_masks":
            raise AttributeError(name)
        return list(self.masks.astype(bool))

    def has_attr(self, name):
        """Whether the boards have this attribute."""
        return name == "action_masks"

    def get_attr(self, name, indices=None):
        """No render mode."""
        if name != "render_mode":
            raise AttributeError(name)
        return [None] * self.num_envs

    def set_attr(self, name, value, indices=None):
        """Attributes cannot be set."""
        raise AttributeError(name)

    def env_is_wrapped(self, wrapper_class, indices=None):
        """No board is wrapped."""
        return [False] * self.num_envs

    def close(self):
        """Stop the threads."""
        self.envs.close()


class Convolutions(BaseFeaturesExtractor):
    """Looks at neighbouring cells together, as a tuple does, but with shared weights."""

    def __init__(self, space):
        super().__init__(space, features_dim=128)
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(space.shape[0], 64, 2),
            torch.nn.ReLU(),
            torch.nn.Conv2d(64, 64, 2),
            torch.nn.ReLU(),
            torch.nn.Flatten(),
            torch.nn.Linear(64 * 2 * 2, 128),
            torch.nn.ReLU(),
        )

    def forward(self, seen):
        """The features of boards."""
        return self.layers(seen)


class Clock(BaseCallback):
    """Stops when the time is up, and records the mean score of finished games."""

    def __init__(self, boards, seconds):
        super().__init__()
        self.boards, self.seconds, self.curve = boards, seconds, []

    def _on_training_start(self):
        self.began = time.monotonic()

    def _on_step(self):
        return time.monotonic() - self.began < self.seconds

    def _on_rollout_end(self):
        if len(scores := self.boards.scores) >= 1000:
            passed, mean = time.monotonic() - self.began, float(np.mean(scores))
            self.curve.append((passed, mean))
            print(f"{passed:6.0f} s  {self.num_timesteps:12,} moves  mean score {mean:8,.0f}")
            scores.clear()


class Player:
    """The learned policy as a player of tuplet: its most probable legal move."""

    def __init__(self, model, planes):
        self.model, self.planes = model, planes

    def choose(self, board):
        """A move."""
        exponents = np.reshape(board.exponents, (4, 4))
        seen = (np.arange(self.planes)[:, None, None] == exponents).astype(np.uint8)
        moves = ("up", "right", "down", "left")
        mask = np.isin(moves, board.legal_moves())
        return moves[int(self.model.predict(seen, action_masks=mask, deterministic=True)[0])]


def learn_by_ppo(seconds, seed):
    """The learner after so many seconds, and its curve."""
    boards = Boards(256, seed)
    model = MaskablePPO(
        "MlpPolicy",
        VecNormalize(boards, norm_obs=False, gamma=0.997),
        gamma=0.997,
        gae_lambda=0.95,
        n_steps=64,
        batch_size=2048,
        n_epochs=3,
        learning_rate=5e-4,
        ent_coef=0.005,
        seed=seed,
        device="cpu",
        policy_kwargs={"features_extractor_class": Convolutions, "net_arch": [64], "activation_fn": torch.nn.ReLU},
    )
    clock = Clock(boards, seconds)
    model.learn(10**12, callback=clock)
    return model, clock.curve


def moves_of(run):
    """How many moves a run has learned from."""
    before, moves = 0, 0
    for block in run.metrics:
        moves += (block["games"] - before) * block["mean_moves"]
        before = block["games"]
    return round(moves)


def main():
    """Learn twice, measure, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10, help="of each [default: 10]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="ppo.svg", help="the picture")
    asked = parser.parse_args()
    seconds = 60 * asked.minutes

    model, curve = learn_by_ppo(seconds, asked.seed)
    run = tuplet.train(budget=seconds, seed=asked.seed, threads=torch.get_num_threads())
    player = Player(model, model.observation_space.shape[0])
    figure, axes = plt.subplots(figsize=(7, 4))
    for name, points, judged, moves, games in (
        ("PPO, convolutions", curve, player, model.num_timesteps, 200),
        (
            f"TD, n-tuple network {run.method.net}",
            [(m["elapsed_s"], m["mean_score"]) for m in run.metrics],
            run.network,
            moves_of(run),
            1000,
        ),
    ):
        told = tuplet.evaluate(judged, games=games, seed=asked.seed)
        print(
            f"{name}: {moves:,} moves learned from; mean score {told.summary.mean_score:,.0f} "
            "({:,.0f} - {:,.0f})".format(*told.ci95),
            f"in {games:,} games, 2048 in {told.summary.reached.get(2048, 0):.1%} of them",
        )
        axes.plot([x / 60 for x, _ in points], [y for _, y in points], label=name)
    axes.set(xlabel="minutes of learning", ylabel="mean score", xscale="log", yscale="log")
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    figure.savefig(asked.out, bbox_inches="tight")


if __name__ == "__main__":
    main()
