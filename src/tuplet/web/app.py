"""The application: pages, calls and the socket, behind the guard."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import mimetypes
from collections.abc import Callable
from functools import lru_cache, partial
from importlib.resources import files
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from tuplet.system.harmless import in_one_line
from tuplet.system.stop import Stop, Stopped
from tuplet.web import live
from tuplet.web.answers import CALLS
from tuplet.web.calls import checked, openapi
from tuplet.web.desk import Busy, Desk
from tuplet.web.guard import MOST_BODY, Guard

PAGES = {"/2048": "2048.html", "/ewn": "ewn.html", "/api": "api.html"}
LONGEST = 60.0  # seconds until a call ends with what it has

Call = Callable[..., Any]


def application(desk: Desk, host: str = "127.0.0.1", token: str | None = None) -> Guard:
    """What a server serves."""
    sockets: set[live.Session] = set()

    async def socket(connection: WebSocket) -> None:
        if len(sockets) >= live.MOST_SOCKETS:
            await connection.close(1013, "too many look on: try again later")
            return
        session = live.Session(desk, connection)
        sockets.add(session)
        try:
            await session.run()
        finally:
            sockets.discard(session)

    async def let_in(request: Request) -> Response:
        """Take a token, and give a cookie for it."""
        given = await _body(request)
        known = isinstance(given, dict) and isinstance(given.get("token"), str)
        if not known or not guard.is_token(given["token"]):
            await asyncio.sleep(0.5)  # nobody guesses fast
            return JSONResponse({"error": "this is not the token"}, 401)
        response = JSONResponse({"ok": True})
        guard.let_in(response)
        return response

    routes = [
        Route("/", lambda _: RedirectResponse("/2048"), methods=["GET"]),
        *(Route(path, partial(_page, name), methods=["GET"]) for path, name in PAGES.items()),
        Route("/static/{name}", _static, methods=["GET"]),
        Route("/favicon.ico", partial(_page, "icon.svg"), methods=["GET"]),
        Route("/api/openapi.json", _openapi, methods=["GET"]),
        Route("/api/token", let_in, methods=["POST"]),
        *(Route(path, _endpoint(desk, call), methods=[method])
          for (method, path), call in CALLS.items()),
        WebSocketRoute("/api/live", socket),
    ]  # fmt: skip
    handlers: Any = {HTTPException: _http_error, Exception: _failed}
    app = Starlette(routes=routes, exception_handlers=handlers)
    guard = Guard(app, host, token)
    return guard


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    why = {404: f"there is no {request.url.path}", 405: f"{request.method} is not for this address"}
    return JSONResponse(
        {"error": in_one_line(why.get(error.status_code, error.detail))}, error.status_code
    )


async def _failed(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": f"this failed: {type(error).__name__}"}, 500)


async def _body(request: Request) -> Any:
    """A question's JSON; ValueError if it is none."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ValueError("a question's content-type is application/json")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BODY:
            raise ValueError("too large")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("a question is JSON, and this is none") from None


def _endpoint(desk: Desk, call: Call) -> Callable[[Request], Any]:
    """A call as an address."""
    stops = "stop" in call.__annotations__

    async def answer(request: Request) -> Response:
        stop = Stop()
        try:
            given = dict(request.query_params) if request.method == "GET" else await _body(request)
            asked = checked(call, given)
            if not stops:
                return JSONResponse(await run_in_threadpool(call, desk, **asked))
            with desk.job(stop):
                return JSONResponse(await _while_asked(request, stop, call, desk, asked))
        except Busy as busy:
            return JSONResponse({"error": str(busy)}, 503, {"retry-after": "1"})
        except Stopped as stopped:
            return JSONResponse({"error": in_one_line(str(stopped))}, 503)
        except (ValueError, OSError) as error:
            return JSONResponse({"error": in_one_line(str(error))}, 400)
        except MemoryError:
            return JSONResponse({"error": "there is not enough memory for this"}, 503)
        except ClientDisconnect:
            return Response(status_code=413)

    return answer


async def _while_asked(request: Request, stop: Stop, call: Call, desk: Desk, asked: Any) -> Any:
    """Answer, unless the one who asked leaves: then nobody needs it any longer."""

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    work = partial(call, desk, **asked, stop=stop)
    own = CapacityLimiter(1)  # `Desk.job` has counted it: quick questions do not wait for searches
    answer = asyncio.create_task(to_thread.run_sync(work, limiter=own))
    leaving = asyncio.create_task(left())
    try:
        await asyncio.wait((answer, leaving), timeout=LONGEST, return_when="FIRST_COMPLETED")
        if not answer.done():
            stop.set()
        return await answer
    finally:
        stop.set()
        leaving.cancel()


async def _openapi(_: Request) -> Response:
    return JSONResponse(openapi(CALLS))


@lru_cache(maxsize=256)  # whatever somebody asks for
def _asset(name: str) -> tuple[bytes, bytes, str, str] | None:
    """A file that comes with the page: as it is, packed, its kind, and its tag."""
    if not name.replace(".", "").replace("-", "").replace("_", "").isalnum() or name[0] == ".":
        return None
    file = files("tuplet.web") / "static" / name
    if not file.is_file():
        return None
    data = file.read_bytes()
    kind = {".js": "text/javascript"}.get(name[name.rfind(".") :]) or mimetypes.guess_type(name)[0]
    kind = kind or "application/octet-stream"
    kind += "; charset=utf-8" if kind.startswith("text/") else ""
    tag = hashlib.sha256(data).hexdigest()[:16]
    return data, gzip.compress(data, 9, mtime=0), kind, f'"{tag}"'


def _sent(request: Request, name: str) -> Response:
    found = _asset(name)
    if found is None:
        raise HTTPException(404)
    data, packed, kind, tag = found
    headers = {"etag": tag, "cache-control": "no-cache", "vary": "accept-encoding"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(packed, media_type=kind, headers=headers | {"content-encoding": "gzip"})
    return Response(data, media_type=kind, headers=headers)


async def _page(name: str, request: Request) -> Response:
    return _sent(request, name)


async def _static(request: Request) -> Response:
    return _sent(request, request.path_params["name"])
