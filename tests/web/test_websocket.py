"""The socket: searches that grow, agents that play, and jobs that end with who asked for them."""

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
from tuplet.web.jobs import MOST_STEPS
from tuplet.web.websocket import MOST_JOBS

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
            await self.say(id=message["id"], do="more")


def over(server: Server, do: Any) -> Any:
    """Do something over a socket."""

    async def run() -> Any:
        async with websockets.connect(server.socket) as connection:
            return await do(Line(connection))

    return awaited(run())


def test_a_tree_grows_into_the_searchs_own_result(server: Server) -> None:
    asked = {"game": "ewn", "position": START, "agent": "mcts:sims=400000", "seed": 3}
    frames = over(server, lambda line: line.job(id=1, do="analyze", **asked, tree=2))
    told = [frame["analysis"] for frame in frames if "analysis" in frame]
    visits = [sum(move["visits"] for move in each["moves"]) for each in told]
    assert len(told) > 1 and visits == sorted(visits)
    for each in told:
        assert each["tree"]["visits"] == sum(move["visits"] for move in each["moves"])
    alone = tuplet.analyze("ewn", START, "mcts:sims=400000", seed=3, tree=2, progress=False)
    expected = json.loads(json.dumps(alone.as_json()))
    for each in (told[-1], expected):
        each.pop("seconds", None)
        each.pop("note")
    assert told[-1] == expected


def test_a_search_goes_deeper_before_ones_eyes(server: Server) -> None:
    frames = over(server, lambda line: line.job(id=1, do="analyze", game="2048", position=BOARD, depth=3))
    told = [frame["analysis"] for frame in frames if "analysis" in frame]
    assert told[-1]["depth"] == 3 and told[0]["depth"] < 3
    alone = tuplet.analyze("2048", BOARD, "small", depth=3, progress=False).as_json()
    assert told[-1]["moves"] == alone["moves"]


def test_agents_play_by_the_rules_to_the_end(server: Server) -> None:
    position = "2048:board=2x2 2,0/0,2 0"
    asked = {"game": "2048:board=2x2", "position": position, "agents": {"player": "random"}}
    frames = over(server, lambda line: line.job(id=1, do="play", **asked))
    game, at = tuplet.game("2048:board=2x2"), tuplet.game("2048:board=2x2").parse(position)
    for move, outcome, reward, notation in (s for f in frames for s in f.get("steps", ())):
        after = at.play(move)
        assert after.score - at.score == reward
        at = after.happen(outcome)
        assert at.notation == notation and at == game.parse(notation)
    assert at.over and frames[-1]["position"]["notation"] == at.notation


def test_an_agent_plays_until_a_person_is_to_move(server: Server) -> None:
    async def do(line: Line) -> list[dict[str, Any]]:
        asked = {"game": "ewn", "position": START, "luck": "0000000000000001"}
        return await line.job(id=1, do="play", **asked, agents={"red": "easy"}, thoughts=True)

    frames = over(server, do)
    steps = [step for frame in frames for step in frame.get("steps", ())]
    assert len(steps) == 1 and frames[-1]["position"]["turn"] == "blue"
    assert frames[-1]["position"]["die"] is not None  # it is rolled for whoever is next


def test_long_games_come_and_go_in_pieces(server: Server) -> None:
    """A game that no message could hold is read, reviewed and written over the socket."""
    episode = tuplet.play_episode(tuplet.make_player("greedy"), tuplet.RandomEnvironment(1))
    text = str(episode)

    async def do(line: Line) -> list[dict[str, Any]]:
        async def send(number: int, task: str, whole: str, **asked: Any) -> dict[str, Any]:
            for at in range(0, len(whole), 700):
                await line.say(id=number, do="text", text=whole[at : at + 700])
            frames = await line.job(id=number, do=task, **asked)
            return frames[-1]

        read = await send(1, "read", text)
        review = await send(2, "review", text, depth=1)
        steps = json.dumps([step[:2] for step in read["read"]["steps"]])
        asked = {"game": "2048", "start": read["read"]["start"], "format": "episode"}
        return [read, review, await send(3, "write", steps, **asked)]

    read, review, write = over(server, do)
    assert read["read"]["position"]["score"] == episode.score
    assert len(review["review"]["moves"]) == len(episode.slides)
    written = tuplet.Episode.parse(write["write"]["text"])
    assert list(written.replay()) == [(board, action._replace(time_ms=0)) for board, action in episode.replay()]


