"""`tuplet reproduce`: run an experiment again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tuplet.cli.working import Cluster, Json, Tls, sharing, show_result


def reproduce(
    name: str | None = None,
    /,
    *,
    scale: float = 1.0,
    out: Path | None = None,
    seed: int = 0,
    sims: int | None = None,
    board: str | None = None,
    net: str | None = None,
    minutes: str | None = None,
    recipes: str | None = None,
    keep: Annotated[bool, Parameter(negative="")] = False,
    player: str | None = None,
    milliseconds: str | None = None,
    downgrade: int | None = None,
    threads: int | None = None,
    cluster: Cluster = None,
    tls: Tls = None,
    json_: Json = False,
) -> None:
    """Run a published experiment again: ours beside the published, with intervals and verdicts.

    Without a name: list the studies. Ctrl-C keeps what is finished; the same command goes on.

    Parameters
    ----------
    name
        The study.
    scale
        The share of its games to play: 0.1 for a quick look.
    out
        The folder of its games, pictures and report. [default: studies/NAME]
    seed
        The same seed gives the same result.
    sims
        Simulations a move, where the study is about search. [default: the report's]
    board
        Boards, where the study is about small ones. [default: the study's]
    net
        The network, where the study is about learning. [default: the reports', 4x6]
    minutes
        How long each recipe learns, where the study is about time: "1 3 10". [default: 1 3 10 30]
    recipes
        Which recipes then, each at all of these times or at its own: "grown quick@1". [default:
        those that are ahead at some time, and the reports']
    keep
        Keep the weights of its runs then, too: up to a gigabyte each.
    player
        Who plays, where the study is about looking ahead: a run or a weight file. [default: strong]
    milliseconds
        What a move may take then: "0.1 1 10". [default: 0.1 0.3 1 3 10]
    downgrade
        See boards with this tile or a larger one lowered then. [default: never]
    threads
        How much of it is done at a time; the result is the same for any number. [default: all
        cores]

    """
    import tuplet
    from tuplet.studies.reproduce import folder_of

    if name is None:
        _list(json_)
        return
    with sharing(cluster, tls, quiet=json_) as work:
        result = tuplet.reproduce(
            name, scale=scale, out=out, seed=seed, sims=sims, board=board, net=net,
            minutes=minutes, recipes=recipes, player=player, milliseconds=milliseconds,
            downgrade=downgrade, keep=keep or None, threads=threads, **work._asdict(),
        )  # fmt: skip
    show_result(result, json_)
    print(f"The report is {folder_of(name, out) / 'report.html'}.", file=sys.stderr)


def _list(as_json: bool) -> None:
    from tuplet.cli.working import show_tables
    from tuplet.studies.reproduce import STUDIES, Listed

    if as_json:
        print(json.dumps({name: study._asdict() for name, study in STUDIES.items()}))
    else:
        show_tables(Listed().sheets())
