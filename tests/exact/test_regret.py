"""Regret: exact and played, of players that are known."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from both_ways import in_both_ways
from tuplet import Board, LearnedAgent, Network, RandomAgent, Solution, solve, train
from tuplet.agents.agent import agent_from
from tuplet.arena.regret import _summarise
from tuplet.cli import run
from tuplet.exact.regret import SampledRegret, exact_regret, random_policy, sampled_regret

pytestmark = pytest.mark.slow


class Corner:
    def choose(self, board: Board) -> str:
        legal = board.legal_moves()
        return next(move for move in ("left", "down", "right", "up") if move in legal)


class Upwards:
    def choose(self, board: Board) -> str:
        return "up"


@pytest.fixture(scope="module")
def solution() -> Solution:
    return solve("2x2", spawn4=0.2)


@pytest.mark.parametrize(("size", "spawn4"), [("2x2", 0.2), ("2x3", 0.1), ("2x2", 1)])
def test_random_play_followed_scores_what_the_solution_says(size: str, spawn4: float) -> None:
    solution = solve(size, spawn4=spawn4)
    found = exact_regret(solution, random_policy(solution.rules))
    assert found.score == pytest.approx(solution.random_score, rel=1e-12)
    assert found.regret == pytest.approx(solution.expected_score - found.score, rel=1e-12)
    assert 0 < found.optimal < 1


def test_perfect_play_has_no_regret(solution: Solution) -> None:
    found = exact_regret(solution, solution)
    assert found.score == pytest.approx(solution.expected_score, rel=1e-12)
    assert found.regret == pytest.approx(0, abs=1e-9) and found.optimal == 1
    played = sampled_regret(solution, solution, games=20)
    assert max(played.regrets) < 1e-9 and played.optimal == played.moves


def test_a_player_followed_scores_what_its_games_do(solution: Solution) -> None:
    exact = exact_regret(solution, Corner())
    played = sampled_regret(solution, Corner(), games=200)
    for known, values in ((exact.score, played.scores), (exact.regret, played.regrets)):
        mean = sum(values) / 200
        spread = (sum((v - mean) ** 2 for v in values) / 200) ** 0.5
        assert abs(mean - known) < 4 * spread / 200**0.5
    assert exact.score + exact.regret == pytest.approx(solution.expected_score, rel=1e-12)
    assert sum(played.moves) / 200 == pytest.approx(exact.moves, rel=0.2)
    assert exact.reached[4] == pytest.approx(1)


def test_a_chance_player_is_judged_by_games(solution: Solution) -> None:
    played = sampled_regret(solution, RandomAgent(), games=200)
    assert sum(played.scores) / 200 == pytest.approx(solution.random_score, rel=0.2)


def test_a_network_that_learns_comes_close_to_perfect_play(solution: Solution) -> None:
    net = Network(board="2x2", spawn4=0.2)
    before = exact_regret(solution, net)
    train(net, games=2000, learner="td", progress=False)
    after = exact_regret(solution, net)
    assert after.regret < 2 < before.regret
    assert exact_regret(solution, LearnedAgent(net)) == after


def test_a_network_of_another_size_and_illegal_moves_are_refused(solution: Solution) -> None:
    with pytest.raises(ValueError, match="is for 2x3 boards, the solution for 2x2"):
        exact_regret(solution, Network(board="2x3"))
    with pytest.raises(ValueError, match="up is not legal"):
        exact_regret(solution, Upwards())


def test_compiled_and_interpreted_solutions_agree() -> None:
    script = (
        "from tuplet import solve\n"
        "from tuplet.exact.regret import exact_regret, random_policy\n"
        "solution = solve('2x2', spawn4=0.3)\n"
        "print(solution.as_json(), exact_regret(solution, random_policy(solution.rules)))\n"
    )
    compiled, interpreted = in_both_ways(script, [])
    assert compiled == interpreted


def test_the_command_compares_a_player_with_perfect_play(capsys, tmp_path: Path) -> None:
    table = str(solve("2x2").save(tmp_path / "table"))

    def said(*arguments: str) -> str:
        assert run(["regret", *arguments]) == 0
        return capsys.readouterr().out

    report = json.loads(said("random", "--table", table, "--json"))
    assert f"{report['score']:.6f}" == "19.656540" and "ci95" not in report
    report = json.loads(said("greedy", "--table", table, "--games", "50", "--json"))
    assert report["games"] == 50 and report["regret_ci95"][0] < report["regret"]
    assert "regret per game" in said("greedy", "--board", "2x2", "--spawn4", "0.2")
    for arguments, word in (
        (("greedy", "--table", table, "--board", "2x3"), "leave out --board"),
        (("mcts:sims=10", "--table", table), "--games"),
        (("greedy", "--board", "4x4"), "can be solved"),
        (("greedy", "--table", str(tmp_path / "none")), "none"),
    ):
        assert run(["regret", *arguments]) == 2
        error = capsys.readouterr().err
        assert word in error and error.count("\n") == 1


def test_intervals_of_few_games_hold_the_truth() -> None:
    """Scores of 2x3 gather around few tiles: Student's t alone held the mean of 10 in 90 %."""
    solution, player = solve("2x3"), agent_from("greedy", "2048", 0)
    played = sampled_regret(solution, player, games=500, seed=1)
    random = np.random.default_rng(1)
    for games in (2, 10):
        held = [0, 0]
        for chosen in random.choice(500, (1000, games)).tolist():
            some = SampledRegret(*([values[i] for i in chosen] for values in played))
            report = _summarise(some)
            for n, name in enumerate(("ci95", "regret_ci95")):
                low, high = report[name]
                held[n] += low <= fmean((played.scores, played.regrets)[n]) <= high
        assert min(held) / 1000 > 0.925
