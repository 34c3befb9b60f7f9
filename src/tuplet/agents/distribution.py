"""How agents get to where games are played: to threads of this process, or to other processes."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.agents.agent import agent_from, configured
from tuplet.agents.specs import Pickled, Spec, as_pickled, as_spec, name_of
from tuplet.errors import UserError
from tuplet.games.game import Game
from tuplet.kernel import as_seed, stream
from tuplet.system.blocks import Worker, WorkerPool, as_executor, is_local, is_picklable, processes
from tuplet.system.worker_calls import copy_of


def is_user_code(named: Any) -> bool:
    """Whether it is a user's class or object: Python code, which holds the GIL and needs processes."""
    if isinstance(named, str | Spec):
        return as_spec(named).is_class
    kind = named if isinstance(named, type) else type(named)
    return not kind.__module__.startswith("tuplet.")


def _is_object(named: Any) -> bool:
    """Whether it is an agent or an environment itself, not a name, class or function."""
    return not isinstance(named, type | str | Spec) and (hasattr(named, "choose") or hasattr(named, "place"))


def _cannot_move(named: Any, here: bool, copies: bool) -> bool:
    """Whether it cannot be sent to another process, or shared by threads of this one."""
    if isinstance(named, str | Spec):
        return False
    if isinstance(named, Game) and type(named.rules).__module__ == "__main__":
        return True  # its kernels are registered where its module is imported
    if not is_user_code(named):
        return _is_object(named) and not (copies and hasattr(named, "fresh"))
    return (here and _is_object(named)) or not is_picklable(named)


@contextmanager
def choose_executor(
    agents: Sequence[Any], threads: int, executor: Any, copies: bool = False
) -> Iterator[tuple[WorkerPool | None, int]]:
    """The executor that plays (None: threads of this process), and how many games at a time.

    Users' classes, and copies of their objects, play in processes. An object that cannot be sent there
    (it holds a lock or an open file, say) plays on one core, with a warning. With `copies`, threads
    play copies of our own agents.
    """
    executor = as_executor(executor)
    here = executor is not None and is_local(executor)
    stuck = [each for each in agents if _cannot_move(each, here, copies)]
    if executor is None and threads == 1:
        yield None, 1
    elif stuck and not is_local(executor):
        raise UserError(f"{_name(stuck[0])} cannot be sent to another process: {_HOW}")
    elif stuck:
        many = "more" if executor else threads
        warnings.warn(f"{_name(stuck[0])} plays on one core, not {many}: {_HOW}", stacklevel=4)
        yield None, 1
    elif executor is None and any(map(is_user_code, agents)):
        with processes(threads) as pool:
            yield pool, threads
    else:
        yield executor, threads if executor is None else max(threads, 2)


_HOW = "it cannot be pickled, or a game is defined in __main__: give its class, in a file that can be imported"


def _name(named: Any) -> str:
    return str(getattr(named, "__name__", None) or name_of(named))


class AgentSource(NamedTuple):
    """Where a block of games of 2048 gets its agent from: an object, or what names it."""

    what: Any  # an agent, a class, a Spec, or Pickled
    seed: int = 0
    options: tuple[tuple[str, Any], ...] = ()  # of `configured`
    digest: str = ""  # of the weights that a Spec names
    anew: bool = False  # for each block, with its own seed

    def agent(self, worker: Worker, first: int) -> Any:
        """The agent of the block that begins with game number `first`."""
        if self.anew:
            return self._new(worker, int(stream(as_seed(self.seed), np.uint64(first))) >> 1)
        key = self if isinstance(self.what, Spec | Pickled | type) else "agent"
        return worker.keep(key, lambda: self._new(worker, self.seed))

    def _new(self, worker: Worker, seed: int) -> Any:
        if self.digest:
            agent = worker.share(("weights", self.digest), self._load)
        else:
            agent = agent_from(self.what, "2048", seed)
        if not is_user_code(agent) and hasattr(agent, "fresh"):
            agent = agent.fresh()  # networks are shared, working memory is not
        return configured(agent, **dict(self.options))

    def _load(self) -> Any:
        """The agent of weights that this process sees, or that were sent to it."""
        from tuplet.values.weights import digest

        what, sent = self.what, copy_of(self.digest)
        if sent is not None:
            what = Spec(str(sent), trusted=True)
        elif digest(what.path(what.text)) != self.digest:
            raise UserError(f"{what.text} is not the same file here, or has changed meanwhile")
        return agent_from(what, "2048")


@contextmanager
def agent_source(
    named: Any, agent: Any, seed: int, executor: WorkerPool | None, several: bool
) -> Iterator[AgentSource]:
    """The source of an agent of 2048 that was named so, and has been made here once."""
    own, text = is_user_code(named), isinstance(named, str | Spec)
    if executor is None or executor.is_local:
        anew = own and several and not _is_object(named)
        yield AgentSource(named if anew else agent, seed, anew=anew)
        return
    network = getattr(agent, "network", None) if not is_user_code(agent) else None
    with tempfile.TemporaryDirectory(prefix="tuplet-") as folder:
        what, known, options = as_pickled(named), "", ()
        if network is not None:
            from tuplet.values.weights import digest, find_weights

            if not text or what.settings:  # a network of this process, or one among settings
                what = Spec(str(network.save(Path(folder) / "player.safetensors")), trusted=True)
            file = find_weights(what.path(what.text))
            known, options = digest(file), tuple(agent.settings.items())
            what = Spec(str(file.resolve()), trusted=True)
            executor.provide(file.resolve(), known)  # a cluster's workers may not see it
        try:
            yield AgentSource(what, seed, options, known, anew=own)
        finally:
            if known:
                executor.forget(known)
