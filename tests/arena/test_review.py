"""A review tells luck from skill with one judge, and what it tells adds up to the score."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tuplet
from tuplet import Analysis, Board, LearnedAgent, MoveValue, Network, Record, Review, game
from tuplet.agents.agent import agent_from
from tuplet.arena.review import MoveReview
from tuplet.games.analysis import BANDS
from tuplet.games.formats import read_game

LINE = "you:random@1|0111#L[4]31#LC1#U82|you@2"  # 4x4: three moves, not to its end


def adds_up(found: Review) -> None:
    told = found.as_json()
    parts = told["first_value"] + told["luck"] + told["drift"] - told["losses"] - told["left"]
    assert parts == pytest.approx(told["score"], abs=1e-6 * max(1.0, abs(told["first_value"])))
    for move, then in zip(told["moves"], told["moves"][1:], strict=False):
        changed = move["luck"] + move["drift"] - move["loss"]
        assert then["expected"] - move["expected"] == pytest.approx(changed, abs=0.01)
    assert sum(told["counts"].values()) == len(told["moves"])
    assert 0 <= told["accuracy"] <= 100


def played(name: str = "2048", who: Any = "random", seed: int = 1) -> Record:
    """A game to its end on any board."""
    held: Any = game(name)
    record = Record(("you",), held.start(seed))
    player, state = agent_from(who, "2048", seed), np.uint64(seed)
    if hasattr(player, "open"):
        player.open(record.start, "player", state)
    while not record.over:
        record.play(str(player.choose(record.position)))
        state, outcome = record.position.random_outcome(state)
        record.apply_outcome(outcome)
    return record


@pytest.fixture(scope="module")
def greedy() -> Record:
    return tuplet.play_episode("greedy", seed=1)


def test_luck_loss_and_drift_are_what_a_hand_computes() -> None:
    """All after-states are worth 100, so that a board is worth 100 and its best reward."""
    net = Network("0123", board="2x2", initial=100.0)
    start = game("2048:board=2x2").parse("2,2/0,0")
    record = Record(("you",), start)
    record.play("left")  # 4,0/0,0: then a 4 beside or below the 4 is worth 8 more
    record.apply_outcome("4@1")
    record.play("down")  # for nothing, where left and right earn 8
    record.apply_outcome("2@0")
    found = tuplet.review(record, net)
    first, second = found.moves
    beside = 100 + (0.1 / 3) * (8 + 8)
    assert first.value == first.played_value == 104 and first.band == "best"
    assert first.mean_value == pytest.approx(beside, abs=1e-5)
    assert first.luck == pytest.approx(108 - beside, abs=1e-5)
    assert first.drift == pytest.approx(4 + beside - 104, abs=1e-5)
    assert (second.value, second.played_value, second.loss) == (108, 100, 8)
    assert second.best == "right" and second.band == "bad" and second.score == 4
    # 0,0/4,4: wherever a tile appears, the fours merge for 8.
    assert second.mean_value == pytest.approx(108, abs=1e-5)
    assert second.luck == pytest.approx(0, abs=1e-5)
    assert second.drift == pytest.approx(8, abs=1e-5)
    assert found.first_value == 104 and found.left == 108
    adds_up(found)


def test_an_exact_judge_never_changes_its_mind() -> None:
    for name in ("2048:board=2x2", "2048:board=2x3,spawn4=0.2"):
        found = tuplet.review(played(name))
        assert found.judge == "the exact solution" and found.as_json()["game"] == name
        assert max(abs(move.drift) for move in found.moves) < 1e-9
        held: Any = game(name)
        solution = tuplet.solve(name.partition("=")[2][:3], spawn4=held.spawn4)
        assert found.moves[0].value == pytest.approx(solution.value(found.moves[0].board))
        assert found.left == 0 < found.losses
        adds_up(found)
    best = tuplet.review(played("2048:board=2x3", tuplet.solve("2x3")))
    assert best.accuracy == 100 and best.counts["best"] == len(best.moves)


def test_means_are_those_of_every_board_that_might_have_come(trained: Network) -> None:
    after = Board([2, 4, 0, 0, 16, 32, 0, 2, 4, 128, 2, 8, 64, 256, 4, 512])
    for depth, share in ((1, 0.1), (2, 0.2), (3, 0.0)):
        player = LearnedAgent(trained, depth=depth, spawn4=share)
        means = 0.0
        for board, chance in after.spawns(share):
            values = [move.value for move in player.moves(board) if move.value is not None]
            means += chance * max(values, default=0.0)
        assert player.expected(after) == (pytest.approx(means, rel=1e-6), depth)
    stuck = Board([2, 4, 2, 0, 4, 2, 4, 8, 2, 4, 2, 4, 4, 2, 4, 2])  # a 4 in the gap goes on
    found, _ = LearnedAgent(trained).expected(stuck)
    on = [m.value for m in LearnedAgent(trained).moves(stuck.place(3, 2)) if m.value is not None]
    ends = stuck.place(3, 4).over
    assert ends and found == pytest.approx(0.9 * max(on), rel=1e-6)


def test_luck_is_nothing_on_average(trained: Network) -> None:
    episode = read_game(LINE.replace("82|", "|"))
    before = episode.text("episode").rpartition("|")[0]
    total = 0.0
    for tile, chance in ((1, 0.9), (2, 0.1)):
        for cell in episode.position.empty:
            found = tuplet.review(f"{before}{cell:X}{tile}|you@2", LearnedAgent(trained, depth=2))
            total += chance / len(episode.position.empty) * found.moves[-1].luck
    assert abs(total) < 1e-4 * found.first_value


def test_it_adds_up_whoever_judges(trained: Network, greedy: Record) -> None:
    for judge in (
        LearnedAgent(trained),
        LearnedAgent(trained, depth=2, spawn4=0.2),
        LearnedAgent(trained, time=0.0003),
        LearnedAgent(trained, downgrade=16),
    ):
        found = tuplet.review(greedy, judge)
        assert found.left == 0 and found.losses > 0
        adds_up(found)
    adds_up(tuplet.review(played("2048:board=2x2"), "mcts:sims=50"))
    cut = read_game(LINE)
    found = tuplet.review(cut, LearnedAgent(trained))
    assert found.left > 0
    adds_up(found)
    late = tuplet.review(cut.text("episode").replace("82|", "|"), LearnedAgent(trained))  # no tile came
    assert late.moves[-1].luck == 0 and late.left == late.moves[-1].mean_value
    adds_up(late)


def test_a_game_may_begin_in_the_middle(trained: Network) -> None:
    record = Record(("you",), game("2048").parse("2048 2,2,4,8/0,0,0,0/0,0,0,0/0,0,0,2 1000 ?"))
    record.apply_outcome("2@4")
    record.play("left")
    record.apply_outcome("4@15")
    found = tuplet.review(record.line, LearnedAgent(trained))
    assert found.moves[0].score == 1000 and found.record.score == 1004
    assert found.first_value == 1000 + found.moves[0].value
    adds_up(found)


class Judge:
    """Values of moves that a test sets."""

    name = "judge"

    def choose(self, board: Board) -> str:
        return board.legal_moves()[0]

    def analyze(self, board: Board) -> Analysis:
        assert not board.over  # nobody asks about finished games
        values = {"left": 4.0, "right": 2.0}
        moves = [MoveValue(move, values.get(move, 0.0)) for move in board.legal_moves()]
        return Analysis(moves, points=True, position=board)


def test_any_class_with_values_judges() -> None:
    found = tuplet.review(read_game(LINE), Judge)
    assert [move.value for move in found.moves] == [4, 4, 2]  # on the last, left moves nothing
    adds_up(found)
    adds_up(tuplet.review(played("2048:board=2x2"), Judge()))


def judged(value: float, played_value: float) -> MoveReview:
    return MoveReview(1, Board(), "up", "left", played_value, value, 0, 0.0, 0.0, 0)


@pytest.mark.parametrize(
    ("value", "played_value", "band", "share"),
    [
        (1000, 1000, "best", 0),
        (1000, 1000 - 1e-7, "best", 0),
        (1000, 990.1, "good", 0.0099),
        (1000, 990, "inaccurate", 0.01),
        (1000, 950, "inaccurate", 0.05),
        (1000, 949, "bad", 0.051),
        (1000, -2000, "bad", 1),
        (0, 0, "best", 0),
        (0, -1, "bad", 1),
        (-100, -100, "best", 0),
        (-100, -104, "inaccurate", 0.04),
        (-100, -110, "bad", 0.1),
    ],
)
def test_moves_are_best_good_inaccurate_or_bad(value: float, played_value: float, band: str, share: float) -> None:
    move = judged(value, played_value)
    assert move.band == band and move.blunder == (band == "bad")
    assert move.lost_share == pytest.approx(share)


def test_random_play_marks_badly_and_the_judges_own_play_well() -> None:
    judge = tuplet.make_agent("small", "2048")
    marks = [tuplet.review(tuplet.play_episode("random", seed=s), judge).accuracy for s in range(8)]
    assert max(marks) < 40 and sum(marks) / len(marks) < 15
    own = read_game(tuplet.play_episode(judge, seed=5).text("episode"))
    assert tuplet.review(own, judge).accuracy == 100
    assert 90 < tuplet.review(own, judge, depth=2).accuracy < 100  # one that looks further


def test_the_mark_compares_what_was_lost_with_what_random_moves_lose() -> None:
    record = Record(("you",), game("2048:board=2x2").parse("2,2/0,0"))
    record.play("left")
    record.apply_outcome("4@1")
    record.play("down")  # for nothing, where left and right earn 8: 8 of 108 is lost
    record.apply_outcome("2@0")
    found = tuplet.review(record, Network("0123", board="2x2", initial=100.0))
    first, second = found.moves
    assert first.random_share == pytest.approx((4 / 104) / 3)  # left, right: best; down loses 4
    assert second.random_share == pytest.approx((8 / 108) / 3)
    wanted = 100 * (1 - (8 / 108) / (first.random_share + second.random_share))
    assert wanted < 0 and found.accuracy == 0  # worse than at random
    forced = Record(("you",), game("2048:board=2x2").parse("0,2/0,4"))
    forced.play("left")  # the only move
    forced.apply_outcome("2@1")
    alone = tuplet.review(forced)
    assert alone.moves[0].random_share == 0 and alone.accuracy == 100


@pytest.mark.parametrize("agent", [None, "small"])
def test_a_review_looks_one_move_ahead_unless_told_otherwise(agent: str | None) -> None:
    assert tuplet.review(LINE, agent).depth == 1
    assert tuplet.review(LINE, agent, depth=2).depth == 2


def test_the_command_tells_what_the_score_is_made_of(tuplet: Any, tmp_path: Any) -> None:
    record = played("2048:board=2x2", seed=3)
    path = tmp_path / "games.jsonl"
    path.write_text(record.line + "\n")
    shown = tuplet("review", path, "--top", 1)
    assert shown.returncode == 0, shown.stderr
    for words in (
        "judged by the exact solution",
        "accuracy ",
        "inaccurate ",
        "expected at the start",
        "luck ",
        "mistakes ",
        "re-estimates ",
        "final score ",
    ):
        assert words in shown.stdout
    told = json.loads(tuplet("review", record.line, "--json").stdout)
    assert set(told) >= {
        "player",
        "score",
        "mean_loss",
        "best_share",
        "blunders",
        "moves",
        "accuracy",
        "counts",
        "first_value",
        "luck",
        "drift",
        "losses",
        "left",
        "game",
        "judge",
        "depth",
        "time",
        "accuracy_means",
    }
    assert tuple(told["counts"]) == BANDS and told["blunders"] == told["counts"]["bad"]
    assert set(told["moves"][0]) == {
        "number",
        "board",
        "played",
        "best",
        "played_value",
        "value",
        "loss",
        "band",
        "reward",
        "luck",
        "drift",
        "mean_value",
        "score",
        "expected",
        "lost_share",
        "random_share",
    }
    assert told == json.loads(tuplet("review", path, "--json").stdout)


def test_a_judge_of_another_game_is_refused(trained: Network, tmp_path: Any) -> None:
    with pytest.raises(ValueError, match=r"for 4x4 boards \(got 2x2\)"):
        tuplet.review(played("2048:board=2x2"), trained)
    table = tuplet.solve("2x2").save(tmp_path / "table")
    with pytest.raises(ValueError, match="of 10 % fours, and the game of 20 %"):
        tuplet.review(played("2048:board=2x2,spawn4=0.2"), str(table))
    with pytest.raises(ValueError, match="tuplet has no player of 3x3"):
        tuplet.review(Record(("player",), game("2048:board=3x3").start()))
