"""A server in this process, and its pages in a browser."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tuplet import Stop, serve

T = TypeVar("T")

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]


class Server:
    """The address of a server, and requests to it."""

    def __init__(self, address: str) -> None:
        self.whole = address
        self.address = address.partition("/#")[0].rstrip("/")

    def ask(self, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        """The status and the JSON of an answer; with a body it is a POST."""
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-type": "application/json"} if data is not None else {}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.address + path, data, sent | named)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    @property
    def socket(self) -> str:
        """The address of the websocket."""
        return self.address.replace("http", "ws") + "/api/live"


@contextmanager
def serving(**settings: Any) -> Iterator[Server]:
    """A server for a `with` block."""
    stop, there, address = Stop(), threading.Event(), []

    def ready(url: str) -> None:
        address.append(url)
        there.set()

    thread = threading.Thread(target=lambda: serve(port=0, ready=ready, stop=stop, **settings), daemon=True)
    thread.start()
    assert there.wait(60), "the server did not start"
    try:
        yield Server(address[0])
    finally:
        stop.set()
        thread.join(60)
        assert not thread.is_alive(), "the server did not end"


def awaited(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, run in a thread: the browser has an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


class Looking:
    """Pages in a browser, and the errors that they cause."""

    def __init__(self, browser: Any, server: Server) -> None:
        self.browser, self.server = browser, server
        self.errors: list[str] = []
        self._contexts: list[Any] = []

    def open(self, path: str, **settings: Any) -> Any:
        """A page, in a fresh browser context."""
        context = self.browser.new_context(
            base_url=self.server.address, **({"viewport": {"width": 1280, "height": 900}} | settings)
        )
        context.set_default_timeout(60_000)
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._request)
        page.goto(path)
        return page

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.text} ({message.location.get('url')})")

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.server.address, self.server.socket, "data:", "blob:")):
            self.errors.append(f"asked {request.url}")

    def close(self) -> None:
        """Close the pages; fails if there were errors."""
        for context in self._contexts:
            context.close()
        assert not self.errors, self.errors


def axe(page: Any) -> list[str]:
    """The serious violations that axe-core reports."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found if each["impact"] in ("serious", "critical")
    ]


def screenshots(page: Any, folder: Path, name: str) -> None:
    """Pictures of a page in both themes, at the widths people have."""
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        for width in (360, 768, 1366, 1920):
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=folder / f"{name}-{theme}-{width}.png")
