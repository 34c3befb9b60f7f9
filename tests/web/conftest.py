"""A server that all tests of the page share, and a browser to look at it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from browsing import FLAGS, Looking, Server, serving
from tuplet.web.site import Modules, build_modules, build_site


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and says nothing."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that all tests share; its folder of runs is `runs`."""
    with serving(runs=tmp_path_factory.mktemp("runs")) as found:
        yield found


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A browser."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("there is no Chromium to open the pages in (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def looking(chromium: Any, server: Server) -> Iterator[Looking]:
    """Open pages; no console error and no request to another host is let pass."""
    found = Looking(chromium, server)
    yield found
    found.close()


@pytest.fixture(scope="session")
def wasm_modules() -> Modules:
    """The kernels as WebAssembly: of each module, with vectors and without."""
    return build_modules()


@pytest.fixture(scope="session")
def site(wasm_modules: Modules, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page that needs no server."""
    return build_site(tmp_path_factory.mktemp("site") / "below" / "tuplet", wasm_modules)


@pytest.fixture(scope="session")
def file_server(site: Path) -> Iterator[Server]:
    """What `python -m http.server` is: the site lies two folders below its root."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site.parent.parent))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Server(f"http://127.0.0.1:{server.server_port}/{site.parent.name}/{site.name}")
        server.shutdown()


@pytest.fixture
def pages(chromium: Any, file_server: Server) -> Iterator[Looking]:
    """Open pages that need no server."""
    found = Looking(chromium, file_server)
    yield found
    found.close()
