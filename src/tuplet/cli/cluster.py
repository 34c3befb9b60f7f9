"""`tuplet cluster`: what a Dask cluster has."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from tuplet.cli.common import Json, Tls, long_call, show_result
from tuplet.cli.options import add_command, examples_text

cluster = App(name="cluster", help="Inspect a Dask cluster.")


def check(address: str, /, *, runs: Path = Path("runs"), tls: Tls = None, json_: Json = False) -> int:
    """Show each worker's versions, threads, memory and speed, and whether it sees the runs.

    The exit code is 1 if no worker can be used.

    Parameters
    ----------
    address
        tcp://host:8786, tls://host:8786, a scheduler file, or local:N.
    runs
        The folder of training runs that the workers should see.

    Examples
    --------
    tuplet cluster check local:2
    tuplet cluster check tcp://host:8786 --runs /shared/runs
    tuplet cluster check tls://host:8786 --tls keys --json

    """
    import tuplet

    with long_call(json_):
        result = tuplet.check_cluster(address, runs, tls=tls)
    show_result(result, json_)
    return 0 if result.fit else 1


cluster.help_epilogue = examples_text(add_command(cluster, check))
