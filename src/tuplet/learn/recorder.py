"""What a training reports: lines of metrics, calls of loggers, progress, and its plan in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from tuplet.errors import UserError
from tuplet.learn.checkpoints import Checkpoint, CheckpointWriter
from tuplet.learn.curves import Metrics
from tuplet.learn.run import Run
from tuplet.learn.self_play import Chunk, statistics_of
from tuplet.learn.settings import Method, RunOptions, schedule_of, steps_of
from tuplet.system.progress import Progress, RateMeter
from tuplet.system.stop import Stop
from tuplet.system.tables import format_duration, plural

LOGGER_METHODS = ("on_begin", "on_block", "on_evaluation", "on_end")
ENOUGH = 50  # games for a mean score worth showing


class Loggers:
    """The loggers of a run: objects with any of four methods.

        on_begin(run)              before the first game; `run.method` and `run.options` are its settings
        on_block(games, summary)   after each block of games; `run.metrics[-1]` says more
        on_evaluation(evaluation)  after each evaluation by fresh games
        on_end(run)                at the end, whatever the reason

    An exception in a logger (a pruned trial, say) stops the training, which is saved; then it is raised.
    """

    def __init__(self, loggers: object, stop: Stop) -> None:
        """UserError if any item is not a logger."""
        if not isinstance(loggers, Sequence):
            raise UserError(f"loggers must be a list (got {loggers!r})")
        for each in loggers:
            if isinstance(each, type) or not any(callable(getattr(each, name, None)) for name in LOGGER_METHODS):
                name = each.__name__ if isinstance(each, type) else type(each).__name__
                raise UserError(f"{name} is not a logger: pass objects with any of {', '.join(LOGGER_METHODS)}")
        self.loggers, self.stop = loggers, stop
        self.error: Exception | None = None  # the first that a logger raised

    def call(self, name: str, *arguments: Any) -> None:
        """Call a method of all loggers that have it."""
        for method in filter(None, (getattr(each, name, None) for each in self.loggers)):
            try:
                method(*arguments)
            except Exception as error:
                self.error = self.error or error
                self.stop.set()

    @contextmanager
    def open(self, run: Run) -> Iterator[None]:
        """Call on_begin, in the end on_end, and raise what a logger raised meanwhile."""
        with ExitStack() as ends:
            for each in self.loggers:
                if hasattr(each, "on_begin"):
                    each.on_begin(run)
                if hasattr(each, "on_end"):
                    ends.callback(each.on_end, run)
            yield
        if self.error is not None:
            self.stop.clear()  # the caller may use it again
            raise self.error


class Recorder:
    """Collects a run's games in blocks, and writes a line of metrics for each.

    Times are seconds of training.
    """

    def __init__(
        self, run: Run, saver: CheckpointWriter, loggers: Loggers, checkpoint: Checkpoint | None = None
    ) -> None:
        self.run, self.saver, self.loggers = run, saver, loggers
        self.moves = 0  # in this process
        self.threads: int | None = None  # that share the tables now, if their number is tuned
        self.evaluations: list[Metrics] = []  # not yet in a line of metrics
        self._statistics = statistics_of(run.network)
        self._block = self._statistics.make_results(run.options.block)
        self._block_start = run.games  # the number of the block's first game
        if checkpoint is not None:
            self._block_start, self.evaluations = checkpoint.block_start, [*checkpoint.evaluations]
            for whole, part in zip(self._block, checkpoint.pending, strict=True):
                whole[: len(part)] = part
        self.last_evaluation: Metrics | None = [None, *run.evaluations, *self.evaluations][-1]
        self._block_began, self._block_moves = run.elapsed_s, 0
        self._meter = RateMeter()

    @property
    def block_is_full(self) -> bool:
        """Whether the block has all its games, and waits to be closed."""
        return self.run.games - self._block_start == self.run.options.block

    def pending(self) -> Any:
        """The unfinished block's games."""
        return type(self._block)(*(part[: self.run.games - self._block_start] for part in self._block))

    def checkpoint(self, elapsed_s: float) -> Checkpoint:
        """What a checkpoint of now has to hold."""
        return Checkpoint(self.run.games, self._block_start, elapsed_s, self.pending(), [*self.evaluations])

    def add(self, chunk: Chunk, began: float, ended: float, keep_open: float = math.inf) -> None:
        """Add games that were learned from in that time, and close the blocks that they fill.

        A block that ends with game `keep_open` or a later one stays open, for an evaluation.
        """
        count, block, at = len(chunk.results[0]), self.run.options.block, 0
        while at < count:
            part = min(block - (chunk.first + at) % block, count - at)
            place = chunk.first + at - self._block_start
            for whole, results in zip(self._block, chunk.results, strict=True):
                whole[place : place + part] = results[at : at + part]
            self.moves += chunk.moves * (at + part) // count - chunk.moves * at // count
            at += part
            self.run.games = chunk.first + at
            self.run.elapsed_s = began + (ended - began) * at / count
            if self.run.games % block == 0 and self.run.games < keep_open:
                self.close_block(self.run.elapsed_s)

    def add_evaluation(self, evaluation: Metrics) -> None:
        """Keep an evaluation for the next line of metrics."""
        self.evaluations.append(evaluation)
        self.last_evaluation = evaluation
        self.loggers.call("on_evaluation", evaluation)

    def close_block(self, elapsed_s: float) -> None:
        """Write the block's line of metrics and begin the next block."""
        metrics = self.run.metrics
        if self.run.games == self._block_start:
            if self.evaluations and metrics:  # the run ended by its budget, with a block
                metrics[-1].setdefault("evaluations", []).extend(self.evaluations)
                self.evaluations = []
                self.saver.write_line(anew=True)
            return
        results = self.pending()
        rate = (self.moves - self._block_moves) / max(elapsed_s - self._block_began, 1e-9)
        line: Metrics = {
            "games": self.run.games,
            "elapsed_s": round(elapsed_s, 3),
            **self._statistics.account(results),
            "moves_per_s": round(rate),
        }
        if self.threads is not None:
            line["sharing"] = self.threads
        if self.evaluations:
            line["evaluations"], self.evaluations = self.evaluations, []
        metrics.append(line)
        self.saver.write_line()
        self._block_start = self.run.games
        self._block_began, self._block_moves = elapsed_s, self.moves
        self.loggers.call("on_block", self.run.games, self._statistics.summarise(results))

    def restart_meter(self) -> None:
        """Measure the speed anew: there was a pause."""
        self._meter = RateMeter()

    def progress(self, elapsed_s: float) -> Progress:
        """How far the run is, and what the last block came to."""
        run, rate, block = self.run, self._meter.rate(self.moves), self.pending()
        figures: dict[str, str] = {}
        shares: dict[str, float] = {}
        summary = self._statistics.summarise(block) if len(block[0]) >= ENOUGH else None
        if run.method.game != "2048":
            if summary is not None or run.metrics:
                error = run.metrics[-1]["td_error"] if summary is None else summary.error
                figures["TD error"] = f"{error:.3f}"
        elif run.metrics:
            mean, shares = run.metrics[-1]["mean_score"], run.metrics[-1]["reached"]
        elif summary is not None:
            mean, shares = summary.mean_score, {str(t): s for t, s in summary.reached.items()}
        if run.method.game == "2048" and (run.metrics or summary):
            best = max([m["max_score"] for m in run.metrics] + [summary.max_score if summary else 0])
            figures = {"mean": f"{mean:,.0f}", "best": f"{best:,}"}
        if self.last_evaluation is not None and run.options.evaluate:
            low, high = self.last_evaluation["ci95"]
            mean, half = self.last_evaluation["mean_score"], (high - low) / 2
            if run.options.opponent is None:
                figures["fresh"] = f"{mean:,.0f} ± {half:,.0f}"
            else:
                figures[f"against {run.options.opponent}"] = f"{100 * mean:.1f} ± {100 * half:.1f} %"
        games, budget = run.options.games, run.options.budget
        if budget is not None and (games is None or elapsed_s / budget > run.games / games):
            figures = {"games": f"{run.games:,}", **figures}
            return Progress("time", elapsed_s, budget, rate, "moves/s", figures, shares)
        return Progress("games", run.games, games, rate, "moves/s", figures, shares)


