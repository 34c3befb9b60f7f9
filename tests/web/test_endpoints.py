"""The calls over HTTP answer as the command line does, and refuse everything else."""

from __future__ import annotations

import http.client
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

import tuplet
from browsing import Server, serving
from tuplet.web.endpoints import CALLS
from tuplet.web.schema import check_arguments, openapi

BOARD = "2048 2,4,8,16/0,2,4,8/0,0,2,4/0,0,0,2 120"
START = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2"


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        (
            {"game": "2048", "position": BOARD, "agent": "small", "depth": 2},
            ("2048", BOARD.split()[1], "--agent", "small", "--depth", 2),
        ),
        (
            {"game": "ewn", "position": START, "agent": "mcts:sims=2000", "tree": 1, "seed": 4},
            ("ewn", START, "--agent", "mcts:sims=2000", "--tree", 1, "--seed", 4),
        ),
        pytest.param(
            {"game": "2048:board=2x3", "position": "2,0,0,4,2,0", "agent": "expectimax:depth=2"},
            ("2048:board=2x3", "2,0,0,4,2,0", "--agent", "expectimax:depth=2"),
            marks=pytest.mark.long,
        ),
    ],
)
def test_analyze_answers_as_the_command_line(
    server: Server, tuplet: Any, question: dict[str, Any], arguments: tuple[Any, ...]
) -> None:
    status, answer = server.ask("/api/analyze", question)
    assert status == 200, answer
    printed = json.loads(tuplet("analyze", *arguments, "--json").stdout)
    answer.pop("seconds")
    for each in (answer, printed):
        each.pop("note", None)  # which says how long it took
    assert answer == printed


def test_lists_are_the_same_as_on_the_command_line(server: Server, tuplet: Any) -> None:
    assert server.ask("/api/games")[1] == json.loads(tuplet("list", "games", "--json").stdout)
    for game in ("ewn", "2048", "2048:board=3x3"):
        printed = json.loads(tuplet("list", "agents", "--game", game, "--json").stdout)
        assert server.ask(f"/api/agents?game={game}")[1] == printed
    assert server.ask("/api/runs") == (200, {"folder": "runs0", "train": False, "runs": []})


def test_runs_are_listed_and_play(tmp_path: Any, tuplet: Any) -> None:
    tuplet("train", "--net", "5x4", "--games", 50, "--out", tmp_path / "runs" / "mine", "--json")
    with serving(runs=tmp_path / "runs") as server:
        (run,) = server.ask("/api/runs")[1]["runs"]
        assert (run["run"], run["net"], run["games"]) == ("mine", "5x4", 50)
        assert "mine" in [a["agent"] for a in server.ask("/api/agents?game=2048")[1]["agents"]]
        asked = {"game": "2048", "position": BOARD, "agent": "mine"}
        printed = tuplet("analyze", "2048", BOARD, "--agent", tmp_path / "runs" / "mine", "--json")
        assert server.ask("/api/analyze", asked)[1]["moves"] == json.loads(printed.stdout)["moves"]
        for outside in ("../runs/../../x", "/etc/passwd", "mine/../../x", "..", ""):
            status, answer = server.ask("/api/analyze", asked | {"agent": outside})
            assert status == 400 and "error" in answer, outside


def test_evaluate_answers_as_the_command_line(server: Server, tuplet: Any) -> None:
    _, answer = server.ask("/api/evaluate", {"agent": "small", "games": 5, "seed": 3})
    printed = json.loads(tuplet("eval", "small", "--games", 5, "--seed", 3, "--json").stdout)
    for each in (answer, printed):
        each.pop("moves_per_s")
    assert answer == printed


def test_review_answers_as_the_command_line(server: Server, tuplet: Any) -> None:
    small = '{"player": "me", "start": "2048:board=2x2 2,0/0,2 0", "moves": ["left", "up"], "rolls": ["2@1", "2@2"]}'
    for record in ("me:random@0|0121#D31#L[4]72|@0", small):
        status, answer = server.ask("/api/review", {"record": record})
        assert status == 200, answer
        assert answer == json.loads(tuplet("review", record, "--json").stdout)
        assert server.ask("/api/read", {"text": record})[1]["kind"] == "game"


def test_a_game_is_read_and_written_again(server: Server) -> None:
    _, answer = server.ask("/api/read", {"text": "me:random@0|0121#D31#L[4]72|@0"})
    assert answer["format"] == "episode" and [step[0] for step in answer["steps"]] == ["down", "left"]
    asked = {"game": "2048", "start": answer["start"], "steps": answer["steps"]}
    for form in ("record", "episode", "2048verse"):
        _, text = server.ask("/api/write", asked | {"format": form})
        again = server.ask("/api/read", text)[1]
        assert again["format"] == form and again["steps"] == answer["steps"]


