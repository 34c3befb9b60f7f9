"""Serve the page and its API."""

from __future__ import annotations

import asyncio
import errno
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tuplet.errors import UserError
from tuplet.games.registry import game as game_of
from tuplet.system.file_types import describe_file
from tuplet.system.stop import Stop
from tuplet.web.guard import is_loopback

PORT = 2048
LAST_PORT = 2067  # the last that is tried if none is given
SWITCH_INTERVAL = 0.001  # seconds until Python switches threads, a fifth of the default: requests beside searches


def serve(
    *,
    port: int | None = None,
    host: str = "127.0.0.1",
    runs: str | Path = "runs",
    train: bool = False,
    rules: Sequence[str] = (),
    token: str | None = None,
    allowed_hosts: Sequence[str] = (),
    ready: Callable[[str], object] | None = None,
    stop: Stop | None = None,
) -> None:
    """Serve the page and its HTTP/JSON API until `stop` is set.

    `port` defaults to 2048, or the next free one; 0 takes any. The default `host` can be reached from this machine
    only. Any other host, and `allowed_hosts` (the public names of a proxy in front of the server), need a `token`; one
    is made if none is given. `runs` is the folder of runs that clients may name; with `train`, they may also start,
    stop, continue, change and delete runs there. `rules` are games of your own (file.py:GAME). `ready` is called with
    the address to open.
    """
    import uvicorn

    from tuplet.web import limits
    from tuplet.web.app import application
    from tuplet.web.connections import Connection, max_connections
    from tuplet.web.context import ServerContext

    games = [game_of(each) for each in rules]
    if token is not None and len(token) < 16:
        raise UserError(f"--token must have at least 16 characters (got {len(token)})")
    if Path(runs).exists() and not Path(runs).is_dir():
        raise UserError(f"--runs must be a folder (got {runs}, {describe_file(runs)})")
    if train and sys.platform == "win32":
        raise UserError("--train needs file locks, which Windows has not: use WSL")
    if token is None and (allowed_hosts or not is_loopback(host)):
        token = secrets.token_urlsafe(24)
    listening = _listen(host, port)
    address = _address(host, listening.getsockname()[1])
    context = ServerContext(runs, games=games, train=train)
    connection: Any = partial(Connection, limit=max_connections())
    config = uvicorn.Config(
        application(context, host, token, allowed_hosts),
        log_config=None,
        access_log=False,
        lifespan="off",
        http=connection,
        ws="websockets-sansio",
        ws_max_size=limits.MAX_MESSAGE,
        server_header=False,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=64 * 1024,
        timeout_keep_alive=limits.KEEP_ALIVE,
    )
    server = uvicorn.Server(config)

    async def main() -> None:
        task = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started and not task.done():
            await asyncio.sleep(0.01)
        if ready is not None and server.started:
            ready(address + (f"/#token={token}" if token else "/"))
        # Curves of long runs take a second to read: before somebody looks.
        threading.Thread(target=context.training.rows, daemon=True).start()
        while not (task.done() or server.should_exit or (stop is not None and stop.is_set())):
            await asyncio.sleep(0.05)
        context.close()
        server.should_exit = True
        await task

    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        asyncio.run(main())
    finally:
        sys.setswitchinterval(before)
        context.close()
        listening.close()


def _listen(host: str, port: int | None) -> socket.socket:
    """A listening socket."""
    if port is not None and not 0 <= port <= 65535:
        raise UserError(f"port must be 0 to 65535 (got {port})")
    reason = ""
    for number in range(PORT, LAST_PORT + 1) if port is None else (port,):
        try:
            family, *_, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
        except OSError:
            raise UserError(f"{host} is not an address of this machine: use 127.0.0.1") from None
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(address)
            listening.listen(128)
        except OSError as error:
            listening.close()
            if error.errno == errno.EADDRNOTAVAIL:
                raise UserError(f"{host} is not an address of this machine: use 127.0.0.1") from None
            reason = error.strerror or str(error)
        else:
            listening.setblocking(False)
            return listening
    ports = f"port {port}" if port is not None else f"ports {PORT} to {LAST_PORT}"
    raise UserError(f"cannot listen on {host}, {ports}: {reason}: choose another --port")


def _address(host: str, port: int) -> str:
    name = _network_address() if host in ("0.0.0.0", "::", "") else host
    return f"http://{f'[{name}]' if ':' in name else name}:{port}"


def _network_address() -> str:
    """The IP address of this machine in its network, which others can open without a name server."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: the system only picks a route
        except OSError:  # there is no network
            return socket.gethostname()
        return str(probe.getsockname()[0])
