"""A training run's settings: its command line, its `config.toml`, its documentation."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tuplet.formats.files import replacing
from tuplet.games.g2048.rules import as_share
from tuplet.kernel import as_seed
from tuplet.learn.td import Learner
from tuplet.values.network import Network, Target, as_stages, usual_network
from tuplet.values.patterns import as_size

MOST_GAMES = 10**12
Learning = Literal["backward", "forward"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a network is trained. Games and budget are where to stop: whichever comes first.

    What is None is chosen to fit: alpha 1.0 for TC and 0.1 for TD, lambda 0.5 for TC from the end
    of a game and 0 otherwise, and the board's usual network.
    """

    board: str = "4x4"
    net: str | None = None
    stages: str = ""  # the tiles that tell a board's stage, such as "16384 8192"
    learner: Literal["tc", "td"] = "tc"
    target: Target = "afterstate"
    alpha: float | None = None
    schedule: str = "constant"  # how alpha changes: constant, linear, cosine, or "0.5:0.1 ..."
    gamma: float = 1.0
    lam: float | None = None  # lambda
    steps: int = 1  # n-step TD
    initial: float = 0.0
    delay: float = 0.0  # share of the run that is learned by TD before TC begins
    delay_alpha: float = 0.1  # the learning rate until then
    order: Learning = "backward"
    restart: bool = False  # learn also from the middle of each game on, again until short
    spawn4: float = 0.1
    games: int | None = None
    budget: float | None = None  # seconds
    threads: int = 1
    serial: int = 1000  # games before a second thread joins in (TC)
    seed: int = 0
    block: int = 1000  # games to a line of metrics
    checkpoint: float = 300.0  # seconds between checkpoints

    def __post_init__(self) -> None:
        def check(sound: bool, text: str) -> None:
            if not sound:
                raise ValueError(text)

        size = as_size(self.board)
        check(
            self.learner in ("td", "tc"),
            f"the learner is td or tc (temporal coherence), not {self.learner!r}",
        )
        check(
            self.order in ("backward", "forward"),
            f"the order of updates is backward or forward, not {self.order!r}",
        )
        coherent = self.learner == "tc"
        usual = {
            "net": usual_network(size) if self.net is None else self.net,
            "alpha": 1.0 if coherent else 0.1,
            "lam": 0.5 if coherent and self.order == "backward" and self.steps == 1 else 0.0,
        }
        for name, choice in usual.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, choice)

        for name in ("games", "threads", "serial", "seed", "block", "steps"):
            number = getattr(self, name)
            whole = isinstance(number, int) and not isinstance(number, bool)
            check(whole or (number is None and name == "games"), f"{name} is a whole number")
        shares = ("gamma", "lam", "delay", "spawn4")
        for name in ("alpha", "initial", "delay_alpha", "checkpoint", *shares):
            check(isinstance(getattr(self, name), int | float), f"{name} is a number")
        check(isinstance(self.net, str), "net is a network's name or its tuples")
        as_stages(self.stages)
        for name in ("alpha", "delay_alpha"):
            rate = getattr(self, name)
            check(
                math.isfinite(rate) and 0 < rate <= 1,
                f"the learning rate {name} is above 0 and at most 1, not {rate}",
            )
        check(0 <= self.gamma <= 1, f"the discount gamma is between 0 and 1, not {self.gamma}")
        check(0 <= (self.lam or 0) <= 1, f"lambda is between 0 and 1, not {self.lam}")
        check(0 <= self.delay < 1, f"the delay of TC is a share of the run, not {self.delay}")
        check(
            not self.delay or coherent, "a delay is the share of a run before TC: take --learner tc"
        )
        check(1 <= self.steps <= 1000, f"n-step TD has 1 to 1000 steps, not {self.steps}")
        check(
            self.steps == 1 or self.lam == 0,
            "n-step TD and lambda are two ways to look further ahead: leave out one",
        )
        check(
            self.order == "backward" or self.lam == 0,
            "lambda is learned from the end of a game: leave out --order forward (or take --steps)",
        )
        check(
            self.order == "backward" or not self.restart,
            "a game is restarted after it was learned from its end: leave out --order forward",
        )
        check(
            abs(self.initial) <= 1e9, f"the initial value is a number up to 1e9, not {self.initial}"
        )
        schedule_of(self.schedule)
        check(
            self.target in ("afterstate", "state"),
            f"the target is afterstate or state, not {self.target!r}",
        )
        as_share(self.spawn4)
        check(
            self.games is not None or self.budget is not None,
            "say when to stop: a number of games or a budget of time",
        )
        check(
            self.games is None or 0 < self.games <= MOST_GAMES,
            f"games are 1 to {MOST_GAMES:,}, not {self.games}",
        )
        check(
            self.budget is None
            or (isinstance(self.budget, int | float) and 0 < self.budget < math.inf),
            f"the budget must be a positive time, not {self.budget}",
        )
        check(1 <= self.threads <= 256, f"threads are 1 to 256, not {self.threads}")
        check(self.serial >= 0, f"serial games are 0 or more, not {self.serial}")
        as_seed(self.seed)
        check(self.block > 0, f"a block has at least one game, not {self.block}")
        check(self.checkpoint > 0, f"checkpoints are apart, not every {self.checkpoint} s")

    @property
    def method(self) -> str:
        """TD(0), TC(0.5), or 3-step TD."""
        name = self.learner.upper()
        return f"{name}({self.lam:g})" if self.steps == 1 else f"{self.steps}-step {name}"

    def network(self) -> Network:
        """A new network to be trained so."""
        net = Network(
            self.net, board=self.board, stages=self.stages, initial=self.initial,
            target=self.target, gamma=self.gamma, spawn4=self.spawn4,
        )  # fmt: skip
        if self.learner == "tc":
            net.remember_updates()
        return net

    def learner_at(self, progress: float) -> Learner:
        """How to learn when this share of the run is done."""
        assert self.alpha is not None
        assert self.lam is not None
        delayed = self.learner == "tc" and progress < self.delay
        alpha = self.delay_alpha if delayed else self.alpha
        return Learner(
            np.float32(alpha * schedule_of(self.schedule)(progress)),
            np.float32(self.gamma), self.order == "forward",
            self.learner == "tc" and not delayed,
            np.float32(self.lam), self.steps, self.restart,
        )  # fmt: skip

    def save(self, path: Path) -> None:
        """Write `config.toml`."""
        lines = [f"{k} = {json.dumps(v)}" for k, v in asdict(self).items() if v is not None]
        with replacing(path) as file:
            file.write(("\n".join(lines) + "\n").encode())

    @staticmethod
    def load(path: Path) -> Settings:
        """Read `config.toml`."""
        try:
            values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not sound: {error}") from None
        unknown = set(values) - {field.name for field in fields(Settings)}
        if unknown:
            raise ValueError(f"{path} has unknown settings: {', '.join(sorted(unknown))}")
        try:
            return Settings(**values)
        except TypeError as error:
            raise ValueError(f"{path} is not sound: {error}") from None


