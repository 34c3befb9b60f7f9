"""How players get to where games are played: threads of this process, or processes anywhere."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.agents.g2048 import Player, adapted, player_from
from tuplet.agents.learned import LearnedAgent
from tuplet.agents.specs import Pickled, Spec, as_pickled, as_spec, name_of
from tuplet.errors import UserError
from tuplet.exact.solution import Solution
from tuplet.games.game import Game
from tuplet.kernel import as_seed, stream
from tuplet.system.blocks import Worker, WorkerPool, as_executor, is_local, is_picklable, processes
from tuplet.system.worker_calls import copy_of
from tuplet.values.network import Network
from tuplet.values.weights import digest, find_weights


def is_user_code(named: Any) -> bool:
    """Whether a player is somebody's own class: threads of one process would wait for it."""
    if isinstance(named, str | Spec):
        return as_spec(named).is_class
    kind = named if isinstance(named, type) else type(named)
    return not kind.__module__.startswith("tuplet.")


def _is_made(named: Any) -> bool:
    """Whether it is a player or an environment itself, not what names or makes one."""
    return not isinstance(named, type | str | Spec) and (hasattr(named, "choose") or hasattr(named, "place"))


def _is_stuck(named: Any, here: bool) -> bool:
    """True if it cannot be sent to another process, or shared by threads of this one."""
    if isinstance(named, str | Spec | Network | Solution):
        return False
    if isinstance(named, Game) and type(named.rules).__module__ == "__main__":
        return True  # its kernels are registered where its module is imported
    if _is_made(named) and not is_user_code(named):
        return not hasattr(named, "fresh")
    return (here and _is_made(named)) or not is_picklable(named)


@contextmanager
def choose_executor(players: Sequence[Any], threads: int, executor: Any) -> Iterator[tuple[WorkerPool | None, int]]:
    """Who plays: an executor (None: threads of this process), and how many at a time.

    Users' classes, and copies of their objects, play in processes. An object that cannot be sent there (it holds a lock
    or an open file, say) plays on one core, with a warning.
    """
    executor = as_executor(executor)
    here = executor is not None and is_local(executor)
    stuck = [player for player in players if _is_stuck(player, here)]
    if executor is None and threads == 1:
        yield None, 1
    elif stuck and not is_local(executor):
        raise UserError(f"{_name(stuck[0])} cannot be sent to another process: {_HOW}")
    elif stuck:
        many = "more" if executor else threads
        warnings.warn(f"{_name(stuck[0])} plays on one core, not {many}: {_HOW}", stacklevel=4)
        yield None, 1
    elif executor is None and any(map(is_user_code, players)):
        with processes(threads) as pool:
            yield pool, threads
    else:
        yield executor, threads if executor is None else max(threads, 2)


_HOW = "it cannot be pickled, or a game is defined in __main__: give its class, in a file that can be imported"


def _name(named: Any) -> str:
    return str(getattr(named, "__name__", None) or name_of(named))


class AgentSource(NamedTuple):
    """Where a block gets its player of 2048 from: made here, or sent as what names it."""

    what: Any  # a player, a class, a Spec, or what was Sent
    seed: int = 0
    options: tuple[tuple[str, Any], ...] = ()  # of `adapted`
    digest: str = ""  # of the weights that a Spec names
    anew: bool = False  # for each block, with a seed of its own

    def player(self, worker: Worker, first: int) -> Player:
        """The player of the block that begins with game number `first`."""
        if self.anew:
            seed = int(stream(as_seed(self.seed), np.uint64(first))) >> 1
            return self._new(worker, seed)
        key = self if isinstance(self.what, Spec | Pickled | type) else "player"
        player = worker.keep(key, lambda: self._new(worker, self.seed))
        if hasattr(player, "next_game"):
            player.next_game = first
        return player

    def _new(self, worker: Worker, seed: int) -> Player:
        if self.digest:
            player = worker.share(("weights", self.digest), self._learned)
        else:
            player = player_from(self.what, seed)
        if not is_user_code(player) and hasattr(player, "fresh"):
            player = player.fresh()  # networks are shared, working memory is not
        return adapted(player, **dict(self.options))

    def _learned(self) -> Player:
        """The player of weights that are seen here as they were there, or that were sent here."""
        what, sent = self.what, copy_of(self.digest)
        if sent is not None:
            what = Spec(str(sent), trusted=True)
        elif digest(what.path(what.text)) != self.digest:
            raise UserError(f"{what.text} is not the same file here, or has changed meanwhile")
        return player_from(what)


@contextmanager
def agent_source(
    named: Any, player: Player, seed: int, executor: WorkerPool | None, several: bool
) -> Iterator[AgentSource]:
    """Where blocks get a player from that was named so, and has been made here once."""
    own, text = is_user_code(named), isinstance(named, str | Spec)
    if executor is None or executor.is_local:
        anew = own and several and not _is_made(named)
        yield AgentSource(named if anew else player, seed, anew=anew)
        return
    with tempfile.TemporaryDirectory(prefix="tuplet-") as folder:
        what, known = as_pickled(named), ""
        if isinstance(player, LearnedAgent):
            if not text or what.settings:  # a network of this process, or one behind a colon
                file = player.network.save(Path(folder) / "player.safetensors")
                what = Spec(str(file), trusted=True)
            file = find_weights(what.path(what.text))
            known = digest(file)
            what = Spec(str(file.resolve()), trusted=True)
            executor.provide(file.resolve(), known)  # a cluster's workers may not see it
        options = () if own else tuple((n, getattr(player, n)) for n in _OPTIONS if hasattr(player, n))
        try:
            yield AgentSource(what, seed, options, known, anew=own)
        finally:
            if known:
                executor.forget(known)


_OPTIONS = ("depth", "time", "downgrade", "spawn4")
