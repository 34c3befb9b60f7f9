"""Who may ask: the host and the origin of a request, a token where others can reach the server,
how large a question is, and what a page may do in a browser.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Collection, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import Annotated
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tuplet.errors import UserError
from tuplet.system.user_code import untrusted_input
from tuplet.web import responses
from tuplet.web.schema import example

MOST_BODY = 64 * 1024  # bytes of a question
LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


def is_loopback(host: str) -> bool:
    """Whether nobody else can reach what listens there."""
    return host in LOOPBACK


class Guard:
    """Stands before the application, and lets through what may ask."""

    def __init__(
        self,
        app: ASGIApp,
        host: str = "127.0.0.1",
        token: str | None = None,
        allowed_hosts: Sequence[str] = (),  # names of a proxy that stands before the server
    ) -> None:
        self.app, self.token = app, token
        self._allowed = {host.lower() for host in allowed_hosts}
        proxies = [_name_of(host) for host in allowed_hosts]
        if None in proxies:
            wrong = allowed_hosts[proxies.index(None)]
            raise UserError(f"--allowed-host must be a host name such as tuplet.example.org (got {wrong!r})")
        self.session = secrets.token_urlsafe(32)  # what a cookie holds, which is not the token
        self._anywhere = host in ("0.0.0.0", "::", "")  # it is what was asked for
        name = socket.gethostname().lower()
        own = () if is_loopback(host) else (host.lower(), name, f"{name}.local")
        self._hosts = {*LOOPBACK, *own, *proxies}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or say why not."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._refused(scope, headers)
        if refused is not None:
            await self._refuse(scope, receive, send, *refused)
        else:
            with untrusted_input():  # whichever route it is
                if scope["type"] == "websocket":
                    await self.app(scope, receive, send)
                else:
                    await self._http(scope, receive, send, headers)

    def _refused(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """The status and the reason why somebody may not ask; None if he may."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            why = "this host is not served here: open the address that tuplet serve printed, or"
            return 421, f"{why} start it with --allowed-host"
        origin = headers.get("origin")
        if origin is not None and not _is_from(origin, {hosts[0].strip().lower(), *self._allowed}):
            return 403, "this comes from another page: open tuplet's own"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and (
            scope["type"] == "websocket" or scope["method"] != "GET"
        ):
            return 403, "this comes from another page: open tuplet's own"
        closed = scope["type"] == "websocket" or scope["path"].startswith("/api/")
        asks = closed and scope["path"] != "/api/token"
        if self.token is not None and asks and not self._is_known(scope, headers):
            return 401, "a token is needed: open the address that tuplet serve printed"
        return None

    def _is_ours(self, host: str) -> bool:
        name = _name_of(host)
        return name is not None and (name in self._hosts or (self._anywhere and _is_address(name)))

    def _is_known(self, scope: Scope, headers: Headers) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(_cookie_name(scope))
        except CookieError:
            cookie = None
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self.is_token(given):
            return True
        return cookie is not None and _equal(cookie.value, self.session)

    def is_token(self, given: str) -> bool:
        """Whether somebody knows it."""
        return self.token is not None and _equal(given, self.token)

    def let_in(self, scope: Scope, response: Response) -> None:
        """Give a cookie that scripts cannot read, in place of the token."""
        response.set_cookie(
            _cookie_name(scope),
            self.session,
            path="/",
            httponly=True,
            samesite="strict",
            secure=scope["scheme"] == "https",
        )

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, status: int, why: str) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})  # or a browser does not tell the reason
            await send({"type": "websocket.close", "code": 4000 + status, "reason": why})
        else:
            await JSONResponse({"error": why}, status, dict(HEADERS))(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        size = headers.get("content-length", "0")
        if not size.isdecimal() or int(size) > MOST_BODY:
            why = f"a question has {MOST_BODY // 1024} KiB at most: send it in pieces over /api/live"
            await self._refuse(scope, receive, send, 413, why)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > MOST_BODY:  # it did not say how much is coming
                return {"type": "http.disconnect"}
            return message

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    answer[name] = value
                answer.setdefault("cache-control", "no-store")
            await send(message)

        await self.app(scope, counted, dressed)


@example(token="what stands behind #token= in the address")
def log_in(*, token: str) -> Annotated[None, responses.LoggedIn]:
    """Exchange the token that tuplet serve printed for a cookie; programs need none.

    token: the token.
    """


def _cookie_name(scope: Scope) -> str:
    """Browsers send cookies to all ports of a host: each server has one of its own."""
    return f"tuplet-{scope['server'][1]}"


def _name_of(host: str) -> str | None:
    """A host without its port: `[::1]:2048` is ::1; None of what is no host."""
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:\[\]/@\s]+)(:\d{1,5})?", host.strip().lower())
    return None if found is None else found[1].strip("[]")


def _is_from(origin: str, hosts: Collection[str]) -> bool:
    """Whether a page is of one of these hosts, each with its port."""
    try:
        found = urlsplit(origin)
    except ValueError:
        return False
    return found.scheme in ("http", "https") and found.netloc.lower() in hosts


def _is_address(name: str) -> bool:
    """Whether it is an address in figures, which no name server can turn elsewhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _equal(one: str, other: str) -> bool:
    # JSON may hold half of a character, which UTF-8 has not.
    both = (text.encode(errors="surrogatepass") for text in (one, other))
    return hmac.compare_digest(*both)
