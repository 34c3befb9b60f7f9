"""The application: pages, calls and the websocket, behind the guard."""

from __future__ import annotations

import asyncio
import json
import logging
import mimetypes
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from tuplet.errors import UserError
from tuplet.kernel import compiling
from tuplet.system.stop import Stop, Stopped
from tuplet.system.text import in_one_line
from tuplet.web import limits
from tuplet.web.answers import Answer, encode
from tuplet.web.context import ServerContext
from tuplet.web.endpoints import CALLS
from tuplet.web.guard import Guard, log_in
from tuplet.web.limits import Busy
from tuplet.web.schema import check_arguments, openapi
from tuplet.web.websocket import Session, error_text

NAMES = ("2048", "ewn", "learn", "steps", "search", "board", "api")
PAGES = {f"/{name}": f"{name}.html" for name in NAMES}
STATIC = Path(__file__).parent / "static"

_files = StaticFiles(directory=STATIC)
mimetypes.add_type("text/javascript", ".js")  # whatever the system says


class Json(JSONResponse):
    """A response of JSON."""

    def render(self, content: Any) -> bytes:
        """The body."""
        return encode(content)


def application(
    context: ServerContext, host: str = "127.0.0.1", token: str | None = None, allowed_hosts: Sequence[str] = ()
) -> Guard:
    """The ASGI application of a server."""
    sessions: set[Session] = set()

    async def live(connection: WebSocket) -> None:
        with suppress(WebSocketDisconnect):
            await connection.accept()
            session = Session(context, connection)
            if len(sessions) >= limits.MAX_SOCKETS:
                idle = [each for each in sessions if each.idle]
                if not idle:
                    await connection.close(1013, "too many pages are open: try again later")
                    return
                count = Counter(each.client for each in sessions)
                oldest = min(idle, key=lambda each: (-count[each.client], each.last_message))
                sessions.discard(oldest)
                await oldest.close(1013, "too many connections: this was the one that was idle for longest")
            sessions.add(session)
            try:
                await session.run()
            finally:
                sessions.discard(session)

    async def exchange_token(request: Request) -> Response:
        if not guard.is_token(check_arguments(log_in, await _read_json(request))["token"]):
            await asyncio.sleep(limits.LOGIN_DELAY)
            raise HTTPException(401, "this is not the token")
        response = Json({"ok": True})
        guard.set_cookie(request.scope, response)
        return response

    login = {} if token is None else {("POST", "/api/token"): log_in}

    async def document(_: Request) -> Response:
        return Json(openapi({**CALLS, **login}, token=token is not None))

    routes = [
        Route("/", partial(_static, name="home.html"), methods=["GET"]),
        *(Route(path, partial(_static, name=name), methods=["GET"]) for path, name in PAGES.items()),
        *(Route(f"{path}.html", _without_ending, methods=["GET"]) for path in PAGES),  # as the static site has it
        Route("/static/{name}", _static, methods=["GET"]),
        Route("/favicon.ico", partial(_static, name="icon.svg"), methods=["GET"]),
        Route("/api/openapi.json", document, methods=["GET"]),
        *(Route(path, exchange_token, methods=[method]) for method, path in login),
        *(Route(path, _endpoint(context, call), methods=[method]) for (method, path), call in CALLS.items()),
        WebSocketRoute("/api/live", live),
    ]
    logging.getLogger("uvicorn.error").addFilter(_is_worth_logging)
    errors = (UserError, Busy, Stopped, MemoryError, ClientDisconnect, HTTPException, Exception)
    handlers: Any = dict.fromkeys(errors, _error)
    app = Starlette(
        routes=routes, exception_handlers=handlers, middleware=[Middleware(GZipMiddleware, compresslevel=5)]
    )
    guard = Guard(app, host, token, allowed_hosts)
    return guard


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Not a client's invalid UTF-8, nor what is cancelled when the server stops."""
    cancelled = record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not cancelled and not record.getMessage().startswith(("Invalid UTF-8 sequence", "Cancel "))


