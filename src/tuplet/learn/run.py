"""A training run: what it learned and how, in memory and in its folder.

config.toml           its settings
metrics.jsonl         a line for each block of games
weights.safetensors   the last checkpoint
curve.svg, curve.png  mean score against games
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from tuplet.formats.files import replacing
from tuplet.learn.settings import Settings
from tuplet.values.network import Network

CONFIG, METRICS, LOCK = "config.toml", "metrics.jsonl", ".lock"

Metrics = dict[str, Any]


class Run:
    """A run in progress or finished. `metrics` has a dictionary for each block of games."""

    def __init__(
        self, settings: Settings, network: Network | None = None, folder: Path | None = None
    ) -> None:
        self.settings = settings
        self.folder = folder
        self.metrics: list[Metrics] = []
        self.games = 0
        self.elapsed_s = 0.0
        self.interrupted = False
        self._network = network

    @property
    def network(self) -> Network:
        """The network as learned so far (read from the folder when first asked for)."""
        if self._network is None:
            assert self.folder is not None
            self._network = Network.load(self.folder)
        return self._network

    @property
    def name(self) -> str:
        """What to call the run in a legend."""
        if self.folder is not None:
            return self.folder.name
        return f"{self.settings.net} {self.settings.method} {self.settings.target}"

    @staticmethod
    def load(folder: str | Path) -> Run:
        """Open a run folder."""
        folder = Path(folder)
        if not (folder / CONFIG).is_file():
            raise FileNotFoundError(f"{folder} is not the folder of a training run (no {CONFIG})")
        run = Run(Settings.load(folder / CONFIG), folder=folder)
        run.metrics = read_metrics(folder / METRICS)
        if run.metrics:
            run.games, run.elapsed_s = run.metrics[-1]["games"], run.metrics[-1]["elapsed_s"]
        return run

    def plot(
        self,
        path: str | Path | None = None,
        *,
        log: bool = False,
        by: Literal["games", "time"] = "games",
    ) -> Any:
        """Draw mean score against games or time; saves to `path` if given, returns the figure."""
        from tuplet.learn.curves import draw_curves

        return draw_curves([self], path, log=log, by=by)

    def __repr__(self) -> str:
        last = f", mean score {self.metrics[-1]['mean_score']:,.0f}" if self.metrics else ""
        return f"<Run {self.name}: {self.games:,} games{last}>"


def read_metrics(path: Path) -> list[Metrics]:
    """The lines of a `metrics.jsonl`; a last line cut off by a crash is left out."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    metrics = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            for key in ("games", "elapsed_s", "mean_score", "max_score"):
                float(entry[key] + 0)
            metrics.append(entry)
        except (ValueError, TypeError, KeyError):
            if number == len(lines):
                break
            raise ValueError(f"{path}: line {number} is not a line of metrics") from None
    return metrics


def write_metrics(path: Path, metrics: list[Metrics]) -> None:
    """Write all lines anew."""
    with replacing(path) as file:
        file.write("".join(json.dumps(m) + "\n" for m in metrics).encode())
