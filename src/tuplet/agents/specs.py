"""Texts that name players: `mcts:ucb=tuned,sims=20000` and `module:Class`."""

from __future__ import annotations

import importlib
import inspect
import sys
from dataclasses import fields
from typing import Any, TypeVar, get_args, get_type_hints

T = TypeVar("T")

MOST = 10**18  # kernels count with 64 bits


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
    if not 0 <= number <= MOST:  # nor is it nan
        raise ValueError(f"{spec}: {name} is {wanted}, 0 or more, not {text}")
    return number


def is_class(spec: str) -> bool:
    """Whether a text has the form module:Class."""
    module, colon, name = spec.partition(":")
    return (
        bool(colon)
        and name.isidentifier()
        and all(part.isidentifier() for part in module.split("."))
    )


def own_class(spec: str, method: str, argument: str, seed: int = 0) -> Any:
    """Anybody's class, made: `module:Class`, from the folder the command was typed in."""
    module_name, _, class_name = spec.partition(":")
    if "" not in sys.path:  # the folder the command was typed in, as `python -m` has it
        sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise ValueError(f"cannot import {module_name}: {type(error).__name__}: {error}") from None
    made = getattr(module, class_name, None)
    if made is None:
        raise ValueError(f"module {module_name} has no class {class_name}")
    try:
        own = made(seed=seed) if "seed" in inspect.signature(made).parameters else made()
    except Exception as error:
        raise ValueError(f"cannot make {spec}: {type(error).__name__}: {error}") from None
    if not callable(getattr(own, method, None)):
        raise ValueError(f"{spec} has no method {method}({argument})")
    return own
