"""A referee that tries things out: plays games over the protocol and reports what goes wrong."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from tuplet.agents.protocol import fallback_rules as rules, watchdog
from tuplet.agents.protocol.fallback_rules import FallbackPosition
from tuplet.agents.protocol.program import Program, signal_name, size
from tuplet.agents.protocol.subprocess_agent import START_UP, ProgramCommand
from tuplet.games.record import Forfeit
from tuplet.system.stop import Stop, Stopped
from tuplet.testing import diagnoses
from tuplet.testing.diagnoses import Advice

END = 2.0  # seconds to end after the request
PAUSE = 0.05  # seconds to wait for unexpected output
SLICE = 0.2  # seconds between looks at the stop flag
SPINS = 0.2  # share of CPU time from which a program is busy, not waiting
LATER = 0.5  # seconds to wait for a late answer, or one to an end of line or of the input
MEMORY = 0.2  # seconds between looks at the memory
DIGITS = "012345"


class Finding(NamedTuple):
    """A problem, or a warning: what it means, its likely cause, and what to do."""

    what: str
    means: str
    cause: str
    fix: str
    transcript: tuple[str, ...] = ()
    warning: bool = False
    late: bool = False


class Wrong(Exception):  # noqa: N818  # a fault of the program
    """Raised when a game cannot go on."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.what)
        self.finding = finding


Opponent = Callable[[FallbackPosition, random.Random], str]


def wanders(position: FallbackPosition, rng: random.Random) -> str:
    """Play a random move."""
    return rng.choice(rules.legal_moves(position))


def _best_of(rank: Callable[[FallbackPosition, FallbackPosition], tuple[int, ...]]) -> Opponent:
    def choose(position: FallbackPosition, rng: random.Random) -> str:
        moves = rules.legal_moves(position)
        rng.shuffle(moves)
        return min(moves, key=lambda move: rank(position, rules.play(position, move)))

    return choose


def _left(position: FallbackPosition, side: int) -> int:
    """The sum of the steps to the goal of a side's cubes."""
    return sum(rules.LEFT[side][square] for square in position.cubes[side] if square != rules.GONE)


def _count(position: FallbackPosition, side: int) -> int:
    return sum(square != rules.GONE for square in position.cubes[side])


def _won(before: FallbackPosition, after: FallbackPosition) -> bool:
    return rules.winner(after) == before.turn


# One hurries to win, one captures cubes but does not win, one does not advance.
races: Opponent = _best_of(lambda b, a: (not _won(b, a), _left(a, b.turn)))
hunts: Opponent = _best_of(lambda b, a: (_won(b, a), _count(a, 1 - b.turn), -_left(a, b.turn)))
dawdles: Opponent = _best_of(lambda b, a: (_won(b, a), -_count(a, 1 - b.turn), -_left(a, b.turn)))


SITUATIONS = (
    "only one legal move",
    "the die's cube is gone, two may move",
    "the die's cube is gone, one may move",
    "a winning move at hand",
    "it wins",
    "it loses",
    "a side's last cube is captured",
)


class Coverage:
    """What happened in all games: situations, times, memory."""

    def __init__(self) -> None:
        self.situations: Counter[str] = Counter(dict.fromkeys(SITUATIONS, 0))
        self.times: list[float] = []
        self.first_times: list[float] = []  # of a program's first move, its start included
        self.faces: set[str] = set()
        self.games = self.wins = self.longest = self.memory = self.spaces = 0
        self._looked = 0.0

    def note_memory(self, program: Program) -> None:
        """Note the memory of a program, at most every `MEMORY` seconds."""
        if time.monotonic() - self._looked > MEMORY:
            self.memory = max(self.memory, watchdog.memory_of([program.group])[program.group])
            self._looked = time.monotonic()

    def note_position(self, position: FallbackPosition) -> None:
        """Note the situations of a position that the program is asked about."""
        moves = rules.legal_moves(position)
        cubes = {move[0] for move in moves}
        face = position.die[position.ply % rules.DIE]
        self.faces.add(face)
        present = (
            len(moves) == 1,
            len(cubes) == 2,
            len(cubes) == 1 and face not in cubes,
            any(_won(position, rules.play(position, move)) for move in moves),
        )
        self.situations.update(name for name, is_so in zip(SITUATIONS, present, strict=False) if is_so)


class SendStyle(NamedTuple):
    """How the referee sends its messages."""

    bytewise: bool = False  # one character at a time, with pauses
    together: bool = False  # the first move together with the setup
    patient: bool = False  # waits before it moves, and reads


