"""Texts that name players: `mcts:ucb=tuned,sims=20000`, `module:Class`, a path; and who typed them.

What a person types is trusted. What comes over a network is not: such a text can name neither a
program nor a class, nor a path outside a folder that is given.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, NamedTuple

from tuplet.system.own import find, names_code


class Spec(NamedTuple):
    """A text that names a player, and how far it is trusted; taken wherever a name is.

    Not trusted, it may name paths in `folder` alone, and none without one.
    """

    text: str
    trusted: bool = True
    folder: str | Path | None = None

    @property
    def name(self) -> str:
        """What stands before the colon."""
        return self.text.partition(":")[0].strip()

    @property
    def settings(self) -> str:
        """What stands behind it."""
        return self.text.partition(":")[2].strip()

    @property
    def is_class(self) -> bool:
        """Whether it has the form module:Class or file.py:Class."""
        return names_code(self.text)

    def needs_trust(self, what: str) -> None:
        """Raise ValueError if it is not trusted."""
        if not self.trusted:
            raise ValueError(f"{self.text!r}: {what} cannot be named from here")

    def path(self, text: str) -> Path:
        """A path that it names; ValueError where it leads outside the folder."""
        from tuplet.values.weights import is_shipped

        if self.trusted or is_shipped(text):
            return Path(text)
        if self.folder is None:
            raise ValueError(f"{self.text!r}: files cannot be named from here")
        folder = Path(self.folder).resolve()
        path = (folder / text).resolve()
        if not path.is_relative_to(folder):
            raise ValueError(f"{self.text!r} is outside of the folder of runs")
        return path

    def own_class(self, method: str, argument: str, seed: int = 0) -> Any:
        """Anybody's class, made: from the folder the command was typed in."""
        self.needs_trust("a class")
        made = find(self.text)
        return make_own(made, self.text, method, argument, seed)


def trusted(*named: Any) -> bool:
    """Whether none of them comes from somebody else: then a game may be code, too."""
    return all(each.trusted for each in named if isinstance(each, Spec))


def as_spec(spec: str | Spec) -> Spec:
    """A text is typed by a person, unless it says otherwise."""
    return spec if isinstance(spec, Spec) else Spec(spec)


def make_own(
    kind: Any, name: str, method: str, argument: str, seed: int = 0
) -> Any:  # fmt: skip
    """An object of anybody's class (or what a function makes); ValueError if it is no player."""
    try:
        seeded = "seed" in inspect.signature(kind).parameters
        own = kind(seed=seed) if seeded else kind()
    except Exception as error:
        raise ValueError(f"cannot make {name}: {type(error).__name__}: {error}") from None
    if not callable(getattr(own, method, None)):
        raise ValueError(f"{name} has no method {method}({argument})")
    return own


def name_of(player: object) -> str:
    """What a player, an agent or an environment is called."""
    return str(getattr(player, "name", type(player).__name__))


def short_names(agents: list[str]) -> list[str]:
    """Agents by what tells them apart: of settings that all of a kind share, nothing is said.

    >>> short_names(["hard", "mcts:sims=300,c=0.5", "mcts:sims=300,c=1"])
    ['hard', 'mcts:c=0.5', 'mcts:c=1']
    """
    parts = [(each.partition(":")[0], each.partition(":")[2].split(",")) for each in agents]
    short = []
    for each, (kind, settings) in zip(agents, parts, strict=True):
        others = [set(more) for other, more in parts if other == kind]
        own = [word for word in settings if not all(word in more for more in others)]
        told = f"{kind}:{','.join(own)}" if own else kind
        short.append(each if len(others) == 1 or "=" not in each else told)
    return [
        each if short.count(told) > 1 else told for each, told in zip(agents, short, strict=True)
    ]  # fmt: skip
