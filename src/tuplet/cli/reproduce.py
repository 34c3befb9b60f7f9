"""`tuplet reproduce`: a published experiment, run again."""

from __future__ import annotations

import json
from typing import Annotated

from cyclopts import Group, Parameter

from tuplet.cli.common import Cluster, Json, Out, Threads, Tls, long_call, note, show_result, show_tables

OF_STUDY = Parameter(group=Group.create_ordered("Settings of some studies"))
Text = Annotated[str | None, OF_STUDY]


def reproduce(
    name: str | None = None,
    /,
    *,
    scale: float = 1.0,
    seed: int = 0,
    sims: Annotated[int | None, OF_STUDY] = None,
    board: Text = None,
    net: Text = None,
    times: Text = None,
    recipes: Text = None,
    keep: Annotated[bool, OF_STUDY] = False,
    player: Text = None,
    downgrade: Annotated[int | None, OF_STUDY] = None,
    learners: Text = None,
    threads: Threads = None,
    cluster: Cluster = None,
    tls: Tls = None,
    out: Out = None,
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
    seed
        Random seed. The same seed gives the same result.
    sims
        Studies of search: simulations per move. [default: the study's]
    board
        regret: the boards. [default: 2x2 2x3]
    net
        Studies of learning: the network. [default: 8g in tuples, otherwise 4x6]
    times
        leaderboard: how long each recipe learns. looking-ahead: the time limits per move. Several
        times in quotes: "1m 3m 10m", "0.1ms 1ms". [default: the study's]
    recipes
        leaderboard: the recipes, each at all of these times or at its own: "grown quick@1m".
        [default: those that lead at some time, and the published one]
    keep
        leaderboard: also keep the weights of the runs (up to a gigabyte each).
    player
        looking-ahead: the player, a run folder or a weight file. [default: strong]
    downgrade
        looking-ahead: search boards with this tile or a larger one as if their large tiles were
        half as big. [default: never]
    learners
        rounds: the numbers of learners: "1 4". [default: 1 2 4 8 16]
    threads
        Number of games or runs at a time. It does not change the result. [default: all cores]
    out
        The folder for its games, pictures and report. [default: studies/NAME]

    Examples
    --------
    tuplet reproduce
    tuplet reproduce ewn-c --scale 0.1
    tuplet reproduce leaderboard --times "1m 3m" --recipes "grown quick" --out studies/mine

    """
    import tuplet
    from tuplet.studies.reproduce import STUDIES, Listed, folder_of

    if name is None:
        if json_:
            print(
                json.dumps({name: {"about": study.about, "takes": study.duration} for name, study in STUDIES.items()})
            )
        else:
            show_tables(Listed().text_tables())
        return
    with long_call(json_, cluster, tls) as call:
        result = tuplet.reproduce(
            name,
            scale=scale,
            out=out,
            seed=seed,
            sims=sims,
            board=board,
            net=net,
            times=times,
            recipes=recipes,
            player=player,
            downgrade=downgrade,
            learners=learners,
            keep=keep or None,
            threads=threads,
            **call,
        )
    show_result(result, json_)
    note(f"The report is {folder_of(name, out) / 'report.html'}.")
