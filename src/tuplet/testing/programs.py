"""`check`: does a program speak the protocol of `ewn-6x7`, whatever a referee may do?"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from tuplet.agents.protocol import fallback_rules
from tuplet.agents.protocol.program import size
from tuplet.agents.protocol.submissions import program_command
from tuplet.errors import UserError
from tuplet.system.progress import Progress, ProgressOption, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, TextTable, plural
from tuplet.testing import diagnoses, referee as opponents
from tuplet.testing.referee import DIGITS, Coverage, Finding, Opponent, Referee, SendStyle, Wrong

SERIES = 8  # games in one process
MOST_LATE = 3  # trials without an answer, after which no more are made
CLOSE = 0.9  # of the limit: a move that takes longer is a warning


class Trial(NamedTuple):
    """One thing that was tried, in a process of its own; `ok` is None if it was not."""

    name: str
    what: str
    ok: bool | None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, repr=False)
class Check(Displayable):
    """What was tried with a program, what is wrong with it, and how fast it answers."""

    program: str
    limit: float  # seconds a move
    trials: list[Trial]
    seen: Coverage
    interrupted: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; warnings do not count."""
        return not any(not each.warning for each, _ in self.findings)

    @property
    def findings(self) -> list[tuple[Finding, list[str]]]:
        """What was found, problems first, and in which trials."""
        found: dict[tuple[str, str], tuple[Finding, list[str]]] = {}
        for trial in self.trials:
            for each in trial.findings:
                found.setdefault((each.means, each.cause), (each, []))[1].append(trial.name)
        chatters = any(cause == diagnoses.CHATTER.cause for _, cause in found)
        extra = [*_notes(self.seen, self.limit, chatters)]
        return sorted([*found.values(), *((each, []) for each in extra)], key=lambda one: one[0].warning)

    def as_json(self) -> dict[str, Any]:
        """Whether it is fine; trials; findings with transcripts; times in seconds; situations."""
        seen = self.seen
        return {
            "program": self.program,
            "ok": self.ok,
            "limit_s": self.limit,
            "interrupted": self.interrupted,
            "trials": [{"name": t.name, "what": t.what, "ok": t.ok} for t in self.trials],
            "findings": [
                {
                    "what": each.what,
                    "warning": each.warning,
                    "means": each.means,
                    "cause": each.cause,
                    "fix": each.fix,
                    "trials": trials,
                    "transcript": list(each.transcript),
                }
                for each, trials in self.findings
            ],
            "games": seen.games,
            "wins": seen.wins,
            "longest": seen.longest,
            "moves": len(seen.times),
            "times_s": _times(seen),
            "memory_bytes": seen.memory or None,
            "situations": dict(seen.situations),
        }

    def text_tables(self) -> list[TextTable]:
        """What was tried, how fast it answers, and what is wrong, with both sides' words."""
        problems = sum(not each.warning for each, _ in self.findings)
        warnings = len(self.findings) - problems
        verdict = plural(problems, "problem") if problems else "fine"
        verdict += f", {plural(warnings, 'warning')}" if warnings else ""
        if self.interrupted:
            verdict += ", interrupted"
        word = {True: "fine", False: "wrong", None: "not tried"}
        rows = [[each.name, each.what, word[each.ok]] for each in self.trials]
        text_tables = [TextTable(f"{self.program}: {verdict}", ("trial", "", ""), rows, words=(0, 1, 2), strong=(2,))]
        text_tables += _figures(self.seen, self.limit)
        for number, (each, trials) in enumerate(self.findings, 1):
            where = f"  ({', '.join(trials)})" if trials else ""
            kind = "Warning" if each.warning else "Wrong"
            notes = [f"   meaning: {each.means}", f"   likely cause: {each.cause}", f"   what to do: {each.fix}"]
            if each.transcript:
                notes += ["   > sent to it, < its answers, ! its standard error, after seconds:"]
                notes += [f"   {line:>9}" for line in each.transcript[-_SHOWN:]]
            text_tables.append(TextTable(f"\n{number}. {kind}: {each.what}{where}", notes=notes))
        return text_tables

    def __repr__(self) -> str:
        return f"<Check of {self.program}: {'fine' if self.ok else 'wrong'}>"


