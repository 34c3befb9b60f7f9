"""Games played side by side in threads, and handed over in their order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, Queue

from tuplet.games.ewn import Record
from tuplet.learn.train import stopping

Table = Callable[[int, threading.Event], Record | None]  # plays a game, unless it is stopped

_LOOK = 0.2  # seconds between looks at the score


def play_in_order(
    numbers: range,
    tables: Sequence[Table],
    take: Callable[[int, Record], bool],
    look: Callable[[], None],
) -> bool:
    """Play the games of these numbers, a thread for each table; returns whether Ctrl-C came.

    `take` receives each game here, in the order of numbers, and says whether that is enough;
    `look` is called a few times a second. Games under way at the end are given up.
    """
    left = iter(numbers)
    lock, stop, ctrl_c = threading.Lock(), threading.Event(), threading.Event()
    done: Queue[tuple[int, Record | BaseException]] = Queue()

    def work(table: Table) -> None:
        number = -1
        try:
            while not stop.is_set():
                with lock:
                    number = next(left, -1)
                if number < 0:
                    return
                record = table(number, stop)
                if record is None:
                    return
                done.put((number, record))
        except BaseException as error:
            done.put((number, error))

    # Daemons: asked twice to stop, the program does not wait for an agent that never answers.
    threads = [threading.Thread(target=work, args=(table,), daemon=True) for table in tables]
    early: dict[int, Record] = {}
    due, enough = numbers.start, False
    next_look = 0.0
    with stopping(ctrl_c):
        for thread in threads:
            thread.start()
        try:
            while due < numbers.stop and not enough and not ctrl_c.is_set():
                if time.perf_counter() >= next_look:
                    look()
                    next_look = time.perf_counter() + _LOOK
                try:
                    number, record = done.get(timeout=_LOOK)
                except Empty:
                    continue
                if isinstance(record, BaseException):
                    raise record
                early[number] = record
                while due in early and not enough:
                    enough = take(due, early.pop(due))
                    due += 1
            look()
        finally:
            stop.set()
            for thread in threads:
                thread.join()
    return due < numbers.stop and not enough
