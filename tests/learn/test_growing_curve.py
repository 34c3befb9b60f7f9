"""A curve that is read while it is written is that of the whole file, at any number of points."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuplet import UserError
from tuplet.games.g2048.statistics import Results, account
from tuplet.learn import growing_curve
from tuplet.learn.growing_curve import GrowingCurve
from tuplet.learn.run import write_lines
from tuplet.system.intervals import mean_interval

GAMES = 40  # in a block


def blocks(count: int) -> tuple[list[dict[str, Any]], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Lines of metrics, and the scores and tiles of all their games."""
    rng = np.random.default_rng(1)
    scores = rng.integers(1000, 90000, (count, GAMES))
    tiles = rng.integers(7, 14, (count, GAMES)).astype(np.uint8)
    lines = [
        {
            "games": GAMES * (n + 1),
            "elapsed_s": 0.5 * (n + 1),
            **account(Results(scores[n], tiles[n], np.full(GAMES, 100))),
            "moves_per_s": 8000 if n % 2 else 4000,
        }
        for n in range(count)
    ]
    return lines, scores, tiles


@pytest.mark.parametrize("count", [1, 7, 33, 64, 200])
def test_joined_blocks_have_the_mean_the_interval_and_the_shares_of_their_games(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing_curve, "KEPT", 16)  # 200 blocks are joined early, by eights
    lines, scores, tiles = blocks(count)
    path = tmp_path / "metrics.jsonl"
    write_lines(path, lines)
    growing = GrowingCurve(path)
    assert growing.update()
    curve = growing.curve(8)
    assert len(curve["games"]) <= 8 and curve["games"][-1] == GAMES * count
    assert {len(each) for name, each in curve.items() if name != "tiles"} == {len(curve["games"])}
    before = 0
    for n, end in enumerate(curve["games"]):
        mine = scores[before // GAMES : end // GAMES].reshape(-1)
        low, high = mean_interval(mine.tolist())
        assert math.isclose(curve["mean"][n], mine.mean(), abs_tol=0.06)
        assert math.isclose(curve["low"][n], low, rel_tol=1e-3) and math.isclose(curve["high"][n], high, rel_tol=1e-3)
        assert curve["seconds"][n] == 0.5 * end / GAMES
        for tile, shares in curve["tiles"].items():
            reached = (tiles[before // GAMES : end // GAMES] >= int(tile).bit_length() - 1).mean()
            assert math.isclose(shares[n], 100 * reached, abs_tol=0.006)
        before = end
    if count > 1:
        whole = growing.curve(1)
        assert 4000 < whole["speed"][0] < 8000 and whole["games"] == [GAMES * count]


def test_a_growing_file_is_read_as_if_it_were_read_at_once(tmp_path: Path) -> None:
    """In pieces of any length, also in the middle of a line; and anew if another one takes its place."""
    lines, _, _ = blocks(60)
    path, rng = tmp_path / "metrics.jsonl", random.Random(2)
    text = "".join(json.dumps(each) + "\n" for each in lines).encode()
    growing, at = GrowingCurve(path), 0
    assert not growing.update() and growing.curve(10)["games"] == []
    while at < len(text):
        piece = text[at : at + rng.randrange(1, 900)]
        with path.open("ab") as file:
            file.write(piece)
        at += len(piece)
        growing.update()
        assert growing.lines == text[:at].count(b"\n")
    assert not growing.update()
    fresh = GrowingCurve(path)
    fresh.update()
    assert growing.curve(10) == fresh.curve(10) and growing.last == lines[-1]
    write_lines(path, lines[:20])  # resumed from an earlier checkpoint
    assert growing.update() and growing.lines == 20 and growing.curve(10)["games"][-1] == 20 * GAMES
    path.write_bytes(text.replace(b'"games": 40,', b'"games": 41,'))  # the same file, other lines
    growing.update()
    assert growing.lines == 60


@pytest.mark.parametrize(
    "line", ["{}", "[]", "3", '{"games": 1}', '{"games": "x", "elapsed_s": 1, "mean_score": 1, "max_score": 1}']
)
def test_a_file_that_is_not_one_of_metrics_is_refused(line: str, tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(UserError, match="not one of metrics"):
        GrowingCurve(path).update()
    for number in ("NaN", "1e999", "Infinity", '"a"', "[1]", "null"):
        path.write_text(f'{{"games": 5, "elapsed_s": 1, "mean_score": {number}, "max_score": 1}}\n')
        with pytest.raises(UserError, match="not one of metrics"):
            GrowingCurve(path).update()
