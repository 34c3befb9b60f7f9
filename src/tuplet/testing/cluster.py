"""`check_cluster`: the versions, memory and speed of each worker of a cluster, and what is wrong with it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from tuplet.errors import UserError
from tuplet.learn.train import train
from tuplet.system.blocks import as_executor
from tuplet.system.cluster import Cluster, connect
from tuplet.system.memory import available_memory
from tuplet.system.tables import Displayable, TextTable, plural
from tuplet.system.worker_calls import process_info, read_text

GAMES = 1000  # of training, to measure the speed
NETWORK = "5x4"  # small enough for every machine
_TIMEOUT = 180  # seconds for that, with compiling


class WorkerReport(NamedTuple):
    """A worker; what is not known is empty, or 0."""

    name: str
    address: str
    machine: str
    tuplet: str
    python: str
    threads: int
    memory: int  # free bytes
    moves_per_s: int
    sees_runs: bool
    wrong: str  # why it gets no work; empty if it does


@dataclass(frozen=True, repr=False)
class ClusterCheck(Displayable):
    """The workers of a cluster."""

    cluster: str
    runs: Path
    workers: list[WorkerReport]

    @property
    def fit(self) -> int:
        """Number of workers that can work."""
        return sum(not each.wrong for each in self.workers)

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        workers = [each._asdict() for each in self.workers]
        return {"cluster": self.cluster, "runs": str(self.runs), "workers": workers}

    def text_tables(self) -> list[TextTable]:
        """A row for each worker, and what is wrong with it."""
        rows = []
        for each in self.workers:
            memory = f"{each.memory / 1e9:.1f} GB" if each.memory else ""
            speed = f"{each.moves_per_s:,}" if each.moves_per_s else ""
            row = [each.name.removeprefix("tcp://"), each.machine, each.tuplet, each.python, str(each.threads)]
            rows.append([*row, memory, speed, "yes" if each.sees_runs else "no", "no" if each.wrong else "yes"])
        columns = ("worker", "machine", "tuplet", "Python", "threads", "memory", "moves/s", "sees runs", "works")
        notes = [f"{each.name} ({each.address}) {each.wrong}." for each in self.workers if each.wrong]
        notes.append(f"{plural(self.fit, 'worker')} of {len(self.workers)} can work.")
        if blind := [each.name for each in self.workers if not each.sees_runs and not each.wrong]:
            notes.append(
                f"{', '.join(blind)} cannot see {self.runs}: weights are sent there, but sweep train and studies "
                "cannot train runs there."
            )
        if self.fit:
            notes.append(
                f"Memory: what is free. Moves/s: {NETWORK} learns {GAMES:,} games, one thread per worker, all at once."
            )
        title = f"The cluster at {self.cluster}"
        return [TextTable(title, columns, rows, notes, words=(0, 1, 2, 3, 7, 8))]


def check_cluster(cluster: Any, runs: str | Path = "runs", *, tls: str | Path | None = None) -> ClusterCheck:
    """Ask every worker of a cluster for its versions and memory, and measure how fast it trains.

    The cluster is a text as in `tuplet.cluster`, a cluster, or a Dask client.
    """
    opened: Any = connect(cluster, tls) if isinstance(cluster, str) else nullcontext(as_executor(cluster))
    with opened as workers:
        if not isinstance(workers, Cluster):
            raise UserError("a cluster is an address, a scheduler file, or a Dask client")
        where = cluster if isinstance(cluster, str) else workers.client.scheduler.address
        return ClusterCheck(where, Path(runs), _reports(workers, Path(runs).resolve()))


def _reports(workers: Cluster, runs: Path) -> list[WorkerReport]:
    client, members = workers.client, workers.members
    client.sync(members.settle)
    answering = [*members.workers, *members.refused]
    infos, free = (client.run(each, workers=answering, on_error="return") for each in (process_info, available_memory))
    existing = next(each for each in (runs, *runs.parents) if each.is_dir())
    mark = existing / f".seen-{uuid4().hex}"
    mark.write_text(mark.name)
    try:
        seen = client.run(read_text, str(mark), workers=answering, on_error="return")
    finally:
        mark.unlink()
    speeds = {each: client.submit(speed, workers=[each], pure=False) for each in members.workers}
    reports = []
    for address, worker in client.scheduler_info(n_workers=-1)["workers"].items():
        info, memory, moves = infos.get(address), free.get(address), 0
        info = info if isinstance(info, dict) else {}
        wrong = members.refused[address].why if address in members.refused else ""
        if address in speeds:
            try:
                moves = speeds[address].result(timeout=_TIMEOUT)
            except Exception as error:  # reported, whatever it is
                wrong = f"cannot train: {type(error).__name__}: {error}"
        elif not wrong:
            wrong = "does not answer"
        name, threads = str(worker.get("name", address)), int(worker["nthreads"])
        machine, version, python = (str(info.get(key, "")) for key in ("machine", "tuplet", "python"))
        size, sees_runs = memory if isinstance(memory, int) else 0, seen.get(address) == mark.name
        reports.append(WorkerReport(name, address, machine, version, python, threads, size, moves, sees_runs, wrong))
    return sorted(reports, key=lambda each: (len(each.name), each.name))


def speed() -> int:
    """Moves per second that this worker learns from."""
    train(NETWORK, games=20, progress=False)  # compiles, or reads the cache
    return int(train(NETWORK, games=GAMES, progress=False).metrics[-1]["moves_per_s"])
