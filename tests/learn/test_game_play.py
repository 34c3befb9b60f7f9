"""Learning of games other than 2048: values, learning, runs and files."""

# ruff: noqa: ARG001  # kernels of a game take arguments that this one does not need

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tuplet
from both_ways import in_both_ways
from tuplet.errors import UserError
from tuplet.games.encoding import Encoding
from tuplet.games.game import Game
from tuplet.games.protocol import NO_WINNER, ONGOING, register_game
from tuplet.kernel import inlined
from tuplet.values.game_network import GameNetwork, parse_tuples, valued_game
from tuplet.values.weights import load_game_network, read_weights

SMALL = "ewn:board=3x3,cubes=2"


def random_network(name: str, net: str | None = None) -> GameNetwork:
    network = GameNetwork(tuplet.game(name), net)
    network.weights[:] = np.random.default_rng(5).normal(size=len(network.weights)) * 0.1
    return network


def positions(name: str, count: int) -> list[Any]:
    """Positions in which chance or a side is to act, from random games."""
    game, found = tuplet.game(name), []
    for seed in itertools.count():
        state, position = np.uint64(seed + 1), game.start(seed)
        while not position.over and len(found) < count:
            found.append(position)
            if position.is_chance:
                state, outcome = position.random_outcome(state)
                position = position.apply_outcome(outcome)
            else:
                state, move = position.random_move(state)
                position = position.play(move)
        if len(found) == count:
            return found
    raise AssertionError


def ewn_position(text: str) -> Any:
    return tuplet.game("ewn").parse(text)


TEXT = "r1.r3../.r4..b2/...r6./b1.b4../....b6"


@pytest.mark.parametrize(
    "same",
    [
        pytest.param("r1..b1./.r4.../r3..b4./..r6../.b2..b6", id="rows and columns exchanged"),
        pytest.param("r6.r4../.r3..b2/...r1./b1.b4../....b6", id="red numbered from the other end"),
        pytest.param("r1.r3../.r4..b5/...r6./b6.b3../....b1", id="blue numbered from the other end"),
    ],
)
def test_positions_that_are_alike_have_one_value(same: str) -> None:
    network = random_network("ewn")
    assert network.value(ewn_position(f"{same} red ?")) == pytest.approx(
        network.value(ewn_position(f"{TEXT} red ?")), abs=1e-6
    )


def test_the_other_side_sees_the_board_turned_around() -> None:
    network = random_network("ewn")
    turned = "r6..../..r4.r1/.b6.../r2..b4./..b3.b1"
    assert network.value(ewn_position(f"{turned} blue ?")) == network.value(ewn_position(f"{TEXT} red ?"))
    assert network.value(ewn_position(f"{turned} red ?")) != network.value(ewn_position(f"{TEXT} red ?"))


@pytest.mark.parametrize("name", ["ewn", "ewn-6x7", "ewn:die=chosen", "ewn:die=free", SMALL])
def test_tuples_and_features_add_up_to_the_value(name: str) -> None:
    network = random_network(name)
    for position in positions(name, 20):
        total = sum(part.value for part in network.explain(position))
        assert network.value(position) == pytest.approx(1 / (1 + np.exp(-total)), abs=1e-5)
        for part in network.explain(position):
            assert part.value == pytest.approx(sum(weight for _, weight in part.placements))


def test_a_move_is_worth_what_its_after_state_is_worth_to_the_mover() -> None:
    network = random_network("ewn-6x7")
    for position in positions("ewn-6x7", 30):
        for move in network.moves(position):
            after = position.play(move.move)
            expected = float(after.winner == position.turn) if after.over else 1 - network.value(after)
            assert move.value == pytest.approx(expected, abs=1e-6)