def test_moves_and_outcomes_follow_the_rules(server: Server) -> None:
    game = tuplet.game("2048")
    _, first = server.ask("/api/position", {"game": "2048", "seed": 5})
    position, rng = game.parse(first["position"]["notation"]), first["rng"]
    for move in ("left", "up", "right", "down") * 3:
        if move not in position.legal_moves():
            continue
        asked = {"game": "2048", "position": position.notation, "move": move, "rng": rng}
        _, answer = server.ask("/api/play", asked)
        after = position.play(move)
        assert answer["after"] == json.loads(json.dumps(after.as_json()))
        assert answer["reward"] == after.score - position.score
        position, rng = after.apply_outcome(answer["outcome"]), answer["rng"]
        assert answer["position"]["notation"] == position.notation
        again = server.ask("/api/play", asked)[1]
        assert again == answer  # the same random state


def test_a_die_is_rolled_and_cubes_are_placed(server: Server) -> None:
    asked = {"game": "ewn", "red": "654321", "blue": "123456", "seed": 1}
    _, answer = server.ask("/api/position", asked)
    assert answer["position"]["is_chance"] and answer["position"]["cells"][0][:3] == ["r6", "r5", "r4"]
    notation = answer["position"]["notation"]
    _, rolled = server.ask("/api/play", {"game": "ewn", "position": notation, "outcome": "3"})
    assert rolled["position"]["die"] == 3 and rolled["rng"] is None
    assert set(rolled["position"]["targets"]) == set(rolled["position"]["legal_moves"])
    _, known = server.ask("/api/position", {"game": "ewn-6x7", "red": "012345", "die": 3 * "1234501"})
    assert known["position"]["coming_die"][:7] == [1, 2, 3, 4, 5, 0, 1]
    asked = {"game": "ewn", "red": "recommended", "blue": "123456", "seed": 1}
    _, answer = server.ask("/api/position", asked)
    assert answer["position"]["cells"][0][0] in ("r1", "r6")  # a corner cube that seldom moves
    assert answer["position"]["cells"][4][4] == "b1" and server.ask("/api/position", asked)[1] == answer
    status, refused = server.ask("/api/position", {"game": "ewn-6x7", "red": "recommended"})
    assert status == 400 and "for ewn only" in str(refused)


def test_tuples_add_up_to_the_value_of_a_move(server: Server) -> None:
    asked = {"game": "2048", "position": BOARD, "agent": "small"}
    _, thought = server.ask("/api/analyze", asked)
    _, answer = server.ask("/api/explain", asked | {"move": thought["best"]})
    (best,) = (m for m in thought["moves"] if m["move"] == thought["best"])
    assert answer["value"] + answer["reward"] == pytest.approx(best["value"], rel=1e-5)
    for part in answer["tuples"]:
        assert sum(p["weight"] for p in part["placements"]) == pytest.approx(part["value"], rel=1e-5)
        assert len(part["placements"]) == 8


def test_learning_is_shown_step_by_step(server: Server) -> None:
    asked = {"games": 5, "seed": 2, "target": "state", "learner": "tc", "last": 4}
    known = tuplet.learning_steps("5x4", games=5, seed=2, target="state", learner="tc", last=4)
    _, answer = server.ask("/api/learning-steps", asked)
    assert answer == json.loads(json.dumps(known.as_json(-1)))
    first = answer["steps"][0]["number"]
    _, answer = server.ask("/api/learning-steps", asked | {"at": first})
    assert answer == json.loads(json.dumps(known.as_json(first))) and len(answer["steps"][0]["choices"]) == 4


@pytest.mark.parametrize(
    ("path", "body", "error"),
    [
        ("learning-steps", {"net": "2x8"}, "weights over the network"),
        ("learning-steps", {"net": "file.py:NET"}, "neither a network"),
        ("learning-steps", {"games": 1001}, "at most 1,000"),
        ("learning-steps", {"learner": "file.py:RULE"}, "must be td or tc"),
        ("learning-steps", {"target": "both"}, "target must be"),
        ("learning-steps", {"order": "sideways"}, "order must be"),
        ("learning-steps", {"at": 99999}, "at must be the number of a move"),
        ("self-play-steps", {"game": "2048"}, "cannot be learned"),
        ("self-play-steps", {"game": "ewn-6x7"}, "rolled die"),
        ("self-play-steps", {"net": "2x3"}, "weights over the network"),
        ("self-play-steps", {"games": 1001}, "at most 1,000"),
        ("analyze", {"game": "chess"}, "is not a game"),
        ("analyze", {"game": "os:system"}, "user's own game"),
        ("analyze", {"game": "ewn", "agent": "exec:ls"}, "cannot be named from here"),
        ("analyze", {"game": "ewn", "agent": "os:system"}, "cannot be named from here"),
        ("analyze", {"game": "ewn", "agent": "mcts:ucb=os:system"}, "cannot be named from here"),
        ("analyze", {"game": "2048", "agent": "/etc/passwd"}, "outside of the folder"),
        ("analyze", {"game": "2048", "agent": "expectimax:values=/etc/passwd"}, "outside"),
        ("analyze", {"game": "ewn", "agent": "mcts:sims=100000000"}, "sims must be at most 10,000,000"),
        ("analyze", {"game": "ewn", "agent": "alphabeta:table=28"}, "table must be at most 22"),
        ("analyze", {"game": "2048", "agent": "small", "depth": 9}, "depth must be at most 6"),
        ("analyze", {"game": "2048", "agent": "small", "time": 1000}, "time must be at most 60.0"),
        ("analyze", {"game": "2048", "deep": 1}, "unknown field 'deep' (expected: game, "),
        ("analyze", {"game": "2048", "depth": "3"}, "depth must be a whole number"),
        ("analyze", {"game": "2048", "depth": True}, "depth must be a whole number"),
        ("analyze", {"position": BOARD}, "game is missing"),
        ("analyze", [], "JSON object"),
        ("analyze", {"game": "2048", "position": "1,2,3"}, "a 4x4 board has 16 tiles"),
        ("play", {"game": "ewn", "position": START, "move": "99"}, "not legal"),
        ("play", {"game": "2048", "position": BOARD, "move": "left", "rng": "zz"}, "hexadecimal"),
        ("evaluate", {"games": 100_000}, "games must be 1 to 100"),
        ("review", {"record": "/etc/passwd"}, "neither a position nor a game"),
        ("review", {"record": "2,0,0,4,0,0,0,0,0,0,0,0,0,0,0,0"}, "record must be a game of 2048 in one line"),
        ("read", {"text": "os:system 1"}, "user's own game"),
        ("write", {"game": "2048", "start": BOARD, "steps": [1]}, "a step is a move"),
    ],
)
def test_a_bad_request_is_a_400_with_one_line(server: Server, path: str, body: Any, error: str) -> None:
    status, answer = server.ask(f"/api/{path}", body)
    assert status == 400 and error in answer["error"] and "\n" not in answer["error"], answer


