"""Regret in endings of EWN: exact over all positions, sampled for searches."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import pytest

import tuplet
from tuplet import EndgameTable, UserError
from tuplet.cli import run

GAME = "ewn:board=3x3,cubes=2"


@pytest.fixture(scope="module")
def table() -> EndgameTable:
    return tuplet.solve(GAME)


class First:
    """The first legal move."""

    def choose(self, position) -> str:
        return position.legal_moves()[0]


def test_over_all_positions_the_regret_is_the_mean_over_a_plain_list(table: EndgameTable) -> None:
    found = tuplet.regret(First, game=GAME, table=table, progress=False).as_json()
    losses = []
    for block in table.blocks():
        for number in range(block.size):
            position = table.position(block, number)
            for die in (1, 2) if position is not None else ():
                rolled = position.roll(die)
                if len(rolled.legal_moves()) > 1:
                    after = rolled.play(rolled.legal_moves()[0])
                    value = float(after.winner == rolled.turn) if after.over else 1 - table.value(after)
                    losses.append(table.value(rolled) - value)
    assert found["positions"] == len(losses) and not found["sampled"] and found["ci95"] is None
    assert found["mean_loss"] == pytest.approx(fmean(losses))
    assert found["largest_loss"] == pytest.approx(max(losses))


def test_a_sample_agrees_with_all_positions_and_its_interval_holds_the_mean(table: EndgameTable) -> None:
    everything = tuplet.regret(First, game=GAME, table=table, progress=False).mean_loss
    found = tuplet.regret(First, game=GAME, table=table, positions=1500, seed=3, progress=False).as_json()
    assert found["ci95"][0] < everything < found["ci95"][1]


def test_a_sample_from_games_has_the_endings_that_these_games_reach() -> None:
    """In their order, with as many cubes as were asked for, and a choice; the same games for any judged player."""
    game, asked = "ewn:board=4x4,cubes=3", []
    table = tuplet.solve(game, cubes=4)

    class Last:
        def choose(self, position) -> str:
            asked.append(position)
            return position.legal_moves()[-1]

    found = tuplet.regret(First, game=game, table=table, positions=50, cubes=3, reached=Last, progress=False)
    endings = [p.notation for p in asked if len(p.cubes) <= 3 and len(p.legal_moves()) > 1]
    judged = [each.position for each in found.decisions]
    assert judged == endings[:50] or judged[:-1] == endings[:49]  # the last one may be judged before Last moves there
    assert found.as_json()["reached"] == "Last" and "sampled from games of Last" in str(found)
    again = tuplet.regret(table, game=game, table=table, positions=50, cubes=3, reached=Last, progress=False)
    assert [each.position for each in again.decisions] == judged and again.mean_loss == 0
    with pytest.raises(UserError, match="say how many with --positions"):
        tuplet.regret(First, game=game, table=table, reached=Last, progress=False)


def test_perfect_play_has_no_regret_and_exact_values(table: EndgameTable) -> None:
    found = tuplet.regret(table, game=GAME, table=table, positions=100, progress=False).as_json()
    assert found["mean_loss"] == found["largest_loss"] == found["value_error"] == 0 and found["optimal"] == 1


def test_threads_do_not_change_the_regret_of_a_search(table: EndgameTable) -> None:
    one, two = (
        tuplet.regret("mcts:sims=50", game=GAME, table=table, positions=60, threads=n, progress=False).as_json()
        for n in (1, 2)
    )
    assert one == two and one["value_error"] > 0


def test_what_does_not_fit_is_refused(table: EndgameTable) -> None:
    for arguments, reason in (
        ({"game": GAME}, "say how many positions"),
        ({"game": GAME, "positions": 0}, "must be 1 or more"),
        ({"game": GAME, "board": "2x2"}, "are of 2048"),
        ({"game": "ewn", "table": table, "positions": 1}, "the table is of ewn:board=3x3,cubes=2"),
        ({"game": GAME, "table": table, "cubes": 5, "positions": 1}, "must be 2 to 4"),
        ({"game": "ewn-6x7", "positions": 1}, "known in advance"),
    ):
        with pytest.raises(UserError, match=reason):
            tuplet.regret("mcts:sims=10", **arguments, progress=False)
    with pytest.raises(UserError, match="add --game ewn"):
        tuplet.regret("greedy", cubes=3)


def test_the_command_prints_the_functions_result(
    table: EndgameTable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table.save(tmp_path / "table")
    arguments = ["regret", "mcts:sims=20", "--game", GAME, "--table", str(path), "--positions", "20"]
    assert run([*arguments, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == tuplet.regret("mcts:sims=20", game=GAME, table=path, positions=20, progress=False).as_json()
    assert run(arguments) == 0
    assert "mean loss per move" in capsys.readouterr().out
