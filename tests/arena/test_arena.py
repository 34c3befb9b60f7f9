"""Players and environments in the loop, episodes as text, evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tuplet
from tuplet import (
    Board,
    GreedyAgent,
    LearnedAgent,
    Network,
    RandomAgent,
    RandomEnvironment,
    Record,
    evaluate,
    learn_from,
    play_episode,
)
from tuplet.games.formats import read_game
from tuplet.games.g2048.statistics import Results, printout, summarise
from tuplet.system.intervals import mean_interval, share_interval


class Corner:
    """A student's player: ten lines of plain Python."""

    def __init__(self) -> None:
        self.opened = self.closed = 0

    def open(self, start: object, side: str, state: object) -> None:
        self.opened += 1

    def end(self, last: Any) -> None:
        self.closed += 1
        self.last = last

    def choose(self, board: Board) -> str:
        return next(m for m in ("left", "down", "right", "up") if m in board.legal_moves())


class FirstCell:
    """A student's environment."""

    def place(self, board: Board) -> tuple[int, int]:
        return board.empty[0], 2


class Eights:
    """A user's environment that places tiles other than 2 and 4."""

    def place(self, board: Board) -> tuple[int, int]:
        return board.empty[0], 8


def test_players_and_environments_of_ones_own_play_in_the_same_loop() -> None:
    player, records = Corner(), []
    result = evaluate(player, FirstCell(), games=3, on_episode=records.append)
    assert (player.opened, player.closed) == (3, 3)
    # Nothing is random: every game is the same.
    assert len(set(result.results.scores)) == 1
    assert player.last.score == result.summary.mean_score
    assert result.summary.max_score == result.results.scores[0]
    assert all(record.text("episode").startswith("Corner:FirstCell@") for record in records)
    assert records[-1].position == player.last


@pytest.mark.parametrize("threads", [1, 2])
def test_an_environment_may_place_other_tiles_than_2_and_4(threads: int) -> None:
    records: list[Record] = []
    result = evaluate(Corner, Eights, games=2, threads=threads, on_episode=records.append)
    assert result.summary.games == len(records) == 2
    line = records[0].text("episode")
    again = read_game(line)
    assert line.partition("|")[2].startswith("0313#") and again == records[0] and again.text("episode") == line
    table = again.table()
    assert list(table.columns) == ["number", "side", "name", "position", "move", "tiles", "reward", "score"]
    assert sum(row[6] for row in table.rows) == table.rows[-1][7] == again.score


def test_compiled_games_and_the_python_loop_are_the_same_games(trained: Network) -> None:
    games: list[Record] = []
    compiled = evaluate(trained, games=15, seed=4, threads=2)
    python = evaluate(LearnedAgent(trained), RandomEnvironment(4), games=15, on_episode=games.append)
    for one, other in zip(compiled.results, python.results, strict=True):
        assert (one == other).all()
    assert [game.score for game in games] == list(compiled.results.scores)


@pytest.mark.parametrize("player", [RandomAgent(), GreedyAgent(), Corner()])
def test_an_episode_is_a_line_of_text_that_can_be_played_again(player: object) -> None:
    episode = play_episode(player, RandomEnvironment(2))  # type: ignore[arg-type]
    line = episode.text("episode")
    assert "\n" not in line
    again = read_game(line)
    assert again.text("episode") == line
    assert again == episode and again.info["times"] == episode.info["times"]
    assert episode.over


