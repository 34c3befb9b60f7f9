"""Commands for matches: match, tournament, grade, show, check, agent."""

from __future__ import annotations

import json
import os
import random
import sys
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tuplet.cli.common import (
    INTERRUPTED,
    check_writable,
    default_threads,
    in_pairs,
    long_call,
    note,
    run_resumable,
    show_result,
)
from tuplet.cli.options import TIME, Cluster, Csv, Force, GameOption, Html, Json, Out, Seed, Threads, Time, Tls
from tuplet.errors import UserError
from tuplet.system.tables import plural
from tuplet.system.text import in_one_line, sanitize

if TYPE_CHECKING:
    from tuplet.games.record import Record


def match(
    a: str,
    b: str,
    /,
    *,
    game: GameOption = "ewn-6x7",
    games: int = 1000,
    seed: Seed = 0,
    sprt: str | None = None,
    threads: Threads = None,
    cluster: Cluster = None,
    tls: Tls = None,
    out: Out = None,
    csv: Csv = None,
    force: Force = False,
    json_: Json = False,
) -> int:
    """Play a match between two agents, and report A's share of the points and Elo, with intervals.

    Games come in pairs: the same start and the same dice, with sides exchanged.

    Parameters
    ----------
    a
        An agent: easy, normal, hard, best, alphabeta:depth=10, mcts:sims=20000, mcs:sims=20000,
        exec:./program, module:Class, file.py:Class,depth=2. docs/ewn.md lists their settings.
    b
        Its opponent.
    games
        Number of games. An odd number is rounded up to whole pairs.
    sprt
        Stop as soon as a sequential test can decide between two differences in Elo: 0,20 asks
        whether A is no better or 20 Elo better.
    out
        Save every game to this file. If it has games of the same match, the match continues.
    csv
        Write a table of the games: who moved first, who won, and how.

    Examples
    --------
    tuplet match hard normal --games 200
    tuplet match mcts:results=rich,sims=20000 hard --out games.jsonl
    tuplet match exec:./agent easy --game ewn-6x7 --games 20 --sprt 0,20

    """
    import tuplet

    check_writable(csv, force=force or (out is not None and out.exists()))
    play = partial(tuplet.match, a, b, game, games=games, seed=seed, threads=default_threads(threads, a, b), sprt=sprt)
    return run_resumable(play, out, json_, cluster, tls, games=in_pairs(games), csv=csv)


def tournament(
    *agents: str,
    folder: Path | None = None,
    time: Time = None,
    memory: str | None = None,
    game: GameOption = "ewn-6x7",
    games: int = 200,
    seed: Seed = 0,
    threads: Threads = None,
    cluster: Cluster = None,
    tls: Tls = None,
    out: Out = None,
    html: Html = None,
    csv: Csv = None,
    force: Force = False,
    json_: Json = False,
) -> int:
    """Play a round-robin tournament; report a cross table and ratings with intervals.

    With --folder, every program in it plays, within limits of time and memory. This is no sandbox:
    the programs can read, write and send anything you can. Run only programs of people you trust,
    or run them as a separate user.

    Parameters
    ----------
    agents
        Agents: easy, normal, hard, ... At least two, or fewer with --folder.
    folder
        A folder of programs that speak the ewn-6x7 protocol: executable files, Python scripts, and
        folders with a file "run" (see docs/class.md). Each is named after its file or folder. A
        program that fails forfeits its game, and the tournament goes on.
    time
        Time limit per move for programs of the folder. [default: 2s]
    memory
        Memory limit for all processes of such a program together, such as 1GB (resident memory,
        checked ten times a second). [default: none]
    games
        Number of games per pairing. An odd number is rounded up to whole pairs.
    out
        Save every game to this file. If it has games of the same tournament, it continues.
    csv
        Write the table to this file, and the games beside it (table.csv and table-games.csv).

    Examples
    --------
    tuplet tournament easy normal hard
    tuplet tournament --folder submissions --games 10 --html table.html
    tuplet tournament mcts:c=0.2 mcts:c=1.0 --game ewn --out games.jsonl

    """
    import tuplet

    check_writable(html, csv, force=force or (out is not None and out.exists()))
    play = partial(
        tuplet.tournament,
        agents,
        game,
        games=games,
        folder=folder,
        time=time,
        memory=memory,
        seed=seed,
        threads=default_threads(threads, *agents, timed=folder is not None),
        html=html,
        csv=csv,
    )
    players = len(agents) + (0 if folder is None else _list_programs(folder))
    pairings = players * (players - 1) // 2
    return _name_files(run_resumable(play, out, json_, cluster, tls, games=in_pairs(games) * pairings), html, csv)


def _name_files(code: int, *files: Path | None) -> int:
    """Say which files were written; returns the exit code."""
    for file in filter(None, files):
        if file.is_file():
            note(f"Written: {file}")
    return code