def schedule_of(text: str) -> Callable[[float], float]:
    """What alpha is multiplied by when a share of the run is done.

    "constant", "linear" (to 0), "cosine" (to 0, slowly at both ends), or steps "0.5:0.1 0.9:0.01":
    a tenth after half of the run, a hundredth after nine tenths.

    >>> schedule_of("0.5:0.1")(0.7)
    0.1
    """
    shapes: dict[str, Callable[[float], float]] = {
        "constant": lambda _: 1.0,
        "linear": lambda done: max(1 - done, 1e-3),
        "cosine": lambda done: max((1 + math.cos(math.pi * min(done, 1))) / 2, 1e-3),
    }
    if text in shapes:
        return shapes[text]
    try:
        steps = [tuple(map(float, step.split(":"))) for step in text.replace(",", " ").split()]
        sound = bool(steps) and all(
            len(step) == 2 and 0 <= step[0] <= 1 and 0 < step[1] <= 1 for step in steps
        )
    except (AttributeError, ValueError):
        sound = False
    if not sound:
        raise ValueError(
            f"a schedule is {', '.join(shapes)} or steps such as 0.5:0.1 (after half of the run a "
            f"tenth of alpha), not {text!r}"
        )
    return lambda done: next(
        (by for after, by in sorted(steps, reverse=True) if done >= after), 1.0
    )


_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(text: str) -> float:
    """A time such as 90s, 10m, 1.5h, or 1h30m, in seconds.

    >>> seconds("90"), seconds("1h30m")
    (90.0, 5400.0)
    """
    parts = re.findall(r"([0-9.]+)\s*([a-z]*)", text.strip().lower())
    if "".join(number + unit for number, unit in parts) == text.strip().lower().replace(" ", ""):
        try:
            total = sum(float(number) * _UNITS[unit] for number, unit in parts)
        except (KeyError, ValueError):
            total = 0.0
        if total > 0:
            return total
    raise ValueError(f"{text!r} is not a time: write it as 90s, 10m or 2h")
