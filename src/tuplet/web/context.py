"""What the requests of a server share: its games, the folder of runs, networks in memory, and the jobs under way.

Requests come from outside and are not trusted: an agent's name may not name a program or a class, a run must be in the
folder of runs, and a search has a budget.
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
from tuplet.agents.learned import LearnedAgent
from tuplet.agents.registry import default_agent
from tuplet.agents.searchers import AlphaBeta, Expectimax2048, Mcts
from tuplet.agents.specs import Spec
from tuplet.errors import UserError
from tuplet.games.game import Game
from tuplet.games.registry import find_game
from tuplet.system.stop import Stop, Stopped
from tuplet.values.network import Network
from tuplet.values.players import PLAYERS
from tuplet.values.weights import estimate_weights, find_weights, read_weights
from tuplet.web import limits
from tuplet.web.limits import Busy, Limits
from tuplet.web.runs import Runs

Key = tuple[str, int, int]  # a weight file: its path, the time it was written, and its size


class ServerContext:
    """What requests share. `games` are the games of `serve --game`; with `train`, clients may train runs."""

    def __init__(
        self, runs: str | Path = "runs", limits: Limits | None = None, games: Sequence[Game] = (), train: bool = False
    ) -> None:
        self.runs, self.limits, self.games = Path(runs), limits or Limits(), games
        self.training = Runs(self.runs, train)
        self._networks: OrderedDict[Key, Future[Network]] = OrderedDict()
        self._lock, self._loading = threading.Lock(), threading.Lock()
        self._jobs: dict[Stop, str] = {}  # and the client of each

    def game(self, text: str) -> Game:
        """The game of this name: a built-in one, or one of `serve --game`."""
        return find_game(_check_name("game", text))

    def agent(self, text: str | None, game: Game, stop: Stop | None = None) -> Any:
        """A new agent, within its budget."""
        spec = Spec(default_agent(game) if text is None else _check_name("agent", text), folder=self.runs)
        try:
            agent = make_agent(spec, game, load=lambda path: self._network(path, stop or Stop()))
        except (OSError, UserError) as error:  # without the places of folders
            text = str(error)
            for folder in (self.runs.resolve(), PLAYERS):
                text = text.replace(f"{folder}/", "")
            raise UserError(text) from None
        check_budget(agent)
        return agent

    def _network(self, path: Path, stop: Stop) -> Network:
        """A network, read once. Raises Stopped if `stop` is set meanwhile."""
        file = find_weights(path)
        stat = file.stat()
        key = (str(file), stat.st_mtime_ns, stat.st_size)
        with self._lock:
            future = self._networks.get(key)
            if future is None or (future.done() and future.exception() is not None):
                future = self._networks[key] = Future()
                threading.Thread(target=self._read, args=(file, key, future), daemon=True).start()
            self._networks.move_to_end(key)
        while not future.done():
            if stop.is_set():
                raise Stopped(f"stopped while {path.name} was read")
            with suppress(TimeoutError):
                future.exception(limits.POLL)
        return future.result()

    def _read(self, file: Path, key: Key, future: Future[Network]) -> None:
        """Read a network once there is memory for it; large ones one after another."""
        try:
            size, deadline = 4 * estimate_weights(file), time.monotonic() + limits.WAIT_TIMEOUT
            with self._loading if size > limits.SMALL_NETWORK else nullcontext():
                self._make_room(key, size)
                while self.limits.missing(size) and time.monotonic() < deadline:
                    time.sleep(limits.POLL)
                    self._make_room(key, size)
                with self.limits.loading(size) as enough:
                    if not enough:
                        raise Busy("too many networks are in use: try again in a moment")
                    network = read_weights(file, memory=False).network
                self.limits.add_network(network, network.weights.nbytes)
            future.set_result(network)
        except BaseException as error:  # raised by `_network`
            future.set_exception(error)

    def _make_room(self, key: Key, size: int) -> None:
        """Forget the networks that were used least recently, if that frees enough for another."""
        with self._lock:
            others = [other for other, future in self._networks.items() if other != key and future.done()]
            for outdated in [other for other in others if other[0] == key[0]]:  # the file was written again
                others.remove(outdated)
                del self._networks[outdated]
            going: list[Key] = []
            missing = self.limits.missing(size)
            for other in others:
                if missing > 0 or len(self._networks) - len(going) > limits.KEPT_NETWORKS:
                    going.append(other)
                    future = self._networks[other]
                    missing -= 0 if future.exception() else future.result().weights.nbytes
            going = going if missing <= 0 else []
            for other in going:
                del self._networks[other]
        if going:
            gc.collect()  # agents that were watched are in reference cycles

    @contextmanager
    def job(self, stop: Stop, client: str = "") -> Iterator[None]:
        """A client's job, which `close` stops."""
        with self._lock:
            self._jobs[stop] = client
        try:
            yield
        finally:
            with self._lock:
                self._jobs.pop(stop, None)

    @contextmanager
    def taking(
        self, stop: Stop | None, *agents: Any, turn: str | None = None, timeout: float | None = None
    ) -> Iterator[None]:
        """Have the memory that agents need, and a turn (see `turn_of`), in a `with` block."""
        memory, stop = sum(map(memory_of, agents)), stop or Stop()
        with self.limits.taking(self._jobs.get(stop, ""), stop, memory=memory, turn=turn, timeout=timeout):
            yield

    def close(self) -> None:
        """Stop all jobs."""
        with self._lock:
            for stop in self._jobs:
                stop.set()