_SHOWN = 14  # lines of a transcript in a terminal


def check(
    program: str | Sequence[str],
    *,
    time: float | None = None,
    memory: str | None = None,
    games: int = SERIES,
    seed: int = 0,
    progress: ProgressOption = None,
    stop: Stop | None = None,
) -> Check:
    """Let a program meet everything that a referee of `ewn-6x7` may do, and say what is wrong.

    `program` is a command ("./agent", "python3 agent.py"), its words, or `exec:COMMAND`. `time` is
    the seconds a move may take (2), `memory` ("1GB") what its processes may have, `games` how many
    are played in one process. ValueError if there is no such program.
    """
    if not 2 <= games <= 10_000:
        raise UserError(f"games must be 2 to 10,000 (got {games})")
    running = program_command(program, time, memory)
    stop, seen, done = stop or Stop(), Coverage(), list[Trial]()
    luck = random.Random(seed)
    with watching(progress) as watch:
        plan = _plan(games)
        late = 0
        for number, (name, what, attempt) in enumerate(plan):
            watch(Progress("trials", number, len(plan), figures={"now": name}))
            if late >= MOST_LATE or stop.is_set():
                done.append(Trial(name, what, None))
                continue
            found: list[Finding] = []
            try:
                referee = Referee(running, seen, stop)
                try:
                    found += attempt(referee, luck)
                finally:
                    referee.close()
            except Wrong as wrong:
                found.append(wrong.finding)
            except Stopped:
                done.append(Trial(name, what, None))
                continue
            late += any(each.late for each in found)
            good = all(each.warning for each in found)
            done.append(Trial(name, what, good, tuple(found)))
        watch(Progress("trials", len(plan), len(plan)))
    if stop.is_set() and all(trial.ok is None for trial in done):
        raise Stopped("stopped before anything was tried")
    return Check(running.name, running.limit, done, seen, stop.is_set())


Attempt = Callable[[Referee, random.Random], list[Finding]]


def _plan(games: int) -> list[tuple[str, str, Attempt]]:
    """Everything that is tried: a name, what it is, and how."""
    return [
        ("first", "a game as Red, against one who hurries; then n", _first),
        ("second", "a game as Blue, the first move sent with the setup; then the input ends", _second),
        (
            "many",
            f"{plural(games, 'game')} in one process, both sides, odd dice, long games",
            lambda referee, luck: _many(referee, luck, games),
        ),
        ("slowly", "two games character by character, with pauses", _slowly),
        ("cut", "the input ends in the middle of a game", _cut),
        ("nothing", "the input ends before a game", lambda referee, _: referee.end("end")),
    ]


def _setup(luck: random.Random, faces: str = DIGITS) -> tuple[str, str, str]:
    placed = ["".join(luck.sample(DIGITS, fallback_rules.CUBES)) for _ in range(2)]
    die = [luck.choice(faces) for _ in range(fallback_rules.DIE)]
    return placed[0], placed[1], "".join(die)


def _far_out(setup: tuple[str, str, str], side: int, cube: str) -> tuple[str, str, str]:
    """The setup with one's cube where straight ahead it meets the side: one move is left there."""
    numbers, at = list(setup[side]), (2, 3)[side]
    where = numbers.index(cube)
    numbers[where], numbers[at] = numbers[at], numbers[where]
    placed = [*setup[:2]]
    placed[side] = "".join(numbers)
    return placed[0], placed[1], setup[2]


