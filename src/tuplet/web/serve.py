"""`serve`: the page, until somebody stops it."""

from __future__ import annotations

import asyncio
import errno
import secrets
import socket
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tuplet.errors import UserError
from tuplet.games.catalogue import game as game_of
from tuplet.system.file_types import describe_file
from tuplet.system.stop import Stop
from tuplet.web.guard import is_loopback

PORT = 2048
LAST = 2067  # the ports that are tried where none is named
SWITCH = 0.001  # seconds after which Python lets another thread go on: a fifth of what is usual


def serve(
    *,
    port: int | None = None,
    host: str = "127.0.0.1",
    runs: str | Path = "runs",
    rules: Sequence[str] = (),
    token: str | None = None,
    allowed_hosts: Sequence[str] = (),
    ready: Callable[[str], object] | None = None,
    stop: Stop | None = None,
) -> None:
    """Serve the page and its HTTP/JSON API until `stop` is set.

    `port` is 2048, or the next that is free; 0 takes any. It listens where nobody else can reach
    it; any other `host` needs a `token`, and makes one if none is given, and so do
    `allowed_hosts`, the names of a proxy that stands before the server. `runs` is the folder whose
    runs can be named, `rules` are games of one's own (file.py:GAME) that can. `ready` is called
    with the address to open.
    """
    import uvicorn

    from tuplet.web import connections
    from tuplet.web.app import application
    from tuplet.web.context import ServerContext
    from tuplet.web.websocket import MOST_MESSAGE

    own = [game_of(each) for each in rules]
    if token is not None and len(token) < 16:
        raise UserError("a token has 16 letters at least")
    if Path(runs).exists() and not Path(runs).is_dir():
        raise UserError(f"--runs must be a folder (got {runs}, {describe_file(runs)})")
    if token is None and (allowed_hosts or not is_loopback(host)):
        token = secrets.token_urlsafe(24)
    listening = _listen(host, port)
    address = _address(host, listening.getsockname()[1])
    context = ServerContext(runs, own=own)
    connection: Any = partial(connections.Connection, most=connections.most_connections(), seconds=connections.SECONDS)
    config = uvicorn.Config(
        application(context, host, token, allowed_hosts),
        log_config=None,
        access_log=False,
        lifespan="off",
        http=connection,
        ws="websockets-sansio",
        ws_max_size=MOST_MESSAGE,
        server_header=False,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=64 * 1024,
        timeout_keep_alive=connections.KEEP_ALIVE,
    )
    server = uvicorn.Server(config)

    async def main() -> None:
        task = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started and not task.done():
            await asyncio.sleep(0.01)
        if ready is not None and server.started:
            ready(address + (f"/#token={token}" if token else "/"))
        while not (task.done() or server.should_exit or (stop is not None and stop.is_set())):
            await asyncio.sleep(0.05)
        context.close()
        server.should_exit = True
        await task

    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        asyncio.run(main())
    finally:
        sys.setswitchinterval(before)
        context.close()
        listening.close()


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens; OSError, or ValueError, says why there is none."""
    if port is not None and not 0 <= port <= 65535:
        raise UserError(f"port must be 0 to 65535 (got {port})")
    ports = range(PORT, LAST + 1) if port is None else (port,)
    for number in ports:
        try:
            family = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
        except OSError:
            raise UserError(f"{host} is no address of this machine: take 127.0.0.1") from None
        found = socket.socket(family[0], socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind(family[4])
            found.listen(128)
        except OSError as error:
            found.close()
            if error.errno == errno.EADDRNOTAVAIL:
                raise UserError(f"{host} is no address of this machine: take 127.0.0.1") from None
            why = error.strerror or str(error)
        else:
            found.setblocking(False)
            return found
    where = f"port {port}" if port is not None else f"ports {PORT} to {LAST}"
    raise OSError(f"cannot listen on {host}, {where}: {why}: choose another --port")


def _address(host: str, port: int) -> str:
    name = _own_address() if host in ("0.0.0.0", "::", "") else host
    return f"http://{f'[{name}]' if ':' in name else name}:{port}"


def _own_address() -> str:
    """The address of this machine in its network, which others need no name server to find."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        try:
            line.connect(("192.0.2.1", 9))  # nothing is sent: the system only picks a way out
        except OSError:  # there is no network
            return socket.gethostname()
        return str(line.getsockname()[0])
