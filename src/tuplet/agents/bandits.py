"""Bandits of a tree search by what names them: a text, a class, or the bandit itself."""

from __future__ import annotations

from typing import Any, TypeVar

from tuplet.agents.specs import Spec
from tuplet.errors import UserError
from tuplet.search.bandits import BANDITS, KINDS
from tuplet.system.settings import from_text
from tuplet.system.user_code import find, names_code

T = TypeVar("T")


def search_from(kind: type[T], spec: Spec) -> T:
    """A search with the settings of a text; one that is not trusted cannot name a bandit's code."""
    if ":" in spec.settings:
        spec.needs_trust("a bandit")
    return from_text(kind, spec.settings, spec.text)


def bandit_from(ucb: Any, given: dict[str, float]) -> Any:
    """A bandit from its name, its class or itself; ValueError says what is wrong with it."""
    kind, name = ucb, ucb if isinstance(ucb, str) else getattr(ucb, "__name__", repr(ucb))
    if isinstance(ucb, str):
        # A stranger's text was refused above: what is left was typed, here or in Python.
        kind = find(ucb, trusted=True) if names_code(ucb) else BANDITS.get(ucb)
    if (kind if isinstance(kind, type) else type(kind)) not in KINDS:
        known = ", ".join(BANDITS)
        raise UserError(f"ucb must be one of {known}, or a registered bandit (got {name!r})")
    for setting in given:
        if setting not in kind._fields:
            has = " and ".join(kind._fields) or "no settings"
            raise UserError(f"{name} has no {setting}: it has {has}")
    return kind(**given) if isinstance(kind, type) else kind._replace(**given)


def name_of_bandit(bandit: Any, named: Any) -> str:
    """The name a bandit is registered by, else that which it was asked for by."""
    names = (name for name, kind in BANDITS.items() if kind is type(bandit))
    return next(names, named if isinstance(named, str) else type(bandit).__name__)