def _first(referee: Referee, luck: random.Random) -> list[Finding]:
    referee.program.listen(0.1)  # whoever greets is heard
    referee.play(_setup(luck), 0, opponents.races, luck, SendStyle(patient=True))
    return referee.end("n")


def _second(referee: Referee, luck: random.Random) -> list[Finding]:
    referee.play(_setup(luck), 1, opponents.wanders, luck, SendStyle(together=True))
    return referee.end("end")


# Opponents and dice that bring about what is rare: lost cubes at both ends of the row and in its
# middle, and games that last.
_ROUNDS: tuple[tuple[Opponent, str], ...] = (
    (opponents.hunts, "2"),
    (opponents.dawdles, "1"),
    (opponents.hunts, "0"),
    (opponents.dawdles, DIGITS),
    (opponents.dawdles, "4"),
    (opponents.hunts, "5"),
    (opponents.wanders, DIGITS),
    (opponents.races, DIGITS),
)


def _many(referee: Referee, luck: random.Random, games: int) -> list[Finding]:
    for number in range(games):
        opponent, faces = _ROUNDS[number % len(_ROUNDS)]
        side = (number + number // len(_ROUNDS)) % 2
        setup = _setup(luck, faces)
        if opponent is opponents.dawdles and len(faces) == 1:
            setup = _far_out(setup, side, faces)
        referee.play(setup, side, opponent, luck)
    return referee.end("n")


def _slowly(referee: Referee, luck: random.Random) -> list[Finding]:
    for side in (0, 1):
        referee.play(_setup(luck), side, opponents.hunts, luck, SendStyle(bytewise=True))
    return []


def _cut(referee: Referee, luck: random.Random) -> list[Finding]:
    referee.play(_setup(luck), 0, opponents.wanders, luck, plies=5)  # its opponent is to move
    return referee.end("end")


def _times(seen: Coverage) -> dict[str, float] | None:
    if not seen.times:
        return None
    return {
        "first": max(seen.first_times),
        "fastest": min(seen.times),
        "median": median(seen.times),
        "slowest": max(seen.times),
    }


def _figures(seen: Coverage, limit: float) -> Iterator[TextTable]:
    """How fast it answers, and in which situations it was."""
    times = _times(seen)
    if times is None:
        return
    rows = [
        ["first move", _seconds(times["first"]), "its start included, 2 s are allowed"],
        ["fastest", _seconds(times["fastest"]), ""],
        ["median", _seconds(times["median"]), f"of {plural(len(seen.times), 'move')}"],
        ["slowest", _seconds(times["slowest"]), f"{limit:g} s are allowed"],
    ]
    if seen.memory:
        rows.append(["memory", size(seen.memory), "the most that was seen, all its processes"])
    won = f"{seen.wins} won, {seen.games - seen.wins} lost, the longest of {seen.longest} plies"
    rows.append(["games", str(seen.games), won])
    yield TextTable("\nHow fast it answers", (), rows, words=(0, 2), strong=(1,))
    told = [[name, f"{count:,}"] for name, count in seen.situations.items()]
    told.append(["values of the die", f"{len(seen.faces)} of 6"])
    yield TextTable("\nWhat it met", (), told)


def _seconds(time: float) -> str:
    return f"{1000 * time:.1f} ms" if time < 0.1 else f"{time:.2f} s"


def _notes(seen: Coverage, limit: float, chatters: bool) -> Iterator[Finding]:
    """What is not wrong, but may cost games elsewhere."""
    if seen.spaces and not chatters:
        yield Finding(
            f"it sends spaces or ends of lines ({seen.spaces:,} characters)",
            "tuplet skips them; a referee that reads two characters a move does not",
            *diagnoses.SPACES,
            warning=True,
        )
    if seen.times and max(seen.times) > CLOSE * limit:
        yield Finding(
            f"its slowest move took {max(seen.times):.2f} s of {limit:g} s",
            "on a busier machine it is late, and loses",
            *diagnoses.NEARLY,
            warning=True,
        )