_PLAIN = SendStyle()


class Referee:
    """One process of a program, and its games."""

    def __init__(self, running: ProgramCommand, seen: Coverage, stop: Stop) -> None:
        self.running, self.seen, self.stop = running, seen, stop
        try:
            self.program = Program(running.command, running.folder, running.memory)
        except OSError as error:
            raise Wrong(
                Finding(
                    f"it cannot be started: {error.strerror or error}",
                    "it cannot play at all",
                    "the file is not a program for this machine, or a script without a first line "
                    "that names its interpreter",
                    "chmod +x, and #!/usr/bin/env python3 or the like",
                )
            ) from None
        self.games = 0
        self.sent_at = time.monotonic()  # when it could read the whole question

    def close(self) -> None:
        """End the program."""
        self.seen.spaces += self.program.spaces
        self.program.stop(0.0)

    def play(
        self,
        setup: tuple[str, str, str],
        side: int,
        opponent: Opponent,
        rng: random.Random,
        style: SendStyle = _PLAIN,
        plies: int | None = None,
    ) -> FallbackPosition:
        """Play a game, or its first plies; returns the last position."""
        position, before = rules.start(*setup), None
        text = ("y" if self.games else "") + "".join(setup) + "fs"[side]
        if style.together and side:
            move = opponent(position, rng)
            text, position = text + move, rules.play(position, move)
        self._expect_silence("before it was asked")
        self._send(text, style)
        self.games += 1
        while rules.winner(position) is None and (plies is None or position.ply < plies):
            if position.turn == side:
                self.seen.note_position(position)
                move = self._ask(position, before)
                before = position
            else:
                if style.patient:
                    self.program.listen(PAUSE)
                self._expect_silence("while it was the opponent's turn")
                self.seen.note_memory(self.program)
                move = opponent(position, rng)
                self._send(move, style)
            position = rules.play(position, move)
        if plies is None:
            self._note_end(position, side)
        return position

    def _note_end(self, position: FallbackPosition, side: int) -> None:
        self.program.listen(PAUSE)  # for output after the end
        self._expect_silence("after the game was over")
        won, seen = rules.winner(position) == side, self.seen
        seen.games += 1
        seen.wins += won
        seen.longest = max(seen.longest, position.ply)
        gone = _count(position, 0) == 0 or _count(position, 1) == 0
        ended = (won, not won, gone)
        seen.situations.update(name for name, is_so in zip(SITUATIONS[4:], ended, strict=True) if is_so)

    def end(self, how: str) -> list[Finding]:
        """End the program by n or by the end of its input; returns what is wrong with how it ends."""
        program, findings = self.program, []
        computed = watchdog.cpu_seconds(program.group)
        if how == "n":
            program.send("n")
        else:
            computed = watchdog.cpu_seconds(program.group) - computed
            program.end_input()
        code = program.wait(END + max(program.started + START_UP - time.monotonic(), 0))
        if code is None:
            computed = watchdog.cpu_seconds(program.group) - computed
            busy = f", and computes for ever ({computed:.1f} s in {END:g} s)" * (computed > SPINS * END)
            signal = "the n after a game" if how == "n" else "the end of its input"
            advice = diagnoses.END_OF_GAMES if how == "n" else diagnoses.END_OF_INPUT
            means = "programs pile up on the referee's machine"
            return [self._finding(f"it does not end at {signal}{busy}", means, advice)]
        if text := program.listen(PAUSE).strip():
            what = f"it sends {text[:20]!r} instead of ending in silence"
            means = "a referee may take it for a move"
            findings.append(self._finding(what, means, diagnoses.CHATTER, warning=how != "n"))
        if code != 0 and how == "n":
            last = (program.stderr_lines() or [""])[-1]
            what = f"it {_ended(code)}" + (f": {last[:200]}" if last else "")
            findings.append(self._finding(what, "a referee may call it a crash", diagnoses.EXIT_CODE))
        left = {*watchdog.members(program.group), *watchdog.marked(program.mark)} - {program.group}
        if left:
            what = f"it leaves {len(left)} process{'es' * (len(left) > 1)} behind"
            means = "what it started goes on computing, and disturbs the next games"
            findings.append(self._finding(what, means, diagnoses.BEHIND))
        return findings

    def _send(self, text: str, style: SendStyle) -> None:
        if not style.bytewise:
            self.program.send(text)
            self.sent_at = time.monotonic()
            return
        for at, character in enumerate(text):
            if at == len(text) - 1:
                self.program.listen(PAUSE)
                self._expect_silence("before the message was complete")
            self.program.send(character)
            self.sent_at = time.monotonic()
            if at < len(text) - 1:
                time.sleep(0.2 if at in (5, 32) else 0.001)

    def _expect_silence(self, when: str) -> None:
        try:
            self.program.expect_silence()
        except Forfeit:
            text = self.program.listen(0).strip()[:40]
            advice = self._in_series(diagnoses.out_of_turn(text))
            means = "a referee takes it for a move: the game is lost"
            raise Wrong(self._finding(f"it sends {text!r} {when}", means, advice)) from None

    def _ask(self, position: FallbackPosition, before: FallbackPosition | None) -> str:
        program, legal = self.program, rules.legal_moves(position)
        began = self.sent_at
        due = began + self.running.limit
        if not program.answers:
            due = max(due, program.started + START_UP)
        while not program.listen(max(min(SLICE, due - time.monotonic()), 0)):
            if self.stop.is_set():
                raise Stopped
            if time.monotonic() >= due or not program.runs:
                break
        try:
            move = program.receive(due, legal)
        except Forfeit as forfeit:
            if forfeit.kind == "late":
                raise Wrong(self._late(legal, due - began)) from None
            if forfeit.kind == "illegal":
                raise Wrong(self._illegal(forfeit, position, before)) from None
            raise Wrong(self._crashed(forfeit)) from None
        now = time.monotonic()
        # Where the referee asks as soon as the program starts, a first answer includes loading.
        times = self.seen.first_times if program.answers == 1 else self.seen.times
        times.append(now - began)
        return move

    def _late(self, legal: list[str], allowed: float) -> Finding:
        """Find out why there is no answer: more time, an end of line, or the end of the input may bring one."""
        program, part = self.program, self.program.listen(0).strip()
        before = watchdog.cpu_seconds(program.group)

        def answers() -> bool:
            return program.listen(LATER).strip()[:2] in legal

        if answers() or watchdog.cpu_seconds(program.group) - before > SPINS * LATER:
            advice = diagnoses.BUSY
        else:
            program.send("\n")
            if answers():
                advice = diagnoses.LINES
            else:
                program.end_input()
                waits = diagnoses.ONE_GAME if self.games > 1 else diagnoses.WAITS
                advice = diagnoses.FLUSH if answers() else waits
        what = f"no move within {allowed:.3g} s" + (f", only {part[:5]!r}" if part else "")
        return self._finding(what, "the game is lost: late", advice)._replace(late=True)

    def _illegal(self, forfeit: Forfeit, position: FallbackPosition, before: FallbackPosition | None) -> Finding:
        quoted = forfeit.reason.removeprefix("it sent ")
        advice = diagnoses.diagnose_move(position, quoted[1:3], before)
        if "asked" in forfeit.reason:  # after a legal move
            advice = diagnoses.out_of_turn(quoted[1:3])
        return self._finding(forfeit.reason, "the game is lost: illegal", self._in_series(advice))

    def _in_series(self, advice: Advice) -> Advice:
        """Add that an earlier game may be the cause."""
        if self.games < 2 or advice == diagnoses.CHATTER:
            return advice
        return Advice(f"{advice.cause}; or {diagnoses.RESET.cause}", f"{advice.fix}; {diagnoses.RESET.fix}")

    def _crashed(self, forfeit: Forfeit) -> Finding:
        advice = diagnoses.LAST_WORDS
        code = self.program.wait(0)
        if forfeit.kind == "memory" and self.running.memory:
            keep = f"keep within {size(self.running.memory)}: free or reuse it, and cap it"
            advice = Advice("a table or a tree that grows from move to move", keep)
        elif code == 0 and self.games > 1:
            advice = diagnoses.ONE_GAME
        elif code is not None and code < 0 and signal_name(-code) in ("SIGSEGV", "SIGBUS"):
            advice = diagnoses.BEYOND
        elif code is None:
            advice = Advice("it closed its standard output", "keep it open while it plays")
        return self._finding(forfeit.reason, f"the game is lost: {forfeit.kind}", advice)

    def _finding(self, what: str, means: str, advice: Advice, warning: bool = False) -> Finding:
        return Finding(what, means, *advice, self.program.transcript(), warning)


def _ended(code: int) -> str:
    return f"ends with code {code}" if code >= 0 else f"is ended by {signal_name(-code)}"