SCRIPT = """
import numpy as np
import tuplet
from tuplet.learn.game_play import GameHyperparameters, make_results, make_workspace, play_games, play_match
from tuplet.learn.learners import LEARNERS
from tuplet.values.game_network import GameNetwork, make_scratch

for name, learner in (("ewn:board=3x3,cubes=2", "tc"), ("ewn:board=4x4,cubes=2,die=cycle", "td")):
    game, rule = tuplet.game(name), LEARNERS[learner]
    net = GameNetwork(game, "2x2")
    tables = net.tables_with_memory(rule.memory, rule.memory_per_weight)
    hyper = GameHyperparameters(
        rule.rule, np.float32(0.5), np.float32(1), np.float32(0.5), np.int64(2), np.float64(0.1), np.int64(3)
    )
    rules, start = game.self_play_start(np.uint64(3))
    work, scratch, results, points = make_workspace(), make_scratch(net.m), make_results(20), np.zeros(4)
    play_games(rules, start, tables, hyper, False, work, scratch, np.uint64(7), 0, 20, results, 0)
    play_match(
        rules, start, tables, np.float32(1), False, 2, work, scratch, np.uint64(7), 0, 4, points
    )
    print(results.points.tolist(), results.lengths.tolist(), points.tolist())
    print(results.errors.tolist(), float(np.abs(net.weights).sum(dtype=np.float64)), net.weights.any())
"""


def test_learning_is_the_same_compiled_and_interpreted() -> None:
    compiled, interpreted = in_both_ways(SCRIPT, [])
    assert compiled == interpreted


def exact_values(game: Game) -> dict[str, float]:
    """The probability that the side to roll wins, for every position of a small game; by recursion."""
    known: dict[str, float] = {}

    def value(position: Any) -> float:
        key = position.notation
        if key not in known:
            best = []
            for outcome, probability in position.chance_outcomes().items():
                rolled = position.apply_outcome(outcome)
                moves = [rolled.play(move) for move in rolled.legal_moves()]
                best.append(probability * max(float(m.over) if m.over else 1 - value(m) for m in moves))
            known[key] = sum(best)
        return known[key]

    for seed in range(20):
        value(game.start(seed))
    return known


def test_learned_values_come_near_exact_ones() -> None:
    game = tuplet.game("ewn:board=3x3,cubes=2")
    exact = exact_values(game)
    run = tuplet.train(game=game.name, games=30_000, evaluate="", progress=False, schedule="0.5:0.1", explore=0.2)
    errors = [abs(run.network.value(game.parse(key)) - value) for key, value in exact.items()]
    untrained = [abs(0.5 - value) for value in exact.values()]
    assert np.mean(errors) < 0.05 < np.mean(untrained) / 4


class CoinRules(NamedTuple):
    """A game for one: a coin is tossed three times; a player may take a head's point, or wait for double."""

    tosses: int


@inlined
def _players(game):
    return 1


@inlined
def _side(game, position):
    return 0


@inlined
def _is_chance(game, position):
    return position[1] & np.uint64(1) == np.uint64(0)


@inlined
def _count(game, position):
    return 2


@inlined
def _probability(game, position, outcome):
    return 0.5


@inlined
def _toss(game, position, outcome):  # the second bit: heads
    return position[0], position[1] | np.uint64(1) | (np.uint64(outcome) << np.uint64(1))


@inlined
def _legal(game, position, moves, start):
    moves[start], moves[start + 1] = 0, 1
    return 2


@inlined
def _apply(game, position, move):  # word 0: points; word 1: tosses so far in bits 4 to 7, doubled in bits 8 to 15
    heads = (position[1] >> np.uint64(1)) & np.uint64(1)
    doubled = position[1] >> np.uint64(8)
    tosses = ((position[1] >> np.uint64(4)) & np.uint64(15)) + np.uint64(1)
    points = position[0]
    if move == 0:
        points += heads << doubled
        doubled = np.uint64(0)
    else:
        doubled += np.uint64(1)
    return points, (tosses << np.uint64(4)) | (doubled << np.uint64(8))


@inlined
def _ending(game, position):
    return 1 if (position[1] >> np.uint64(4)) & np.uint64(15) >= np.uint64(game.tosses) else ONGOING


@inlined
def _winner(game, ended):
    return NO_WINNER


@inlined
def _payoff(game, position, ended, rich):
    return np.float64(position[0])


@inlined
def _range(game):
    return 0.0, 16.0


@inlined
def _reward(game, position, after):
    return np.float64(after[0] - position[0])


@inlined
def _encode(game, tables, position, codes, numbers):
    codes[0] = 1 * 8 + np.int64((position[1] >> np.uint64(4)) & np.uint64(15))
    codes[1] = 0 * 8 + np.int64(position[1] >> np.uint64(8))
    return 2


