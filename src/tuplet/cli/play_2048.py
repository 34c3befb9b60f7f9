"""`tuplet play 2048`: a person with hints, or an agent before one's eyes."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.align import Align
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from tuplet.agents.g2048 import Player, RandomEnvironment, make_player
from tuplet.agents.learned import LearnedPlayer
from tuplet.arena.g2048 import open_episode, place, slide
from tuplet.cli.draw_2048 import grid
from tuplet.cli.keys import FASTER, SLOWER, Keys, changed, pressed_keys
from tuplet.cli.working import tell_if_compiling
from tuplet.games.g2048 import MOVES, Board, Episode
from tuplet.games.g2048.position import GameOf2048
from tuplet.values.weights import SHIPPED

PAUSES = (1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.005, 0.0)  # seconds a move, from slow to fast
FRAME = 0.02  # a terminal need not be drawn more often


def play_2048(
    game: str, agent: str | None, watch: bool, speed: int, spawn4: float | None, seed: int,
    save: Path | None, looking: dict[str, Any],
) -> int:  # fmt: skip
    """Play, or watch; returns the exit code."""
    held = GameOf2048.of(game, spawn4=spawn4)
    if (held.rows, held.columns) != (4, 4):
        raise ValueError("games of 2048 that are played and recorded are of 4x4")
    spawn4 = held.spawn4 if "spawn4=" in game else spawn4
    if not 1 <= speed <= len(PAUSES):
        raise ValueError(f"the speed is 1 to {len(PAUSES)}, not {speed}")
    tell_if_compiling()
    agent = agent or SHIPPED
    helper = make_player(agent, seed, spawn4=spawn4, **looking)
    if isinstance(helper, LearnedPlayer):
        helper.network.as_board(Board())  # refuses a network of smaller boards
        spawn4 = helper.spawn4
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not watch and not on_terminal:
        raise ValueError("playing needs a terminal; to let an agent play, use --watch")
    environment = RandomEnvironment(seed, 0.1 if spawn4 is None else spawn4)
    table = TerminalGame(helper, environment, agent if watch else "you")
    if on_terminal:
        table.at_terminal(watch, speed)
    else:
        table.run_through()
    if save is not None:
        with save.open("a", encoding="utf-8") as file:
            file.write(f"{table.episode}\n")
        print(f"Saved in {save}.", file=sys.stderr)
    return 0


class TerminalGame:
    """A game on the table: the episode so far, and who sits there."""

    def __init__(self, helper: Player, environment: RandomEnvironment, name: str) -> None:
        self.helper, self.environment = helper, environment
        self.episode = Episode(name, environment.name)
        self.message = ""
        self.past: list[Episode] = []
        open_episode(helper, environment)
        for _ in range(2):
            place(environment, self.episode)

    @property
    def board(self) -> Board:
        """As it stands."""
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
        slide(self.helper, self.episode)
        place(self.environment, self.episode)

    def summary(self) -> str:
        """How far the game is."""
        moves = len(self.episode.slides)
        end = "   game over" if self.board.over else ""
        tile = self.board.largest
        return f"score {self.episode.score:,}   {moves:,} moves   largest tile {tile}{end}"

    def at_terminal(self, watch: bool, speed: int) -> None:
        """With a terminal: draw the board and take keys."""
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
        Console().print(self.picture(footer=False))

    def _watch(self, keys: Keys, draw: Callable[[], None], speed: int) -> None:
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
            elif key in FASTER + SLOWER:
                speed = changed(speed, key, len(PAUSES))
            elif not paused:
                self._let_helper_move()
        self.message = "The game is over.    any key ends"
        draw()
        keys.wait(3.0)

    def _take_turns(self, keys: Keys, draw: Callable[[], None]) -> None:
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
        tall = shutil.get_terminal_size().lines >= 3 * self.board.rows + 3
        parts: list[RenderableType] = [
            Text(f"{self.episode.slider}   {self.summary()}", style="bold", no_wrap=True),
            grid(self.board, tall=tall),
        ]  # fmt: skip
        if footer:
            parts.append(Text(self.message, style="dim"))
        return Align.left(Group(*parts))
