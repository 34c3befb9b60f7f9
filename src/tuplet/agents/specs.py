"""Texts such as `mcts:ucb=tuned,c=0.6,sims=20000`: a name, and settings of a dataclass."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, TypeVar, get_args, get_type_hints

T = TypeVar("T")


def split_spec(spec: str) -> tuple[str, str]:
    """The name of a spec and its settings."""
    name, _, settings = spec.partition(":")
    return name.strip(), settings.strip()


def from_settings(kind: type[T], settings: str, spec: str) -> T:
    """A dataclass made from `name=value,...`; ValueError says what is wrong and what there is."""
    hints = get_type_hints(kind)
    known = [f.name for f in fields(kind) if f.init]  # type: ignore[arg-type]  # a dataclass
    values: dict[str, Any] = {}
    for word in filter(None, settings.split(",")):
        name, equals, text = (part.strip() for part in word.partition("="))
        if not equals or name not in known:
            raise ValueError(f"{spec}: {word!r} is no setting; there are {', '.join(known)}")
        if name in values:
            raise ValueError(f"{spec}: {name} is set twice")
        values[name] = _value(hints[name], name, text, spec)
    return kind(**values)


def _value(hint: Any, name: str, text: str, spec: str) -> Any:
    """A setting's text as what the field's type says."""
    choices = [c for c in get_args(hint) if isinstance(c, str)]
    kinds = get_args(hint) or (hint,)
    if choices:
        if text in choices:
            return text
        raise ValueError(f"{spec}: {name} is one of {', '.join(choices)}")
    if bool in kinds:
        if text in ("yes", "no"):
            return text == "yes"
        raise ValueError(f"{spec}: {name} is yes or no")
    if str in kinds:
        return text
    wanted = "a number" if float in kinds else "a whole number"
    try:
        number = float(text) if float in kinds else int(text)
    except ValueError:
        raise ValueError(f"{spec}: {name} is {wanted}, not {text!r}") from None
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"{spec}: {name} is {wanted}, 0 or more, not {text}")
    return number
