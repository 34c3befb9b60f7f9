"""Saved matches when files are deleted, disks are full, or somebody made the file by hand."""

from __future__ import annotations

import errno
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tuplet
from tuplet.arena.match_file import MOST_AGENTS, MatchFile, SavedMatch, load
from tuplet.system.files import MOST_LINE

HEADER: dict[str, Any] = {
    "tuplet": "0.1.0",
    "kind": "match",
    "game": "ewn",
    "agents": ["easy", "random"],
    "seed": 0,
    "games": 6,
}


def play(path: Path) -> Any:
    return tuplet.match("easy", "random", "ewn", games=6, out=path, progress=False)


@pytest.fixture
def after_three(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Lets something happen when three games were saved."""
    add = MatchFile.add

    def arrange(happen: Callable[[], Any]) -> None:
        def added(self: MatchFile, number: int, record: Any) -> None:
            add(self, number, record)
            if number == 2:
                happen()

        monkeypatch.setattr(MatchFile, "add", added)

    return arrange


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    play(tmp_path / "whole.jsonl")
    return (tmp_path / "whole.jsonl").read_bytes()


def test_a_file_that_is_deleted_in_mid_match_is_written_again(tmp_path: Path, whole: bytes, after_three: Any) -> None:
    path = tmp_path / "games" / "match.jsonl"
    path.parent.mkdir()

    def delete() -> None:
        path.unlink()
        path.parent.rmdir()

    after_three(delete)
    with pytest.warns(UserWarning, match=r"match.jsonl is gone: the games so far were written"):
        result = play(path)
    assert result.games == 6 and path.read_bytes() == whole
    assert [p.name for p in path.parent.iterdir()] == ["match.jsonl"]


def test_a_file_that_is_replaced_in_mid_match_is_left_alone(tmp_path: Path, whole: bytes, after_three: Any) -> None:
    path, other = tmp_path / "match.jsonl", tmp_path / "other"

    other.write_text("mine")
    after_three(lambda: other.replace(path))
    with pytest.warns(UserWarning, match=r"replaced by another file: .* to .*match-2.jsonl"):
        play(path)
    assert path.read_text() == "mine"
    assert (tmp_path / "match-2.jsonl").read_bytes() == whole


class Disk:
    """Writes half of what is asked for, then nothing while it is full."""

    def __init__(self, full: range) -> None:
        self.full, self.calls, self.write = full, 0, os.write

    def __call__(self, file: int, data: bytes) -> int:
        self.calls += 1
        if self.calls in self.full:
            if self.calls == self.full[0]:
                return self.write(file, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.write(file, data)


def test_a_match_continues_while_the_disk_is_full(
    tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "match.jsonl"
    monkeypatch.setattr("tuplet.arena.resumable.os.write", Disk(range(3, 6)))
    with pytest.warns(UserWarning, match="No space left on device.: they are kept in memory") as told:
        result = play(path)
    assert len(told) == 1 and result.games == 6 and path.read_bytes() == whole


def test_games_that_could_not_be_saved_give_a_warning_and_leave_no_half_line(
    tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "match.jsonl"
    with monkeypatch.context() as full:
        full.setattr("tuplet.arena.resumable.os.write", Disk(range(3, 999)))
        with pytest.warns(UserWarning, match="5 games could not be saved in .*No space left"):
            assert play(path).games == 6
    assert path.read_bytes() == b"".join(whole.splitlines(keepends=True)[:2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert play(path).games == 6  # and the match goes on from there
    assert path.read_bytes() == whole


def test_a_disk_that_is_already_full_is_an_error_before_any_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tuplet.arena.resumable.os.write", Disk(range(0, 999)))
    with pytest.raises(OSError, match="No space left"):
        play(tmp_path / "match.jsonl")


@pytest.mark.parametrize(
    "change",
    [
        {"agents": {"a": 1, "b": 2}},
        {"agents": "ab"},
        {"agents": [f"agent{n}" for n in range(MOST_AGENTS + 1)], "kind": "tournament"},
        {"agents": [["a"], ["b"]]},
        {"game": {}},
        {"seed": "1"},
        {"sprt": {"0.0": 1}},
        {"games": None},
    ],
)
def test_hand_made_settings_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "made"
    path.write_text(json.dumps(HEADER | change) + "\n")
    with pytest.raises(ValueError, match="match or tournament: its settings are not sound"):
        load(path)


@pytest.mark.parametrize("read", [load, SavedMatch.open])
def test_a_match_of_a_game_for_one_is_refused(tmp_path: Path, read: Any, whole: bytes) -> None:
    path = tmp_path / "made"
    path.write_bytes(whole.replace(b'"game": "ewn"', b'"game": "2048"', 1))
    with pytest.raises(ValueError, match=r"made is not a saved match .*: 2048 is for one player"):
        read(path)


def test_a_tournament_of_very_many_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "many"
    agents = [f"a{n}" for n in range(20_000)]
    path.write_text(json.dumps(HEADER | {"kind": "tournament", "agents": agents}) + "\n")
    with pytest.raises(ValueError, match="is not a saved match"):
        load(path)


def test_a_line_without_end_is_not_read_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 35)
    with pytest.raises(ValueError, match="is not a saved match"):
        load(path)
    with path.open("r+b") as file:
        file.write(json.dumps(HEADER).encode() + b"\n")
    with pytest.raises(ValueError, match=f"longer than {MOST_LINE:,} bytes"):
        load(path)
    with path.open("r+b") as file:
        file.write(b"\n" * 200)
    with pytest.raises(ValueError, match=f"longer than {MOST_LINE:,} bytes"):
        tuplet.review(path)
