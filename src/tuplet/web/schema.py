"""Functions as calls over HTTP: their signatures are the check of a request and the OpenAPI document.

The arguments of a call after the first are keyword-only, have plain types, and are described in its docstring, one
line `name: description` each.
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

INTERNAL = ("progress", "stop", "watch")  # arguments that the server sets

_TYPES = {
    str: ("string", "a string"),
    int: ("integer", "a whole number"),
    float: ("number", "a number"),
    bool: ("boolean", "true or false"),
    list: ("array", "a list"),
    dict: ("object", "an object"),
    NoneType: ("null", "null"),
}
_ERRORS = {
    400: "The request is wrong.",
    401: "A token is needed.",
    403: "The request comes from the page of another host.",
    413: "The body is too large.",
    421: "The host is not served here.",
    500: "A bug: the server's terminal shows the traceback.",
    503: "The server is busy, or has not enough memory: try again later.",
}


def example(**arguments: Any) -> Callable[[Call], Call]:
    """Attach an example request to a call."""

    def decorate(call: Call) -> Call:
        call.example = arguments  # type: ignore[attr-defined]
        return call

    return decorate


@cache
def arguments_of(call: Call) -> dict[str, tuple[type, bool]]:
    """The arguments of a call: their types, and whether they are required."""
    hints = get_type_hints(call)
    return {
        each.name: (_plain(hints[each.name]), each.default is each.empty)
        for each in inspect.signature(call).parameters.values()
        if each.kind is each.KEYWORD_ONLY and each.name not in INTERNAL
    }


def _plain(hint: Any) -> type:
    """A type without its None, and a list without the type of its items."""
    if isinstance(hint, UnionType) or get_origin(hint) is Union:
        hint = next(kind for kind in get_args(hint) if kind is not NoneType)
    plain: type = get_origin(hint) or hint
    return plain


def check_arguments(call: Call, request: object) -> dict[str, Any]:
    """The arguments of a call from a request's JSON. Raises UserError if they do not fit."""
    known = arguments_of(call)
    if not isinstance(request, dict):
        raise UserError('the request must be a JSON object, such as {"game": "2048"}')
    for name, value in request.items():
        if name not in known:
            raise UserError(f"unknown field {str(name)[:40]!r} (expected: {', '.join(known)})")
        if value is not None and not _fits(value, known[name][0]):
            raise UserError(f"{name} must be {_TYPES[known[name][0]][1]}")
    for name, (_, required) in known.items():
        if required and request.get(name) is None:
            raise UserError(f"{name} is missing")
    return {name: value for name, value in request.items() if value is not None}


def _fits(value: Any, kind: type) -> bool:
    if kind is float:
        return type(value) in (int, float) and abs(value) < 1e15
    if kind is int:
        return type(value) is int and abs(value) < 2**63
    return type(value) is kind


def openapi(calls: dict[tuple[str, str], Call], *, token: bool = False) -> dict[str, Any]:
    """The OpenAPI document of calls by method and path. `token`: one is needed."""
    error = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    schemas: dict[str, Any] = {"Error": error}
    paths: dict[str, Any] = {}
    for (method, path), call in calls.items():
        paths.setdefault(path, {})[method.lower()] = _operation(method, path, call, schemas)
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "tuplet",
            "version": __version__,
            "description": "2048 and EinStein würfelt nicht!: the same JSON that the command line prints.",
        },
        "paths": paths,
        "components": {"schemas": schemas},
    }
    if token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def _operation(method: str, path: str, call: Call, schemas: dict[str, Any]) -> dict[str, Any]:
    summary, fields = describe(call)
    arguments = arguments_of(call)
    required = [name for name, (_, required) in arguments.items() if required]
    responses = {200: ("The answer.", schema_of(_response_of(call), schemas))}
    for status, reason in _ERRORS.items():
        if status != 413 or method == "POST":
            responses[status] = reason, {"$ref": "#/components/schemas/Error"}
    operation: dict[str, Any] = {
        "operationId": path.rpartition("/")[2],
        "summary": summary,
        "responses": {
            str(status): {"description": reason, "content": {"application/json": {"schema": schema}}}
            for status, (reason, schema) in responses.items()
        },
    }
    if method == "GET":
        operation["parameters"] = [
            {
                "name": name,
                "in": "query",
                "required": name in required,
                "description": fields.get(name, ""),
                "schema": {"type": _TYPES[kind][0]},
            }
            for name, (kind, _) in arguments.items()
        ]
        return operation
    schema = {
        "type": "object",
        "properties": {
            name: {"type": _TYPES[kind][0], "description": fields.get(name, "")}
            for name, (kind, _) in arguments.items()
        },
        "additionalProperties": False,
    } | ({"required": required} if required else {})
    content = {"schema": schema, "example": getattr(call, "example", {})}
    return operation | {"requestBody": {"required": True, "content": {"application/json": content}}}


def _response_of(call: Call) -> Any:
    """The type of a call's answer, from its annotation."""
    hint = get_type_hints(call, include_extras=True)["return"]
    return get_args(hint)[1] if get_origin(hint) is Annotated else dict


def schema_of(hint: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of a type. Those of typed dictionaries are added to `schemas` by name."""
    if hint is Any:
        return {}
    if is_typeddict(hint):
        name = hint.__name__
        if name not in schemas:
            schemas[name] = {}  # before its fields: a type may contain itself
            marked = get_type_hints(hint, include_extras=True)
            schemas[name] |= {
                "type": "object",
                "description": " ".join((hint.__doc__ or "").split()),
                "properties": {field: schema_of(kind, schemas) for field, kind in get_type_hints(hint).items()},
                "required": [field for field, kind in marked.items() if get_origin(kind) is not NotRequired],
            }
        return {"$ref": f"#/components/schemas/{name}"}
    kind, inner = get_origin(hint), get_args(hint)
    if kind in (UnionType, Union):
        return {"anyOf": [schema_of(each, schemas) for each in inner]}
    if kind is list:
        return {"type": "array", "items": schema_of(inner[0], schemas)}
    if kind is dict:
        return {"type": "object", "additionalProperties": schema_of(inner[1], schemas)}
    return {"type": _TYPES[hint][0]}


@cache
def describe(call: Call) -> tuple[str, dict[str, str]]:
    """The first paragraph of a call's docstring, and the description of each argument."""
    text = inspect.cleandoc(call.__doc__ or "")
    fields = re.findall(r"^(\w+): (.+(?:\n {4}.+)*)", text, re.M)
    return " ".join(text.partition("\n\n")[0].split()), {name: " ".join(about.split()) for name, about in fields}
