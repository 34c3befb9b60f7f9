"""`tuplet serve`: the page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tuplet.cli.working import stopping


def serve(
    *,
    port: int | None = None,
    host: str = "127.0.0.1",
    runs: Path = Path("runs"),
    rules: Annotated[list[str] | None, Parameter(negative="")] = None,
    token: str | None = None,
    open_: Annotated[bool, Parameter(name="--open")] = True,
) -> int:
    """Open the page: play, analyse, and watch agents think, in your browser. Ctrl-C ends it.

    Its HTTP/JSON API is under /api/, with the same answers as --json; the page /api shows how.

    Parameters
    ----------
    port
        The port to listen on; 0 takes any. [default: 2048, or the next that is free]
    host
        The address to listen on. By default nobody else can reach it; with any other address (as in
        0.0.0.0, all of this machine's) whoever knows the token can.
    runs
        The folder whose training runs can be chosen.
    rules
        A game of your own that can be played, as in path/to/file.py:GAME; may be repeated.
    token
        What others must know, where they can reach it. [default: a new one each time]
    open_
        Open the browser.

    """
    import tuplet
    from tuplet.system.stop import Stop

    def ready(address: str) -> None:
        print(f"The page: {address}   (Ctrl-C ends it)", flush=True)
        if open_:
            _open(address)

    stop = Stop()
    with stopping(stop):
        tuplet.serve(
            port=port, host=host, runs=runs, rules=rules or (), token=token, ready=ready, stop=stop
        )
    print("Closed.", file=sys.stderr)
    return 0


def _open(address: str) -> None:
    """Where there is a browser and a screen; nobody waits for it."""
    import os
    import threading
    import webbrowser

    screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    if screen:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
