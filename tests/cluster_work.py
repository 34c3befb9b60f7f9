"""Blocks for the workers of a cluster, in a module that they import in no time."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

from tuplet.system.worker import Worker


def slow_square(n: int, seconds: float, worker: Worker) -> tuple[int, int]:
    """A number's square, and the process that took so many seconds for it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not worker.stop.is_set():
        time.sleep(0.005)
    return n * n, os.getpid()


def network_of(source: Any, first: int, worker: Worker) -> tuple[int, int]:
    """The thread that does it, and where its tables are in memory."""
    player: Any = source.agent(worker, first)
    time.sleep(0.1)
    return threading.get_ident(), player.network.weights.ctypes.data


def failing(kind: type[BaseException], _: Worker) -> None:
    raise kind("there is no such thing")


def unsendable(_: Worker) -> Any:
    return lambda: 1
