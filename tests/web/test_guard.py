"""Which requests are let in, and which are refused."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
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
from tuplet.web.app import _is_worth_logging

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
                await connection.send('{"id": 1, "type": "nothing"}')
                return "type must be" in json.loads(await connection.recv())["error"]
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
    port = server.address.rpartition(":")[2]
    for origin in (
        f"{server.address}0",
        f"{server.address}.evil.example",
        server.address[:-1],
        server.address.removesuffix(f":{port}"),
        f"http://evil.example:{port}",
        f"ftp://127.0.0.1:{port}",
    ):
        assert server.ask("/api/position", question, Origin=origin)[0] == 403, origin
    for site in ("cross-site", "same-site", "what-will-be"):
        assert server.ask("/api/position", question, Sec_Fetch_Site=site)[0] == 403, site
        assert server.ask("/api/games", Sec_Fetch_Site=site)[0] == 200  # a link that is followed
    for site in ("same-origin", "none"):
        assert server.ask("/api/position", question, Sec_Fetch_Site=site)[0] == 200, site
    assert server.ask("/api/position", question, Origin=server.address)[0] == 200


def test_sockets_of_other_pages_and_hosts_are_refused(server: Server) -> None:
    assert _connects(server) and _connects(server, origin=server.address)
    for origin in ("http://evil.example", "null", f"{server.address}0", server.address[:-1]):
        assert not _connects(server, origin=origin), origin
    for site in ("cross-site", "same-site"):
        assert not _connects(server, more={"Sec-Fetch-Site": site}), site
    assert _connects(server, more={"Sec-Fetch-Site": "same-origin"})


def test_a_refused_socket_is_closed_with_the_reason(server: Server, closed: Server) -> None:
    """A browser shows no reason of a socket that was not accepted."""

    async def close_of(where: Server, **more: str) -> tuple[int, str]:
        async with websockets.connect(where.socket, additional_headers=more) as connection:
            with pytest.raises(websockets.ConnectionClosed):
                await connection.recv()
            assert connection.close_code is not None
            return connection.close_code, connection.close_reason or ""

    code, why = awaited(close_of(closed))
    assert code == 4401 and "a token is needed" in why
    code, why = awaited(close_of(server, Origin="http://evil.example"))
    assert code == 4403 and "another page" in why


def test_a_proxy_is_served_under_its_public_name() -> None:
    """As docs/page.md says: whether the proxy keeps the Host or sets another."""
    with serving(allowed_hosts=["Tuplet.example.org"], token=TOKEN) as server:
        public, question = "https://tuplet.example.org", {"game": "2048"}
        allowed = {"Authorization": f"Bearer {TOKEN}"}
        for host in ("tuplet.example.org", server.address.removeprefix("http://")):
            for origin in ({"Origin": public}, {}):
                assert server.ask("/api/position", question, Host=host, **origin, **allowed)[0] == 200
                assert server.ask("/api/position", question, Host=host, **origin)[0] == 401
            for origin in (f"{public}:8443", f"{public}.evil.example", "https://evil.example"):
                asked = server.ask("/api/position", question, Host=host, Origin=origin, **allowed)
                assert asked[0] == 403, origin
        assert server.ask("/api/games", Host="evil.example", **allowed)[0] == 421
        assert _connects(server, origin=public, more=allowed)
        assert not _connects(server, origin="https://evil.example", more=allowed)
        assert "Secure" in _cookie(server, {"x-forwarded-proto": "https"})
        assert "Secure" not in _cookie(server)
    with serving(allowed_hosts=["tuplet.example.org"]) as server:
        assert "#token=" in server.whole  # others can reach it


def _cookie(server: Server, headers: dict[str, str] | None = None) -> str:
    """What is given for the token."""
    asked = urllib.request.Request(
        server.address + "/api/token",
        json.dumps({"token": TOKEN}).encode(),
        {"content-type": "application/json", **(headers or {})},
    )
    with urllib.request.urlopen(asked) as answer:
        return str(answer.headers["set-cookie"])


def test_two_servers_of_a_host_do_not_log_each_other_out(closed: Server) -> None:
    """Browsers send cookies to all ports of a host."""
    with serving(host="0.0.0.0", token=TOKEN) as other:
        other.address = f"http://127.0.0.1:{other.address.rpartition(':')[2]}"
        cookies = {}
        for server in (closed, other):
            name, _, value = _cookie(server).partition(";")[0].partition("=")
            cookies[name] = value
        both = "; ".join(f"{name}={value}" for name, value in cookies.items())
        assert closed.ask("/api/games", Cookie=both)[0] == 200
        assert other.ask("/api/games", Cookie=both)[0] == 200


def test_a_wrong_token_is_refused_without_a_traceback(closed: Server, capfd: pytest.CaptureFixture[str]) -> None:
    for body, status in (
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b'{"token": 5}', 400),
        (b'{"token": "\\ud800"}', 401),
        ({"token": "wrong"}, 401),
        ({"token": TOKEN, "more": 1}, 400),
    ):
        found = closed.ask("/api/token", body)
        assert found[0] == status and "error" in found[1], body
    assert closed.ask("/api/token", {}, content_type="text/plain")[0] == 400
    assert closed.ask(f"/static/{300 * 'x'}")[0] == 404
    assert closed.ask("/static/%00")[0] == 404
    assert "Traceback" not in capfd.readouterr().err


def test_the_printed_address_can_be_reached_from_other_machines(closed: Server) -> None:
    """A bare host name is known to this machine alone."""
    name = closed.whole.removeprefix("http://").rpartition(":")[0].partition(":")[0]
    assert name == socket.gethostname() or ipaddress.ip_address(name)


def test_a_token_is_needed_if_other_machines_can_connect(closed: Server) -> None:
    assert closed.ask("/api/games")[0] == 401
    assert closed.ask("/api/games", Authorization="Bearer wrong")[0] == 401
    assert closed.ask("/api/games", Authorization=f"Bearer {TOKEN}")[0] == 200
    assert closed.ask("/api/games", Cookie=f"tuplet={TOKEN}")[0] == 401  # it is not the session
    assert closed.ask("/api/token", {"token": "wrong"})[0] == 401
    assert closed.ask("/api/token", {"token": None})[0] == 400
    cookie = _cookie(closed)
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and TOKEN not in cookie
    assert closed.ask("/api/games", Cookie=cookie.partition(";")[0])[0] == 200
    assert not _connects(closed)
    assert _connects(closed, more={"Cookie": cookie.partition(";")[0]})
    assert _connects(closed, more={"Authorization": f"Bearer {TOKEN}"})


def test_any_ip_address_is_a_valid_host_of_a_public_server(closed: Server) -> None:
    allowed = {"Authorization": f"Bearer {TOKEN}"}
    assert closed.ask("/api/games", Host="10.0.0.7:2048", **allowed)[0] == 200
    assert closed.ask("/api/games", Host="evil.example", **allowed)[0] == 421


def test_the_content_security_policy_is_strict(server: Server) -> None:
    with urllib.request.urlopen(server.address + "/2048") as answer:
        policy = answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answer.headers
    assert "unsafe" not in policy and "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


def test_a_body_without_a_length_is_cut_off(server: Server) -> None:
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as line:
        line.sendall(
            f"POST /api/analyze HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json"
            "\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )
        try:
            for _ in range(20):
                line.sendall(b"10000\r\n" + 65536 * b" " + b"\r\n")
            answer = line.recv(4096)
        except ConnectionError:
            answer = b""
    assert b" 413 " in answer or not answer
    assert server.ask("/api/games")[0] == 200


def test_a_wrong_host_or_port_is_an_error_of_one_line(tuplet: Any) -> None:
    for words, error in (
        (("--port", "99999"), "--port must be 0 to 65535 (got 99999)"),
        (("--host", "no.such.host.example"), "is not an address of this machine"),
        (("--host", "0.0.0.0", "--token", "short"), "at least 16 characters"),
        (("--game", "nothing.py:GAME"), "nothing.py"),
        (("--host", "1.2.3.4"), "1.2.3.4 is not an address of this machine"),
        (("--runs", __file__), "--runs must be a folder"),
        (("--allowed-host", "https://x/"), "--allowed-host must be a host name"),
    ):
        done = tuplet("serve", "--no-open", *words)
        assert done.returncode == 2 and error in done.stderr and done.stderr.count("\n") == 1
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = tuplet("serve", "--no-open", "--port", taken.getsockname()[1])
        assert done.returncode == 2 and "choose another --port" in done.stderr


def test_ctrl_c_stops_the_server_during_a_search(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tuplet", "serve", "--port", "0", "--no-open"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stdout is not None
    server = Server(process.stdout.readline().split()[2])

    async def look() -> None:
        async with websockets.connect(server.socket) as connection:
            asked = {"id": 1, "type": "analyze", "game": "ewn-6x7", "agent": "mcts:time=60"}
            await connection.send(json.dumps(asked))
            await connection.recv()
            process.send_signal(signal.SIGINT)
            until = time.monotonic() + 50  # the search would take longer
            while process.poll() is None and time.monotonic() < until:
                await asyncio.sleep(0.02)

    awaited(look())
    assert process.returncode == 0, process.communicate()
    assert process.stderr is not None and process.stderr.read() == "Closed.\n"


def test_requests_that_are_cancelled_at_the_end_are_not_logged() -> None:
    """Stopping the server while it compiles prints no traceback."""
    error = asyncio.CancelledError()
    record = logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, "Exception", (), (type(error), error, None))
    assert not _is_worth_logging(record)
    record.exc_info = (KeyError, KeyError(), None)
    assert _is_worth_logging(record)
