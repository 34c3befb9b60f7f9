"""`check_cluster`: what does each worker of a cluster have, and what is wrong with it?"""

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

GAMES = 1000  # of learning, that a speed is measured by
NETWORK = "5x4"  # whose tables every machine has room for
_WAIT = 180  # seconds that a worker has for it, compiling included


class WorkerReport(NamedTuple):
    """A worker; what it did not tell is nothing, or 0."""

    name: str
    address: str
    machine: str
    tuplet: str
    python: str
    threads: int
    memory: int  # bytes that are free there
    moves_per_s: int
    sees_runs: bool
    wrong: str  # why it gets no work; nothing if it does


@dataclass(frozen=True, repr=False)
class ClusterCheck(Displayable):
    """What each worker has."""

    cluster: str
    runs: Path
    workers: list[WorkerReport]

    @property
    def fit(self) -> int:
        """How many can work."""
        return sum(not each.wrong for each in self.workers)

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        workers = [each._asdict() for each in self.workers]
        return {"cluster": self.cluster, "runs": str(self.runs), "workers": workers}

    def text_tables(self) -> list[TextTable]:
        """A line for each, and what is wrong below."""
        rows = [
            [
                each.name.removeprefix("tcp://"),
                each.machine,
                each.tuplet,
                each.python,
                str(each.threads),
                f"{each.memory / 1e9:.1f} GB" if each.memory else "",
                f"{each.moves_per_s:,}" if each.moves_per_s else "",
                "yes" if each.sees_runs else "no",
                "no" if each.wrong else "yes",
            ]
            for each in self.workers
        ]
        columns = ("worker", "machine", "tuplet", "Python", "threads", "memory", "moves/s", "sees runs", "works")
        notes = [f"{each.name} ({each.address}) {each.wrong}." for each in self.workers if each.wrong]
        notes.append(f"{plural(self.fit, 'worker')} of {len(self.workers)} can work.")
        blind = [each.name for each in self.workers if not each.sees_runs and not each.wrong]
        if blind:
            notes.append(
                f"{', '.join(blind)} cannot see {self.runs}: weights are sent there, but runs are "
                "not learned there (by sweep train, and by studies)."
            )
        if self.fit:
            notes.append(
                f"Memory: what is free. Moves/s: {NETWORK} learns {GAMES:,} games, one thread a worker, all at once."
            )
        title = f"The cluster at {self.cluster}"
        return [TextTable(title, columns, rows, notes, words=(0, 1, 2, 3, 7, 8))]


def check_cluster(cluster: Any, runs: str | Path = "runs", *, tls: str | Path | None = None) -> ClusterCheck:
    """Ask every worker of a cluster what it has, and let it learn for a moment.

    The cluster is named as in `tuplet.cluster`, or is one, or a Dask client.
    """
    if isinstance(cluster, str):
        made: Any = connect(cluster, tls)
    else:
        made = nullcontext(as_executor(cluster))
    with made as workers:
        if not isinstance(workers, Cluster):
            raise UserError("a cluster is an address, a scheduler file, or a Dask client")
        where = cluster if isinstance(cluster, str) else workers.client.scheduler.address
        return ClusterCheck(where, Path(runs), _checked(workers, Path(runs).resolve()))


def _checked(workers: Cluster, runs: Path) -> list[WorkerReport]:
    client, members = workers.client, workers.members
    client.sync(members.settle)
    there = client.scheduler_info(n_workers=-1)["workers"]
    answer = [*members.workers, *members.refused]
    known, free = (client.run(each, workers=answer, on_error="return") for each in (process_info, available_memory))
    there_is = next(each for each in (runs, *runs.parents) if each.is_dir())  # the others will be
    mark = there_is / f".seen-{uuid4().hex}"
    mark.write_text(mark.name)
    try:
        seen = client.run(read_text, str(mark), workers=answer, on_error="return")
    finally:
        mark.unlink()
    asked = {each: client.submit(speed, workers=[each], pure=False) for each in members.workers}
    found = []
    for address, worker in there.items():
        here, memory, moves = known.get(address), free.get(address), 0
        here = here if isinstance(here, dict) else {}
        wrong = members.refused[address].why if address in members.refused else ""
        if address in asked:
            try:
                moves = asked[address].result(timeout=_WAIT)
            except Exception as error:  # of whatever kind: it is told
                wrong = f"cannot learn: {type(error).__name__}: {error}"
        elif not wrong:
            wrong = "does not answer"
        found.append(
            WorkerReport(
                str(worker.get("name", address)),
                address,
                str(here.get("machine", "")),
                str(here.get("tuplet", "")),
                str(here.get("python", "")),
                int(worker["nthreads"]),
                memory if isinstance(memory, int) else 0,
                moves,
                seen.get(address) == mark.name,
                wrong,
            )
        )
    return sorted(found, key=lambda each: (len(each.name), each.name))


def speed() -> int:
    """Moves a second that this worker learns from."""
    train(NETWORK, games=20, progress=False)  # compiled, or read from the cache
    return int(train(NETWORK, games=GAMES, progress=False).metrics[-1]["moves_per_s"])
