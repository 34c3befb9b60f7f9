"""The command that repeats a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any

from tuplet.learn.recipes import choose
from tuplet.learn.settings import Method, RunOptions, split

_FIELDS = {each.name: each for kind in (Method, RunOptions) for each in fields(kind)}
# Not the run's result, but how it is carried out; `game` is the command's first word.
_CARRIED_OUT = {"checkpoint", "keep", "serial", "block", "given"}


def option_name(name: str) -> str:
    """The option of a setting: lambda for lam."""
    return (name in _FIELDS and _FIELDS[name].metadata["option"]) or name


def setting_named(option: str) -> str:
    """The setting of an option: lam for lambda; the text itself if there is none."""
    named = {option_name(name): name for name in _FIELDS}
    return named.get(option.replace("-", "_"), option)


def given_settings(method: Method, options: RunOptions) -> dict[str, Any]:
    """The settings of which `train` makes this method and these options: few, but always its length."""
    wanted = {**asdict(method), **asdict(options)}
    given = {
        name: value for name, value in wanted.items() if name not in _CARRIED_OUT and value != _FIELDS[name].default
    }
    shown = {"games", "budget"}
    if options.budget is not None:  # which picks a recipe otherwise, and all cores
        given |= {"net": method.net, "learner": method.learner, "threads": options.threads}
        shown |= {"net", "learner", "threads"}
    for name in [name for name in given if name not in shown]:
        fewer = {each: value for each, value in given.items() if each != name}
        if _makes(fewer, wanted):
            given = fewer
    return given


def _makes(settings: dict[str, Any], wanted: Mapping[str, Any]) -> bool:
    try:
        made = {name: value for part in split(choose(None, settings)) for name, value in asdict(part).items()}
    except ValueError:
        return False
    return all(made[name] == wanted[name] for name in wanted.keys() - _CARRIED_OUT)


def option_words(settings: Mapping[str, Any]) -> Iterator[str]:
    """Settings as words of a command line; none of them can be taken for another option."""
    for name, value in settings.items():
        option = f"--{option_name(name).replace('_', '-')}"
        if value is True:
            yield option
        elif value is not False:  # which is the default of all flags
            yield f"{option}={value}"


def train_command(method: Method, options: RunOptions) -> list[str]:
    """The words of the `tuplet train` that does what a run did."""
    given = given_settings(method, options)
    game = given.pop("game", None)
    return ["tuplet", "train", *([game] if game else []), *option_words(given)]