register_game(
    CoinRules,
    2,
    players=_players,
    side=_side,
    is_chance=_is_chance,
    count_outcomes=_count,
    probability=_probability,
    apply_outcome=_toss,
    legal=_legal,
    apply=_apply,
    ending=_ending,
    winner=_winner,
    payoff=_payoff,
    value_range=_range,
    reward=_reward,
    encode=_encode,
)


class Coin(Game):
    encoding = Encoding(1, 2, 8, "0-1")


def test_a_game_for_one_with_rewards_is_learned() -> None:
    """After three tosses: waiting twice makes a head worth four points."""

    def exact(left: int, doubled: int) -> float:
        if left == 0:
            return 0.0
        heads = max(2**doubled + exact(left - 1, 0), exact(left - 1, doubled + 1))
        tails = max(exact(left - 1, 0), exact(left - 1, doubled + 1))
        return (heads + tails) / 2

    game = Coin(CoinRules(3), "coin")
    run = tuplet.train(GameNetwork(game), games=20_000, explore=0.3, opening=0, evaluate="", progress=False, alpha=0.2)
    assert run.network.value(game.start()) == pytest.approx(exact(3, 0), abs=0.05)
    evaluated = tuplet.train(run.network, games=1, evaluate="2000@1", progress=False).evaluations[-1]
    low, high = evaluated["ci95"]
    assert low <= exact(3, 0) <= high
    assert "opponent" not in evaluated


def test_the_same_seed_gives_the_same_bytes_also_across_an_interruption(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"game": SMALL, "seed": 4, "evaluate": "20@300", "progress": False}
    whole = tuplet.train(games=600, out=tmp_path / "whole", **settings)
    tuplet.train(games=300, out=tmp_path / "parts", **settings)
    parts = tuplet.resume(tmp_path / "parts", games=600, progress=False)
    read = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "parts")]
    assert read[0] == read[1]
    timeless = [
        [{key: e[key] for key in ("learned", "mean_score", "ci95")} for e in run.evaluations] for run in (whole, parts)
    ]
    assert timeless[0] == timeless[1]
    assert (tmp_path / "whole" / "curve.svg").is_file()


def test_rounds_of_tasks_give_the_same_weights_for_any_number_of_threads() -> None:
    weights = []
    for threads in (1, 2):
        run = tuplet.train(game=SMALL, games=2000, tasks=2, threads=threads, evaluate="", progress=False)
        weights.append(run.network.weights)
    assert weights[0].any()
    assert (weights[0] == weights[1]).all()


def test_a_run_folder_is_an_agent_and_an_analysis_says_which_tuples_make_a_value(tmp_path: Path) -> None:
    run = tuplet.train(game=SMALL, games=500, evaluate="", out=tmp_path / "run", progress=False)
    game = tuplet.game(SMALL)
    position = game.start(3).apply_outcome("1")
    agent = tuplet.make_agent(str(tmp_path / "run"), game)
    assert agent.choose(position) == run.network.best_move(position)
    analysis = tuplet.analyze(game, position, f"alphabeta:values={tmp_path / 'run'},depth=1")
    values = {move.move: move.value for move in analysis.moves}
    for move, value in values.items():
        odds = sum(worth[move] for worth in analysis.why.values())
        assert value == pytest.approx(1 / (1 + np.exp(-odds)), abs=1e-4)
    assert "log-odds" in str(analysis)
    assert tuplet.match(str(tmp_path / "run"), "easy", SMALL, games=10, progress=False).as_json()["win_rate"] >= 0.5


def test_weight_files_name_their_game(tmp_path: Path) -> None:
    network = random_network(SMALL)
    path = network.save(tmp_path / "weights.safetensors")
    again = read_weights(path).network
    assert again.game == network.game
    assert (again.weights == network.weights).all()
    with pytest.raises(UserError, match="values of ewn:board=3x3,cubes=2, not of ewn"):
        load_game_network(path, tuplet.game("ewn"))
    with pytest.raises(UserError, match="not of 2048"):
        tuplet.Network.load(path)
    small = tuplet.Network("0123")
    with pytest.raises(UserError, match="values of 2048, not of ewn"):
        load_game_network(small.save(tmp_path / "small.safetensors"), tuplet.game("ewn"))


