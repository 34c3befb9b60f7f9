"""The agents of a match or tournament, made and let go."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from tuplet.agents.agent import Named, agent_from
from tuplet.agents.protocol.subprocess_agent import ProgramCommand
from tuplet.agents.specs import Pickled, Spec, label_of
from tuplet.games.position import Game


class Participants:
    """The agents of a match or tournament, in the order in which they were named."""

    def __init__(self, named: Sequence[Named], game: str | Game) -> None:
        self.named, self.game = [_as_program(each) for each in named], game
        self.agents: list[Any] = []
        try:
            for each in self.named:
                if isinstance(each, ProgramCommand):
                    each.check()
                self.agents.append(agent_from(each, game))
        except BaseException:  # only some of them can be made
            self.close()
            raise

    def labels(self) -> list[str]:
        """The names agents were asked for by, or their own; objects of one name are numbered."""
        names: list[str] = []
        for named, agent in zip(self.named, self.agents, strict=True):
            name = label = label_of(named, agent)
            while not isinstance(named, str | Spec) and label in names:
                label = f"{name}-{int(label[len(name) + 1 :] or 1) + 1}"
            names.append(label)
        return names

    def replace(self, seat: int) -> None:
        """Who knows in what state an agent is after a forfeit: the next game gets a new one."""
        self._close(seat)
        self.agents[seat] = agent_from(self.named[seat], self.game)

    def rest(self, *playing: int) -> None:
        """Of a class's programs only those run that play: they share memory and cores."""
        for seat, named in enumerate(self.named):
            if isinstance(named, ProgramCommand) and seat not in playing:
                self._close(seat)

    def close(self) -> None:
        """Let the agents go that were made here."""
        for seat in range(len(self.agents)):
            self._close(seat)

    def _close(self, seat: int) -> None:
        if self.agents[seat] is not self.named[seat]:
            with suppress(Exception):  # it has played; how it leaves is its own affair
                self.agents[seat].close()


def _as_program(named: Named) -> Named:
    """A program that was sent here is known as one."""
    thing = named.unpickle() if isinstance(named, Pickled) else named
    return thing if isinstance(thing, ProgramCommand) else named