def _check_name(field: str, text: str) -> str:
    if len(text) > limits.MAX_NAME or not text.isprintable():
        raise UserError(f"{field} must be a name of at most {limits.MAX_NAME} printable characters")
    return text


def memory_of(agent: Any) -> int:
    """About how many bytes a search may take; 0 if less than 2 MB."""
    search, memory = getattr(agent, "search", None), 0
    if isinstance(search, Mcts):  # a batch of simulations adds the children of at most one node
        batches = search.nodes if search.sims is None else search.sims // search.pace[0] + 1
        memory = 60 * min(search.nodes, 64 * batches)
    elif isinstance(search, AlphaBeta):
        memory = 16 << search.table
    return memory if memory >= 2 << 20 else 0


def turn_of(agent: Any) -> str:
    """The kind of turn that a move takes: instant, short or long. Quick moves do not wait for long searches."""
    short, long = limits.SHORT_SEARCH, limits.MAX_SECONDS
    search, seconds = getattr(agent, "search", None), 0.0
    if isinstance(agent, LearnedAgent):
        depth = agent.depth or 1
        by_depth = 0.0 if depth <= 2 else short if depth == 3 else long
        seconds = by_depth if agent.time is None else agent.time
    elif isinstance(search, Mcts):
        seconds = search.time or (short if search.most <= 100_000 else long)
    elif isinstance(search, AlphaBeta):
        by_depth = short if (search.depth or limits.MAX_DEPTH) <= 3 else long
        seconds = float(search.all_settings().get("time", by_depth))
    return "instant" if seconds == 0 else "short" if seconds <= short else "long"


def check_budget(agent: Any) -> None:
    """Raise UserError if an agent would search more than a request may ask for."""
    search, most = getattr(agent, "search", None), {"time": limits.MAX_SECONDS, "depth": limits.MAX_LOOKAHEAD}
    searcher = agent
    if isinstance(search, Mcts | AlphaBeta):
        searcher = search
        most |= {"sims": limits.MAX_SIMULATIONS, "table": limits.MAX_TABLE}
        most |= {} if isinstance(search, Expectimax2048) else {"depth": limits.MAX_DEPTH}
        most |= {"nodes": limits.MAX_NODES, "batch": limits.MAX_BATCH} if isinstance(search, Mcts) else {}
    elif not isinstance(agent, LearnedAgent):
        return
    for name, limit in most.items():
        value = getattr(searcher, name, None)
        if name == "depth" and searcher is agent and agent.time is not None:
            continue  # the time is the limit
        if value is not None and value > limit:
            raise UserError(f"{name} must be at most {limit:,} over the network (got {value:,})")
