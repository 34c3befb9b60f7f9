"""The page without a server answers as the server does: the same questions, asked in Node and in Python."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tuplet
from browsing import Server
from tuplet import UserError
from tuplet.agents.listing import GAMES
from tuplet.games.formats import write
from tuplet.values.players import VALUES
from tuplet.web import endpoints
from tuplet.web.context import ServerContext
from tuplet.web.wasm_exports import SELECTED
from wasm_calls import node

pytestmark = pytest.mark.slow

DRIVER = Path(__file__).parent.parent / "wasm_answers.mjs"
Question = tuple[str, dict[str, Any]]
CALLS = {path: call for (_, path), call in endpoints.CALLS.items()}


def ask_here(questions: list[Question], context: ServerContext) -> Iterator[Any]:
    """The answers of the server's functions."""
    for path, body in questions:
        try:
            yield json.loads(json.dumps(CALLS[path](context, **body)))
        except UserError as error:
            yield {"error": str(error)}


def ask_there(questions: list[Question], site: Path, kind: str) -> list[Any]:
    """The answers of the worker."""
    lines = "\n".join(json.dumps(question) for question in questions)
    done = subprocess.run([node(), str(DRIVER), str(site), kind], input=lines, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """Where two answers differ. Sums may differ in the last digit: Python's way of adding numbers has changed."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = {*one, *other} - {"seconds", "note"}  # a note has seconds, too
        return [
            found
            for key in sorted(keys)
            for found in differences(one.get(key, "missing"), other.get(key, "missing"), f"{where}.{key}")
        ]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = zip(one, other, strict=True)
        return [found for i, (a, b) in enumerate(pairs) for found in differences(a, b, f"{where}[{i}]")]
    if (type(one) is float and type(other) in (int, float)) or (type(other) is float and type(one) is int):
        return [] if math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-9) else [f"{where}: {one} {other}"]
    return [] if one == other and type(one) is type(other) else [f"{where}: {one!r:.200} {other!r:.200}"]


def boards() -> Iterator[str]:
    """Boards of 2048 as they occur, with large tiles and full ones."""
    random = np.random.default_rng(1)
    for number in range(150):
        exponents = random.integers(0, (4, 8, 12, 16)[number % 4], 16)
        exponents[random.random(16) < (0.1, 0.4, 0.7)[number % 3]] = 0
        if number % 5 == 0:
            exponents[0] = 15 + number // 5 % 3
        tiles = [str(1 << int(e) if e else 0) for e in exponents]
        rows = "/".join(",".join(tiles[i : i + 4]) for i in range(0, 16, 4))
        yield f"2048 {rows} {4 * number}{' ?' if number % 7 == 6 and '0' in tiles else ''}"


def small_boards() -> Iterator[tuple[str, str]]:
    random = np.random.default_rng(2)
    for number in range(60):
        rows, columns = random.integers(2, 5, 2)
        name = f"2048:board={rows}x{columns}" if (rows, columns) != (4, 4) else "2048"
        name += ",spawn4=0.25" if number % 2 and ":" in name else ""
        tiles = [str(1 << int(e) if e else 0) for e in random.integers(0, 5, rows * columns)]
        text = "/".join(",".join(tiles[i : i + columns]) for i in range(0, rows * columns, columns))
        yield name, f"{name} {text} {number}{' ?' if number % 3 == 2 and '0' in tiles else ''}"


def ewn_positions() -> Iterator[tuple[str, str, str | None]]:
    """Positions of random games of the family, with a move of each."""
    random = np.random.default_rng(3)
    for name in GAMES:
        if not name.startswith("ewn"):
            continue
        for seed in range(6):
            position = tuplet.game(name).start(seed)
            while not position.over:
                if position.is_chance:
                    yield name, position.notation, None
                    position = position.apply_outcome(random.choice([*position.chance_outcomes()]))
                    continue
                move = str(random.choice(position.legal_moves()))
                yield name, position.notation, move
                position = position.play(move)
            yield name, position.notation, None


def questions() -> list[Question]:
    asked: list[Question] = [("/api/games", {})]
    for number, board in enumerate(boards()):
        at = {"game": "2048", "position": board}
        asked.append(("/api/position", {**at, "seed": number}))
        asked += [
            ("/api/play", {**at, "move": move, "rng": f"{number:016x}"}) for move in ("up", "right", "down", "left")
        ]
        asked.append(("/api/play", {**at, "rng": "00000000000000ff"}))
        asked.append(("/api/analyze", {**at, "agent": "small"}))
        if number % 5 == 0:
            asked.append(("/api/analyze", {**at, "agent": "small", "depth": 2}))
            asked.append(("/api/analyze", {**at, "agent": "small", "downgrade": 4096}))
            asked += [("/api/explain", {**at, "move": move, "agent": "small"}) for move in ("up", "left")]
        if number % 50 == 0:
            asked.append(("/api/analyze", {**at, "agent": "small", "depth": 3}))
    for name, board in small_boards():
        asked.append(("/api/position", {"game": name, "position": board, "seed": 1}))
        asked += [
            ("/api/play", {"game": name, "position": board, "move": m, "rng": "0123456789abcdef"})
            for m in ("up", "left")
        ]
        asked.append(("/api/analyze", {"game": name, "position": board, "agent": "random", "seed": 5}))
    asked += [("/api/position", {"game": game, "seed": seed}) for game in GAMES for seed in range(10)]
    asked += [("/api/position", {"game": game, "seed": seed, "roll": True}) for game in GAMES for seed in range(10)]
    asked += [("/api/position", {"game": "ewn-6x7", "seed": 1, "red": "012345", "blue": "543210"})]
    asked += [("/api/position", {"game": "ewn", "seed": 1, "red": "123", "blue": "543210"})]
    for number, (name, position, move) in enumerate(ewn_positions()):
        at = {"game": name, "position": position}
        asked.append(("/api/position", {**at, "seed": 1}))
        asked.append(("/api/play", {**at, "move": move, "rng": f"{number:016x}"}))
        if number % 4 == 0:
            ucb = SELECTED[number // 4 % len(SELECTED)]
            agent = (
                f"mcs:sims=2000,ucb={ucb}",
                f"mcts:sims=3000,batch=5,expand=20,ucb={ucb}",
                "mcts:cutoff=0,sims=500",
            )[number % 3]
            asked.append(("/api/analyze", {**at, "agent": agent, "tree": 3, "growth": number % 8 == 0, "seed": number}))
            asked.append(("/api/analyze", {**at, "agent": "easy", "seed": number}))
            steps = {"ucb": ucb, "batch": 1 + number % 3, "expand": 2 + number % 5, "solver": number % 8 > 0}
            asked.append(("/api/search-steps", {**at, **steps, "first": number % 20, "last": 40, "seed": number}))
        if number % 5 == 0:
            agent = EWN_AGENTS[number // 5 % len(EWN_AGENTS)]
            if name in VALUES or "values" not in agent:
                asked.append(("/api/analyze", {**at, "agent": agent.replace("{values}", name), "seed": number}))
    return [*asked, *texts(), *learning_steps(), *reviews(), *wrong()]


EWN_AGENTS = (  # each of a size that is searched in one piece
    "best:depth=1",
    "best:depth=3",
    "best:nodes=20000",
    "alphabeta:depth=2",
    "alphabeta",
    "alphabeta:depth=4,table=12,reduce=yes",
    "alphabeta:depth=2,values={values}",
    "mcts:sims=400,values={values}",
    "mcts:sims=200,values={values},cutoff=3,mix=0.5",
    "hard",
    "normal",
)


def reviews() -> list[Question]:
    """Games to review: of a learned player, of random moves, not finished, on small boards."""
    asked: list[Question] = []
    for number, name in enumerate(("2048", "2048", "2048:spawn4=0.3", "2048:board=3x3")):
        random, position = np.random.default_rng(number), tuplet.game(name).start(number)
        start, steps = position.notation, []
        while len(steps) < (60, 200, 30, 20)[number] and not position.over:
            best = tuplet.analyze(name, position, "small").best if number == 0 else None
            move = best or str(random.choice(position.legal_moves()))
            after = position.play(move)
            outcome = str(random.choice([*after.chance_outcomes()]))
            steps.append([move, outcome])
            position = after.apply_outcome(outcome)
        if number == 2:
            steps[-1][1] = None
        for form in ("record", "episode") if number < 2 else ("record",):
            record = write(name, start, steps, form)
            agents = [{"agent": "random"}]
            if number < 3:
                agents += [{}, {"agent": "small"}, {"agent": "small", "depth": 2}]
            asked += [("/api/review", {"record": record, **agent}) for agent in agents]
    asked += [("/api/review", {"record": text}) for text in ("hello there", "2,4,8,16/0,2,4,8/0,0,2,4/0,0,0,2", "")]
    return asked


def learning_steps() -> list[Question]:
    """Games that are learned from, step by step, and what is wrong with some."""
    path, asked = "/api/learning-steps", []
    board = "2,4,8,16/32,64,2,8/4,2,16,4/0,8,2,0"
    for number, (learner, target) in enumerate((a, b) for a in ("td", "tc") for b in ("afterstate", "state")):
        at: dict[str, Any] = {"learner": learner, "target": target, "seed": number}
        for more in ({}, {"order": "forward"}, {"lam": 0.7, "alpha": 0.3}, {"lam": 0.0, "spawn4": 0.3}):
            asked += [(path, {**at, **more, "games": games}) for games in (0, 30)]
            asked.append((path, {**at, **more, "games": 10, "board": board, "last": 200}))
        asked += [(path, {**at, "games": 100, "last": last, "net": "0123 4567"}) for last in (1, 7, 200)]
        asked.append((path, {**at, "board": board, "moves": "ulr"}))
        asked.append((path, {**at, "board": board, "last": 200, "at": number - 2}))
    wrong: list[dict[str, Any]] = [
        {"learner": "mine"},
        {"target": "both"},
        {"order": "sideways"},
        {"alpha": 1.5},
        {"lam": 1.5},
        {"lam": 0.5, "order": "forward"},
        {"spawn4": 1.5},
        {"games": 1001},
        {"games": -1},
        {"last": 201},
        {"last": 0},
        {"seed": -1},
        {"at": 99999},
        {"at": -99},
        {"moves": "x"},
        {"board": "nothing"},
        {"board": "0,0,0,0/0,0,0,0/0,0,0,0/0,0,0,0"},
        {"board": "2,4,2,4/4,2,4,2/2,4,2,4/4,2,4,2"},
        {"board": "2,0,0,0/0,0,0,0/0,0,0,0/0,0,0,0", "moves": "u"},
    ]
    return [*asked, *((path, each) for each in wrong), ("/api/homework", {})]


def texts() -> list[Question]:
    """Positions and games to read and to write."""
    pasted = [
        "2 . . 4 / . 8 . . / . . . . / . . . .",
        "2,0,0,4,0,8,0,0,0,0,0,0,0,0,0,0",
        "[[2, 0, 0, 4], [0, 8, 0, 0], [0]*4, [0]*4]",
        "[[2, 0, 0, 4],\n [0, 8, 0, 0],\n [0, 0, 0, 0],\n [0, 0, 0, 0]]",
        "| 2 |   |   | 4 |\n|---|---|---|---|\n|   | 8 |   |   |\n|   |   |   |   |\n|   |   |   | 2 |",
        '{"board": [2, 0, 0, 4, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}',
        "exponents 1,0,0,2,0,3,0,0,0,0,0,0,0,0,0,17",
        "1 2 3\n4 5 6\n7 8 9",
        "2,,,4\n,8,,\n,,,\n,,,2",
        "2048 2,4,8,16/0,2,4,8/0,0,2,4/0,0,0,2 120 ?",
        "2,4/0,2",
        "2048:board=2x2 2,4/0,2 12",
        "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2",
        "1000000000000002",
        "https://2048verse.com/p/120000000000000h",
        "3x3-1_¾ü0¾ûg",
        "hello there",
        "2 3 4 5",
        "",
        "2,4,6,8,0,0,0,0,0,0,0,0,0,0,0,0",
        "2,4,8",
    ]
    game = tuplet.game("2048")
    for seed in range(3):
        record = tuplet.Record(("me",), game.start(seed))
        state = np.uint64(seed)
        for _ in range(60):
            if record.over:
                break
            state, move = record.position.random_move(state)
            record.play(move)
            state, outcome = record.position.random_outcome(state)
            record.apply_outcome(outcome)
        pasted += [record.text("record"), record.text("episode"), record.text("2048verse"), record.text("episode")[:-9]]
    ewn = tuplet.Record(("one", "other"), tuplet.game("ewn").start(1))
    state = np.uint64(1)
    while not ewn.over:
        if ewn.position.is_chance:
            state, outcome = ewn.position.random_outcome(state)
            ewn.apply_outcome(outcome)
        else:
            state, move = ewn.position.random_move(state)
            ewn.play(move)
    pasted += [ewn.line, ewn.line.replace("red", "blue", 1)]
    asked: list[Question] = [("/api/read", {"text": text}) for text in pasted]
    asked += [("/api/read", {"text": text, "game": "2048:spawn4=0.3"}) for text in pasted[:12]]
    asked += [("/api/read", {"text": "r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2", "game": "ewn"})]
    start, steps = "2048 2,0,0,2/0,0,0,0/0,0,0,0/0,0,0,0 0", [["left", "2@5"], ["down", "4@0"], ["right", None]]
    for form in ("record", "episode", "2048verse", "nothing"):
        asked.append(
            ("/api/write", {"game": "2048", "start": start, "steps": steps, "format": form, "names": ["you|@"]})
        )
        asked.append(("/api/write", {"game": "2048", "start": start, "steps": steps[:2], "format": form}))
    asked.append(("/api/write", {"game": "2048", "start": start, "steps": [["up", "2@5"]]}))
    return asked


def wrong() -> list[Question]:
    """Questions with something wrong in them."""
    start = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red"
    at = {"game": "ewn", "position": f"{start} 2"}
    asked: list[Question] = [
        ("/api/position", {"game": "ewn", "position": text, "seed": 1})
        for text in (
            "nothing",
            f"{start} 7",
            f"{start} ?",
            start.replace("red", "green 2"),
            start.replace("b6", "b7") + " 1",
            start.replace("r2", "r1") + " 1",
            start.replace("/", "", 1) + " 1",
            f"{start} 2 3",
            "ewn-6x7 a b c",
        )
    ]
    asked += [("/api/play", {**at, "move": move}) for move in ("12", "20", "99", "")]
    asked += [("/api/play", {**at, "position": f"{start} ?", "outcome": outcome}) for outcome in ("3", "9", "x")]
    asked += [("/api/play", {**at, "rng": "xyz"})]
    asked += [
        ("/api/play", {"game": "2048", "position": "2,0,0,0/0,0,0,0/0,0,0,0/0,0,0,0", "move": move})
        for move in ("left", "l", "sideways")
    ]
    full = "2,0,0,0/0,0,0,0/0,0,0,0/0,0,0,0 0 ?"
    asked += [
        ("/api/play", {"game": "2048", "position": full, "outcome": o}) for o in ("2@1", "4@15", "8@1", "2@0", "x")
    ]
    asked += [("/api/position", {"game": game}) for game in ("chess", "2048:board=9x9", "2048:spawn4=2", "2048:x=1")]
    asked += [
        ("/api/position", {"game": "2048", "position": text})
        for text in (
            "2048 3,0,0,0/0,0,0,0/0,0,0,0/0,0,0,0 0",
            "2048 2,0/0,0 0",
            "2048 2,0,0,0/0,0,0,0/0,0,0,0/0,0,0,0 x",
            "a/b",
            "131072,131072,0,0/0,0,0,0/0,0,0,0/0,0,0,0",
        )
    ]
    asked += [
        ("/api/analyze", {**at, "agent": agent})
        for agent in (
            "mcts:sims=0",
            "mcts:c=x",
            "mcts:ucb=puct,c1=1",
            "mcts:nodes=5",
            "mcts:time=100",
            "mcts:what=1",
            "mcts:solver=maybe",
            "mcts:results=poor",
            "mcts:sims=99999999",
            "mcts:mix=2",
            "easy:x=1",
        )
    ]
    asked += [
        ("/api/analyze", {**at, "agent": "mcts:sims=100", "tree": 99}),
        ("/api/analyze", {**at, "agent": "easy", "tree": 2}),
    ]
    asked += [("/api/analyze", {"game": "2048", "position": full, "agent": "small"})]
    asked += [
        ("/api/search-steps", {**at, **settings})
        for settings in (
            {"ucb": "thompson"},
            {"ucb": "ucb1", "c1": 1.0},
            {"c": -1.0},
            {"batch": 0},
            {"expand": 20_000},
            {"first": 3, "last": 3},
            {"last": 2000},
            {"position": f"{start} ?"},
            {"game": "2048", "position": full},
        )
    ]
    asked += [
        ("/api/play", {"game": "2048", "position": f"{'/'.join(['2,4,8,16'] * 4)} 0 ?", "rng": "00000000000000ff"})
    ]
    asked += [
        ("/api/analyze", {**at, "agent": agent})
        for agent in (
            "alphabeta:depth=0",
            "alphabeta:depth=25",
            "alphabeta:depth=200",
            "alphabeta:nodes=0",
            "alphabeta:time=0",
            "alphabeta:table=1",
            "best:table=25",
            "best:what=1",
            "hard:depth=3",
        )
    ]
    empty = "0,0,0,0/0,0,0,0/0,0,0,0/0,0,0,0"
    asked += [("/api/analyze", {"game": "2048", "position": empty, "agent": "small"})]
    return asked


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Question], list[Any]]:
    asked = questions()
    return asked, list(ask_here(asked, ServerContext(tmp_path_factory.mktemp("runs"))))


@pytest.mark.parametrize("kind", ["simd", "plain"])
def test_the_worker_answers_as_the_server_does(
    kind: str, site: Path, expected: tuple[list[Question], list[Any]]
) -> None:
    asked, answers = expected
    there = ask_there(asked, site, kind)
    wrong = [
        (path, body, found[:3])
        for (path, body), here, other in zip(asked, answers, there, strict=True)
        if (found := differences(here, other))
    ]
    assert not wrong, f"{len(wrong)} of {len(asked)} answers differ: {wrong[:5]}"
    assert len(asked) > 2000 and {path for path, _ in asked} >= {
        "/api/games",
        "/api/position",
        "/api/play",
        "/api/analyze",
        "/api/explain",
        "/api/search-steps",
        "/api/read",
        "/api/write",
        "/api/learning-steps",
        "/api/homework",
        "/api/review",
    }


ASK = """async (questions) => {
    const worker = new Worker("static/wasm-worker.js", {type: "module"}), answers = [];
    const ask = (call, path, body) => new Promise((resolve, reject) => {
        worker.onmessage = ({data: {answer, error}}) => resolve(error === undefined ? answer : {error});
        worker.onerror = () => reject(new Error("the worker failed"));
        worker.postMessage({call, path, body});
    });
    for (const [number, [path, body]] of questions.entries()) answers.push(await ask(number, path, body));
    worker.terminate();
    return answers;
}"""


def test_the_worker_in_chromium_answers_as_the_server_does(
    chromium: Any, file_server: Server, expected: tuple[list[Question], list[Any]]
) -> None:
    asked, answers = expected
    chosen = [i for i, (path, _) in enumerate(asked) if i % 7 == 0 or path in ("/api/explain", "/api/review")]
    page = chromium.new_page()
    page.goto(f"{file_server.address}/ewn.html")
    there = page.evaluate(ASK, [asked[i] for i in chosen])
    page.close()
    wrong = [
        (asked[i], found[:3])
        for i, other in zip(chosen, there, strict=True)
        if (found := differences(answers[i], other))
    ]
    assert not wrong, f"{len(wrong)} of {len(chosen)} answers differ: {wrong[:5]}"
    assert len(chosen) > 500 and {asked[i][0] for i in chosen} == {path for path, _ in asked}
