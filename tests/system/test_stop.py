"""Every long call can be stopped, from any thread, and says what it has by then."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tuplet import (
    GreedyAgent,
    Progress,
    RandomEnvironment,
    Stop,
    Stopped,
    evaluate,
    match,
    play_episode,
    regret,
    review,
    solve,
    train,
)

pytestmark = pytest.mark.slow


def stopped(call: Callable[..., Any], after: Callable[[Progress], bool]) -> Any:
    """What a call returns, in a thread of its own, when it is stopped after some event."""
    stop, found = Stop(), []

    def watch(event: Progress) -> None:
        if after(event):
            stop.set()

    def work() -> None:
        try:
            found.append(call(progress=watch, stop=stop))
        except Stopped as error:
            found.append(error)

    thread = threading.Thread(target=work)  # no main thread: no signal can come here
    thread.start()
    thread.join(120)
    assert not thread.is_alive()
    return found[0]


def some(event: Progress) -> bool:
    return event.what == "games" and event.done > 20


def test_a_training_saves_and_returns_the_run(tmp_path: Path) -> None:
    run = stopped(lambda **w: train("5x4", games=10**9, out=tmp_path / "run", **w), some)
    assert run.interrupted and 20 < run.games < 10**9
    assert (tmp_path / "run" / "weights.safetensors").exists()


def test_an_evaluation_and_a_match_judge_what_is_finished(trained_run: Path) -> None:
    result = stopped(lambda **w: evaluate(str(trained_run), games=10**7, threads=2, **w), some)
    assert result.interrupted and 20 < result.summary.games < 10**7
    result = stopped(lambda **w: evaluate("random", games=10**6, **w), some)
    assert result.interrupted and result.summary.games > 20
    result = stopped(lambda **w: match("easy", "normal", games=10**6, threads=2, **w), some)
    assert result.interrupted and result.games > 18 and result.games % 2 == 0
    result = stopped(lambda **w: regret("greedy", board="2x2", games=10**7, **w), some)
    assert 20 < result.as_json()["games"] < 10**7


@pytest.mark.parametrize(
    "call",
    [
        lambda **w: solve("3x3", **w),
        lambda **w: match("hard", "hard", games=10**6, **w),
        lambda **w: evaluate("mcts:sims=100000", games=9, **w),
        # What is limited by depth or by simulations alone
        lambda **w: evaluate("small", games=9, depth=20, **w),
        lambda **w: evaluate("expectimax:depth=60", games=9, **w),
        lambda **w: match("mcts:sims=1000000000000", "hard", games=9, **w),
        lambda **w: match("alphabeta:depth=60", "hard", "ewn:board=9x9,die=cycle", games=9, **w),
        lambda **w: regret("mcts:sims=1000000000000", board="2x2", games=9, **w),
    ],
)
def test_a_call_that_is_stopped_without_results_raises_stopped(call: Callable[..., Any]) -> None:
    assert isinstance(stopped(call, lambda _: True), Stopped)


def test_a_stopped_review_reports_how_far_it_is() -> None:
    """It calls nobody before its first move is judged."""
    stop, record = Stop(), play_episode(GreedyAgent(), RandomEnvironment(1))
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(Stopped, match=r"of .* moves"):
        review(record, depth=20, stop=stop)


def test_a_signal_ends_a_deep_search_with_what_it_has(tmp_path: Path) -> None:
    board = "2,4,8,16, 0,2,64,32, 4,8,256,128, 0,2,512,1024"
    words = ["analyze", "2048", board, "--depth", "20"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tuplet", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stdout is not None and process.stderr is not None
    assert " of 20" in process.stderr.readline()  # after two seconds
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "best" in out and "moves ahead" in out
    assert err.splitlines()[-1].startswith("Stopped early: the result so far is shown")


CTRL_C = """
import tuplet
run = tuplet.train("5x4", games=10**9, out="run", progress=lambda e: print(e.done, flush=True))
print(run.interrupted, run.games > 0)
match = tuplet.match("easy", "normal", games=10**6, progress=lambda e: print(e.done, flush=True))
print(match.interrupted)
"""


def test_ctrl_c_in_python_ends_a_call_and_not_the_program(tmp_path: Path) -> None:
    """Nobody has installed a signal handler: it is Python's own KeyboardInterrupt."""
    process = subprocess.Popen([sys.executable, "-c", CTRL_C], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout is not None
    said: list[str] = []
    sent = 0
    for line in process.stdout:
        if not line[0].isdigit():
            said.append(line.strip())
        elif float(line) > 100 and len(said) == sent:
            process.send_signal(signal.SIGINT)
            sent += 1
    assert process.wait(60) == 0 and said == ["True True", "True"]
    assert (tmp_path / "run" / "weights.safetensors").exists()