async def _error(request: Request, error: Exception) -> Response:
    """The response to an error. After one that is a bug, Starlette and uvicorn print the traceback."""
    headers = {}
    if isinstance(error, HTTPException):
        status, text = error.status_code, error.detail
        if status == 404 and "text/html" in request.headers.get("accept", ""):
            return FileResponse(STATIC / "missing.html", 404)
        text = {404: f"there is no {request.url.path}", 405: f"{request.method} is not allowed here"}.get(status, text)
    elif isinstance(error, Busy | Stopped | MemoryError):
        status, text, headers = 503, error_text(error), {"retry-after": "1"}
    elif isinstance(error, UserError | ClientDisconnect):
        status, text = 400, error_text(error)
    else:
        status, text = 500, error_text(error)
    return Json({"error": in_one_line(text)}, status, headers)


async def _read_json(request: Request) -> Any:
    """The JSON of a request's body."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise UserError("the content-type of a request must be application/json")
    # A body that is a little too large is read to its end: a client that is still sending would not see the response.
    end = limits.MAX_BODY * (4 if "content-length" in request.headers else 1)
    body, size = bytearray(), 0
    async for piece in request.stream():
        size += len(piece)
        if size <= limits.MAX_BODY:
            body += piece
        elif size > end:
            break
    if size > limits.MAX_BODY:
        raise HTTPException(413, f"the request body must have at most {limits.MAX_BODY >> 20} MiB")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise UserError("the request body is not valid JSON") from None


def _endpoint(context: ServerContext, call: Callable[..., Any]) -> Callable[[Request], Any]:
    """A call as a route."""

    async def respond(request: Request) -> Response:
        data = dict(request.query_params) if request.method == "GET" else await _read_json(request)
        arguments = check_arguments(call, data)
        if "stop" in call.__annotations__:
            return Json(await _run(request, partial(call, context, **arguments), context))
        answer = await run_in_threadpool(call, context, **arguments)
        return _encoded(request, answer) if isinstance(answer, Answer) else Json(answer)

    return respond


def _encoded(request: Request, answer: Answer) -> Response:
    """The response to one of many clients who get the same answer."""
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers = {"content-encoding": "gzip", "vary": "accept-encoding"}
        return Response(answer.compressed, headers=headers, media_type="application/json")
    return Response(answer.body, media_type="application/json")


async def _run(request: Request, call: Callable[..., Any], context: ServerContext) -> Any:
    """Run a call in a thread. It is stopped after a minute, or when the client disconnects."""
    stop = Stop()

    async def disconnect() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    def work() -> Any:
        with context.job(stop, request.client.host if request.client else ""):
            return call(stop=stop)

    limiter = CapacityLimiter(1)  # its own: `Limits` counts searches, and quick calls do not wait for them
    answer = asyncio.create_task(to_thread.run_sync(work, limiter=limiter, abandon_on_cancel=True))
    answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # even if it is not awaited
    leaving = asyncio.create_task(disconnect())
    both = (answer, leaving)
    try:
        await asyncio.wait(both, timeout=limits.CALL_TIMEOUT, return_when="FIRST_COMPLETED")
        while compiling() and not answer.done() and not leaving.done():  # which happens once
            await asyncio.wait(both, timeout=1, return_when="FIRST_COMPLETED")
        if not answer.done():
            stop.set()
            await asyncio.wait((answer,), timeout=limits.STOP_TIMEOUT)
        if not answer.done():
            raise Stopped(f"this takes more than {limits.CALL_TIMEOUT:.0f} seconds")
        return answer.result()
    finally:
        stop.set()
        leaving.cancel()


def _without_ending(request: Request) -> Response:
    return RedirectResponse(str(request.url.replace(path=request.url.path.removesuffix(".html"))))


async def _static(request: Request, name: str | None = None) -> Response:
    return await _files.get_response(name or request.path_params["name"], request.scope)
