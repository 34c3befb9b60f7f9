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
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from tuplet.errors import UserError
from tuplet.system.version import __version__

Call = Callable[..., Any]

OURS = ("progress", "stop", "watch")  # arguments that are the server's

_TYPES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
    NoneType: "null",
}
_WORDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


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
        raise UserError('the request must be a JSON object, such as {"game": "2048"}')
    for name, value in given.items():
        if name not in known:
            raise UserError(f"unknown field {str(name)[:40]!r} (expected: {', '.join(known)})")
        kind = known[name][0]
        if value is not None and not _fits(value, kind):
            raise UserError(f"{name} must be {_WORDS[kind]}")
    missing = [name for name, (_, needed) in known.items() if needed and given.get(name) is None]
    if missing:
        raise UserError(f"{missing[0]} is missing")
    return {name: value for name, value in given.items() if value is not None}


def _fits(value: Any, kind: type) -> bool:
    if kind is float:
        return type(value) in (int, float) and abs(value) < 1e15
    if kind is int:
        return type(value) is int and abs(value) < 2**63
    return type(value) is kind


def openapi(calls: dict[tuple[str, str], Call], *, closed: bool = False) -> dict[str, Any]:
    """The OpenAPI document of calls, which are known by method and path.

    `closed` says that a token is needed.
    """
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {
        "Error": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    }
    for (method, path), call in calls.items():
        paths.setdefault(path, {})[method.lower()] = _operation(method, path, call, schemas)
    components: dict[str, Any] = {"schemas": schemas}
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "tuplet",
            "version": __version__,
            "description": "2048 and EinStein würfelt nicht!: the answers of the command line's --json.",
        },
        "paths": paths,
        "components": components,
    }
    if closed:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}]
    return found


_REFUSED = {
    400: "The request is wrong.",
    401: "A token is needed.",
    403: "The request comes from the page of another host.",
    413: "The body is too large.",
    421: "The host is not served here.",
    503: "The server is busy, or has not enough memory: try again later.",
}


def _operation(method: str, path: str, call: Call, schemas: dict[str, Any]) -> dict[str, Any]:
    about, fields = described(call)
    properties = {
        name: {"type": _TYPES[kind], "description": fields.get(name, "")}
        for name, (kind, _) in arguments_of(call).items()
    }
    needed = [name for name, (_, needed) in arguments_of(call).items() if needed]
    responses = {200: ("The answer.", schema_of(_answer_of(call), schemas))}
    for status, why in _REFUSED.items():
        if status != 413 or method == "POST":
            responses[status] = why, {"$ref": "#/components/schemas/Error"}
    found: dict[str, Any] = {
        "operationId": path.rpartition("/")[2],
        "summary": about,
        "responses": {
            str(status): {"description": why, "content": {"application/json": {"schema": schema}}}
            for status, (why, schema) in responses.items()
        },
    }
    if method == "GET":
        found["parameters"] = [
            {
                "name": name,
                "in": "query",
                "required": name in needed,
                "description": told.pop("description"),
                "schema": told,
            }
            for name, told in properties.items()
        ]
    else:
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        schema |= {"required": needed} if needed else {}
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema, "example": example_of(call)}},
        }
    return found


def _answer_of(call: Call) -> Any:
    """The shape that a call's answer is annotated with; any object if it has none."""
    hint = get_type_hints(call, include_extras=True)["return"]
    return get_args(hint)[1] if get_origin(hint) is Annotated else dict


def schema_of(hint: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of a type; those of typed dictionaries go by name to `schemas`."""
    if hint is Any:
        return {}
    if is_typeddict(hint):
        if hint.__name__ not in schemas:
            schemas[hint.__name__] = {}  # one that has itself as a part ends here
            parts = get_type_hints(hint).items()
            marked = get_type_hints(hint, include_extras=True).items()
            schemas[hint.__name__] |= {
                "type": "object",
                "description": " ".join((hint.__doc__ or "").split()),
                "properties": {name: schema_of(part, schemas) for name, part in parts},
                "required": [n for n, part in marked if get_origin(part) is not NotRequired],
            }
        return {"$ref": f"#/components/schemas/{hint.__name__}"}
    kind, inner = get_origin(hint), get_args(hint)
    if kind in (UnionType, Union):
        return {"anyOf": [schema_of(each, schemas) for each in inner]}
    if kind is list:
        return {"type": "array", "items": schema_of(inner[0], schemas)}
    if kind is dict:
        return {"type": "object", "additionalProperties": schema_of(inner[1], schemas)}
    return {"type": _TYPES[hint]}


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