def grade(
    folder: Path,
    /,
    *,
    bars: str = "easy>=50:40 normal>=50:30 hard>=50:30",
    time: Time = None,
    memory: str | None = None,
    game: GameOption = "ewn-6x7",
    games: int = 100,
    seed: Seed = 0,
    threads: Threads = None,
    cluster: Cluster = None,
    tls: Tls = None,
    out: Out = None,
    html: Html = None,
    csv: Csv = None,
    force: Force = False,
    json_: Json = False,
) -> int:
    """Let the programs of a class play against baselines, and give points for the bars they reach.

    The programs do not meet each other: for that, see tuplet tournament --folder. This is no sandbox.

    Parameters
    ----------
    folder
        The folder of programs, as in tuplet tournament.
    bars
        What to reach, and the points for it: easy>=50:40 is 40 points for a share of 50 %
        of the games against easy. Any agent can be a baseline.
    time
        Time limit per move for programs. [default: 2s]
    memory
        Memory limit for all processes of a program together, such as 1GB. [default: none]
    games
        Number of games of each program against each baseline.
    out
        Save every game to this file. If it has games of the same folder and bars, it continues.
    csv
        Write the points to this file, a row for each program.

    Examples
    --------
    tuplet grade submissions
    tuplet grade submissions --games 200 --csv points.csv --html games.html
    tuplet grade submissions --bars "easy>=60:50 mcts:sims=2000>=40:50" --out games.jsonl

    """
    import tuplet

    check_writable(html, csv, force=force or (out is not None and out.exists()))
    play = partial(
        tuplet.grade,
        folder,
        bars,
        game=game,
        games=games,
        time=time,
        memory=memory,
        seed=seed,
        threads=default_threads(threads, timed=True),
        html=html,
        csv=csv,
    )
    pairings = len(bars.split()) * _list_programs(folder)
    return _name_files(run_resumable(play, out, json_, cluster, tls, games=in_pairs(games) * pairings), html, csv)


def _list_programs(folder: Path) -> int:
    """Say which programs of a folder play, before hours go by; returns how many."""
    from tuplet.agents.protocol.subprocess_agent import submissions

    programs, skipped = submissions(folder)
    if programs:  # else an error says that there are none
        names = ", ".join(each.name for each in programs)
        note(sanitize(f"{plural(len(programs), 'program')} in {folder}: {names}"))
    for name, why in skipped:
        note(sanitize(f"{name} does not play: {why}"))
    return len(programs)


def show(
    file: Path,
    /,
    *,
    number: int | None = None,
    ply: int | None = None,
    game: str | None = None,
    out: Out = None,
    html: Html = None,
    csv: Csv = None,
    force: Force = False,
    json_: Json = False,
) -> None:
    """Show a saved match or tournament, or replay one of its games.

    Parameters
    ----------
    file
        A file that --out of tuplet match, tournament or play wrote.
    number
        Replay the game with this number, counted from 1.
    ply
        Only show the position after this many moves of the game.
    game
        The game, if it is your own, as the file names it: path/to/file.py:GAME. (A saved file alone
        never runs code.)
    out
        Draw that position (without --ply, the last one) to this SVG file instead.
    csv
        Write a table to this file. For a match: its games. For a tournament: ratings and scores,
        and beside it the games (table.csv and table-games.csv).

    Examples
    --------
    tuplet show games.jsonl
    tuplet show games.jsonl --number 1 --ply 12 --out position.svg
    tuplet show games.jsonl --html table.html --csv table.csv

    """
    from tuplet.arena.match_file import load, load_game
    from tuplet.arena.page import Reports
    from tuplet.games.registry import game as game_of

    if game is not None:
        game_of(game)
    if number is None and (ply is not None or out is not None):
        raise UserError("--ply and --out need a game of the file: add --number")
    if number is not None and (html is not None or csv is not None):
        raise UserError("--html and --csv are for the whole file: leave out --number")
    check_writable(out, html, csv, force=force)
    if number is not None:
        record = load_game(file, number)
        if out is not None:
            out.write_text(_svg(record, ply), encoding="utf-8")
        elif json_:
            print(json.dumps(record.as_json()))
        elif ply is not None:
            print(sanitize(str(_after(record, ply)[0])))
        else:
            _replay(record, number)
        return
    reports = Reports(html, csv)
    result = load(file)
    reports.write(result, file)
    show_result(result, json_)
    if result.interrupted and not json_:
        print(f"The {type(result).__name__.lower()} is not finished.")


def _replay(record: Record, number: int) -> None:
    """Print every position with the move made on it."""
    players = " - ".join(f"{record.name(side)} ({side})" for side in record.sides)
    print(sanitize(f"Game {number:,}: {players}, {record.start.game.name}"))
    for count, (position, move) in enumerate(record.replay(), 1):
        target = position.target(move) if hasattr(position, "target") else None
        to = f" to row {target[0] + 1}, column {target[1] + 1}" if target is not None else ""
        print(sanitize(f"\n{position}\n{count:>3}. {position.turn} plays {move}{to}"))
    print(sanitize(f"\n{record.position}"))
    if record.reason:
        loser = next(side for side in record.sides if side != record.winner)
        print(sanitize(f"{record.winner} has won: {loser} forfeits ({record.termination}): {record.reason}"))