def test_packed_files_hold_networks_of_every_game(tmp_path: Path) -> None:
    network = random_network(SMALL)
    network.weights[::3] = 0
    tuplet.convert(network.save(tmp_path / "weights.safetensors"), tmp_path / "player.xz")
    packed = load_game_network(tmp_path / "player.xz", network.game)
    assert np.abs(packed.weights - network.weights).max() < 0.001
    assert packed.value(network.game.start(1)) == pytest.approx(network.value(network.game.start(1)), abs=0.01)


def test_a_model_folder_says_what_the_model_is_and_how_it_was_learned(tmp_path: Path) -> None:
    tuplet.train(game=SMALL, games=500, evaluate="", out=tmp_path / "run", progress=False)
    tuplet.convert(tmp_path / "run", tmp_path / "model", to="hub")
    card = (tmp_path / "model" / "README.md").read_text()
    assert f"tuplet train {SMALL}" in card
    assert "against playouts=50" in card
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert (config["game"], config["tuples"]) == (SMALL, ["2x3", "3x3/side"])
    model, run = (load_game_network(tmp_path / name, tuplet.game(SMALL)) for name in ("model", "run"))
    assert (model.weights == run.weights).all()


def test_a_file_for_another_encoding_is_refused(tmp_path: Path) -> None:
    network = random_network(SMALL)
    path = network.save(tmp_path / "weights.safetensors")
    data = path.read_bytes()
    weights = str(len(network.weights)).encode()
    assert data.count(b'"' + weights + b'"') == 1
    path.write_bytes(data.replace(b'"' + weights + b'"', b'"' + b"9" * len(weights) + b'"'))
    with pytest.raises(UserError, match="do not fit the encoding"):
        read_weights(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at least one tuple"),
        ("9x9", "does not fit on a board of 5x5"),
        ("0-1-99", "from 0 to 24"),
        ("0-1-1", "different numbers"),
        ("abc", "blocks such as 2x3"),
        ("2x3/colour", "no group 'colour' .*side"),
        ("5x5", "more than"),
    ],
)
def test_wrong_tuples_are_refused(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_tuples(tuplet.game("ewn").encoding, text)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"game": "ewn", "restart": True}, "--restart is for 2048"),
        ({"game": "ewn", "recipe": "quick"}, "recipes are for 2048"),
        ({"game": "ewn", "opponent": "hard"}, "opponent must be random, or playouts=N"),
        ({"explore": 0.1}, "--explore is for other games than 2048"),
        ({"game": "chess"}, "is not a game"),
    ],
)
def test_settings_of_another_game_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        tuplet.train(**settings)


def test_a_game_without_an_encoding_cannot_be_learned() -> None:
    with pytest.raises(UserError, match="has no encoding"):
        GameNetwork(Game(CoinRules(2), "bare-coin"))


def test_a_board_of_2048_may_be_named_as_the_game() -> None:
    run = tuplet.train(game="2048:board=2x3", games=50, progress=False)
    assert run.method.game == "2048"
    assert run.network.size == (2, 3)


def test_estimates_of_a_valued_game_are_the_networks_values_strictly_inside_the_range() -> None:
    network = random_network("ewn")
    from tuplet.games import protocol

    for position in positions("ewn", 20):
        game = valued_game(position.rules, network)
        estimate = protocol.estimate(game, position.words)
        assert estimate == pytest.approx(2 * network.value(position) - 1, abs=1e-6)
        network.weights += 0.5
        assert -1 < protocol.estimate(game, position.words) < 1
        network.weights -= 0.5


def test_metrics_are_lines_of_json(tmp_path: Path) -> None:
    tuplet.train(game=SMALL, games=2000, evaluate="20@1000", out=tmp_path / "run", progress=False)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [line["games"] for line in lines] == [1000, 2000]
    assert all({"elapsed_s", "moves_per_s", "mean_moves", "td_error"} <= line.keys() for line in lines)
    assert lines[0]["evaluations"][0]["opponent"] == "playouts=50"
