"""The watchdog: a small process that kills programs when the process that started them cannot.

    python -I -S watchdog.py MARK

It reads process groups from its standard input, a line each: `+GROUP BYTES` to watch one, `-GROUP` to
forget it. A group whose resident memory exceeds its bytes (0: no limit) is reported on standard output
as `GROUP USED`, and killed. When the input ends, for whatever reason, all groups are killed, and every
process with the mark in its environment: children that have left their group, and programs that were
started but not reported yet. A process that has left its group and cleared its environment escapes;
without /proc, so does every process that has left its group, and memory is not watched.

This file is run by itself: it imports nothing of the package.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress

MARK = "TUPLET_PROGRAM"  # an environment variable
WATCH = 0.1  # seconds between checks of the memory
ROUNDS = 50  # of killing marked processes: they may start others meanwhile


def watch(mark: str) -> None:
    """Watch the groups read from standard input, until it ends."""
    allowed: dict[int, int] = {}
    text = b""
    while True:
        watched = any(allowed.values())
        if select.select([0], [], [], WATCH if watched else None)[0]:
            data = os.read(0, 65536)
            if not data:
                break
            *lines, text = (text + data).split(b"\n")
            for line in lines:
                words = line[1:].split()
                if line[:1] == b"+":
                    allowed[int(words[0])] = int(words[1])
                else:
                    allowed.pop(int(words[0]), None)
        if watched:
            for group, used in memory_of([g for g in allowed if allowed[g]]).items():
                if used > allowed[group]:
                    with suppress(OSError):  # the reader is gone
                        os.write(1, b"%d %d\n" % (group, used))  # before the kill, which it explains
                    allowed[group] = 0
                    end_group(group)
    for group in allowed:
        end_group(group)
    end_marked(mark)


def end_group(group: int) -> None:
    """Kill all processes of a group."""
    with suppress(ProcessLookupError, PermissionError):  # all have ended
        os.killpg(group, signal.SIGKILL)


def end_marked(mark: str) -> None:
    """Kill all processes whose mark begins with `mark`."""
    for _ in range(ROUNDS):
        processes = list(marked(mark))
        if not processes:
            return
        for process in processes:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)


def marked(mark: str) -> Iterator[int]:
    """The processes, zombies aside, whose mark begins with `mark`."""
    sought = f"{MARK}={mark}".encode()
    for process in _processes():
        with suppress(OSError), open(f"/proc/{process}/environ", "rb") as file:  # noqa: PTH123
            if any(each.startswith(sought) for each in file.read().split(b"\0")):
                yield process


def memory_of(groups: list[int]) -> dict[int, int]:
    """The resident bytes of process groups; shared memory counts for each process."""
    used = dict.fromkeys(groups, 0)
    for process in _processes():
        with suppress(OSError, ValueError, IndexError):
            group = int(_stat(process)[2])
            if group in used:
                with open(f"/proc/{process}/statm", "rb") as file:  # noqa: PTH123
                    used[group] += int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return used


def members(group: int) -> list[int]:
    """The processes of a group that have not ended."""
    alive = []
    for process in _processes():
        with suppress(OSError, ValueError, IndexError):
            words = _stat(process)
            if int(words[2]) == group and words[0] not in ("Z", "X"):
                alive.append(process)
    return alive


def cpu_seconds(group: int) -> float:
    """The processor time of a group's processes."""
    ticks = 0
    for process in members(group):
        with suppress(OSError, ValueError, IndexError):
            words = _stat(process)
            ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(process: int) -> list[str]:
    """The words of /proc/N/stat from the state on: state, parent, group, ..."""
    with open(f"/proc/{process}/stat", encoding="latin-1") as file:  # noqa: PTH123
        return file.read().rpartition(")")[2].split()


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208
    except OSError:  # not Linux
        return []


if __name__ == "__main__":
    watch(sys.argv[1])
