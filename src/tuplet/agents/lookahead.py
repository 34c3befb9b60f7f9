"""How far a player with values looks ahead, declared once for all who let one play."""

from __future__ import annotations

from dataclasses import dataclass

from tuplet.system.settings import setting


@dataclass
class LookaheadOptions:
    """What a `LearnedAgent` is asked for."""

    depth: int | None = setting(
        None, "How many moves a learned player of 2048 looks ahead. More is stronger but slower.", usual="1"
    )
    time: float | None = setting(
        None,
        "Time limit per move of such a player, with or without --depth. The result then depends on the machine.",
        seconds=True,
    )
    downgrade: int | None = setting(
        None,
        "On boards with this tile or a larger one, such a player sees large tiles as half their "
        "size. Take 32768 for a player that has not met that tile in training.",
    )
