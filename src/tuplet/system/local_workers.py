"""`local:N`: a Dask scheduler in this process, and workers that only this machine reaches.

Workers are processes of their own, with the command that starts them on other machines: they do not
run the main program again, and hear nothing of Ctrl-C. One that dies is started again. All of them
end when this process does, however it ends: a worker without a scheduler leaves.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

HOST = "127.0.0.1"
_LOOK = 1.0  # seconds between looks at who has died
_LEAVE = 3.0  # seconds to leave in


@contextmanager
def local_workers(count: int) -> Iterator[Any]:
    """A Dask cluster of so many workers, each of one thread; they come as they are ready."""
    from distributed import LocalCluster

    own = {"dashboard": False, "dashboard_address": f"{HOST}:0"}
    with LocalCluster(
        n_workers=0, host=HOST, dashboard_address=None, silence_logs=logging.CRITICAL, scheduler_kwargs=own
    ) as made:
        processes = [_start(made.scheduler_address, number) for number in range(count)]
        ended = threading.Event()

        def look() -> None:
            while not ended.wait(_LOOK):
                for number, process in enumerate(processes):
                    if process.poll() is not None:
                        processes[number] = _start(made.scheduler_address, number)

        watch = threading.Thread(target=look, name="tuplet", daemon=True)
        watch.start()
        try:
            yield made
        finally:
            ended.set()
            watch.join()
            _end(processes)


def _start(address: str, number: int) -> subprocess.Popen[bytes]:
    words = [
        address,
        "--name",
        str(number),
        "--host",
        HOST,
        "--nthreads",
        "1",
        "--memory-limit",
        "0",
        "--no-nanny",
        "--no-dashboard",
        "--dashboard-address",
        f"{HOST}:0",
        "--death-timeout",
        "60",
    ]
    path = [each or os.getcwd() for each in sys.path]  # noqa: PTH109  # as texts, like the others
    return subprocess.Popen(
        # -P: a file that lies here and is called like a library is not taken for it
        [sys.executable, "-P", "-m", "distributed.cli.dask_worker", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "DASK_LOGGING__DISTRIBUTED": "critical"},
        stdin=subprocess.DEVNULL,
        stdout=2,  # what somebody's class prints is no result
        start_new_session=True,
    )


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    """Have them leave, with all that they have started."""
    for process in processes:
        process.terminate()
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LEAVE)
    for process in processes:
        process.kill()
        with suppress(ProcessLookupError, AttributeError):  # of the group; not on Windows
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
