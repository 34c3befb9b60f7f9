"""Under load: silent connections, and more searches than there is room for."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import websockets

import tuplet
from browsing import Server, awaited, serving
from tuplet import Network, Stop
from tuplet.system.stop import Stopped
from tuplet.values.weights import read_weights
from tuplet.web import connections, jobs, limits
from tuplet.web.context import ServerContext, memory_of, turn_of
from tuplet.web.limits import BASE_MEMORY, MAX_JOBS, MAX_MEMORY, SEARCH_MEMORY, Busy, Limits

BOARD = "2048 2,4,8,16/0,2,4,8/0,0,2,4/0,0,0,2 120"
START = "ewn-6x7 r4r3r1..../r5r2...../r0....../......b4/.....b2b3/....b1b0b5 red 0:514542503314443010403"
HALF = b"POST /api/play HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
HEAD = HALF + b"Content-Length: 90\r\n\r\n"


def until(true: Callable[[], bool]) -> None:
    """Wait for something."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < 60
        time.sleep(0.01)


def connected(server: Server, say: bytes = b"") -> socket.socket:
    host, _, port = server.address.removeprefix("http://").partition(":")
    made = socket.create_connection((host, int(port)), timeout=20)
    made.sendall(say)
    return made


def hung_up(connection: socket.socket) -> bool:
    """Wait until the other side hangs up."""
    with suppress(ConnectionResetError):
        while connection.recv(65536):
            pass
    return True


def is_open(connection: socket.socket) -> bool:
    """Whether the other side has not hung up."""
    with selectors.DefaultSelector() as selector, suppress(ConnectionResetError):
        selector.register(connection, selectors.EVENT_READ)
        return not selector.select(0) or bool(connection.recv(1, socket.MSG_PEEK))
    return False


@pytest.mark.parametrize("said", [b"", b"GET", HALF, HEAD, HEAD + b'{"game"', b"GET / HTTP/1.1\r"])
def test_a_connection_without_a_request_is_closed(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REQUEST_TIMEOUT", 0.3)
    with serving() as server, connected(server, said) as connection:
        assert hung_up(connection)
        assert server.ask("/api/games")[0] == 200


def test_a_request_that_arrives_byte_by_byte_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte on its own comes in time, all of them do not."""
    monkeypatch.setattr(limits, "REQUEST_TIMEOUT", 0.5)
    with serving() as server, connected(server) as connection:
        ended = threading.Thread(target=hung_up, args=(connection,))
        ended.start()
        with suppress(OSError):
            for byte in HALF * 10:
                connection.sendall(bytes([byte]))
                ended.join(0.05)
                if not ended.is_alive():
                    break
        ended.join(20)
        assert not ended.is_alive()


def test_a_slow_response_does_not_close_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a client is to do has a limit, not how long its answer takes."""
    monkeypatch.setattr(limits, "REQUEST_TIMEOUT", 0.2)
    body = json.dumps({"game": "ewn-6x7", "agent": "mcts:time=0.6"})
    with serving() as server:
        asking = http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=120)
        for _ in range(2):
            asking.request("POST", "/api/analyze", body, {"content-type": "application/json"})
            answer = asking.getresponse()
            assert answer.status == 200 and json.load(answer)["best"]
            time.sleep(0.5)
            assert is_open(asking.sock)  # it is kept for the next one
        asking.close()


def test_a_client_that_does_not_read_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REQUEST_TIMEOUT", 0.3)
    with serving() as server, connected(server) as connection:
        connection.settimeout(0.2)

        def ask_on() -> None:
            while True:
                with suppress(TimeoutError):
                    connection.sendall(b"GET /static/p2048.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")

        with pytest.raises(ConnectionError):  # as soon as the system keeps no more of the answers
            ask_on()


def test_idle_connections_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """When there are too many, the oldest idle one is closed."""
    monkeypatch.setattr(limits, "MAX_CONNECTIONS", 20)
    with serving() as server:
        silent = [connected(server) for _ in range(60)]
        began = time.monotonic()
        assert server.ask("/api/games")[0] == 200
        assert time.monotonic() - began < 5  # far from the ten seconds that they have
        assert all(map(hung_up, silent[:40]))
        for each in silent:
            each.close()


