"""Which requests are let in, by host, origin and token, and what a page may do in a browser."""

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
_OTHER_PAGE = "the request comes from another page: open tuplet's own"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on this host."""
    return host in LOOPBACK


class Guard:
    """An application behind its checks of host, origin and token. Every response gets the security headers."""

    def __init__(
        self,
        app: ASGIApp,
        host: str = "127.0.0.1",
        token: str | None = None,
        allowed_hosts: Sequence[str] = (),  # public names of a proxy in front of the server
    ) -> None:
        self.app, self.token = app, token
        self._allowed = {host.lower() for host in allowed_hosts}
        proxies = [_name_of(host) for host in allowed_hosts]
        if None in proxies:
            wrong = allowed_hosts[proxies.index(None)]
            raise UserError(f"--allowed-host must be a host name such as tuplet.example.org (got {wrong!r})")
        self.session = secrets.token_urlsafe(32)  # the cookie's value, which is not the token
        self._anywhere = host in ("0.0.0.0", "::", "")
        name = socket.gethostname().lower()
        own = () if is_loopback(host) else (host.lower(), name, f"{name}.local")
        self._hosts = {*LOOPBACK, *own, *proxies}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("cache-control", "no-store" if scope["path"].startswith("/api/") else "no-cache")
            await send(message)

        if (refusal := self._refusal(scope)) is None:
            with untrusted_input():  # on every route
                await self.app(scope, receive, send_with_headers)
        elif scope["type"] == "websocket":
            status, reason = refusal
            await receive()
            await send({"type": "websocket.accept"})  # a browser shows the reason only after that
            await send({"type": "websocket.close", "code": 4000 + status, "reason": reason})
        else:
            status, reason = refusal
            await JSONResponse({"error": reason}, status)(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """The status and the reason for which a request is refused; None if it is not."""
        headers, is_socket = Headers(scope=scope), scope["type"] == "websocket"
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return 421, "unknown host: open the address that tuplet serve printed, or start it with --allowed-host"
        origin = headers.get("origin")
        if origin is not None and not _is_from(origin, {hosts[0].strip().lower(), *self._allowed}):
            return 403, _OTHER_PAGE
        same_site = headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        if not same_site and (is_socket or scope["method"] != "GET"):
            return 403, _OTHER_PAGE
        is_call = (is_socket or scope["path"].startswith("/api/")) and scope["path"] != "/api/token"
        if self.token is not None and is_call and not self._is_logged_in(scope, headers):
            return 401, "a token is needed: open the address that tuplet serve printed"
        return None

    def _is_ours(self, host: str) -> bool:
        name = _name_of(host)
        return name is not None and (name in self._hosts or (self._anywhere and _is_ip(name)))

    def _is_logged_in(self, scope: Scope, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.is_token(token):
            return True
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(_cookie_name(scope))
        except CookieError:
            return False
        return cookie is not None and _equal(cookie.value, self.session)

    def is_token(self, text: str) -> bool:
        """Whether a text is the token."""
        return self.token is not None and _equal(text, self.token)

    def set_cookie(self, scope: Scope, response: Response) -> None:
        """Log a browser in by a cookie that scripts cannot read."""
        response.set_cookie(
            _cookie_name(scope),
            self.session,
            path="/",
            httponly=True,
            samesite="strict",
            secure=scope["scheme"] == "https",
        )


@example(token="the text behind #token= in the address")
def log_in(*, token: str) -> Annotated[None, responses.LoggedIn]:
    """Exchange the token for a cookie, as the page does. Programs send the token itself with each request.

    token: the token that tuplet serve printed.
    """


def _cookie_name(scope: Scope) -> str:
    """The name of this server's cookie: browsers send cookies to all ports of a host."""
    return f"tuplet-{scope['server'][1]}"


def _name_of(host: str) -> str | None:
    """A host without its port: `[::1]:2048` is ::1; None if it is not a host."""
    match = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:\[\]/@\s]+)(:\d{1,5})?", host.strip().lower())
    return None if match is None else match[1].strip("[]")


def _is_from(origin: str, hosts: Collection[str]) -> bool:
    """Whether an origin is one of these hosts, each with its port."""
    try:
        url = urlsplit(origin)
    except ValueError:
        return False
    return url.scheme in ("http", "https") and url.netloc.lower() in hosts


def _is_ip(name: str) -> bool:
    """Whether a host is an IP address, which no name server can redirect."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _equal(one: str, other: str) -> bool:
    # JSON may contain lone surrogates.
    return hmac.compare_digest(*(text.encode(errors="surrogatepass") for text in (one, other)))
