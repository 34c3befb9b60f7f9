"""`tuplet play`: a game in the terminal, yours or the agent's."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tuplet.agents.lookahead import LookaheadOptions
from tuplet.cli.common import INTERRUPTED, LOOKAHEAD, Out, check_writable, note, progress_display
from tuplet.cli.options import with_settings
from tuplet.errors import UserError

if TYPE_CHECKING:
    from tuplet.games.game import Game

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
    seed: int | None = None,
    out: Out = None,
    **lookahead: Any,
) -> int:
    """Play 2048, or another game against an agent, or watch agents play.

    - 2048: arrows (or w a s d) move, h gives a hint, u takes back, n starts a new game, q quits.
    - Other games: type a move's number, or use arrows and Enter; t shows the agent's analysis, h
      gives a hint, u takes back, n starts a new game, q quits.
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
    seed
        Random seed. [default: different each time]
    out
        Add the games to this file of games, a line of text each.

    Examples
    --------
    tuplet play 2048
    tuplet play 2048 --agent small --watch
    tuplet play ewn --agent hard --side blue --out games.jsonl

    """
    from tuplet.agents.listing import default_agent
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
        session = InteractiveGame(chosen, agent, (against or agent) if watch else None, side, seed, made)
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
    """A game of 2048, with what was not asked for as the agent knows it; the agent's name, and the agent."""
    from tuplet.agents.g2048 import make_player
    from tuplet.agents.listing import default_agent
    from tuplet.games.g2048.game import Game2048

    chosen = Game2048.from_spec(game, board, spawn4)
    any_board, any_spawn4 = board is None and "board=" not in game, spawn4 is None and "spawn4=" not in game
    given = {name: value for name, value in lookahead.items() if value is not None}
    if agent is None:
        agent = default_agent(chosen)
        if given and agent.startswith("expectimax") and "downgrade" not in given:
            agent, given = "expectimax:" + ",".join(f"{name}={value}" for name, value in given.items()), {}
    player: Any = make_player(agent, seed, spawn4=None if any_spawn4 else chosen.spawn4, **given)
    size = chosen.rows, chosen.columns
    network = getattr(player, "network", None)
    own = network.size if network is not None else (player.rows, player.columns) if hasattr(player, "rows") else size
    if own != size and not any_board:
        raise UserError(f"{agent} plays {own[0]}x{own[1]} boards, not {size[0]}x{size[1]}")
    expected = getattr(player, "spawn4", None)
    share = expected if any_spawn4 and expected is not None else chosen.spawn4
    return Game2048(own, share), agent, player
