"""Progress: one kind of event, and one display for it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from terminal import at_terminal
from tuplet import Progress, evaluate, match, solve, train
from tuplet.system import progress
from tuplet.system.progress import COMPILING, RateMeter, watching


def test_every_long_call_reports_progress_to_a_given_function(trained_run: Path) -> None:
    from tuplet import regret, review
    from tuplet.agents.environments import RandomEnvironment
    from tuplet.agents.random_greedy import GreedyAgent
    from tuplet.arena.evaluate import play_episode

    episode = play_episode(GreedyAgent(), RandomEnvironment(1))
    for call, what in (
        (lambda watch: train("5x4", games=100, progress=watch), "games"),
        (lambda watch: evaluate(str(trained_run), games=20, progress=watch), "games"),
        (lambda watch: match("easy", "easy", games=2, progress=watch), "games"),
        (lambda watch: solve("2x2", progress=watch), "states valued"),
        (lambda watch: regret("greedy", board="2x2", progress=watch), "states followed"),
        (lambda watch: review(episode, str(trained_run), depth=1, progress=watch), "moves"),
    ):
        events: list[Progress] = []
        call(events.append)
        last = events[-1]
        assert isinstance(last, Progress) and last.what == what
        assert last.done > 0 and last.total in (None, last.done)


def test_progress_of_a_part_becomes_progress_of_the_whole() -> None:
    part = Progress("games", 20, 50, 1e6, figures={"mean": "900"}, before=5)
    whole = part.within(100, 150, now="second of two")
    assert whole == Progress("games", 120, 150, 1e6, figures={"now": "second of two", "mean": "900"}, before=105)
    assert list(whole.figures) == ["now", "mean"]
    assert Progress("games", 1).within(2, None) == Progress("games", 3, before=2)
    assert Progress(COMPILING).within(100, 150, now="x") == Progress(COMPILING)


def test_nothing_is_displayed_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    train("5x4", games=50)
    with watching(None) as watch:
        watch(Progress("games", 1, 2))
    assert capsys.readouterr() == ("", "")


def test_without_a_terminal_there_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    with watching(True) as tell:
        tell(Progress(COMPILING))
        for second in range(25):
            now = 100.0 + second
            tell(Progress("games", 10 * second, 1000, 2.5e6, shares={"64": 1.0, "128": 0.5}))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3  # after 2, 12 and 22 seconds
    assert lines[0] == "20 of 1,000 games  2.50 M moves/s  1:38 left  reached 128: 50.0%"


def test_there_is_no_rate_before_the_second_arrival(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    pace = RateMeter()
    assert pace.rate(0) is None
    now = 0.2
    assert pace.rate(1000) is None
    now = 1.2
    assert pace.rate(3000) == 2000  # what came before the first, compiling say, does not count
    for now in (3.2, 5.2, 7.2, 9.2):
        last = pace.rate(3000 + 1000 * (now - 1.2))
    assert last == pytest.approx(1000)  # of the last few seconds
    assert pace.rate(11000.0) is not None


def test_games_of_an_earlier_call_do_not_count_for_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    summary = progress._Summary()
    summary.facts(Progress("games", 900, 1000, before=900))
    now = 10.0
    assert summary.facts(Progress("games", 910, 1000, before=900))[-1] == "1:30 left"


@pytest.mark.slow
def test_at_a_terminal_there_is_a_bar() -> None:
    script = "import tuplet; tuplet.train('5x4', budget='2s'); import sys; sys.exit()"
    screen = at_terminal([], "--version", before=script)
    assert "━━━" in screen and "left" in screen and "games" in screen


def test_events_in_lumps_do_not_raise_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game of 300 moves that takes 15 s is 20 moves a second, though it is counted at its end."""
    now, told = 0.0, []
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    for threads in (1, 3):
        pace = RateMeter()
        for look in range(900):
            now = 0.1 * look
            told.append(pace.rate(sum(300 * int((now + i / 10) // 15) for i in range(threads))))
            assert told[-1] is None or told[-1] <= 1.1 * 20 * threads
        assert told[-1] is not None and told[-1] >= 0.5 * 20 * threads


@pytest.mark.parametrize("columns", [100, 60, 40, 25])
def test_a_narrow_terminal_shows_all_that_a_wide_one_does(columns: int) -> None:
    from rich.console import Console

    event = Progress("games", 500, 1000, 2.5e6, shares={"64": 1.0, "128": 0.5})
    facts = ["500 of 1,000 games", "mean 24,100", "best 67,716", "2.50 M moves/s", "1:38 left"]
    console = Console(width=columns)
    with console.capture() as capture:
        console.print(progress._bars(event, facts, columns))
    lines = capture.get().splitlines()
    assert max(map(len, lines)) <= columns
    for fact in (*facts, "50.0 %"):
        assert fact in capture.get()


def test_a_terminal_that_cannot_draw_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_TERM", "dumb")
    script = """
import time
from tuplet.system import progress
progress.FIRST_LINE = 0.0
with progress.show_progress() as watch:
    watch(progress.Progress("games", 1, 2))
import sys; sys.exit()"""
    assert at_terminal([], before=script).splitlines()[-1] == "1 of 2 games"


def test_compiling_is_shown_until_something_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    display = progress._TerminalDisplay(80)
    monkeypatch.setattr("tuplet.kernel.compiling", lambda: True)
    assert str(display.render()) == ""  # most are faster
    display._began -= 3
    assert str(display.render()).startswith("Compiling, about ten seconds")
    display.update(Progress("games", 0, 10), 80)
    assert str(display.render()).endswith("0:03")
    display.update(Progress("games", 1, 10), 80)
    assert "Compiling" not in str(display.render())


def test_the_compiler_says_when_it_compiles() -> None:
    import numba

    from tuplet.kernel import compiling
    from tuplet.kernel.compile import _events

    seen: list[bool] = []
    start = type(_events).on_start

    def told(self: object, event: object) -> None:
        start(self, event)  # type: ignore[arg-type]
        seen.append(compiling())

    type(_events).on_start = told  # type: ignore[method-assign,assignment]
    try:
        assert numba.njit(_fresh)(1) == 2
    finally:
        type(_events).on_start = start  # type: ignore[method-assign]
    assert seen == [True] and not compiling()


def _fresh(n: int) -> int:
    return n + 1
