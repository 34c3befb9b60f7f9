"""`tuplet reproduce`: run an experiment again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tuplet.cli.common import Cluster, Json, Tls, sharing, show_result


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
    keep: bool = False,
    player: str | None = None,
    milliseconds: str | None = None,
    downgrade: int | None = None,
    learners: str | None = None,
    threads: int | None = None,
    cluster: Cluster = None,
    tls: Tls = None,
    json_: Json = False,
) -> None:
    """Rerun a published experiment and compare the results, with intervals and verdicts.

    Without a name, it lists the studies. Ctrl-C keeps what is finished; the same command continues.

    Parameters
    ----------
    name
        The study.
    scale
        The share of the study's games to play, such as 0.1 for a quick look.
    out
        The folder for its games, pictures and report. [default: studies/NAME]
    seed
        Random seed. The same seed gives the same result.
    sims
        Studies of search: simulations per move. [default: the study's]
    board
        regret: the boards. [default: 2x2 2x3]
    net
        Studies of learning: the network. [default: 8g in tuples, otherwise 4x6]
    minutes
        leaderboard: how many minutes each recipe learns: "1 3 10". [default: 1 3 10 30]
    recipes
        leaderboard: the recipes, each at all of these times or at its own: "grown quick@1".
        [default: those that lead at some time, and the published one]
    keep
        leaderboard: also keep the weights of the runs (up to a gigabyte each).
    player
        looking-ahead: the player, a run folder or a weight file. [default: strong]
    milliseconds
        looking-ahead: the time limits per move: "0.1 1 10". [default: 0.1 0.3 1 3 10]
    downgrade
        looking-ahead: search boards with this tile or a larger one as if their large tiles were
        half as big. [default: never]
    learners
        rounds: the numbers of learners: "1 4". [default: 1 2 4 8 16]
    threads
        Number of games or runs at a time. It does not change the result. [default: all cores]

    """
    import tuplet
    from tuplet.studies.reproduce import folder_of

    if name is None:
        _list(json_)
        return
    with sharing(cluster, tls, quiet=json_) as work:
        result = tuplet.reproduce(
            name,
            scale=scale,
            out=out,
            seed=seed,
            sims=sims,
            board=board,
            net=net,
            minutes=minutes,
            recipes=recipes,
            player=player,
            milliseconds=milliseconds,
            downgrade=downgrade,
            learners=learners,
            keep=keep or None,
            threads=threads,
            **work._asdict(),
        )
    show_result(result, json_)
    print(f"The report is {folder_of(name, out) / 'report.html'}.", file=sys.stderr)


def _list(as_json: bool) -> None:
    from tuplet.cli.common import show_tables
    from tuplet.studies.reproduce import STUDIES, Listed

    if as_json:
        print(json.dumps({name: study._asdict() for name, study in STUDIES.items()}))
    else:
        show_tables(Listed().text_tables())
