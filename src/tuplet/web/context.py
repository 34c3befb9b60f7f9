"""What the server has at hand, and how much of it anybody may ask for.

Whoever asks over HTTP is not trusted: an agent of theirs names no program and no class, a run is in
the folder of runs, and a search has a budget.
"""

from __future__ import annotations

import gc
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from tuplet.agents.agent import make_agent
from tuplet.agents.alphabeta import AlphaBeta
from tuplet.agents.g2048 import SearchPlayer, adapted, make_player
from tuplet.agents.learned import LearnedPlayer
from tuplet.agents.listing import default_agent
from tuplet.agents.searches import Mcts
from tuplet.agents.specs import Spec
from tuplet.errors import UserError
from tuplet.games.catalogue import find_game
from tuplet.games.g2048.position import GameOf2048
from tuplet.games.position import Game
from tuplet.system.stop import Stop, Stopped
from tuplet.values.network import Network
from tuplet.values.weights import estimate_weights, find_weights, read_weights
from tuplet.web.limits import PATIENCE, Busy as Busy, Limits

LONGEST = 256  # letters of what names a game or an agent
MOST_SIMS, MOST_SECONDS, MOST_DEPTH, MOST_NODES, MOST_TABLE = 10_000_000, 60.0, 24, 1_000_000, 22
MOST_AHEAD = 6  # moves, over learned values
MOST_GAMES = 100  # of an evaluation
KEPT = 4  # networks in memory
SMALL = 64 << 20  # bytes of a network that is read beside others
SHORT = 1.0  # seconds, about, of a short search
_LOOK = 0.1  # seconds between looks at whether to stop

Key = tuple[str, int, int]  # a weight file: its path, when it was written, and its size


class ServerContext:
    """Networks that were read, the folder of runs, games of one's own, and the jobs under way."""

    def __init__(self, runs: str | Path = "runs", limits: Limits | None = None, own: Sequence[Game] = ()) -> None:
        self.runs, self.limits, self.own = Path(runs), limits or Limits(), own
        self._networks: OrderedDict[Key, Future[Network]] = OrderedDict()
        self._lock, self._reading = threading.Lock(), threading.Lock()
        self._jobs: dict[Stop, str] = {}  # whose they are

    def game(self, text: str) -> Game:
        """The game that a text names, which is none of somebody's own unless it was asked for."""
        if len(text) > LONGEST:
            raise UserError(f"a game is named in {LONGEST} letters at most")
        return find_game(text)

    def position(self, game: Game, text: str) -> Any:
        """A position that a text describes."""
        if isinstance(game, GameOf2048) and "/" not in text:
            return game.standing(text)
        return game.parse(text)

    def agent(self, text: str | None, game: Game, stop: Stop | None = None) -> Any:
        """An agent within its budget, made for one job."""
        text = default_agent(game) if text is None else text
        if len(text) > LONGEST:
            raise UserError(f"an agent is named in {LONGEST} letters at most")
        spec = Spec(text, folder=self.runs)
        try:
            if isinstance(game, GameOf2048):
                made: Any = make_player(spec, load=lambda path: self._network(path, stop or Stop()))
                if not isinstance(made, LearnedPlayer):  # which expects what it has learned from
                    made = adapted(made, spawn4=game.spawn4)
            else:
                made = make_agent(spec, game)
        except (OSError, ValueError) as error:  # where the folder is, is nobody's business
            raise UserError(str(error).replace(f"{self.runs.resolve()}/", "")) from None
        check_budget(made)
        return made

    def _network(self, path: Path, stop: Stop) -> Network:
        """A network, read once; who waits for it can be told to stop."""
        file = find_weights(path)
        about = file.stat()
        key = (str(file), about.st_mtime_ns, about.st_size)
        with self._lock:
            found = self._networks.get(key)
            if found is None or (found.done() and found.exception() is not None):
                found = self._networks[key] = Future()
                threading.Thread(target=self._read, args=(file, key, found), daemon=True).start()
            self._networks.move_to_end(key)
        while not found.done():
            if stop.is_set():
                raise Stopped(f"stopped while {path.name} was read")
            with suppress(TimeoutError):
                found.exception(_LOOK)
        return found.result()

    def _read(self, file: Path, key: Key, reading: Future[Network]) -> None:
        """Read a network once there is room for it; large ones one after another."""
        try:
            size, until = 4 * estimate_weights(file), time.monotonic() + PATIENCE
            with self._reading if size > SMALL else nullcontext():
                self._make_room(key, size)
                while self.limits.lacks(size) and time.monotonic() < until:
                    time.sleep(_LOOK)
                    self._make_room(key, size)
                with self.limits.reading(size) as able:
                    if not able:
                        raise Busy("too many networks are in use: try again in a moment")
                    net = Network.of(read_weights(file, memory=False).parameters)
                self.limits.add_network(net, net.weights.nbytes)
            reading.set_result(net)
        except BaseException as error:
            reading.set_exception(error)

    def _make_room(self, key: Key, size: int) -> None:
        """Let networks go that were not asked for of late, if that is enough for another."""
        with self._lock:
            old = [k for k, read in self._networks.items() if k != key and read.done()]
            for other in [k for k in old if k[0] == key[0]]:  # it was written anew
                old.remove(other)
                del self._networks[other]
            going: list[Key] = []
            lacks = self.limits.lacks(size)
            for other in old:
                if lacks > 0 or len(self._networks) - len(going) > KEPT:
                    going.append(other)
                    error = self._networks[other].exception()
                    lacks -= 0 if error else self._networks[other].result().weights.nbytes
            going = going if lacks <= 0 else []
            for other in going:
                del self._networks[other]
        if going:
            gc.collect()  # agents that were watched refer to themselves

    @contextmanager
    def job(self, stop: Stop, client: str = "") -> Iterator[None]:
        """Something that takes a while, and ends when it is told to."""
        with self._lock:
            self._jobs[stop] = client
        try:
            yield
        finally:
            with self._lock:
                self._jobs.pop(stop, None)

    @contextmanager
    def taking(
        self, stop: Stop | None, *agents: Any, turn: str | None = None, patience: float = PATIENCE
    ) -> Iterator[None]:
        """The memory that agents need, and a turn of a kind (see `turn_of`), for a while."""
        memory, stop = sum(map(memory_of, agents)), stop or Stop()
        client = self._jobs.get(stop, "")
        with self.limits.taking(client, stop, memory=memory, turn=turn, patience=patience):
            yield

    @property
    def jobs(self) -> int:
        """How many are under way."""
        return len(self._jobs)

    def close(self) -> None:
        """Tell all that is under way to end."""
        with self._lock:
            for stop in self._jobs:
                stop.set()


