"""The command that a run's settings become makes the same settings again."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from tuplet.cli import app
from tuplet.learn.recipes import choose
from tuplet.learn.run_command import setting_named, train_command
from tuplet.learn.settings import Method, RunOptions, split

SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("tuplet train --games=100000", {}),
    ("tuplet train --games=2000 --seed=3", {"games": 2000, "seed": 3}),
    ("tuplet train --net=5x4 --learner=td --games=2000", {"net": "5x4", "learner": "td", "games": 2000}),
    ("tuplet train --net='0123 4567' --lambda=0.25 --games=100000", {"net": "0123 4567", "lam": 0.25}),
    (
        "tuplet train --target=state --alpha=0.3 --order=forward --games=9",
        {"target": "state", "alpha": 0.3, "order": "forward", "games": 9},
    ),
    ("tuplet train --schedule=0.9:0.1 --restart --grow=0.25:8g --games=100000", {"recipe": "grown"}),
    ("tuplet train --net=5x4 --learner=tc --budget=60.0 --threads=1", {"net": "5x4", "budget": "60s", "threads": 1}),
    ("tuplet train ewn --games=500", {"game": "ewn", "games": 500}),
    ("tuplet train --board=3x3 --spawn4=0.5 --games=100000", {"game": "2048:board=3x3,spawn4=0.5"}),
]


def settings_of(words: list[str]) -> tuple[Method, RunOptions]:
    """What `tuplet train` makes of its words."""
    _, bound, _ = app.parse_args(words[1:], print_error=False, exit_on_error=False)
    given = {name: value for name, value in bound.arguments.items() if value is not None}
    return split(choose(given.pop("recipe", None), given))


@pytest.mark.parametrize(("command", "settings"), SETTINGS)
def test_the_command_is_short_and_makes_the_same_settings(command: str, settings: dict[str, Any]) -> None:
    settings = dict(settings)
    made = split(choose(settings.pop("recipe", None), settings))
    words = train_command(*made)
    assert sorted(words) == sorted(shlex.split(command))
    assert settings_of(words) == made


def test_options_are_named_as_on_the_command_line() -> None:
    assert setting_named("lambda") == "lam" and setting_named("delay-alpha") == "delay_alpha"
    assert setting_named("alpha") == "alpha" and setting_named("nothing") == "nothing"