def _after(record: Record, ply: int | None) -> tuple[Any, Any, str]:
    """The position after `ply` moves (None: all), the one before, and the move between them."""
    ply = len(record.moves) if ply is None else ply
    if not 0 <= ply <= len(record.moves):
        raise UserError(f"this game has {plural(len(record.moves), 'move')}, not {ply}")
    steps = list(record.replay())
    position = steps[ply][0] if ply < len(steps) else record.position
    return (position, *steps[ply - 1]) if ply else (position, None, "")


def _svg(record: Record, ply: int | None) -> str:
    from tuplet.games.ewn.game import position_svg

    position, before, move = _after(record, ply)
    if position.game.family != "ewn":
        return str(position._repr_svg_())
    cube = before.cubes.get((before.turn, int(move[0]))) if move[:1].isdigit() else None
    return position_svg(position, cube)


def check(
    program: str, /, *, time: Time = None, memory: str | None = None, games: int = 8, seed: int = 0, json_: Json = False
) -> int:
    """Test a program against the ewn-6x7 protocol.

    The program plays first and second, and many games in one process. It gets forced moves, unusual
    dice, long games, input that arrives in pieces, and input that ends early. For each problem you
    see what both sides wrote, the likely cause and what to do.

    The exit code is 0 if all is well (there may be warnings), 1 if the program has a problem, 2 if
    there is no such program, 130 if you stopped it.

    Parameters
    ----------
    program
        A program: ./agent, agent.py, "python3 agent.py --level 3", exec[time=1]:./agent.
    time
        Time limit per move. [default: 2s]
    memory
        Memory limit for all its processes together, such as 1GB. [default: none]
    games
        Number of games to play in one process. A few more are played in other processes.
    seed
        Random seed of setups, dice and the opponents' moves.

    Examples
    --------
    tuplet check ./agent
    tuplet check "python3 agent.py --level 3" --time 500ms
    tuplet check agent.py --games 20 --memory 1GB --json

    """
    import tuplet

    with long_call(json_) as call:
        result = tuplet.check(program, time=time, memory=memory, games=games, seed=seed, **call)
    show_result(result, json_)
    if result.interrupted:
        return INTERRUPTED
    return 0 if result.ok else 1


def agent(
    agent: str = "best",
    /,
    *,
    game: Literal["ewn-6x7", "ewn"] | None = None,
    protocol: Literal["course", "ntu"] = "course",
    time: Annotated[float, TIME] = 1.8,
    seed: int | None = None,
) -> int:
    """Play EWN on standard input and output, for a referee.

    - course (ewn-6x7): input is Red's cubes (6 digits), Blue's (6), the die (21), f or s; then the
      opponent's moves; after a game, y for another. Output: the agent's moves, two digits each.
    - ntu (ewn): a line is answered by a line: name, version, time_setting S, board_setting 5 6,
      ini R|B (six squares), get R|B DIE and twelve squares (a move such as E4 E5), exit.

    Parameters
    ----------
    agent
        The agent that plays: best, hard, mcts:results=rich, ... (see docs/ewn.md).
    game
        The game of the protocol: ewn-6x7 (course) or ewn (ntu).
    protocol
        The referee's protocol.
    time
        Time limit per move.
    seed
        Random seed. [default: different each time]

    Examples
    --------
    tuplet agent
    tuplet agent mcts:results=rich --time 900ms --seed 1
    tuplet agent best --protocol ntu

    """
    from tuplet.agents.protocol.session import GAME, converse, ready
    from tuplet.agents.registry import check_name
    from tuplet.agents.specs import Spec

    check_name(Spec(agent), "ewn")  # before the input is read
    named = GAME if protocol == "course" else "ewn"
    if game not in (None, named):
        raise UserError(f"--protocol {protocol} is for {named} (got --game {game})")

    @cache  # each once
    def complain(text: str) -> None:
        """Print a line on standard error, unless its reader has left or does not read."""
        with suppress(OSError, ValueError):
            if ready([], [sys.stderr.fileno()]):
                print(f"tuplet: {in_one_line(text)}", file=sys.stderr, flush=True)

    def make() -> object:
        from tuplet.agents.agent import make_agent

        return make_agent(agent, named)

    if sys.stdin is None:  # closed by the caller: the end of input
        return 0
    seed = random.SystemRandom().getrandbits(32) if seed is None else seed
    moves = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever an agent prints is no move
    if protocol == "ntu":
        from tuplet.agents.protocol.ntu import converse_ntu

        converse_ntu(make, time, seed, sys.stdin.fileno(), moves, complain)
    else:
        converse(make, agent, time, seed, sys.stdin.fileno(), moves, complain)
    return 0