def test_the_frameworks_own_record_is_read() -> None:
    line = "slide:place@1556175021792|0111#L[4]31#R(7)01|place@1556175021793"
    game = read_game(line)
    assert game.position.tiles == [2, 0, 4, 2] + [0] * 12
    assert game.score == 4 and game.moves == ["left", "right"] and game.info["times"] == [0, 0, 0, 0, 7, 0]
    assert (*game.names, game.info["placer"], game.info["winner"]) == ("slide", "place", "place")
    assert game.text("episode") == line


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("", "there is no game 1"),
        ("a:b@1|01|b", "looks like"),
        ("a:b@1|0101|b@1", "not an empty cell"),
        ("a:b@1|01x|b@1", "no move can be read"),
        ("a:b@1|0141#L|b@1", "changes nothing"),
        ("a:b@1|01#R|b@1", "two placements"),
        ("a:b@1|0111#L[4]#R|b@1", "in turns"),
        ("a:b@1|01112131|b@1", "in turns"),
        ("a:b@1|0111#L[8]|b@1", "earns 4, not 8"),
    ],
)
def test_records_that_are_not_games_are_refused(line: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        read_game(line)


@given(st.text(alphabet="01239aef#URDL[]()|:@4", max_size=40))
def test_rubbish_never_raises_anything_else(text: str) -> None:
    try:
        episode = read_game(f"a:b@1|{text}|b@2")
    except ValueError:
        return
    assert read_game(episode.text("episode")) == episode


def test_a_recorded_game_can_be_learned_from() -> None:
    net = Network("5x4")
    episode = play_episode(GreedyAgent(), RandomEnvironment(2))
    first = next(position.board.move(move)[0] for position, move in episode.replay())
    values = [net.value(first)]
    for _ in range(3):
        learn_from(net, episode)
        values.append(net.value(first))
    assert values == sorted(values) and values[0] == 0 < values[1]


@pytest.mark.parametrize("wrong", ["sideways", 7, 3.5, "up and down", ""])
def test_a_wrong_move_is_an_error_that_names_the_player(wrong: object) -> None:
    class Wrong:
        name = "wrong one"

        def choose(self, board: Board) -> object:
            return wrong

    with pytest.raises(ValueError, match="wrong one"):
        play_episode(Wrong(), RandomEnvironment(1))


@pytest.mark.parametrize("wrong", [None, 5, (99, 2), (0, 3), (0, 0), (0.5, "x")])
def test_a_wrong_placement_is_an_error_that_names_the_environment(wrong: object) -> None:
    class Wrong:
        name = "wrong one"

        def place(self, board: Board) -> object:
            return wrong

    with pytest.raises(ValueError, match="wrong one"):
        play_episode(GreedyAgent(), Wrong())  # type: ignore[arg-type]


def test_evaluation_does_not_depend_on_threads(trained: Network) -> None:
    results = [evaluate(trained, games=97, seed=6, threads=n) for n in (1, 2, 8)]
    for result in results[1:]:
        for one, other in zip(results[0].results, result.results, strict=True):
            assert (one == other).all()
    assert evaluate(trained, games=97, seed=7).summary != results[0].summary


def test_means_and_shares_come_with_intervals_that_hold_the_truth() -> None:
    random = np.random.default_rng(0)
    hits = shares = 0
    for _ in range(400):
        values = random.exponential(1.0, 200)
        low, high = mean_interval(list(values))
        hits += low < 1.0 < high
        low, high = share_interval(int(random.binomial(50, 0.1)), 50)
        shares += low < 0.1 < high
    assert hits / 400 > 0.9 and shares / 400 > 0.9
    assert share_interval(0, 10)[0] == 0.0 and share_interval(10, 10)[1] == 1.0


def test_the_print_out_is_the_courses() -> None:
    scores = np.array([100, 200, 300, 400])
    tiles, lengths = np.array([8, 9, 9, 11], np.uint8), np.array([50, 90, 95, 130])
    text = printout(4000, summarise(Results(scores, tiles, lengths)))
    assert text == ("4000\tavg = 250.0\tmax = 400\n\t256\t100%\t(25%)\n\t512\t75%\t(50%)\n\t2048\t25%\t(25%)")


def test_cells_are_written_as_the_frameworks_read_them() -> None:
    """In upper case; lower case, which older files have, is read all the same."""
    line = "slide:place@1|C1D1#L[4]A2#U(3)E1|place@2"
    assert read_game(line).text("episode") == line
    assert read_game(line.replace("C1D1", "c1d1").replace("A2", "a2")).text("episode") == line
    start = tuplet.game("2048").position(Board().place(10, 2).place(15, 2))
    record = tuplet.write("2048", start, [], "episode", [" @me|"])
    assert record == "me:random@0|A1F1|random@0" and read_game(record).text("episode") == record
