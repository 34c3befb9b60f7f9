"""A review of a game for two tells luck from skill, and what it tells adds up to the result."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tuplet
from tuplet import EndgameTable, Record, TwoPlayerReview, UserError
from tuplet.cli import run
from tuplet.kernel import stream

GAME = "ewn:board=3x3,cubes=2"


@pytest.fixture(scope="module")
def table() -> EndgameTable:
    return tuplet.solve(GAME)


def played(game: str, red: object = "easy", blue: object = "easy", seed: int = 1) -> Record:
    streams = [np.uint64(stream(np.uint64(seed), np.uint64(n))) for n in range(3)]
    return tuplet.play_game(
        red, blue, tuplet.game(game).start(seed), rolls=streams[0], streams=(streams[1], streams[2])
    )


def adds_up(found: TwoPlayerReview) -> None:
    *parts, (_, result) = found.parts()
    assert sum(value for _, value in parts) == pytest.approx(result, abs=1e-9)
    first, second = found.sides.values()
    assert found.result == pytest.approx(
        found.first_value + first.luck - first.losses - second.luck + second.losses + found.drift + found.left
    )


@pytest.mark.parametrize("judge", ["mcts:sims=50", "alphabeta:depth=2"])
@pytest.mark.parametrize("game", [GAME, "ewn", "ewn-6x7", "ewn:die=chosen"])
def test_luck_mistakes_and_re_estimates_add_up_to_the_result(game: str, judge: str) -> None:
    for seed in range(2):
        found = tuplet.review(played(game, seed=seed), judge, progress=False)
        adds_up(found)
        assert len(found.moves) == len(found.record.moves)


def test_an_exact_judge_needs_no_re_estimates(table: EndgameTable) -> None:
    for seed in range(5):
        found = tuplet.review(played(GAME, seed=seed), table, progress=False)
        adds_up(found)
        assert all(abs(move.drift) < 1e-6 for move in found.moves)
        assert found.first_value == pytest.approx(table.value(found.record.start))


def test_perfect_play_costs_nothing_and_luck_decides(table: EndgameTable) -> None:
    found = tuplet.review(played(GAME, table, table), table, progress=False)
    assert all(side.losses == 0 and side.accuracy == 100 for side in found.sides.values())
    first, second = found.sides.values()
    assert first.luck - second.luck == pytest.approx(found.result - found.first_value, abs=1e-6)
    loser = "blue" if found.record.winner == "red" else "red"
    assert found.word(found.record.winner) in ("lucky", "even") and found.word(loser) in ("unlucky", "even")


def test_without_dice_there_is_no_luck() -> None:
    found = tuplet.review(played("ewn-6x7"), "alphabeta:depth=2", progress=False)
    assert all(abs(move.luck) < 1e-12 for move in found.moves)


def test_a_review_says_when_a_missed_win_would_have_come() -> None:
    """In text and JSON: each number is that of the judge's analysis, one more than the longest answer to the move."""
    game, judge = "ewn:board=4x4,cubes=3,cycle=5", "alphabeta:depth=40"
    missed = None
    for seed in range(30):
        found = tuplet.review(played(game, seed=seed), judge, progress=False)
        for move, told in zip(found.moves, found.as_json()["moves"], strict=True):
            moves = {m.move: m for m in tuplet.analyze(game, move.position, judge).moves}
            assert told.get("ends_in") == moves[move.best].ends_in
            assert told.get("played_ends_in") == moves[move.played].ends_in
            missed = found if move.loss == 1 and move.ends_in else missed
        if missed:
            break
    assert missed and "won in " in str(missed) and "lost in " in str(missed)


def test_a_table_reviews_the_ending_that_it_knows() -> None:
    table = tuplet.solve("ewn:cubes=3", cubes=3)
    record = next(r for s in range(50) if len((r := played("ewn:cubes=3", seed=s)).position.cubes) <= 2)
    found = tuplet.review(record, table, progress=False)
    adds_up(found)
    assert found.skipped == len(record.moves) - len(found.moves) > 0
    assert len(found.moves[0].position.cubes) <= 3 and found.moves[0].number == found.skipped + 1
    with pytest.raises(UserError, match="no position that the table knows"):
        tuplet.review(
            Record(("a", "b"), record.start, record.moves[:1], record.outcomes[:1], position=record.start), table
        )


def test_a_forfeit_and_an_unfinished_game_add_up_too() -> None:
    record = tuplet.game(GAME).setup()
    game = Record(("a", "b"), record)
    game.apply_outcome(1)
    game.play(game.position.legal_moves()[0])
    found = tuplet.review(game, "mcts:sims=50", progress=False)
    adds_up(found)
    assert found.left == 0 and 0 < found.result < 1
    game.forfeit("blue", "late", "no move in time")
    found = tuplet.review(game, "mcts:sims=50", progress=False)
    adds_up(found)
    assert found.result == 1 and found.left > 0


def test_a_judge_without_values_and_options_of_2048_are_refused() -> None:
    record = played(GAME)
    with pytest.raises(UserError, match="does not value every move"):
        tuplet.review(record, "easy", progress=False)
    with pytest.raises(UserError, match="are of 2048"):
        tuplet.review(record, depth=2)


def test_the_command_reviews_a_game_of_a_saved_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "match.jsonl"
    tuplet.match("easy", "random", GAME, games=4, out=path, progress=False)
    assert run(["review", str(path), "--number", "2", "--agent", "mcts:sims=50", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    record = Record.parse(path.read_text().splitlines()[2])
    assert said == tuplet.review(record, "mcts:sims=50", progress=False).as_json()
    assert run(["review", str(path), "--number", "2", "--agent", "mcts:sims=50"]) == 0
    shown = capsys.readouterr().out
    assert "red's dice" in shown and "blue  easy: " in shown and "re-estimates" in shown
    assert run(["review", str(path), "--number", "5"]) == 2
    assert "has 4 games: there is no game 5" in capsys.readouterr().err
