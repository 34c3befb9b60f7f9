"""`tuplet play`: a game in the terminal, yours or the agent's."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tuplet.agents import Player
    from tuplet.cli.keys import Keys
    from tuplet.games.g2048 import Board, Episode

PAUSES = (1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.005, 0.0)  # seconds a move, from slow to fast
FRAME = 0.02  # a terminal need not be drawn more often


def play(
    game: str,
    /,
    *,
    agent: str | None = None,
    watch: Annotated[bool, Parameter(negative="")] = False,
    against: str | None = None,
    side: Literal["red", "blue", "random"] = "red",
    speed: int | None = None,
    spawn4: float | None = None,
    depth: int | None = None,
    time: float | None = None,
    downgrade: int | None = None,
    seed: int | None = None,
    save: Path | None = None,
) -> int:
    """Play 2048 with the arrow keys, EWN against an agent, or watch agents play.

    Keys of 2048: arrows (or w a s d) move, h asks the agent for a hint, u takes back, q ends.
    Keys of EWN: the number of a move makes it (or arrows and Enter), t shows what the agent
    thought, h asks for a hint, u takes back, n begins a new game, q ends.
    Watching: space pauses, + and - change the speed, q ends.

    Parameters
    ----------
    game
        2048, ewn, ewn-6x7, or another of EWN's family, as in ewn:board=4x4,cubes=3.
    agent
        2048: who gives hints or plays: a run folder, a weight file, small (the player that comes
        with tuplet), random, greedy, mcts:sims=100, expectimax:depth=2,values=RUN, module:Class.
        EWN: the opponent. [default: small, EWN best]
    watch
        Let the agent play.
    against
        The second agent to watch in EWN. [default: the same as the first]
    side
        The side you have in EWN, or the first agent where two are watched. Red moves first.
    speed
        How fast agents play, from 1 (a move takes a second or two) to 8 (at once). [default: 5,
        EWN 3]
    spawn4
        The share of new tiles of 2048 that are fours. [default: as trained, else 0.1]
    depth
        How many of its moves a learned player of 2048 looks ahead. [default: 1]
    time
        Instead (or at most): its seconds a move.
    downgrade
        From this tile on, it sees large tiles as half of what they are.
    seed
        Of the tiles that appear, or of placement and dice. [default: different each time]
    save
        Append the game, as a line of text, to this file.

    """
    if save is not None and not save.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {save.parent} to save the game in")
    seed = random.SystemRandom().getrandbits(32) if seed is None else seed
    if game.startswith("ewn"):
        from tuplet.cli.play_ewn import play_ewn

        for name, value in (("spawn4", spawn4), ("depth", depth), ("time", time),
                            ("downgrade", downgrade)):  # fmt: skip
            if value is not None:
                raise ValueError(f"--{name} is of 2048, not of {game}")
        speed = 3 if speed is None else speed
        return play_ewn(game, agent, against, watch, side, speed, seed, save)
    if game != "2048":
        raise ValueError(f"{game!r} is not a game: 2048, ewn, ewn-6x7")
    if against is not None:
        raise ValueError("--against is of ewn, not of 2048")
    from tuplet.agents import LearnedPlayer, make_player
    from tuplet.cli.progress import tell_if_compiling
    from tuplet.formats.weights import SHIPPED
    from tuplet.games.g2048 import Board

    speed = 5 if speed is None else speed
    if not 1 <= speed <= len(PAUSES):
        raise ValueError(f"the speed is 1 to {len(PAUSES)}, not {speed}")
    tell_if_compiling()
    agent = agent or SHIPPED
    helper = make_player(
        agent, seed, depth=depth, time=time, downgrade=downgrade, spawn4=spawn4
    )  # fmt: skip
    if isinstance(helper, LearnedPlayer):
        helper.network.as_board(Board())  # refuses a network of smaller boards
    if spawn4 is None:
        spawn4 = helper.spawn4 if isinstance(helper, LearnedPlayer) else None
    return _play_2048(agent, helper, watch, speed, 0.1 if spawn4 is None else spawn4, seed, save)


def _play_2048(
    agent: str, helper: Player, watch: bool, speed: int, spawn4: float, seed: int,
    save: Path | None,
) -> int:  # fmt: skip
    from tuplet.agents import RandomEnvironment

    environment = RandomEnvironment(seed, spawn4)
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not watch and not on_terminal:
        raise ValueError("playing needs a terminal; to let an agent play, use --watch")
    table = _Table(helper, environment, agent if watch else "you")
    if on_terminal:
        table.at_terminal(watch, speed)
    else:
        table.run_through()
    if save is not None:
        with save.open("a", encoding="utf-8") as file:
            file.write(f"{table.episode}\n")
        print(f"Saved in {save}.", file=sys.stderr)
    return 0


class _Table:
    """A game on the table: the episode so far, and who sits there."""

    def __init__(self, helper: Player, environment: object, name: str) -> None:
        from tuplet.agents import RandomEnvironment
        from tuplet.arena.g2048 import open_episode, place
        from tuplet.games.g2048 import Episode

        assert isinstance(environment, RandomEnvironment)
        self.helper, self.environment = helper, environment
        self.episode = Episode(name, environment.name)
        self.message = ""
        self.past: list[Episode] = []
        open_episode(helper, environment)
        for _ in range(2):
            place(environment, self.episode)

    @property
    def board(self) -> Board:
        return self.episode.board

    def move(self, move: object) -> bool:
        """Make a move and let a tile appear; False if the move is illegal."""
        try:
            self.episode.slide(move)
        except ValueError:
            return False
        self.episode.place(*self.environment.place(self.board))
        return True

    def run_through(self) -> None:
        """Without a terminal: play to the end, and print it."""
        while not self.board.over:
            self._let_helper_move()
        self.episode.close()
        print(self.board)
        print(self.summary())

    def _let_helper_move(self) -> None:
        from tuplet.arena.g2048 import place, slide

        slide(self.helper, self.episode)
        place(self.environment, self.episode)

    def summary(self) -> str:
        moves = len(self.episode.slides)
        end = "   game over" if self.board.over else ""
        tile = self.board.largest
        return f"score {self.episode.score:,}   {moves:,} moves   largest tile {tile}{end}"

    def at_terminal(self, watch: bool, speed: int) -> None:
        """With a terminal: draw the board and take keys."""
        from rich.live import Live

        from tuplet.cli.keys import pressed_keys

        with pressed_keys() as keys, Live(self.picture(), screen=True, auto_refresh=False) as live:

            def draw() -> None:
                live.update(self.picture(), refresh=True)

            try:
                if watch:
                    self._watch(keys, draw, speed - 1)
                else:
                    self._take_turns(keys, draw)
            except KeyboardInterrupt:
                pass
        self.episode.close()
        from rich.console import Console

        Console().print(self.picture(footer=False))

    def _watch(self, keys: Keys, draw: object, speed: int) -> None:
        import time

        assert callable(draw)
        paused, drawn = False, 0.0
        while not self.board.over:
            pause = PAUSES[speed]
            state = "paused" if paused else f"speed {speed + 1} of {len(PAUSES)}"
            self.message = f"{state}    space pauses   + -  speed   q ends"
            if paused or pause >= FRAME or time.perf_counter() - drawn >= FRAME:
                draw()
                drawn = time.perf_counter()
            key = keys.wait(None if paused else pause)
            if key == "q":
                return
            if key == " ":
                paused = not paused
            elif key in ("+", "=", "up", "right"):
                speed = min(speed + 1, len(PAUSES) - 1)
            elif key in ("-", "_", "down", "left"):
                speed = max(speed - 1, 0)
            elif not paused:
                self._let_helper_move()
        self.message = "The game is over.    any key ends"
        draw()
        keys.wait(3.0)

    def _take_turns(self, keys: Keys, draw: object) -> None:
        from tuplet.games.g2048 import MOVES

        assert callable(draw)
        self.message = usual = "arrows move   h hint   u takes back   q ends"
        while True:
            if self.board.over:
                self.message = "The game is over.    u takes back   q ends"
            draw()
            key = keys.wait()
            self.message = usual
            if key == "q":
                return
            if key == "u" and self.past:
                self.episode = self.past.pop()
            elif key == "h":
                self.message = self._hint()
            elif key in MOVES:
                before = self.episode.copy()
                if self.move(key):
                    self.past.append(before)
                else:
                    self.message = f"{key} changes nothing here"

    def _hint(self) -> str:
        from tuplet.agents import LearnedPlayer

        if self.board.over:
            return "the game is over"
        if not isinstance(self.helper, LearnedPlayer):
            try:
                return f"hint: {self.helper.choose(self.board)}"
            except Exception as error:  # anybody's player: the game goes on
                return f"no hint: {type(error).__name__}: {error}"
        moves = [m for m in self.helper.moves(self.board) if m.value is not None]
        moves.sort(key=lambda m: -(m.value or 0.0))
        return "hint:  " + "   ".join(f"{m.move} {m.value:,.0f}" for m in moves)

    def picture(self, footer: bool = True) -> RenderableType:
        """The board in colours, with the score above and what keys do below."""
        from rich.align import Align
        from rich.console import Group
        from rich.text import Text

        from tuplet.cli.draw_2048 import grid

        tall = shutil.get_terminal_size().lines >= 3 * self.board.rows + 3
        parts: list[RenderableType] = [
            Text(f"{self.episode.slider}   {self.summary()}", style="bold", no_wrap=True),
            grid(self.board, tall=tall),
        ]  # fmt: skip
        if footer:
            parts.append(Text(self.message, style="dim"))
        return Align.left(Group(*parts))
