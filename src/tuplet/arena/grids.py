"""Grids of settings: texts with braces, and the points they stand for.

    mcts:ucb=ucb1,c={0.2,0.6,1.0}

has an axis `c` of three values. Several braces are the product of their axes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise, product
from typing import NamedTuple

from tuplet.errors import UserError

MOST_POINTS = 256
_NAME = re.compile(r"([\w.-]+)=[^,={}]*$")  # of the setting that a brace stands in


class Axis(NamedTuple):
    """A setting that is varied, and its values as texts."""

    name: str
    values: tuple[str, ...]

    @property
    def numbers(self) -> list[float] | None:
        """The values as numbers; None if they are words."""
        try:
            values = [float(value) for value in self.values]
        except ValueError:
            return None
        return values if all(map(math.isfinite, values)) else None

    @property
    def logarithmic(self) -> bool:
        """Whether its numbers are spaced like 1, 2, 4 rather than like 1, 2, 3."""
        values = sorted(self.numbers or [])
        if len(values) < 3 or values[0] <= 0:
            return False
        steps = [b - a for a, b in pairwise(values)]
        ratios = [math.log(b / a) for a, b in pairwise(values)]
        return max(ratios) / min(ratios) < max(steps) / min(steps)


class Template(NamedTuple):
    """A text with gaps, an axis each."""

    parts: tuple[str, ...]  # before, between and behind the gaps
    axes: tuple[Axis, ...]

    def filled(self, values: Sequence[str]) -> str:
        """The text with a value in every gap."""
        return "".join(part + value for part, value in zip(self.parts, (*values, ""), strict=True))


def template(text: str, what: str, prefix: str = "") -> Template:
    """A text whose braces are axes, named after their setting, or `what` where they have none.

    >>> template("mcts:c={0.5,1},sims=10", "agent").axes
    (Axis(name='c', values=('0.5', '1')),)
    """
    pieces = re.split(r"\{([^{}]*)\}", text)
    parts, inside = tuple(pieces[::2]), pieces[1::2]
    if any(brace in part for part in parts for brace in "{}"):
        raise UserError(f"{text}: a brace is not closed, or stands in another")
    axes: list[Axis] = []
    for before, values in zip(parts, inside, strict=False):
        named = _NAME.search(before)
        axes.append(axis(prefix + named[1] if named else what, values.split(",")))
    return Template(parts, tuple(axes))


def axis(name: str, values: Sequence[str]) -> Axis:
    """An axis; ValueError where it has no values, or one twice."""
    texts = tuple(value.strip() for value in values)
    twice = [value for value in texts if texts.count(value) > 1]
    if not all(texts) or twice or _equal_numbers(texts):
        twice = twice or _equal_numbers(texts)
        wrong = f"the value {twice[0]} twice" if all(texts) else "an empty value"
        raise UserError(f"{name} has {wrong}: leave it out")
    return Axis(name, texts)


def _equal_numbers(texts: Sequence[str]) -> list[str]:
    """Values that are the same number, written in two ways."""
    values = Axis("", tuple(texts)).numbers or []
    return [text for text, value in zip(texts, values, strict=False) if values.count(value) > 1]


def points_of(axes: Sequence[Axis], example: str = "c={0.5,1.0}") -> list[tuple[str, ...]]:
    """A value of every axis, for all points; the last axis changes first.

    `example` shows in the error message how to give a setting several values.
    """
    names = [each.name for each in axes]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UserError(f"{twice[0]} is varied twice: put all of its values into one brace")
    count = 1
    for each in axes:
        count *= len(each.values)
    if count < 2:
        raise UserError(f"nothing to sweep: give a setting several values, as in {example}")
    if count > MOST_POINTS:
        raise UserError(f"a sweep has up to {MOST_POINTS} points, not {count:,}")
    return [*product(*(each.values for each in axes))]


def label(axes: Sequence[Axis], values: Sequence[str]) -> str:
    """A point by what makes it differ from the others: c=0.6, sims=100."""
    return ", ".join(
        value if axis.name in ("agent", "opponent", "player") else f"{axis.name}={value}"
        for axis, value in zip(axes, values, strict=True)
    )
