"""Matches and tournaments of EWN: the same games for any number of threads, forfeits, files."""

from __future__ import annotations

import itertools
import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tuplet.agents.agent import RandomAgent, make_agent
from tuplet.arena.game import play_game
from tuplet.arena.match import match, tournament
from tuplet.arena.match_file import MatchFile, load, load_game
from tuplet.games.ewn import EwnGame, EwnPosition
from tuplet.games.record import Forfeit, Record
from tuplet.games.registry import game
from tuplet.kernel import stream
from tuplet.system.progress import Progress

GAMES = ["ewn", "ewn-6x7", "ewn:board=4x4,cubes=3,die=chosen"]


class Student:
    """Somebody's own agent, which may do anything at some ply."""

    name = "student"

    def __init__(self, at: int = 3, deed: object = None) -> None:
        self.at, self.deed, self.moves, self.closed = at, deed, 0, False

    def open(self, start: EwnPosition, side: str, state: np.uint64) -> None:
        self.moves = 0

    def choose(self, position: EwnPosition) -> object:
        self.moves += 1
        if self.moves == self.at:
            if isinstance(self.deed, BaseException):
                raise self.deed
            return self.deed
        return position.legal_moves()[0]

    def close(self) -> None:
        self.closed = True


def start(game: str = "ewn-6x7") -> EwnPosition:
    return EwnGame(game).initial_position(stream(np.uint64(1), np.uint64(2)))[1]


def records(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


@pytest.mark.parametrize("game", GAMES)
def test_a_game_is_played_to_its_end_and_can_be_replayed(game: str) -> None:
    record = play_game(RandomAgent(), RandomAgent(), start(game), rolls=np.uint64(4))
    assert record.winner and record.termination in ("corner", "elimination")
    again = Record.parse(record.line)
    assert again.position == record.position and again.winner == record.winner
    assert record.line == play_game(RandomAgent(), RandomAgent(), start(game), rolls=np.uint64(4)).line
    with pytest.raises(ValueError, match="over"):
        play_game(RandomAgent(), RandomAgent(), record.position)


@pytest.mark.parametrize(
    ("deed", "kind", "words"),
    [
        ("99", "illegal", "'99' is not legal here"),
        ("", "illegal", "not legal"),
        (None, "illegal", "NoneType"),
        (7, "illegal", "int"),
        (RuntimeError("two\nlines"), "crashed", "RuntimeError: two lines (test_match.py"),
        (KeyError("x" * 5000), "crashed", "..."),
        (SystemExit(3), "crashed", "SystemExit"),
        (ValueError("\x1b[2J\udc80"), "crashed", "?[2J?"),
        (Forfeit("late", "2.1 s"), "late", "2.1 s"),
        (Forfeit("crashed", "exit code 1"), "crashed", "exit code 1"),
    ],
)
def test_an_agent_that_fails_loses_that_game(deed: object, kind: str, words: str) -> None:
    record = play_game(Student(3, deed), RandomAgent(), start())  # type: ignore[arg-type]
    assert (record.winner, record.termination) == ("blue", kind)
    assert words in record.reason and "\n" not in record.reason and len(record.reason) <= 200
    assert len(record.moves) == 4
    assert Record.parse(record.line).reason == record.reason
    assert play_game(RandomAgent(), Student(1, deed), start()).winner == "red"  # type: ignore[arg-type]


def test_an_agent_that_cannot_open_a_game_loses_it() -> None:
    class Closed(RandomAgent):
        def open(self, start: EwnPosition, side: str, state: np.uint64) -> None:
            raise OSError("no such program")

    record = play_game(RandomAgent(), Closed(), start())
    assert (record.winner, record.termination, record.moves) == ("red", "crashed", [])


def test_late_moves_lose_and_ctrl_c_is_no_crash() -> None:
    class Slow(RandomAgent):
        def choose(self, position: EwnPosition) -> str:
            time.sleep(1.1)
            return super().choose(position)

    record = play_game(RandomAgent(), Slow(), start(), time_limit=1)
    assert (record.winner, record.termination) == ("red", "late") and "1 s are allowed" in record.reason
    with pytest.raises(KeyboardInterrupt):
        play_game(Student(2, KeyboardInterrupt()), RandomAgent(), start())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="tired"):
        Forfeit("tired", "")


