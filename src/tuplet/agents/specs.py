"""Texts that name players: `mcts:ucb=tuned,sims=20000`, `mine:Snake,depth=2`, a path; and who typed
them.

What a person types is trusted: a plain text that a public function is given. What comes over a
network or out of a file is a `Spec`, which is not trusted unless it says so: it can name neither a
program nor a class, nor a path outside a folder that is given.
"""

from __future__ import annotations

import inspect
import pickle
import re
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from tuplet.errors import UserError
from tuplet.system.settings import MOST, values_from_text
from tuplet.system.user_code import find, locate_error, may_trust

# A module or a file, a class, and its settings. A file's name may have commas; what looks like
# `mcts:ucb=mine.py:Bandit` is a setting of somebody else.
_OWN = re.compile(
    r"(?!exec[:\[])(?!\w+:\w+=)(?P<class>(?:[^\W\d]\w*(?:\.[^\W\d]\w*)*|.+?\.py):[^\W\d]\w*)"
    r"(?:,(?P<settings>.*))?"
)
# Agents of other libraries, and the module that makes them.
ADAPTERS = {"openspiel": "tuplet.adapters.openspiel_agent"}
AGENTS = ("easy", "random", "alphabeta", "mcs", "mcts", "normal", "hard", "best")  # for two players
NAMES = (
    "easy, alphabeta, mcs, mcts, openspiel:bot=mcts, module:Class, file.py:Class; of EWN also "
    "normal, hard, best, and exec:PROGRAM"
)
# Names that belong to one game, to say so where they are used for another.
OF_EWN = ("normal", "hard", "best")
OF_2048 = ("small", "strong", "greedy", "expectimax")
_PLAIN = (int, float, bool, str)


class Spec(NamedTuple):
    """A text that names a player, and how far it is trusted; taken wherever a name is.

    Not trusted, it may name paths in `folder` alone, and none without one.
    """

    text: str
    trusted: bool = False
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
        """Whether it has the form module:Class or file.py:Class, perhaps with settings behind."""
        return _OWN.fullmatch(self.text) is not None

    @property
    def is_program(self) -> bool:
        """Whether it has the form exec:PROGRAM, perhaps with settings in brackets."""
        return self.text.startswith(("exec:", "exec["))

    def check_agent(self, game: str) -> None:
        """Raise ValueError if no agent of a game for two is called so; imports none of them."""
        if self.name in AGENTS or self.name in ADAPTERS or self.is_class or self.is_program:
            return
        if self.name in OF_2048:
            raise UserError(f"{self.name} plays 2048, not {game}; agents are {NAMES}")
        raise UserError(f"{self.text!r} is not an agent: {NAMES}")

    def needs_trust(self, what: str) -> None:
        """Raise ValueError if it is not trusted."""
        if not self.trusted:
            raise UserError(f"{self.text!r}: {what} cannot be named from here")

    def path(self, text: str) -> Path:
        """A path that it names; ValueError where it leads outside the folder."""
        from tuplet.values.players import DEFAULT_PLAYER, is_bundled

        # A run's name comes before a player's, but for the one who plays where nobody is named.
        theirs = self.folder is not None and text != DEFAULT_PLAYER and Path(self.folder, text).exists()
        if self.trusted or (is_bundled(text) and not theirs):
            return Path(text)
        if self.folder is None:
            raise UserError(f"{self.text!r}: files cannot be named from here")
        folder = Path(self.folder).resolve()
        path = (folder / text).resolve()
        if not path.is_relative_to(folder):
            raise UserError(f"{self.text!r} is outside of the folder of runs")
        return path

    def make_user_class(self, method: str, argument: str, seed: int = 0) -> Any:
        """Anybody's class, made: from the folder the command was typed in."""
        self.needs_trust("a class")
        named = _OWN.fullmatch(self.text)
        assert named is not None  # `is_class` was asked
        kind, settings = find(named["class"], trusted=self.trusted), named["settings"] or ""
        return make_from_class(kind, self.text, method, argument, seed, settings)


def trusted(*named: Any) -> bool:
    """Whether none of them comes from somebody else: then a game may be code, too."""
    return all(each.trusted for each in named if isinstance(each, Spec))