def memory_of(agent: Any) -> int:
    """How many bytes a search may take, about; 0 where it is less than a megabyte or two."""
    search, found = getattr(agent, "search", None), 0
    if isinstance(search, Mcts):
        # A batch of simulations adds the children of one node at most.
        batches = search.nodes if search.sims is None else search.sims // search.batch + 1
        found = 60 * min(search.nodes, 64 * batches)
    elif isinstance(search, AlphaBeta):
        found = 16 << search.table
    return found if found >= 2 << 20 else 0


def turn_of(agent: Any) -> str:
    """The kind of turn that a move takes: what takes no time does not wait for what takes some."""
    search, seconds = getattr(agent, "search", None), 0.0
    if isinstance(agent, LearnedPlayer):
        depth = agent.depth or 1
        by_depth = 0.0 if depth <= 2 else SHORT if depth == 3 else MOST_SECONDS
        seconds = by_depth if agent.time is None else agent.time
    elif isinstance(search, Mcts):
        seconds = search.time or (SHORT if search.most <= 100_000 else MOST_SECONDS)
    elif isinstance(search, AlphaBeta):
        usual = SHORT if (search.depth or MOST_DEPTH) <= 3 else MOST_SECONDS
        seconds = float(search.all_settings().get("time", usual))
    return "instant" if seconds == 0 else "short" if seconds <= SHORT else "long"


def check_budget(agent: Any) -> None:
    """Raise ValueError where an agent would take more than anybody may ask for."""
    search = getattr(agent, "search", None)
    limits: list[tuple[str, float | None, float]] = []
    if isinstance(agent, LearnedPlayer):
        limits = [("depth", agent.depth if agent.time is None else None, MOST_AHEAD)]
        limits += [("time", agent.time, MOST_SECONDS)]
    elif isinstance(search, Mcts | AlphaBeta):
        names = {"sims": MOST_SIMS, "time": MOST_SECONDS, "table": MOST_TABLE}
        names |= {"depth": MOST_AHEAD if isinstance(agent, SearchPlayer) else MOST_DEPTH}
        if isinstance(search, Mcts):
            names |= {"nodes": MOST_NODES, "batch": 10_000}
        limits = [(name, getattr(search, name, None), most) for name, most in names.items()]
    for name, value, most in limits:
        if value is not None and value > most:
            raise UserError(f"{name} is {most:,} at most over the network, not {value:,}")
