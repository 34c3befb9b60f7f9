"""One function, four faces: Python, the command line, JSON, and notebooks."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import tuplet as package
from tuplet import Board, GreedyAgent, RandomEnvironment, play_episode
from tuplet.cli import app
from tuplet.games.formats import read_game

pytestmark = pytest.mark.slow

BOARD = "2,4,8,16, 0,2,64,32, 4,8,256,128, 0,2,512,1024"
NOTATION = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2"
CLOCKS = ("elapsed_s", "moves_per_s", "note", "free_memory", "bytes")  # they change from call to call


def without_clocks(report: Any) -> Any:
    if isinstance(report, dict):
        return {k: without_clocks(v) for k, v in report.items() if k not in CLOCKS}
    if isinstance(report, list):
        return [without_clocks(each) for each in report]
    return report


@pytest.fixture(scope="module")
def record() -> str:
    return play_episode(GreedyAgent(), RandomEnvironment(1)).text("episode")


def test_each_command_is_a_public_function_of_the_same_name() -> None:
    interactive = {"play", "agent", "show"}  # they speak with people and programs
    commands = {name for name in app if not name.startswith("-")} - interactive
    named = {"evaluate" if name == "eval" else name for name in commands - {"sweep", "cluster"}}
    named = (named - {"list", "export"}) | {f"list_{what}" for what in ("agents", "games", "runs")}
    named |= {"export_positions"}
    named |= {f"sweep_{name}" for name in app["sweep"] if not name.startswith("-")}
    named |= {f"{name}_cluster" for name in app["cluster"] if not name.startswith("-")}
    assert named == {
        "train",
        "resume",
        "population",
        "evaluate",
        "compare",
        "plot",
        "analyze",
        "review",
        "match",
        "tournament",
        "grade",
        "export_positions",
        "solve",
        "regret",
        "reproduce",
        "convert",
        "bench",
        "check",
        "new",
        "fetch",
        "doctor",
        "sweep_match",
        "sweep_eval",
        "sweep_train",
        "list_agents",
        "list_games",
        "list_runs",
        "serve",
        "check_cluster",
    }
    for name in named:
        function = getattr(package, name)
        assert inspect.isfunction(function) and function.__doc__, name


def faces(trained_run: Path, record: str, folder: Path) -> list[tuple[Any, list[str]]]:
    """Results of Python, and the words that say the same on the command line."""
    run, home = str(trained_run), str(trained_run.parent)
    return [
        (package.analyze("2048", BOARD, run), ["analyze", "2048", BOARD, "--agent", run]),
        (package.analyze("2048", BOARD, run, depth=2), ["analyze", "2048", BOARD, "--agent", run, "--depth", "2"]),
        (package.analyze("ewn", NOTATION, "mcts:sims=500"), ["analyze", "ewn", NOTATION, "--agent", "mcts:sims=500"]),
        (package.analyze("ewn", NOTATION, "hard"), ["analyze", "ewn", NOTATION, "--agent", "hard"]),
        (package.evaluate(run, games=30, seed=2), ["eval", run, "--games", "30", "--seed", "2"]),
        (package.compare(run, "small", games=20), ["compare", run, "small", "--games", "20"]),
        (package.match("easy", "normal", games=6), ["match", "easy", "normal", "--games", "6"]),
        (package.tournament(["easy", "normal"], games=4), ["tournament", "easy", "normal", "--games", "4"]),
        (
            package.sweep_match("{easy,normal}", "easy", "ewn", games=4),
            ["sweep", "match", "{easy,normal}", "easy", "--game", "ewn", "--games", "4"],
        ),
        (package.sweep_eval("{random,greedy}", games=3), ["sweep", "eval", "{random,greedy}", "--games", "3"]),
        (
            package.sweep_train(net="5x4", alpha="0.1,0.2", games=25, seeds=1, evaluate_games=3, out=folder / "sweep"),
            [
                "sweep",
                "train",
                "--net",
                "5x4",
                "--alpha",
                "0.1,0.2",
                "--games",
                "25",
                "--seeds",
                "1",
                "--evaluate-games",
                "3",
                "--out",
                str(folder / "sweep"),
            ],
        ),
        (package.review(record, run, depth=1), ["review", record, "--agent", run, "--depth", "1"]),
        (package.solve("2x2"), ["solve", "2048", "--board", "2x2"]),
        (package.regret("greedy", board="2x2"), ["regret", "greedy", "--board", "2x2"]),
        (package.list_games(), ["list", "games"]),
        (package.doctor(), ["doctor"]),
        (package.list_agents("ewn"), ["list", "agents", "--game", "ewn"]),
        (package.list_runs(home), ["list", "runs", "--runs", home]),
        (package.convert(run, folder / "a.w"), ["convert", run, str(folder / "b.w")]),
        (package.convert(run, folder / "a.xz", size="40k"), ["convert", run, str(folder / "b.xz"), "--size", "40k"]),
        (package.plot(run, path=folder / "a.png"), ["plot", run, "-o", str(folder / "a.png"), "--force"]),
        (
            package.train("5x4", games=100, out=folder / "one"),
            ["train", "--net", "5x4", "--games", "100", "--out", str(folder / "two")],
        ),
        (package.resume(folder / "one", games=150), ["resume", str(folder / "two"), "--games", "150"]),
        (
            package.reproduce("regret", board="2x2", scale=0.0005, out=folder / "study"),
            ["reproduce", "regret", "--board", "2x2", "--scale", "0.0005", "--out", str(folder / "study")],
        ),
    ]


def test_json_is_what_the_function_returns_and_notebooks_show_it(
    tuplet, trained_run: Path, record: str, tmp_path: Path
) -> None:
    for result, words in faces(trained_run, record, tmp_path):
        done = tuplet(*words, "--json")
        assert done.returncode == 0, (words, done.stderr)
        assert without_clocks(json.loads(done.stdout)) == without_clocks(result.as_json()), words
        shown = getattr(result, "_repr_html_", lambda: "")() or result._repr_svg_()
        assert shown.startswith(("<p>", "<table>", "<?xml", "<svg")), words
        rows = result.to_dicts()
        assert rows and all(list(row) == list(rows[0]) for row in rows), words
        assert json.loads(json.dumps(rows, allow_nan=False)) == rows, words  # plain values


def test_html_says_nothing_that_a_name_smuggles_in() -> None:
    class Bold:
        name = "<script>alert(1)</script>"

        def choose(self, board: Board) -> str:
            return board.legal_moves()[0]

    shown = package.evaluate(Bold(), games=1)._repr_html_()
    assert "<script>" not in shown and "&lt;script&gt;" in shown


def test_an_analysis_of_ewn_has_the_documented_keys(tuplet) -> None:
    done = tuplet("analyze", "ewn", NOTATION, "--agent", "mcts:sims=1000", "--json")
    report = json.loads(done.stdout)
    assert set(report) >= {"best", "moves", "line"}
    assert set(report["moves"][0]) == {"move", "value", "visits", "ci95", "proven"}
    assert report["best"] == report["moves"][0]["move"] == report["line"][0]
    assert sum(move["visits"] for move in report["moves"]) >= 1000
    text = tuplet("analyze", "ewn", NOTATION, "--agent", "mcts:sims=1000").stdout
    assert "visits" in text and "r1 r2 r3" in text
    assert tuplet("analyze", "ewn", NOTATION[4:], "--agent", "easy").returncode == 0
    for words, complaint in (
        (["ewn-6x7", NOTATION], "position of ewn, not of ewn-6x7"),
        (["ewn", NOTATION.replace(" 2", " ?")], "rolled first"),
        (["ewn", "nonsense"], "four words"),
        (["ewn", NOTATION, "--agent", "nobody"], "nobody"),
        (["ewn", NOTATION, "--depth", "3"], "2048"),
    ):
        done = tuplet("analyze", *words)
        assert done.returncode == 2 and complaint in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1


def test_any_player_of_2048_can_be_asked(trained_run: Path) -> None:
    for agent in ("mcts:sims=100", "expectimax:depth=2", "random", "greedy", str(trained_run)):
        found = package.analyze("2048", BOARD, agent)
        assert found.best in Board(BOARD).legal_moves()
        assert [move.move for move in found.moves] == ["up", "right", "down", "left"]
        assert [move.legal for move in found.moves] == [True, False, True, True]
    over = [2, 4] * 2 + [4, 2] * 2 + [2, 4] * 2 + [4, 2] * 2
    for agent in ("mcts:sims=100", "random", str(trained_run)):
        assert package.analyze("2048", over, agent).best is None


def test_a_recorded_game_of_a_file_is_reviewed(record: str, trained_run: Path, tmp_path) -> None:
    path = tmp_path / "games.txt"
    path.write_text(f"{record}\n{record}\n")
    found = package.review(path, str(trained_run), number=2, depth=1)
    assert found.as_json() == package.review(read_game(record), str(trained_run), depth=1).as_json()
