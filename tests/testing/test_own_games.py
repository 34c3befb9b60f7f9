"""Games with chance, draws and points that nobody here has thought of before."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import tuplet
from tuplet.agents.specs import Spec
from tuplet.games.protocol import REQUIRED, register_game
from tuplet.system import user_code
from tuplet.testing import check_agent, check_game
from tuplet.testing.games import perft

pytestmark = pytest.mark.slow

FILE = Path(__file__).parents[1] / "data" / "games" / "race.py"
RACE, SOLO = f"{FILE}:RACE", f"{FILE}:SOLO"


@cache
def expected(position: Any) -> float:
    """What the first side may expect, both playing as well as can be."""
    if position.over:
        return float(position.result)
    if position.is_chance:
        shares = position.chance_outcomes()
        return sum(share * expected(position.apply_outcome(each)) for each, share in shares.items())
    values = [expected(position.play(move)) for move in position.legal_moves()]
    return max(values) if position.turn == position.sides[0] else min(values)


def positions(game: Any) -> list[Any]:
    found, new = [], [game.start()]
    while new:
        position = new.pop()
        if position.over or position in found:
            continue
        found.append(position)
        if position.is_chance:
            new += [position.apply_outcome(each) for each in position.chance_outcomes()]
        else:
            new += [position.play(move) for move in position.legal_moves()]
    return [position for position in found if not position.is_chance]


@pytest.mark.long
def test_searches_value_a_game_in_which_chance_passes_the_turn_and_draws() -> None:
    game = tuplet.game(RACE)
    for number, position in enumerate(positions(game)):
        for agent, near in (("alphabeta:depth=20", 1e-9), ("mcts:sims=4000,batch=1,expand=1", 0.1)):
            if number % 5 and "mcts" in agent:
                continue
            found = tuplet.analyze(game, position, agent)
            best = next(move for move in found.moves if move.move == found.best)
            value = expected(position)
            value = value if position.turn == "first" else 1 - value
            assert best.value == pytest.approx(value, abs=near), (agent, position.notation)


@pytest.mark.long
def test_a_game_for_one_is_valued_in_points() -> None:
    game = tuplet.game(SOLO)
    for face in range(1, 7):
        position = game.start().apply_outcome(str(face - 1))
        found = tuplet.analyze(game, position, "alphabeta:depth=9")
        assert found.best == ("again" if face < 5 else "stop")
        assert found.moves[0].value == pytest.approx(expected(position))
        assert found.points and found.as_json()["moves"][0].keys() >= {"move", "reward", "value"}
    assert tuplet.analyze(game, position, "mcts:sims=500").best == "stop"
    assert game.terminations == ("over",)


@pytest.mark.long
@pytest.mark.parametrize("game", [RACE, SOLO])
def test_both_pass_the_check(game: str) -> None:
    check_game(game, games=5)
    check_agent("easy", game)


def test_a_move_beyond_the_number_of_actions_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    game = tuplet.game(RACE)
    monkeypatch.setattr(type(game), "actions", 2)
    with pytest.raises(AssertionError, match="a move has the number 2 of 2 actions"):
        check_game(game, games=1)


def test_chance_that_matters_after_the_move_must_not_be_called_forgotten(tmp_path: Path) -> None:
    yes = "@inlined\ndef yes(game):\n    return True\n\n\nregister_game(\n    Race,"
    source = FILE.read_text().replace("register_game(\n    Race,", yes, 1)
    (tmp_path / "forgetful.py").write_text(
        source.replace("    winner=winner,", "    winner=winner, forgets_outcome=yes,")
    )
    with pytest.raises(AssertionError, match=r"forgets_outcome\(\), but"):
        check_game(f"{tmp_path / 'forgetful.py'}:RACE", games=1)


def test_games_that_chance_ends_are_counted_and_read_again(tmp_path: Path) -> None:
    result = tuplet.match("easy", Spec("random"), RACE, games=20, out=tmp_path / "m")
    assert not result.forfeits and result.draws > 0
    assert result.as_json()["kinds"]["wins"]["win"] == result.wins
    for line in (tmp_path / "m").read_text().splitlines()[1:]:
        assert tuplet.Record.parse(line).over
    with pytest.raises(ValueError, match="has one player"):
        tuplet.match("easy", "easy", SOLO)


def test_a_match_by_other_rules_is_not_continued(tmp_path: Path) -> None:
    (tmp_path / "edited.py").write_text(FILE.read_text())
    code = textwrap.dedent(
        """
        import tuplet
        print(tuplet.match("easy", "easy", "edited.py:RACE", games=2, out="m", progress=False))
        """
    )

    def play() -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)

    assert play().returncode == 0 and play().returncode == 0
    (tmp_path / "edited.py").write_text(FILE.read_text().replace("0.75", "0.5").replace("0.25", "0.5"))
    assert "game's code" in play().stderr


def test_a_game_of_a_script_is_played_on_one_core(tmp_path: Path) -> None:
    """It cannot be sent to another process; an agent of one's own beside it is not waited for."""
    (tmp_path / "agents_beside.py").write_text(
        "class First:\n    def choose(self, position):\n        return position.legal_moves()[0]\n"
    )
    script = FILE.read_text() + textwrap.dedent(
        """
        import tuplet, agents_beside
        if __name__ == "__main__":
            first = agents_beside.First
            print(tuplet.match(first, "easy", RACE, games=4, threads=2, progress=False).games)
        """
    )
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout.strip() == "4", done.stderr
    assert "on one core" in done.stderr