@pytest.mark.parametrize("game", GAMES)
def test_results_do_not_depend_on_threads(game: str, tmp_path: Path) -> None:
    files, results = [], []
    for threads in (1, 2, 8):
        path = tmp_path / f"{threads}.jsonl"
        results.append(match("easy", "normal", game, games=26, seed=3, threads=threads, out=path))
        files.append(path.read_bytes())
    assert files[0] == files[1] == files[2]
    assert results[0].as_json() == results[1].as_json() == results[2].as_json()
    assert match("easy", "normal", game, games=26, seed=4).results != results[0].results


@pytest.mark.parametrize("game", GAMES)
def test_the_games_of_a_pair_have_one_start_and_the_same_dice(game: str, tmp_path: Path) -> None:
    match("easy", "normal", game, games=20, seed=1, out=tmp_path / "m")
    games = records(tmp_path / "m")
    starts = set()
    for n, (first, second) in enumerate(zip(games[::2], games[1::2], strict=True)):
        assert first["pair"] == second["pair"] == n
        assert first["start"] == second["start"]
        assert (first["a"], first["red"], first["blue"]) == ("red", "easy", "normal")
        assert (second["a"], second["red"], second["blue"]) == ("blue", "normal", "easy")
        rolls = first.get("rolls", []), second.get("rolls", [])
        assert all(a == b for a, b in zip(*rolls, strict=False))
        assert bool(rolls[0]) == (game == "ewn")
        assert first["moves"] != second["moves"]
        starts.add(first["start"])
    assert len(starts) > 5


def test_an_agent_has_a_stream_of_its_own_in_every_game() -> None:
    seen = []

    class Listener(RandomAgent):
        def open(self, start: EwnPosition, side: str, state: np.uint64) -> None:
            seen.append((int(state), side, start.notation))
            super().open(start, side, state)  # type: ignore[arg-type]

    match(Listener, Listener, games=6)
    assert len({state for state, _, _ in seen}) == 12
    assert [side for _, side, _ in seen] == ["red", "blue"] * 6


def test_an_odd_number_of_games_is_rounded_up_to_pairs() -> None:
    result = match("easy", "easy", games=7)
    assert (result.games, result.planned) == (8, 8)
    assert sum(result.pairs) == 4 and result.wins + result.losses == 8
    assert sum(result.kinds(True).values()) == result.wins
    assert "easy - easy" in repr(result)


def test_forfeits_are_counted_and_the_match_continues(tmp_path: Path) -> None:
    made: list[Student] = []

    def weak() -> Student:
        made.append(Student(2, ZeroDivisionError("oops")))
        return made[-1]

    results = [
        match(weak, "easy", games=10, threads=threads, out=tmp_path / str(threads))  # type: ignore[arg-type]
        for threads in (1, 3)
    ]
    for result in results:
        assert (result.games, result.wins, result.losses) == (10, 0, 10)
        assert result.kinds(False)["crashed"] == 10
        assert [f["games"] for f in result.forfeits] == [10]
        assert result.forfeits[0]["agent"] == "student" and "oops" in result.forfeits[0]["reason"]
    assert (tmp_path / "1").read_bytes() == (tmp_path / "3").read_bytes()
    assert len(made) > 10 and all(student.closed for student in made)