def test_nothing_queues_up_for_who_looks_slowly(server: Server) -> None:
    """One frame is on its way, and then the agent waits."""

    async def do(line: Line) -> tuple[int, int]:
        asked = {"game": "2048", "position": BOARD, "agents": {"player": "small"}}
        await line.say(id=1, do="play", **asked)
        first = await line.frame()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.5):
                await line.connection.recv()
        await line.say(id=1, do="more")
        second = await line.frame()
        await line.say(id=1, do="stop")
        last = await line.frame()
        while not last["done"]:
            last = await line.frame()
        assert last["stopped"]
        return len(first["steps"]), len(second["steps"])

    first, second = over(server, do)
    assert first == 1 and 1 < second <= MOST_STEPS


def test_a_job_is_stopped_with_what_it_has(server: Server) -> None:
    async def do(line: Line) -> dict[str, Any]:
        await line.say(id=7, do="analyze", game="ewn-6x7", agent="mcts:time=60")
        await line.frame()
        await line.say(id=7, do="stop")
        return await line.frame()

    last = over(server, do)
    assert last["done"] and last["stopped"] and last["analysis"]["interrupted"]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ({"do": []}, "what to do is one of"),
        ({"do": "play", "game": "2048", "position": BOARD, "agents": {}, "pace": "x"}, "the pace"),
        ({"do": "play", "game": "2048", "position": BOARD, "agents": {"red": "small"}}, "sides"),
        ({"do": "analyze", "game": "chess"}, "is not a game"),
        ({"do": "write", "game": "2048", "start": BOARD}, "steps is missing"),
    ],
)
def test_what_is_wrong_with_a_job_is_told_in_one_line(server: Server, message: dict[str, Any], told: str) -> None:
    frames = over(server, lambda line: line.job(id=1, **message))
    assert told in frames[-1]["error"] and "\n" not in frames[-1]["error"]


def test_too_many_jobs_are_refused(server: Server) -> None:
    async def do(line: Line) -> list[str]:
        for number in range(MOST_JOBS + 1):
            await line.say(id=number, do="analyze", game="ewn-6x7", agent="mcts:time=60")
        while True:
            frame = await line.frame()
            if "error" in frame:
                return [frame["error"], frame["id"]]

    assert over(server, do) == [f"a socket has {MOST_JOBS} jobs at most: stop one", MOST_JOBS]


@pytest.mark.parametrize(
    ("rubbish", "code"),
    [
        ("{", 1003),
        ("[]", 1003),
        ('{"id": "x"}', 1003),
        ('{"id": -1, "do": "stop"}', 1003),
        ("[" * 9000, 1003),
        (" " * 17_000, 1009),
        (b"\x00\xff", None),
        ('{"id": 1, "do": "text", "text": 3}', 1003),
    ],
)
def test_rubbish_closes_its_socket_and_nothing_else(server: Server, rubbish: str | bytes, code: int | None) -> None:
    async def do(line: Line) -> int | None:
        async with websockets.connect(server.socket) as other:
            await line.connection.send(rubbish)
            await line.until_closed()
            frames = await Line(other).job(id=1, do="analyze", game="2048", position=BOARD)
            assert frames[-1]["analysis"]["best"]
        return line.connection.close_code

    closed = over(server, do)
    assert code is None or closed == code


def test_a_flood_closes_its_socket(server: Server) -> None:
    async def do(line: Line) -> int | None:
        with suppress(websockets.ConnectionClosed):
            for _ in range(5000):
                await line.say(id=1, do="more")
        await line.until_closed()
        return line.connection.close_code

    assert over(server, do) == 1008
    assert server.ask("/api/games")[0] == 200