def as_spec(spec: str | Spec) -> Spec:
    """A plain text was typed by the one who calls, except where a stranger is answered."""
    return spec if isinstance(spec, Spec) else Spec(spec, trusted=may_trust())


class Pickled(NamedTuple):
    """An object of one's own, or what makes one, on its way to another process."""

    data: bytes

    def unpickle(self) -> Any:
        """A copy of it."""
        return pickle.loads(self.data)  # of this program's own, like all that processes are sent


def as_pickled(named: Any) -> Any:
    """What names a player, as another process can take it, keep it, and know it again."""
    if isinstance(named, str):
        return as_spec(named)
    if named is None or isinstance(named, Spec | Pickled):
        return named
    import cloudpickle  # which also sends classes of a script or a notebook

    return Pickled(cloudpickle.dumps(named))


def make_from_class(kind: Any, name: str, method: str, argument: str, seed: int = 0, settings: str = "") -> Any:
    """An object of anybody's class (or what a function makes); ValueError if it is no player.

    `settings` are arguments of the class, as text; it is given the seed if it takes one.
    """
    if isinstance(kind, Pickled):
        return make_from_class(kind.unpickle(), name, method, argument, seed)
    if not isinstance(kind, type) and callable(getattr(kind, method, None)):  # made already
        if settings:
            raise UserError(f"{name}: an object has no settings, its class has")
        return kind
    try:
        values = _values(kind, name, settings, seed)
    except TypeError:
        raise UserError(f"{name} is not a class with a method {method}({argument})") from None
    try:
        own = kind(**values)
    except Exception as error:
        raise UserError(f"cannot make {name}: {locate_error(error)}") from None
    if not callable(getattr(own, method, None)):
        raise UserError(f"{name} has no method {method}({argument})")
    return own


def _values(kind: Any, name: str, settings: str, seed: int) -> dict[str, Any]:
    """What a class is made with: settings by their types, or those of their usual values."""
    known, others, hints = {}, False, _hints(kind)
    for each in inspect.signature(kind).parameters.values():
        others |= each.kind is each.VAR_KEYWORD
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            usual = type(each.default) if type(each.default) in _PLAIN else Any
            known[each.name] = hints.get(each.name, usual)
    values = values_from_text(known, settings, name, -MOST, others)
    seeded = "seed" in known and "seed" not in getattr(kind, "keywords", ())  # of a partial
    return {"seed": seed, **values} if seeded else values


def _hints(kind: Any) -> dict[str, Any]:
    """The types that a class, or a function, declares for what it takes; none if they are wrong."""
    try:
        return get_type_hints(kind.__init__ if isinstance(kind, type) else kind)  # type: ignore[misc]
    except Exception:  # names that are there for type checkers alone
        return {}


def name_of(player: object) -> str:
    """What a player, an agent or an environment is called."""
    return str(getattr(player, "name", type(player).__name__))


def label_of(named: Any, made: object) -> str:
    """The name that somebody was asked for by, or his own."""
    if isinstance(named, str | Spec):
        return named if isinstance(named, str) else named.text
    if isinstance(named, partial) and not named.args:
        settings = (f"{name}={value}" for name, value in named.keywords.items())
        return ",".join([name_of(made), *settings])
    return name_of(made)


def short_names(agents: list[str]) -> list[str]:
    """Agents by what tells them apart: of settings that all of a kind share, nothing is said.

    >>> short_names(["hard", "mcts:sims=300,c=0.5", "mcts:sims=300,c=1"])
    ['hard', 'mcts:c=0.5', 'mcts:c=1']
    """
    parts = [_parts(each) for each in agents]
    short = []
    for each, (kind, by, settings) in zip(agents, parts, strict=True):
        others = [set(more) for other, _, more in parts if other == kind]
        own = [word for word in settings if not all(word in more for more in others)]
        told = f"{kind}{by}{','.join(own)}" if own else kind
        short.append(each if len(others) == 1 or "=" not in each else told)
    return [each if short.count(told) > 1 else told for each, told in zip(agents, short, strict=True)]


def _parts(agent: str) -> tuple[str, str, list[str]]:
    """What kind of agent it is, the sign behind that, and its settings."""
    own = _OWN.fullmatch(agent)
    if own is not None:
        return own["class"], ",", (own["settings"] or "").split(",")
    kind, by, settings = agent.partition(":")
    return kind, by, settings.split(",")
