"""How far a player with values looks ahead, declared once for all who let one play."""

from __future__ import annotations

from dataclasses import dataclass

from tuplet.system.settings import setting


@dataclass
class Looking:
    """What a `LearnedPlayer` is asked for."""

    depth: int | None = setting(
        None, "How many of its moves a learned player of 2048 looks ahead.", usual="1"
    )
    time: float | None = setting(
        None, "Instead (or at most): its seconds a move. The result then depends on the machine."
    )
    downgrade: int | None = setting(
        None, "From this tile on, it sees large tiles as half of what they are: 32768 for a player "
        "that was not trained with it."
    )  # fmt: skip
