"""Commands to play and to look into games: play, serve, analyze, review."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tuplet.agents.lookahead import LookaheadOptions
from tuplet.cli.common import (
    INTERRUPTED,
    check_writable,
    long_call,
    note,
    progress_display,
    show_result,
    show_tables,
    stop_on_signals,
)
from tuplet.cli.options import LOOKAHEAD, Force, Json, Out, Plot, with_settings
from tuplet.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

    from tuplet.arena.review import MoveReview, Review
    from tuplet.games.game import Game
    from tuplet.games.record import Record
    from tuplet.games.tree import TreeNode, TreeView


SPEEDS = 8  # as many as a renderer has pauses


@with_settings(LookaheadOptions, LOOKAHEAD)
def play(
    game: str,
    /,
    *,
    agent: str | None = None,
    watch: bool = False,
    against: str | None = None,
    side: str = "first",
    speed: int | None = None,
    board: str | None = None,
    spawn4: float | None = None,
    placement: str = "random",
    seed: int | None = None,
    out: Out = None,
    **lookahead: Any,
) -> int:
    """Play 2048, or another game against an agent, or watch agents play.

    - 2048: arrows (or w a s d) move, h gives a hint, u takes back, n starts a new game, q quits.
    - Other games: type a move's number, or use arrows and Enter; t shows the agent's analysis, h
      gives a hint, u takes back, n starts a new game, q quits. EWN: before the first move, p places
      the cubes as recommended.
    - Watching: space pauses, + and - change the speed, q quits.

    Parameters
    ----------
    game
        2048, 2048:board=3x3,spawn4=0.2, ewn, ewn-6x7, another variant of EWN such as
        ewn:board=4x4,cubes=3, or your own game: path/to/file.py:GAME.
    agent
        2048: the agent that gives hints or plays: a run folder, a weight file, small or strong (the
        players that come with tuplet), random, greedy, mcts:sims=100,
        expectimax:depth=2,values=RUN, module:Class. Other games: your opponent. [default: small for
        2048, expectimax:depth=3 on its smaller boards, best for EWN, mcts for other games]
    watch
        Watch the agent play.
    against
        Two-player games: the second agent to watch. [default: the same as the first]
    side
        Your side (when watching: the first agent's): first, second, random, or its name (red or
        blue in EWN; red moves first).
    speed
        How fast agents move, from 1 (a second or two per move) to 8 (no pause). [default: 5 for
        2048, 3 for other games]
    board
        2048: the board, from 2x2 to 4x4. [default: the agent's, otherwise 4x4]
    spawn4
        2048: the probability that a new tile is a 4. [default: as trained, otherwise 0.1]
    placement
        EWN: how the cubes are placed: random; recommended, as tuplet analyze ewn --placement finds
        it, for both sides; or your cubes' numbers on your starting squares, such as 156243 (your
        opponent then places its own as recommended).
    seed
        Random seed. [default: different each time]
    out
        Add the games to this file of games, a line of text each.

    Examples
    --------
    tuplet play 2048
    tuplet play 2048 --agent small --watch
    tuplet play ewn --agent hard --side blue --out games.jsonl
    tuplet play ewn --placement recommended

    """
    from tuplet.agents.registry import default_agent
    from tuplet.cli.interactive import InteractiveGame
    from tuplet.games.registry import game as find_game
    from tuplet.kernel import as_seed
    from tuplet.system.tables import plural

    if out is not None:
        _check_games(out)
    seed = random.SystemRandom().getrandbits(32) if seed is None else seed
    as_seed(seed)
    chosen = find_game(game)
    if chosen.players == 1 and against is not None:
        raise UserError(f"--against needs a two-player game (got {game})")
    if against is not None and not watch:
        raise UserError("--against names the second of two agents: add --watch")
    for name, value in (("board", board), ("spawn4", spawn4), *lookahead.items()):
        if value is not None and chosen.family != "2048":
            raise UserError(f"--{name} is only for 2048 (got {game})")
    if speed is not None and not 1 <= speed <= SPEEDS:
        raise UserError(f"--speed must be 1 to {SPEEDS} (got {speed})")
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not watch and not on_terminal:
        raise UserError("playing needs a terminal; to let agents play, use --agent and --watch")
    made = None
    with progress_display():  # something may have to be compiled
        if chosen.family == "2048":
            chosen, agent, made = _fit(game, board, spawn4, agent, seed, lookahead)
        agent = agent or default_agent(chosen)
        placed = "" if placement == "random" else placement
        session = InteractiveGame(chosen, agent, (against or agent) if watch else None, side, seed, made, placed)
    speed = session.renderer.speed if speed is None else speed
    interrupted = False
    try:
        if on_terminal:
            interrupted = session.run(speed - 1)
        else:
            session.play_through()
    finally:
        session.close()
        if out is not None:
            games = session.save(out)
            note(f"Saved in {out}: {plural(games, 'game')}." if games else "Nothing is saved: no move was made.")
    return INTERRUPTED if interrupted else 0


def _check_games(out: Path) -> None:
    """Refuse a file that is not one of games, to which games could be added."""
    from tuplet.system.file_types import describe_file

    check_writable(out, force=True)
    if out.is_file() and not describe_file(out).startswith(("games ", "empty")):
        raise UserError(f"{out} exists and is {describe_file(out)}, not a file of games: name another file")


def _fit(
    game: str, board: str | None, spawn4: float | None, agent: str | None, seed: int, lookahead: dict[str, Any]
) -> tuple[Game, str, Any]:
    """A game of 2048, the agent's name, and the agent; board and tiles are the agent's unless they are named."""
    from tuplet.agents.agent import make_agent
    from tuplet.agents.registry import default_agent
    from tuplet.games.g2048.game import Game2048

    chosen = Game2048.from_spec(game, board, spawn4)
    any_board, any_spawn4 = board is None and "board=" not in game, spawn4 is None and "spawn4=" not in game
    given = {name: value for name, value in lookahead.items() if value is not None}
    if agent is None:
        agent = default_agent(chosen)
        if given and agent.startswith("expectimax") and "downgrade" not in given:
            agent, given = "expectimax:" + ",".join(f"{name}={value}" for name, value in given.items()), {}
    player: Any = make_agent(agent, chosen, seed, spawn4=None if any_spawn4 else chosen.spawn4, **given)
    size = chosen.rows, chosen.columns
    network = getattr(player, "network", None)
    own = network.size if network is not None else (player.rows, player.columns) if hasattr(player, "rows") else size
    if own != size and not any_board:
        raise UserError(f"{agent} plays {own[0]}x{own[1]} boards, not {size[0]}x{size[1]}")
    expected = getattr(player, "spawn4", None)
    share = expected if any_spawn4 and expected is not None else chosen.spawn4
    return Game2048(own, share), agent, player


def serve(
    *,
    port: int | None = None,
    host: str = "127.0.0.1",
    runs: Path = Path("runs"),
    train: bool = False,
    game: list[str] | None = None,
    token: str | None = None,
    allowed_host: list[str] | None = None,
    open_: Annotated[bool, Parameter(name="--open", negative="--no-open")] = True,
) -> None:
    """Open the page in your browser: play, analyse, and watch agents think. Ctrl-C ends it.

    The page has an HTTP/JSON API under /api/ that gives the same answers as --json. The page /api
    documents it.

    Parameters
    ----------
    port
        The port to listen on; 0 for any free port. [default: 2048, or the next free port]
    host
        The address to listen on. By default only this machine can connect. With another address
        (0.0.0.0 for all networks) anyone who has the token can.
    runs
        The folder of training runs to choose from.
    train
        Let the page start, stop, continue, change and delete runs in that folder. They go on when
        the page is closed and when the server ends; tuplet resume continues them, too.
    game
        A game of your own to offer: path/to/file.py:GAME. May be repeated.
    token
        The token others need to connect. [default: a new one each time]
    allowed_host
        The public name of a proxy in front of the server, such as tuplet.example.org. May be
        repeated. Clients then need the token.
    open_
        Open the browser.

    Examples
    --------
    tuplet serve
    tuplet serve --port 8000 --no-open
    tuplet serve --train --runs runs
    tuplet serve --game examples/connect4.py:CONNECT4

    """
    import tuplet
    from tuplet.system.stop import Stop

    def ready(address: str) -> None:
        print(f"The page: {address}   (Ctrl-C ends it)", flush=True)
        if open_:
            _open_browser(address)

    stop = Stop()
    with stop_on_signals(stop):
        tuplet.serve(
            port=port,
            host=host,
            runs=runs,
            train=train,
            rules=game or (),
            token=token,
            allowed_hosts=allowed_host or (),
            ready=ready,
            stop=stop,
        )
    note("Closed.")


def _open_browser(address: str) -> None:
    """Open the page in a browser if there is a screen, without waiting for it."""
    import os
    import threading
    import webbrowser

    screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    if screen:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


@with_settings(LookaheadOptions, LOOKAHEAD)
def analyze(
    game: str,
    position: str | None = None,
    /,
    *,
    agent: str | None = None,
    tree: int | None = None,
    share: float | None = None,
    placement: bool = False,
    out: Out = None,
    plot: Plot = None,
    force: Force = False,
    seed: int = 0,
    json_: Json = False,
    **lookahead: Any,
) -> int:
    """Show the value of each move in a position, or how to place the cubes of EWN.

    The intervals of mcts and mcs are ± 1.96 standard errors over the simulations. They are not
    confidence intervals of a move's true value, because the search chose what to simulate.

    Parameters
    ----------
    game
        2048, 2048:board=3x3, ewn, ewn-6x7, another variant of EWN, or your own game:
        path/to/file.py:GAME.
    position
        2048: the sixteen tiles row by row, 0 for empty: "2,0,0,4, 0,0,8,2, ..." (fewer on a smaller
        board). Other games: their notation, such as
        "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2". [default: the first position]
    agent
        The agent to ask. 2048: a run folder, a weight file, the table of an exact solution,
        mcts:sims=1000, ... Other games: mcts:sims=20000, alphabeta:depth=10, hard, ...
        [default: small for 2048, best for EWN, mcts for other games]
    tree
        Show the search tree of mcts or mcs down to this depth (at most the 400 most visited nodes).
    share
        Show only the nodes of the tree with at least this share of the visits, such as 0.01.
    placement
        EWN with a rolled die: show which arrangements of the cubes to choose at the start, by games
        between all of them (half a minute for ewn). --agent names learned values. [default: those
        that come with tuplet, otherwise random games]
    out
        Draw the search tree into this SVG file.
    plot
        Draw how the visits and values of the moves grew during the search: .svg, .png or .pdf.
    seed
        Random seed.

    Examples
    --------
    tuplet analyze 2048 "2,4,8,16,0,2,64,32,4,8,256,128,0,2,512,1024" --depth 2
    tuplet analyze ewn --placement
    tuplet analyze ewn-6x7 --agent mcts --out tree.svg --plot growth.png

    """
    import tuplet
    from tuplet.games.tree import as_tree_picture
    from tuplet.system.pictures import as_picture

    if placement:
        others = {"a position": position, "--tree": tree, "--share": share, "--out": out, "--plot": plot, **lookahead}
        for name, value in others.items():
            if value is not None:
                raise UserError(f"--placement does not go with {name if ' ' in name or '-' in name else f'--{name}'}")
        with long_call(json_) as call:
            found = tuplet.placement(game, agent, seed=seed, **call)
        show_result(found, json_)
        return 0
    if out is not None:
        as_tree_picture(out)
    if plot is not None:
        as_picture(plot)
    check_writable(out, plot, force=force)
    kept_tree: Any = True if out is not None and tree is None and share is None else tree
    with long_call(json_) as call:
        result = tuplet.analyze(
            game, position, agent, tree=kept_tree, share=share, growth=plot is not None, seed=seed, **lookahead, **call
        )
    pictures = []
    if out is not None and result.tree is not None:
        pictures.append(result.tree.save(out))
    if plot is not None and result.growth is not None:
        pictures.append(result.growth.plot(plot))
    if not json_:
        print(result.position)
        print()
    show_result(result, json_)
    if not json_ and result.tree is not None and (tree is not None or share is not None):
        print()
        show_tree(result.tree)
    for path in pictures:
        note(f"Drawn: {path}")
    if result.interrupted:
        how_far = result.note.partition(";")[0].partition("\n")[0]
        note(f"Stopped early: the result so far is shown ({how_far}).")
    return INTERRUPTED if result.interrupted else 0


@with_settings(LookaheadOptions, LOOKAHEAD, defaults={"depth": "1, unless --time is given"})
def review(
    record: Annotated[str, Parameter(allow_leading_hyphen=True)],  # -
    /,
    *,
    agent: str | None = None,
    number: int = 1,
    top: int = 5,
    json_: Json = False,
    **lookahead: Any,
) -> None:
    """Review a recorded game: what each move cost, what was luck, and the costliest moves.

    EWN and other games for two: what the dice gave each side and what its moves cost, in probability
    of winning; with the probability at the start and the judge's re-estimates it adds up to the result.

    2048: a move's loss is the value of the best move, found by search, minus the value of the move that
    was played. A move is best (loss 0), good (under 1 % of the score still expected), inaccurate
    (up to 5 %) or a blunder. Accuracy is 100 % if every move was as good as the best, and 0 % if
    the moves gave up as much as random moves would. Luck is what a new tile changed, compared with
    the average over all tiles that could have come. A re-estimate is how much the
    judge's value of a board changes once the move has been made. The score expected at the start, luck, mistakes and
    re-estimates add up to the final score.

    Parameters
    ----------
    record
        A file that tuplet play --out, tuplet eval --out or tuplet match --out wrote, or a game of
        2048verse; a single hyphen for standard input; or the text of one game.
    agent
        The judge: a run folder, a weight file, a table of tuplet solve, or a search. [default:
        small, the player that comes with tuplet; on boards of up to six cells, the exact solution;
        games for two: mcts:sims=5000]
    number
        The number of the game in the file, counted from 1.
    top
        How many of the costliest moves to show.

    Examples
    --------
    tuplet review games.txt
    tuplet review games.txt --number 2 --agent runs/first --depth 2
    tuplet review match.jsonl --number 2 --agent mcts:sims=20000

    """
    import tuplet
    from tuplet.arena.review_two import TwoPlayerReview

    if top < 0:
        raise UserError(f"--top must be 0 or more (got {top})")
    played = _read(record, number)
    with long_call(json_) as call:
        result = tuplet.review(played, agent, **lookahead, **call)
    if json_ or isinstance(result, TwoPlayerReview):
        show_result(result, json_)
    else:
        _show(result, top)


def _read(record: str, number: int) -> Record:
    """A game of a file, of standard input, or of the text itself."""
    from tuplet.games.formats import read_game

    if record != "-":
        return read_game(record, number, any_game=True)
    try:
        return read_game(sys.stdin.read(), number, any_game=True)
    except UserError as error:
        raise UserError(f"standard input: {error}") from None


def _show(result: Review, top: int) -> None:
    """Totals, what the score is made of, then the costliest moves with boards."""
    from rich.console import Console

    console = Console(highlight=False)
    show_tables(result.text_tables()[:2])
    for move in result.worst(top):
        console.print()
        _moment(console, move)


def _moment(console: Console, move: MoveReview) -> None:
    """The board, and side by side what the best move and the played one make of it."""
    from rich.table import Table
    from rich.text import Text

    from tuplet.cli.draw_2048 import grid

    part = f" ({100 * move.lost_share:.1f} %)"
    word = "  blunder" if move.blunder else ""
    console.print(f"[bold]Move {move.number:,}[/] cost {move.loss:,.1f} points{part}{word}")
    table = Table.grid(padding=(0, 2, 0, 0))
    boards = [move.board, *(move.board.move(name)[0] for name in (move.best, move.played))]
    table.add_row(*(grid(board, 6, edges=False) for board in boards))
    table.add_row(
        "",
        Text(f"best: {move.best}, {move.value:,.1f}", style="green"),
        Text(f"played: {move.played}, {move.played_value:,.1f}", style="red"),
    )
    console.print(table)


def show_tree(view: TreeView) -> None:
    """With branches and colours at a terminal, as indented text elsewhere."""
    if not sys.stdout.isatty():
        print(view)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.print(_branch(view, view.root, None))
    for line in view.notes():
        console.print(Text(line, style="dim"))


def _branch(view: TreeView, node: TreeNode, parent: TreeNode | None) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    visits, share, value, ci95 = view.figures(node)
    chance = node.chance is not None
    line = Text(view.label(node, parent), style="italic" if chance else "bold")
    colour = ""
    if node.value is not None and not view.points:
        colour = "green" if node.value >= 0.6 else "red" if node.value <= 0.4 else "yellow"
    line.append(f"  {value}", style=f"{'bold ' if node.proven else ''}{colour}".strip())
    line.append(f"  {ci95}", style="bold" if node.proven else "dim")
    line.append(f"  {visits}", style="not bold not italic")
    line.append(f"  {share}", style="dim")
    tree = Tree(line, guide_style="dim")
    for child in node.children:
        tree.add(_branch(view, child, node))
    if node.left_out and node.children:
        tree.add(Text(f"... {node.left_out:,} more", style="dim"))
    return tree
