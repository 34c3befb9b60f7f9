"""`doctor`: what this installation of tuplet has, and what it lacks."""

from __future__ import annotations

import platform
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from tuplet.kernel import cache_folder, cache_root
from tuplet.system.blocks import cores
from tuplet.system.memory import UNKNOWN, available_memory
from tuplet.system.tables import Displayable, TextTable
from tuplet.system.version import __version__
from tuplet.values.players import ABOUT, VALUES, player_file, remedy

LIBRARIES = ("numba", "llvmlite", "numpy")  # those whose versions change what compiled code does
EXTRAS = {  # the module that each extra installs, its package, and what it is for
    "pictures": ("matplotlib", "matplotlib", "learning curves and other pictures: plot, --plot"),
    "cluster": ("distributed", "distributed", "work on several machines: --cluster"),
    "gym": ("gymnasium", "gymnasium", "2048 as an environment of Gymnasium"),
    "pettingzoo": ("pettingzoo", "pettingzoo", "EWN as an environment of PettingZoo"),
    "openspiel": ("pyspiel", "open_spiel", "games and bots of OpenSpiel"),
    "tensorboard": ("tensorboardX", "tensorboardX", "logs for TensorBoard: train --tensorboard"),
}


class Extra(NamedTuple):
    """An optional library."""

    extra: str
    library: str
    version: str | None  # None if it is not installed
    purpose: str
    install: str  # the command


@dataclass(frozen=True, repr=False)
class Diagnosis(Displayable):
    """What an installation has."""

    versions: dict[str, str]  # of tuplet, Python, and libraries
    system: str
    cores: int  # that this process may use
    free_memory: int | None  # bytes; None if it is not known
    cache: Path  # the folder of compiled code and unpacked weights
    cache_bytes: int
    cache_writable: bool
    players: dict[str, Path | None]  # files; None if a player is not installed
    extras: list[Extra]

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return {
            "versions": self.versions,
            "system": self.system,
            "cores": self.cores,
            "free_memory": self.free_memory,
            "cache": {"folder": str(self.cache), "bytes": self.cache_bytes, "writable": self.cache_writable},
            "players": {name: None if file is None else str(file) for name, file in self.players.items()},
            "extras": [each._asdict() for each in self.extras],
        }

    def text_tables(self) -> list[TextTable]:
        """The machine, the players and the extras, with what to do about those that are missing."""
        own, *others = (f"{name} {number}" for name, number in self.versions.items())
        rows = [
            ["system", self.system],
            ["libraries", ", ".join(others)],
            ["cores", str(self.cores)],
            ["free memory", "unknown" if self.free_memory is None else f"{self.free_memory / 1e9:.1f} GB"],
            ["compile cache", f"{self.cache} ({self.cache_bytes / 1e6:.1f} MB)"],
            *([f"player {name}", str(file or "not installed")] for name, file in self.players.items()),
        ]
        notes = [f"{name} is not installed: {remedy(name)}." for name, file in self.players.items() if file is None]
        if not self.cache_writable:
            notes.append(
                f"{self.cache} cannot be written, so every command compiles for some seconds: set NUMBA_CACHE_DIR "
                "to a folder that can."
            )
        extras = [
            [each.extra, each.version or "missing", each.purpose, "" if each.version else each.install]
            for each in self.extras
        ]
        return [
            TextTable(own, (), rows, notes, words=(0, 1)),
            TextTable("", ("extra", "version", "for", "install it with"), extras, words=range(4)),
        ]


def doctor() -> Diagnosis:
    """Look at this installation: versions, cores, memory, the compile cache, players and extras."""
    versions = {"tuplet": __version__, "Python": platform.python_version()}
    versions |= {name: version(name) for name in LIBRARIES}
    writable, cache = cache_folder() is not None, cache_root()
    extras = [
        Extra(name, package, _installed(module, package), purpose, f"pip install 'tuplet[{name}]'")
        for name, (module, package, purpose) in EXTRAS.items()
    ]
    players = {name: player_file(name) for name in ABOUT | VALUES}
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    memory, size = available_memory(), _size(cache)
    free = None if memory == UNKNOWN else memory
    return Diagnosis(versions, system, cores(), free, cache, size, writable, players, extras)


def _installed(module: str, package: str) -> str | None:
    """The version of a library, which is not imported; None if it cannot be found."""
    if find_spec(module) is None:
        return None
    try:
        return version(package)
    except PackageNotFoundError:  # copied, not installed
        return "unknown"


def _size(folder: Path) -> int:
    """The bytes of all files in a folder."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # another process removed it
            total += path.stat().st_size if path.is_file() else 0
    return total
