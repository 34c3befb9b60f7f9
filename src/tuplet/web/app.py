"""The application: pages, calls and the socket, behind the guard."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import logging
import mimetypes
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from tuplet.errors import UserError
from tuplet.kernel import compiling
from tuplet.system.stop import Stop, Stopped
from tuplet.system.text import in_one_line
from tuplet.web import websocket
from tuplet.web.context import Busy, ServerContext
from tuplet.web.endpoints import CALLS
from tuplet.web.guard import MOST_BODY, Guard, log_in
from tuplet.web.schema import checked, openapi

PAGES = {"/2048": "2048.html", "/ewn": "ewn.html", "/board": "board.html", "/api": "api.html"}
LONGEST = 60.0  # seconds until a call ends with what it has
PAUSE = 0.5  # seconds after a wrong token: nobody guesses fast
GRACE = 5.0  # seconds until it is given up then

Call = Callable[..., Any]


def application(
    context: ServerContext, host: str = "127.0.0.1", token: str | None = None, allowed_hosts: Sequence[str] = ()
) -> Guard:
    """What a server serves."""
    sockets: set[websocket.Session] = set()

    async def socket(connection: WebSocket) -> None:
        with suppress(WebSocketDisconnect):  # it left at once
            await connection.accept()  # a browser tells no reason where it was not let in
            session = websocket.Session(context, connection)
            if len(sockets) >= websocket.MOST_SOCKETS:
                idle = [each for each in sockets if each.idle]
                if not idle:
                    await connection.close(1013, "too many pages are open: try again later")
                    return
                count = Counter(each.client for each in sockets)
                last = min(idle, key=lambda each: (-count[each.client], each.heard))
                sockets.discard(last)
                await last.leave()
            sockets.add(session)
            try:
                await session.run()
            finally:
                sockets.discard(session)

    async def let_in(request: Request) -> Response:
        """Take a token, and give a cookie for it."""
        try:
            given = checked(log_in, await _body(request))["token"]
        except ValueError as error:
            return JSONResponse({"error": in_one_line(str(error))}, 400)
        except ClientDisconnect:
            return Response(status_code=413)
        if not guard.is_token(given):
            await asyncio.sleep(PAUSE)
            return JSONResponse({"error": "this is not the token"}, 401)
        response = JSONResponse({"ok": True})
        guard.let_in(request.scope, response)
        return response

    closed = {} if token is None else {("POST", "/api/token"): log_in}

    async def described(_: Request) -> Response:
        return JSONResponse(openapi({**CALLS, **closed}, closed=token is not None))

    routes = [
        Route("/", lambda _: RedirectResponse("/2048"), methods=["GET"]),
        *(Route(path, partial(_page, name), methods=["GET"]) for path, name in PAGES.items()),
        Route("/static/{name}", _static, methods=["GET"]),
        Route("/favicon.ico", partial(_page, "icon.svg"), methods=["GET"]),
        Route("/api/openapi.json", described, methods=["GET"]),
        *(Route(path, let_in, methods=[method]) for method, path in closed),
        *(Route(path, _endpoint(context, call), methods=[method]) for (method, path), call in CALLS.items()),
        WebSocketRoute("/api/live", socket),
    ]
    logging.getLogger("uvicorn.error").addFilter(_is_told)
    handlers: Any = {HTTPException: _http_error, Exception: _failed}
    app = Starlette(routes=routes, exception_handlers=handlers)
    guard = Guard(app, host, token, allowed_hosts)
    return guard


def _is_told(record: logging.LogRecord) -> bool:
    """Whether the terminal hears of it: not of bytes that are no UTF-8, which are the client's."""
    return not record.getMessage().startswith("Invalid UTF-8 sequence")


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404 and "text/html" in request.headers.get("accept", ""):
        page = _asset("missing.html")
        assert page is not None
        return Response(page[0], 404, media_type=page[2])
    why = {404: f"there is no {request.url.path}", 405: f"{request.method} is not for this address"}
    return JSONResponse({"error": in_one_line(why.get(error.status_code, error.detail))}, error.status_code)


async def _failed(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": f"this failed: {type(error).__name__}"}, 500)


async def _body(request: Request) -> Any:
    """A question's JSON; ValueError if it is none."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UserError("the content-type of a request must be application/json")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BODY:
            raise UserError("too large")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise UserError("the request body is not valid JSON") from None


def _endpoint(context: ServerContext, call: Call) -> Callable[[Request], Any]:
    """A call as an address."""
    stops = "stop" in call.__annotations__

    async def answer(request: Request) -> Response:
        stop = Stop()
        try:
            given = dict(request.query_params) if request.method == "GET" else await _body(request)
            asked = checked(call, given)
            if not stops:
                return JSONResponse(await run_in_threadpool(call, context, **asked))
            return JSONResponse(await _while_asked(request, stop, call, context, asked))
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


async def _while_asked(request: Request, stop: Stop, call: Call, context: ServerContext, asked: Any) -> Any:
    """Answer, unless the one who asked leaves: then nobody needs it any longer."""

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    def work() -> Any:
        with context.job(stop, request.client.host if request.client else ""):
            return call(context, **asked, stop=stop)

    own = CapacityLimiter(1)  # the desk counts searches: quick questions do not wait for them
    answer = asyncio.create_task(to_thread.run_sync(work, limiter=own, abandon_on_cancel=True))
    answer.add_done_callback(lambda done: done.cancelled() or done.exception())
    leaving = asyncio.create_task(left())
    try:
        both = (answer, leaving)
        await asyncio.wait(both, timeout=LONGEST, return_when="FIRST_COMPLETED")
        while compiling() and not answer.done() and not leaving.done():  # once, and no search
            await asyncio.wait(both, timeout=1, return_when="FIRST_COMPLETED")
        if not answer.done():
            stop.set()
            await asyncio.wait((answer,), timeout=GRACE)
        if not answer.done():  # it does not listen: its thread ends by itself
            raise Stopped(f"this takes more than {LONGEST:.0f} seconds")
        return answer.result()
    finally:
        stop.set()
        leaving.cancel()


@cache
def _assets() -> dict[str, Traversable]:
    """The files that come with the page, by name: nothing else is opened, whatever is asked for."""
    return {file.name: file for file in (files("tuplet.web") / "static").iterdir()}


@lru_cache(maxsize=256)
def _asset(name: str) -> tuple[bytes, bytes, str, str] | None:
    """A file that comes with the page: as it is, packed, its kind, and its tag."""
    file = _assets().get(name)
    if file is None:
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
