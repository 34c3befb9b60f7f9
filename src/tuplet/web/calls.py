"""Functions as calls over HTTP: what they take is read off their signatures, and so is OpenAPI.

A call is a function whose arguments after the first are named, have plain types, and are described
in its docstring, a line `name: what it is` each.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from tuplet.system.version import __version__

Call = Callable[..., Any]

OURS = ("progress", "stop", "watch")  # arguments that are the server's

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array",
          dict: "object"}  # fmt: skip
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false",
          list: "a list", dict: "an object"}  # fmt: skip


@cache
def arguments_of(call: Call) -> dict[str, tuple[type, bool]]:
    """What a call takes: names, types, and whether they must be given."""
    hints = get_type_hints(call)
    found = {}
    for each in inspect.signature(call).parameters.values():
        if each.kind is each.KEYWORD_ONLY and each.name not in OURS:
            found[each.name] = (_bare(hints[each.name]), each.default is each.empty)
    return found


def _bare(hint: Any) -> type:
    """A type without its None, and a list without what is in it."""
    if isinstance(hint, UnionType) or get_origin(hint) is Union:
        hint = next(kind for kind in get_args(hint) if kind is not NoneType)
    bare: type = get_origin(hint) or hint
    return bare


def checked(call: Call, given: object) -> dict[str, Any]:
    """What a client gave, as arguments of a call; ValueError says what is wrong."""
    known = arguments_of(call)
    if not isinstance(given, dict):
        raise ValueError('a question is a JSON object, as in {"game": "2048"}')
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"{str(name)[:40]!r} is not asked for here: {', '.join(known)}")
        kind = known[name][0]
        if value is not None and not _fits(value, kind):
            raise ValueError(f"{name} is {_WORDS[kind]}")
    missing = [name for name, (_, needed) in known.items() if needed and given.get(name) is None]
    if missing:
        raise ValueError(f"{missing[0]} is missing")
    return {name: value for name, value in given.items() if value is not None}


def _fits(value: Any, kind: type) -> bool:
    if kind is float:
        return type(value) in (int, float) and abs(value) < 1e15
    if kind is int:
        return type(value) is int and abs(value) < 2**63
    return type(value) is kind


def openapi(calls: dict[tuple[str, str], Call]) -> dict[str, Any]:
    """The OpenAPI document of calls, which are known by method and path."""
    paths: dict[str, Any] = {}
    for (method, path), call in calls.items():
        paths.setdefault(path, {})[method.lower()] = _operation(method, path, call)
    error = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    return {
        "openapi": "3.1.0",
        "info": {"title": "tuplet", "version": __version__, "description":
                 "Two stochastic games, 2048 and EinStein würfelt nicht!: the answers of the "
                 "command line's --json."},
        "paths": paths,
        "components": {"schemas": {"Error": error}},
    }  # fmt: skip


def _operation(method: str, path: str, call: Call) -> dict[str, Any]:
    about, fields = described(call)
    properties = {
        name: {"type": _TYPES[kind], "description": fields.get(name, "")}
        for name, (kind, _) in arguments_of(call).items()
    }
    needed = [name for name, (_, needed) in arguments_of(call).items() if needed]
    refused = {"description": "What is wrong, in one line.", "content": {
        "application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}  # fmt: skip
    found: dict[str, Any] = {
        "operationId": path.rpartition("/")[2], "summary": about,
        "responses": {
            "200": {"description": "The answer.", "content": {
                "application/json": {"schema": {"type": "object"}}}},
            "400": refused, "429": refused, "503": refused,
        },
    }  # fmt: skip
    if method == "GET":
        found["parameters"] = [
            {"name": name, "in": "query", "required": name in needed,
             "description": told.pop("description"), "schema": told}
            for name, told in properties.items()
        ]  # fmt: skip
    else:
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        schema |= {"required": needed} if needed else {}
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema, "example": example_of(call)}},
        }
        found["responses"]["413"] = refused
    return found


@cache
def described(call: Call) -> tuple[str, dict[str, str]]:
    """A call in a sentence, and each of its arguments."""
    text = inspect.cleandoc(call.__doc__ or "")
    fields: dict[str, str] = {}
    for found in re.finditer(r"^(\w+): (.+(?:\n {4}.+)*)", text, re.M):
        fields[found[1]] = " ".join(found[2].split())
    return " ".join(text.partition("\n\n")[0].split()), fields


def example_of(call: Call) -> Any:
    """What a client could send."""
    return getattr(call, "example", {})


def example(**given: Any) -> Callable[[Call], Call]:
    """Show how a call is asked."""

    def decorate(call: Call) -> Call:
        call.example = given  # type: ignore[attr-defined]
        return call

    return decorate
