"""Who may ask, and who may not."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import websockets

from browsing import Server, awaited, serving

TOKEN = "a-token-of-one-test-only"


@pytest.fixture(scope="module")
def closed() -> Iterator[Server]:
    """A server that others can reach."""
    with serving(host="0.0.0.0", token=TOKEN) as found:
        port = found.address.rpartition(":")[2]
        assert found.whole.endswith(f"/#token={TOKEN}")
        found.address = f"http://127.0.0.1:{port}"
        yield found


def _connects(server: Server, **headers: str) -> bool:
    """Whether a socket is let in."""

    async def attempt() -> bool:
        try:
            async with websockets.connect(
                server.socket, additional_headers=headers.get("more"), origin=headers.get("origin")
            ) as connection:
                await connection.send('{"id": 1, "do": "nothing"}')
                return "what to do" in json.loads(await connection.recv())["error"]
        except (websockets.InvalidStatus, websockets.ConnectionClosed):
            return False

    return awaited(attempt())


def test_another_host_is_refused(server: Server) -> None:
    port = server.address.rpartition(":")[2]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "10.0.0.7", "["):
        assert server.ask("/api/games", Host=host)[0] == 421, host
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
        assert server.ask("/api/games", Host=host)[0] == 200, host


def test_another_page_is_refused(server: Server) -> None:
    question = {"game": "2048"}
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "https://", "http://["):
        assert server.ask("/api/position", question, Origin=origin)[0] == 403, origin
    assert server.ask("/api/position", question, Sec_Fetch_Site="cross-site")[0] == 403
    assert server.ask("/api/position", question, Origin=server.address)[0] == 200


def test_sockets_of_other_pages_and_hosts_are_refused(server: Server) -> None:
    assert _connects(server) and _connects(server, origin=server.address)
    assert not _connects(server, origin="http://evil.example")
    assert not _connects(server, origin="null")


def test_a_token_is_needed_where_others_can_reach_it(closed: Server) -> None:
    assert closed.ask("/api/games")[0] == 401
    assert closed.ask("/api/games", Authorization="Bearer wrong")[0] == 401
    assert closed.ask("/api/games", Authorization=f"Bearer {TOKEN}")[0] == 200
    assert closed.ask("/api/games", Cookie=f"tuplet={TOKEN}")[0] == 401  # it is not the session
    assert closed.ask("/api/token", {"token": "wrong"})[0] == 401
    assert closed.ask("/api/token", {"token": None})[0] == 401
    body = json.dumps({"token": TOKEN}).encode()
    asked = urllib.request.Request(
        closed.address + "/api/token", body, {"content-type": "application/json"}
    )
    with urllib.request.urlopen(asked) as answer:
        cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and TOKEN not in cookie
    assert closed.ask("/api/games", Cookie=cookie.partition(";")[0])[0] == 200
    assert not _connects(closed)
    assert _connects(closed, more={"Cookie": cookie.partition(";")[0]})
    assert _connects(closed, more={"Authorization": f"Bearer {TOKEN}"})


def test_addresses_in_figures_are_ours_where_all_are_listened_on(closed: Server) -> None:
    allowed = {"Authorization": f"Bearer {TOKEN}"}
    assert closed.ask("/api/games", Host="10.0.0.7:2048", **allowed)[0] == 200
    assert closed.ask("/api/games", Host="evil.example", **allowed)[0] == 421


def test_pages_may_do_nothing_that_they_need_not(server: Server) -> None:
    with urllib.request.urlopen(server.address + "/2048") as answer:
        policy = answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answer.headers
    assert "unsafe" not in policy and "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


def test_a_body_that_does_not_say_how_long_it_is_is_cut_off(server: Server) -> None:
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as line:
        line.sendall(
            f"POST /api/analyze HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json"
            "\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )
        try:
            for _ in range(40):
                line.sendall(b"1000\r\n" + 4096 * b" " + b"\r\n")
            answer = line.recv(4096)
        except ConnectionError:
            answer = b""
    assert b" 413 " in answer or not answer
    assert server.ask("/api/games")[0] == 200


def test_strange_addresses_and_ports_are_told_in_one_line(tuplet: Any) -> None:
    for words, told in (
        (("--port", "99999"), "a port is 0 to 65535"),
        (("--host", "no.such.host.example"), "is no address of this machine"),
        (("--host", "0.0.0.0", "--token", "short"), "16 letters"),
        (("--rules", "nothing.py:GAME"), "nothing.py"),
    ):
        done = tuplet("serve", "--no-open", *words)
        assert done.returncode == 2 and told in done.stderr and done.stderr.count("\n") == 1
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = tuplet("serve", "--no-open", "--port", taken.getsockname()[1])
        assert done.returncode == 2 and "choose another --port" in done.stderr


def test_ctrl_c_ends_it_within_a_second(tmp_path: Path) -> None:
    """Also while a search is under way and a socket is open."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tuplet", "serve", "--port", "0", "--no-open"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert process.stdout is not None
    server = Server(process.stdout.readline().split()[2])

    async def look() -> float:
        async with websockets.connect(server.socket) as connection:
            asked = {"id": 1, "do": "analyze", "game": "ewn-6x7", "agent": "mcts:time=60"}
            await connection.send(json.dumps(asked))
            await connection.recv()
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            while process.poll() is None and time.monotonic() - began < 10:
                await asyncio.sleep(0.02)
            return time.monotonic() - began

    took = awaited(look())
    assert process.returncode == 0, process.communicate()
    assert took < 2.0  # a second, on a machine that does nothing else
    assert process.stderr is not None and process.stderr.read() == "Closed.\n"
