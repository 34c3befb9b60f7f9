"""Settings, declared once as dataclass fields with their meaning, range and text.

The declaration gives the checks of Python arguments, the options of the command line with their help, the settings
behind an agent's name (`c=0.6,sims=20000`), and those of files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, fields
from functools import cache
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from tuplet.errors import UserError

T = TypeVar("T")

MOST = 10**18  # kernels count with 64 bits


def setting(
    default: Any,
    doc: str = "",
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    usual: str = "",  # the default in words, if it depends on other settings
    option: str = "",  # its name on the command line, if different
    hidden: bool = False,  # from the command line
    seconds: bool = False,  # a time, which may be given as "10m"
) -> Any:
    """A field of a dataclass of settings."""
    limits = {"least": least, "above": above, "most": most}
    about = {"doc": doc, "usual": usual, "option": option, "hidden": hidden, "seconds": seconds}
    return field(default=default, metadata={**limits, **about})


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def setting_fields(kind: type) -> Iterator[tuple[str, Any, Any]]:
    """Name, type and field of each setting."""
    for each in fields(kind):
        if each.init:
            yield each.name, _hints(kind)[each.name], each


def check(settings: Any) -> None:
    """Raise UserError if a setting has the wrong type or is out of range.

    Durations given as text become seconds, NumPy numbers become Python numbers.
    """
    for name, hint, each in setting_fields(type(settings)):
        value = getattr(settings, name)
        if getattr(value, "ndim", None) == 0:  # a NumPy number, which files do not take
            value = value.item()
            object.__setattr__(settings, name, value)
        if each.metadata.get("seconds") and isinstance(value, str):
            value = parse_duration(value, name)
            object.__setattr__(settings, name, value)
        if not (value is None and NoneType in _kinds(hint)):
            _check(name, _kinds(hint), value, each.metadata)


def _kinds(hint: Any) -> tuple[Any, ...]:
    """The types of a setting."""
    return (hint,) if get_origin(hint) in (None, Literal) else get_args(hint)


def _check(name: str, kinds: tuple[Any, ...], value: Any, about: Any) -> None:
    for kind in kinds:
        if get_origin(kind) is Literal and value not in get_args(kind):
            raise UserError(f"{name} must be {either(get_args(kind))} (got {value!r})")
    if bool in kinds:
        if not isinstance(value, bool):
            raise UserError(f"{name} must be true or false (got {value!r})")
        return
    if str in kinds and not isinstance(value, str):
        raise UserError(f"{name} must be a text (got {value!r})")
    if not {int, float} & set(kinds):
        return
    number = int if float not in kinds else (int, float)
    sound = isinstance(value, number) and not isinstance(value, bool)
    sound = sound and abs(value) < 1e300  # finite; an integer may be too large for a float
    least, above, most = (about.get(key) for key in ("least", "above", "most"))
    sound = sound and (least is None or value >= least) and (above is None or value > above)
    if not sound or (most is not None and value > most):
        raise UserError(f"{name} must be {_range(kinds, least, above, most)} (got {value!r})")


def _range(kinds: tuple[Any, ...], least: float | None, above: float | None, most: float | None) -> str:
    what = "a number" if float in kinds else "a whole number"
    if least is not None and most is not None:
        return f"{what} from {_short(least)} to {_short(most)}"
    if above is not None and most is not None:
        return f"{what} above {_short(above)}, at most {_short(most)}"
    if least is not None:
        return f"{what}, {_short(least)} or more"
    return f"{what} above {_short(above)}" if above is not None else what


def either(choices: Sequence[str]) -> str:
    """Choices as text.

    >>> either(["left", "right", "up"])
    'left, right or up'
    """
    return " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))


def _short(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"


def from_text(kind: type[T], text: str, spec: str) -> T:
    """Settings from `name=value,...`; UserError says what is wrong and what there is."""
    values = values_from_text({name: hint for name, hint, _ in setting_fields(kind)}, text, spec)
    with prefix_errors(spec):
        return kind(**values)


@contextmanager
def prefix_errors(spec: str) -> Iterator[None]:
    """Begin errors with the text that the settings came from."""
    try:
        yield
    except ValueError as error:
        raise UserError(f"{spec}: {error}") from None


def values_from_text(
    known: Mapping[str, Any], text: str, spec: str, least: float = 0, others: bool = False
) -> dict[str, Any]:
    """Values from `name=value,...` for settings of known types; numbers are `least` or more.

    With `others`, unknown names are accepted; their values are numbers if they look like numbers.
    """
    values: dict[str, Any] = {}
    for name, value in split_settings(text, spec).items():
        if not (name in known or (others and name.isidentifier())):
            there = f"there are {', '.join(known)}" if known else "there are none"
            raise UserError(f"{spec}: '{name}={value}' is not a setting; {there}")
        values[name] = _value(known.get(name, Any), name, value, spec, least)
    return values


def split_settings(text: str, spec: str) -> dict[str, str]:
    """Split `name=value,...`; `spec` names it in errors."""
    values: dict[str, str] = {}
    for word in filter(None, text.split(",")):
        name, equals, value = (part.strip() for part in word.partition("="))
        if not equals:
            raise UserError(f"{spec}: {word!r} is not a setting: write name=value")
        if name in values:
            raise UserError(f"{spec}: {name} is set twice")
        values[name] = value
    return values


def _value(hint: Any, name: str, text: str, spec: str, least: float) -> Any:
    """A setting's value from its text, by its type."""
    if hint is Any:
        return _guess(text)
    kinds = _kinds(hint)
    choices = [choice for kind in kinds for choice in get_args(kind)]
    if choices:
        if text in choices:
            return text
        raise UserError(f"{spec}: {name} must be {either(choices)} (got {text!r})")
    if bool in kinds:
        if text in ("yes", "no"):
            return text == "yes"
        raise UserError(f"{spec}: {name} must be yes or no (got {text!r})")
    if not {int, float} & set(kinds):
        return text
    expected = "a number" if float in kinds else "a whole number"
    try:
        if name == "time" and text[-1:].isalpha():  # 200ms
            number: float = parse_duration(text)
        else:
            number = float(text) if float in kinds else int(text)
    except ValueError:
        raise UserError(f"{spec}: {name} must be {expected} (got {text!r})") from None
    if not least <= number <= MOST:  # false for nan
        raise UserError(f"{spec}: {name} must be {expected}, {_short(least)} or more (got {text})")
    return number


