"""Placement: the matrix game is solved, noise is removed, and the choice holds in new games."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pytest

import tuplet
from tuplet import UserError
from tuplet.arena.placement import _Pairing, smoothed, solve_matrix
from tuplet.cli import run
from tuplet.games.ewn import EwnGame
from tuplet.values.game_network import GameNetwork
from tuplet.values.players import PLAYERS, bundled_values


def test_strategies_leave_no_better_answer() -> None:
    source = np.random.default_rng(1)
    for shape in ((2, 2), (5, 3), (30, 30)):
        matrix = source.random(shape)
        rows, columns = solve_matrix(matrix)
        assert rows.sum() == pytest.approx(1) and columns.sum() == pytest.approx(1)
        assert (matrix @ columns).max() - (rows @ matrix).min() < 2e-3


def test_rock_paper_scissors_is_played_evenly() -> None:
    rows, columns = solve_matrix(np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], float))
    assert np.allclose(rows, 1 / 3, atol=0.01) and np.allclose(columns, 1 / 3, atol=0.01)


def test_smoothing_keeps_what_kinds_and_differences_explain_and_removes_noise() -> None:
    orders = [o for o in permutations(range(1, 7)) if o <= tuple(7 - n for n in o)]
    corner = np.array([min(order[0], 7 - order[0]) for order in orders], float)
    apart = np.array([abs(order[1] - order[2]) for order in orders], float)
    truth = 0.5 + 0.02 * corner[:, None] - 0.03 * corner[None, :] * (corner[:, None] == 1) + 0.01 * apart[:, None]
    exact, _ = smoothed(truth, orders, 1000)
    assert np.allclose(exact, truth, atol=1e-9)
    seen = np.random.default_rng(2).binomial(4, truth) / 4
    found, error = smoothed(seen, orders, 4)
    assert np.std(found - truth) == pytest.approx(error, rel=0.3)
    assert error < 0.1 * np.std(seen - truth)


def test_a_placement_by_learned_values_is_better_than_a_random_one_in_new_games() -> None:
    found = tuplet.placement("ewn", games=130_000, seed=1, progress=False)
    check = found.check
    assert check.red_only > check.neither + 3 * check.error
    assert check.blue_only < check.neither - 3 * check.error
    assert found.red[0].probability >= found.red[-1].probability and found.gap < 0.01
    tuplet.game("ewn").setup(red=found.red[0].cubes, blue=found.blue[0].cubes)


def test_the_placement_of_the_package_holds_in_new_games_by_its_values() -> None:
    """The first arrangement of each side, against all of the other's."""
    game, plan = EwnGame("ewn"), json.loads((PLAYERS / "ewn-placement.json").read_bytes())
    orders = [order for order in permutations(range(1, 7)) if order[0] <= 3]
    file = bundled_values("ewn")
    assert file is not None
    pairing = _Pairing(game, GameNetwork.load(file, game), orders, seed=5)
    texts = ["".join(map(str, order)) for order in orders]
    rows, columns = (slice(n, n + 1) for n in (texts.index(plan[side][0]["cubes"]) for side in ("red", "blue")))
    any_blue, any_red = pairing.play(rows, slice(None), 20).mean(), pairing.play(slice(None), columns, 20).mean()
    assert any_blue == pytest.approx(plan["check"]["red_only"], abs=0.03) and any_blue > plan["mean"] + 0.01
    assert any_red == pytest.approx(plan["check"]["blue_only"], abs=0.03) and any_red < plan["mean"] - 0.01


def test_the_same_seed_gives_the_same_placement_and_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    game = "ewn:board=4x4,cubes=3"
    found = tuplet.placement(game, games=3000, seed=2, progress=False)
    assert found.as_json() == tuplet.placement(game, games=3000, seed=2, progress=False).as_json()
    assert found.players == "random players" and sum(each.probability for each in found.red) == pytest.approx(
        1, abs=0.01
    )
    assert run(["analyze", "ewn:board=3x3,cubes=2", "--placement", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["red"][0]["cubes"] == "12" and 0 < said["value"] < 1


def test_games_without_a_choice_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for game in ("ewn-6x7", "2048", "ewn:die=free"):
        with pytest.raises(UserError, match="where dice are rolled"):
            tuplet.placement(game)
    with pytest.raises(UserError, match="must be 1 or more"):
        tuplet.placement("ewn:cubes=2", games=0)
    assert run(["analyze", "ewn", "--placement", "--tree", "3"]) == 2
    assert "--placement does not go with --tree" in capsys.readouterr().err