def test_fewer_files_mean_fewer_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    for files, most in ((256, 128), (1, 1), (1 << 20, 512), (resource.RLIM_INFINITY, 512)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert connections.max_connections() == most


class Held:
    """Something that others want, held in a thread until it is let go."""

    def __init__(self, limits: Limits, client: str, **claim: Any) -> None:
        self.stop, self._go, self.has, self.error = Stop(), threading.Event(), False, None

        def hold() -> None:
            try:
                with limits.taking(client, self.stop, **claim):
                    self.has = True
                    self._go.wait(60)
            except (Busy, Stopped) as error:
                self.error = error

        self._thread = threading.Thread(target=hold, daemon=True)
        self._thread.start()

    def settled(self) -> Held:
        """Wait until it has what it wants, or is refused."""
        until(lambda: self.has or self.error is not None)
        return self

    def release(self) -> None:
        self._go.set()
        self._thread.join(60)


def test_a_client_leaves_turns_for_others() -> None:
    limits = Limits(memory=1 << 30, turns=4)
    many = [Held(limits, "one", turn="long").settled() for _ in range(3)]
    assert [each.has for each in many] == 3 * [True]
    refused = Held(limits, "one", turn="long", timeout=0.0).settled()
    assert isinstance(refused.error, Busy)
    other = Held(limits, "two", turn="long").settled()
    quick = Held(limits, "one", turn="instant").settled()  # which does not wait for long ones
    assert other.has and quick.has
    assert isinstance(Held(limits, "two", turn="long", timeout=0.0).settled().error, Busy)
    for each in (*many, other, quick):
        each.release()


def test_the_waiting_client_with_the_least_is_next() -> None:
    limits = Limits(memory=1 << 30, turns=2)
    first = Held(limits, "one", turn="long").settled()
    second = Held(limits, "two", turn="long").settled()
    waiting = Held(limits, "two", turn="long", timeout=60.0)
    until(lambda: len(limits._waiting) == 1)
    last = Held(limits, "three", turn="long", timeout=60.0)
    until(lambda: len(limits._waiting) == 2)
    first.release()
    assert last.settled().has and not waiting.has
    waiting.stop.set()  # and who leaves does not wait
    assert isinstance(waiting.settled().error, Stopped)
    second.release()
    last.release()
    assert not limits._waiting and not limits._turns and limits.free == 384 << 20


def test_searches_and_networks_share_the_memory() -> None:
    limits = Limits(memory=1 << 30)
    one = Held(limits, "one", memory=300 << 20).settled()
    assert isinstance(Held(limits, "two", memory=200 << 20, timeout=0.0).settled().error, Busy)
    small = Held(limits, "two", memory=1 << 20).settled()
    assert one.has and small.has and limits.free == 83 << 20
    limits.add_network(first := Network("0123"), 400 << 20)
    assert limits.free == 83 << 20  # each has its part
    assert limits.missing(240 << 20) == 0 and limits.missing(241 << 20) == 1 << 20
    del first
    assert limits.networks == 0 and limits.missing(1 << 40) == 0
    limits.add_network(huge := Network("0123"), 1 << 40)  # leaves room for two searches
    assert limits.free == SEARCH_MEMORY - (301 << 20)
    one.release()
    assert Held(limits, "two", memory=64 << 20).settled().has and huge.weights is not None


def test_limits_come_from_cores_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    for free, cores, memory, turns in (
        (1 << 40, 2, MAX_MEMORY - BASE_MEMORY, 6),
        (3 << 30, 16, (3 << 29) - BASE_MEMORY, 48),
        (100 << 20, 1, 3 * SEARCH_MEMORY, 3),
    ):
        monkeypatch.setattr("tuplet.web.limits.available_memory", lambda free=free: free)
        monkeypatch.setattr("tuplet.web.limits.cores", lambda cores=cores: cores)
        found = Limits()
        assert (found.memory, found.turns) == (memory, turns) and found.turns_per_client < turns


@pytest.mark.parametrize(
    ("game", "agent", "kind", "megabytes"),
    [
        ("2048", "small", "instant", 0),
        ("2048", "random", "instant", 0),
        ("2048", "expectimax:values=small,depth=3", "short", 0),
        ("2048", "expectimax:values=small,depth=6", "long", 0),
        ("2048", "expectimax:values=small,time=2", "long", 0),
        ("2048", "mcts:sims=1000", "short", 0),
        ("ewn", "mcts:time=60", "long", 57),
        ("ewn", "mcts:time=1,nodes=1000", "short", 0),
        ("ewn", "mcts:sims=10000000", "long", 57),
        ("ewn", "alphabeta:depth=3", "short", 16),
        ("ewn", "alphabeta:table=22", "long", 64),
        ("ewn", "best", "short", 32),
        ("ewn", "easy", "instant", 0),
    ],
)
def test_the_cost_of_an_agent_is_known_before_it_starts(game: str, agent: str, kind: str, megabytes: int) -> None:
    context = ServerContext()
    made = context.agent(agent, context.game(game))
    assert memory_of(made) >> 20 == megabytes
    with context.taking(None, made, turn=turn_of(made)):
        assert context.limits._turns[kind, "*"] == 1
        assert context.limits.free == context.limits.for_searches - memory_of(made)


@pytest.mark.parametrize(
    ("agent", "error"),
    [
        ("mcts:nodes=1000001", r"nodes must be at most 1,000,000 over the network \(got 1,000,001\)"),
        ("mcts:batch=10001", "batch must be at most 10,000"),
        ("mcts:time=61", "time must be at most 60.0"),
        ("alphabeta:depth=25", "depth must be at most 24"),
    ],
)
def test_a_search_over_the_network_has_a_budget(agent: str, error: str) -> None:
    context = ServerContext()
    with pytest.raises(ValueError, match=error):
        context.agent(agent, context.game("ewn"))
    within = re.sub(r"\d+", lambda found: str(int(found[0]) - 1), agent)
    assert context.agent(within, context.game("ewn"))


def test_a_network_is_read_once_for_all_agents(trained_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run, and whatever searches over its values; what its learner remembers is left out."""
    read = []
    monkeypatch.setattr(
        "tuplet.web.context.read_weights", lambda path, **how: read.append(path) or read_weights(path, **how)
    )
    context, name = ServerContext(trained_run.parent), trained_run.name
    game = context.game("2048")
    made = [
        context.agent(text, game)
        for text in (name, f"expectimax:values={name}", f"expectimax:values={name},depth=3", name)
    ]
    assert len(read) == 1 and len({id(each.network) for each in made}) == 1
    assert [each.depth for each in made] == [1, 2, 3, 1] and made[0].network.memory is None
    assert context.limits.networks == made[0].network.weights.nbytes


def test_unused_networks_make_room(tmp_path: Path) -> None:
    for number in range(5):
        Network("01234 12345").save(tmp_path / f"{number}")  # 8 MB
    context = ServerContext(tmp_path, Limits())
    context.limits.memory = context.limits.for_searches + (20 << 20)
    game = context.game("2048")
    for number in range(5):
        context.agent(f"{number}", game)
        assert context.limits.networks <= 16 << 20
    first = context.agent("4", game).network
    assert context.agent("4", game).network is first
    Network("0123").save(tmp_path / "4")  # learned meanwhile
    assert context.agent("4", game).network.name == "0123"
    assert not [key for key in context._networks if key[0].endswith("4") and key[2] > 1 << 20]


def test_waiting_for_a_network_can_be_stopped(trained_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, go = threading.Event(), threading.Event()

    def slow(path: Path, **how: Any) -> Any:
        reading.set()
        go.wait(60)
        return read_weights(path, **how)

    monkeypatch.setattr("tuplet.web.context.read_weights", slow)
    context, stop = ServerContext(trained_run.parent), Stop()
    threading.Thread(target=lambda: (reading.wait(60), stop.set()), daemon=True).start()
    with pytest.raises(Stopped, match="was read"):
        context.agent(trained_run.name, context.game("2048"), stop)
    go.set()
    assert context.agent(trained_run.name, context.game("2048"))  # it was read all the same


def test_a_call_ends_in_time_even_if_it_ignores_stop(trained_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    monkeypatch.setattr("tuplet.web.context.read_weights", lambda *_, **__: go.wait(60))
    monkeypatch.setattr("tuplet.web.context.find_weights", lambda path: (go.wait(60), path)[1])
    monkeypatch.setattr(limits, "CALL_TIMEOUT", 0.2)
    monkeypatch.setattr(limits, "STOP_TIMEOUT", 0.2)
    with serving(runs=trained_run.parent) as server:
        asked = {"game": "2048", "position": BOARD, "agent": trained_run.name}
        status, answer = server.ask("/api/analyze", asked)
        assert status == 503 and answer["error"] == "this takes more than 0 seconds"
        assert server.ask("/api/games")[0] == 200
        go.set()


def play_of(number: int, agents: dict[str, str], game: str = "ewn-6x7") -> str:
    position = {"2048": BOARD, "ewn-6x7": START}[game]
    return json.dumps({"id": number, "type": "play", "game": game, "position": position, "agents": agents})


def test_unwatched_jobs_release_their_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve games of trees where there is room for two; they go on when they are watched."""
    monkeypatch.setattr(limits, "STALL_TIMEOUT", 0.2)
    monkeypatch.setattr(limits, "MAX_MEMORY", BASE_MEMORY)
    monkeypatch.setattr(limits, "WAIT_TIMEOUT", 60.0)  # on a busy machine
    trees = {"player": "mcts:time=0.02"}

    async def run(server: Server) -> None:
        async with AsyncExitStack() as stack, asyncio.timeout(120):
            lines = [await stack.enter_async_context(websockets.connect(server.socket)) for _ in range(3)]
            for line in lines:
                for number in range(MAX_JOBS):
                    await line.send(play_of(number, trees, "2048"))
            for line in lines:  # each has begun, and was sent a first frame
                frames = [json.loads(await line.recv()) for _ in range(MAX_JOBS)]
                assert {frame["id"] for frame in frames} == {*range(MAX_JOBS)}
                assert not any("error" in frame or frame["done"] for frame in frames)
            asked = {"game": "ewn", "agent": "mcts:time=0.02"}
            status, answer = await asyncio.to_thread(server.ask, "/api/analyze", asked)
            assert status == 200, answer
            await lines[0].send('{"id": 2, "type": "ack"}')
            on = json.loads(await lines[0].recv())
            assert on["id"] == 2 and on["steps"]

    with serving() as server:
        awaited(run(server))


def test_an_agent_allocates_only_after_its_claim_is_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alpha-beta has its table from the moment a game begins."""
    opened = []
    monkeypatch.setattr(jobs.agent_hooks, "begin", lambda agent, *_: opened.append(agent))
    context, job = ServerContext(), jobs.Job(1, lambda _: None)
    all_of_it = Held(context.limits, "", memory=context.limits.for_searches).settled()
    agents = {"red": "alphabeta:depth=1"}
    game = jobs.AgentGame(context, job, game="ewn-6x7", position=START, agents=agents)
    playing = threading.Thread(target=game.run, daemon=True)
    playing.start()
    until(lambda: len(context.limits._waiting) == 1)
    assert not opened
    all_of_it.release()
    playing.join(60)
    assert len(opened) == 1 and game.position.turn == "blue"


def test_an_idle_socket_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_SOCKETS", 2)
    searching = {"type": "analyze", "game": "ewn-6x7", "agent": "mcts:time=60"}

    async def run(server: Server) -> None:
        async with AsyncExitStack() as stack, asyncio.timeout(120):

            async def connect() -> Any:
                return await stack.enter_async_context(websockets.connect(server.socket))

            busy, silent = await connect(), await connect()
            await busy.send(json.dumps(searching | {"id": 1}))
            await busy.recv()
            third = await connect()
            with pytest.raises(websockets.ConnectionClosed, match="idle for longest"):
                await silent.recv()
            await third.send(json.dumps(searching | {"id": 1}))
            await third.recv()
            refused = await connect_and_close(server)
            assert refused
            await busy.send('{"id": 1, "type": "stop"}')
            while not json.loads(await busy.recv())["done"]:
                pass

    async def connect_and_close(server: Server) -> bool:
        try:
            async with websockets.connect(server.socket) as line:
                await line.recv()
        except (websockets.ConnectionClosed, websockets.InvalidStatus):
            return True
        return False

    with serving() as server:
        awaited(run(server))


@contextmanager
def alone(folder: Path) -> Iterator[tuple[Server, Callable[[], int]]]:
    """A server in a process of its own, and the most memory it ever had, in bytes."""
    command = [sys.executable, "-m", "tuplet", "serve", "--port", "0", "--no-open", "--runs"]
    with subprocess.Popen([*command, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[2]

        def peak() -> int:
            status = Path(f"/proc/{process.pid}/status").read_text()
            return int(status.partition("VmHWM:")[2].split()[0]) * 1024

        try:
            yield Server(address), peak
        finally:
            process.terminate()


class Asking:
    """Sends quick requests until it is ended, and measures each."""

    QUESTIONS: tuple[tuple[str, Any], ...] = (
        ("/api/games", None),
        ("/api/play", {"game": "2048", "position": BOARD, "move": "left", "rng": "1"}),
        ("/api/analyze", {"game": "2048", "position": BOARD, "agent": "small", "depth": 2}),
    )

    def __init__(self, server: Server) -> None:
        self.seconds: list[float] = []
        self.wrong: list[Any] = []
        self._server, self._end = server, threading.Event()
        for path, body in self.QUESTIONS:  # compiled, before the clock runs
            assert server.ask(path, body)[0] == 200
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def _ask(self) -> None:
        while not self._end.wait(0.2):
            for path, body in self.QUESTIONS:
                began = time.monotonic()
                status, answer = self._server.ask(path, body)
                self.seconds.append(time.monotonic() - began)
                if status != 200:
                    self.wrong.append((path, status, answer))

    def ended(self) -> str:
        """How quick the answers were: of a hundred, two may be late if the machine is busy."""
        self._end.set()
        self._thread.join(60)
        assert not self.wrong, self.wrong[:3]
        seconds = sorted(self.seconds)
        summary = f"{len(seconds)} questions, slowest {seconds[-1]:.2f} s"
        assert len(seconds) > 60 and seconds[len(seconds) * 98 // 100] < 1, summary
        return summary


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
@pytest.mark.parametrize("said", [b"", HALF])
def test_600_silent_connections_do_not_block_others(tmp_path: Path, said: bytes) -> None:
    """Those that are closed are opened again at once."""
    with alone(tmp_path) as (server, peak):
        asking = Asking(server)
        silent = [connected(server, said) for _ in range(600)]
        until_then = time.monotonic() + 60
        while time.monotonic() < until_then:
            time.sleep(0.5)
            for number, each in enumerate(silent):
                if not is_open(each):
                    each.close()
                    silent[number] = connected(server, said)
        summary = asking.ended()
        for each in silent:
            each.close()
        print(f"{summary}, {peak() >> 20} MB")
        assert peak() < 1 << 30


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
def test_64_searches_and_16_sockets_stay_below_2_gigabytes(tmp_path: Path) -> None:
    """Each socket has four games, and looks at half of them; `strong` plays as well."""
    body = json.dumps({"game": "ewn-6x7", "agent": "mcts:time=40", "tree": 4})
    many = [{"red": "mcts:time=0.5", "blue": "mcts:time=0.5"}, {"red": "best", "blue": "best"}]
    learned = [{"player": "strong"}, {"player": "mcts:time=0.5"}]

    async def look(server: Server, seconds: float) -> int:
        frames = 0

        async def one(line: Any) -> None:
            nonlocal frames
            while True:
                frame = json.loads(await line.recv())
                frames += 1
                if frame["id"] % 2 and not frame["done"]:
                    await line.send(json.dumps({"id": frame["id"], "type": "ack"}))

        async with AsyncExitStack() as stack:
            for _ in range(16):
                line = await stack.enter_async_context(websockets.connect(server.socket))
                for number, agents in enumerate(many):
                    await line.send(play_of(number, agents))
                for number, agents in enumerate(learned):
                    await line.send(play_of(2 + number, agents, "2048"))
                stack.callback(asyncio.create_task(one(line)).cancel)
            await asyncio.sleep(seconds)
        return frames

    kinds = (("ewn-6x7", "mcts"), ("ewn-6x7", "best"), ("2048", "mcts"), ("2048", "strong"))
    for game, agent in kinds:
        tuplet.analyze(game, agent=agent, progress=False)  # compiled, and unpacked
    with alone(tmp_path) as (server, peak):
        for game, agent in kinds[:3]:
            assert server.ask("/api/analyze", {"game": game, "agent": agent})[0] == 200
        asking = Asking(server)
        searches = [http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=120) for _ in range(64)]
        for each in searches:
            each.request("POST", "/api/analyze", body, {"content-type": "application/json"})
        frames = awaited(look(server, 60))
        summary = asking.ended()
        answers = [each.getresponse().status for each in searches]
        print(f"{summary}, {frames} frames, {answers.count(200)} of 64 searches, {peak() >> 20} MB")
        assert answers.count(200) > 0 and {*answers} <= {200, 503} and peak() < 2 << 30