def describe_plan(
    method: Method, options: RunOptions, games: int, elapsed_s: float, previous: RunOptions | None = None
) -> str:
    """What a training will do, in words; `previous` are its options before it was resumed with others.

    A schedule of alpha is a share of the run. A run that had settled and is continued beyond its
    length goes on as a run of the new length would: at the full rate again, until it settles once
    more. That costs at first what settling gave, and pays later (docs/learning.md).
    """
    later_changes = [each for each in method.changes() if each.games > games]
    method = method.at(games)
    assert method.alpha is not None
    total, done = _share_in_words(options, 1.0), options.progress(games, elapsed_s)
    if games and options.games is None:
        total = f"{format_duration(elapsed_s)} of {total} done ({plural(games, 'game')})"
    elif games:
        total = f"{games:,} of {total} done"
    rate = schedule_of(method.schedule)
    rises = previous is not None and rate(done) > rate(previous.progress(games, elapsed_s))
    alpha = f"{'back to ' if rises else ''}{method.alpha * rate(done):.3g}"
    if method.schedule in ("linear", "cosine"):
        words = [f"α {alpha}, falling to 0 ({method.schedule})"]
    else:
        later = [
            f"until {_share_in_words(options, after, at=True)}, then {method.alpha * by:.3g}"
            for after, by in steps_of(method.schedule)
            if after > done
        ]
        words = [f"α {alpha} {', '.join(later)}".rstrip()]
    words += [
        f"{plural(len(tuples), 'tuple')} from {_share_in_words(options, after, at=True)} on"
        for after, tuples in method.growth()
        if after > done
    ]
    words += [f"{each.describe()} from game {each.games:,} on" for each in later_changes]
    words += ["means may dip until it settles again"] if rises else []
    return "; ".join([total, *words])


def _share_in_words(options: RunOptions, share: float, at: bool = False) -> str:
    """A share of a run: 18,000 games, or 9:00; with `at`, that point of it: game 18,000."""
    words = []
    if options.games is not None:
        number = round(share * options.games)
        words.append(f"game {number:,}" if at else plural(number, "game"))
    if options.budget is not None:
        words.append(format_duration(share * options.budget))
    return " or ".join(words)
