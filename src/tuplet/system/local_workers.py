"""`local:N`: a Dask scheduler in this process, and workers that only this machine reaches.

Workers are started by the same command as on other machines: they do not run the main program again, and Ctrl-C does not reach
them. All of them end with this process, however it ends: a worker without a scheduler ends.
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
_LOOK = 1.0  # seconds between looks for dead workers
_END = 3.0  # seconds for a worker to end


@contextmanager
def local_workers(count: int) -> Iterator[Any]:
    """A Dask cluster of `count` local workers with one thread each; a worker that dies is started again."""
    from distributed import LocalCluster

    options = {"dashboard": False, "dashboard_address": f"{HOST}:0"}
    with LocalCluster(
        n_workers=0, host=HOST, dashboard_address=None, silence_logs=logging.CRITICAL, scheduler_kwargs=options
    ) as scheduler:
        processes = [_start(scheduler.scheduler_address, number) for number in range(count)]
        ended = threading.Event()

        def restart_dead() -> None:
            while not ended.wait(_LOOK):
                for number, process in enumerate(processes):
                    if process.poll() is not None:
                        processes[number] = _start(scheduler.scheduler_address, number)

        watch = threading.Thread(target=restart_dead, name="tuplet", daemon=True)
        watch.start()
        try:
            yield scheduler
        finally:
            ended.set()
            watch.join()
            _end(processes)


def _start(address: str, number: int) -> subprocess.Popen[bytes]:
    options = f"--host {HOST} --nthreads 1 --memory-limit 0 --no-nanny --no-dashboard --dashboard-address {HOST}:0"
    words = [address, "--name", str(number), *options.split(), "--death-timeout", "60"]
    path = [each or os.getcwd() for each in sys.path]  # noqa: PTH109  # as text, like the others
    return subprocess.Popen(
        # -P: a file of this folder must not hide a library of the same name
        [sys.executable, "-P", "-m", "distributed.cli.dask_worker", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "DASK_LOGGING__DISTRIBUTED": "critical"},
        stdin=subprocess.DEVNULL,
        stdout=2,  # what a user's class prints is not a result
        start_new_session=True,
    )


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    """End the workers, and the processes that they have started."""
    for process in processes:
        process.terminate()
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END)
    for process in processes:
        process.kill()
        with suppress(ProcessLookupError, AttributeError):  # of the group; not on Windows
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
