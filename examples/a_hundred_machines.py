"""What would a hundred machines do? A calculation from measured numbers: docs/scale.md.

    python examples/a_hundred_machines.py

Every number below was measured on two cores of one machine, by the command beside it. The result
is a model, not a measurement: it shows where the bottleneck would be.
"""

from __future__ import annotations

from dataclasses import dataclass

MACHINES = (1, 10, 100, 1000)
CORES = 8  # of each machine
HOME, HALL = 100e6 / 8, 10e9 / 8  # bytes a second: of a household, of a data centre


@dataclass(frozen=True)
class Measured:
    """Measured numbers of this program, with the commands that measure them."""

    overhead_s: float = 0.003  # the scheduler's time for a block: docs/clusters.md, "What it costs"
    greedy_s: float = 1.6  # 50 games of `tuplet eval strong`, at 3.3 microseconds a move
    match_s: float = 1.0  # a game of two agents with some 20 ms a move
    weights: float = 32e6  # bytes of a strong player, packed
    # The last round of eight learners on 4x6: `tuplet reproduce rounds`, docs/studies/rounds.md
    task_games: float = 1250.0
    task_s: float = 3.8  # to learn from them
    around_s: float = 0.47  # to copy tables and compare them
    merge_s: float = 0.18  # to merge one task's changes
    changes: float = 34e6  # bytes of one task's changes
    merged: float = 83e6  # bytes of the merged changes of all tasks


FIGURES = Measured()


def blocks(cores: int, block_s: float, m: Measured = FIGURES) -> float:
    """The speed-up for blocks of so many seconds, with one scheduler.

    >>> round(blocks(10, 1.0)), round(blocks(8000, 1.0))
    (10, 333)
    """
    return min(cores * block_s / (block_s + m.overhead_s), block_s / m.overhead_s)


def hand_out(machines: int, cable: float, m: Measured = FIGURES) -> float:
    """Seconds until all machines have the weights, sent by one."""
    return machines * m.weights / cable


def round_s(machines: int, cable: float, games: float, tree: bool = False, m: Measured = FIGURES) -> float:
    """Seconds of a round of so many games, with one task per machine.

    One machine merges, and all changes go through its link. With `tree`, each machine merges the
    changes of two others, so the number of steps is the number of binary digits of `machines`.
    """
    share = games / machines
    learn = share * m.task_s / m.task_games + m.around_s
    if machines == 1:
        return share * m.task_s / m.task_games
    steps = (machines - 1).bit_length() if tree else machines
    return learn + steps * (m.merge_s + (m.changes + m.merged) / cable)


def table(m: Measured = FIGURES) -> str:
    """The results as a Markdown table."""
    lines = [
        "| machines | cores | greedy games | games of a match | weights handed out, s "
        "| a round of 100,000 games | of 1,000,000 games | 1,000,000, merged as a tree |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for machines in MACHINES:
        cores = machines * CORES
        one = [round_s(1, HALL, games, m=m) for games in (1e5, 1e6, 1e6)]
        many = [
            round_s(machines, HALL, 1e5, m=m),
            round_s(machines, HALL, 1e6, m=m),
            round_s(machines, HALL, 1e6, True, m),
        ]
        gains = " | ".join(f"{a / b:.3g}" for a, b in zip(one, many, strict=True))
        speeds = f"{blocks(cores, m.greedy_s, m):,.0f} | {blocks(cores, m.match_s, m):,.0f}"
        sent = hand_out(machines, HALL, m)
        lines.append(f"| {machines:,} | {cores:,} | {speeds} | {sent:,.1f} | {gains} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
