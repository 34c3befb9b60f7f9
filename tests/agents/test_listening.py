"""Every search hears that it should stop, whatever limits it, and has a move all the same."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import pytest

from tuplet import Board, LearnedAgent, Network, Stop, analyze, game, make_agent
from tuplet.agents.environments import RandomEnvironment
from tuplet.arena.evaluate import play_episode
from tuplet.arena.game import play_game
from tuplet.games import agent_hooks

BOARD = Board("2,4,8,16, 0,2,64,32, 4,8,256,128, 0,2,512,1024")
LARGE = "ewn:board=9x9,die=cycle"  # not searched to the end within minutes
KNOWN = game(LARGE).start(3)
SEARCHES: list[tuple[Any, Any]] = [
    (lambda: make_agent("mcts:sims=1000000000000", LARGE), KNOWN),
    (lambda: make_agent("mcs:sims=1000000000000,batch=1000000", LARGE), KNOWN),
    (lambda: make_agent("alphabeta:depth=60", LARGE), KNOWN),
    (lambda: make_agent("best:depth=60", LARGE), KNOWN),
    (lambda: make_agent("mcts:sims=1000000000000", "2048"), game("2048").position(BOARD)),
    (lambda: make_agent("expectimax:depth=60", "2048"), game("2048").position(BOARD)),
    (lambda: LearnedAgent(Network("5x4"), depth=60), BOARD),
]


def wait_until(true: Any) -> None:
    for _ in range(6000):  # it may be compiled first
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("nothing happened for minutes")


@pytest.mark.parametrize(("make", "position"), SEARCHES)
def test_a_search_without_a_time_limit_stops_on_request(make: Any, position: Any) -> None:
    agent, found = make(), []
    agent.stop = stop = Stop()
    thread = threading.Thread(target=lambda: found.append(agent.choose(position)), daemon=True)
    thread.start()
    wait_until(lambda: agent.progress().rate)  # half a second of thinking
    asked = time.monotonic()
    stop.set()
    thread.join(20)
    assert found and found[0] in position.legal_moves()
    assert time.monotonic() - asked < 5  # 0.3 s, on a machine that does nothing else


def test_ctrl_c_interrupts_a_running_kernel() -> None:
    """Python's own KeyboardInterrupt, in the main thread, and the search works again after it."""
    agent = make_agent("alphabeta:depth=60", LARGE)

    def interrupt() -> None:
        wait_until(lambda: agent.progress().rate)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            agent.choose(KNOWN)
    finally:
        signal.signal(signal.SIGINT, before)
    agent.search.depth = 3
    assert agent.analyze(KNOWN).interrupted is False


def test_an_analysis_that_is_stopped_keeps_the_last_depth() -> None:
    net, stop = Network("5x4"), Stop()
    found = analyze(
        "2048",
        BOARD,
        net,
        depth=60,
        stop=stop,
        progress=lambda event: stop.set() if int(event.figures["depth"].split()[0]) > 2 else None,
    )
    assert found.interrupted and 3 <= (found.depth or 0) < 60
    assert found.as_json()["interrupted"] is True
    assert found.moves == LearnedAgent(net, depth=found.depth).moves(BOARD)
    stop = Stop()
    found = analyze(
        LARGE, KNOWN, "mcts:sims=1000000000000", stop=stop, progress=lambda event: stop.set() if event.done else None
    )
    assert found.interrupted and " of 1,000,000,000,000 simulations" in found.note
    assert found.best in KNOWN.legal_moves()


class Hasty:
    """Wins at once, but only because it was told to stop."""

    stop: Stop | None = None

    def choose(self, position: Any) -> str:
        if self.stop is not None:
            self.stop.set()
        moves: list[str] = position.legal_moves()
        return moves[0]


def test_a_move_that_was_cut_short_does_not_count() -> None:
    near = game("ewn").parse("ewn ...../...../...../...r1./b1.... red 1")
    for first in (Hasty(), make_agent("alphabeta:depth=3", "ewn")):
        stop = Stop()
        agents = (first, Hasty()) if isinstance(first, Hasty) else (Hasty(), first)
        record = play_game(*agents, near, stop=stop)
        assert stop.is_set() and not record.over and not record.moves
    episode = play_episode(Hasty(), RandomEnvironment(1), Stop())
    assert not episode.moves and not episode.over


def test_agents_have_the_stop_only_during_the_call() -> None:
    class Mine:
        def stop(self) -> None:
            """A method of somebody's own stays what it is."""

    own, other, stop = make_agent("mcts:sims=10"), Mine(), Stop()
    own.stop = before = Stop()
    with agent_hooks.listening(stop, own, other, own):
        assert own.stop is stop and own.search.settings.stop is stop.flag
        assert callable(other.stop)
    assert own.stop is before
