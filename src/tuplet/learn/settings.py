"""A training run's settings: its command line, its `config.toml`, its documentation."""

from __future__ import annotations

import json
import math
import re
import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from tuplet.formats.files import replacing
from tuplet.games.g2048.rules import as_share
from tuplet.kernel import as_seed
from tuplet.values.network import Target

Learning = Literal["backward", "forward"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a network is trained. Games and budget are where to stop: whichever comes first."""

    net: str = "4x6"
    learner: Literal["td"] = "td"
    target: Target = "afterstate"
    alpha: float = 0.1
    gamma: float = 1.0
    initial: float = 0.0
    order: Learning = "backward"
    spawn4: float = 0.1
    games: int | None = None
    budget: float | None = None  # seconds
    threads: int = 1
    seed: int = 0
    block: int = 1000  # games to a line of metrics
    checkpoint: float = 300.0  # seconds between checkpoints

    def __post_init__(self) -> None:
        def check(sound: bool, text: str) -> None:
            if not sound:
                raise ValueError(text)

        for name in ("games", "threads", "seed", "block"):
            number = getattr(self, name)
            whole = isinstance(number, int) and not isinstance(number, bool)
            check(whole or (number is None and name == "games"), f"{name} is a whole number")
        for name in ("alpha", "gamma", "initial", "spawn4", "checkpoint"):
            check(isinstance(getattr(self, name), int | float), f"{name} is a number")
        check(isinstance(self.net, str), "net is a network's name or its tuples")
        check(self.learner == "td", f"the learner is td, not {self.learner!r}")
        check(
            math.isfinite(self.alpha) and 0 < self.alpha <= 1,
            f"the learning rate alpha is above 0 and at most 1, not {self.alpha}",
        )
        check(0 <= self.gamma <= 1, f"the discount gamma is between 0 and 1, not {self.gamma}")
        check(math.isfinite(self.initial), f"the initial value is a number, not {self.initial}")
        check(
            self.order in ("backward", "forward"),
            f"the order of updates is backward or forward, not {self.order!r}",
        )
        check(
            self.target in ("afterstate", "state"),
            f"the target is afterstate or state, not {self.target!r}",
        )
        as_share(self.spawn4)
        check(
            self.games is not None or self.budget is not None,
            "say when to stop: a number of games or a budget of time",
        )
        check(self.games is None or self.games > 0, f"games must be positive, not {self.games}")
        check(
            self.budget is None
            or (isinstance(self.budget, int | float) and 0 < self.budget < math.inf),
            f"the budget must be a positive time, not {self.budget}",
        )
        check(1 <= self.threads <= 256, f"threads are 1 to 256, not {self.threads}")
        as_seed(self.seed)
        check(self.block > 0, f"a block has at least one game, not {self.block}")
        check(self.checkpoint > 0, f"checkpoints are apart, not every {self.checkpoint} s")

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
