"""TensorBoard: what a training tells its loggers stands in the event file."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tensorboardX")

from tensorboardX.proto.event_pb2 import Event

from tuplet import Run, resume, train
from tuplet.adapters.tensorboard import TensorBoard

pytestmark = pytest.mark.slow


def events(folder: Path) -> Iterator[Event]:
    for path in sorted(folder.glob("events.out.tfevents.*"), key=lambda path: path.stat().st_mtime):
        data, at = path.read_bytes(), 0
        while at < len(data):
            (length,) = struct.unpack_from("<Q", data, at)
            yield Event.FromString(data[at + 12 : at + 12 + length])
            at += 16 + length


def scalars(folder: Path) -> dict[str, dict[int, float]]:
    """By name and games, as TensorBoard reads them: a later file purges from its first step on."""
    found: dict[str, dict[int, float]] = {}
    for event in events(folder):
        if event.HasField("session_log"):
            for values in found.values():
                for step in [step for step in values if step >= event.step]:
                    del values[step]
        for value in event.summary.value:
            if value.HasField("simple_value"):
                found.setdefault(value.tag, {})[event.step] = value.simple_value
    return found


def test_the_command_writes_every_block_and_evaluation(tuplet: Any, tmp_path: Path) -> None:
    done = tuplet(
        "train", "--net", "5x4", "--games", 2500, "--evaluate", "20@1000", "--tensorboard", "--out", "run", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "avg = " in done.stdout  # it is printed as without
    import tuplet as package

    run, found = package.Run.load(tmp_path / "run"), scalars(tmp_path / "run")
    assert found["score/mean"] == {m["games"]: pytest.approx(m["mean_score"]) for m in run.metrics}
    assert set(found["speed/moves_per_s"]) == {1000, 2000, 2500}
    assert found["reached/256"][2500] == pytest.approx(run.metrics[-1]["reached"]["256"])
    fresh = [each for m in run.metrics for each in m.get("evaluations", ())]
    assert found["fresh/mean"] == {e["learned"]: pytest.approx(e["mean_score"]) for e in fresh}
    assert found["fresh/ci95_low"][2500] < found["fresh/mean"][2500]


CRASHES = """
import os, sys, tuplet
from types import SimpleNamespace
from tuplet.adapters.tensorboard import TensorBoard
crash = SimpleNamespace(on_block=lambda games, _: games == 3000 and os._exit(9))
tuplet.train("0123", games=3000, out=sys.argv[1], loggers=[TensorBoard(), crash], progress=False)
"""


def test_a_run_that_goes_on_has_one_curve(tmp_path: Path) -> None:
    """Also one that died after its last checkpoint, and plays some games again."""
    done = subprocess.run([sys.executable, "-c", CRASHES, tmp_path / "run"], capture_output=True)
    assert done.returncode == 9
    resume(tmp_path / "run", games=2000, loggers=[TensorBoard()], progress=False)
    resume(tmp_path / "run", games=4000, loggers=[TensorBoard()], progress=False)
    means = scalars(tmp_path / "run")["score/mean"]
    assert list(means) == [1000, 2000, 3000, 4000]
    run = Run.load(tmp_path / "run")
    assert means == {m["games"]: pytest.approx(m["mean_score"]) for m in run.metrics}
    purges = [e.step for e in events(tmp_path / "run") if e.HasField("session_log")]
    assert purges == [1, 1, 2001]


def test_a_run_in_memory_needs_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no folder"):
        train("5x4", games=100, loggers=[TensorBoard()], progress=False)
    train("5x4", games=1000, loggers=[TensorBoard(tmp_path / "logs")], progress=False)
    assert list(scalars(tmp_path / "logs")["score/best"]) == [1000]
