"""Looking ahead and reviewing games on the command line."""

from __future__ import annotations

import io
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tuplet import Board, GreedyAgent, LearnedAgent, Network, RandomEnvironment, play_episode, train
from tuplet.cli import run

BOARD = "2,0,0,4,0,8,2,0,0,0,16,0,2,0,0,64"
DOCS = (Path(__file__).parents[2] / "docs" / "ahead.md").read_text(encoding="utf-8")
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def tuplet(capsys, monkeypatch) -> Command:
    """Runs the command line in this process: a new one takes a second to start."""

    def command(*arguments: object, input: str = "") -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(input))
        monkeypatch.setenv("COLUMNS", "80")
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return subprocess.CompletedProcess(arguments, code, *capsys.readouterr())

    return command


def one_line(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("tuplet: ") and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr


def test_analyze_looks_ahead_and_lowers_boards(tuplet, trained_run: Path, trained: Network) -> None:
    def analyze(*options: object) -> dict[str, dict[str, float]]:
        done = tuplet("analyze", "2048", BOARD, "--agent", trained_run, "--json", *options)
        report = json.loads(done.stdout)
        values = {m["move"]: m["value"] for m in report["moves"] if m["legal"]}
        assert report["best"] == max(values, key=values.__getitem__)
        return values

    for depth in (1, 2):
        player = LearnedAgent(trained, depth=depth)
        assert analyze("--depth", depth) == {m.move: m.value for m in player.moves(Board(BOARD))}
    assert analyze() == analyze("--depth", 1) != analyze("--downgrade", 64)
    assert set(analyze("--time", 0.05)) == set(analyze())
    text = tuplet("analyze", "2048", BOARD, "--agent", trained_run, "--depth", 2).stdout
    assert "2 moves ahead" in text and "Why" in text and "looking ahead" in text
    one_line(tuplet("analyze", "2048", BOARD, "--agent", trained_run, "--depth", 0), "depth")
    one_line(tuplet("analyze", "2048", BOARD, "--agent", trained_run, "--downgrade", 7), "7")


def test_eval_looks_ahead(tuplet, trained_run: Path) -> None:
    def evaluate(*words: object) -> dict[str, object]:
        done = tuplet("eval", *words, "--games", 4, "--seed", 2, "--json")
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        del report["moves_per_s"], report["settings"]
        return report

    deeper = evaluate(trained_run, "--depth", 2)
    assert deeper == evaluate(trained_run, "--depth", 2, "--threads", 2)
    assert deeper == evaluate(f"expectimax:values={trained_run}")
    assert deeper != evaluate(trained_run) == evaluate(trained_run, "--downgrade", 32768)
    by_time = ("eval", trained_run, "--time", 0.0005, "--depth", 2, "--games", 1, "--json")
    assert json.loads(tuplet(*by_time).stdout)["games"] == 1


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three games of a player that takes what it can get, and a line that is no game."""
    path, environment = tmp_path_factory.mktemp("games") / "games.txt", RandomEnvironment(1)
    lines = [play_episode(GreedyAgent(), environment).text("episode") for _ in range(3)]
    path.write_text("\n".join([*lines, "", "you:random@1|0111#L[8]|you@2\n"]))
    return path


def test_review_tells_what_each_move_cost(tuplet, trained_run: Path, games: Path) -> None:
    options = ("--agent", trained_run, "--depth", 2, "--json")
    done = tuplet("review", games, *options, "--number", 2)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    moves = report["moves"]
    assert [move["number"] for move in moves] == list(range(1, len(moves) + 1))
    losses = [move["loss"] for move in moves]
    assert report["mean_loss"] == pytest.approx(sum(losses) / len(losses))
    assert report["best_share"] == losses.count(0) / len(losses)
    assert min(losses) == 0 < max(losses) and 0 < report["blunders"] < len(moves)
    for move in moves[:5]:
        values = {m.move: m.value for m in LearnedAgent(Network.load(trained_run), depth=2).moves(Board(move["board"]))}
        assert values[move["best"]] == move["value"]
        assert values[move["played"]] == move["played_value"]
    line = games.read_text().splitlines()[1]
    assert tuplet("review", line, *options).stdout == done.stdout
    assert tuplet("review", "-", *options, input=f"\n{line}\n").stdout == done.stdout


def test_review_shows_the_costliest_moves(tuplet, trained_run: Path, games: Path) -> None:
    done = tuplet("review", games, "--agent", trained_run, "--top", 2)
    assert done.returncode == 0 and "1 move ahead" in done.stdout
    assert done.stdout.count("best: ") == done.stdout.count("played: ") == 2
    assert max(len(line) for line in done.stdout.splitlines()[2:]) <= 80
    assert "mean loss" in done.stdout and "greedy" in done.stdout
    shipped = tuplet("review", games, "--depth", 1)
    assert shipped.returncode == 0 and "small" in shipped.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nowhere.txt", "--agent", "{run}"], ["nowhere.txt"]),
        (["{games}", "--agent", "nowhere"], ["nowhere"]),
        (["{games}", "--agent", "greedy"], ["greedy"]),
        (["{games}", "--agent", "{run}", "--number", "4"], ["game 4", "earns 4"]),
        (["{games}", "--agent", "{run}", "--number", "5"], ["4 games"]),
        (["{games}", "--agent", "{run}", "--number", "0"], ["game 0"]),
        (["{games}", "--agent", "{run}", "--top", "-1"], ["-1"]),
        (["{run}/weights.safetensors", "--agent", "{run}"], ["the weights of a network"]),
        (["{run}", "--agent", "{run}"], ["the folder of a training run"]),
        (["a:b@1|01|b@2|", "--agent", "{run}"], ["looks like"]),
        (["a:b@1|0151|b@2", "--agent", "{run}"], ["no moves"]),
        (["-", "--agent", "{run}"], ["0 games"]),
    ],
)
def test_garbage_to_review_is_one_line(
    tuplet, trained_run: Path, games: Path, words: list[str], complaint: list[str]
) -> None:
    words = [word.format(games=games, run=trained_run) for word in words]
    one_line(tuplet("review", *words, input=""), *complaint)


def test_by_its_own_values_a_player_never_errs(trained: Network) -> None:
    from tuplet import review

    player = LearnedAgent(trained)
    result = review(play_episode(player, RandomEnvironment(4)), player)
    assert result.mean_loss == 0 and result.best_share == 1
    assert result.blunders == 0 and result.worst(5) == []


@pytest.mark.slow
def test_the_docs_commands_and_python_run_as_written(tuplet, trained_run: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^tuplet .*", "".join(re.findall(r"```sh\n(.*?)```", DOCS, re.S)), re.M)
    assert len(lines) >= 8
    for line in lines:
        words = [w.strip('"') for w in re.findall(r'"[^"]*"|\S+', line.split("#")[0])]
        if words[1] == "play":  # takes a person
            tuplet("eval", "random", "--games", 1, "--out", "game.txt")
            continue
        # As written, but for the time: hours become seconds.
        for option, value in (("--games", "2"), ("--time", "0.0005"), ("--depth", "2")):
            if option in words:
                words[words.index(option) + 1] = value
        done = tuplet(*(str(trained_run) if word == "RUN" else word for word in words[1:]))
        assert done.returncode == 0, (line, done.stderr)
    for piece in re.findall(r"```python\n(.*?)```", DOCS, re.S):
        exec(piece.replace('"4x6"', '"5x4"'), {})


def test_analyze_takes_exact_tables_and_small_boards(tuplet, tmp_path: Path) -> None:
    table = tmp_path / "2x2.table"
    assert tuplet("solve", "2048", "--board", "2x2", "--out", table).returncode == 0
    done = tuplet("analyze", "2048", "2,2,4,8", "--agent", table, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["best"] in ("left", "right")
    assert "Exact" in tuplet("analyze", "2048", "2,2,4,8", "--agent", table).stdout
    one_line(tuplet("analyze", "2048", "2,2,4,8", "--agent", table, "--depth", 2), "--depth")
    one_line(tuplet("analyze", "2048", "2,2,4", "--agent", table), "3")
    train(board="2x2", games=200, out=tmp_path / "run", progress=False)
    for depth in (1, 3):
        done = tuplet("analyze", "2048", "2,2,4,8", "--agent", tmp_path / "run", "--depth", depth)
        assert done.returncode == 0, done.stderr


def test_the_shipped_player_needs_no_training(tuplet) -> None:
    board = "2,4,8,16, 0,2,64,32, 4,8,256,128, 0,2,512,1024"
    done = tuplet("analyze", "2048", board, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["best"] in ("up", "down")
    done = tuplet("eval", "small", "--games", 3, "--json")
    assert json.loads(done.stdout)["games"] == 3


def test_a_board_may_begin_with_an_empty_cell(tuplet) -> None:
    done = tuplet("analyze", "2048", "- 2 - 4\n- - 2 -\n4 4 8 8\n- - - -", "--agent", "greedy")
    assert done.stdout.startswith("   .   2   .   4\n")
    one_line(tuplet("analyze", "2048", "-2,0,0,0"), "a 4x4 board has 16 tiles, not 4")
