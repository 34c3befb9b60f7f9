"""check_game and check_agent: everything built in passes, and what is wrong is named."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tuplet
from tuplet.system import user_code
from tuplet.testing import CheckFailed, check_agent, check_game

ROOT = Path(__file__).parents[2]
CONNECT4 = f"{ROOT / 'examples' / 'connect4.py'}:CONNECT4"


LONG = pytest.mark.long
MORE_GAMES = [
    "2048",
    "2048:board=2x3,spawn4=0.3",
    "ewn-6x7",
    "ewn:board=4x4,cubes=3",
    "ewn:cubes=3,die=chosen",
    "ewn:die=free,own=no",
    "ewn:board=3x3,cubes=2,cycle=3",
]
AGENTS = {
    "ewn-6x7": ["easy", "hard", "alphabeta:depth=3", "mcts:sims=300"],
    "2048": ["greedy", "small", "mcts:sims=30"],
    CONNECT4: ["easy", "alphabeta:depth=4", "mcts:sims=300"],
}
MORE_AGENTS = {
    "ewn-6x7": [
        "normal",
        "best:depth=3",
        "mcs:sims=300",
        "mcts:sims=300,ucb=puct",
        "mcts:sims=300,ucb=thompson",
        "mcts:sims=300,ucb=kl",
        "mcts:sims=300,ucb=ucb1",
        "mcts:sims=300,ucb=report",
    ],
    "ewn": ["hard", "alphabeta:depth=2", "mcts:sims=300"],
    "2048": ["random", "expectimax:depth=2", "expectimax:values=small,depth=2"],
    CONNECT4: ["mcs:sims=300"],
}


@pytest.mark.parametrize("game", ["ewn", CONNECT4, *(pytest.param(name, marks=LONG) for name in MORE_GAMES)])
def test_every_game_passes(game: str) -> None:
    check_game(game, games=4)


@pytest.mark.parametrize(
    ("game", "agent"),
    [(game, name) for game, names in AGENTS.items() for name in names]
    + [pytest.param(game, name, marks=LONG) for game in MORE_AGENTS for name in MORE_AGENTS[game]],
)
def test_every_agent_passes(game: str, agent: str) -> None:
    check_agent(agent, game, games=1)


SOURCE = (ROOT / "examples" / "connect4.py").read_text(encoding="utf-8")


# What to change in the example, the problem that must be named, and its likely cause.
WRONG = {
    "full columns are legal": (
        "at += np.int64(position[1] & top == ZERO)",
        "at += 1",
        "a notation is read as another position",
        "read()",
    ),
    "never ends": (
        "return FULL if position[1] == game.board else ONGOING",
        "return ONGOING",
        "no move is legal, but the game is not over",
        "ending() must say so",
    ),
    "too few moves": ("ConnectFour, 9,", "ConnectFour, 3,", "7 moves, but register_game was given 3", "too small"),
    "boundless estimate": (
        "register_game(ConnectFour, 9,",
        "@inlined\ndef guess(game, position):\n    return 7.0\n\n\nregister_game(ConnectFour, 9, estimate=guess,",
        "estimate() is 7",
        "between -1 and 1",
    ),
    "unknown ending": (
        "return self.terminations[ending == FULL]",
        'return "four"',
        "ended by 'four'",
        "must be one of",
    ),
    "one text for two moves": ("return str(code + 1)", 'return "drop"', "two moves have the same text", "move_text"),
    "one side": ('sides = ("yellow", "red")', 'sides = ("yellow",)', "2 players", "a name for each"),
    "writes before start": ("moves[at] = column", "moves[at - start] = column", "before `start`", "moves[start + i]"),
    "colours swapped": ('of["R" if ahead else "Y"]', 'of["Y" if ahead else "R"]', "another position", "read()"),
}
# Kernels are not compiled here, which would take longer than all the games.
CHECK = """
import json, sys
from tuplet.testing import CheckFailed, check_game, games
games.MANY = 300
found = {}
for name, path in json.load(sys.stdin).items():
    try:
        check_game(f"{path}:CONNECT4", games=3)
    except (CheckFailed, ValueError) as error:
        found[name] = str(error)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What `check_game` says of each wrong game."""
    folder, paths = tmp_path_factory.mktemp("wrong"), {}
    for name, (right, wrong, _, _) in WRONG.items():
        assert right in SOURCE
        paths[name] = str(folder / f"{name.replace(' ', '_')}.py")
        Path(paths[name]).write_text(SOURCE.replace(right, wrong))
    done = subprocess.run(
        [sys.executable, "-c", CHECK],
        input=json.dumps(paths),
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", WRONG)
def test_problems_of_a_game_are_reported_with_their_cause(name: str, reports: dict[str, str]) -> None:
    _, _, problem, cause = WRONG[name]
    assert problem in reports[name] and cause in reports[name]


def test_a_game_that_cannot_be_compiled_gets_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "cannot_be_compiled.py"
    path.write_text(SOURCE.replace("return own ^ all_, after", "return own ^ all_, after - 0.0"))
    with pytest.raises(CheckFailed, match=r"np\.uint64 mixed"):
        check_game(f"{path}:CONNECT4", games=3)


class Decent:
    def choose(self, position: Any) -> str:
        return str(position.legal_moves()[0])


class Illegal(Decent):
    def choose(self, position: Any) -> str:
        return "99"


class Broken(Decent):
    def choose(self, position: Any) -> str:
        raise KeyError("lost")


class Moody(Decent):
    luck = iter(range(1000))

    def choose(self, position: Any) -> str:
        moves = position.legal_moves()
        return str(moves[next(self.luck) % len(moves)])


class Boastful(Decent):
    def analyze(self, position: Any) -> tuplet.Analysis:
        moves = position.legal_moves()
        return tuplet.Analysis([tuplet.MoveValue(move, 3.0) for move in moves], moves[0])


class Vague(Decent):
    def analyze(self, position: Any) -> str:
        return "it looks good"


@pytest.mark.parametrize(
    ("agent", "problem"),
    [
        (Illegal, "it chose '99'"),
        (Broken, "choose(position) raises KeyError"),
        (Moody, "the same game is played differently"),
        (Boastful, "values go from 3 to 3"),
        (Vague, "analyze() returns str"),
    ],
)
def test_problems_of_an_agent_are_reported(agent: type, problem: str) -> None:
    check_agent(Decent, "ewn")
    with pytest.raises(CheckFailed, match=re.escape(problem)) as failed:
        check_agent(agent, "ewn")
    assert "Likely cause:" in str(failed.value)


def test_code_is_found_by_module_and_by_file(tmp_path: Path) -> None:
    (tmp_path / "beside_me.py").write_text("NUMBER = 7\n")
    (tmp_path / "found_here.py").write_text("from beside_me import NUMBER\n")
    assert user_code.find(f"{tmp_path / 'found_here.py'}:NUMBER", trusted=True) == 7
    assert user_code.find("json:dumps", trusted=True)
    for text, complaint in (
        ("json:nothing", "module json has no class nothing"),
        (f"{tmp_path / 'missing.py'}:A", "there is no file missing.py"),
        ("no_such_module:A", "cannot import no_such_module"),
    ):
        with pytest.raises(ValueError, match=complaint):
            user_code.find(text, trusted=True)
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(ValueError, match="ZeroDivisionError"):
        user_code.find(f"{tmp_path / 'broken.py'}:A", trusted=True)
