"""Work in blocks: in order, wherever it is done, and ended when told."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from tuplet.system.blocks import Worker, is_picklable, ordered_map, processes
from tuplet.system.stop import Stop
from tuplet.system.worker import process_worker, request_stop


def square(number: int, _: Worker) -> int:
    return number * number


def place(_: int, worker: Worker) -> tuple[int, int]:
    """Where a block is done, and the number of what is kept there."""
    made = worker.keep("counter", Counter)
    made.count += 1
    return os.getpid(), made.count


class Counter:
    closed: list[Counter] = []  # noqa: RUF012

    def __init__(self) -> None:
        self.count = 0

    def close(self) -> None:
        Counter.closed.append(self)


def waiting_for_stop(number: int, worker: Worker) -> int | None:
    return number if worker.stop._event.wait(60) else None


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_blocks(threads: int) -> None:
    turns = [threading.Event() for _ in range(20)]
    turns[-1].set()

    def backwards(number: int, _: Worker) -> int:
        """Those that run together end in the opposite order."""
        last = min(number + threads, 20) - 1
        if number % threads == 0 and number < last:
            turns[number + 1].wait(5)
        turns[number].set()
        return number

    assert list(ordered_map(backwards, ((n,) for n in range(20)), threads=threads)) == [*range(20)]


@pytest.mark.parametrize("kind", ["threads", "processes", "our processes"])
def test_any_executor_gives_the_same_results(kind: str) -> None:
    def run(executor: Executor) -> list[int]:
        return list(ordered_map(square, ((n,) for n in range(50)), executor=executor))

    if kind == "our processes":
        with processes(2) as pool:
            found = run(pool)
    else:
        made: dict[str, Any] = {
            "threads": lambda: ThreadPoolExecutor(3),
            "processes": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
        }
        with made[kind]() as pool:
            found = run(pool)
    assert found == [n * n for n in range(50)]


def test_blocks_are_taken_only_as_they_are_needed() -> None:
    taken = []

    def endless() -> Any:
        number = 0
        while True:
            taken.append(number)
            yield (number,)
            number += 1

    results = ordered_map(square, endless(), threads=2)
    assert [next(results) for _ in range(4)] == [0, 1, 4, 9]
    results.close()  # type: ignore[attr-defined]
    assert len(taken) < 10


def test_running_blocks_give_their_results_after_a_stop() -> None:
    stop, began = Stop(), threading.Barrier(3, timeout=30)

    def begin(number: int, worker: Worker) -> int | None:
        began.wait()
        return waiting_for_stop(number, worker)

    threading.Thread(target=lambda: (began.wait(), stop.set())).start()
    assert list(ordered_map(begin, ((n,) for n in range(100)), threads=2, stop=stop)) == [0, 1]


def test_a_block_that_fails_ends_the_others_and_leaves_no_thread() -> None:
    before = threading.active_count()

    def fail(number: int, worker: Worker) -> int | None:
        if number == 3:
            raise ZeroDivisionError("three")
        return number if number < 3 else waiting_for_stop(number, worker)

    with pytest.raises(ZeroDivisionError, match="three"):
        list(ordered_map(fail, ((n,) for n in range(100)), threads=3))
    assert threading.active_count() == before


def test_objects_of_a_thread_are_kept_between_blocks_and_closed_at_the_end() -> None:
    Counter.closed.clear()
    counts = [count for _, count in ordered_map(place, ((n,) for n in range(12)), threads=1)]
    assert counts == [*range(1, 13)]
    assert [made.count for made in Counter.closed] == [12]


def test_a_process_keeps_things_too_and_only_the_last_few() -> None:
    with processes(1) as pool:
        found = list(ordered_map(place, ((n,) for n in range(5)), executor=pool))
    assert {process for process, _ in found} != {os.getpid()}
    assert [count for _, count in found] == [1, 2, 3, 4, 5]
    worker, made = Worker(), []
    for key in range(6):
        made.append(worker.keep(key, Counter))
    Counter.closed.clear()
    assert worker.keep(5, Counter) is made[5] and worker.keep(0, Counter) is not made[0]
    worker.close()
    assert len(Counter.closed) >= 4


def test_a_worker_sent_to_another_process_shares_its_objects_and_stops_with_its_call() -> None:
    one, other = Worker(), Worker()
    there, again, others = (pickle.loads(pickle.dumps(each)) for each in (one, one, other))
    made = there.keep("counter", Counter)
    assert made is others.keep("counter", Counter) is process_worker().keep("counter", Counter)
    request_stop(one.token)
    assert there.stop.is_set() and again.stop.is_set() and not others.stop.is_set()


def test_shared_objects_are_made_once_and_kept_ones_once_per_thread() -> None:
    made: list[str] = []
    began = threading.Barrier(4, timeout=30)

    def make(kind: str) -> object:
        time.sleep(0.05)  # long enough for the others to come
        made.append(kind)
        return object()

    def both(_: int, worker: Worker) -> tuple[object, object]:
        began.wait()
        return worker.share("key", lambda: make("shared")), worker.keep("key", lambda: make("own"))

    found = list(ordered_map(both, ((n,) for n in range(4)), threads=4))
    assert made.count("shared") == 1 and made.count("own") == 4
    assert len({id(shared) for shared, _ in found}) == 1


def test_processes_stop_in_the_middle_of_a_block() -> None:
    stop = Stop()
    with processes(2) as pool:
        found = list(
            ordered_map(
                waiting_for_stop, ((n,) for n in range(50)), executor=pool, stop=stop, on_tick=lambda _: stop.set()
            )
        )
    assert found == [*range(len(found))] and len(found) < 10  # those that had begun


def test_a_process_pool_serves_several_calls_and_stops_each_alone() -> None:
    with processes(1) as pool:

        def run(stop: Stop | None = None) -> list[int | None]:
            work, end = (waiting_for_stop, stop.set) if stop else (square, lambda: None)
            blocks = ((n,) for n in range(3))
            return list(ordered_map(work, blocks, executor=pool, stop=stop, on_tick=lambda _: end()))

        for _ in range(2):
            assert run() == [0, 1, 4]
            assert run(Stop())[:1] == [0]  # what had begun ended when it was told


def test_the_main_program_stands_where_it_is_while_processes_begin() -> None:
    """Other threads may look something up there."""
    main, seen, done = sys.modules["__main__"], set(), threading.Event()

    def watch() -> None:
        while not done.is_set():
            seen.add(sys.modules["__main__"])

    watcher = threading.Thread(target=watch)
    watcher.start()
    with processes(2) as pool:
        assert list(ordered_map(square, ((n,) for n in range(4)), executor=pool)) == [0, 1, 4, 9]
    done.set()
    watcher.join()
    assert seen == {main}


@pytest.mark.slow
def test_a_script_without_a_guard_may_use_processes_for_its_own_class(tmp_path: Path) -> None:
    """Python's own pools would run the script again in every process, and could not send its class."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys, tuplet\n"
        "print('once')\n"
        "class First:\n"
        "    def choose(self, board):\n"
        "        print(os.getpid() == PARENT)\n"
        "        return board.legal_moves()[0]\n"
        "PARENT = os.getpid()\n"
        "two, one = (tuplet.evaluate(First, games=20, threads=n, progress=False) for n in (2, 1))\n"
        "print(two.results.scores.tolist() == one.results.scores.tolist())\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.stdout.split()[0] == "once" and done.stdout.split()[-1] == "True", done.stderr
    assert done.stdout.split().count("once") == 1
    assert "False" in done.stderr and "Warning" not in done.stderr  # played by other processes, without a warning


def test_what_can_be_sent_to_another_process() -> None:
    class Local:
        pass

    assert all(map(is_picklable, (Counter, square, Local, Local(), lambda: 1, "a text", {"__main__": Counter})))
    assert not is_picklable(threading.Lock()) and not is_picklable(n for n in range(3))