def test_fifty_look_on_at_once(server: Server) -> None:
    async def one(number: int) -> str:
        async with websockets.connect(server.socket) as connection:
            asked = {"game": "2048", "position": BOARD, "agents": {"player": "small"}, "moves": 20}
            frames = await Line(connection).job(id=number, do="play", **asked)
            return str(frames[-1]["position"]["notation"])

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(one(number) for number in range(50)))

    found = awaited(all_of_them())
    assert len(found) == 50 and len(set(found)) > 40  # each has luck of its own


HANDLERS = ["analyze", "play", "review", "read", "write", "more", "stop", "pace", "text", "x"]


def _rubbish(luck: random.Random, deep: int = 0) -> Any:
    """Anything that JSON can say."""
    kind = luck.randrange(9 if deep < 4 else 7)
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
        return luck.choice(words)
    if kind == 4:
        return luck.choice([0, 1, -1, 2**70, 1.5, 1e308, -0.0])
    if kind < 7:
        return luck.choice([None, True, False])
    if kind == 7:
        return [_rubbish(luck, deep + 1) for _ in range(luck.randrange(4))]
    names = ["game", "position", "agent", "move", "luck", "depth", "time", "tree", "id", "do"]
    return {luck.choice(names): _rubbish(luck, deep + 1) for _ in range(luck.randrange(5))}


def _fuzz(server: Server, seed: int, questions: int) -> None:
    luck = random.Random(seed)
    paths = ["position", "play", "analyze", "explain", "evaluate", "review", "read", "write"]
    for _ in range(questions):
        names = ["game", "position", "agent", "move", "luck", "outcome", "depth", "seed", "tree"]
        body = {luck.choice(names): _rubbish(luck) for _ in range(luck.randrange(6))}
        asked = luck.choice([body, _rubbish(luck), {"game": "2048", **body}, {"game": "ewn", **body}])
        data = json.dumps(asked).encode()
        if luck.random() < 0.2:
            data = bytes(luck.choice([b ^ 1 << luck.randrange(8), b]) for b in data)
        status, answer = server.ask(f"/api/{luck.choice(paths)}", data)
        assert status in (200, 400), (status, answer, asked)

    async def frames() -> None:
        for _ in range(max(questions // 20, 2)):
            async with websockets.connect(server.socket) as connection:
                with suppress(websockets.ConnectionClosed):
                    for number in range(20):
                        message = {"id": number % 3, "do": luck.choice(HANDLERS)}
                        message |= luck.choice([{}, {"game": "ewn"}, {"game": "2048"}])
                        more = _rubbish(luck)
                        message |= more if isinstance(more, dict) and "id" not in more else {}
                        await connection.send(json.dumps(message))

    awaited(frames())
    assert server.ask("/api/games")[0] == 200


def test_rubbish_is_answered_and_the_server_goes_on(server: Server) -> None:
    _fuzz(server, 1, 150)


@pytest.mark.long
def test_a_minute_of_rubbish_leaves_the_memory_flat(server: Server) -> None:
    _fuzz(server, 0, 200)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, seed = time.monotonic(), 1
    while time.monotonic() - began < 60:
        seed += 1
        _fuzz(server, seed, 100)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 200_000, (before, after)  # kilobytes: some networks and trees


def test_what_is_no_text_closes_the_socket_with_a_reason(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    async def told(*frames: Any) -> tuple[int | None, str | None]:
        async with websockets.connect(server.socket) as connection:
            for frame in frames:
                await connection.send(frame, text=True if b"\xff" in frame else None)
            with pytest.raises(websockets.ConnectionClosed):
                await connection.recv()
            return connection.close_code, connection.close_reason

    assert awaited(told(b"bytes")) == (1003, "a message is text, not bytes")
    assert awaited(told(b"\xff\xff"))[0] == 1007  # no UTF-8
    assert "Traceback" not in capfd.readouterr().err
    assert server.ask("/api/games")[0] == 200