def test_untrusted_text_cannot_name_a_game_by_its_code(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text("raise SystemExit('code runs')")
    stranger = Spec("easy")
    for call in (
        lambda: tuplet.analyze("evil.py:GAME", "0:0", stranger),
        lambda: tuplet.match(stranger, "easy", "evil.py:GAME"),
        lambda: tuplet.tournament([stranger, "mcts"], "evil:GAME"),
        lambda: tuplet.make_agent(stranger, "evil.py:GAME"),
    ):
        with pytest.raises(ValueError, match="is not loaded"):
            call()
    with pytest.raises(ValueError, match="cannot be named from here"):
        tuplet.make_agent(Spec("mcts:ucb=evil.py:Bandit"), "ewn")


def test_two_games_whose_rules_have_one_name_are_two_games(tmp_path: Path) -> None:
    """Numba names compiled code after types' names, whatever module they are from."""
    other = FILE.read_text().replace("    return 2\n\n\n@inlined\ndef apply", "    return 1\n\n\n@inlined\ndef apply")
    assert other != FILE.read_text()
    (tmp_path / "namesake.py").write_text(other)
    for text, ways in ((RACE, 2 * 2 * 2), (f"{tmp_path / 'namesake.py'}:RACE", 1 * 2 * 1)):
        start = tuplet.game(text).start()
        assert perft(start.rules, start.words, 3) == ways


def test_names_that_would_confuse_are_refused() -> None:
    race = tuplet.game(RACE)
    for name, sides, complaint in (
        ("ewn", ("x", "y"), "cannot be the name"),
        ("2048:board=9x9", ("x", "y"), "cannot be the name"),
        ("two words", ("x", "y"), "cannot be the name"),
        ("fine", ("a", "b"), "a side cannot be called a"),
        ("fine", ("x", "transcript"), "a side cannot be called transcript"),
    ):
        game: Any = tuplet.Game(race.rules, name)
        game.sides = sides
        with pytest.raises(ValueError, match=complaint):
            tuplet.game(game)
    assert tuplet.game("ewn").terminations == ("corner", "elimination")


def test_a_second_game_of_the_same_name_is_refused() -> None:
    class Longer(NamedTuple):
        steps: int

    register_game(Longer, 1, **dict.fromkeys(REQUIRED, lambda *_: 0))
    short = tuplet.Game(Longer(3), "one-name")
    assert tuplet.game(short) is short
    again = tuplet.Game(Longer(3), "one-name")
    assert tuplet.game(again) is again  # the same game
    with pytest.raises(ValueError, match="another game called one-name: give one of them"):
        tuplet.game(tuplet.Game(Longer(4), "one-name"))
    assert tuplet.game("one-name") is again


def test_files_are_loaded_once_and_replace_nothing(tmp_path: Path) -> None:
    (tmp_path / "time.py").write_text("GAME = 1\n")
    with pytest.raises(ValueError, match="there is another module called time"):
        user_code.find(f"{tmp_path / 'time.py'}:GAME", trusted=True)
    folder = tmp_path / "with space"
    folder.mkdir()
    (folder / "slow_game.py").write_text("import time\ntime.sleep(0.3)\n" + FILE.read_text())
    text = f"{folder / 'slow_game.py'}:RACE"
    with ThreadPoolExecutor(3) as pool:
        found = [*pool.map(lambda text: user_code.find(text, trusted=True), [text] * 3)]
    assert found[0] is found[1] is found[2]
    game = tuplet.game(text)
    assert game.parse(game.start().notation) == game.start()
    assert json.loads(tuplet.Record(("x", "y"), game.start()).line)["first"] == "x"


def test_a_compile_error_is_one_line(tuplet, tmp_path: Path) -> None:
    (tmp_path / "typo.py").write_text(FILE.read_text().replace("U(n + 1)", "U(m + 1)", 1))
    done = tuplet("match", "mcts:sims=50", "easy", "--game", "typo.py:RACE", "--games", 2, cwd=tmp_path, process=True)
    assert "Traceback" not in done.stderr and "name 'm'" in done.stdout + done.stderr
