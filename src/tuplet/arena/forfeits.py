"""Games that were forfeited, in words: who, how often, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tuplet.system.tables import plural

DISQUALIFIED = "timed out in its first four games and was disqualified"
_MOST = 5  # reasons shown of a match

Forfeited = dict[str, Any]  # agent, side, kind, reason, games: as `Match.forfeits` has them


def of_match(forfeits: list[Forfeited], a: str, b: str) -> list[str]:
    """Who forfeited games of a match and why, in a line each."""
    lines = []
    for each in forfeits[:_MOST]:
        against = b if each["side"] == "a" else a
        many = plural(each["games"], "game") if each["games"] > 1 else "a game"
        text = f"{each['agent']} forfeited {many} against {against} ({each['kind']}): "
        lines.append(text + each["reason"])
    more = len(forfeits) - _MOST
    return [*lines, f"... and for {more:,} other reasons: see --json"] if more > 0 else lines


def by_agent(forfeits: Iterable[Forfeited]) -> list[str]:
    """Who forfeited how many games of a tournament, and why the first."""
    found: dict[tuple[str, str], list[Forfeited]] = {}
    for each in forfeits:
        found.setdefault((each["agent"], each["kind"]), []).append(each)
    lines = []
    for (agent, kind), own in found.items():
        games = sum(each["games"] for each in own)
        unplayed = sum(each["games"] for each in own if each["reason"].endswith(DISQUALIFIED))
        reason = own[0]["reason"].removeprefix(f"{agent}: ")
        more = f"; {unplayed:,} of them were not played: it {DISQUALIFIED}" if unplayed else ""
        lines.append(f"{agent} forfeited {plural(games, 'game')} ({kind}): {reason}{more}")
    return lines