def test_agents_that_cannot_be_made_end_the_match_and_leave_no_file(tmp_path: Path) -> None:
    made = Student()
    with pytest.raises(ValueError, match="nobody"):
        match(lambda: made, "nobody", games=4, out=tmp_path / "m")  # type: ignore[arg-type, return-value]
    assert made.closed and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"games": 0}, "games"),
        ({"threads": 0}, "threads"),
        ({"seed": -1}, "seed"),
        ({"game": "chess"}, "chess"),
        ({"sprt": "9"}, "sprt must be"),
        ({"games": 10**9}, "games"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        match("easy", "easy", **wrong)  # type: ignore[arg-type]


def test_a_sequential_test_ends_after_the_same_pair_for_any_number_of_threads(tmp_path: Path) -> None:
    results = [
        match("hard", "easy", games=400, threads=threads, sprt="0,100", out=tmp_path / str(threads))
        for threads in (1, 2, 8)
    ]
    assert results[0].decision == "H1" and 4 < results[0].games < 100
    assert all(result.as_json() == results[0].as_json() for result in results)
    assert not results[0].interrupted
    lines = (tmp_path / "8").read_bytes()
    assert lines == (tmp_path / "1").read_bytes()
    again = match("hard", "easy", games=400, sprt="0,100", out=tmp_path / "8")
    assert again.as_json() == results[0].as_json() and (tmp_path / "8").read_bytes() == lines
    assert load(tmp_path / "8").as_json() == again.as_json()


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.long)])
def test_a_match_cut_off_at_any_byte_continues_to_the_same_end(tmp_path: Path, step: int) -> None:
    path, whole = tmp_path / "m.jsonl", tmp_path / "whole.jsonl"
    game = "ewn:board=3x3,cubes=2"
    result = match("easy", "easy", game, games=4, seed=2, out=whole)
    data = whole.read_bytes()
    for cut in range(0, len(data) + 1, step):
        path.write_bytes(data[:cut])
        again = match("easy", "easy", game, games=4, seed=2, out=path)
        assert path.read_bytes() == data, cut
        assert again.as_json() == result.as_json()


def test_more_games_go_on_and_fewer_are_the_first(tmp_path: Path) -> None:
    path = tmp_path / "m"
    short = match("easy", "normal", games=6, out=path)
    played: list[int] = []
    long = match("easy", "normal", games=20, out=path, progress=lambda e: played.append(e.done))
    assert played[0] == 6 and played[-1] == 20
    assert long.as_json() == match("easy", "normal", games=20).as_json()
    before = path.read_bytes()
    assert match("easy", "normal", games=6, out=path).as_json() == short.as_json()
    assert path.read_bytes() == before
    assert load(path).as_json() == long.as_json()


def test_a_file_of_another_match_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "m"
    match("easy", "normal", games=4, out=path)
    before = path.read_bytes()
    for words, call in (
        ("seed is 0, not 1", {"seed": 1}),
        ("game is ewn-6x7, not ewn", {"game": "ewn"}),
        ("test is none, not 0.0, 9.0", {"sprt": "0,9"}),
    ):
        with pytest.raises(ValueError, match=words):
            match("easy", "normal", games=4, out=path, **call)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="agents are easy, normal, not normal, easy"):
        match("normal", "easy", games=4, out=path)
    with pytest.raises(ValueError, match="another match"):
        tournament(["easy", "normal"], games=4, out=path)
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="not a file"):
        match("easy", "easy", games=2, out=tmp_path)


@pytest.mark.parametrize(
    "text", ["hello", "hello\n", "{}\n", "[]\n", "null\n", "\n", "\x00\n", '{"kind": "match"}\n', "[" * 9999 + "\n"]
)
def test_a_file_that_is_no_match_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m"
    path.write_text(text)
    with pytest.raises(ValueError, match="not a saved match"):
        match("easy", "easy", games=2, out=path)
    with pytest.raises(ValueError, match="not a saved match"):
        load(path)
    assert path.read_text() == text


