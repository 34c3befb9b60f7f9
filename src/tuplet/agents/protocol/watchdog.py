"""The keeper: a small process that ends programs when the process that started them cannot.

    python -I -S keeper.py MARK

It is told of process groups on its standard input, `+GROUP BYTES` and `-GROUP`, a line each. A
group whose resident memory exceeds its bytes (0: any) is told on standard output, `GROUP USED`, and
ended. When the input ends, however the other process did, all groups are ended, and with them
whatever carries the mark in its environment: children that have left their group, and programs that
were started and not told of yet. What has left the group and emptied its environment escapes; where
there is no /proc, so does whatever has left the group, and memory is not watched.

This file is run by itself: it imports nothing of the package.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress

MARK = "TUPLET_PROGRAM"  # the variable of the environment
WATCH = 0.1  # seconds between looks at the memory
ROUNDS = 50  # of ending what is marked: some start others meanwhile


def watch(mark: str) -> None:
    """Watch what is told on standard input, until its end."""
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
                    with suppress(OSError):  # nobody listens
                        os.write(1, b"%d %d\n" % (group, used))  # first: it explains what follows
                    allowed[group] = 0
                    end_group(group)
    for group in allowed:
        end_group(group)
    end_marked(mark)


def end_group(group: int) -> None:
    """End all processes of a group."""
    with suppress(ProcessLookupError, PermissionError):  # all have ended
        os.killpg(group, signal.SIGKILL)


def end_marked(mark: str) -> None:
    """End whatever carries a mark that begins so."""
    for _ in range(ROUNDS):
        found = list(marked(mark))
        if not found:
            return
        for process in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)


def marked(mark: str) -> Iterator[int]:
    """The processes, zombies aside, whose environment carries a mark that begins so."""
    sought = f"{MARK}={mark}".encode()
    for process in _processes():
        with suppress(OSError), open(f"/proc/{process}/environ", "rb") as file:  # noqa: PTH123
            if any(each.startswith(sought) for each in file.read().split(b"\0")):
                yield process


def memory_of(groups: list[int]) -> dict[int, int]:
    """The resident bytes of process groups: what processes share counts for each of them."""
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
    found = []
    for process in _processes():
        with suppress(OSError, ValueError, IndexError):
            words = _stat(process)
            if int(words[2]) == group and words[0] not in ("Z", "X"):
                found.append(process)
    return found


def cpu_seconds(group: int) -> float:
    """The time that the processes of a group have computed."""
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
