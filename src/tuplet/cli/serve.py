"""`tuplet serve`: the page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tuplet.cli.common import note, stop_on_signals


def serve(
    *,
    port: int | None = None,
    host: str = "127.0.0.1",
    runs: Path = Path("runs"),
    game: list[str] | None = None,
    token: str | None = None,
    allowed_host: list[str] | None = None,
    open_: Annotated[bool, Parameter(name="--open", negative="--no-open")] = True,
) -> None:
    """Open the page in your browser: play, analyse, and watch agents think. Ctrl-C ends it.

    The page has an HTTP/JSON API under /api/ that gives the same answers as --json. The page /api
    documents it.

    Parameters
    ----------
    port
        The port to listen on; 0 for any free port. [default: 2048, or the next free port]
    host
        The address to listen on. By default only this machine can connect. With another address
        (0.0.0.0 for all networks) anyone who has the token can.
    runs
        The folder of training runs to choose from.
    game
        A game of your own to offer: path/to/file.py:GAME. May be repeated.
    token
        The token others need to connect. [default: a new one each time]
    allowed_host
        The public name of a proxy in front of the server, such as tuplet.example.org. May be
        repeated. Others then need the token.
    open_
        Open the browser.

    Examples
    --------
    tuplet serve
    tuplet serve --port 8000 --no-open
    tuplet serve --game examples/connect4.py:CONNECT4

    """
    import tuplet
    from tuplet.system.stop import Stop

    def ready(address: str) -> None:
        print(f"The page: {address}   (Ctrl-C ends it)", flush=True)
        if open_:
            _open_browser(address)

    stop = Stop()
    with stop_on_signals(stop):
        tuplet.serve(
            port=port,
            host=host,
            runs=runs,
            rules=game or (),
            token=token,
            allowed_hosts=allowed_host or (),
            ready=ready,
            stop=stop,
        )
    note("Closed.")


def _open_browser(address: str) -> None:
    """Open the page in a browser if there is a screen, without waiting for it."""
    import os
    import threading
    import webbrowser

    screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    if screen:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
