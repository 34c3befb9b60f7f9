"""Texts that name agents: `mcts:ucb=tuned,sims=20000`, `mine:Snake,depth=2`, a path; and their trust.

A plain text passed to a public function was typed by a person, and is trusted. Text from a network or
a file is passed as a `Spec`, which is not trusted unless it says so: it can name neither a program nor
a class, nor a path outside its folder.
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

# A module or a file, a class, and its settings. A file's name may have commas; in
# `mcts:ucb=mine.py:Bandit` the class is a setting of another agent.
_OWN = re.compile(
    r"(?!exec[:\[])(?!\w+:\w+=)(?P<class>(?:[^\W\d]\w*(?:\.[^\W\d]\w*)*|.+?\.py):[^\W\d]\w*)"
    r"(?:,(?P<settings>.*))?"
)
_PLAIN = (int, float, bool, str)


class Spec(NamedTuple):
    """A text that names an agent, and whether it is trusted; accepted wherever a name is.

    If not trusted, it may name paths in `folder` only, and none without one.
    """

    text: str
    trusted: bool = False
    folder: str | Path | None = None

    @property
    def name(self) -> str:
        """The part before the colon."""
        return self.text.partition(":")[0].strip()

    @property
    def settings(self) -> str:
        """The part after the colon."""
        return self.text.partition(":")[2].strip()

    @property
    def is_class(self) -> bool:
        """Whether it has the form module:Class or file.py:Class, with or without settings."""
        return _OWN.fullmatch(self.text) is not None

    @property
    def is_program(self) -> bool:
        """Whether it has the form exec:PROGRAM, with or without settings in brackets."""
        return self.text.startswith(("exec:", "exec["))

    def needs_trust(self, what: str) -> None:
        """Raise UserError if it is not trusted."""
        if not self.trusted:
            raise UserError(f"{self.text!r}: {what} cannot be named from here")

    def path(self, text: str) -> Path:
        """A path that it names; UserError if it leads outside the folder."""
        from tuplet.values.players import DEFAULT_PLAYER, is_bundled

        # A run's name shadows a shipped player's, except the default player's.
        is_run = self.folder is not None and text != DEFAULT_PLAYER and Path(self.folder, text).exists()
        if self.trusted or (is_bundled(text) and not is_run):
            return Path(text)
        if self.folder is None:
            raise UserError(f"{self.text!r}: files cannot be named from here")
        folder = Path(self.folder).resolve()
        path = (folder / text).resolve()
        if not path.is_relative_to(folder):
            raise UserError(f"{self.text!r} is outside of the folder of runs")
        return path

    def make_user_class(self, method: str, argument: str, seed: int = 0) -> Any:
        """An object of the user's class that it names, from the current folder."""
        self.needs_trust("a class")
        named = _OWN.fullmatch(self.text)
        assert named is not None  # `is_class` was checked
        kind, settings = find(named["class"], trusted=self.trusted), named["settings"] or ""
        return make_from_class(kind, self.text, method, argument, seed, settings)


def trusted(*named: Any) -> bool:
    """Whether all of them are trusted: then a game may be code, too."""
    return all(each.trusted for each in named if isinstance(each, Spec))


def as_spec(spec: str | Spec) -> Spec:
    """A plain text is trusted, except while untrusted input is handled."""
    return spec if isinstance(spec, Spec) else Spec(spec, trusted=may_trust())


class Pickled(NamedTuple):
    """A user's object, class or function, on its way to another process."""

    data: bytes

    def unpickle(self) -> Any:
        """A copy of the object."""
        return pickle.loads(self.data)  # pickled by this program


def as_pickled(named: Any) -> Any:
    """What names an agent, in a form that can be sent, hashed and compared."""
    if isinstance(named, str):
        return as_spec(named)
    if named is None or isinstance(named, Spec | Pickled):
        return named
    import cloudpickle  # which also sends classes of a script or a notebook

    return Pickled(cloudpickle.dumps(named))


def make_from_class(kind: Any, name: str, method: str, argument: str, seed: int = 0, settings: str = "") -> Any:
    """An object of a user's class (or made by a function); UserError if it lacks `method`.

    `settings` are arguments of the class, as text; it is given the seed if it takes one.
    """
    if isinstance(kind, Pickled):
        return make_from_class(kind.unpickle(), name, method, argument, seed)
    if not isinstance(kind, type) and callable(getattr(kind, method, None)):  # an object
        if settings:
            raise UserError(f"{name}: an object takes no settings; name its class")
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
    """The arguments of a class: settings converted to their types, or to those of their defaults."""
    known, others, hints = {}, False, _hints(kind)
    for each in inspect.signature(kind).parameters.values():
        others |= each.kind is each.VAR_KEYWORD
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            default = type(each.default) if type(each.default) in _PLAIN else Any
            known[each.name] = hints.get(each.name, default)
    values = values_from_text(known, settings, name, -MOST, others)
    seeded = "seed" in known and "seed" not in getattr(kind, "keywords", ())  # of a partial
    return {"seed": seed, **values} if seeded else values


def _hints(kind: Any) -> dict[str, Any]:
    """The parameter types of a class or function; {} if they cannot be resolved."""
    try:
        return get_type_hints(kind.__init__ if isinstance(kind, type) else kind)  # type: ignore[misc]
    except Exception:  # names imported for type checkers only
        return {}


def name_of(agent: object) -> str:
    """The name of an agent or an environment."""
    return str(getattr(agent, "name", type(agent).__name__))


def label_of(named: Any, agent: object) -> str:
    """The text that named an agent, or else its own name."""
    if isinstance(named, str | Spec):
        return named if isinstance(named, str) else named.text
    if isinstance(named, partial) and not named.args:
        settings = (f"{name}={value}" for name, value in named.keywords.items())
        return ",".join([name_of(agent), *settings])
    return name_of(agent)


def short_names(agents: list[str]) -> list[str]:
    """Short names that distinguish agents: settings shared by all of a kind are left out.

    >>> short_names(["hard", "mcts:sims=300,c=0.5", "mcts:sims=300,c=1"])
    ['hard', 'mcts:c=0.5', 'mcts:c=1']
    """
    parts = [_parts(each) for each in agents]
    short = []
    for each, (kind, by, settings) in zip(agents, parts, strict=True):
        others = [set(more) for other, _, more in parts if other == kind]
        own = [word for word in settings if not all(word in more for more in others)]
        name = f"{kind}{by}{','.join(own)}" if own else kind
        short.append(each if len(others) == 1 or "=" not in each else name)
    return [each if short.count(name) > 1 else name for each, name in zip(agents, short, strict=True)]


def _parts(agent: str) -> tuple[str, str, list[str]]:
    """An agent's kind, the separator after it, and its settings."""
    own = _OWN.fullmatch(agent)
    if own is not None:
        return own["class"], ",", (own["settings"] or "").split(",")
    kind, by, settings = agent.partition(":")
    return kind, by, settings.split(",")
