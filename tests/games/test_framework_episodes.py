"""Games of the 2048-Framework are read here, and ours there."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tuplet import GreedyAgent, Network, RandomEnvironment, Record, learn_from, play_episode
from tuplet.games.formats import read_game
from tuplet.games.g2048.formats import new_record, place, plain_name
from tuplet.games.g2048.game import Game2048
from tuplet.games.g2048.statistics import Results, summarise

FILES = Path(__file__).parents[1] / "data" / "interop" / "framework"
NAMES = sorted(path.name for path in FILES.glob("*.txt"))
INDEX = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Game(NamedTuple):
    """What the Framework knows of a game that it has read."""

    tag: str
    opened: int
    score: int
    largest: int  # the exponent
    rewards: int
    time: int
    winner: str


def slide(rows: list[list[int]], opcode: int) -> tuple[list[list[int]], int]:
    """The Framework's `board::slide`: -1 if nothing moves."""

    def left(lines: list[list[int]]) -> tuple[list[list[int]], int]:
        slid, score = [], 0
        for line in lines:
            made: list[int] = []
            hold = 0
            for tile in filter(None, line):
                if hold == tile:
                    made.append(tile + 1)
                    score += 1 << tile + 1
                    hold = 0
                else:
                    made += [hold] if hold else []
                    hold = tile
            made += [hold] if hold else []
            slid.append(made + [0] * (4 - len(made)))
        return slid, score

    def turn(lines: list[list[int]]) -> list[list[int]]:
        return [list(line) for line in zip(*lines, strict=True)]

    mirrored, turned = opcode in (1, 2), opcode in (0, 2)
    lines = turn(rows) if turned else rows
    lines = [line[::-1] for line in lines] if mirrored else lines
    lines, score = left(lines)
    lines = [line[::-1] for line in lines] if mirrored else lines
    lines = turn(lines) if turned else lines
    return (lines, score) if lines != rows else (rows, -1)


def read_as_the_framework(line: str) -> Game:
    """`episode::operator>>` and `action::operator>>`, which check nothing; so this does."""
    opened, moves, closed = line.rstrip("\r\n").split("|")
    tag, when = opened.split("@", 1)
    winner, then = closed.split("@", 1)
    rows = [[0] * 4 for _ in range(4)]
    score = rewards = took = at = 0

    def optional(brackets: str) -> int:
        nonlocal at
        if moves[at : at + 1] != brackets[0]:
            return 0
        end = moves.index(brackets[1], at)
        number, at = int(moves[at + 1 : end]), end + 1
        return number

    while at < len(moves):
        first, second = moves[at], moves[at + 1]
        at += 2
        if first == "#":
            rows, gained = slide(rows, "URDL".index(second))
            assert gained >= 0
            score += gained
        else:
            cell, tile = INDEX.index(first), INDEX.index(second)
            assert cell < 16 and tile in (1, 2) and not rows[cell // 4][cell % 4]
            rows[cell // 4][cell % 4] = tile
        rewards += optional("[]")
        took += optional("()")
    assert int(then) >= int(when)
    return Game(tag, int(when), score, max(map(max, rows)), rewards, took, winner)


def statistics(games: list[Game]) -> dict[str, Any]:
    """`statistics::show`: average, maximum, and the share that ended with each tile."""
    ends = [1 << game.largest for game in games]
    return {
        "avg": sum(game.score for game in games) / len(games),
        "max": max(game.score for game in games),
        "ended": {tile: ends.count(tile) / len(games) for tile in sorted(set(ends))},
    }


def ours(episodes: list[Record]) -> dict[str, Any]:
    largest = [e.position.largest.bit_length() - 1 for e in episodes]
    scores = np.array([e.score for e in episodes])
    lengths = np.array([len(e.moves) for e in episodes])
    summary = summarise(Results(scores, np.array(largest, np.uint8), lengths))
    return {"avg": summary.mean_score, "max": summary.max_score, "ended": summary.ended}


def lines_of(name: str) -> list[str]:
    return (FILES / name).read_bytes().decode().splitlines(keepends=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_frameworks_games_are_read_and_written_as_they_were(name: str) -> None:
    lines = lines_of(name)
    episodes = [read_game(line) for line in lines]
    assert [episode.text("episode") for episode in episodes] == [line.rstrip("\r\n") for line in lines]
    if name != "odd-names.txt":
        theirs = [read_as_the_framework(line) for line in lines]
        assert ours(episodes) == statistics(theirs)
        assert [f"{e.names[0]}:{e.info['placer']}" for e in episodes] == [game.tag for game in theirs]
        assert [sum(e.info["times"]) for e in episodes] == [g.time for g in theirs]


def test_names_in_other_peoples_files_are_kept() -> None:
    names = [(*e.names, e.info["placer"]) for e in map(read_game, lines_of("odd-names.txt"))]
    assert names[:5] == [
        ("學生-0856", "隨機"),
        ("a@b", "c"),
        ("~x[1]", "rnd env"),
        ("TDL;α=0.1", "e:vil"),
        (" spaced", "out"),
    ]
    assert read_game("open@100|01(1)11(1)#L[4](1)|close@200").names == ("open",)  # no colon


def test_the_framework_reads_our_games_with_the_same_statistics() -> None:
    players = [play_episode(GreedyAgent(), RandomEnvironment(seed)) for seed in range(8)]
    games = [read_as_the_framework(episode.text("episode") + "\n") for episode in players]
    assert statistics(games) == ours(players)
    assert all(game.rewards == game.score for game in games)
    assert {game.tag for game in games} == {"greedy:random"}
    assert {game.winner for game in games} == {"random"}


NAMES_OF_ANYBODY = st.text(" @|:a\n\u2028\u202e\x1b\x85\ud800é#[", max_size=8)


@given(NAMES_OF_ANYBODY, NAMES_OF_ANYBODY)
def test_any_name_comes_back_and_the_framework_reads_it(slider: str, placer: str) -> None:
    record = new_record(Game2048(), slider, placer=placer)
    for cell in (0, 15):
        place(record, cell, 2)
    line = record.text("episode")
    assert read_game(line).text("episode") == line and line.isprintable() and line.encode()
    assert read_as_the_framework(line).tag == f"{plain_name(slider)}:{plain_name(placer)}"


def test_a_game_of_the_frameworks_can_be_learned_from() -> None:
    line = lines_of("cpp-dummy.txt")[0]
    net = Network("0123")
    learn_from(net, line)
    assert net.trained


def test_review_reads_files_of_the_framework(tuplet: Any) -> None:
    done = tuplet("review", FILES / "python-windows.txt", "--number", 3, "--depth", 1, "--top", 1)
    assert done.returncode == 0 and done.stdout.startswith("my_TD(0)  score ")
    done = tuplet("review", FILES / "odd-names.txt", "--number", 2, "--depth", 1, "--json")
    assert '"player": "a@b"' in done.stdout
