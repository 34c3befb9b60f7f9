"""Loggers: told of a training from its beginning to its end, whatever ends it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tuplet import Stop, resume, train


class Notes:
    """Writes down every call."""

    def __init__(self) -> None:
        self.notes: list[tuple[Any, ...]] = []
        self.run: Any = None

    def on_begin(self, run: Any) -> None:
        self.run = run
        self.notes.append(("begin", run.games))

    def on_block(self, games: int, summary: Any) -> None:
        assert self.run.metrics[-1]["mean_score"] == summary.mean_score
        self.notes.append(("block", games))

    def on_evaluation(self, evaluation: dict[str, Any]) -> None:
        self.notes.append(("fresh", evaluation["learned"]))

    def on_end(self, run: Any) -> None:
        self.notes.append(("end", run.games))


class BlocksOnly:
    def __init__(self) -> None:
        self.games: list[int] = []

    def on_block(self, games: int, summary: Any) -> None:
        self.games.append(games)


def test_loggers_are_called_from_beginning_to_end(tmp_path: Path) -> None:
    notes, blocks = Notes(), BlocksOnly()
    options: dict[str, Any] = {"evaluate": "5@1000", "progress": False}
    train("0123", games=1500, out=tmp_path / "run", loggers=[notes, blocks], **options)
    assert notes.notes == [
        ("begin", 0),
        ("fresh", 1000),
        ("block", 1000),
        ("fresh", 1500),
        ("block", 1500),
        ("end", 1500),
    ]
    assert blocks.games == [1000, 1500]
    notes = Notes()
    resume(tmp_path / "run", games=2000, loggers=[notes], progress=False)
    assert notes.notes == [("begin", 1500), ("fresh", 2000), ("block", 2000), ("end", 2000)]


def test_the_end_is_told_where_it_is_stopped_or_fails() -> None:
    stop, notes = Stop(), Notes()
    run = train(
        "0123", games=5000, loggers=[notes, SimpleNamespace(on_block=lambda *_: stop.set())], stop=stop, progress=False
    )
    assert run.interrupted and notes.notes == [("begin", 0), ("block", 1000), ("end", run.games)]

    class Prunes(Notes):
        def on_block(self, games: int, summary: Any) -> None:
            raise RuntimeError("pruned")

    prunes, stop = Prunes(), Stop()
    with pytest.raises(RuntimeError, match="pruned"):
        train("0123", games=5000, loggers=[prunes], stop=stop, progress=False)
    assert prunes.notes[-1][0] == "end" and not stop.is_set()  # the next trial may have it, too


@pytest.mark.parametrize("kind", [ConnectionError, RuntimeError])
def test_what_a_logger_raises_loses_nothing(kind: type[Exception], tmp_path: Path) -> None:
    class Unreachable(Notes):
        def on_block(self, games: int, summary: Any) -> None:
            if games == 2000:
                raise kind("nobody is there")

    notes = Notes()
    with pytest.raises(kind, match="nobody is there"):
        train("0123", games=9000, out=tmp_path / "run", loggers=[Unreachable(), notes], progress=False)
    assert notes.notes[-2:] == [("block", 2000), ("end", notes.run.games)]
    whole = train("0123", games=3000, progress=False)
    again = resume(tmp_path / "run", games=3000, progress=False)
    assert (again.network.weights == whole.network.weights).all()


def test_every_logger_that_began_is_told_the_end() -> None:
    class Fails(Notes):
        def on_begin(self, run: Any) -> None:
            raise KeyError("no such project")

    notes = Notes()
    with pytest.raises(KeyError, match="no such project"):
        train("0123", games=5000, loggers=[notes, Fails()], progress=False)
    assert notes.notes == [("begin", 0), ("end", 0)]


def test_what_is_no_logger_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    for wrong, told in (
        ([{}], "dict is not a logger"),
        ([Notes], "Notes is not a logger"),
        (Notes(), "must be a list"),
    ):
        with pytest.raises(ValueError, match=told):
            train("0123", games=5000, loggers=wrong, out=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_loggers_change_nothing_of_what_is_learned() -> None:
    runs = [train("0123", games=500, loggers=each, progress=False) for each in ([], [Notes()])]
    assert (runs[0].network.weights == runs[1].network.weights).all()