def test_lines_that_are_not_the_matchs_games_are_named(tmp_path: Path) -> None:
    path = tmp_path / "m"
    match("easy", "normal", games=4, out=path)
    lines = path.read_text().splitlines(keepends=True)
    for wrong in (
        [lines[0], lines[2]],
        [*lines[:2], lines[1]],
        [lines[0], "{}\n"],
        [lines[0], "what\n"],
        [lines[0], lines[1].replace("red", "pink")],
    ):
        path.write_text("".join(wrong))
        with pytest.raises(ValueError, match=r"line [23] is not game [12]"):
            match("easy", "normal", games=4, out=path)
        assert path.read_text() == "".join(wrong)
    path.write_text(lines[0] + lines[1].replace('"moves": [', '"moves": ["99", '))
    with pytest.raises(ValueError, match=r"game 1: .99. is not legal"):
        load_game(path, 1)
    with pytest.raises(ValueError, match="no finished pair"):
        load(path)


def test_two_matches_cannot_write_one_file(tmp_path: Path) -> None:
    settings = {"agents": ["a", "b"], "kind": "match"}
    held = game("ewn-6x7")
    with MatchFile(tmp_path / "m", settings, held), pytest.raises(ValueError, match="another process"):
        match("easy", "easy", games=2, out=tmp_path / "m")


def test_a_saved_game_is_found_by_its_number(tmp_path: Path) -> None:
    match("easy", "normal", "ewn", games=4, out=tmp_path / "m")
    second = load_game(tmp_path / "m", 2)
    assert second.names == ("normal", "easy") and second.position.over
    for number in (0, -1, 5):
        with pytest.raises(ValueError, match="games 1 to 4"):
            load_game(tmp_path / "m", number)


def test_a_match_stopped_by_its_watcher_leaves_no_thread_behind(tmp_path: Path) -> None:
    before = threading.active_count()

    def enough(event: Progress) -> None:
        if event.done:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        match("hard", "hard", games=4000, threads=3, progress=enough, out=tmp_path / "m")
    assert threading.active_count() == before
    saved = len(records(tmp_path / "m"))
    assert 0 < saved < 4000
    result = match("hard", "hard", games=saved + 2, out=tmp_path / "m")
    assert result.results == match("hard", "hard", games=saved + 2).results


def test_a_tournament_is_all_pairings_and_does_not_depend_on_threads(tmp_path: Path) -> None:
    agents = ["easy", "hard", "normal"]
    whole = tournament(agents, games=10, seed=7, out=tmp_path / "1")
    assert whole.games == 30 and list(whole.matches) == [(0, 1), (0, 2), (1, 2)]
    assert [whole.agents[i] for i in whole.ranking] == ["hard", "normal", "easy"]
    for i, j in itertools.permutations(range(3), 2):
        wins, draws, losses = whole.score(i, j)
        assert (losses, draws, wins) == whole.score(j, i) and wins + losses == 10
    assert whole.score(1, 1) is None
    tournament(agents, games=10, seed=7, threads=8, out=tmp_path / "8")
    data = (tmp_path / "1").read_bytes()
    assert (tmp_path / "8").read_bytes() == data
    # Cut in the middle, it goes on to the same end; starts differ between pairings.
    (tmp_path / "8").write_bytes(data[: len(data) // 2])
    again = tournament(agents, games=10, seed=7, threads=2, out=tmp_path / "8")
    assert again.as_json() == whole.as_json() == load(tmp_path / "1").as_json()
    assert len({record["start"] for record in records(tmp_path / "1")}) == 15


def test_a_tournament_without_agents_or_with_one_twice_is_refused() -> None:
    for agents in ([], ["easy"], ["easy", "easy"]):
        with pytest.raises(ValueError, match="tournament"):
            tournament(agents)


def test_a_match_beats_chance_only_where_it_should() -> None:
    result = match(lambda: make_agent("hard"), "easy", games=60, threads=2)
    assert result.a == "hard" and result.score > 0.9 and result.ci95[0] > 0.8
    even = match("easy", "easy", games=600)
    assert even.ci95[0] < 0.5 < even.ci95[1]
    share, (low, high) = even.first_player
    assert low < 0.518 < high and low < share < high
    assert even.mean_length == pytest.approx(37.3, abs=1.0)