def _guess(text: str) -> Any:
    """A whole number, a number, yes or no, or a text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"yes": True, "no": False}.get(text, text)


def describe_settings(name: str, settings: Mapping[str, Any]) -> list[str]:
    """A line with all settings of `name`, as they are typed.

    >>> describe_settings("mcts:c=1", {"ucb": "tuned", "c": 1.0, "reuse": True})
    ['All settings of mcts:c=1: ucb=tuned, c=1.0, reuse=yes']
    """
    words = {True: "yes", False: "no"}
    texts = (f"{key}={words[value] if isinstance(value, bool) else value}" for key, value in settings.items())
    return [f"All settings of {name}: {', '.join(texts)}"] if settings else []


def describe_all_settings(names: Sequence[str], settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each name that has settings; a repeated name once."""
    known = dict(zip(names, settings, strict=False))
    return [line for name, own in known.items() for line in describe_settings(name, own)]


_UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse_duration(text: str, name: str = "value") -> float:
    """A time such as 5ms, 0.2s, 10m, 1h30m, or a bare number of seconds, in seconds.

    >>> parse_duration("90"), parse_duration("5ms"), parse_duration("1h30m")
    (90.0, 0.005, 5400.0)
    """
    words = text.strip().lower().replace(" ", "")
    parts = re.findall(r"([0-9.]+(?:e-?[0-9]+)?)([a-z]*)", words)
    if "".join(number + unit for number, unit in parts) == words:
        try:
            total = sum(float(number) * _UNITS[unit] for number, unit in parts)
        except (KeyError, ValueError):
            total = 0.0
        if total > 0:
            return total
    raise UserError(f"{name} must be a time such as 5ms, 0.2s, 10m or 2h (got {text!r})")


_SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


def parse_size(text: str, least: int = 1) -> int:
    """A number of bytes such as 500k, 32M, 1.5 GB or 1GiB.

    >>> parse_size("32M"), parse_size("1.5 GB"), parse_size("1GiB")
    (32000000, 1500000000, 1073741824)
    """
    parts = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*([kmg]?i?)b?", text.strip().lower())
    size = float(parts[1]) * _SIZES.get(parts[2], 0) if parts else 0.0
    if size < least:
        limit = f" of at least {least // 10**6} MB" if least > 1 else ""
        raise UserError(f"{text!r} is not a size{limit}: write it as 500k, 32MB or 1.5GiB")
    return int(size)
