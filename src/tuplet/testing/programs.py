"""`check`: tests whether a program speaks the protocol of `ewn-6x7`, whatever a referee does."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from tuplet.agents.protocol import fallback_rules as rules
from tuplet.agents.protocol.program import size
from tuplet.agents.protocol.subprocess_agent import program_command
from tuplet.errors import UserError
from tuplet.system.progress import Progress, ProgressOption, watching
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, TextTable, plural
from tuplet.testing import diagnoses, referee as opponents
from tuplet.testing.referee import DIGITS, Coverage, Finding, Opponent, Referee, SendStyle, Wrong

SERIES = 8  # games in one process
MOST_LATE = 3  # trials without an answer, after which the rest is skipped
CLOSE = 0.9  # share of the limit from which a move's time is a warning


class Trial(NamedTuple):
    """One trial, in a process of its own; `ok` is None if it was skipped."""

    name: str
    what: str
    ok: bool | None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, repr=False)
class Check(Displayable):
    """The trials of a program, what is wrong with it, and how fast it answers."""

    program: str
    limit: float  # seconds a move
    trials: list[Trial]
    seen: Coverage
    interrupted: bool = False

    @property
    def ok(self) -> bool:
        """True if nothing is wrong; warnings do not count."""
        return not any(not each.warning for each, _ in self.findings)

    @property
    def findings(self) -> list[tuple[Finding, list[str]]]:
        """Problems, then warnings, each with its trials."""
        causes: dict[tuple[str, str], tuple[Finding, list[str]]] = {}
        for trial in self.trials:
            for each in trial.findings:
                causes.setdefault((each.means, each.cause), (each, []))[1].append(trial.name)
        chatters = any(cause == diagnoses.CHATTER.cause for _, cause in causes)
        extra = [*_notes(self.seen, self.limit, chatters)]
        return sorted([*causes.values(), *((each, []) for each in extra)], key=lambda one: one[0].warning)

    def as_json(self) -> dict[str, Any]:
        """Whether it is fine; trials; findings with transcripts; times in seconds; situations."""
        seen = self.seen
        return {
            "program": self.program,
            "ok": self.ok,
            "limit_s": self.limit,
            "interrupted": self.interrupted,
            "trials": [{"name": t.name, "what": t.what, "ok": t.ok} for t in self.trials],
            "findings": [{**each._asdict(), "trials": trials} for each, trials in self.findings],
            "games": seen.games,
            "wins": seen.wins,
            "longest": seen.longest,
            "moves": len(seen.times),
            "times_s": _times(seen),
            "memory_bytes": seen.memory or None,
            "situations": dict(seen.situations),
        }

    def text_tables(self) -> list[TextTable]:
        """The trials, how fast it answers, and what is wrong, with transcripts."""
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
    """Try everything that a referee of `ewn-6x7` may do with a program, and report what is wrong.

    `program` is a command ("./agent", "python3 agent.py"), its words, or `exec:COMMAND`. `time` is the limit of a
    move in seconds (2), `memory` ("1GB") that of its processes, `games` the number of games in one process.
    """
    if not 2 <= games <= 10_000:
        raise UserError(f"games must be 2 to 10,000 (got {games})")
    running = program_command(program, time, memory)
    stop, seen, done = stop or Stop(), Coverage(), list[Trial]()
    rng = random.Random(seed)
    with watching(progress) as watch:
        plan = _plan(games)
        late = 0
        for number, (name, what, attempt) in enumerate(plan):
            watch(Progress("trials", number, len(plan), figures={"now": name}))
            if late >= MOST_LATE or stop.is_set():
                done.append(Trial(name, what, None))
                continue
            findings: list[Finding] = []
            try:
                referee = Referee(running, seen, stop)
                try:
                    findings += attempt(referee, rng)
                finally:
                    referee.close()
            except Wrong as wrong:
                findings.append(wrong.finding)
            except Stopped:
                done.append(Trial(name, what, None))
                continue
            late += any(each.late for each in findings)
            good = all(each.warning for each in findings)
            done.append(Trial(name, what, good, tuple(findings)))
        watch(Progress("trials", len(plan), len(plan)))
    if stop.is_set() and all(trial.ok is None for trial in done):
        raise Stopped("stopped before the first trial")
    return Check(running.name, running.limit, done, seen, stop.is_set())


Attempt = Callable[[Referee, random.Random], list[Finding]]


def _plan(games: int) -> list[tuple[str, str, Attempt]]:
    """The trials: name, description, and function."""
    return [
        ("first", "a game as Red against a fast opponent; then n", _first),
        ("second", "a game as Blue, the first move sent with the setup; then the input ends", _second),
        (
            "many",
            f"{plural(games, 'game')} in one process, both sides, odd dice, long games",
            lambda referee, rng: _many(referee, rng, games),
        ),
        ("slowly", "two games character by character, with pauses", _slowly),
        ("cut", "the input ends in the middle of a game", _cut),
        ("nothing", "the input ends before a game", lambda referee, _: referee.end("end")),
    ]


def _setup(rng: random.Random, faces: str = DIGITS) -> tuple[str, str, str]:
    placed = ["".join(rng.sample(DIGITS, rules.CUBES)) for _ in range(2)]
    die = [rng.choice(faces) for _ in range(rules.DIE)]
    return placed[0], placed[1], "".join(die)


def _far_out(setup: tuple[str, str, str], side: int, cube: str) -> tuple[str, str, str]:
    """The setup with a cube placed so that it runs along the edge, where one move is left."""
    numbers, at = list(setup[side]), (2, 3)[side]
    where = numbers.index(cube)
    numbers[where], numbers[at] = numbers[at], numbers[where]
    placed = [*setup[:2]]
    placed[side] = "".join(numbers)
    return placed[0], placed[1], setup[2]


def _first(referee: Referee, rng: random.Random) -> list[Finding]:
    referee.program.listen(0.1)  # for output before the first message
    referee.play(_setup(rng), 0, opponents.races, rng, SendStyle(patient=True))
    return referee.end("n")


def _second(referee: Referee, rng: random.Random) -> list[Finding]:
    referee.play(_setup(rng), 1, opponents.wanders, rng, SendStyle(together=True))
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


def _many(referee: Referee, rng: random.Random, games: int) -> list[Finding]:
    for number in range(games):
        opponent, faces = _ROUNDS[number % len(_ROUNDS)]
        side = (number + number // len(_ROUNDS)) % 2
        setup = _setup(rng, faces)
        if opponent is opponents.dawdles and len(faces) == 1:
            setup = _far_out(setup, side, faces)
        referee.play(setup, side, opponent, rng)
    return referee.end("n")


def _slowly(referee: Referee, rng: random.Random) -> list[Finding]:
    for side in (0, 1):
        referee.play(_setup(rng), side, opponents.hunts, rng, SendStyle(bytewise=True))
    return []


def _cut(referee: Referee, rng: random.Random) -> list[Finding]:
    referee.play(_setup(rng), 0, opponents.wanders, rng, plies=5)  # its opponent is to move
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
    """How fast it answers, and the situations it met."""
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
    met = [[name, f"{count:,}"] for name, count in seen.situations.items()]
    met.append(["values of the die", f"{len(seen.faces)} of 6"])
    yield TextTable("\nWhat it met", (), met)


def _seconds(time: float) -> str:
    return f"{1000 * time:.1f} ms" if time < 0.1 else f"{time:.2f} s"


def _notes(seen: Coverage, limit: float, chatters: bool) -> Iterator[Finding]:
    """Warnings: not wrong here, but may lose games elsewhere."""
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
