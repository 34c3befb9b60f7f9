"""The learning curve of a run that is being trained, for those who look at it again and again.

Lines of `metrics.jsonl` are read once, when they are new. Neighbouring blocks of games are joined as soon as there are
many, so a curve takes the same memory and the same time to draw whether the run has a thousand blocks or a million.
"""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.games.g2048.statistics import USUAL_DEVIATION
from tuplet.learn.curves import Metrics
from tuplet.learn.run import check_block, check_evaluation
from tuplet.system.intervals import Z, t_quantile

KEPT = 4096  # of a long curve at least this many joined blocks; a power of two, and 16 or more
TILES = 18  # exponents of tiles: 131072 is 2^17
_AT_ONCE = 1 << 20  # bytes that are parsed together
_MANY = 1000  # games whose t quantile is that of a normal distribution
_TAIL = 64  # bytes before the end that tell whether the file is the same, with more lines

# The columns of a block: the first two are those of its end, the others sums over its games.
END, SECONDS = range(2)
PLAYED, SCORE, SQUARES, MOVES, BUSY, REACHED = range(2, 8)
COLUMNS = REACHED + TILES


class GrowingCurve:
    """The blocks of games and the evaluations of a `metrics.jsonl`, as far as it has been written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._start_again()

    def _start_again(self) -> None:
        self.last: Metrics = {}  # the last line
        self.lines = 0
        self.evaluations: list[Metrics] = []
        self._blocks = np.zeros((32, COLUMNS))
        self._count = self._games = self._offset = 0
        self._unit = self._in_last = 1  # lines that are joined in a block, and those of the last
        self._inode, self._tail = 0, b""
        self._drawn: dict[int, dict[str, Any]] = {}  # curves by their number of points

    def update(self) -> bool:
        """Read what was written since; returns whether there was anything."""
        try:
            with self.path.open("rb") as file:
                stat = os.fstat(file.fileno())
                if stat.st_ino != self._inode or not self._continues(file, stat.st_size):
                    self._start_again()
                    self._inode = stat.st_ino
                elif stat.st_size == self._offset:
                    return False
                file.seek(self._offset)
                before = self._offset
                for text in iter(partial(_whole_lines, file), b""):
                    self._add(text)
                    self._offset += len(text)
                    self._tail = text[-_TAIL:]
                self._drawn.clear()
                return self._offset > before
        except FileNotFoundError:
            self._start_again()
            return False

    def _continues(self, file: Any, size: int) -> bool:
        """Whether the file still begins with the lines that were read."""
        if size < self._offset:
            return False
        file.seek(self._offset - len(self._tail))
        return bool(file.read(len(self._tail)) == self._tail)

    def _add(self, text: bytes) -> None:
        try:
            for line in json.loads(b"[" + b",".join(filter(None, map(bytes.strip, text.splitlines()))) + b"]"):
                self._add_block(line)
            check_block(self.last)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            raise UserError(f"{self.path.parent.name}: metrics.jsonl has a line that is not one of metrics") from None

    def _add_block(self, line: Metrics) -> None:
        played = max(line["games"] - self._games, 1)
        moves = line.get("mean_moves", 0.0) * played
        row = np.zeros(COLUMNS)
        row[END], row[SECONDS], row[PLAYED] = line["games"], line["elapsed_s"], played
        row[MOVES], row[BUSY] = moves, moves / max(line.get("moves_per_s", 0), 1)
        if "mean_score" in line:
            mean = line["mean_score"]
            deviation = line.get("sd_score", USUAL_DEVIATION * mean)
            row[SCORE], row[SQUARES] = played * mean, played * (mean**2 + deviation**2)
            shares = {int(tile).bit_length() - 1: share for tile, share in line.get("reached", {}).items()}
            row[REACHED : REACHED + min(shares, default=0)] = played  # metrics begin with the smallest last tile
            for exponent, share in shares.items():
                if 0 <= exponent < TILES:
                    row[REACHED + exponent] = played * share
        if not np.isfinite(row).all():
            raise ValueError
        for each in line.get("evaluations", ()):
            check_evaluation(each)
            self.evaluations.append(each)
        self.last, self._games, self.lines = line, line["games"], self.lines + 1
        if self._in_last < self._unit:
            at = self._count - 1
            row[:PLAYED] -= self._blocks[at, :PLAYED]  # the end is the later one's
            self._blocks[at] += row
            self._in_last += 1
            return
        self._blocks[self._count] = row
        self._count, self._in_last = self._count + 1, 1
        if self._count < len(self._blocks):
            return
        if self._count < 2 * KEPT:
            self._blocks = np.concatenate([self._blocks, np.zeros_like(self._blocks)])
        else:
            joined = _join(self._blocks, np.arange(0, self._count, 2))
            self._count, self._unit, self._in_last = len(joined), 2 * self._unit, 2 * self._unit
            self._blocks[: self._count] = joined

    def curve(self, points: int) -> dict[str, Any]:
        """Means with their 95 % intervals and shares of tiles, of at most `points` joined blocks.

        For other games than 2048, the evaluations.
        """
        if points not in self._drawn:
            own = "mean_score" in self.last or not self.last
            self._drawn[points] = self._scores(points) if own else self._evaluated(points)
        return self._drawn[points]

    def _scores(self, points: int) -> dict[str, Any]:
        blocks = self._blocks[: self._count]
        if self._count > points:
            # Those that end in the same part of the run are joined.
            part = np.minimum((blocks[:, END] - 1) * points // max(self._games, 1), points - 1)
            blocks = _join(blocks, np.flatnonzero(np.diff(part, prepend=-1)))
        played = blocks[:, PLAYED]
        mean = blocks[:, SCORE] / np.maximum(played, 1)
        deviation = np.sqrt(np.maximum(blocks[:, SQUARES] / np.maximum(played, 1) - mean**2, 0))
        quantiles = np.array([t_quantile(int(n) - 1) if 1 < n < _MANY else Z for n in played])
        half = np.where(played > 1, quantiles * deviation / np.sqrt(np.maximum(played - 1, 1)), 0)  # one game has none
        shares = 100 * blocks[:, REACHED : REACHED + TILES] / np.maximum(played, 1)[:, None]
        shown = [e for e in range(1, TILES) if self._count and shares[:, e].max() > 0 and shares[:, e].min() < 100]
        return {
            "games": blocks[:, END].astype(int).tolist(),
            "seconds": blocks[:, SECONDS].round(3).tolist(),
            "mean": mean.round(1).tolist(),
            "low": (mean - half).round(1).tolist(),
            "high": (mean + half).round(1).tolist(),
            "speed": (blocks[:, MOVES] / np.maximum(blocks[:, BUSY], 1e-9)).round().astype(int).tolist(),
            "tiles": {str(1 << e): shares[:, e].round(2).tolist() for e in shown},
        }

    def _evaluated(self, points: int) -> dict[str, Any]:
        shown = thinned(self.evaluations, points)
        return {
            "games": [each["learned"] for each in shown],
            "seconds": [each["elapsed_s"] for each in shown],
            "mean": [each["mean_score"] for each in shown],
            "low": [each["ci95"][0] for each in shown],
            "high": [each["ci95"][1] for each in shown],
            "speed": [],
            "tiles": {},
        }


def thinned(items: list[Metrics], most: int) -> list[Metrics]:
    """At most `most` of the items, evenly spaced, and always the last."""
    count = len(items)
    return items if count <= most else [items[(n + 1) * count // most - 1] for n in range(most)]


def _whole_lines(file: Any) -> bytes:
    """The next lines of a file, without one that is not finished."""
    text: bytes = file.read(_AT_ONCE)
    while text and not text.endswith(b"\n"):
        rest = file.readline(_AT_ONCE)
        if not rest:
            return text[: text.rfind(b"\n") + 1]
        text += rest
    return text


def _join(blocks: Any, starts: Any) -> Any:
    """Blocks that begin at these rows, each joined with those up to the next."""
    ends = np.append(starts[1:], len(blocks)) - 1
    return np.hstack([blocks[ends, :PLAYED], np.add.reduceat(blocks[:, PLAYED:], starts)])