def test_invalid_requests_are_refused(server: Server) -> None:
    assert server.ask("/api/analyze", b"{")[0] == 400
    assert server.ask("/api/analyze", b"[" * 5000)[0] == 400
    assert server.ask("/api/analyze", b"{}", content_type="text/plain")[0] == 400
    assert server.ask("/api/analyze", b" " * (1 << 20 | 1))[0] == 413
    assert server.ask("/api/nothing")[0] == 404
    assert server.ask("/api/analyze")[0] == 405
    assert server.ask("/static/../app.py")[0] == 404
    assert server.ask("/static/..%2fapp.py")[0] == 404


def test_a_search_stops_when_its_client_disconnects(server: Server) -> None:
    """A search of a minute ends when its client has left."""
    host, port = server.address.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port))
    body = json.dumps({"game": "ewn-6x7", "agent": "mcts:time=60"})
    connection.request("POST", "/api/analyze", body, {"content-type": "application/json"})
    _until(_searching)
    connection.close()
    _until(lambda: not _searching())


def test_quick_calls_do_not_wait_for_searches(server: Server) -> None:
    host, port = server.address.removeprefix("http://").split(":")
    body = json.dumps({"game": "ewn-6x7", "agent": "mcts:time=60"})
    asking = [http.client.HTTPConnection(host, int(port)) for _ in range(45)]
    for each in asking:
        each.request("POST", "/api/analyze", body, {"content-type": "application/json"})
    _until(_searching)
    assert server.ask("/api/play", {"game": "2048", "position": BOARD, "move": "left"})[0] == 200
    for each in asking:
        each.close()
    _until(lambda: not _searching())


def _until(true: Callable[[], bool]) -> None:
    """Wait for something."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < 20
        time.sleep(0.02)


def _searching() -> bool:
    """Whether a search is under way anywhere in this process."""
    return any(
        "analyze.py" in frame.f_code.co_filename for top in sys._current_frames().values() for frame in _frames(top)
    )


def _frames(frame: Any) -> Any:
    while frame is not None:
        yield frame
        frame = frame.f_back


def test_the_document_describes_every_call_and_its_examples_work(server: Server) -> None:
    status, document = server.ask("/api/openapi.json")
    assert status == 200 and document == json.loads(json.dumps(openapi(CALLS)))
    for (method, path), call in CALLS.items():
        operation = document["paths"][path][method.lower()]
        assert operation["summary"]
        if method == "POST":
            content = operation["requestBody"]["content"]["application/json"]
            schema, shown = content["schema"], content["example"]
            assert all(each["description"] for each in schema["properties"].values()), path
            assert check_arguments(call, shown) == getattr(call, "example", {})
            _fits(document, operation, *server.ask(path, shown))
        else:
            _fits(document, operation, *server.ask(path))
    for path, asked in (
        ("/api/analyze", {"game": "2048", "position": BOARD}),
        ("/api/analyze", {"game": "ewn", "agent": "mcts:sims=500", "tree": 2, "growth": True}),
        ("/api/position", {"game": "ewn"}),
        ("/api/read", {"text": "me:random@0|0121#D31#L[4]72|@0"}),
        ("/api/play", {"game": "2048"}),
    ):
        _fits(document, document["paths"][path]["post"], *server.ask(path, asked))


def _fits(document: Any, operation: Any, status: int, answer: Any) -> None:
    """An answer has the shape that the document promises."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = operation["responses"][str(status)]["content"]["application/json"]["schema"]
    assert "$ref" in schema and "429" not in operation["responses"]
    jsonschema.validate(answer, {**schema, "components": document["components"]})
