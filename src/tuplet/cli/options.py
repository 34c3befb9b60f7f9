"""Options that commands share, options made from declared settings, and how numbers and times are read."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import Annotated, Any, TypeVar, Union, get_args

from cyclopts import App, Group, Parameter, Token

from tuplet.errors import UserError
from tuplet.system.settings import parse_duration, setting_fields

LOOKAHEAD = Group.create_ordered("Look-ahead of a learned player")
METHOD = Group.create_ordered("Learning")
LIMITS = Group.create_ordered("The run")
PARALLEL = Group.create_ordered("Parallel work")
OUTPUT = Group.create_ordered("Output")


def _in(group: Group, help: str = "", *names: str) -> Parameter:
    about: dict[str, Any] = {"name": names, "help": help}  # without a help, the command's docstring has it
    return Parameter(group=group, **{key: value for key, value in about.items() if value})


Out = Annotated[Path | None, _in(OUTPUT, "", "--out", "-o")]
Csv = Annotated[Path | None, _in(OUTPUT)]
Html = Annotated[Path | None, _in(OUTPUT, "Write an HTML page with tables, forfeits and games to replay.")]
Plot = Annotated[Path | None, _in(OUTPUT)]
Force = Annotated[bool, _in(OUTPUT, "Replace files that exist.")]
Json = Annotated[bool, _in(OUTPUT, "Print the result as one JSON object.", "--json")]
Threads = Annotated[
    int | None,
    _in(
        PARALLEL,
        "Number of games played at a time. [default: all cores, which does not change the result; 1 with time "
        "limits, programs or your own classes, where it could]",
    ),
]
Seed = Annotated[int, Parameter(help="Random seed. The same seed gives the same games.")]
Spawn4 = Annotated[
    float | None, Parameter(help="The probability that a new tile is a 4. [default: as trained, otherwise 0.1]")
]
GameOption = Annotated[
    str,
    Parameter(
        help="ewn, ewn-6x7, a variant of EWN such as ewn:board=4x4,cubes=3, or your own game: path/to/file.py:GAME."
    ),
]
Workers = Annotated[int | None, _in(PARALLEL)]  # threads, as the command's docstring describes them
Cluster = Annotated[
    str | None,
    _in(
        PARALLEL,
        "Run on a Dask cluster: local:N starts N workers on this machine; tcp://host:8786, tls://host:8786 or a "
        "scheduler file names a running cluster. [default: threads here]",
    ),
]
Tls = Annotated[Path | None, _in(PARALLEL, "A folder with ca.pem, cert.pem and key.pem, for a tls:// cluster.")]

F = TypeVar("F", bound=Callable[..., Any])


def _time(_: object, tokens: Sequence[Token]) -> float:
    (token,) = tokens
    try:
        return parse_duration(token.value, "")
    except UserError as error:
        raise UserError(str(error).strip()) from None


def whole_number(_: object, tokens: Sequence[Token]) -> int:
    """Read an integer."""
    (token,) = tokens
    try:
        return int(token.value)
    except ValueError:
        raise UserError(f"must be a whole number (got {token.value!r})") from None


# -5s is a wrong time, not an unknown option.
TIME = Parameter(converter=_time, metavar="TIME", allow_leading_hyphen=True)
Time = Annotated[float | None, TIME]


def with_settings(
    settings: type,
    group: Group,
    *,
    lists: bool = False,
    without: tuple[str, ...] = (),
    defaults: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[F], F]:
    """Give a command that takes `**settings` an option for each setting of a class.

    An option that is not given is not passed on, so that recipes and defaults come in later. With
    `lists` an option takes several values and is passed on as text. `defaults` are this command's
    own, as the help shows them.
    """

    def decorate(command: F) -> F:
        own = [each for each in _parameters(command) if each.kind is not each.VAR_KEYWORD]
        options = [
            _option(name, str if lists else hint, each, group, defaults.get(name), lists)
            for name, hint, each in setting_fields(settings)
            if not each.metadata["hidden"] and name not in without
        ]
        rest = [each for each in _parameters(command) if each.kind is each.VAR_KEYWORD]
        return _with_parameters(command, [*own, *options, *rest])

    return decorate


def add_command(app: App, command: Callable[..., Any], **options: Any) -> list[str]:
    """Add a command: its docstring is the help, which ends with the docstring's examples; returns these."""
    text, _, lines = (inspect.getdoc(command) or "").partition("Examples\n--------\n")
    command.__doc__ = _unwrapped(text)
    name, examples = command.__name__.strip("_"), lines.strip().splitlines()
    app.command(with_whole_numbers(command), name=name, help_epilogue=examples_text(examples), **options)
    return examples


def examples_text(examples: list[str]) -> str:
    """The end of a help."""
    return "\n  ".join(["Examples:\n", *examples])


def _unwrapped(text: str) -> str:
    """A docstring with a line for each paragraph and each item of a list, to be wrapped at any width."""
    lines: list[str] = []
    for line in text.splitlines():
        before = lines[-1] if lines else ""
        indent, indent_before = (len(each) - len(each.lstrip(" -")) for each in (line, before))
        if before and line and indent == indent_before and "---" not in before + line and line[0] != "-":
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(lines)


def with_whole_numbers(command: F) -> F:
    """Let a command's integers be whole numbers only: 1.5 games are not 2."""
    parameters = []
    for each in _parameters(command):
        hint = each.annotation
        bare = get_args(hint)[0] if typing.get_origin(hint) is Annotated else hint
        if int in (bare, *get_args(bare)):
            each = each.replace(annotation=Annotated[hint, Parameter(converter=whole_number)])
        if each.kind is not each.VAR_KEYWORD:
            parameters.append(each)
    return _with_parameters(command, parameters)


def shown_default(value: Any) -> str | None:
    """A default as the help shows it: not that a flag is off, nor that there is none."""
    return None if isinstance(value, bool) or value in ("", None) else str(value)


def _parameters(command: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a command, with their annotations as types."""
    hints = typing.get_type_hints(command, include_extras=True)
    parameters = inspect.signature(command).parameters.values()
    return [each.replace(annotation=hints.get(each.name, each.annotation)) for each in parameters]


def _with_parameters(command: F, parameters: list[inspect.Parameter]) -> F:
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _option(name: str, hint: Any, field: Any, group: Group, default: str | None, lists: bool) -> inspect.Parameter:
    about = field.metadata
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    kind: Any = kinds[0] if NoneType in get_args(hint) else hint
    default = default or about["usual"] or shown_default(field.default)
    option = Parameter(
        name=f"--{(about['option'] or name).replace('_', '-')}",
        help=f"{about['doc']} [default: {default}]" if default else about["doc"],
        group=group,
    )
    if about["seconds"] and not lists:
        kind = Annotated[kind, TIME]
    annotation = Annotated[Union[kind, None], option]  # noqa: UP007  # made at run time
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
