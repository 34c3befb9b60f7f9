"""Recipes: named settings for learning 2048, and the one for a budget of time."""

from __future__ import annotations

from typing import Any, NamedTuple

from tuplet.errors import UserError
from tuplet.system.blocks import cores
from tuplet.system.settings import parse_duration


class Recipe(NamedTuple):
    """Settings that work well together, and when to use them."""

    when: str
    settings: dict[str, Any]


# TC's rates fall where updates cancel out, but values still tremble. A last tenth of the run with
# a tenth of alpha lets them settle: +3 to +5 % in mean score on 8x6 after 100,000 games.
_SETTLE = "0.9:0.1"

RECIPES = {
    "homework": Recipe(
        "TD(0) on 4x6, as in the course: to reproduce the reports, and as a baseline.", {"net": "4x6", "learner": "td"}
    ),
    "quick": Recipe(
        "TC with lambda 0.5 on 4x6, in whole games: half the memory of grown.",
        {"net": "4x6", "learner": "tc", "schedule": _SETTLE},
    ),
    "grown": Recipe(
        "4x6 at first, 8g after a quarter of the run; games are restarted from their middle.",
        {"net": "4x6", "grow": "0.25:8g", "learner": "tc", "restart": True, "schedule": _SETTLE},
    ),
    "strong": Recipe(
        "Like grown, and 12g after a third of the run: for ten minutes and more.",
        {"net": "4x6", "grow": "0.1:8g 0.35:12g", "learner": "tc", "restart": True, "schedule": _SETTLE},
    ),
    "small": Recipe(
        "Like quick, on 4x5: tables of 17 MB, to ship or for a small machine.",
        {"net": "4x5", "learner": "tc", "schedule": _SETTLE},
    ),
    "states": Recipe(
        "State values instead of after-state values: many times slower, for comparison.",
        {"net": "4x6", "learner": "tc", "target": "state"},
    ),
    "restart": Recipe(
        "Like quick, and each game is restarted from its middle: late boards are seen more often.",
        {"net": "4x6", "learner": "tc", "restart": True, "schedule": _SETTLE},
    ),
    "stages": Recipe(
        "8x6 with separate tables for boards with a 16384: for many hours and much memory.",
        {"net": "8x6", "learner": "tc", "stages": "16384", "schedule": _SETTLE},
    ),
    "optimistic": Recipe(
        "Optimistic TD, then TC for the last tenth (OTD+TC): pays off beyond ten million games (days).",
        {"net": "8x6", "learner": "tc", "initial": 320_000.0, "delay": 0.9, "lam": 0.0},
    ),
}

# The recipe for a budget of at least this many seconds. Measured on two cores after 1, 3, 10 and 30 minutes
# (docs/studies/leaderboard.md); the exact boundary is a guess.
BUDGETS = {0: "grown", 300: "strong"}


def for_budget(seconds: float) -> str:
    """The recipe that learns most in this time."""
    return next(name for start, name in reversed(BUDGETS.items()) if seconds >= start)


def choose(recipe: str | None, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a recipe, overridden by `settings`.

    Without a recipe, a budget of time picks one, unless the network or the learning rule is given.
    With a budget the result depends on the machine anyway, so all its cores are used.
    """
    if recipe is not None and recipe not in RECIPES:
        raise UserError(f"recipe must be one of {', '.join(RECIPES)} (got {recipe!r})")
    budget = settings.get("budget")
    if isinstance(budget, str):
        budget = parse_duration(budget, "budget")
    fixed = {"net", "grow", "board", "learner", "target", "stages", "initial", "delay", "order", "steps"}
    if settings.get("game", "2048") != "2048":
        if recipe is not None:
            raise UserError(f"recipes are for 2048: leave out --recipe to train {settings['game']}")
        return {**settings, **({"budget": budget} if budget is not None else {})}
    if recipe is None and budget is not None and not fixed & set(settings):
        recipe = for_budget(budget)
    own = dict(RECIPES[recipe].settings) if recipe is not None else {}
    if {"net", "board"} & set(settings):
        own.pop("grow", None)  # it grows the recipe's own network
    chosen = {**own, **settings}
    if budget is not None:
        chosen |= {"budget": budget, "threads": settings.get("threads", cores())}
    return chosen
