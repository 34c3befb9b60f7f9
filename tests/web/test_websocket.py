"""The websocket: searches that grow, agents that play, and jobs that end with their client."""

from __future__ import annotations

import asyncio
import json
import random
import resource
import time
from contextlib import suppress
from typing import Any

import pytest
import websockets

import tuplet
from browsing import Server, awaited
from tuplet.web.limits import MAX_JOBS, MAX_MESSAGE, MAX_STEPS

BOARD = "2048 2,4,8,16/0,2,4,8/0,0,2,4/0,0,0,2 120"
START = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2"


class Line:
    """A socket, and jobs over it."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    async def say(self, **message: Any) -> None:
        await self.connection.send(json.dumps(message))

    async def frame(self) -> dict[str, Any]:
        async with asyncio.timeout(60):
            return json.loads(await self.connection.recv())

    async def until_closed(self) -> None:
        """Read on until the other side hangs up."""
        async with asyncio.timeout(20):
            with suppress(websockets.ConnectionClosed):
                while True:
                    await self.connection.recv()

    async def job(self, **message: Any) -> list[dict[str, Any]]:
        """All frames of a job."""
        await self.say(**message)
        frames = []
        while True:
            frames.append(await self.frame())
            if frames[-1]["done"]:
                return frames
            await self.say(id=message["id"], type="ack")


def over(server: Server, do: Any) -> Any:
    """Do something over a socket."""

    async def run() -> Any:
        async with websockets.connect(server.socket) as connection:
            return await do(Line(connection))

    return awaited(run())


def test_a_growing_tree_ends_as_the_result_of_the_search(server: Server) -> None:
    asked = {"game": "ewn", "position": START, "agent": "mcts:sims=400000", "seed": 3}
    frames = over(server, lambda line: line.job(id=1, type="analyze", **asked, tree=2))
    analyses = [frame["analysis"] for frame in frames if "analysis" in frame]
    visits = [sum(move["visits"] for move in each["moves"]) for each in analyses]
    assert len(analyses) > 1 and visits == sorted(visits)
    for each in analyses:
        assert each["tree"]["visits"] == sum(move["visits"] for move in each["moves"])
    alone = tuplet.analyze("ewn", START, "mcts:sims=400000", seed=3, tree=2, progress=False)
    expected = json.loads(json.dumps(alone.as_json()))
    for each in (analyses[-1], expected):
        each.pop("seconds", None)
        each.pop("note")
    assert analyses[-1] == expected


def test_frames_of_a_search_go_deeper(server: Server) -> None:
    frames = over(server, lambda line: line.job(id=1, type="analyze", game="2048", position=BOARD, depth=3))
    analyses = [frame["analysis"] for frame in frames if "analysis" in frame]
    assert analyses[-1]["depth"] == 3 and analyses[0]["depth"] < 3
    alone = tuplet.analyze("2048", BOARD, "small", depth=3, progress=False).as_json()
    assert analyses[-1]["moves"] == alone["moves"]


def test_agents_play_by_the_rules_to_the_end(server: Server) -> None:
    position = "2048:board=2x2 2,0/0,2 0"
    asked = {"game": "2048:board=2x2", "position": position, "agents": {"player": "random"}}
    frames = over(server, lambda line: line.job(id=1, type="play", **asked))
    game, at = tuplet.game("2048:board=2x2"), tuplet.game("2048:board=2x2").parse(position)
    for move, outcome, reward, notation in (s for f in frames for s in f.get("steps", ())):
        after = at.play(move)
        assert after.score - at.score == reward
        at = after.apply_outcome(outcome)
        assert at.notation == notation and at == game.parse(notation)
    assert at.over and frames[-1]["position"]["notation"] == at.notation


def test_an_agent_plays_until_a_person_is_to_move(server: Server) -> None:
    async def do(line: Line) -> list[dict[str, Any]]:
        asked = {"game": "ewn", "position": START, "rng": "0000000000000001"}
        return await line.job(id=1, type="play", **asked, agents={"red": "easy"}, analysis=True)

    frames = over(server, do)
    steps = [step for frame in frames for step in frame.get("steps", ())]
    assert len(steps) == 1 and frames[-1]["position"]["turn"] == "blue"
    assert frames[-1]["position"]["die"] is not None  # it is rolled for the next side


def test_a_long_game_is_read_reviewed_and_written(server: Server) -> None:
    player = tuplet.make_agent("greedy", "2048")
    episodes = (tuplet.play_episode(player, tuplet.RandomEnvironment(seed)) for seed in range(99))
    episode = next(each for each in episodes if len(str(each)) > 3000)
    text = episode.text("episode")
    _, read = server.ask("/api/read", {"text": text})
    assert read["position"]["score"] == episode.score
    review = over(server, lambda line: line.job(id=2, type="review", record=text, depth=1))[-1]["review"]
    assert len(review["moves"]) == len(episode.moves)
    asked = {"game": "2048", "start": read["start"], "format": "episode"}
    _, write = server.ask("/api/write", asked | {"steps": [step[:2] for step in read["steps"]]})
    written = tuplet.read(write["text"]).record
    assert list(written.replay()) == list(episode.replay())


def test_nothing_queues_up_for_a_slow_client(server: Server) -> None:
    """One frame is on its way, and then the agent waits."""

    async def do(line: Line) -> tuple[int, int]:
        asked = {"game": "2048", "position": BOARD, "agents": {"player": "small"}}
        await line.say(id=1, type="play", **asked)
        first = await line.frame()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.5):
                await line.connection.recv()
        await line.say(id=1, type="ack")
        second = await line.frame()
        await line.say(id=1, type="stop")
        last = await line.frame()
        while not last["done"]:
            last = await line.frame()
        assert last["stopped"]
        return len(first["steps"]), len(second["steps"])

    first, second = over(server, do)
    assert first == 1 and 1 < second <= MAX_STEPS


def test_a_stopped_job_returns_what_it_has(server: Server) -> None:
    async def do(line: Line) -> dict[str, Any]:
        await line.say(id=7, type="analyze", game="ewn-6x7", agent="mcts:time=60")
        await line.frame()
        await line.say(id=7, type="stop")
        return await line.frame()

    last = over(server, do)
    assert last["done"] and last["stopped"] and last["analysis"]["interrupted"]


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ({"type": []}, "type must be one of"),
        ({"type": "play", "game": "2048", "position": BOARD, "agents": {}, "pace": "x"}, "pace must be a number"),
        ({"type": "play", "game": "2048", "position": BOARD, "agents": {"red": "small"}}, "sides"),
        ({"type": "analyze", "game": "chess"}, "is not a game"),
        ({"type": "review", "depth": 1}, "record is missing"),
        ({"type": "play", "game": "2048", "position": BOARD, "agents": {}, "pace": 61}, "pace must be 0 to 60"),
    ],
)
def test_a_wrong_job_is_an_error_of_one_line(server: Server, message: dict[str, Any], error: str) -> None:
    frames = over(server, lambda line: line.job(id=1, **message))
    assert error in frames[-1]["error"] and "\n" not in frames[-1]["error"]


def test_too_many_jobs_are_refused(server: Server) -> None:
    async def do(line: Line) -> list[str]:
        for number in range(MAX_JOBS + 1):
            await line.say(id=number, type="analyze", game="ewn-6x7", agent="mcts:time=60")
        while True:
            frame = await line.frame()
            if "error" in frame:
                return [frame["error"], frame["id"]]

    assert over(server, do) == [f"at most {MAX_JOBS} jobs can run on a socket: stop one first", MAX_JOBS]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", 1003),
        ("[]", 1003),
        ('{"id": "x"}', 1003),
        ('{"id": -1, "type": "stop"}', 1003),
        ("[" * 9000, 1003),
        (" " * (MAX_MESSAGE + 1), 1009),
        (b"\x00\xff", None),
    ],
)
def test_an_invalid_message_closes_its_socket_only(server: Server, message: str | bytes, code: int | None) -> None:
    async def do(line: Line) -> int | None:
        async with websockets.connect(server.socket) as other:
            await line.connection.send(message)
            await line.until_closed()
            frames = await Line(other).job(id=1, type="analyze", game="2048", position=BOARD)
            assert frames[-1]["analysis"]["best"]
        return line.connection.close_code

    closed = over(server, do)
    assert code is None or closed == code


def test_a_flood_closes_its_socket(server: Server) -> None:
    async def do(line: Line) -> int | None:
        with suppress(websockets.ConnectionClosed):
            for _ in range(5000):
                await line.say(id=1, type="ack")
        await line.until_closed()
        return line.connection.close_code

    assert over(server, do) == 1008
    assert server.ask("/api/games")[0] == 200


def test_fifty_clients_watch_at_once(server: Server) -> None:
    async def one(number: int) -> str:
        async with websockets.connect(server.socket) as connection:
            asked = {"game": "2048", "position": BOARD, "agents": {"player": "small"}, "moves": 20}
            frames = await Line(connection).job(id=number, type="play", **asked)
            return str(frames[-1]["position"]["notation"])

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(one(number) for number in range(50)))

    found = awaited(all_of_them())
    assert len(found) == 50 and len(set(found)) > 40  # each has its own random state


TYPES = ["analyze", "play", "review", "ack", "stop", "pace", "x"]


def _random_json(rng: random.Random, deep: int = 0) -> Any:
    """Random JSON."""
    kind = rng.randrange(9 if deep < 4 else 7)
    if kind < 4:
        words = [
            "2048",
            "ewn",
            "ewn-6x7",
            BOARD,
            START,
            "mcts:sims=99",
            "small",
            "left",
            "20",
            "exec:ls",
            "a:b",
            "../x",
            "\x00",
            "é" * 9,
            "",
            "mcts:sims=1e9",
            "1",
            "analyze",
            "2048:board=9x9",
            "ewn:cubes=99",
            "0" * 300,
        ]
        return rng.choice(words)
    if kind == 4:
        return rng.choice([0, 1, -1, 2**70, 1.5, 1e308, -0.0])
    if kind < 7:
        return rng.choice([None, True, False])
    if kind == 7:
        return [_random_json(rng, deep + 1) for _ in range(rng.randrange(4))]
    names = ["game", "position", "agent", "move", "rng", "depth", "time", "tree", "id", "type"]
    return {rng.choice(names): _random_json(rng, deep + 1) for _ in range(rng.randrange(5))}


def _fuzz(server: Server, seed: int, questions: int) -> None:
    rng = random.Random(seed)
    paths = ["position", "play", "analyze", "explain", "evaluate", "review", "read", "write"]
    for _ in range(questions):
        names = ["game", "position", "agent", "move", "rng", "outcome", "depth", "seed", "tree"]
        body = {rng.choice(names): _random_json(rng) for _ in range(rng.randrange(6))}
        asked = rng.choice([body, _random_json(rng), {"game": "2048", **body}, {"game": "ewn", **body}])
        data = json.dumps(asked).encode()
        if rng.random() < 0.2:
            data = bytes(rng.choice([b ^ 1 << rng.randrange(8), b]) for b in data)
        status, answer = server.ask(f"/api/{rng.choice(paths)}", data)
        assert status in (200, 400), (status, answer, asked)

    async def frames() -> None:
        for _ in range(max(questions // 20, 2)):
            async with websockets.connect(server.socket) as connection:
                with suppress(websockets.ConnectionClosed):
                    for number in range(20):
                        message = {"id": number % 3, "type": rng.choice(TYPES)}
                        message |= rng.choice([{}, {"game": "ewn"}, {"game": "2048"}])
                        more = _random_json(rng)
                        message |= more if isinstance(more, dict) and "id" not in more else {}
                        await connection.send(json.dumps(message))

    awaited(frames())
    assert server.ask("/api/games")[0] == 200


def test_random_requests_do_not_break_the_server(server: Server) -> None:
    _fuzz(server, 1, 150)


@pytest.mark.long
def test_a_minute_of_random_requests_does_not_leak_memory(server: Server) -> None:
    _fuzz(server, 0, 200)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, seed = time.monotonic(), 1
    while time.monotonic() - began < 60:
        seed += 1
        _fuzz(server, seed, 100)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 200_000, (before, after)  # kilobytes: some networks and trees


def test_bytes_and_invalid_utf8_close_the_socket_with_a_reason(
    server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    async def closed(*frames: Any) -> tuple[int | None, str | None]:
        async with websockets.connect(server.socket) as connection:
            for frame in frames:
                await connection.send(frame, text=True if b"\xff" in frame else None)
            with pytest.raises(websockets.ConnectionClosed):
                await connection.recv()
            return connection.close_code, connection.close_reason

    assert awaited(closed(b"bytes")) == (1003, "a message must be text, not bytes")
    assert awaited(closed(b"\xff\xff"))[0] == 1007  # no UTF-8
    assert "Traceback" not in capfd.readouterr().err
    assert server.ask("/api/games")[0] == 200


def test_a_bug_is_a_500_with_a_traceback_on_the_terminal(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A user's error is a line; any other exception is not shown as one."""

    def broken(*_: object, **__: object) -> None:
        raise KeyError("inner detail")

    monkeypatch.setattr("tuplet.arena.analyze.analyze", broken)
    asked = {"game": "2048", "position": BOARD}
    status, answer = server.ask("/api/analyze", asked)
    frame = over(server, lambda line: line.job(id=1, type="analyze", **asked))[-1]
    for error in (answer["error"], frame["error"]):
        assert error.startswith("internal error (KeyError)") and "detail" not in error
    assert status == 500
    for teller in ("Exception in ASGI application", "Exception in a job (analyze)"):
        # A page that an earlier test left open may ask at the same time, and fail as well.
        told = [record for record in caplog.records if record.getMessage().strip() == teller]
        assert told and all(record.exc_info and record.exc_info[0] is KeyError for record in told)
