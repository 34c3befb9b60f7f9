"""Commands to measure: eval, compare, export, solve, regret, reproduce, bench."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from tuplet.agents.lookahead import LookaheadOptions
from tuplet.cli.common import check_writable, default_threads, long_call, note, report_stopped, show_result, show_tables
from tuplet.cli.options import (
    LOOKAHEAD,
    Cluster,
    Csv,
    Force,
    Json,
    Out,
    Seed,
    Spawn4,
    Threads,
    Tls,
    Workers,
    with_settings,
)
from tuplet.errors import UserError


@with_settings(LookaheadOptions, LOOKAHEAD)
def eval_(
    player: str,
    /,
    *,
    games: int = 1000,
    seed: Seed = 0,
    spawn4: Spawn4 = None,
    environment: str = "random",
    threads: Threads = None,
    cluster: Cluster = None,
    tls: Tls = None,
    out: Out = None,
    csv: Csv = None,
    force: Force = False,
    json_: Json = False,
    **lookahead: Any,
) -> int:
    """Evaluate a player of 2048: mean score and tiles, with 95 % intervals.

    Parameters
    ----------
    player
        A run folder, a weight file, small or strong (the players that come with tuplet; tuplet fetch
        strong gets the second), random, greedy, mcts:sims=100, expectimax:depth=2,values=RUN, or your
        own player: module:Class, file.py:Class, or with settings file.py:Class,depth=2 (tuplet new
        player writes one).
    games
        Number of games.
    environment
        What places the tiles: random, or your own class: module:Class, file.py:Class,tile=4.
    out
        Write every game to this file, a line of text each, for tuplet review. The games are the
        same but are played in Python, which is slower.
    csv
        Write a table of the games: score, largest tile and moves of each.

    Examples
    --------
    tuplet eval small
    tuplet eval runs/first --depth 2 --games 200
    tuplet eval mine.py:Corner --games 10 --out games.txt

    """
    import tuplet

    check_writable(out, csv, force=force)
    if out is not None and out.is_file():
        out.unlink()  # games are appended
    threads = default_threads(threads, player, environment, timed=lookahead.get("time") is not None)
    with long_call(json_, cluster, tls) as call:
        result = tuplet.evaluate(
            player, environment, games=games, threads=threads, seed=seed, spawn4=spawn4, out=out, **lookahead, **call
        )
    if csv is not None:
        result.csv(csv)
    show_result(result, json_)
    return report_stopped(result.interrupted, result.summary.games, games, "games")


@with_settings(LookaheadOptions, LOOKAHEAD)
def compare(
    *players: str,
    folder: Path | None = None,
    games: int = 1000,
    threads: Threads = None,
    spawn4: Spawn4 = None,
    seed: int = 0,
    json_: Json = False,
    **lookahead: Any,
) -> int:
    """Compare players of 2048: which is better, by how much, and how certain is that?

    Parameters
    ----------
    players
        Two or more players: run folders, weight files, or anything else tuplet eval takes.
    folder
        A folder whose players are compared, too: run folders, weight files, and classes in Python
        files, whose code is run.
    games
        Number of games for each player.
    seed
        Random seed. The same seed gives the same games as in tuplet eval.

    Examples
    --------
    tuplet compare small greedy
    tuplet compare runs/td runs/tc --games 5000
    tuplet compare small greedy --folder submissions --games 200 --json

    """
    import tuplet

    threads = default_threads(threads, *players, timed=lookahead.get("time") is not None)
    with long_call(json_) as call:
        options = {"folder": folder, "games": games, "threads": threads, "seed": seed, "spawn4": spawn4, **lookahead}
        result = tuplet.compare(*players, **options, **call)
    show_result(result, json_)
    played = sum(each.summary.games for each in result.evaluations)
    return report_stopped(result.interrupted, played, games * max(len(players), len(result.names)), "games")


def export(
    what: Literal["positions"],
    /,
    *,
    game: str = "2048",
    agent: str | None = None,
    positions: int = 10_000,
    explore: float = 0.1,
    seed: Seed = 0,
    out: Out = Path("positions.csv"),
    force: Force = False,
    json_: Json = False,
) -> int:
    """Write positions of games with the values of their moves and the best move, to learn from.

    Parameters
    ----------
    what
        What to write.
    game
        2048, ewn, ewn-6x7, or your own game: path/to/file.py:GAME.
    agent
        An agent that values moves: small, a run, alphabeta:depth=4, mcts:sims=1000.
        [default: the game's own]
    positions
        How many positions. Each is written once.
    explore
        The probability of a random move in the games, so that mistakes occur, too.
    out
        The file: .csv for a table, .jsonl for a line of JSON for each position.

    Examples
    --------
    tuplet export positions --agent small --positions 50000 --out train.csv
    tuplet export positions --game ewn --agent alphabeta:depth=3 --positions 1000 --out ewn.jsonl
    tuplet export positions --game examples/connect4.py:CONNECT4 --agent mcts:sims=500 --positions 500

    """
    import tuplet

    assert what == "positions"
    check_writable(out, force=force)
    with long_call(json_) as call:
        result = tuplet.export_positions(game, agent, positions=positions, explore=explore, seed=seed, out=out, **call)
    show_result(result, json_)
    note(f"Written: {out}")
    return report_stopped(result.interrupted, len(result.positions), positions, "positions")


def solve(
    game: str,
    /,
    *,
    board: str | None = None,
    spawn4: float | None = None,
    cubes: int | None = None,
    threads: Workers = None,
    out: Out = None,
    force: Force = False,
    json_: Json = False,
) -> None:
    """Solve 2048 on a small board, or the endings of EWN, exactly.

    2048: the expected score of perfect and of random play. 3x3 needs 1.4 GB of memory and half a
    minute on two threads; the other boards take seconds. EWN: the probability of winning in every
    position with few cubes, where the die is rolled; four cubes take seconds.

    Parameters
    ----------
    game
        2048, 2048:board=2x3,spawn4=0.2, ewn, or ewn:board=4x4,cubes=3.
    board
        2048: 2x2, 2x3, 3x2, 2x4, 4x2 or 3x3. [default: 2x3]
    spawn4
        2048: the probability that a new tile is a 4. [default: 0.1]
    cubes
        EWN: the most cubes of both sides together. [default: as many as make a table of 134 MB at
        most; ewn: 4]
    threads
        Number of threads. It does not change the result. [default: all cores]
    out
        Save the table of all values to this file, for tuplet analyze, review and regret (3x3: 585
        MB; ewn with four cubes: 79 MB).

    Examples
    --------
    tuplet solve 2048
    tuplet solve 2048 --board 3x3 --out 3x3.table
    tuplet solve ewn --cubes 4 --out ewn.table

    """
    import tuplet
    from tuplet.games.g2048.game import Game2048

    chosen: dict[str, Any]
    if game.startswith("ewn"):
        for name, value in (("board", board), ("spawn4", spawn4)):
            if value is not None:
                raise UserError(f"--{name} is only for 2048 (got {game})")
        chosen = {"game": game, "cubes": cubes}
    else:
        solved = Game2048.from_spec(game, board or (None if "board=" in game else "2x3"), spawn4)
        chosen = {"game": (solved.rows, solved.columns), "spawn4": solved.spawn4, "cubes": cubes}
    check_writable(out, force=force)
    with long_call(json_) as call:
        solution = tuplet.solve(**chosen, threads=default_threads(threads), **call)
    show_result(solution, json_)
    if out is not None:
        solution.save(out)
        note(f"Saved in {out}.")


def regret(
    player: str,
    /,
    *,
    game: str = "2048",
    board: str | None = None,
    table: Path | None = None,
    spawn4: float | None = None,
    games: int | None = None,
    cubes: int | None = None,
    positions: int | None = None,
    reached: str | None = None,
    seed: int = 0,
    threads: Threads = None,
    json_: Json = False,
) -> int:
    """Compare a player with perfect play, on a small board of 2048 or in endings of EWN.

    2048: the result is exact, because every board counts with its probability. With --games, games
    are played instead, and the result has 95 % intervals: use this for players that are slow or
    random. EWN: the win probability that is lost per move, in all endings where there is a choice,
    or with --positions in a sample.

    Parameters
    ----------
    player
        A run folder or weight file of a small board, random, greedy, mcts:sims=100, or
        module:Class.
    game
        2048, ewn, or another game of the EWN family with a rolled die.
    board
        2x2, 2x3, 3x2, 2x4, 4x2 or 3x3. [default: the network's or the table's, otherwise 2x3]
    table
        The solution saved by tuplet solve --out. [default: solve the board now]
    spawn4
        The probability that a new tile is a 4. [default: the table's, otherwise as trained,
        otherwise 0.1]
    games
        2048: play this many games instead of computing the exact result.
    cubes
        EWN: the most cubes of both sides together. [default: the table's, otherwise 4 in ewn]
    positions
        EWN: the size of the sample. [default: all positions]
    reached
        EWN: take the sample from games that this agent plays against itself, such as best:depth=2.
        [default: all positions of the table are equally likely]
    seed
        Random seed of these games or positions. The same seed gives the same ones.

    Examples
    --------
    tuplet regret runs/small-board --table 2x3.table
    tuplet regret mcts:sims=100 --board 2x2 --games 200
    tuplet regret mcts:sims=1000 --game ewn --cubes 3 --positions 1000

    """
    import tuplet

    if threads is None:
        threads = 1 if games is None and positions is None else default_threads(threads, player)
    with long_call(json_) as call:
        result = tuplet.regret(
            player,
            game=game,
            board=board,
            table=table,
            spawn4=spawn4,
            games=games,
            cubes=cubes,
            positions=positions,
            reached=reached,
            seed=seed,
            threads=threads,
            **call,
        )
    show_result(result, json_)
    planned, unit = (games, "games") if positions is None else (positions, "positions")
    done = result.as_json().get(unit, planned) if planned is not None else None
    return report_stopped(done != planned, done or 0, planned or 0, unit)


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
    threads: Workers = None,
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
        In studies of search: simulations per move. [default: the study's]
    board
        In regret: the boards. [default: 2x2 2x3]
    net
        In studies of learning: the network. [default: 8g in tuples, otherwise 4x6]
    times
        In leaderboard, how long each recipe learns; in looking-ahead, the time limits per move.
        Put several times in quotes: "1m 3m 10m", "0.1ms 1ms". [default: the study's]
    recipes
        In leaderboard: the recipes. Each learns for all of the times, or for its own: "grown
        quick@1m". [default: those that lead at some time, and the published one]
    keep
        In leaderboard: also keep the weights of the runs (up to a gigabyte each).
    player
        In looking-ahead: the player, a run folder or a weight file. [default: strong]
    downgrade
        In looking-ahead: search boards with this tile or a larger one as if their large tiles were
        half as big. [default: never]
    learners
        In rounds: the numbers of learners: "1 4". [default: 1 2 4 8 16]
    threads
        Number of games or runs at a time. It does not change the result. [default: all cores]
    out
        The folder for its games, pictures and report. [default: studies/NAME]

    Examples
    --------
    tuplet reproduce
    tuplet reproduce ewn-c --scale 0.1
    tuplet reproduce leaderboard --times "1m 3m" --recipes "grown quick"

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


def bench(
    game: str,
    /,
    *,
    threads: int = 1,
    net: str = "4x6",
    learner: Literal["td", "tc"] = "td",
    target: Literal["afterstate", "state"] = "afterstate",
    seed: int = 0,
    json_: Json = False,
) -> None:
    """Measure how fast this machine learns, plays and searches.

    - 2048: trains for 10,000 games to warm up, then times 3,000 games of training and 3,000 of
      greedy play.
    - ewn: times random games, tree search and alpha-beta on ewn-6x7, and tree search on ewn beside
      that of OpenSpiel, if it is installed.
    - Other games: times random games, tree search and alpha-beta.

    Parameters
    ----------
    game
        2048, ewn, or another game: ewn:board=4x4,cubes=3, path/to/file.py:GAME.
    threads
        Number of threads. They train one network (2048) or search separately (other games).
    net
        2048: the network.
    learner
        2048: the learning rule, td (lambda 0) or tc (lambda 0.5).
    target
        2048: learn the values of after-states or of states.
    seed
        Random seed. With one thread, the same seed gives the same games.

    Examples
    --------
    tuplet bench 2048
    tuplet bench 2048 --learner tc --threads 2
    tuplet bench ewn --json

    """
    import tuplet

    with long_call(json_) as call:
        result = tuplet.bench(game, threads=threads, net=net, learner=learner, target=target, seed=seed, **call)
    show_result(result, json_)
