"""Training curves in TensorBoard, through tensorboardX: `tuplet train --tensorboard`."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tuplet.adapters import missing
from tuplet.errors import UserError
from tuplet.games.g2048.statistics import Summary
from tuplet.learn.game_play import GameSummary
from tuplet.learn.run import Run

try:
    from tensorboardX import SummaryWriter
except ModuleNotFoundError as error:
    raise missing(error, "tensorboardX", "tensorboard") from None


class TensorBoard:
    """A logger that writes scalars for TensorBoard, by number of games.

    They go to `folder`, by default the run's own: `tensorboard --logdir runs` shows all runs. A resumed run replaces
    what it had written about games that it plays again.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = folder
        self._writer: Any = None
        self._run: Run | None = None

    def on_begin(self, run: Run) -> None:
        """Open the file."""
        folder = self.folder or run.folder
        if folder is None:
            raise UserError("the run has no folder: give one, as in TensorBoard('logs/first')")
        self._run = run
        self._writer = SummaryWriter(
            str(folder),
            purge_step=run.games + 1,
            filename_suffix=f".{os.getpid()}.{run.games}",  # its time stamp has whole seconds
        )
        settings = {**asdict(run.method), **asdict(run.options)}
        lines = [f"    {name} = {value}" for name, value in settings.items() if value is not None]
        self._writer.add_text("settings", "\n".join(lines), run.games)

    def on_block(self, games: int, summary: Summary | GameSummary) -> None:
        """Write a block's speed, and its scores and tiles; for games other than 2048 the TD error and length."""
        assert self._run is not None
        last = self._run.metrics[-1]
        self._add("speed", {"moves_per_s": last["moves_per_s"]}, games)
        if isinstance(summary, GameSummary):
            self._add("self-play", {"td_error": summary.error, "moves": summary.mean_moves}, games)
        else:
            self._add("score", {"mean": summary.mean_score, "best": summary.max_score}, games)
            self._add("reached", {str(tile): share for tile, share in summary.reached.items()}, games)
        self._writer.flush()

    def on_evaluation(self, evaluation: dict[str, Any]) -> None:
        """The mean score of fresh games, with its interval."""
        low, high = evaluation["ci95"]
        values = {"mean": evaluation["mean_score"], "ci95_low": low, "ci95_high": high}
        self._add("fresh", values, evaluation["learned"])

    def on_end(self, run: Run) -> None:  # noqa: ARG002  # the signature of loggers
        """Close the file."""
        self._writer.close()

    def _add(self, group: str, values: dict[str, float], games: int) -> None:
        for name, value in values.items():
            self._writer.add_scalar(f"{group}/{name}", value, games)
