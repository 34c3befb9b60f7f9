"""`tuplet play 2048`: a person with hints, or an agent before one's eyes."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from tuplet.agents.g2048 import Player, RandomEnvironment, make_player
from tuplet.agents.learned import LearnedAgent
from tuplet.agents.specs import name_of
from tuplet.arena.episode import open_episode, place, slide
from tuplet.cli.common import INTERRUPTED
from tuplet.cli.draw_2048 import picture
from tuplet.cli.keys import ESCAPE, FASTER, SLOWER, changed
from tuplet.cli.screen import print_picture, screen
from tuplet.cli.sitting import Sitting, tell_saved
from tuplet.errors import UserError
from tuplet.exact.solution import Solution
from tuplet.games.g2048 import MOVES, Board, Episode
from tuplet.games.g2048.game import Game2048
from tuplet.games.record_2048 import record_of
from tuplet.system.progress import show_progress
from tuplet.system.tables import plural
from tuplet.values.players import DEFAULT_PLAYER

PAUSES = (1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.005, 0.0)  # seconds a move, from slow to fast
FRAME = 0.02  # a terminal need not be drawn more often
LINGER = 30  # seconds that a game which was watched to its end stays to be seen
SMALLER = "expectimax:depth=3"  # who plays boards that the shipped player does not know


def play_2048(
    game: str,
    board: str | None,
    agent: str | None,
    watch: bool,
    speed: int,
    spawn4: float | None,
    seed: int,
    save: Path | None,
    looking: dict[str, Any],
) -> int:
    """Play, or watch; returns the exit code."""
    held = Game2048.from_spec(game, board, spawn4)
    if not 1 <= speed <= len(PAUSES):
        raise UserError(f"--speed must be 1 to {len(PAUSES)} (got {speed})")
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not watch and not on_terminal:
        raise UserError("playing needs a terminal; to let an agent play, use --watch")
    with show_progress():  # it may have to be compiled
        helper, held = _helper(agent, held, game, board, spawn4, seed, looking)
        environment = RandomEnvironment(seed, held.spawn4)
        name = agent or name_of(helper)
        table = TerminalGame(helper, environment, held, name if watch else "you")
    interrupted = False
    try:
        if on_terminal:
            interrupted = table.at_terminal(watch, speed - 1)
        else:
            table.run_through()
    finally:
        if save is not None:
            tell_saved(table.save(save), save)
    return INTERRUPTED if interrupted else 0


def _helper(
    agent: str | None,
    held: Game2048,
    game: str,
    board: str | None,
    spawn4: float | None,
    seed: int,
    looking: dict[str, Any],
) -> tuple[Player, Game2048]:
    """Who helps or plays, and the game: that of the helper, where nothing else is asked for."""
    said_board = board is not None or "board=" in game
    said_spawn4 = spawn4 is not None or "spawn4=" in game
    if agent is None and (held.rows, held.columns) != (4, 4) and looking.get("downgrade") is None:
        given = {name: value for name, value in looking.items() if value is not None}
        words = ",".join(f"{name}={value}" for name, value in given.items())
        agent, looking = f"expectimax:{words}" if given else SMALLER, {}
    expected = held.spawn4 if said_spawn4 else None
    helper = make_player(agent or DEFAULT_PLAYER, seed, spawn4=expected, **looking)
    size, share = (held.rows, held.columns), held.spawn4
    if isinstance(helper, LearnedAgent):
        if not said_board:
            size = helper.network.size
        share = helper.spawn4 if helper.spawn4 is not None else share
        helper.network.as_board(Board(rows=size[0], columns=size[1]))  # refuses another size
    elif isinstance(helper, Solution):
        if not said_board:
            size = helper.rows, helper.columns
        if not said_spawn4:
            share = helper.spawn4
        if size != (helper.rows, helper.columns):
            raise UserError(f"{agent} is the solution of {helper.size}, not of {held.name}")
    return helper, Game2048(size, share)


class TerminalGame(Sitting):
    """A game on the table: the episode so far, and who sits there."""

    def __init__(self, helper: Player, environment: RandomEnvironment, held: Game2048, name: str) -> None:
        self.helper, self.environment, self.held, self.name = helper, environment, held, name
        self.finished: list[Episode] = []  # games left for a new one
        self.keys: list[str] = []
        self.open()

    def open(self) -> None:
        """Begin a game, as the seed and its number will have it."""
        empty = Board(rows=self.held.rows, columns=self.held.columns)
        self.episode = Episode(self.name, self.environment.name, empty)
        self.past: list[tuple[Episode, RandomEnvironment]] = []  # for taking back
        self.message = ""
        open_episode(self.helper, self.environment, start=empty)
        for _ in range(2):
            place(self.environment, self.episode)

    def open_another(self) -> None:
        """Leave this game for a new one."""
        self.episode.close()
        self.finished.append(self.episode)
        self.open()

    @property
    def board(self) -> Board:
        """As it stands."""
        return self.episode.board

    def move(self, move: object) -> None:
        """Make a move and let a tile appear; ValueError if the move is illegal."""
        before = self.episode.copy(), self.environment.fresh()
        self.episode.slide(move)
        place(self.environment, self.episode)
        self.past.append(before)

    def take_back(self) -> str:
        """Undo the last move, luck included; returns what happened."""
        if not self.past:
            return "there is nothing to take back"
        self.episode, self.environment = self.past.pop()
        return "taken back"

    def run_through(self) -> None:
        """Without a terminal: play to the end, and print it."""
        while not self.board.over:
            slide(self.helper, self.episode)
            place(self.environment, self.episode)
        self.episode.close()
        print(self.board)
        print("   ".join(self.facts()[1:]))

    def facts(self) -> list[str]:
        """Who plays, and how far the game is."""
        moves, tile = plural(len(self.episode.slides), "move"), self.board.largest
        end = ["game over"] if self.board.over else []
        score = f"score {self.episode.score:,}"
        return [self.episode.slider, score, moves, f"largest tile {tile}", *end]

    def save(self, path: Path) -> int:
        """Append the games, finished or not, to a file; returns how many."""
        played = [each for each in (*self.finished, self.episode) if each.slides]
        if played:
            with path.open("a", encoding="utf-8") as file:
                file.writelines(f"{_line(each, self.held)}\n" for each in played)
        return len(played)

    def picture(self, columns: int, lines: int) -> RenderableType:
        """What is to be seen now."""
        return picture(self.board, self.facts(), self.message, self.keys, columns, lines)

    def at_terminal(self, watch: bool, speed: int) -> bool:
        """With a terminal: draw the board and take keys; True if it was interrupted."""
        interrupted = False
        with screen() as self.screen:
            try:
                if watch:
                    self._watch(speed)
                else:
                    self._take_turns()
            except KeyboardInterrupt:
                interrupted = True
        self.episode.close()
        self.message, self.keys = "", []
        print_picture(self.picture)
        return interrupted

    def _watch(self, speed: int) -> None:
        paused, drawn = False, 0.0
        while True:
            if self.board.over:
                if not self._watched_to_the_end():
                    return
                self.open_another()
            pause = PAUSES[speed]
            state = "paused" if paused else f"speed {speed + 1} of {len(PAUSES)}"
            self.message, self.keys = state, ["space pauses", "+ - speed", "q ends"]
            if paused or pause >= FRAME or time.perf_counter() - drawn >= FRAME:
                self.redraw()
                drawn = time.perf_counter()
            key = self.screen.wait(None if paused else pause)
            if key == "q":
                return
            if key == " ":
                paused = not paused
            elif key is not None and key in FASTER + SLOWER:
                speed = changed(speed, key, len(PAUSES))
            elif key is None and not self._let_helper_move():
                return

    def _watched_to_the_end(self) -> bool:
        """Whether another game is wanted; it ends by itself where nobody looks."""
        self.keys = ["n new game", "q ends"]
        for left in range(LINGER, 0, -1):
            self.message = f"The game is over.   (ends by itself in {left} s)"
            self.redraw(again=left < LINGER)
            key = self.screen.wait(1.0)
            if key in ("q", "n"):
                return key == "n"
        return False

    def _let_helper_move(self) -> bool:
        """False if the person left meanwhile."""
        twin = self.episode.copy()  # a player that is left to its thoughts does not move here

        def move() -> Episode:
            slide(self.helper, twin)
            return twin

        found, key = self.think(self.helper, move, self.name, ("q",))
        if isinstance(found, Exception):
            raise found
        if key is None:
            self.episode = found
            place(self.environment, self.episode)
        return key is None

    def _take_turns(self) -> None:
        sure = False  # whether n was pressed before
        while True:
            self.keys = ["arrows move", "h hint", "u takes back", "n new game", "q ends"]
            if self.board.over:
                self.keys = self.keys[2:]
                self.message = self.message or "The game is over."
            self.redraw()
            key = self.screen.wait()
            self.message, asked = "", sure
            sure = key == "n" and not (asked or self.board.over or not self.episode.slides)
            if key == "q":
                return
            if sure:
                self.message = "n again leaves this game for a new one"
            elif key == "n":
                self.open_another()
            elif key == "u":
                self.message = self.take_back()
            elif key == "h" and not self.board.over:
                if not self._hint():
                    return
            elif key in MOVES:
                try:
                    self.move(key)
                except ValueError:
                    self.message = "" if self.board.over else f"{key} changes nothing here"

    def _hint(self) -> bool:
        """Ask the helper; False if the person left meanwhile."""
        board, helper = self.board, self.helper
        self.keys = ["Esc stops the hint", "q ends"]
        found, key = self.think(helper, lambda: _advice(helper, board), "the helper", ("q", ESCAPE))
        if isinstance(found, Exception):  # anybody's player: the game goes on
            self.message = f"no hint: {type(found).__name__}: {found}"
        elif key is None:
            self.message = f"hint:  {found}"
        elif self.thinking:  # it does not listen: another one gives the next hint
            self.thinking = False
            self.helper = helper.fresh() if hasattr(helper, "fresh") else helper
        return key != "q"


def _advice(helper: Player, board: Board) -> str:
    if not isinstance(helper, LearnedAgent):
        return str(helper.choose(board))
    moves = [m for m in helper.moves(board) if m.value is not None]
    moves.sort(key=lambda m: -(m.value or 0.0))
    return "   ".join(f"{m.move} {m.value:,.0f}" for m in moves)


def _line(episode: Episode, held: Game2048) -> str:
    """A game as text: the Framework's, which knows 4x4 alone, or a record, as of other games."""
    if (held.rows, held.columns) == (4, 4):
        return str(episode)
    return record_of(episode, held).line
