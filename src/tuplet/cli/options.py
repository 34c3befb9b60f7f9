"""Options of a command made from declared settings."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, NoneType
from typing import Annotated, Any, TypeVar, Union, get_args

from cyclopts import Parameter, Token

from tuplet.errors import UserError
from tuplet.system.settings import setting_fields

F = TypeVar("F", bound=Callable[..., Any])

_LAST = ("out", "csv", "episodes", "save", "game", "seed", "json_")  # stand behind settings in a help


def with_settings(
    *kinds: type, lists: bool = False, without: tuple[str, ...] = (), usual: Mapping[str, str] = MappingProxyType({})
) -> Callable[[F], F]:
    """Let a command that takes `**settings` have an option for each setting of these classes.

    An option that is not given is not passed on: recipes and defaults come in later. Where it may
    be a list of values, it is taken as a text. `usual` has this command's own defaults, for the
    help.
    """

    def decorate(command: F) -> F:
        hints = typing.get_type_hints(command, include_extras=True)
        own = [
            parameter.replace(annotation=hints[parameter.name])
            for parameter in inspect.signature(command).parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        options = [
            _option(name, str if lists else hint, each.metadata, each.default, usual.get(name))
            for kind in kinds
            for name, hint, each in setting_fields(kind)
            if not each.metadata["hidden"] and name not in without
        ]
        named = [i for i, each in enumerate(own) if each.kind is each.KEYWORD_ONLY]
        last = next((i for i in named if own[i].name in _LAST), len(own))
        own[last:last] = options
        command.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in own}
        return command

    return decorate


def shown_default(value: Any) -> str | None:
    """A default as the help shows it: not that a flag is off, nor that there is nothing."""
    return None if isinstance(value, bool) or value in ("", None) else str(value)


def with_whole_numbers(command: F) -> F:
    """Let a command's numbers be whole where they count something: 1.5 games are not 2."""
    hints = typing.get_type_hints(command, include_extras=True)
    parameters = []
    for each in inspect.signature(command).parameters.values():
        hint = hints.get(each.name, each.annotation)
        bare = get_args(hint)[0] if typing.get_origin(hint) is Annotated else hint
        if int in (bare, *get_args(bare)):
            hint = Annotated[hint, Parameter(converter=_whole)]
        parameters.append(each.replace(annotation=hint))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _whole(_: object, tokens: Sequence[Token]) -> int:
    (token,) = tokens
    try:
        return int(token.value)
    except ValueError:
        raise UserError(f"must be a whole number (got {token.value!r})") from None


def _option(name: str, hint: Any, about: Any, default: Any, usual: str | None) -> inspect.Parameter:
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    kind: Any = str if about["seconds"] else kinds[0] if NoneType in get_args(hint) else hint
    shown = usual or about["usual"] or shown_default(default)
    help_ = f"{about['doc']} [default: {shown}]" if shown else about["doc"]
    option = f"--{(about['option'] or name).replace('_', '-')}"
    hyphen = about["seconds"]  # -5s is no option, but a wrong time
    about_option = Parameter(name=option, help=help_, allow_leading_hyphen=hyphen)
    annotation = Annotated[Union[kind, None], about_option]  # noqa: UP007  # made at run time
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
