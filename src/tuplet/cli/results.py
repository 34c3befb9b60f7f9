"""Matches and tournaments as tables, and what is said when they end."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from tuplet.arena.results import Match, Tournament

_MOST_FORFEITS = 5  # reasons shown


def tell_rounding(games: int) -> None:
    """Say so if an odd number of games was asked for."""
    if games % 2 and games > 0:
        print(f"Games come in pairs: {games + 1:,} are played, not {games:,}.", file=sys.stderr)


def tell_end(interrupted: bool, games: int, asked: int, save: Path | None) -> int:
    """Say where the games are and how to go on; returns the exit code."""
    if interrupted:
        kept = (
            f"Saved in {save}; the same command goes on from there."
            if save is not None
            else "The games are not saved: --save FILE keeps them, and can go on."
        )
        print(f"Stopped after {games:,} of {asked:,} games. {kept}", file=sys.stderr)
    return 130 if interrupted else 0


def match_table(match: Match) -> None:
    """Share, Elo, and how the games went, with intervals."""
    from rich.table import Table
    from rich.text import Text

    console = _console()
    title = Text.assemble((match.a, "bold"), " - ", (match.b, "bold"))
    title.append(f"  {match.game}  {match.games:,} games")
    console.print(title, soft_wrap=True)
    lost, split, won = match.pairs
    first, first_ci95 = match.first_player
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_row("wins - losses", f"[bold]{match.wins:,} - {match.losses:,}[/]", "")
    table.add_row("share", f"[bold]{_percent(match.win_rate)}[/]", _range(match.ci95))
    low, high = match.elo_ci95
    table.add_row("Elo", f"[bold]{_elo(match.elo)}[/]", f"95 %: {_elo(low)} to {_elo(high)}")
    table.add_row("pairs", f"{won:,} won, {split:,} split, {lost:,} lost", "")
    table.add_row("first player", _percent(first), _range(first_ci95))
    table.add_row("length", f"{match.mean_length:.1f} plies", "")
    if match.sprt is not None:
        assert match.llr is not None
        low, high = match.sprt.bounds
        answer = {
            "H0": f"H0 accepted: {match.sprt.elo0:g} Elo",
            "H1": f"H1 accepted: {match.sprt.elo1:g} Elo",
            None: "no answer yet",
        }[match.decision]
        table.add_row(
            "test", f"[bold]{answer}[/]", f"LLR {match.llr:.2f} ({low:.2f} to {high:.2f})"
        )
    console.print(table)
    endings = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    endings.add_column("won by")
    for name in (match.a, match.b):
        endings.add_column(Text(name), justify="right")
    wins, losses = match.kinds(True), match.kinds(False)
    for kind in wins:
        if wins[kind] or losses[kind]:
            what = kind if kind in ("corner", "elimination") else f"opponent {kind}"
            endings.add_row(what, f"{wins[kind]:,}", f"{losses[kind]:,}")
    console.print()
    console.print(endings)
    _forfeits(console, [match])


def tournament_table(tournament: Tournament) -> None:
    """Ratings from best to worst, and everybody's score against everybody."""
    from rich.table import Table
    from rich.text import Text

    console = _console()
    agents, order = tournament.agents, tournament.ranking
    console.print(
        f"[bold]{len(agents)} agents[/]  {tournament.game}  {tournament.games:,} games",
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "agent", "Elo", "95 %", "wins - losses"):
        table.add_column(name, justify="left" if name == "agent" else "right")
    for place, _ in enumerate(order, 1):
        table.add_column(str(place), justify="right")
    for place, i in enumerate(order, 1):
        rating, (wins, losses) = tournament.ratings[i], tournament.total(i)
        low, high = rating.ci95
        scores = [tournament.score(i, j) for j in order]
        table.add_row(
            str(place), Text(agents[i], style="bold"), _elo(rating.elo),
            f"{_elo(low)} to {_elo(high)}", f"{wins:,} - {losses:,}",
            *("·" if score is None else f"{score[0]:,}-{score[1]:,}" for score in scores),
        )  # fmt: skip
    console.print(table)
    console.print("Elo relative to the mean of all; a column for each opponent, by its place.")
    _forfeits(console, list(tournament.matches.values()))


def _forfeits(console: Console, matches: list[Match]) -> None:
    from rich.text import Text

    forfeits = [(match, forfeit) for match in matches for forfeit in match.forfeits]
    for match, each in forfeits[:_MOST_FORFEITS]:
        against = match.b if each["side"] == "a" else match.a
        many = f"{each['games']:,} games" if each["games"] > 1 else "a game"
        text = f"{each['agent']} forfeited {many} against {against} ({each['kind']}): "
        console.print(Text(text + each["reason"], style="yellow"), soft_wrap=True)
    if len(forfeits) > _MOST_FORFEITS:
        console.print(f"... and for {len(forfeits) - _MOST_FORFEITS:,} other reasons: see --json")


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _range(interval: tuple[float, float]) -> str:
    low, high = interval
    return f"95 %: {100 * low:.1f} to {100 * high:.1f}"


def _elo(elo: float) -> str:
    if math.isinf(elo):
        return "∞" if elo > 0 else "-∞"
    return f"{round(elo):+d}"
