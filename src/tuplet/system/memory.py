"""How much memory is available, for checks before large allocations."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

UNKNOWN = 1 << 62  # more than any machine has


def available_memory() -> int:
    """Bytes that can still be allocated, within the limits of the machine, the container and the process."""
    return max(0, min(_machine(), _container(), _process()))


def _machine() -> int:
    with suppress(OSError, KeyError, ValueError):
        with Path("/proc/meminfo").open() as file:
            sizes = dict(line.split(":") for line in file)
        return int(sizes["MemAvailable"].split()[0]) * 1024
    with suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return UNKNOWN


def _container() -> int:
    """What the control group leaves; cached files do not count as used."""
    with suppress(OSError, KeyError, ValueError):
        own = Path("/proc/self/cgroup").read_text().strip().rpartition(":")[2].strip("/")
        top = Path("/sys/fs/cgroup")
        folder = top / own if (top / own / "memory.max").is_file() else top
        limit = (folder / "memory.max").read_text().strip()
        if limit != "max":
            parts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            used = int((folder / "memory.current").read_text())
            return int(limit) - used + int(parts["inactive_file"])
    return UNKNOWN


def _process() -> int:
    """What `ulimit -v` leaves."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            return limit - pages * resource.getpagesize()
    return UNKNOWN
